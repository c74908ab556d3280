from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.views.result_views import RESULT_VIEWS, CalibrationView, ConfusionMatrix
from app.views.runs_comparison import ComparedRun, RunsComparison
from core.figures.score_figures import score_entries
from core.json_reading import read_as
from core.tuning.run_results import GammaValues, MoleculePairs, PairCounts, Results

SCORES_VIEW, PAIRS_VIEW, _, PREDICTED_VIEW, _ = RESULT_VIEWS


def views_for(results):
    return [view for view in RESULT_VIEWS if view.is_suitable(results)]


CLASSES = read_as(
    Results,
    {
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
        "calibration": {
            "predicted": [0.1, 0.5, 0.9],
            "observed": [0.1, 0.7, 0.9],
            "counts": [5, 9, 4],
        },
    },
)
NUMBERS = read_as(
    Results,
    {
        "metric": "r2",
        "test": {"r2": 0.7},
        "default_test": {"r2": 0.6},
        "predictions": {"actual": [1.0, 2.0, 4.0], "tuned": [1.5, 2.0, 3.0]},
        "confusion": None,
        "calibration": None,
    },
)


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
    assert views_for(CLASSES) == [SCORES_VIEW, CalibrationView, ConfusionMatrix]
    assert views_for(NUMBERS) == [SCORES_VIEW, PREDICTED_VIEW]


def test_scores_with_and_without_intervals(shown):
    view = shown(SCORES_VIEW, CLASSES)
    assert view.marks["tuned"].x.tolist() == [0.877]
    assert view.marks["interval"].x.tolist() == [0.8, 0.94]
    assert view.marks["others"].x.tolist() == [0.84]
    assert [text for _, _, text in view.marks["scores"].words] == ["87.7\u00a0%", "84.0\u00a0%"]
    said = view.describe()
    assert said.startswith("tuned 87.7\u00a0% (between 80.0\u00a0% and 94.0\u00a0%); default")
    assert view.table_data()[1][0] == ["tuned", 0.877, 0.8, 0.94]
    view = shown(SCORES_VIEW, NUMBERS)
    assert view.marks["tuned"].x.tolist() == [0.7]
    assert view.describe() == "tuned 70.0\u00a0%; default setting 60.0\u00a0%."
    results = replace(CLASSES, baseline_test={"accuracy": 0.5}, baseline_interval=[0.4, 0.6])
    view = shown(SCORES_VIEW, results)
    assert score_entries(view.results)[-1] == ("baseline", 0.5, 0.4, 0.6)
    view = shown(SCORES_VIEW, replace(results, baseline_interval=[None, None]))
    assert np.isnan(score_entries(view.results)[-1][2])


def test_calibration_and_predictions(shown):
    view = shown(CalibrationView, CLASSES)
    assert view.marks["curve"].y.tolist() == [0.1, 0.7, 0.9]
    assert view.describe() == "Furthest off where it says 50.0\u00a0%: there 70.0\u00a0% have it."
    view = shown(PREDICTED_VIEW, NUMBERS)
    assert view.marks["rows"].x.tolist() == [1.0, 2.0, 4.0]
    assert view.marks["rows"].y.tolist() == [1.5, 2.0, 3.0]
    assert view.describe() == "3 rows; half of the predictions are off by less than 0.5."


def test_right_and_wrong_answers_of_each_model(shown):
    view = shown(ConfusionMatrix, CLASSES)
    model = view.table.model()
    assert model.index(0, 1).data() == "31"
    assert model.index(2, 1).data() == "86.1\u00a0%"
    assert model.index(2, 0).data() == "precision"
    counts = CLASSES["confusion"]["tuned"]
    recall = 100 * counts[0][0] / sum(counts[0])
    assert model.headerData(3, Qt.Orientation.Horizontal) == "recall"
    assert model.index(0, 3).data() == f"{recall:.1f}\u00a0%"
    assert view.describe() == "71 of 81 test rows right."
    view.which.setCurrentIndex(1)
    view.which.activated.emit(1)
    assert view.table.model().index(0, 1).data() == "30"
    assert view.which.view().isRowHidden(2)
    confusion = replace(CLASSES.confusion, baseline=[[0, 36], [0, 45]])
    view = shown(ConfusionMatrix, replace(CLASSES, confusion=confusion))
    assert not view.which.view().isRowHidden(2)
    view.which.setCurrentIndex(2)
    view.which.activated.emit(2)
    assert view.table.model().index(0, 2).data() == "36"


