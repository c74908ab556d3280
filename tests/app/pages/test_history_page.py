"""The page about the history: what it shows, what a person does there, and what goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.dialogs.optuna_dialog import OptunaDialog
from app.pages.history_page import HistoryPage, origin_of
from app.text.history_text import import_text, matching_counts_text
from app.worker.messages import HistoryImported, ImportHistory, InputRefused
from core.errors import UnusableError
from core.space import Axis
from core.tuning.events import RemarkMade
from core.tuning.history.dataset_records import (
    HistoryCounts,
    ImportCounts,
    RunMetadata,
    statistics_of,
)
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
def page(with_data, nothing, shown):
    add(500)
    add(2000, "forest")
    return shown()


@pytest.fixture
def shown(with_data, show):
    """Makes the page of the history as it is by now."""

    def make():
        page = show(HistoryPage(with_data), 820, 760)
        page.visited()
        return page

    return make


def cells(page, row):
    model = page.table.model_of_entries
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_the_head_says_what_is_kept_and_each_dataset_is_a_row(page, own_history):
    said = " ".join(part.text() for part in page.findChildren(type(page.path_label)))
    assert "how many rows, columns and classes it has" in said
    assert "Never kept: a row, a column's name, a value, or the file's name." in said
    assert str(own_history) in page.path_label.text()
    assert page.table.model_of_entries.rowCount() == 2
    found = {tuple(cells(page, row)[:-1]) for row in range(2)}
    assert found == {
        ("Support vector machine", "accuracy 90.0\u00a0%", "500 × 12", "2", "3"),
        ("Random forest", "accuracy 90.0\u00a0%", "2,000 × 12", "2", "3"),
    }
    assert page.datasets._title.text() == "2 datasets"
    assert all(cells(page, row)[-1] not in ("", "–") for row in range(2))
    assert origin_of(replace(entries()[0], when="")) == "–"


def press(monkeypatch, words):
    def answer(box):
        next(button for button in box.buttons() if button.text() == words).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", answer)


def test_forgetting_the_chosen_rows_by_button_or_key_asks_first(page, qtbot, monkeypatch):
    assert not page.forget.isEnabled()
    assert "Choose rows" in page.forget.toolTip()
    page.table.selectRow(0)
    [gone] = page.table.chosen_ids()
    press(monkeypatch, "Keep it")
    page.forget.click()
    assert len(entries()) == 2
    press(monkeypatch, "Delete")
    page.forget.click()
    left = [entry.id for entry in page.table.model_of_entries.rows]
    assert [entry.id for entry in entries()] == left
    assert gone not in left
    assert page.outcome.text() == "Deleted: 1 dataset."
    assert not page.forget.isEnabled()
    page.table.selectAll()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert entries() == []
    assert page.empty.isVisible()
    assert not page.table.isVisible()


@pytest.mark.parametrize("sure", [True, False])
def test_forgetting_all_asks_first(page, monkeypatch, sure):
    press(monkeypatch, "Delete all" if sure else "Keep it")
    page.forget_all.click()
    assert len(entries()) == (0 if sure else 2)
    assert page.outcome.text() == ("Deleted: 2 datasets." if sure else "")


def test_the_empty_page_says_what_will_appear_and_when(nothing, shown):
    page = shown()
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


def test_what_came_along_can_be_removed_and_brought_back(shown):
    page = shown()
    there = len(entries())
    assert there
    assert cells(page, 0)[-1] == "shipped"
    assert page.starter.text() == "Remove shipped datasets"
    page.starter.click()
    assert entries() == []
    assert page.outcome.text() == f"Removed: {there} datasets shipped with Tunescope."
    assert page.starter.text() == "Restore shipped datasets"
    page.starter.click()
    assert len(entries()) == there


def test_saving_and_taking_in_elsewhere(page, tmp_path, monkeypatch):
    file, chosen = tmp_path / "along.json", [str(tmp_path / "missing" / "along.json")]
    for dialog in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, dialog, lambda *_: (chosen[-1], ""))
    page.save.click()
    assert "cannot be written" in page.outcome.text()
    assert page.outcome.property("voice") == "bad"
    chosen.append(str(file.with_suffix("")))
    page.save.click()
    assert json.loads(file.read_text())
    assert page.outcome.text().startswith("Exported 2 datasets to ")
    chosen.append(str(file))
    page.import_button.click()
    assert page.outcome.text().endswith("In the history already: 2 datasets.")
    kept = entries()
    page.table.selectAll()
    press(monkeypatch, "Delete")
    page.forget.click()
    page.import_button.click()
    assert page.outcome.text() == "Imported: 2 datasets with 6 trials."
    assert {entry.id for entry in entries()} == {entry.id for entry in kept}
    assert cells(page, 0)[-1] == "imported"
    file.write_text("[]")
    page.import_button.click()
    assert page.outcome.text().startswith(str(file))
    assert len(entries()) == 2


def test_a_history_of_a_newer_version_is_said_and_nothing_can_be_pressed(
    nothing, own_history, shown
):
    with contextlib.closing(sqlite3.connect(own_history)) as database:
        database.execute("PRAGMA user_version = 999")
        database.commit()
    page = shown()
    assert page.trouble.isVisible()
    assert "newer" in page.trouble.text()
    controls = (page.forget, page.forget_all, page.starter, page.save, page.import_button)
    assert not any(each.isEnabled() for each in (*controls, page.optuna, page.switch))


def test_a_damaged_history_is_said_once_and_begun_anew(own_history, shown):
    own_history.write_bytes(b"no database at all" * 100)
    page = shown()
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
    def refuse(*_):
        raise UnusableError("the history cannot be written", where="here", cure="write elsewhere")

    monkeypatch.setattr(History, "set_enabled", refuse)
    page.switch.click()
    assert page.outcome.text() == "here: the history cannot be written; write elsewhere."
    assert page.switch.isChecked()


# Optuna ---------------------------------------------------------------------------------------


@pytest.fixture
def dialog(page, qtbot):
    dialog = OptunaDialog("forest", page.session.summary, page.history.import_wanted.emit)
    page.history.change_reported.connect(dialog.take_outcome)
    qtbot.addWidget(dialog)
    return dialog


def test_the_dialog_proposes_the_open_data_and_the_plans_model(with_data, qtbot):
    dialog = OptunaDialog("forest", with_data.summary, with_data.history.import_wanted.emit)
    qtbot.addWidget(dialog)
    assert not dialog.take.isEnabled()
    dialog.storage.setText(" sqlite:///studies.db ")
    assert dialog.take.isEnabled()
    summary = with_data.summary
    assert dialog.request == ImportHistory(
        "sqlite:///studies.db", "forest", summary["rows"], summary["features"],
        len(summary["classes"]),
    )  # fmt: skip


def test_a_refused_study_leaves_all_that_was_typed_for_another_try(page, dialog):
    dialog.show()
    dialog.storage.setText("sqlite:///studies.db")
    dialog.scored_by.setCurrentIndex(dialog.scored_by.findData("log_loss"))
    assert dialog.scored_by.currentText() == "log loss (smaller is better)"
    asked = dialog.request
    dialog.take.click()
    assert page.session.worker.asked[-1] == asked
    assert dialog.outcome.text() == "The studies are being read …"
    assert not dialog.take.isEnabled()
    page.session.worker.answer(InputRefused("The study looks for the opposite."))
    assert dialog.isVisible()
    assert dialog.outcome.text() == "The study looks for the opposite."
    assert dialog.request == asked
    dialog.take.click()
    page.session.worker.answer(HistoryImported(ImportCounts(1, 9, left_out=("Odd.",))))
    assert not dialog.isVisible()
    assert page.outcome.text() == "Imported: 1 dataset with 9 trials. Left out: Odd."


def test_studies_wait_while_a_run_goes_on_and_a_cancelled_dialog_asks_nothing(page, monkeypatch):
    page.session._set_state("running")
    assert not page.optuna.isEnabled()
    assert "A run is in progress" in page.optuna.toolTip()
    page.session._set_state("idle")
    assert page.optuna.isEnabled()
    asked = list(page.session.worker.asked)
    monkeypatch.setattr(OptunaDialog, "exec", OptunaDialog.reject)
    page.optuna.click()
    assert page.session.worker.asked == asked


# What is said of it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (HistoryCounts(34, 6, 20), ("34 datasets", "6 of them similar", "20 shipped")),
        (HistoryCounts(34, 6), ("34 datasets", "6 of them similar to yours.")),
        (HistoryCounts(5, 0, 5), ("5 datasets", "none of them similar", "all shipped")),
        (HistoryCounts(1, 1), ("1 dataset for this model, similar to yours.",)),
        (HistoryCounts(), ("nothing for this model yet", "like a Gaussian process")),
        (HistoryCounts(same=1), ("nothing else for this model", "Left out: 1 earlier run that")),
        (HistoryCounts(5, same=2), ("5 datasets", "Left out: 2 earlier runs that")),
        (HistoryCounts(34, 6, 20, enabled=False), ("history is off", "like a Gaussian process")),
    ],
)
def test_what_is_known_is_said(counts, words):
    said = matching_counts_text(counts)
    assert all(each in said for each in words)
    assert ("shipped" in said) == bool(counts.starter and counts.enabled)


def test_long_lists_of_what_was_left_out_are_cut():
    said = import_text(ImportCounts(2, 1, 3, tuple(f"Study {n}." for n in range(8))))
    assert said.startswith("Imported: 2 datasets with 1 trial. In the history already: 3 datasets.")
    assert said.endswith("Study 3. Study 4. And 3 more.")


@pytest.mark.slow
def test_studies_come_in_through_the_worker(opened, qtbot):
    qtbot.waitUntil(lambda: opened.history_summary is not None, timeout=60_000)
    assert opened.history_summary.counts.datasets == 34
    said, problems = [], []
    opened.history.change_reported.connect(lambda *words: said.append(words))
    opened.problem.connect(problems.append)
    for storage in ("studies.db", "missing.db", "deadly.db"):
        count = len(said) + 1
        opened.history.import_wanted.emit(ImportHistory(storage, "svm", 100, 5, 2))
        qtbot.waitUntil(lambda count=count: len(said) == count, timeout=60_000)
    (imported, done), refused, (killed, _) = said
    assert done
    assert imported.startswith("Imported: 1 dataset with 9 trials. Left out: Study “b”")
    assert refused == ("missing.db: there is no such storage; look.", False)
    assert problems == [killed]
    # What is known is about one model.
    opened.choose_model("svm")
    assert opened.history_summary is None
    qtbot.waitUntil(lambda: opened.history_summary is not None, timeout=60_000)


def test_what_a_run_notices_is_a_notice(still):
    problems = []
    still.problem.connect(problems.append)
    still._emit_events(
        [RemarkMade(sentence="The history is damaged. This run continues without it.")]
    )
    assert problems == ["The history is damaged. This run continues without it."]
