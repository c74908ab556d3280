"""One click from a word to what it means: the dotted line, F1, the popover and the help."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QTableWidget, QWidget

from app.dialogs.help_dialog import HelpDialog
from app.help.help_pages import pages_by_key
from app.widgets.buttons import LinkButton
from app.widgets.layouts import in_column
from app.widgets.term_help import AXES, TermHelp, words_of


@pytest.fixture
def small(show, look):
    """A window with a label, a button and nothing else, and its terms."""
    made = QWidget()
    made.told, made.plain = QLabel("How long a trial takes"), QPushButton("Hello")
    made.control = QPushButton("Choose")
    made.control.setAccessibleName("Seed")
    in_column(made.told, made.plain, made.control, on=made)
    made.terms = TermHelp(made)
    return show(made, 600, 400)


def test_it_lies_under_words_that_have_an_entry_and_f1_explains_them(small):
    button = small.terms.button
    small.terms.point_at(small.told)
    assert button.isVisible()
    assert "Trial" in button.accessibleName()
    # Exactly the word: "trial" is after 11 of 22 letters of "How long a trial takes".
    before = small.told.fontMetrics().horizontalAdvance("How long a ")
    corner = small.told.mapTo(small, QPoint(before, 0))
    assert abs(button.x() - corner.x()) <= 2
    assert abs(button.width() - small.told.fontMetrics().horizontalAdvance("trial")) <= 3
    small.terms.point_at(small.plain)
    assert not button.isVisible()
    small.plain.setFocus()
    assert not small.terms.explain_focus()
    small.control.setFocus(Qt.FocusReason.TabFocusReason)
    assert small.terms.explain_focus()
    popover = small.terms.popover
    assert popover.isVisible()
    assert "the same run" in popover.accessibleDescription()
    QTest.keyClick(popover, Qt.Key.Key_Escape)
    assert not popover.isVisible()
    assert small.terms.popover is None


def test_a_click_leads_to_the_entry_in_the_help(small, qtbot):
    small.terms.point_at(small.told)
    qtbot.mouseClick(small.terms.button, Qt.MouseButton.LeftButton)
    more = small.terms.popover.findChildren(LinkButton)[0]
    with qtbot.waitSignal(small.terms.entry_wanted) as wanted:
        qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    dialog = HelpDialog(wanted.args[0])
    qtbot.addWidget(dialog)
    assert dialog.current_anchor == "word-trial"
    assert dialog.topics.currentItem().text(0) == "Words"


def test_headers_and_axes_have_words(small, qtbot):
    table = QTableWidget(1, 2, small)
    table.setHorizontalHeaderLabels(["score", "name"])
    table.show()
    header = table.horizontalHeader()
    assert isinstance(header, QHeaderView)
    at = header.viewport().mapToGlobal(QPoint(5, 5))
    assert words_of(header.viewport(), at) == "score"
    table.setProperty(AXES, "learned penalty C")
    assert "penalty" in words_of(table.viewport())


# The dialog -----------------------------------------------------------------------------------


@pytest.fixture
def dialog(show, look):
    return show(HelpDialog("strategy-gp"))


def test_the_dialog_shows_every_page_and_its_pictures(dialog):
    for key, page in pages_by_key().items():
        dialog.go_to(key)
        assert dialog.topics.currentItem().text(0) == page.title
        assert dialog.text.toPlainText().startswith(page.title)
    dialog.go_to("strategy-gp")
    picture = dialog.text.loadResource(2, QUrl("pictures/gp-well.png"))
    assert picture.width() == dialog.text.wide
    assert dialog.text.document().size().height() > 2 * 300
    for elsewhere in ("../../theme.py", "https://example.org/x.png"):
        assert dialog.text.loadResource(2, QUrl(elsewhere)) is None


def test_links_and_back(dialog, qtbot):
    dialog._open_link(QUrl("#word-trial"))
    assert dialog.current_anchor == "word-trial"
    assert dialog.back.isEnabled()
    dialog.back.click()
    assert dialog.current_anchor == "strategy-gp"
    assert not dialog.back.isEnabled()
    dialog.go_to("no such place")
    assert dialog.current_anchor == "start"


def test_searching_lists_what_has_every_word(dialog):
    dialog.search.setText("thompson")
    shown = {key for key in pages_by_key() if not dialog._items[key].isHidden()}
    assert {"strategy-eb-hyp", "strategy"} <= shown
    assert "keyboard" not in shown
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.current_anchor == dialog._hits[0]
    marks = dialog.text.extraSelections()
    assert {mark.cursor.selectedText().lower() for mark in marks} == {"thompson"}
    seen = dialog.text.viewport().rect()
    assert seen.contains(dialog.text.cursorRect(marks[0].cursor).center())
    for typed in ("thompson zebra", "zebra"):
        dialog.search.setText(typed)
        assert dialog.nothing.text() == f"No page has “{typed}”."
        QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    dialog.search.setText("")
    assert dialog.nothing.isHidden()
    assert not dialog.text.extraSelections()
    assert not any(item.isHidden() for item in dialog._items.values())


@pytest.mark.parametrize("percent", [100, 200])
def test_nothing_is_wider_than_its_place(dialog, look, percent, qtbot):
    look.change_look(percent=percent)
    for key in ("strategy-gp", "model-svm", "words", "keyboard"):
        dialog.go_to(key)
        assert dialog.text.document().size().width() <= dialog.text.viewport().width() + 1
