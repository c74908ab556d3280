from __future__ import annotations

import numpy as np
import pytest

from app.views.comparison import Comparison
from app.views.results_views import Calibration, Confusion, Predicted, Scores, views_for

CLASSES = {
    "metric": "accuracy",
    "test": {"accuracy": 0.877},
    "default_test": {"accuracy": 0.84},
    "test_interval": [0.8, 0.94],
    "default_interval": [0.75, 0.91],
    "confusion": {
        "labels": ["yes", "no"],
        "tuned": [[31, 5], [5, 40]],
        "default": [[30, 6], [7, 38]],
    },
    "calibration": {"predicted": [0.1, 0.5, 0.9], "observed": [0.1, 0.7, 0.9], "counts": [5, 9, 4]},
}
NUMBERS = {
    "metric": "r2",
    "test": {"r2": 0.7},
    "default_test": {"r2": 0.6},
    "predictions": {"actual": [1.0, 2.0, 4.0], "tuned": [1.5, 2.0, 3.0]},
    "confusion": None,
    "calibration": None,
}


@pytest.fixture
def shown(qtbot, qapp):
    def show(kind, results):
        view = kind()
        qtbot.addWidget(view)
        view.resize(480, 320)
        view.show()
        view.show_results(results)
        qapp.processEvents()
        return view

    return show


def test_which_pictures_suit():
    assert views_for(CLASSES) == [Scores, Calibration, Confusion]
    assert views_for(NUMBERS) == [Scores, Predicted]


def test_scores_with_intervals(shown):
    view = shown(Scores, CLASSES)
    assert view.tuned.x.tolist() == [0.877]
    assert view.tuned_line.x.tolist() == [0.8, 0.94]
    assert view.others.x.tolist() == [0.84]
    assert [text for _, _, text in view.words.words] == ["87.7 %", "84.0 %"]
    assert view.describe().startswith("tuned 87.7 % (between 80.0 % and 94.0 %); default")
    assert view.rows()[1][0] == ["tuned", 0.877, 0.8, 0.94]


def test_scores_without_intervals(shown):
    view = shown(Scores, NUMBERS)
    assert view.tuned.x.tolist() == [0.7]
    assert view.describe() == "tuned 70.0 %; default setting 60.0 %."


def test_calibration(shown):
    view = shown(Calibration, CLASSES)
    assert view.curve.y.tolist() == [0.1, 0.7, 0.9]
    assert view.describe() == "Furthest off where it says 50.0 %: there 70.0 % have it."


def test_confusion(shown):
    view = shown(Confusion, CLASSES)
    model = view.table.model()
    assert model.index(0, 1).data() == "31"
    assert model.index(2, 1).data() == "86.1 %"
    assert view.describe() == "71 of 81 unseen rows right."
    view.which.setCurrentIndex(1)
    view.which.activated.emit(1)
    assert view.table.model().index(0, 1).data() == "30"


def test_predicted_against_actual(shown):
    view = shown(Predicted, NUMBERS)
    assert view.dots.x.tolist() == [1.0, 2.0, 4.0]
    assert view.dots.y.tolist() == [1.5, 2.0, 3.0]
    assert view.describe() == "3 rows; half of the predictions are off by less than 0.5."


def test_comparison_puts_the_best_on_top(shown):
    view = shown(Comparison, {})
    assert not view.has_content()
    view.show_runs(
        [
            {"strategy": "grid", "fits": 100, "seconds": 10.0, "test": 0.84},
            {"strategy": "mm", "fits": 10, "seconds": 0.1, "test": 0.88, "interval": [0.8, 0.9]},
            {"strategy": "grid", "fits": 100, "seconds": 9.0, "test": None},
        ]
    )
    assert view.names() == ["mm", "grid", "grid (2)"]
    assert view.dots.x.tolist() == [0.88, 0.84]
    assert np.allclose([end for _, _, end in view.bars[view.fits][0].bars], [1.0, 2.0, 2.0])
    assert view.rows()[1][0] == ["mm", 0.88, None, 10, 0.1]
    assert view.describe().startswith("3 runs; best mm")
