"""Predicting in the window: the page that uses a model, and files that ask before they run code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import joblib
import pandas as pd
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox
from sklearn.linear_model import LogisticRegression

from app.window.window import Window
from app.worker.engine import Engine
from app.worker.messages import (
    CancelExplanation,
    DescribeModel,
    FindTestRow,
    ModelDescribed,
    PredictionsSaved,
    PredictRow,
    PredictRows,
    RowPredicted,
    RowsPredicted,
    SavePredictions,
    SortPredictions,
    TestRowFound,
    UseProgress,
)
from core.errors import UnusableError
from core.evaluation.conformal import PredictionInterval
from core.export.prediction import NOT_KNOWN
from core.export.using.row_answers import ModelForm, RowPrediction, TestRow
from core.tuning.events import RunFinished
from core.tuning.results.training_columns import CHOICE, DATE, NUMBER, TrainingColumn
from core.tuning.run_results import Results

USED = RowsPredicted(
    ["age", "prediction", "unlike the training rows"],
    [["3", "yes", ""], ["9", "no", "x"]],
    2,
    1,
    n_own_columns=1,
)


@pytest.fixture
def window(still, show):
    made = show(Window(still))
    made.show_page("use")
    return made


@pytest.fixture
def page(window, still, tmp_path):
    page = window.pages["use"]
    assert not page.primary.isEnabled()
    still._show_run([RunFinished(results=Results(metric="accuracy"))], tmp_path)
    page.visited()
    return page


def test_rows_come_from_a_file_or_by_paste_and_leave_as_their_table(
    page, still, monkeypatch, tmp_path
):
    asked = still.worker.asked
    page.predict_file("/rows.csv")
    assert asked[-1] == PredictRows(str(tmp_path), "/rows.csv")
    QGuiApplication.clipboard().setText("age\tkind\n3\ta\n")
    page.paste_button.click()
    assert Path(asked[-1].file).read_text() == "age\tkind\n3\ta\n"
    still.rows_predicted.emit(USED)
    names: list[str] = []

    def answer_name(_parent, _title, *proposed):
        names[:] = proposed
        return "/out", "Excel workbook (*.xlsx)" if "orders" in proposed[0] else ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer_name)
    page.save.click()
    assert asked[-1] == SavePredictions("/out.csv")
    page.predict_file("/orders.parquet")
    page.save.click()
    assert names[0].endswith("orders predictions.parquet")
    assert names[1].startswith("Parquet (*.parquet);;CSV (*.csv);;Excel workbook (*.xlsx)")
    assert asked[-1] == SavePredictions("/out.xlsx")


def test_the_rows_of_most_doubt_come_first_if_wanted(page, still):
    box = page.file_card.doubt_box
    still.rows_predicted.emit(USED)
    assert box.isHidden()
    shown = replace(USED, has_doubt=True)
    still.rows_predicted.emit(shown)
    assert not box.isHidden()
    box.click()
    assert still.worker.asked[-1] == SortPredictions(True)
    sorted_rows = replace(shown, rows=shown.rows[::-1], least_sure_first=True)
    still.worker.answer(sorted_rows, to=SortPredictions)
    assert box.isChecked()
    assert page.table.model().index(0, 0).data() == "9"
    still.save_predictions("/out.csv", box.isChecked())
    assert still.worker.asked[-1] == SavePredictions("/out.csv", least_sure_first=True)
    # What is refused leaves the box as the rows are.
    box.click()
    still.problem.emit("They are not there any more.")
    assert box.isChecked()


def test_predictions_are_shown_and_rows_unlike_the_training_rows_are_counted(
    page, still, assert_accessible
):
    card = page.file_card
    still.rows_predicted.emit(USED)
    model = page.table.model()
    assert [model.index(1, c).data() for c in range(3)] == ["9", "no", "x"]
    assert "behind the columns of the table" in card.accessibleDescription()
    assert "1 of 2 rows is unlike the training rows" in card.marked_note.text()
    assert "1 in 100 ordinary rows is marked too" in card.marked_note.toolTip()
    assert_accessible(page)
    sentences = ("The column “<b>” is ignored.", "Not known.")
    still.rows_predicted.emit(RowsPredicted(["prediction"], [["a"]], 2000, 0, "", sentences))
    assert card.notes.text() == "\n".join(sentences)
    assert card.notes.textFormat() == Qt.TextFormat.PlainText
    assert "The first 1 are shown" in card.accessibleDescription()


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


def describe(page, form, problem=""):
    """The worker says what the model is."""
    worker = page.session.worker
    asked = worker.all_of(DescribeModel)[-1]
    worker.answer(ModelDescribed(asked, form, problem), to=DescribeModel)
    return page.row_form


def predict(worker, prediction=None, problem=""):
    """The worker says what the row that was asked for last is predicted to be."""
    asked = worker.all_of(PredictRow)[-1]
    worker.answer(RowPredicted(asked, prediction, problem), to=PredictRow)


def find(worker, row, problem=""):
    asked = worker.all_of(FindTestRow)[-1]
    worker.answer(TestRowFound(asked, row, problem), to=FindTestRow)
    return asked


@pytest.fixture
def form(page):
    form = describe(page, FORM)
    predict(page.session.worker, SAID)
    return form


@pytest.fixture
def worker(still):
    return still.worker


def latest(form, worker, qtbot):
    """The row that is asked about once the typing is over."""
    qtbot.waitUntil(lambda: not form._soon.isActive())
    return worker.all_of(PredictRow)[-1].values


def test_a_form_begins_with_a_typical_row_and_its_prediction(
    form, worker, tmp_path, assert_accessible
):
    assert worker.all_of(DescribeModel) == [DescribeModel(str(tmp_path))]
    assert worker.asked[-1] == PredictRow(str(tmp_path), "", False, TYPICAL)
    assert form.answer.prediction_label.text().startswith("yes (80")
    bars = [bar for bar in form.answer._bars if bar.isVisible()]
    assert [bar.accessibleName().split(":")[0] for bar in bars] == ["yes", "no"]
    assert not form.reset.isEnabled()
    assert form.fields["age"]._note.text() == "0 to 40"
    assert_accessible(form)


def test_typing_and_sliding_ask_anew_and_the_latest_question_wins(form, worker, qtbot):
    age, town = form.fields["age"], form.fields["<b>town</b>"]
    answer = form.answer
    age.edit.clear()
    qtbot.keyClicks(age.edit, "31")
    assert latest(form, worker, qtbot) == {**TYPICAL, "age": 31.0}
    assert age.slider.value() == 31
    old = worker.all_of(PredictRow)[-1]
    age.slider.setValue(7)
    town.box.setCurrentIndex(1)
    assert latest(form, worker, qtbot) == {**TYPICAL, "age": 7.0, "<b>town</b>": "b"}
    # The answer before the last.
    worker.answer(RowPredicted(old, replace(SAID, prediction="no", shares=[])))
    assert answer.prediction_label.text().startswith("yes")
    predict(worker, replace(SAID, prediction="no", unlike="age is odd", outside=["age", "day"]))
    assert answer.prediction_label.text().startswith("no (20")
    assert answer.original.text().startswith("Before the changes: yes (80")
    assert "age is odd" in answer.unlike.text()
    assert age._note.text() == "outside 0 to 40 · was 20"
    assert form.fields["day"]._note.text() == "outside 1970-01-01 to 1970-01-02"
    form.reset.click()
    assert latest(form, worker, qtbot) == TYPICAL
    assert age._note.text() == "0 to 40"


def test_missing_values_words_and_the_ends_of_a_slider(form, worker, qtbot):
    weight = form.fields["weight"]
    weight.slider.setValue(weight.slider.maximum())
    assert latest(form, worker, qtbot)["weight"] == 2.5
    weight.edit.clear()
    weight.edit.textEdited.emit("")
    assert latest(form, worker, qtbot)["weight"] is None
    qtbot.keyClicks(weight.edit, "much")
    assert latest(form, worker, qtbot)["weight"] == "much"
    problem = "column weight: “much” is no number."
    predict(worker, problem=problem)
    assert form.answer.problem.text() == problem
    assert not form.answer.prediction_label.isVisible()
    town = form.fields["<b>town</b>"].box
    town.setCurrentIndex(town.findText("(missing)"))
    assert latest(form, worker, qtbot)["<b>town</b>"] is None


def test_a_row_of_the_test_set_keeps_its_truth_and_first_prediction(form, worker, qtbot):
    answer, source = form.answer, form.source_label
    form.number.setValue(2)
    values = {"age": 33.0, "weight": None, "<b>town</b>": "new", "day": "2024-03-09"}
    found = TestRow(2, 9, 17, "line", values, truth="no", target="sick")
    assert find(worker, found).number == 2
    assert worker.all_of(PredictRow)[-1].values == values
    predict(worker, SAID)
    assert answer.truth.text() == "True value of sick in the file: no"
    assert "Row 2 of the 9 in the test set, line 17 of the file." in source.text()
    assert "flatters" in source.text()
    assert form.line.text() == "17"
    form.fields["age"].slider.setValue(5)
    assert latest(form, worker, qtbot) == {**values, "age": 5.0}
    predict(worker, replace(SAID, prediction="no"))
    assert answer.original.text().startswith("Before the changes: yes")
    assert answer.truth.text().endswith("no")
    form.line.setText("40")
    form.line.editingFinished.emit()
    assert find(worker, None, "No row there.").line == 40
    assert source.text() == "No row there."


def test_what_was_said_before_is_asked_again_where_a_change_overtook_it(form, worker, qtbot):
    form.number.setValue(2)
    find(worker, TestRow(2, 9, 17, "line", TYPICAL, truth="no", target="sick"))
    form.fields["age"].slider.setValue(5)
    latest(form, worker, qtbot)  # the question about the row itself is not answered any more
    predict(worker, replace(SAID, prediction="no"))
    assert form.answer.prediction_label.text().startswith("no")
    assert worker.all_of(PredictRow)[-1].values == TYPICAL
    predict(worker, SAID)
    assert form.answer.prediction_label.text().startswith("no")
    assert form.answer.original.text().startswith("Before the changes: yes")
    form.typical.click()
    assert form.number.text() == "–"
    assert form.line.text() == ""


def test_a_model_without_ranges_has_a_form_and_says_so_and_a_number_has_an_interval(page, worker):
    form = describe(page, replace(FORM, fields=(TrainingColumn("x", NUMBER, True),), known=False))
    assert form.fields["x"].slider is None
    assert "before ranges were kept" in form.answer.notes.text()
    interval = PredictionInterval(1.0, 0.9, 120)
    describe(page, replace(FORM, interval=interval, task="regression"))
    predict(worker, replace(SAID, prediction=5.0, shares=[], low=4.0, high=6.0))
    words = form.answer.interval.text()
    assert words.startswith("Prediction interval 4 to 6")
    assert "120 test rows" in words
    describe(page, None, "This model takes no rows.")
    assert form.reason_label.text() == "This model takes no rows."


def test_a_large_file_shows_how_far_it_is_and_can_be_stopped(page, worker):
    page.predict_file("/rows.csv")
    worker.answer(UseProgress(20_000, 1_000_000), to=PredictRows)
    assert page.file_card.progress_row.isVisible()
    assert "1,000,000" in page.file_card.done.text()
    page.file_card.stop.click()
    assert worker.asked[-1] == CancelExplanation()
    worker.answer(USED, to=PredictRows)
    assert not page.file_card.progress_row.isVisible()


def test_a_model_file_is_used_alone_and_one_that_can_run_code_after_a_question(
    window, still, monkeypatch
):
    page = window.pages["use"]
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    for file in ("/m.joblib", "/m.skops"):
        assert not page.primary.isEnabled()
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, file=file: (file, ""))
        page.model_button.click()
    assert page.primary.isEnabled()
    page.predict_file("/rows.csv")
    assert still.worker.asked[-1] == PredictRows("", "/rows.csv", "/m.skops")


# A model file that is given to the window -----------------------------------------------------


def answering(title, seen):
    """Press the button of that title in the dialog that opens next."""

    def press():
        (box,) = [w for w in QApplication.topLevelWidgets() if w.objectName() == "trust"]
        seen.extend(label.text() for label in box.findChildren(QLabel))
        seen.append(box.defaultButton().text())
        next(button for button in box.buttons() if button.text() == title).click()

    QTimer.singleShot(0, press)


def wanted(still):
    """The model files that the worker was asked to describe."""
    return [one for one in still.worker.all_of(DescribeModel) if one.model]


def test_what_can_run_code_is_opened_only_where_it_is_trusted(window, still):
    said: list[str] = []
    answering("Do not open", said)
    still.open_file("/folder/<b>model.joblib")
    assert wanted(still) == []
    text = " ".join(said)
    assert "<b>model.joblib" in text
    assert "can run any code that is in it" in text
    assert "read, change or delete whatever you can" in text
    assert said[-1] == "Do not open"
    answering("I trust it: open", said)
    still.open_file("/folder/<b>model.joblib")
    assert wanted(still)[-1] == DescribeModel("", "/folder/<b>model.joblib", True)


def test_what_runs_no_code_is_opened_without_a_question(window, still):
    window.show_page("start")
    still.open_file("/folder/model.skops")
    assert wanted(still)[-1] == DescribeModel("", "/folder/model.skops", False)
    assert window.here == "use"
    still.save_predictions("/out.csv")
    still.worker.answer(PredictionsSaved("/out.csv", 3), to=SavePredictions)
    (box,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox)]
    assert (box.text(), box.informativeText()) == ("3 predictions saved.", "/out.csv")
    box.close()


def test_the_worker_opens_nothing_that_is_not_trusted(tmp_path: Path):
    class Executes:
        def __reduce__(self):
            return Path.mkdir, (tmp_path / "executed",)

    joblib.dump(Executes(), tmp_path / "model.joblib")
    (tmp_path / "new.csv").write_text("a\n1\n")
    request = PredictRows("", str(tmp_path / "new.csv"), str(tmp_path / "model.joblib"))
    with pytest.raises(UnusableError, match="can run any code"):
        list(Engine().predictions.use(request))
    assert not (tmp_path / "executed").exists()


def test_the_worker_writes_predictions(tmp_path: Path):
    rows = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    model = LogisticRegression().fit(rows, ["no", "no", "yes", "yes"])
    card = {"features": ["a"], "columns": ["a", "y"], "text": [], "target": "y", "format": "csv"}
    model.tunescope_ = {**card, "read_csv": {"sep": ","}, "libsvm": {}}
    joblib.dump(model, tmp_path / "model.joblib")
    rows.to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / name) for name in ("new.csv", "model.joblib", "out.csv")]
    engine = Engine()
    *_, shown = engine.predictions.use(PredictRows("", *files[:2], trust=True))
    saved = engine.answer(SavePredictions(files[2]))
    assert (saved.path, saved.count, shown.sentences) == (files[2], 4, (NOT_KNOWN,))
    assert pd.read_csv(files[2])["prediction"].tolist() == ["no", "no", "yes", "yes"]
