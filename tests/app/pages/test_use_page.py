"""The page that uses a run's model on new rows: what it asks of the worker, and what it shows."""

import importlib.util
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.window.window import Window
from app.worker.messages import (
    DescribeModel,
    FindRow,
    LeaveQuestion,
    Message,
    ModelDescribed,
    RowFound,
    RowTried,
    SaveUsed,
    TryRow,
    Use,
    Used,
    UseProgress,
)

_spec = importlib.util.spec_from_file_location(
    "accessible", Path(__file__).parents[1] / "accessible.py"
)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)

USED = Used(
    ["prediction", "unlike the training rows", "age"], [["yes", "", 3], ["no", "x", 9]], 2, 1
)


@pytest.fixture
def window(still, qtbot, monkeypatch):
    made = Window(still)
    qtbot.addWidget(made)
    made.show()
    made.go("use")
    return made


@pytest.fixture
def page(window, still, monkeypatch, tmp_path):
    page = window.pages["use"]
    assert not page.primary.isEnabled()
    monkeypatch.setattr(type(still), "results", property(lambda _: {"metric": "accuracy"}))
    still.shown.folder = tmp_path
    page.visited()
    return page


def test_rows_come_from_a_file_or_by_paste_and_leave_as_csv(page, still, monkeypatch, tmp_path):
    page.use("/rows.csv")
    assert still.worker.asked[-1] == Use(str(tmp_path), "/rows.csv")
    QGuiApplication.clipboard().setText("age\tkind\n3\ta\n")
    page.paste_button.click()
    asked = still.worker.asked[-1]
    assert Path(asked.file).read_text() == "age\tkind\n3\ta\n"
    still.used.emit(USED)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/out", ""))
    page.save.click()
    assert still.worker.asked[-1] == SaveUsed("/out.csv")


def test_predictions_are_shown_and_rows_unlike_the_training_rows_are_counted(page, still):
    still.used.emit(USED)
    model = page.table.model()
    assert [model.index(1, c).data() for c in range(3)] == ["no", "x", "9"]
    assert "1 of 2 rows is unlike the training rows" in page.many.said.text()
    assert "farther from every training row" in page.many.said.toolTip()
    _module.assert_accessible(page)


def test_what_is_to_know_of_the_rows_is_said_a_line_each(page, still):
    sentences = ("The column “<b>” is passed over.", "Not known.")
    still.used.emit(Used(["prediction"], [["a"]], 2000, 0, "", sentences))
    assert page.many.notes.text() == "\n".join(sentences)
    assert page.many.notes.textFormat() == Qt.TextFormat.PlainText
    assert "The first 1 are shown" in page.many.accessibleDescription()


def answer(still, kind, make):
    """Answer the last request of a kind."""
    number, asked = max(
        (at, one) for at, one in enumerate(still.worker.asked, 1) if isinstance(one, kind)
    )
    still.worker.arrived.emit([Message(number, make(asked))])


def asked_of(still, kind):
    return [one for one in still.worker.asked if isinstance(one, kind)]


BLANK = {"low": None, "high": None, "typical": None, "whole": False, "choices": (), "more": False}
FIELDS = [
    {**BLANK, "name": "age", "kind": "number", "numeric": True}
    | {"low": 0.0, "high": 40.0, "typical": 20.0, "whole": True},
    {**BLANK, "name": "weight", "kind": "number", "numeric": True}
    | {"low": 1.5, "high": 2.5, "typical": 2.123456789},
    {**BLANK, "name": "<b>town</b>", "kind": "choice", "numeric": False}
    | {"choices": ("a", "b"), "typical": "a"},
    {**BLANK, "name": "day", "kind": "date", "numeric": False, "typical": "2024-03-01"},
]
FORM = {
    "name": "run",
    "target": "sick",
    "task": "binary",
    "fields": FIELDS,
    "known": True,
    "rows": 90,
    "left_out": 0,
    "interval": None,
    "refitted": True,
}
SAID = {
    "prediction": "yes",
    "shares": [["yes", 0.8], ["no", 0.2]],
    "low": None,
    "high": None,
    "unlike": "",
    "outside": [],
}
TYPICAL = {"age": 20.0, "weight": 2.123456789, "<b>town</b>": "a", "day": "2024-03-01"}


@pytest.fixture
def form(page, still):
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, FORM))
    answer(still, TryRow, lambda asked: RowTried(asked, SAID))
    return page.one


def latest(form, still, qtbot):
    """The row that is asked about once the typing is over."""
    qtbot.waitUntil(lambda: not form._soon.isActive())
    return asked_of(still, TryRow)[-1].values


