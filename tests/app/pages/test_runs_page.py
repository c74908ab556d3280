"""The page of runs as a person uses it: typing, keys, the bin, and runs side by side."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMessageBox

import app.pages.runs_table as runs_table
from app.pages.runs_table import DATE, NAME, NOTE, RunsTable
from app.text.past_runs_text import HEADS, cells_of
from app.window.window import Window
from core.datasets.task import Task
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Gain, Results
from core.tuning.runs.past_runs import RunLabel, RunSummary, read_label, write_label
from core.tuning.runs.run_folder import RunFolder

RUNS = {  # name: (model, file's print, test, default, baseline)
    "a": ("svm", "f", 0.8, 0.75, 0.5),
    "b": ("forest", "f", 0.9, 0.75, 0.5),
    "c": ("svm", "other", 0.7, 0.7, 0.5),
    "d": ("svm", "f", None, None, None),
}


def made(root, name, model, fingerprint, test, default, baseline, at):
    plan = Plan(DataPlan("x.csv"), model, "random", seed=at)
    folder = RunFolder.create(plan, path=root / name)
    about = DatasetFacts(name="x", fingerprint=fingerprint, target="y", task=Task.BINARY)
    folder.append(
        RunStarted(
            run=name, plan=plan.as_dict(), dataset=about, started_at=f"2026-01-0{at}T10:00:00+00:00"
        )
    )
    for number, score in enumerate((0.5, 0.6)):
        folder.append(TrialStarted(number=number))
        folder.append(TrialFinished(number=number, score=score, seconds=number + 1.0))
    if test is not None:
        results = Results(
            metric="accuracy",
            test={"accuracy": test},
            default_test={"accuracy": default},
            baseline_test={"accuracy": baseline},
            gain=Gain(difference=test - default),
            seconds=3.0,
        )
        folder.append(RunFinished(results=results))
    folder.close()
    return folder.path


@pytest.fixture
def root(tmp_path):
    for at, (name, told) in enumerate(RUNS.items(), start=1):
        made(tmp_path / "runs", name, *told, at)
    return tmp_path / "runs"


@pytest.fixture
def window(root, still, qtbot):
    made = Window(still)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.show_page("runs")
    page = made.pages["runs"]
    qtbot.waitUntil(lambda: page.table.runs.rowCount() == len(RUNS))
    return made


@pytest.fixture
def page(window):
    return window.pages["runs"]


def names(page):
    model = page.table.model()
    return [model.index(row, NAME).data() for row in range(model.rowCount())]


def choose(page, *wanted):
    by_name = {run.name: run.path for run in page.table.runs.runs}
    page.table.choose_runs({by_name[name] for name in wanted}, by_name[wanted[0]])


def settled(page, qtbot):
    qtbot.waitUntil(lambda: not page.runs.is_reloading)


def test_each_run_has_its_cells_and_the_list_is_filtered_and_sorted(page, qtbot):
    (run,) = [one for one in page.table.runs.runs if one.name == "b"]
    told = dict(zip(HEADS, cells_of(run), strict=True))
    assert told["name"] == "b"
    assert (told["file"], told["model"], told["strategy"]) == (
        "x", "Random forest", "Random search",
    )  # fmt: skip
    assert (told["measure"], told["score"]) == ("accuracy", "90.0\u00a0%")
    assert (told["vs default"], told["vs baseline"]) == ("+15.0", "+40.0")
    assert told["time"] == "3 s"
    # What is missing stands last, by whatever column it is sorted.
    assert names(page) == ["d", "c", "b", "a"]  # the newest first
    score = HEADS.index("score")
    page.table.horizontalHeader().setSortIndicator(score, Qt.SortOrder.DescendingOrder)
    assert names(page) == ["b", "a", "c", "d"]
    page.table.horizontalHeader().setSortIndicator(score, Qt.SortOrder.AscendingOrder)
    assert names(page) == ["c", "a", "b", "d"]
    page.table.horizontalHeader().setSortIndicator(DATE, Qt.SortOrder.AscendingOrder)
    assert names(page) == ["a", "b", "c", "d"]
    qtbot.keyClicks(page.filter, "svm 70")
    assert names(page) == []
    page.filter.clear()
    qtbot.keyClicks(page.filter, "Vector 70.0")
    assert names(page) == ["c"]
    assert page.count_label.text() == "1 of 4 runs"
    page.filter.clear()
    assert len(names(page)) == 4


def test_f2_renames_and_undo_takes_it_back(page, root, qtbot):
    choose(page, "a")
    qtbot.keyClick(page.table, Qt.Key.Key_F2)
    (editor,) = page.table.viewport().findChildren(QLineEdit)
    assert editor.text() == ""
    qtbot.keyClicks(editor, "my <b>best</b>")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "my <b>best</b>" in names(page))
    assert read_label(root / "a") == RunLabel("my <b>best</b>")
    assert [Path(path).name for path in page.table.chosen_paths()] == ["a"]
    qtbot.keyClick(page.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settled(page, qtbot)
    assert read_label(root / "a") == RunLabel()
    assert "a" in names(page)


def test_a_note_is_kept_when_one_leaves_it(page, root, qtbot):
    choose(page, "b")
    page.table.choose_runs({str(root / "b")}, str(root / "b"), column=NOTE)
    qtbot.keyClick(page.table, Qt.Key.Key_F2)
    assert page.window().focusWidget() is page.note.box
    qtbot.keyClicks(page.note.box, "with more trees")
    page.table.setFocus()
    settled(page, qtbot)
    assert read_label(root / "b").note == "with more trees"
    page.filter.setText("trees")
    assert names(page) == ["b"]


def test_a_note_is_kept_when_another_run_is_chosen_and_when_the_page_is_left(page, root, window):
    choose(page, "a")
    page.note.box.setPlainText("first")
    choose(page, "b")
    assert read_label(root / "a").note == "first"
    assert page.note.box.toPlainText() == ""
    page.note.box.setPlainText("second")
    window.show_page("start")
    assert read_label(root / "b").note == "second"


def test_a_list_that_comes_meanwhile_disturbs_no_one_who_types(page, root, qtbot):
    choose(page, "a")
    page.note.box.setPlainText("half a sen")
    write_label(root / "b", RunLabel("another"))
    page.runs.reload()
    settled(page, qtbot)
    assert page.note.box.toPlainText() == "half a sen"
    assert "another" in names(page)


def test_delete_puts_into_the_bin_and_ctrl_z_brings_back(page, root, qtbot):
    choose(page, "a", "b")
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    settled(page, qtbot)
    assert names(page) == ["d", "c"]
    assert "2 runs are in the bin and removed for good in 30 days" in page.outcome.text()
    assert page.bin_button.text() == "Bin (2)"
    assert page.undo.isVisible()
    assert {one.name for one in (root / "bin").iterdir()} == {"a", "b"}
    qtbot.keyClick(page.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settled(page, qtbot)
    assert names(page) == ["d", "c", "b", "a"]
    assert page.bin_button.text() == "Bin"


def test_the_bin_restores_and_removes_only_after_a_question(page, root, qtbot, monkeypatch):
    choose(page, "a", "b")
    page.delete_chosen()
    settled(page, qtbot)
    page.bin_button.click()
    assert page.bin.isVisible()
    page.bin.table.selectRow(0)
    first = page.bin.chosen_runs()[0].run.name
    qtbot.keyClick(page.bin.table, Qt.Key.Key_Return)
    settled(page, qtbot)
    assert first in names(page)
    page.bin.table.selectRow(0)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    page.bin.remove.click()
    settled(page, qtbot)
    assert len(list((root / "bin").iterdir())) == 1
    monkeypatch.setattr(
        QMessageBox, "clickedButton",
        lambda box: next(b for b in box.buttons() if b.text() == "Remove for good"),
    )  # fmt: skip
    page.bin.remove.click()
    settled(page, qtbot)
    assert list((root / "bin").iterdir()) == []
    assert len(names(page)) == 3


def test_a_run_that_is_under_way_is_refused_in_a_sentence(page, root, qtbot):
    with RunFolder(root / "a").hold_lock():
        choose(page, "a")
        qtbot.keyClick(page.table, Qt.Key.Key_Delete)
        settled(page, qtbot)
        assert "this run is running" in page.outcome.text()
    assert "a" in names(page)


def test_enter_opens_a_run(page, root, qtbot, window):
    choose(page, "d")
    with qtbot.waitSignal(window.session.run_opened):
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert window.here == "tune"  # it has no results
    assert window.session.run_folder == root / "d"
    window.show_page("runs")
    page.delete_chosen()
    assert window.session.run_folder is None  # nothing could be saved of it any more


def test_runs_of_one_file_stand_side_by_side(page, qtbot):
    choose(page, "a", "b")
    with qtbot.waitSignal(page.runs.curves_read):
        page.compare.click()
    card = page.comparison_card
    assert card.isVisible()
    assert "looks better than it is" in card.caution_label.text()
    assert card.picture.isVisible()
    assert [curve.best for curve in card.curves] == [[0.5, 0.6], [0.5, 0.6]]
    model = card.table.model()
    rows = {model.index(r, 0).data(): [model.index(r, c).data() for c in (1, 2)]
            for r in range(model.rowCount())}  # fmt: skip
    assert rows["Model"] == ["Random forest", "Support vector machine"]
    assert rows["Score"] == ["90.0\u00a0%", "80.0\u00a0%"]
    assert "Strategy" not in rows  # it is the same


def test_runs_of_other_files_are_not_compared_by_score(page, qtbot):
    choose(page, "a", "c")
    with qtbot.waitSignal(page.runs.curves_read):
        page.compare.click()
    card = page.comparison_card
    assert "other data, so that their scores cannot be compared" in card.caution_label.text()
    assert not card.picture.isVisible()
    assert not card.worth.isVisible()
    assert not card.fresh.isVisible()


def test_a_fresh_split_is_planned_with_a_seed_that_none_of_them_has(page, qtbot, window):
    from app.worker.messages import OpenData

    choose(page, "a", "b")
    with qtbot.waitSignal(page.runs.curves_read):
        page.compare.click()
    card = page.comparison_card
    assert card.which.currentText() == "Random forest · Random search"  # the best
    card.fresh.click()
    assert isinstance(window.session.worker.asked[-1], OpenData)
    assert window.session._plan_to_restore.seed == 3
    assert window.session._plan_to_restore.model == "forest"


def test_a_compared_run_that_is_deleted_is_compared_no_longer(page, qtbot):
    choose(page, "a", "b")
    with qtbot.waitSignal(page.runs.curves_read):
        page.compare.click()
    choose(page, "a")
    page.delete_chosen()
    settled(page, qtbot)
    assert not page.comparison_card.isVisible()


def test_every_control_has_a_name_and_is_reached(page, window, look, qtbot, assert_accessible):
    choose(page, "a", "b")
    with qtbot.waitSignal(page.runs.curves_read):
        page.compare.click()
    page.bin_button.click()
    assert_accessible(window)
    look.change_look(percent=200)
    qtbot.wait(20)
    assert_accessible(window)
    window.resize(1024, 700)
    qtbot.wait(20)
    assert page.scroll_area.widget().width() <= page.scroll_area.viewport().width()


def test_the_rail_lists_the_newest_and_leads_to_all(window, root, qtbot):
    for at in range(5, 10):
        made(root, f"more {at}", "svm", "f", 0.5, 0.5, 0.5, at)
    window.show_runs()
    qtbot.waitUntil(lambda: len(window.session.runs.run_list.runs) == 9)
    buttons = window.rail._runs.count()
    assert buttons == 6
    window.show_page("start")
    window.rail.runs_button.click()
    assert window.here == "runs"
    assert not window.panel.isVisible()
    window.show_page("start")
    assert window.panel.isVisible()


def test_of_many_runs_only_what_changed_is_told_again(look, qtbot, monkeypatch):
    usual = runs_table._make_row
    one = RunSummary(
        "p", "n", "iris", "f", "svm", "gp", "finished", "2026-01-01", "accuracy", True,
        test=0.9, target="y",
    )  # fmt: skip
    runs = [replace(one, path=str(at), name=f"run {at}", test=at / 500) for at in range(500)]
    table = RunsTable()
    qtbot.addWidget(table)
    table.show()
    told = []
    monkeypatch.setattr(runs_table, "_make_row", lambda run: told.append(run.path) or usual(run))
    table.show_runs(runs)
    assert len(told) == 500
    assert table.show_matching("run 499") == 1
    table.show_runs([replace(runs[0], note="x"), *runs[1:]])
    assert told[500:] == ["0"]
