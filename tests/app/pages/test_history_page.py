"""The page about the history: what it shows, what a person does there, and what goes wrong."""

from __future__ import annotations

import json
import os

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.dialogs.optuna_dialog import OptunaDialog
from app.pages.history_page import HistoryPage, when_of
from app.worker.messages import HistoryImported, ImportHistory, Message
from core.space import Axis
from core.tuning.history.dataset_records import ImportCounts, RunMetadata, statistics_of
from core.tuning.history.store import History

AXES = (Axis("C", "Penalty weight", "float", 1e-3, 1e3, log=True, default=1.0),)


def entries():
    with History() as history:
        return history.entries()


def add(rows=500, model="svm"):
    facts = RunMetadata(model, "binary", "accuracy", True, statistics_of(rows, 12, 2), "gp", AXES)
    with History() as history:
        id = history.begin_dataset(facts)
        for number, score in enumerate((0.7, 0.9, 0.8)):
            history.add_trial(id, number, {"C": 0.5 + number}, score)
    return id


@pytest.fixture
def nothing():
    """A history without what came with the program."""
    with History() as history:
        history.forget_starter()


@pytest.fixture
def page(with_data, nothing, qtbot):
    add(500)
    add(2000, "forest")
    return shown(with_data, qtbot)


def shown(session, qtbot):
    made = HistoryPage(session)
    qtbot.addWidget(made)
    made.resize(820, 760)
    made.show()
    made.visited()
    return made


def cells(page, row):
    model = page.table.model_of_entries
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_the_head_says_what_is_kept_and_each_dataset_is_a_row(page, own_history):
    said = " ".join(part.text() for part in page.findChildren(type(page.path_label)))
    assert "how many rows, columns and classes it has" in said
    assert "Never kept: a row, a column's name, a value, or the file's name." in said
    assert str(own_history) in page.path_label.text()
    assert page.table.model_of_entries.rowCount() == 2
    found = {tuple(cells(page, row)[1:]) for row in range(2)}
    assert found == {
        ("Support vector machine", "500", "12", "2", "3", "0.9", "this computer"),
        ("Random forest", "2,000", "12", "2", "3", "0.9", "this computer"),
    }
    assert page.datasets._title.text() == "2 datasets"
    assert all(cells(page, row)[0] not in ("", "–") for row in range(2))
    tip = page.table.model_of_entries.index(0, 6).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "0.9 (accuracy)"


def test_a_day_that_nobody_knows():
    entry = type("Entry", (), {"when": ""})()
    assert when_of(entry) == "–"


def test_forgetting_the_chosen_rows(page):
    assert not page.forget.isEnabled()
    assert "Choose rows" in page.forget.toolTip()
    page.table.selectRow(0)
    gone = page.table.chosen_ids()
    page.forget.click()
    assert [entry.id for entry in entries()] == [
        entry.id for entry in page.table.model_of_entries.entries
    ]
    assert gone[0] not in {entry.id for entry in entries()}
    assert page.outcome.text() == "Deleted: 1 dataset."
    assert not page.forget.isEnabled()


def test_the_delete_key_forgets_too(page, qtbot):
    page.table.selectAll()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert entries() == []
    assert page.empty.isVisible()
    assert not page.table.isVisible()


@pytest.mark.parametrize("sure", [True, False])
def test_forgetting_all_asks_first(page, monkeypatch, sure):
    def answer(box):
        named = {button.text(): button for button in box.buttons()}
        named["Delete all" if sure else "Keep it"].click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", answer)
    page.forget_all.click()
    assert len(entries()) == (0 if sure else 2)
    assert page.outcome.text() == ("Deleted: 2 datasets." if sure else "")


def test_the_empty_page_says_what_will_appear_and_when(with_data, nothing, qtbot):
    page = shown(with_data, qtbot)
    assert page.empty.isVisible()
    assert "When a run with trials has ended" in page.empty.text()
    assert not page.save.isEnabled()
    assert page.import_button.isEnabled()


def test_the_switch_is_the_files_own(page):
    assert page.switch.isChecked()
    page.switch.click()
    with History() as history:
        assert not history.enabled
    assert "The history is off" in page.outcome.text()
    with History() as history:
        history.set_enabled(True)  # as another program would
    page.visited()
    assert page.switch.isChecked()
    assert page.outcome.text() == ""


def test_what_came_along_can_be_removed_and_brought_back(with_data, qtbot):
    page = shown(with_data, qtbot)
    there = len(entries())
    assert there
    assert cells(page, 0)[-1] == "with Tunescope"
    assert page.starter.text() == "Remove shipped datasets"
    page.starter.click()
    assert entries() == []
    assert page.outcome.text() == f"Removed: {there} datasets shipped with Tunescope."
    assert page.starter.text() == "Restore shipped datasets"
    page.starter.click()
    assert len(entries()) == there


