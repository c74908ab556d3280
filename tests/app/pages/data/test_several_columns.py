"""Several columns at once: selected in the table or on the board, changed and grouped together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtWidgets import QMenu

from app.pages.data.data_page import DataPage
from app.widgets.chip import dropped_columns

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def page(with_data, qtbot):
    made = DataPage(with_data)
    qtbot.addWidget(made)
    made.resize(1100, 1200)
    made.show()
    return made


def press_head(page, qtbot, name, keys=Qt.KeyboardModifier.NoModifier):
    head = page.table.horizontalHeader()
    x = head.sectionViewportPosition(page.table.preview.names.index(name)) + 20
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, keys, QPoint(x, 10))


def act(menu, words, inside=""):
    if inside:
        found = next(one for one in menu.actions() if one.text() == inside)
        menu = found.menu()
    next(one for one in menu.actions() if one.text() == words).trigger()


def test_heads_are_selected_with_ctrl_and_shift_without_a_menu(page, qtbot):
    asked = []
    page.table.column_pressed.disconnect()
    page.table.column_pressed.connect(lambda name, _place: asked.append(name))
    press_head(page, qtbot, "age", CONTROL)
    press_head(page, qtbot, "smoker", CONTROL)
    assert page.table.selected_columns() == ["age", "smoker"]
    assert not asked
    assert page.several.isVisible()
    assert page.several.text() == "Change 2 columns…"
    press_head(page, qtbot, "ward")
    assert page.table.selected_columns() == asked == ["ward"]
    assert not page.several.isVisible()
    press_head(page, qtbot, "blood_pressure", SHIFT)
    assert page.table.selected_columns() == ["ward", "smoker", "blood_pressure"]


def test_the_keyboard_selects_and_asks(page, qtbot):
    asked = []
    page.table.columns_pressed.disconnect()
    page.table.columns_pressed.connect(lambda names, _place: asked.append(names))
    page.table.setCurrentIndex(page.table.preview.index(2, 1))
    qtbot.keyClick(page.table, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(page.table, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert asked == [page.table.preview.names[1:4]]


def test_several_columns_get_a_role_or_a_kind_in_one_change(page):
    menu = page.menus.menu_for_columns(["came_back", "age", "ward"])
    assert menu.actions()[0].text() == "2 columns"  # the target stays what it is
    act(menu, "Leave them out")
    assert page.session.requested_data.roles == {"age": "ignore", "ward": "ignore"}
    act(page.menus.menu_for_columns(["age", "waiting_minutes"]), "category")
    assert page.session.requested_data.kinds == {"age": "category", "waiting_minutes": "category"}
    assert page.session.requested_data.roles == {"age": "ignore", "ward": "ignore"}


def test_several_columns_go_into_one_group_from_the_table(page, qtbot):
    menu = page.menus.menu_for_columns(["age", "ward", "visit_id"])
    act(menu, "A new group", inside="Put them into a group")
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    assert page.session.plan.groups["group 2"] == ["age", "ward"]  # the other one is left out
    menu = page.menu_for("smoker")
    act(menu, "group 2", inside="Put it into a group")
    qtbot.waitUntil(lambda: "smoker" in page.session.plan.groups["group 2"])
    page.session.undo_change()
    assert page.session.plan.groups["group 2"] == ["age", "ward"]


def chip(page, name):
    return next(one for one in page.board._column_chips() if one.column == name)


def test_chips_are_selected_and_moved_together(page, qtbot):
    board, left = page.board, Qt.MouseButton.LeftButton
    qtbot.mouseClick(chip(page, "age"), left, CONTROL)
    qtbot.mouseClick(chip(page, "smoker"), left, CONTROL)
    assert chip(page, "age").property("picked")
    assert "Selected" in chip(page, "smoker").accessibleDescription()
    assert chip(page, "age").carries == ["age", "smoker"]
    assert chip(page, "ward").carries == ["ward"]
    assert board.several.text() == "Move 2 columns…"
    menu = board.menu_for("smoker")
    assert menu.actions()[0].text() == "Move 2 columns to"
    act(menu, "A new group")
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    assert page.session.plan.groups["group 2"] == ["age", "smoker"]
    assert not board.several.isVisible()


def test_shift_selects_all_between_and_ctrl_space_one_more(page, qtbot):
    board, left = page.board, Qt.MouseButton.LeftButton
    names = [one.column for one in board._column_chips()]
    qtbot.mouseClick(chip(page, names[1]), left, CONTROL)
    qtbot.mouseClick(chip(page, names[3]), left, SHIFT)
    qtbot.keyClick(chip(page, names[5]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[2], names[3], names[5]]
    qtbot.keyClick(chip(page, names[2]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[3], names[5]]
    page.session.set_plan(groups={"one": names[:4], "two": names[4:]})
    qtbot.keyClick(chip(page, names[1]), Qt.Key.Key_Right, CONTROL)
    qtbot.waitUntil(lambda: names[1] in page.session.plan.groups["two"])
    assert set(page.session.plan.groups["two"]) == {names[1], names[3], *names[4:]}


@pytest.mark.parametrize("names", [["a"], ["a", '[“b”, "c"', "<b>"]])
def test_what_is_dragged_comes_back_from_the_drop(qtbot, monkeypatch, names, look):
    from app.widgets import chip as module

    carried = []

    class Drag:
        def __init__(self, _source): ...
        def setMimeData(self, mime):
            carried.append(mime)

        def setPixmap(self, _picture): ...
        def setHotSpot(self, _place): ...
        def exec(self, _action): ...

    monkeypatch.setattr(module, "QDrag", Drag)
    made = module.ColumnChip(names[0], "group")
    qtbot.addWidget(made)
    made.carries = names
    made.start_drag()
    assert dropped_columns(carried[0]) == names
    plain = QMimeData()
    plain.setData(module.MIME, b"[x")
    assert dropped_columns(plain) == ["[x"]


def test_a_table_that_is_not_listed_whole_offers_no_groups(page):
    page.session.summary = replace(page.session.summary, more_columns=9)
    assert not page.board.takes_columns
    menu = page.menus.menu_for_columns(["age", "ward"])
    assert not menu.findChildren(QMenu)
