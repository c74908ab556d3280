"""One click from a word to what it means: the “?”, F1, the popover and the help at the entry."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QTableWidget, QVBoxLayout, QWidget

from app.dialogs.help_dialog import HelpDialog
from app.help.help_pages import pages_by_key
from app.widgets.buttons import LinkButton
from app.widgets.term_help import AXES, TermHelp, words_of


@pytest.fixture
def small(qtbot, look):
    """A window with a label, a button and nothing else, and its “?”."""
    made = QWidget()
    qtbot.addWidget(made)
    column = QVBoxLayout(made)
    made.told = QLabel("How long a trial takes")
    made.plain = QPushButton("Hello")
    made.control = QPushButton("Choose")
    made.control.setAccessibleName("Seed")
    for part in (made.told, made.plain, made.control):
        column.addWidget(part)
    made.resize(600, 400)
    made.terms = TermHelp(made)
    made.show()
    return made


def test_it_shows_beside_words_that_have_an_entry(small):
    small.terms.point_at(small.told)
    assert small.terms.button.isVisible()
    assert "Trial" in small.terms.button.accessibleName()
    assert small.rect().contains(small.terms.button.geometry())
    small.terms.point_at(small.plain)
    assert not small.terms.button.isVisible()


def test_the_keyboard_shows_it_and_f1_explains(small, qtbot):
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
def dialog(qtbot, look):
    made = HelpDialog("strategy-gp")
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_dialog_shows_every_page(dialog):
    for key, page in pages_by_key().items():
        dialog.go_to(key)
        assert dialog.topics.currentItem().text(0) == page.title
        assert dialog.text.toPlainText().startswith(page.title)


def test_its_pictures_are_drawn(dialog):
    found = dialog.text.loadResource(2, QUrl("pictures/gp-well.png"))
    assert found.width() == dialog.text.wide
    assert dialog.text.document().size().height() > 2 * 300
    assert dialog.text.loadResource(2, QUrl("../../theme.py")) is None
    assert dialog.text.loadResource(2, QUrl("https://example.org/x.png")) is None


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
    dialog.search.setText("")
    assert not any(item.isHidden() for item in dialog._items.values())


@pytest.mark.parametrize("percent", [100, 200])
def test_nothing_is_wider_than_its_place(dialog, look, percent, qtbot):
    look.change_look(percent=percent)
    for key in ("strategy-gp", "model-svm", "words", "keyboard"):
        dialog.go_to(key)
        assert dialog.text.document().size().width() <= dialog.text.viewport().width() + 1
