"""The buttons and keys that undo, on the page."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.pages.data.data_page import DataPage
from app.text.data.change_titles import change_title
from core.tuning.plan import DataPlan


@pytest.fixture
def page(with_data, qtbot):
    made = DataPage(with_data)
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    made.activateWindow()
    return made


def test_buttons_say_what_they_undo(page):
    assert not page.undo.isEnabled()
    assert page.undo.toolTip() == "There is nothing to undo"
    page.board.move_columns(["ward"], "place")
    assert page.undo.accessibleName() == "Undo: the groups"
    assert "Ctrl+Z" in page.undo.toolTip()
    assert not page.redo.isEnabled()
    page.undo.click()
    assert page.session.plan.groups == "single"
    assert list(page.board.current_groups()) == ["all columns"]
    assert page.redo.accessibleName() == "Redo: the groups"
    page.redo.click()
    assert page.session.plan.groups["place"] == ["ward"]


@pytest.mark.parametrize("again", ["Y", "shift Z"])
def test_keys_undo_and_redo(page, qtbot, again):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    page.table.setFocus()
    page.session.set_plan(groups="column")
    qtbot.keyClick(page.table, Qt.Key.Key_Z, control)
    assert page.session.plan.groups == "single"
    if again == "Y":
        qtbot.keyClick(page.table, Qt.Key.Key_Y, control)
    else:
        qtbot.keyClick(page.table, Qt.Key.Key_Z, control | shift)
    assert page.session.plan.groups == "column"


def test_a_number_that_was_typed_is_undone_as_a_choice(page, qtbot):
    page.question.spin.setFocus()
    page.question.spin.selectAll()
    qtbot.keyClicks(page.question.spin, "20")
    qtbot.keyClick(page.question.spin, Qt.Key.Key_Return)
    assert page.session.requested_data.test_size == 0.2
    field = page.question.spin.lineEdit()
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.session.requested_data.test_size is None
    assert page.question.spin.value() == 30


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"target": "a", "roles": {"b": "ignore"}}, "what is predicted"),
        ({"roles": {"a <b>": "ignore"}}, "the role of “a <b>”"),
        ({"roles": {"a": "ignore", "b": "ignore"}}, "the roles of 2 columns"),
        ({"kinds": {"x" * 99: "text"}}, "what “" + "x" * 38 + " …” holds"),
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
