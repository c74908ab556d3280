"""The page that uses a run's model on new rows: what it asks of the worker, and what it shows."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.window.window import Window
from app.worker.messages import (
    CancelExplanation,
    DescribeModel,
    FindTestRow,
    Message,
    ModelDescribed,
    PredictRow,
    PredictRows,
    RowPredicted,
    RowsPredicted,
    SavePredictions,
    TestRowFound,
    UseProgress,
)
from core.evaluation.conformal import PredictionInterval
from core.export.using.row_answers import ModelForm, RowPrediction, TestRow
from core.tuning.results.training_rows import CHOICE, DATE, NUMBER, TrainingColumn

USED = RowsPredicted(
    ["age", "prediction", "unlike the training rows"],
    [["3", "yes", ""], ["9", "no", "x"]],
    2,
    1,
    n_own_columns=1,
)


@pytest.fixture
def window(still, qtbot, monkeypatch):
    made = Window(still)
    qtbot.addWidget(made)
    made.show()
    made.show_page("use")
    return made


@pytest.fixture
def page(window, still, monkeypatch, tmp_path):
    page = window.pages["use"]
    assert not page.primary.isEnabled()
    monkeypatch.setattr(type(still), "results", property(lambda _: {"metric": "accuracy"}))
    still.shown.folder = tmp_path
    page.visited()
    return page


def test_rows_come_from_a_file_or_by_paste_and_leave_as_their_table(
    page, still, monkeypatch, tmp_path
):
    page.predict_file("/rows.csv")
    assert still.worker.asked[-1] == PredictRows(str(tmp_path), "/rows.csv")
    QGuiApplication.clipboard().setText("age\tkind\n3\ta\n")
    page.paste_button.click()
    asked = still.worker.asked[-1]
    assert Path(asked.file).read_text() == "age\tkind\n3\ta\n"
    still.rows_predicted.emit(USED)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/out", ""))
    page.save.click()
    assert still.worker.asked[-1] == SavePredictions("/out.csv")
    asked_names: list[str] = []

    def answer_name(_parent, _title, proposed, kinds):
        asked_names.extend([proposed, kinds])
        return "/out", "Excel workbook (*.xlsx)"

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer_name)
    page.predict_file("/orders.parquet")
    page.save.click()
    assert asked_names[0].endswith("orders predictions.parquet")
    assert asked_names[1].startswith("Parquet (*.parquet);;CSV (*.csv);;Excel workbook (*.xlsx)")
    assert still.worker.asked[-1] == SavePredictions("/out.xlsx")


def test_predictions_are_shown_and_rows_unlike_the_training_rows_are_counted(
    page, still, assert_accessible
):
    still.rows_predicted.emit(USED)
    model = page.table.model()
    assert [model.index(1, c).data() for c in range(3)] == ["9", "no", "x"]
    assert "behind the columns of the table" in page.file_card.accessibleDescription()
    assert "1 of 2 rows is unlike the training rows" in page.file_card.marked_note.text()
    assert "farther from every training row" in page.file_card.marked_note.toolTip()
    assert_accessible(page)


def test_what_is_to_know_of_the_rows_is_said_a_line_each(page, still):
    sentences = ("The column “<b>” is ignored.", "Not known.")
    still.rows_predicted.emit(RowsPredicted(["prediction"], [["a"]], 2000, 0, "", sentences))
    assert page.file_card.notes.text() == "\n".join(sentences)
    assert page.file_card.notes.textFormat() == Qt.TextFormat.PlainText
    assert "The first 1 are shown" in page.file_card.accessibleDescription()


def answer(still, kind, make):
    """Answer the last request of a kind."""
    number, asked = max(
        (at, one) for at, one in enumerate(still.worker.asked, 1) if isinstance(one, kind)
    )
    still.worker.arrived.emit([Message(number, make(asked))])


def asked_of(still, kind):
    return [one for one in still.worker.asked if isinstance(one, kind)]


COLUMNS = (
    TrainingColumn("age", NUMBER, True, 0.0, 40.0, 20.0, whole=True),
    TrainingColumn("weight", NUMBER, True, 1.5, 2.5, 2.123456789),
    TrainingColumn("<b>town</b>", CHOICE, False, choices=("a", "b"), typical="a"),
    TrainingColumn("day", DATE, False, 0.0, 86400.0, "1970-01-02", format="%Y-%m-%d"),
)
FORM = ModelForm(
    name="run",
    target="sick",
    task="binary",
    fields=COLUMNS,
    known=True,
    rows=90,
    left_out=0,
    interval=None,
    fewest=20,
    refitted=True,
)
SAID = RowPrediction("yes", [("yes", 0.8), ("no", 0.2)], None, None, "", [])
TYPICAL = {"age": 20.0, "weight": 2.123456789, "<b>town</b>": "a", "day": "1970-01-02"}


@pytest.fixture
def form(page, still):
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, FORM))
    answer(still, PredictRow, lambda asked: RowPredicted(asked, SAID))
    return page.row_form


def latest(form, still, qtbot):
    """The row that is asked about once the typing is over."""
    qtbot.waitUntil(lambda: not form._soon.isActive())
    return asked_of(still, PredictRow)[-1].values


def test_a_form_begins_with_a_typical_row_and_its_prediction(
    form, still, tmp_path, assert_accessible
):
    assert asked_of(still, DescribeModel) == [DescribeModel(str(tmp_path))]
    assert asked_of(still, PredictRow)[-1] == PredictRow(str(tmp_path), "", False, TYPICAL)
    assert form.answer.prediction_label.text().startswith("yes (80")
    bars = [bar for bar in form.answer._bars if bar.isVisible()]
    assert [bar.accessibleName().split(":")[0] for bar in bars] == ["yes", "no"]
    assert not form.reset.isEnabled()
    assert form.fields["age"]._note.text() == "0 to 40"
    assert_accessible(form)


def test_typing_and_sliding_ask_anew_and_the_latest_question_wins(form, still, qtbot):
    age, town = form.fields["age"], form.fields["<b>town</b>"]
    age.edit.clear()
    qtbot.keyClicks(age.edit, "31")
    assert latest(form, still, qtbot) == {**TYPICAL, "age": 31.0}
    assert age.slider.value() == 31
    first = len(still.worker.asked)
    age.slider.setValue(7)
    town.box.setCurrentIndex(1)
    assert latest(form, still, qtbot) == {**TYPICAL, "age": 7.0, "<b>town</b>": "b"}
    old = still.worker.asked[first - 1]
    late = RowPredicted(old, replace(SAID, prediction="no", shares=[]))
    still.worker.arrived.emit([Message(first, late)])  # the answer before the last
    assert form.answer.prediction_label.text().startswith("yes")
    said = replace(SAID, prediction="no", unlike="age is odd", outside=["age", "day"])
    answer(still, PredictRow, lambda asked: RowPredicted(asked, said))
    assert form.answer.prediction_label.text().startswith("no (20")
    assert form.answer.original.text().startswith("Before the changes: yes (80")
    assert "age is odd" in form.answer.unlike.text()
    assert form.fields["age"]._note.text() == "outside 0 to 40 · was 20"
    assert form.fields["day"]._note.text() == "outside 1970-01-01 to 1970-01-02"
    form.reset.click()
    assert latest(form, still, qtbot) == TYPICAL
    assert form.fields["age"]._note.text() == "0 to 40"


def test_missing_values_words_and_the_ends_of_a_slider(form, still, qtbot):
    weight = form.fields["weight"]
    weight.slider.setValue(weight.slider.maximum())
    assert latest(form, still, qtbot)["weight"] == 2.5
    weight.edit.clear()
    weight.edit.textEdited.emit("")
    assert latest(form, still, qtbot)["weight"] is None
    qtbot.keyClicks(weight.edit, "much")
    assert latest(form, still, qtbot)["weight"] == "much"
    problem = "column weight: “much” is no number."
    answer(still, PredictRow, lambda asked: RowPredicted(asked, problem=problem))
    assert form.answer.problem.text() == problem
    assert not form.answer.prediction_label.isVisible()
    town = form.fields["<b>town</b>"].box
    town.setCurrentIndex(town.findText("(missing)"))
    assert latest(form, still, qtbot)["<b>town</b>"] is None


def test_a_row_of_the_test_set_keeps_its_truth_and_first_prediction(form, still, qtbot):
    form.number.setValue(2)
    assert asked_of(still, FindTestRow)[-1].number == 2
    values = {"age": 33.0, "weight": None, "<b>town</b>": "new", "day": "2024-03-09"}
    found = TestRow(2, 9, 17, "line", values, truth="no", target="sick")
    answer(still, FindTestRow, lambda asked: TestRowFound(asked, found))
    assert asked_of(still, PredictRow)[-1].values == values
    answer(still, PredictRow, lambda asked: RowPredicted(asked, SAID))
    assert form.answer.truth.text() == "True value of sick in the file: no"
    assert "Row 2 of the 9 in the test set, line 17 of the file." in form.source_label.text()
    assert "flatters" in form.source_label.text()
    assert form.line.text() == "17"
    form.fields["age"].slider.setValue(5)
    assert latest(form, still, qtbot) == {**values, "age": 5.0}
    answer(still, PredictRow, lambda asked: RowPredicted(asked, replace(SAID, prediction="no")))
    assert form.answer.original.text().startswith("Before the changes: yes")
    assert form.answer.truth.text().endswith("no")
    form.line.setText("40")
    form.line.editingFinished.emit()
    assert asked_of(still, FindTestRow)[-1].line == 40
    answer(still, FindTestRow, lambda asked: TestRowFound(asked, problem="No row there."))
    assert form.source_label.text() == "No row there."


def test_what_was_said_before_is_asked_again_where_a_change_overtook_it(form, still, qtbot):
    form.number.setValue(2)
    found = TestRow(2, 9, 17, "line", TYPICAL, truth="no", target="sick")
    answer(still, FindTestRow, lambda asked: TestRowFound(asked, found))
    form.fields["age"].slider.setValue(5)
    latest(form, still, qtbot)  # the question about the row itself is not answered any more
    answer(still, PredictRow, lambda asked: RowPredicted(asked, replace(SAID, prediction="no")))
    assert form.answer.prediction_label.text().startswith("no")
    assert asked_of(still, PredictRow)[-1].values == TYPICAL
    answer(still, PredictRow, lambda asked: RowPredicted(asked, SAID))
    assert form.answer.prediction_label.text().startswith("no")
    assert form.answer.original.text().startswith("Before the changes: yes")
    form.typical.click()
    assert form.number.text() == "–"
    assert form.line.text() == ""


def test_a_model_without_ranges_has_a_form_and_says_so(page, still):
    old = replace(FORM, fields=(TrainingColumn("x", NUMBER, True),), known=False)
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, old))
    assert page.row_form.fields["x"].slider is None
    assert "before ranges were kept" in page.row_form.answer.notes.text()
    problem = "This model takes no rows."
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, problem=problem))
    assert page.row_form.reason_label.text() == "This model takes no rows."


def test_a_number_comes_with_its_interval(page, still):
    number = replace(FORM, interval=PredictionInterval(1.0, 0.9, 120), task="regression")
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, number))
    said = replace(SAID, prediction=5.0, shares=[], low=4.0, high=6.0)
    answer(still, PredictRow, lambda asked: RowPredicted(asked, said))
    words = page.row_form.answer.interval.text()
    assert words.startswith("Prediction interval 4 to 6")
    assert "120 test rows" in words


def test_a_large_file_shows_how_far_it_is_and_can_be_stopped(page, still):
    page.predict_file("/rows.csv")
    number = len(still.worker.asked)
    still.worker.arrived.emit([Message(number, UseProgress(20_000, 1_000_000))])
    assert page.file_card.progress_row.isVisible()
    assert "1,000,000" in page.file_card.done.text()
    page.file_card.stop.click()
    assert still.worker.asked[-1] == CancelExplanation()
    still.worker.arrived.emit([Message(number, USED)])
    assert not page.file_card.progress_row.isVisible()


def test_a_model_file_is_used_alone(window, still, monkeypatch):
    page = window.pages["use"]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/m.skops", ""))
    page.model_button.click()
    assert page.primary.isEnabled()
    page.predict_file("/rows.csv")
    assert still.worker.asked[-1] == PredictRows("", "/rows.csv", "/m.skops")


def test_a_model_file_that_can_run_code_is_used_only_after_a_question(window, monkeypatch):
    page = window.pages["use"]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/m.joblib", ""))
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    page.model_button.click()
    assert not page.primary.isEnabled()