def test_saving_and_taking_in_elsewhere(page, tmp_path, monkeypatch):
    file = tmp_path / "along"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (f"{file}.json", ""))
    page.save.click()
    assert json.loads((tmp_path / "along.json").read_text())
    assert page.outcome.text().startswith("Exported 2 datasets to ")
    page.import_button.click()
    assert (
        page.outcome.text()
        == "There was nothing new to import. In the history already: 2 datasets."
    )
    kept = entries()
    page.table.selectAll()
    page.forget.click()
    page.import_button.click()
    assert page.outcome.text() == "Imported: 2 datasets with 6 trials."
    assert {entry.id for entry in entries()} == {entry.id for entry in kept}
    assert cells(page, 0)[-1] == "imported"


def test_files_that_cannot_be_used_are_one_sentence(page, tmp_path, monkeypatch):
    file = tmp_path / "no.json"
    file.write_text("[]")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    page.import_button.click()
    assert page.outcome.text().startswith(str(file))
    assert page.outcome.property("voice") == "bad"
    assert len(entries()) == 2
    missing = tmp_path / "missing" / "along.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(missing), ""))
    page.save.click()
    assert "cannot be written" in page.outcome.text()


def test_a_history_of_a_newer_version_is_said_and_nothing_can_be_pressed(
    with_data, nothing, own_history, qtbot
):
    import sqlite3

    database = sqlite3.connect(own_history)
    database.execute("PRAGMA user_version = 999")
    database.commit()
    database.close()
    page = shown(with_data, qtbot)
    assert page.trouble.isVisible()
    assert "newer" in page.trouble.text()
    buttons = (
        page.forget,
        page.forget_all,
        page.starter,
        page.save,
        page.import_button,
        page.optuna,
    )
    assert not any(button.isEnabled() for button in buttons)
    assert not page.switch.isEnabled()


def test_a_damaged_history_is_said_once_and_begun_anew(with_data, own_history, qtbot):
    own_history.write_bytes(b"no database at all" * 100)
    page = shown(with_data, qtbot)
    assert "damaged" in page.trouble.text()
    assert page.switch.isEnabled()
    page.visited()
    assert not page.trouble.isVisible()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_history_that_cannot_be_written_shows_what_it_holds(page, own_history):
    for file in own_history.parent.iterdir():
        file.chmod(0o444)
    own_history.parent.chmod(0o555)
    try:
        page.visited()
        assert page.table.model_of_entries.rowCount() == 2
        page.switch.click()
        assert page.outcome.property("voice") == "bad"
        assert page.switch.isChecked()
    finally:
        own_history.parent.chmod(0o755)


def test_what_cannot_be_switched_stays_as_it_is(page, monkeypatch):
    from core.errors import UnusableError

    def refuse(*_):
        raise UnusableError("the history cannot be written", where="here", cure="write elsewhere")

    monkeypatch.setattr(History, "set_enabled", refuse)
    page.switch.click()
    assert page.outcome.text() == "here: the history cannot be written; write elsewhere."
    assert page.switch.isChecked()


# Optuna ---------------------------------------------------------------------------------------


def test_the_dialog_proposes_the_open_data_and_the_plans_model(with_data, qtbot):
    dialog = OptunaDialog("forest", with_data.summary)
    qtbot.addWidget(dialog)
    assert not dialog.take.isEnabled()
    dialog.storage.setText(" sqlite:///studies.db ")
    assert dialog.take.isEnabled()
    summary = with_data.summary
    assert dialog.request == ImportHistory(
        "sqlite:///studies.db", "forest", summary["rows"], summary["features"],
        len(summary["classes"]),
    )  # fmt: skip


def test_studies_are_taken_in_by_the_worker(page, monkeypatch):
    wanted = ImportHistory("sqlite:///studies.db", "svm", 100, 5, 2, "mine")
    monkeypatch.setattr(OptunaDialog, "ask", lambda _dialog: wanted)
    page.optuna.click()
    assert page.session.worker.asked[-1] == wanted
    assert page.outcome.text() == "The studies are being read …"
    imported = ImportCounts(1, 9, left_out=("Study “b” is odd.",))
    asked = page.session._requests.last
    page.session.worker.arrived.emit([Message(asked, HistoryImported(imported))])
    assert page.outcome.text() == "Imported: 1 dataset with 9 trials. Left out: Study “b” is odd."


def test_studies_wait_while_a_run_goes_on_and_a_cancelled_dialog_asks_nothing(page, monkeypatch):
    page.session._set_state("running")
    assert not page.optuna.isEnabled()
    assert "A run is in progress" in page.optuna.toolTip()
    page.session._set_state("idle")
    assert page.optuna.isEnabled()
    asked = list(page.session.worker.asked)
    monkeypatch.setattr(OptunaDialog, "ask", lambda _dialog: None)
    page.optuna.click()
    assert page.session.worker.asked == asked
