"""What a word means, one click from the word: a small “?” beside it, and F1.

The “?” shows beside a text that uses a term of the glossary, where the pointer rests on it and
where the keyboard is; it takes no room of its own. What it opens is the glossary's entry.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QHeaderView,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance
from app.widgets.buttons import LinkButton
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.help.glossary import GlossaryEntry

LOOK = 250  # milliseconds between two looks at where the pointer rests
SIZE = 24  # pixels of the “?”
MAX_ENTRIES = 4  # entries shown at once
WIDE = 340  # pixels of the popover
AXES = "axes"  # the property in which a plot keeps the words on its axes


class TermHelp(QObject):
    """The “?” of a window.

    Signals:
        entry_wanted: the place in the help that a person wants to read.
    """

    entry_wanted = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._rests: QWidget | None = None
        self._about: QWidget | None = None
        self._focused: weakref.ref[QWidget] | None = None
        self.entries: list[GlossaryEntry] = []
        self.popover: TermPopover | None = None
        self.button = QToolButton(window)
        self.button.setProperty("term", True)
        self.button.setText("?")
        self.button.setFixedSize(SIZE, SIZE)
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(lambda _checked=False: self.explain())
        self.button.hide()
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._follow_pointer)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It looks only while the window is in use."""
        if event.type() == QEvent.Type.WindowActivate:
            self._timer.start()
        elif event.type() in (QEvent.Type.WindowDeactivate, QEvent.Type.Close):
            self._timer.stop()
            if self.popover is None:
                self.hide_button()
        elif event.type() == QEvent.Type.Resize:
            self.hide_button()
        return super().eventFilter(watched, event)

    # Where the “?” is -------------------------------------------------------------------------

    def _follow_pointer(self) -> None:
        # Asked, not told: the application tells of a focus that is lost in the middle of the
        # collection of a window, and what it tells then may be half gone.
        now = QApplication.focusWidget()
        before = self._focused() if self._focused is not None else None
        if now is not before:
            self._focused = None if now is None else weakref.ref(now)
            self._focus_moved(now)
        position = QCursor.pos()
        under = QApplication.widgetAt(position)
        if under is self.button or under is None or under.window() is not self._window:
            return
        if self.button.isVisible() and self._is_near(position):
            return
        if under is not self._rests:  # on its way somewhere else
            self._rests = under
        elif under is not self._about:
            self.point_at(under, position)

    def _is_near(self, position: QPoint) -> bool:
        """Whether the pointer is on its way from the text to the “?”."""
        near_area = self.button.geometry().adjusted(-10, -6, 10, 6)
        return near_area.contains(self._window.mapFromGlobal(position))

    def point_at(self, widget: QWidget, position: QPoint | None = None) -> None:
        """Show the “?” beside a widget whose words have an entry; hide it beside others."""
        self.entries = terms_in(words_of(widget, position))
        self._about = widget
        if not self.entries:
            self.hide_button()
            return
        question = "What does it mean: " + ", ".join(
            entry.title for entry in self.entries[:MAX_ENTRIES]
        )
        self.button.setAccessibleName(question)
        self.button.setToolTip(question)
        self.button.move(self._button_position(widget, position))
        self.button.show()
        self.button.raise_()

    def hide_button(self) -> None:
        """Take the “?” away."""
        self.button.hide()
        self._about = None

    def _button_position(self, widget: QWidget, position: QPoint | None) -> QPoint:
        """Behind the end of the text's first line, or at the widget's upper right corner."""
        box = widget.rect()
        right, top = box.right() - SIZE + 4, box.top() - SIZE // 2
        if isinstance(widget, QLabel):
            flags = Qt.TextFlag.TextWordWrap if widget.wordWrap() else Qt.TextFlag.TextSingleLine
            text = widget.fontMetrics().boundingRect(
                QRect(0, 0, box.width(), 10_000), int(flags), widget.text()
            )
            line = widget.fontMetrics().height()
            right, top = text.width() + 2, (line - SIZE) // 2
        elif position is not None and isinstance(widget.parent(), QHeaderView):
            right = widget.mapFromGlobal(position).x() + 8
        corner = widget.mapTo(self._window, QPoint(right, top))
        max_corner = QPoint(self._window.width() - SIZE, self._window.height() - SIZE)
        return QPoint(
            max(0, min(corner.x(), max_corner.x())), max(0, min(corner.y(), max_corner.y()))
        )

    def _focus_moved(self, now: QWidget | None) -> None:
        if now is None or now is self.button or self.popover is not None:
            return
        if now.window() is self._window:
            self.point_at(now)

    # What it opens ----------------------------------------------------------------------------

    def explain_focus(self) -> bool:
        """Explain the words of the control at the keyboard; whether there are any."""
        control = self._window.focusWidget()
        if control is None or not terms_in(words_of(control)):
            return False
        self.point_at(control)
        self.explain()
        return True

    def explain(self) -> None:
        """Show the entries beside the “?”."""
        if not self.entries:
            return
        self.popover = TermPopover(self.entries[:MAX_ENTRIES], self._window)
        self.popover.entry_wanted.connect(self.entry_wanted)
        self.popover.closed.connect(self._on_popover_closed)
        self.popover.show_beside(self.button)

    def _on_popover_closed(self) -> None:
        self.popover = None


