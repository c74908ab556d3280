"""The page that uses a run's model on new rows: what it asks of the worker, and what it shows."""

import importlib.util
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.window.window import Window
from app.worker.messages import SaveUsed, Use, Used

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
    assert "1 of 2 rows is unlike the training rows" in page.said.text()
    assert "farther from every training row" in page.said.toolTip()
    _module.assert_accessible(page)


def test_what_is_not_known_is_said(page, still):
    still.used.emit(Used(["prediction"], [["a"]], 2000, 0, "Not known."))
    assert page.said.text() == "Not known."
    assert "The first 1 are shown" in page.card.accessibleDescription()


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
