"""The views of the questions after the score, on small answers worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.pages.results_page import ExplanationRequests, ResultsPage
from app.views.explanation_views import (
    ColumnsView,
    LearningView,
    ResidualsView,
    SettingsView,
    WrongRowsView,
    of_rows,
)
from app.views.result_views import CalibrationView
from app.views.threshold_view import ThresholdView
from app.worker.messages import CancelExplanation, Explain, Explained
from core.datasets.task import Task
from core.figures.explanation_figures import columns_figure
from core.figures.explanation_text import learning_text
from core.figures.figure import Bars
from core.tuning.events import RunFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import (
    ConfusionCounts,
    MoleculePairs,
    PredictionPairs,
    Results,
    SequenceCounts,
)
from core.tuning.runs.run_folder import RunFolder
from core.tuning.why.answer_types import NoAnswer, RowDiagnostics, WrongRows
from core.tuning.why.answers import read_answer

CLASSES = Results(confusion=ConfusionCounts(["no", "yes"], [[2, 1], [0, 1]]))
OF = {
    # Scores 0.9 yes, 0.7 no, 0.6 yes, 0.2 no.
    "positives": 2, "negatives": 2, "thresholds": [0.9, 0.7, 0.6, 0.2],
    "true": [1, 1, 2, 2], "false": [0, 1, 1, 2],
    "area": [0.75, None, None], "precision": [5 / 6, 0.5, 1.0],
    "calibration": [{"predicted": 0.2, "observed": 0.0, "rows": 1, "low": 0.0, "high": 0.8}],
}  # fmt: skip
OTHER = OF | {"thresholds": [0.8, 0.4, 0.3, 0.1], "true": [1, 1, 2, 2]}
WRONG = {
    "headers": ["x"], "rows": [[3.5]], "lines": [7], "counted": "line", "left_out": 0,
    "actual": ["no"], "said": ["yes"], "sure": [0.7], "wrong": 1,
}  # fmt: skip
ROWS = read_answer("rows", {
    "rows": 4, "labels": ["yes", "no"], "second": "yes", "scale": "probability",
    "chosen": 0.65, "by_costs": True, "of": {"yes": OF, "no": OTHER}, "wrong": WRONG,
})  # fmt: skip
COLUMNS = read_answer("importance", {
    "metric": "accuracy", "rows": 4, "test_rows": 9, "repeats": 5, "total": 99, "screened": True,
    "columns": [
        {"names": ["a"], "mean": 0.2, "low": 0.1, "high": 0.3, "weight": -2.0},
        {"names": ["b"], "mean": 0.0, "low": -0.1, "high": 0.1, "weight": 0.5},
    ],
    "groups": [{"names": ["a", "b"], "mean": 0.4, "low": 0.2, "high": 0.6}],
    "alike": [{"names": ["a", "b"], "least": 0.953}],
    "dependence": {"a": {
        "name": "a", "answer": "probability of “yes”", "numbers": True, "grid": [0.0, 1.0],
        "words": [], "mean": [0.3, 0.6], "low": [0.2, 0.5], "high": [0.4, 0.7],
        "rows": [[0.1, 0.9]], "used": 4, "counts": [1, 3], "edges": [0.0, 0.5, 1.0],
    }},
})  # fmt: skip
SIZES = [
    {"rows": rows, "mean": mean, "low": mean - 0.1, "high": mean + 0.1, "repeats": 3}
    for rows, mean in ((10, 0.6), (50, 0.7), (100, 0.8))
]
LEARNING = read_answer("learning", {
    "metric": "accuracy", "maximize": True, "sizes": SIZES, "done": True, "answer": "yes",
    "gain": {"mean": 0.1, "low": 0.02, "high": 0.18, "from": 50, "to": 100},
})  # fmt: skip


@pytest.fixture
def shown(qtbot):
    def show(kind, answer, results=CLASSES):
        view = kind()
        qtbot.addWidget(view)
        view.resize(700, 420)
        view.show()
        view.show_results(results)
        view.show_answer(answer)
        return view

    return show


def test_the_threshold_begins_where_the_model_decides_and_moves_by_key_and_mouse(shown, qtbot):
    view = shown(ThresholdView, ROWS)

    def is_said(index, counts, recall, precision):
        texts = [view.counts[place].text() for place in ((1, 1), (1, 2), (2, 1), (2, 2))]
        words = (f"recall {recall}", f"precision {precision}")
        return (view.handle_index(), " ".join(texts)) == (index, counts) and all(
            text in view.sentence.text() for text in words
        )

    assert is_said(1, "1 1 1 1", 50, 50)  # p >= 0.65: the rows with 0.9 and 0.7
    assert "83.3\u00a0% (95\u00a0% confidence interval 50.0\u00a0% to 100" in view.describe()
    assert view.table_data()[1][2][:5] == [0.6, 2, 1, 0, 1]
    qtbot.keyClick(view.slider, Qt.Key.Key_Left)  # a lower threshold calls more rows
    assert is_said(2, "2 0 1 1", 100, 67)
    qtbot.waitExposed(view)
    box = view.curve_painters[0].plot.vb
    corner = view.canvas.mapFromScene(box.mapViewToScene(box.viewRect().bottomRight()))  # 1, 1
    qtbot.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=corner)
    assert view.handle_index() == 3
    # What is kept is the second class's probability, whichever class is shown.
    values = []
    view.threshold_chosen.connect(values.append)
    view.keep_button.click()
    view.which.setCurrentText("no")
    assert not view.undo_button.isVisibleTo(view)
    view.slider.setValue(view.slider.maximum())  # 0.8
    view.keep_button.click()
    view.show_results(replace(CLASSES, threshold=0.3))
    view.undo_button.click()
    assert values == [0.2, pytest.approx(0.2), None]


def test_columns_are_bars_that_keys_and_clicks_choose(shown, qtbot):
    view, chosen = shown(ColumnsView, COLUMNS), []
    assert view.table_data()[1][0] == ["a", 0.2, 0.1, 0.3, -2.0]
    assert "a and b say nearly the same" in view.describe()
    assert "Of 99 columns the 2" in view.describe()
    assert view.plot.bottom.title.endswith("in points")
    view.column_chosen.connect(chosen.append)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Down)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Return)
    assert chosen == ["b"]
    view.grouping.setCurrentIndex(1)
    assert view.table_data()[1] == [["a + b", 0.4, 0.2, 0.6, None]]
    lost = [replace(COLUMNS.columns[0], mean=1.84, low=1.2, high=2.5), *COLUMNS.columns[1:]]
    figure = columns_figure(replace(COLUMNS, metric="r2"), lost)
    assert figure.description.startswith("a matters most: all of R².")  # no "184 points" of it
    assert figure.mark(Bars, "bars").ends[0] == figure.x.high == 1.0
    view = shown(ColumnsView, replace(COLUMNS, units={"a": "kg"}))
    assert [row[0] for row in view.table_data()[1]] == ["a, kg", "b"]
    assert view.describe().startswith("a, kg matters most")
    view = shown(ColumnsView, COLUMNS)
    view.column_chosen.connect(chosen.append)
    qtbot.waitExposed(view)
    place = view.canvas.mapFromScene(view.plot.vb.mapViewToScene(QPointF(0.1, 1.0)))
    qtbot.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen == ["b", "b"]


def test_more_rows_are_answered_in_a_sentence(shown):
    view = shown(LearningView, LEARNING)
    assert view.describe().startswith("Yes, likely: +10.0 points from 50 to 100 rows. 95\u00a0%")
    assert view._caption.text() in view.describe()
    assert view.plot.left.label_at(0.7) == "70.0\u00a0%"
    assert len(view.table_data()[1]) == 3
    for changes, words in (({"answer": "unclear"}, "Unclear: "), ({"done": False}, "More sizes")):
        assert learning_text(replace(LEARNING, **changes)).startswith(words)


def test_wrong_rows_have_their_lines_and_none_is_a_sentence(shown):
    view = shown(WrongRowsView, ROWS)
    assert view.table_data() == (["line", "actual", "predicted", "sure", "x"],
                           [[7, "no", "yes", "70\u00a0%", 3.5]])  # fmt: skip
    nothing_wrong = WrongRows([], [], [], "line", 0, [], [], [], 0)
    view = shown(WrongRowsView, RowDiagnostics(4, nothing_wrong))
    assert not view.has_content()
    assert "right about every" in view.waiting_reason()


def test_residuals_over_predictions_and_words(shown):
    bins = {"": [{"at": 2.0, "mean": 0.5, "low": 0.1, "high": 0.9, "rows": 2}],
            "w": [{"at": "a", "mean": 1.0, "low": None, "high": None, "rows": 1},
                  {"at": "b", "mean": 0.0, "low": None, "high": None, "rows": 1}]}  # fmt: skip
    told = {"predicted": [1.0, 3.0], "residual": [1.0, 0.0], "rows": 2, "left_out": 0,
            "bins": bins, "along": {"w": ["a", "b"]}}  # fmt: skip
    answer = read_answer("rows", {"rows": 2, "wrong": WRONG, "residuals": told})
    view = shown(ResidualsView, answer, Results(predictions=PredictionPairs([0.0, 3.0])))
    assert view.table_data()[1] == [[1.0, 1.0], [3.0, 0.0]]
    view.along.setCurrentIndex(1)
    view.redraw()
    assert view.table_data()[1] == [["a", 1.0], ["b", 0.0]]
    assert "Furthest off near w a" in view.describe()


def test_calibration_has_bands_and_counts_once_they_are_known(shown):
    view = shown(CalibrationView, ROWS)
    assert view.table_data() == (["predicted", "observed", "rows", "low", "high"],
                           [[0.2, 0.0, 1, 0.0, 0.8]])  # fmt: skip
    assert [view.which.itemText(at) for at in range(2)] == ["yes", "no"]


def test_only_rows_of_a_table_are_asked_about():
    assert of_rows(CLASSES)
    assert not of_rows(replace(CLASSES, sequences=SequenceCounts(tuned=1)))
    assert not of_rows(Results(pairs=MoleculePairs()))


@pytest.fixture
def asking(still, qtbot, race, tmp_path):
    folder = RunFolder.create(Plan(DataPlan("x.csv"), "auto", "race"), root=tmp_path)
    folder.close()
    still._show_run(list(race.run()), folder.path)
    page = ResultsPage(still)
    qtbot.addWidget(page)
    page.resize(1000, 800)
    page.show()
    page.visited()
    return page


def asked(still):
    return [what.question for what in still.worker.asked if isinstance(what, Explain)]


def answer(still, question, told, column=""):
    still.explained.emit(Explained(Explain(str(still.run_folder), question, column), told))


def test_answers_are_asked_for_and_go_to_their_views(asking, still):
    assert asked(still) == ["rows", "importance", "settings"]
    questions: ExplanationRequests = asking.questions
    answer(still, "importance", COLUMNS)
    assert questions.views["dependence"].answer.name == "a"
    assert "importance" not in asked(still)[2:]
    questions.look_at("b")
    assert asked(still)[-1] == "dependence"
    for question, column, name in (("dependence", "b", "dependence"), ("rows", "", "threshold")):
        answer(still, question, NoAnswer(f"No {name}."), column)
        assert questions.views[name].waiting_reason() == f"No {name}."
    assert "learning" not in asked(still)  # which yields to the others, waits for the last
    answer(still, "settings", NoAnswer("No settings."))
    assert asked(still)[-1] == "learning"
    answer(still, "learning", LEARNING)
    learning = questions.views["learning"]
    assert "+10.0 points" in learning._caption.text()
    learning.show_results(replace(learning.results, seed=7))
    assert learning._caption.text() == learning.question  # nothing of the run before
    assert questions.views["threshold"].ask_button.isVisibleTo(questions.views["threshold"])


OF_TASK = {
    Task.BINARY: {
        "confusion": {"labels": ["no", "yes"], "tuned": [[40, 5], [5, 31]],
                      "baseline": [[45, 0], [36, 0]]},
        "right": {"tuned": 74, "default": 70, "baseline": 45, "rows": 90},
        "calibration": {"predicted": [0.2, 0.8], "observed": [0.3, 0.7], "counts": [40, 50]},
    },
    Task.MULTICLASS: {"confusion": {"labels": ["a", "b", "c"], "tuned": [[30, 1, 1]] * 3},
                      "test": {"accuracy": 0.82, "log_loss": 0.4}},
    Task.REGRESSION: {
        "metric": "r2", "test": {"r2": 0.8, "mae": 3.0}, "baseline_test": {"r2": 0.0, "mae": 9.0},
        "predictions": {"actual": [1.0, 2.0, 3.0], "tuned": [1.5, 2.0, 2.5]}, "right": None,
        "baseline": "the mean",
    },
    Task.SEQUENCE: {"sequences": {"tuned": 18, "default": 17, "count": 20},
                    "baseline": "the most frequent label of each value"},
    Task.STRUCTURE: {
        "pairs": {"tuned": {"right": 60, "called": 70, "true": 80}, "molecules": 18},
        "metric": "pair_f1", "test": {"pair_f1": 0.9}, "right": None,
        "curve": {"tuned": [[0.5, 0.9, 0.8], [0.9, 0.7, 0.9]]},
    },
    Task.TOPICS: {"documents": {"count": 40, "words": 400}, "right": None},
}  # fmt: skip


@pytest.mark.parametrize("task", filter(None, Task))
def test_the_first_screen_has_few_words(asking, still, race, qtbot, task):
    asking.resize(820, 760)  # what a window of 1280 × 800 leaves
    chance = {"metric": "accuracy", "difference": 0.017, "low": -0.02, "high": 0.05}
    results = race.results(
        gain=chance, gain_over_baseline={**chance, "low": 0.01, "real": True},
        untried={"forest": 20.0} if task.is_table else None, **OF_TASK[task],
    )  # fmt: skip
    # Of structured tasks one model is tuned.
    candidates = results.candidates[:: 1 if task.is_table else 2]
    candidates = [replace(candidate, row_seconds=1 / 890) for candidate in candidates]
    events = [*race.run(ends=False), RunFinished(results=replace(results, candidates=candidates))]
    events[0] = replace(events[0], dataset=replace(events[0].dataset, task=task))
    still._show_run(events, still.run_folder)
    answers = {"rows": ROWS, "learning": replace(LEARNING, answer="unclear")}
    for question, told in answers.items() if task.is_table else ():
        answer(still, question, told)
    qtbot.wait(20)
    labels = (*asking.findChildren(QLabel), *asking.findChildren(QAbstractButton))
    words = [label.text() for label in labels if not label.visibleRegion().isEmpty()]
    words += [asking.tabs.tabText(tab) for tab in range(4) if asking.tabs.isTabVisible(tab)]
    assert len(" ".join(words).split()) < 120, "\n".join(words)


def test_bars_appear_while_columns_are_shuffled_and_a_person_can_stop(asking, still):
    asking.questions.ask("importance")
    view = asking.questions.views["columns"]
    sent = []
    view.stop_requested.connect(sent.append)
    begun = replace(COLUMNS, done=False, shuffled=2, asked=40, dependence=None)
    answer(still, "importance", begun)
    assert "2 of 40 columns shuffled so far" in view._caption.text()
    assert asked(still).count("dependence") == 0
    assert view.stop_button.isVisibleTo(view)
    view.stop_button.click()
    assert sent == ["importance"]
    assert isinstance(still.worker.asked[-1], CancelExplanation)
    answer(still, "importance", NoAnswer("Stopped."))
    assert not view.stop_button.isVisibleTo(view)
    assert view.ask_button.isVisibleTo(view)
    assert view.answer == begun


MATTERED = read_answer("settings", {
    "settings": [
        {"name": "C", "label": "Cost of a wrong row", "share": 0.6, "low": 0.2, "high": 0.8},
        {"name": "gamma", "label": "", "share": 0.25, "low": 0.1, "high": 0.5},
    ],
    "together": 0.15, "trials": 200, "of": 1000, "metric": "accuracy", "model": "svm",
    "resamples": 20, "done": True,
})  # fmt: skip


def test_a_bar_for_every_setting_where_there_are_several_and_trials_enough(shown):
    view = shown(SettingsView, MATTERED, replace(CLASSES, setting={"C": 1, "gamma": 2}, trials=40))
    assert [row[0] for row in view.table_data()[1]] == ["Cost of a wrong row (C)", "gamma"]
    assert view.describe().startswith("Cost of a wrong row (C) explains 60")
    assert "other 15\u00a0% lies in several settings together" in view._caption.text()
    assert "200 of 1,000 trials" in view._caption.text()
    assert view.table_data()[1][1] == ["gamma", 0.25, 0.1, 0.5]
    setting = {"C": 1.0, "gamma": 2.0}
    assert SettingsView.is_suitable(Results(setting=setting, trials=10))
    unsuitable = ((setting, 9), ({"C": 1.0}, 40), ({"model": "svm", "C": 1.0}, 40), ({}, 0))
    for setting, trials in unsuitable:
        assert not SettingsView.is_suitable(Results(setting=setting, trials=trials))