def test_comparison_puts_the_best_on_top(shown):
    view = shown(RunsComparison, Results())
    assert not view.has_content()
    view.show_runs(
        [
            ComparedRun("grid", fits=100, seconds=10.0, test=0.84),
            ComparedRun("mm", fits=10, seconds=0.1, test=0.88, interval=[0.8, 0.9]),
            ComparedRun("grid", fits=100, seconds=9.0, test=None),
        ]
    )
    assert view.run_names() == ["mm", "grid", "grid (2)"]
    assert view.dots.x.tolist() == [0.88, 0.84]
    assert np.allclose([end for _, _, end in view.bars[view.fits][0].bars], [1.0, 2.0, 2.0])
    assert view.table_data()[1][0] == ["mm", 0.88, None, 10, 0.1]
    assert view.describe().startswith("3 runs; best mm")


def test_the_curve_of_found_and_right_pairs_marks_the_chosen_gamma(shown, structured):
    results = structured.results_of("structure")
    assert views_for(results) == [SCORES_VIEW, PAIRS_VIEW]
    view = shown(PAIRS_VIEW, results)
    gamma, found, right = results["curve"]["tuned"][7]
    assert gamma == 4.0
    assert np.allclose([view.marks["tuned scored"].x[0], view.marks["tuned scored"].y[0]],
                       [100 * right, 100 * found])  # fmt: skip
    assert len(view.marks["default"].x) == 16
    assert len(view.marks["tuned γ"].x) == 15
    assert f"tuned: {100 * found:.1f} % of the true pairs found" in view.describe()
    assert len(view.table_data()[1]) == 32
    at_eight = results["curve"]["tuned"][8]
    view = shown(PAIRS_VIEW, replace(results, gamma=GammaValues(8.0, 4.0)))
    assert np.allclose(view.marks["tuned scored"].x, [100 * at_eight[2]])
    assert "(γ = 8)" in view.describe()
    counts = PairCounts(right=3, called=4, true=10)
    pairs = MoleculePairs(tuned=counts, default=counts, molecules=1)
    view = shown(PAIRS_VIEW, replace(results, gamma=GammaValues(5.0, 4.0), pairs=pairs))
    assert np.allclose(
        [view.marks["tuned scored"].x[0], view.marks["tuned scored"].y[0]], [75.0, 30.0]
    )
    results["curve"]["tuned"][0][2] = None
    view = shown(PAIRS_VIEW, results)
    assert np.isnan(view.marks["tuned"].x[0])


def test_seventeen_labels_keep_their_names_in_view_and_few_need_not(shown, structured):
    results = structured.results_of("sequence")
    view = shown(ConfusionMatrix, results)
    model, table = view.table.model(), view.table
    vertical = Qt.Orientation.Vertical
    assert view.wide
    assert table.isColumnHidden(0)
    assert not table.verticalHeader().isHidden()
    assert model.headerData(0, vertical) == "ADJ"
    assert model.headerData(17, vertical) == "precision"
    assert model.headerData(18, Qt.Orientation.Horizontal) == "recall"
    counts = results["confusion"]["tuned"]
    assert model.index(0, 1).data() == str(counts[0][0])
    zero = next(at for at in range(1, 17) if not counts[0][at])
    assert model.index(0, zero + 1).data() == "·"
    often, seldom = (model.index(16, at + 1).data(Qt.ItemDataRole.BackgroundRole) for at in (0, 1))
    assert seldom is None or often.alphaF() > seldom.alphaF()
    assert "test tokens right" in view.describe()
    assert not table.verticalScrollBar().isVisible()
    view = shown(ConfusionMatrix, structured.results_of("sequence"))
    view.show_results(CLASSES)
    assert not view.wide
    assert not view.table.isColumnHidden(0)
    assert view.table.verticalHeader().isHidden()
