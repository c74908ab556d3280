"""The Data page: its table, its columns, its groups, one by one and several at once, and undo."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.pages.data.data_page import DataPage
from app.pages.data.groups_board import fresh_name, move_columns, rename_group, shown_groups
from app.text.data_text import change_title
from app.widgets import chip
from app.worker.messages import Opened
from core.datasets.dataset_summary import ColumnSummary, DatasetSummary
from core.datasets.groups import penalty_groups
from core.datasets.task import Task
from core.losses.rna import parameters
from core.tuning.plan import DataPlan

LEFT = Qt.MouseButton.LeftButton
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def page(with_data, show):
    return show(DataPage(with_data), 800, 900)


@pytest.fixture
def page_of(read, show):
    return lambda sample: show(DataPage(read(f"sample:{sample}")), 800, 900)


def groups_of(page):
    return page.session.plan.groups


def choose(menu, words, inside=""):
    if inside:
        menu = next(one for one in menu.actions() if one.text() == inside).menu()
    next(one for one in menu.actions() if one.text() == words).trigger()


def chip_of(page, name):
    return next(one for one in page.board._column_chips() if one.column == name)


def test_the_page_shows_the_summary_in_head_table_and_panel(page):
    # The head: rows, columns, target and shares.
    summary = page.session.summary
    yes = next(c["count"] for c in summary["classes"] if c["label"] == "yes")
    subtitle = page._subtitle.text()
    assert "600 rows · 6 columns" in subtitle
    assert f"yes {100 * yes / 600:.0f}\u00a0%" in subtitle
    # The table: the target first, then kinds, then rows.
    model = page.table.preview
    assert model.heads[0] == "came_back"
    kinds = {name: model.index(0, at).data() for at, name in enumerate(model.heads)}
    wanted = {"came_back": "target", "ward": "category", "visit_date": "date"}
    assert kinds | wanted | {"visit_id": "left out"} == kinds
    first = dict(zip(summary["preview"]["columns"], summary["preview"]["rows"][0], strict=True))
    assert model.index(1, model.heads.index("ward")).data() == first["ward"]
    # The panel has every finding.
    title, sentences = page.words
    assert title == "Findings"
    assert {finding["sentence"] for finding in summary["findings"]} <= set(sentences)
    assert any(sentence.startswith("180 rows are the test set") for sentence in sentences)


@pytest.mark.parametrize(
    ("sample", "head", "task", "tested", "panel", "kind"),
    [
        (
            "tags",
            ("300 sequences of 2 to 20 tokens · 5 columns", "9 labels"),
            "The label of every token",
            "90 of 300 sequences",
            ("90 whole sequences are the test set", "the same “sequence” are one sequence"),
            "sequence",
        ),
        (
            "molecules",
            ("60 molecules of 30 to 80 bases", "966 base pairs"),
            "The structure of a molecule",
            "18 of 60 molecules",
            (),
            "letters",
        ),
    ],
)
def test_sequences_and_molecules_are_counted_and_tested_whole(
    page_of, sample, head, task, tested, panel, kind
):
    page = page_of(sample)
    assert all(words in page._subtitle.text() for words in head)
    assert page.question.task.currentText() == task
    assert page.question._test_words.text() == tested
    assert all(words in " ".join(page.words[1]) for words in panel)
    model = page.table.preview
    assert model.index(0, model.heads.index("sequence")).data() == kind
    # The columns of a token have kinds, a molecule's have none that could be changed.
    entries = {action.text() for action in page.menu_for(model.heads[-1]).actions()}
    assert ("It holds" in entries) == (sample == "tags")


def test_enter_in_the_table_asks_for_the_menu_of_the_selected_columns(page, qtbot):
    asked = []
    for signal in (page.table.column_pressed, page.table.columns_pressed):
        signal.disconnect()
        signal.connect(lambda names, _place: asked.append(names))
    page.table.setCurrentIndex(page.table.preview.index(2, 1))
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(page.table, key, SHIFT)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    names = page.table.preview.heads
    assert asked == [names[1], names[1:4]]


def test_roles_kinds_task_and_test_part_are_asked_of_the_worker(page, qtbot):
    worker, question = page.session.worker, page.question
    with qtbot.waitSignal(page.session.problem) as problem:
        choose(page.menu_for("came_back"), "Leave it out")
    assert "Choose another target first" in problem.args[0]
    assert "came_back" not in page.session.requested_data.roles
    choose(page.menu_for("visit_id"), "Use it to predict")
    assert worker.data_wanted.roles == {"visit_id": "feature"}
    choose(page.menu_for("age"), "category")
    assert worker.data_wanted.kinds == {"age": "category"}
    question.spin.setValue(20)
    assert worker.data_wanted.test_size == pytest.approx(0.2)
    question.share.setValue(40)
    assert worker.data_wanted.test_size == pytest.approx(0.4)
    question.task.setCurrentIndex(question.task.findData("multiclass"))
    assert worker.data_wanted.task == "multiclass"
    # Another target is told its task anew.
    choose(page.menu_for("age"), "Predict this column")
    assert (worker.data_wanted.target, worker.data_wanted.task) == ("age", "")
    question.target.setCurrentIndex(question.target.findText("Predict “ward”"))
    assert worker.data_wanted.target == "ward"


def test_of_two_likely_targets_the_page_asks_until_a_person_has_chosen(read, show, qtbot, tmp_path):
    steps = np.arange(120.0)
    columns = {
        "x": np.sin(steps),
        "y": np.cos(3 * steps),
        "fault": np.where(steps % 2, "no", "a<b"),
    }
    pd.DataFrame(columns).to_csv(file := tmp_path / "pumps.csv", index=False)
    page = show(DataPage(read(file)), 800, 900)
    session, rivals = page.session, page.question.rivals
    assert "“y” and “fault”" in page.question.unclear.text()
    assert [button.text() for button in rivals] == ["Predict “y”", "Predict “fault”"]
    assert all(button.isVisible() for button in rivals)
    # The first button of the page works as ever: the guess stands.
    assert page.primary.isEnabled()
    assert session.plan is not None
    for name, button in zip(("fault", "y"), rivals[::-1], strict=True):
        qtbot.mouseClick(button, LEFT)
        assert session.worker.data_wanted.target == name
    read(file, target="y")
    page.refresh()
    assert not any(button.isVisible() for button in rivals)
    assert not page.question.unclear.isVisible()


def test_columns_fill_the_table_or_scroll(page):
    table = page.table
    widths = [table.columnWidth(at) for at in range(table.preview.columnCount())]
    head = table.horizontalHeader()
    assert all(w >= min(head.sectionSizeHint(at), 320) for at, w in enumerate(widths))
    page.resize(2200, 900)
    QApplication.processEvents()
    total = sum(table.columnWidth(at) for at in range(table.preview.columnCount()))
    assert total == table.viewport().width()


# Groups ---------------------------------------------------------------------------------------


def test_dragging_a_column_onto_a_new_group_moves_it(page, qtbot):
    page.board.add_group()
    mime = QMimeData()
    mime.setData(chip.MIME, b"age")
    box = page.board.group_box("group 2")
    center, action = QPointF(box.rect().center()), Qt.DropAction.MoveAction
    QApplication.sendEvent(box, QDragEnterEvent(center.toPoint(), action, mime, LEFT, NONE))
    assert box.property("over") is True
    QApplication.sendEvent(box, QDropEvent(center, action, mime, LEFT, NONE))
    assert box.property("over") is False
    qtbot.waitUntil(lambda: isinstance(groups_of(page), dict))
    groups = groups_of(page)
    assert groups["group 2"] == ["age"]
    features = {c["name"] for c in page.session.summary["columns"] if c["role"] == "feature"}
    assert set(groups["all columns"]) == features - {"age"}


def test_the_keyboard_moves_a_column_by_menu_and_by_step(page, qtbot):
    choose(page.board.menu_for("ward"), "A new group")
    qtbot.waitUntil(lambda: isinstance(groups_of(page), dict))
    assert groups_of(page)["group 2"] == ["ward"]
    qtbot.keyClick(chip_of(page, "smoker"), Qt.Key.Key_Right, CONTROL)
    qtbot.waitUntil(lambda: "smoker" in groups_of(page)["group 2"])


def test_every_chip_of_a_narrow_group_shows(page, qtbot):
    page.board.move_columns(["ward"], "x" * 40)
    page.resize(420, 900)
    names = ["age", "blood_pressure", "waiting_minutes", "visit_date"]
    page.session.set_plan(groups={"all": names})
    qtbot.wait(20)
    for name in names:
        shown = chip_of(page, name)
        assert shown.parentWidget().rect().contains(shown.geometry())
        assert shown.text()


def test_a_group_is_made_named_saved_and_loaded_again(page, qtbot, tmp_path):
    board, file, said = page.board, tmp_path / "groups.json", []
    page.activateWindow()
    board.move_columns(["ward"], "place")
    assert QApplication.focusWidget().column == "ward"
    title = board.group_box("place").title
    title.setText("where")
    title.editingFinished.emit()
    qtbot.waitUntil(lambda: "where" in groups_of(page))
    kept = groups_of(page)
    assert kept["where"] == ["ward"]
    board.save_groups(str(file))
    assert json.loads(file.read_text()) == kept
    for way in ("prefix", "column", "each", "single"):
        board.ways.setCurrentIndex(board.ways.findData(way))
        assert groups_of(page) == way
    board.load_groups(str(file))
    assert groups_of(page) == kept
    # Files that cannot be used are a sentence.
    page.session.problem.connect(said.append)
    file.write_text("[1, 2")
    board.load_groups(str(file))
    assert groups_of(page) == kept
    board.save_groups(str(tmp_path / "nowhere" / "groups.json"))
    assert "groups.json" in said[0]
    assert "choose another folder" in said[1]


NAMES = ["a_1", "a_2", "b_1", "c"]
SUMMARY = DatasetSummary(
    "a.csv",
    "csv",
    rows=9,
    features=4,
    task=Task.REGRESSION,
    target="y",
    columns=[ColumnSummary(name, "feature", "number") for name in NAMES]
    + [ColumnSummary("y", "target", "number")],
    prefixes={"a": ["a_1", "a_2"], "other": ["b_1", "c"]},
)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("single", {"all": NAMES}),
        ("column", {name: [name] for name in NAMES}),
        ("prefix", {"a": ["a_1", "a_2"], "other": ["b_1", "c"]}),
        ({"mine": ["c", "y", "gone"]}, {"mine": ["c"], "other": ["a_1", "a_2", "b_1"]}),
        ({"mine": ["c"]}, {"mine": ["c"], "other": ["a_1", "a_2", "b_1"]}),
    ],
)
def test_groups_are_shown_as_the_core_makes_them(spec, expected):
    assert shown_groups(spec, SUMMARY, "all", "other") == expected
    if spec in ("prefix", {"mine": ["c"]}):
        labels, of_column = penalty_groups(spec, NAMES, NAMES)
        made = {}
        for name, at in zip(NAMES, of_column, strict=True):
            made.setdefault(labels[at], []).append(name)
        assert made == expected


def test_moving_and_renaming_lose_no_column():
    groups = {"a": ["1", "2"], "b": ["3"]}
    assert move_columns(groups, ["3"], "a") == {"a": ["1", "2", "3"]}
    assert move_columns(groups, ["1"], "new") == {"a": ["2"], "b": ["3"], "new": ["1"]}
    assert rename_group(groups, "b", "a") == {"a": ["1", "2", "3"]}
    assert rename_group(groups, "a", "z") == {"z": ["1", "2"], "b": ["3"]}
    assert fresh_name({"group 2": [], "x": []}) == "group 3"


def test_a_menu_opens_at_the_chip_and_at_the_head(page):
    for press, entry in (
        (chip_of(page, "age").click, "A new group"),
        (lambda: page.table._head_clicked(1), "Leave it out"),
    ):
        press()
        menu = QApplication.activePopupWidget()
        assert entry in [action.text() for action in menu.actions()]
        menu.close()


def test_another_sheet_of_the_workbook_can_be_chosen(page, clinic):
    session, question = page.session, page.question
    assert question._sheet_box.isHidden()
    session.open_file("/data/book.xlsx")
    summary = replace(clinic[0], sheets=["First", "Second"], sheet="First")
    session.worker.answer(Opened(DataPlan("/data/book.xlsx"), summary, clinic[1]))
    assert not question._sheet_box.isHidden()
    assert question.sheet.currentText() == "First"
    question.sheet.textActivated.emit("Second")
    assert session.worker.data_wanted.file == "/data/book.xlsx#Second"
    session.problem.emit("The sheet is empty.")  # refused: the choice goes back
    assert question.sheet.currentText() == "First"


def test_heads_are_selected_with_ctrl_and_shift_without_a_menu(page, qtbot):
    def press(name, keys=NONE):
        head = page.table.horizontalHeader()
        x = head.sectionViewportPosition(page.table.preview.heads.index(name)) + 20
        qtbot.mouseClick(head.viewport(), LEFT, keys, QPoint(x, 10))

    asked = []
    page.table.column_pressed.disconnect()
    page.table.column_pressed.connect(lambda name, _place: asked.append(name))
    press("age", CONTROL)
    press("smoker", CONTROL)
    assert page.table.selected_columns() == ["age", "smoker"]
    assert not asked
    assert page.several.isVisible()
    assert page.several.text() == "Change 2 columns…"
    press("ward")
    assert page.table.selected_columns() == asked == ["ward"]
    assert not page.several.isVisible()
    press("blood_pressure", SHIFT)
    assert page.table.selected_columns() == ["ward", "smoker", "blood_pressure"]


def test_several_columns_get_a_role_a_kind_or_a_group_in_one_change(page, qtbot):
    session, menu_for = page.session, page.menus.menu_for_columns
    choose(menu_for(["age", "ward", "visit_id"]), "A new group", inside="Put them into a group")
    qtbot.waitUntil(lambda: isinstance(groups_of(page), dict))
    assert groups_of(page)["group 2"] == ["age", "ward"]  # the other one is left out
    choose(page.menu_for("smoker"), "group 2", inside="Put it into a group")
    qtbot.waitUntil(lambda: "smoker" in groups_of(page)["group 2"])
    session.undo_change()
    assert groups_of(page)["group 2"] == ["age", "ward"]
    menu = menu_for(["came_back", "age", "ward"])
    assert menu.actions()[0].text() == "2 columns"  # the target stays what it is
    choose(menu, "Leave them out")
    assert session.requested_data.roles == {"age": "ignore", "ward": "ignore"}
    choose(menu_for(["age", "waiting_minutes"]), "category")
    assert session.requested_data.kinds == {"age": "category", "waiting_minutes": "category"}
    assert session.requested_data.roles == {"age": "ignore", "ward": "ignore"}


def test_chips_are_selected_and_moved_together(page, qtbot):
    board = page.board
    for name in ("age", "smoker"):
        qtbot.mouseClick(chip_of(page, name), LEFT, CONTROL)
    assert chip_of(page, "age").property("picked")
    assert "Selected" in chip_of(page, "smoker").accessibleDescription()
    assert chip_of(page, "age").carries == ["age", "smoker"]
    assert chip_of(page, "ward").carries == ["ward"]
    assert board.several.text() == "Move 2 columns…"
    menu = board.menu_for("smoker")
    assert menu.actions()[0].text() == "Move 2 columns to"
    choose(menu, "A new group")
    qtbot.waitUntil(lambda: isinstance(groups_of(page), dict))
    assert groups_of(page)["group 2"] == ["age", "smoker"]
    assert not board.several.isVisible()


def test_shift_selects_all_between_and_ctrl_space_one_more(page, qtbot):
    board = page.board
    names = [one.column for one in board._column_chips()]
    qtbot.mouseClick(chip_of(page, names[1]), LEFT, CONTROL)
    qtbot.mouseClick(chip_of(page, names[3]), LEFT, SHIFT)
    qtbot.keyClick(chip_of(page, names[5]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[2], names[3], names[5]]
    qtbot.keyClick(chip_of(page, names[2]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[3], names[5]]
    page.session.set_plan(groups={"one": names[:4], "two": names[4:]})
    qtbot.keyClick(chip_of(page, names[1]), Qt.Key.Key_Right, CONTROL)
    qtbot.waitUntil(lambda: names[1] in groups_of(page)["two"])
    assert set(groups_of(page)["two"]) == {names[1], names[3], *names[4:]}


@pytest.mark.parametrize("names", [["a"], ["a", '[“b”, "c"', "<b>"]])
def test_what_is_dragged_comes_back_from_the_drop(show, monkeypatch, names, look):
    carried = []
    monkeypatch.setattr(chip.QDrag, "exec", lambda drag, _action: carried.append(drag.mimeData()))
    made = show(chip.ColumnChip(names[0], "group"))
    made.carries = names
    made.start_drag()
    assert chip.dropped_columns(carried[0]) == names
    plain = QMimeData()
    plain.setData(chip.MIME, b"[x")
    assert chip.dropped_columns(plain) == ["[x"]


def test_a_table_that_is_not_listed_whole_offers_no_groups(page):
    page.session.summary = replace(page.session.summary, more_columns=9)
    assert not page.board.takes_columns
    menu = page.menus.menu_for_columns(["age", "ward"])
    assert not menu.findChildren(QMenu)


# Undo -----------------------------------------------------------------------------------------


def test_buttons_and_keys_undo_and_say_what(page, qtbot):
    assert not page.undo.isEnabled()
    assert page.undo.toolTip() == "There is nothing to undo"
    page.board.move_columns(["ward"], "place")
    assert page.undo.accessibleName() == "Undo: the groups"
    assert "Ctrl+Z" in page.undo.toolTip()
    assert not page.redo.isEnabled()
    page.undo.click()
    assert groups_of(page) == "single"
    assert list(page.board.current_groups()) == ["all columns"]
    assert page.redo.accessibleName() == "Redo: the groups"
    page.redo.click()
    page.table.setFocus()
    for again in ((Qt.Key.Key_Y, CONTROL), (Qt.Key.Key_Z, CONTROL | SHIFT)):
        assert groups_of(page)["place"] == ["ward"]
        qtbot.keyClick(page.table, Qt.Key.Key_Z, CONTROL)
        assert groups_of(page) == "single"
        qtbot.keyClick(page.table, *again)
    assert groups_of(page)["place"] == ["ward"]


def test_a_number_that_was_typed_is_undone_as_a_choice(page, qtbot):
    spin = page.question.spin
    spin.setFocus()
    spin.selectAll()
    qtbot.keyClicks(spin, "20")
    qtbot.keyClick(spin, Qt.Key.Key_Return)
    assert page.session.requested_data.test_size == 0.2
    qtbot.keyClick(spin.lineEdit(), Qt.Key.Key_Z, CONTROL)
    assert page.session.requested_data.test_size is None
    assert spin.value() == 30


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"target": "a", "roles": {"b": "ignore"}}, "what is predicted"),
        ({"roles": {"a <b>": "ignore"}}, "the role of “a <b>”"),
        ({"roles": {"a": "ignore", "b": "ignore"}}, "the roles of 2 columns"),
        ({"kinds": {"x" * 99: "text"}}, "what “" + "x" * 26 + "…" + "x" * 13 + "” holds"),
        ({"readings": {"a": "text"}}, "how “a” is read"),
        ({"readings": {"a": "text"}, "kinds": {"b": "text"}}, "what “b” holds"),
        ({"readings": {"a": "text", "b": "text"}}, "the readings of 2 columns"),
        ({"test_size": 0.2}, "the test set"),
        ({"leaks": True}, "columns that leak the target"),
        ({}, "the groups"),
    ],
)
def test_what_a_change_is_called(fields, words):
    assert change_title(DataPlan("x.csv"), DataPlan("x.csv", **fields)) == words


# Sequences and molecules ----------------------------------------------------------------------


def test_the_groups_of_a_model_of_sequences(page_of, clinic):
    page = page_of("tags")
    board, set_plan = page.board, page.session.set_plan
    set_plan(groups="column")
    columns = ["word", "suffix", "shape", "weekday", "shelf"]
    assert list(board.current_groups()) == ["initial", "transition", *columns]
    set_plan(groups="single")
    assert board.current_groups() == {"all parameters": ["initial", "transition", *columns]}
    set_plan(groups="prefix")
    assert list(board.current_groups())[:2] == ["initial", "transition"]
    board.move_columns(["transition"], "initial")
    assert groups_of(page)["initial"] == ["initial", "transition"]
    # It speaks of columns again after other data.
    page.session.open_sample("clinic")
    page.session.worker.answer(Opened(DataPlan(file="sample:clinic"), *clinic))
    assert board.ways.itemText(0) == "All columns together"


def test_the_groups_of_a_model_of_molecules(page_of):
    page = page_of("molecules")
    page.session.set_plan(groups="column")
    assert list(page.board.current_groups()) == list(parameters.MOTIFS)
    assert page.board.ways.findData("prefix") == -1
    page.session.set_plan(groups="each")
    assert page.board._sentence.text() == "Every parameter has a penalty of its own."


def test_a_column_becomes_the_sequence_and_stops_being_one(page_of):
    page = page_of("tags")
    session = page.session
    words = {action.text() for action in page.menu_for("shelf").actions()}
    assert {"It says which sequence a row belongs to", "number", "category"} <= words
    assert not {"date", "yes/no"} & words
    page._set_role("shelf", "sequence")
    assert session.worker.data_wanted.roles == {"shelf": "sequence"}
    session.undo_change()  # still being read: it is not wanted any more
    session.data = DataPlan(file="sample:tags", task="sequence")
    page._set_role("sequence", "feature")
    wanted = session.worker.data_wanted
    assert (wanted.roles, wanted.task) == ({"sequence": "feature"}, "")
