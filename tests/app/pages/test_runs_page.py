"""The page of runs as a person uses it: typing, keys, the bin, and runs side by side."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMessageBox

import app.pages.runs_table as runs_table
from app.pages.runs_table import DATE, NOTE, RunsTable
from app.text.past_runs_text import HEADS, cells_of
from app.window.window import Window
from app.worker.messages import OpenData
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
    "d": ("svm", "f"),
}


def made(root, at, name, model, fingerprint, *scores):
    """A run in a folder; without scores it has not ended."""
    plan = Plan(DataPlan("x.csv"), model, "random", seed=at)
    folder = RunFolder.create(plan, path=root / name)
    about = DatasetFacts(name="x", fingerprint=fingerprint, target="y", task=Task.BINARY)
    moment = f"2026-01-0{at}T10:00:00+00:00"
    folder.append(RunStarted(run=name, plan=plan.as_dict(), dataset=about, started_at=moment))
    for number, score in enumerate((0.5, 0.6)):
        folder.append(TrialStarted(number=number))
        folder.append(TrialFinished(number=number, score=score, seconds=number + 1.0))
    if scores:
        test, default, baseline = ({"accuracy": score} for score in scores)
        results = Results(
            metric="accuracy",
            test=test,
            default_test=default,
            baseline_test=baseline,
            gain=Gain(difference=scores[0] - scores[1]),
            seconds=3.0,
        )
        folder.append(RunFinished(results=results))
    folder.close()


@pytest.fixture
def root(tmp_path):
    for at, (name, told) in enumerate(RUNS.items(), start=1):
        made(tmp_path / "runs", at, name, *told)
    return tmp_path / "runs"


@pytest.fixture
def window(root, still, show, qtbot):
    made = show(Window(still), 1280, 800)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.show_page("runs")
    qtbot.waitUntil(lambda: made.pages["runs"].table.runs.rowCount() == len(RUNS))
    return made


@pytest.fixture
def page(window):
    return window.pages["runs"]


@pytest.fixture
def compare(page, qtbot):
    """Compares runs and gives the card that shows them."""

    def compare_runs(*names):
        choose(page, *names)
        with qtbot.waitSignal(page.runs.curves_read):
            page.compare.click()
        return page.comparison_card

    return compare_runs


def names(page):
    model = page.table.runs
    runs = map(model.run_at, range(model.rowCount()))
    return [run.title or run.name for run in runs]


def choose(page, *wanted):
    by_name = {run.name: run.path for run in page.table.runs.runs}
    page.table.choose_runs({by_name[name] for name in wanted}, by_name[wanted[0]])


def settled(page, qtbot):
    qtbot.waitUntil(lambda: not page.runs.is_reloading)


def test_each_run_has_its_cells_and_the_list_is_filtered_and_sorted(page, qtbot):
    (run,) = [one for one in page.table.runs.runs if one.name == "b"]
    told = dict(zip(HEADS, cells_of(run), strict=True))
    file, model, moment = told["name"].split(" · ")
    assert (file, model, told["strategy"]) == ("x", "Random forest", "Random search")
    assert "2026" in moment
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


def test_a_note_is_kept_when_one_leaves_it(page, root, qtbot, window):
    page.table.choose_runs({str(root / "b")}, str(root / "b"), column=NOTE)
    qtbot.keyClick(page.table, Qt.Key.Key_F2)
    assert page.window().focusWidget() is page.note.box
    qtbot.keyClicks(page.note.box, "with more trees")
    page.table.setFocus()
    settled(page, qtbot)
    assert read_label(root / "b").note == "with more trees"
    page.filter.setText("trees")
    assert names(page) == ["b"]
    page.filter.clear()
    # When another run is chosen, and when the page is left.
    choose(page, "a")
    page.note.box.setPlainText("first")
    choose(page, "c")
    assert read_label(root / "a").note == "first"
    assert page.note.box.toPlainText() == ""
    page.note.box.setPlainText("second")
    window.show_page("start")
    assert read_label(root / "c").note == "second"


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
    # A run that is under way is refused in a sentence.
    with RunFolder(root / "a").hold_lock():
        choose(page, "a")
        qtbot.keyClick(page.table, Qt.Key.Key_Delete)
        settled(page, qtbot)
        assert "this run is running" in page.outcome.text()
    assert "a" in names(page)


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


def test_enter_opens_a_run(page, root, qtbot, window):
    choose(page, "d")
    with qtbot.waitSignal(window.session.run_opened):
        qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert window.here == "tune"  # it has no results
    assert window.session.run_folder == root / "d"
    window.show_page("runs")
    page.delete_chosen()
    assert window.session.run_folder is None  # nothing could be saved of it any more


def test_runs_of_one_file_stand_side_by_side_until_one_is_deleted(page, qtbot, compare):
    card = compare("a", "b")
    assert card.isVisible()
    assert "looks better than it is" in card.caution_label.text()
    assert card.picture.isVisible()
    assert [curve.best for curve in card.curves] == [[0.5, 0.6], [0.5, 0.6]]
    model = card.table.model()
    cells = [[model.index(r, c).data() for c in range(3)] for r in range(model.rowCount())]
    rows = {name: values for name, *values in cells}
    assert rows["Model"] == ["Random forest", "Support vector machine"]
    assert rows["Score"] == ["90.0\u00a0%", "80.0\u00a0%"]
    assert "Strategy" not in rows  # it is the same
    choose(page, "a")
    page.delete_chosen()
    settled(page, qtbot)
    assert not card.isVisible()


def test_runs_of_other_files_are_not_compared_by_score(compare):
    card = compare("a", "c")
    assert "other data, so that their scores cannot be compared" in card.caution_label.text()
    assert not any(part.isVisible() for part in (card.picture, card.worth, card.fresh))


def test_a_fresh_split_is_planned_with_a_seed_that_none_of_them_has(window, compare):
    card, session = compare("a", "b"), window.session
    assert card.which.currentText() == "Random forest · Random search"  # the best
    card.fresh.click()
    assert isinstance(session.worker.asked[-1], OpenData)
    assert (session._plan_to_restore.seed, session._plan_to_restore.model) == (3, "forest")


def test_every_control_has_a_name_and_is_reached(
    page, window, look, qtbot, assert_accessible, compare
):
    compare("a", "b")
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
        made(root, at, f"more {at}", "svm", "f", 0.5, 0.5, 0.5)
    window.session.runs.reload()
    qtbot.waitUntil(lambda: len(window.session.runs.run_list.runs) == 9)
    assert window.rail._runs.count() == 6
    window.show_page("start")
    assert window.panel.isVisible()
    window.rail.runs_button.click()
    assert window.here == "runs"
    assert not window.panel.isVisible()


def test_of_many_runs_only_what_changed_is_told_again(look, show, monkeypatch):
    usual = runs_table._make_row
    one = RunSummary(
        "p", "n", "iris", "f", "svm", "gp", "finished", "2026-01-01", "accuracy", True,
        test=0.9, target="y",
    )  # fmt: skip
    runs = [replace(one, path=str(at), name=f"run {at}", test=at / 500) for at in range(500)]
    table, told = show(RunsTable()), []
    monkeypatch.setattr(runs_table, "_make_row", lambda run: told.append(run.path) or usual(run))
    table.show_runs(runs)
    assert len(told) == 500
    assert table.show_matching("run 499") == 1
    table.show_runs([replace(runs[0], note="x"), *runs[1:]])
    assert told[500:] == ["0"]


def test_the_page_stands_still_while_its_head_changes(page, qtbot):
    tops = []
    for subtitle in ("", "Short.", "Long enough to need a second line. " * 5):
        page.set_head("Runs", subtitle)
        qtbot.wait(50)
        tops.append(page.scroll_area.y())
    assert len(set(tops)) == 1