class TermPopover(QFrame):
    """Some entries of the glossary; Esc or a click elsewhere closes it."""

    entry_wanted = Signal(str)
    closed = Signal()

    def __init__(self, entries: Sequence[GlossaryEntry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("card", "popover")
        self.setAccessibleName("What it means")
        self._window = parent
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(3)
        for entry in entries:
            column.addWidget(wrapping_label(entry.title, "cardtitle"))
            column.addWidget(wrapping_label(entry.plain_words))
            more = LinkButton("Read more", partial(self._read_entry, entry.key))
            more.setAccessibleName(f"Read more about {entry.title}")
            column.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)
        self.setAccessibleDescription(
            " ".join(f"{entry.title}: {entry.plain_words}" for entry in entries)
        )
        self.setFixedWidth(min(appearance.pixels(WIDE), parent.width() - 20))

    def show_beside(self, widget: QWidget) -> None:
        """Below a widget, or above it where there is no room; inside the window."""
        self.ensurePolished()
        high = self._column.totalHeightForWidth(self.width())
        self.setFixedHeight(max(high, self._column.totalMinimumSize().height()))
        window = self._window
        corner = widget.mapTo(window, QPoint(0, widget.height() + 4))
        x = max(6, min(corner.x(), window.width() - self.width() - 6))
        y = corner.y()
        if y + self.height() > window.height() - 6:
            y = max(6, widget.mapTo(window, QPoint(0, -4)).y() - self.height())
        self.move(window.mapToGlobal(QPoint(x, y)))
        self.show()
        self.findChildren(LinkButton)[0].setFocus(Qt.FocusReason.PopupFocusReason)

    def _read_entry(self, key: str) -> None:
        self.close()
        self.entry_wanted.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc, and F1 again, close it."""
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F1):
            self.close()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """However it ends, the “?” may go on."""
        super().hideEvent(event)
        self.closed.emit()


def terms_in(text: str) -> list[GlossaryEntry]:
    """The entries of the terms in a text; imported only when a text has been pointed at."""
    from app.help import glossary  # not needed for the first paint

    return glossary.terms_in(text)


def words_of(widget: QWidget, position: QPoint | None = None) -> str:
    """What a widget says: its text, the header's part under the pointer, or its name."""
    if isinstance(widget, QLabel):
        return widget.text()
    parent = widget.parent()
    if isinstance(parent, QHeaderView) and position is not None:
        section = parent.logicalIndexAt(widget.mapFromGlobal(position))
        header_text = (
            parent.model().headerData(section, parent.orientation()) if section >= 0 else None
        )
        return str(header_text or "")
    if isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget:
        widget = parent
    texts = [widget.text()] if isinstance(widget, QAbstractButton) else []
    texts += [widget.accessibleName(), widget.accessibleDescription()]
    texts.append(str(widget.property(AXES) or ""))
    return " ".join(dict.fromkeys(text for text in texts if text))