def test_a_form_begins_with_a_typical_row_and_its_prediction(form, still, tmp_path):
    assert asked_of(still, DescribeModel) == [DescribeModel(str(tmp_path))]
    assert asked_of(still, TryRow)[-1] == TryRow(str(tmp_path), "", False, TYPICAL)
    assert form.answer.said.text().startswith("yes (80")
    bars = [bar for bar in form.answer._bars if bar.isVisible()]
    assert [bar.accessibleName().split(":")[0] for bar in bars] == ["yes", "no"]
    assert not form.reset.isEnabled()
    assert form.fields["age"]._note.text() == "0 to 40"
    _module.assert_accessible(form)


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
    late = RowTried(old, {**SAID, "prediction": "no", "shares": []})
    still.worker.arrived.emit([Message(first, late)])  # the answer before the last
    assert form.answer.said.text().startswith("yes")
    said = {**SAID, "prediction": "no", "unlike": "age is odd", "outside": ["age"]}
    answer(still, TryRow, lambda asked: RowTried(asked, said))
    assert form.answer.said.text().startswith("no (20")
    assert form.answer.original.text().startswith("Before the changes: yes (80")
    assert "age is odd" in form.answer.unlike.text()
    assert form.fields["age"]._note.text() == "outside 0 to 40 · was 20"
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
    problem = {"problem": "column weight: “much” is no number."}
    answer(still, TryRow, lambda asked: RowTried(asked, problem))
    assert form.answer.problem.text() == problem["problem"]
    assert not form.answer.said.isVisible()
    town = form.fields["<b>town</b>"].box
    town.setCurrentIndex(town.findText("(missing)"))
    assert latest(form, still, qtbot)["<b>town</b>"] is None


def test_a_row_of_the_test_set_keeps_its_truth_and_first_prediction(form, still, qtbot):
    form.number.setValue(2)
    assert asked_of(still, FindRow)[-1].number == 2
    values = {"age": 33.0, "weight": None, "<b>town</b>": "new", "day": "2024-03-09"}
    found = {"number": 2, "of": 9, "line": 17, "counted": "line", "values": values}
    found |= {"truth": "no", "target": "sick"}
    answer(still, FindRow, lambda asked: RowFound(asked, found))
    assert asked_of(still, TryRow)[-1].values == values
    answer(still, TryRow, lambda asked: RowTried(asked, SAID))
    assert form.answer.truth.text() == "True value of sick in the file: no"
    assert "Row 2 of the 9 in the test set, line 17 of the file." in form.place.text()
    assert "flatters" in form.place.text()
    assert form.line.text() == "17"
    form.fields["age"].slider.setValue(5)
    assert latest(form, still, qtbot) == {**values, "age": 5.0}
    answer(still, TryRow, lambda asked: RowTried(asked, {**SAID, "prediction": "no"}))
    assert form.answer.original.text().startswith("Before the changes: yes")
    assert form.answer.truth.text().endswith("no")
    form.line.setText("40")
    form.line.editingFinished.emit()
    assert asked_of(still, FindRow)[-1].line == 40
    answer(still, FindRow, lambda asked: RowFound(asked, {"problem": "No row there."}))
    assert form.place.text() == "No row there."


def test_what_was_said_before_is_asked_again_where_a_change_overtook_it(form, still, qtbot):
    form.number.setValue(2)
    found = {"number": 2, "of": 9, "line": 17, "counted": "line", "values": TYPICAL}
    found |= {"truth": "no", "target": "sick"}
    answer(still, FindRow, lambda asked: RowFound(asked, found))
    form.fields["age"].slider.setValue(5)
    latest(form, still, qtbot)  # the question about the row itself is not answered any more
    answer(still, TryRow, lambda asked: RowTried(asked, {**SAID, "prediction": "no"}))
    assert form.answer.said.text().startswith("no")
    assert asked_of(still, TryRow)[-1].values == TYPICAL
    answer(still, TryRow, lambda asked: RowTried(asked, SAID))
    assert form.answer.said.text().startswith("no")
    assert form.answer.original.text().startswith("Before the changes: yes")
    form.typical.click()
    assert form.number.text() == "–"
    assert form.line.text() == ""


def test_a_model_without_ranges_has_a_form_and_says_so(page, still):
    bare = [{**BLANK, "name": "x", "kind": "number", "numeric": True}]
    old = {**FORM, "fields": bare, "known": False}
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, old))
    assert page.one.fields["x"].slider is None
    assert "before ranges were kept" in page.one.answer.notes.text()
    problem = {"problem": "This model takes no rows."}
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, problem))
    assert page.one.why.text() == "This model takes no rows."


def test_a_number_comes_with_its_interval(page, still):
    interval = {"half": 1.0, "coverage": 0.9, "rows": 120}
    number = {**FORM, "interval": interval, "task": "regression"}
    answer(still, DescribeModel, lambda asked: ModelDescribed(asked, number))
    said = {**SAID, "prediction": 5.0, "shares": [], "low": 4.0, "high": 6.0}
    answer(still, TryRow, lambda asked: RowTried(asked, said))
    words = page.one.answer.interval.text()
    assert words.startswith("Prediction interval 4 to 6")
    assert "120 test rows" in words


def test_a_large_file_shows_how_far_it_is_and_can_be_stopped(page, still):
    page.use("/rows.csv")
    number = len(still.worker.asked)
    still.worker.arrived.emit([Message(number, UseProgress(20_000, 1_000_000))])
    assert page.many.going.isVisible()
    assert "1,000,000" in page.many.done.text()
    page.many.stop.click()
    assert still.worker.asked[-1] == LeaveQuestion()
    still.worker.arrived.emit([Message(number, USED)])
    assert not page.many.going.isVisible()


def test_a_model_file_is_used_alone(window, still, monkeypatch):
    page = window.pages["use"]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/m.skops", ""))
    page.model_button.click()
    assert page.primary.isEnabled()
    page.use("/rows.csv")
    assert still.worker.asked[-1] == Use("", "/rows.csv", "/m.skops")


def test_a_model_file_that_can_run_code_is_used_only_after_a_question(window, monkeypatch):
    page = window.pages["use"]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/m.joblib", ""))
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    page.model_button.click()
    assert not page.primary.isEnabled()
