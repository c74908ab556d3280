from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.views.result_views import RESULT_VIEWS, CalibrationView, ConfusionMatrix
from app.views.runs_comparison import RunCurves, RunsComparison
from core.figures.figure import Border, Labels
from core.figures.score_figures import score_figure, score_rows
from core.json_reading import read_as
from core.tuning.run_results import GammaValues, MoleculePairs, PairCounts, Results
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_comparison import BestSoFarCurve

SCORES_VIEW, PAIRS_VIEW, _, PREDICTED_VIEW, _ = RESULT_VIEWS


def views_for(results):
    return [view for view in RESULT_VIEWS if view.is_suitable(results)]


CLASSES = read_as(Results, {
    "metric": "accuracy", "test": {"accuracy": 0.877}, "default_test": {"accuracy": 0.84},
    "test_interval": [0.8, 0.94], "default_interval": [0.75, 0.91],
    "confusion": {"labels": ["yes", "no"], "tuned": [[31, 5], [5, 40]],
                  "default": [[30, 6], [7, 38]]},
    "calibration": {"predicted": [0.1, 0.5, 0.9], "observed": [0.1, 0.7, 0.9],
                    "counts": [5, 9, 4]},
})  # fmt: skip
NUMBERS = read_as(Results, {
    "metric": "r2", "test": {"r2": 0.7}, "default_test": {"r2": 0.6},
    "predictions": {"actual": [1.0, 2.0, 4.0], "tuned": [1.5, 2.0, 3.0]},
})  # fmt: skip


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


def test_the_line_without_a_model_does_not_cross_a_number(shown):
    greys = []
    for baseline in ({"accuracy": 0.842}, {}):
        view = shown(SCORES_VIEW, replace(CLASSES, baseline_test=baseline))
        near = view.marks["scores"].boxes[1].toRect().adjusted(2, 2, -2, -2)  # 84.0 %
        picture = view.canvas.viewport().grab(near).toImage()
        points = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
        greys.append(np.array([picture.pixelColor(*point).lightness() for point in points]))
    assert np.abs(np.subtract(*greys)).max() < 64  # of 255; the bare line is some 130 darker


def test_scores_with_and_without_intervals(shown):
    view = shown(SCORES_VIEW, CLASSES)
    assert view.marks["tuned"].x.tolist() == [0.877]
    assert view.marks["interval"].x.tolist()[:2] == [0.8, 0.94]
    assert view.marks["others"].x.tolist() == [0.84]
    assert [text for _, _, text in view.marks["scores"].words] == ["87.7\u00a0%", "84.0\u00a0%"]
    assert all(text.endswith("\u00a0%") for _, text in view.plot.bottom.shown_ticks())
    said = view.describe()
    assert said.startswith("tuned 87.7\u00a0% (between 80.0\u00a0% and 94.0\u00a0%); default")
    assert view.table_data()[1][0] == ["tuned", 0.877, 0.8, 0.94]
    view = shown(SCORES_VIEW, NUMBERS)
    assert view.describe() == "tuned 70.0\u00a0%; default setting 60.0\u00a0%."
    assert view.plot.bottom.title == "R² on test rows"


def test_the_line_without_a_model_is_drawn_where_it_leaves_the_models_apart():
    def drawn(baseline):
        figure = score_figure(replace(CLASSES, baseline_test={"accuracy": baseline}))
        return figure, figure.mark(Border, "without"), figure.mark(Labels, "beyond").texts

    figure, line, beyond = drawn(0.7)
    assert (line.value, line.words, beyond) == (0.7, "without a model 70.0\u00a0%", [])
    assert figure.x.low < 0.7
    assert figure.table()[1][-1] == ["without a model", 0.7, None, None]
    figure, line, beyond = drawn(0.1)
    assert (line.value, beyond) == (None, ["← no model 10.0\u00a0%"])
    assert figure.x.low > 0.7
    assert [row.is_taken for row in score_rows(CLASSES)] == [True, False]


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
    model, share = view.table.model(), "86.1\u00a0%"  # 31 of 36
    cells = [[model.index(row, column).data() for column in range(4)] for row in range(3)]
    assert cells[0] == ["yes", "31", "5", share]
    assert cells[2][:2] == ["precision", share]
    assert model.headerData(3, Qt.Orientation.Horizontal) == "recall"
    assert view.describe() == "71 of 81 test rows right."
    assert view.which.count() == 2
    confusion = replace(CLASSES.confusion, baseline=[[0, 36], [0, 45]])
    view = shown(ConfusionMatrix, replace(CLASSES, confusion=confusion))
    assert view.which.count() == 3
    for model, count in ((1, "6"), (2, "36")):
        view.which.setCurrentIndex(model)
        view.which.activated.emit(model)
        assert view.table.model().index(0, 2).data() == count


def test_comparison_puts_the_best_on_top(shown):
    view = shown(RunsComparison, Results())
    assert not view.has_content()
    view.show_runs(
        {
            "grid": RunSummary("", "", fits=100, seconds=10.0, test=0.84),
            "mm": RunSummary("", "", fits=10, seconds=0.1, test=0.88, interval=[0.8, 0.9]),
            "grid (2)": RunSummary("", "", fits=100, seconds=9.0, test=None),
        }
    )
    assert list(view.runs) == ["mm", "grid", "grid (2)"]
    assert view.run_painters[0].marks["dots"].x.tolist() == [0.88, 0.84]
    assert np.allclose(
        [end for _, _, end in view.run_painters[1].marks["bars"].bars], [1.0, 2.0, 2.0]
    )
    assert view.table_data()[1][0] == ["mm", 0.88, None, 10, 0.1]
    assert view.describe().startswith("3 runs; best mm")


@pytest.mark.parametrize(
    ("maximize", "order"), [(True, ["c", "b", "a", "d"]), (False, ["a", "b", "c", "d"])]
)
def test_comparison_knows_zero_and_scores_that_fall(shown, maximize, order):
    view = shown(RunsComparison, Results())
    scores = {"d": None, "a": -0.2, "b": 0.0, "c": 0.3}
    view.show_runs(
        {n: RunSummary("", n, test=test, maximize=maximize) for n, test in scores.items()}
    )
    assert list(view.runs) == order


def test_the_curves_of_several_runs_over_trials_and_time(shown):
    view = shown(RunCurves, Results())
    assert not view.has_content()
    grid = BestSoFarCurve("a", [1, 4, 9], [1.0, 5.0, 30.0], [0.6, 0.8, 0.8], "accuracy")
    race = BestSoFarCurve("b", [2, 3], [0.5, 2.0], [0.7, 0.9], "accuracy")
    view.show_curves([grid, BestSoFarCurve("c", steps=7), race], ["grid", "mm", "race"])
    assert "mm makes steps" in view._caption.text()
    assert view.marks["grid"].x.tolist() == [1, 4, 4, 9, 9]
    assert view.marks["grid"].y.tolist() == [0.6, 0.6, 0.8, 0.8, 0.8]
    # where it ended is marked where that improved the score
    assert [view.marks[f"{name} dots"].x.tolist() for name in ("grid", "race")] == [[1, 4], [2, 3]]
    words = [entry.words for entry in view.painter.legend.entries]
    assert words == ["grid: 80.0\u00a0%", "race: 90.0\u00a0%"]
    assert view.marks["race dots"].symbol == "triangle"  # the third run, as in the other pictures
    assert "grid: 80.0\u00a0% after 9 trials, 30 s" in view.describe()
    assert view.table_data()[1][-1] == ["race", 3, "2", 0.9]
    view.chooser.setCurrentIndex(1)
    view.chooser.activated.emit(1)
    assert view.marks["race"].x.tolist() == [0.5, 2.0, 2.0]
    view.show_curves([race], ["grid"])
    assert view.marks["grid dots"].symbol == "circle"


def test_the_curve_of_found_and_right_pairs_marks_the_chosen_gamma(shown, structured):
    results = structured.results_of("structure")
    assert views_for(results) == [SCORES_VIEW, PAIRS_VIEW]
    view, curve = shown(PAIRS_VIEW, results), results["curve"]["tuned"]
    assert len(view.marks["default"].x) == 16
    assert len(view.marks["tuned γ"].x) == 15
    assert f"tuned: {100 * curve[7][1]:.1f} % of the true pairs found" in view.describe()
    assert len(view.table_data()[1]) == 32
    counts = PairCounts(right=3, called=4, true=10)
    pairs = MoleculePairs(tuned=counts, default=counts, molecules=1)
    for gamma, changes, (found, right) in (
        (4, {}, curve[7][1:]),  # what is usual
        (8, {"gamma": GammaValues(8.0, 4.0)}, curve[8][1:]),
        (5, {"gamma": GammaValues(5.0, 4.0), "pairs": pairs}, (0.3, 0.75)),  # not on the curve
    ):
        view = shown(PAIRS_VIEW, replace(results, **changes))
        scored = view.marks["tuned scored"]
        assert np.allclose([scored.x[0], scored.y[0]], [100 * right, 100 * found])
        assert f"(γ = {gamma})" in view.describe()
    curve[0][2] = None
    assert np.isnan(shown(PAIRS_VIEW, results).marks["tuned"].x[0])


def test_seventeen_labels_keep_their_names_in_view_and_few_need_not(shown, structured):
    def has_names_in_view(view):
        names = view.table.isColumnHidden(0), not view.table.verticalHeader().isHidden(), view.wide
        assert len(set(names)) == 1
        return names[0]

    results = structured.results_of("sequence")
    view = shown(ConfusionMatrix, results)
    model, table = view.table.model(), view.table
    assert has_names_in_view(view)
    heads = [model.headerData(row, Qt.Orientation.Vertical) for row in (0, 17)]
    assert heads == ["ADJ", "precision"]
    assert model.headerData(18, Qt.Orientation.Horizontal) == "recall"
    counts = results["confusion"]["tuned"]
    assert model.index(0, 1).data() == str(counts[0][0])
    zero = next(at for at in range(1, 17) if not counts[0][at])
    assert model.index(0, zero + 1).data() == "·"
    often, seldom = (model.index(16, at + 1).data(Qt.ItemDataRole.BackgroundRole) for at in (0, 1))
    assert seldom is None or often.alphaF() > seldom.alphaF()
    assert "test tokens right" in view.describe()
    assert not table.verticalScrollBar().isVisible()
    view.show_results(CLASSES)
    assert not has_names_in_view(view)
