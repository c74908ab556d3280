"""Explanations of terms: a “?” beside a text with a term of the glossary, and F1."""

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
    QWidget,
)

from app.look import appearance
from app.widgets.buttons import LinkButton
from app.widgets.layouts import in_column
from app.widgets.text_labels import wrapping_label

if TYPE_CHECKING:
    from app.help.glossary import GlossaryEntry

LOOK = 250  # milliseconds between two checks of the pointer
SIZE = 24  # pixels of the “?”
MAX_ENTRIES = 4  # entries shown at once
WIDE = 340  # pixels of the popover
AXES = "axes"  # the property with the titles of the axes of a plot


class TermHelp(QObject):
    """The “?” of a window."""

    entry_wanted = Signal(str)  # an anchor in the help

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
        if event.type() == QEvent.Type.WindowActivate:
            self._timer.start()
        elif event.type() in (QEvent.Type.WindowDeactivate, QEvent.Type.Close):
            self._timer.stop()
            # A popover takes the activity of its window, which must not hide what it belongs to.
            if self.popover is None:
                self.hide_button()
        elif event.type() == QEvent.Type.Resize:
            self.hide_button()
        return super().eventFilter(watched, event)

    # Position of the “?” ----------------------------------------------------------------------

    def _follow_pointer(self) -> None:
        # Polled: the signal of a lost focus comes while a window is being collected, with a widget
        # that may be half deleted.
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
        # The pointer moves: the “?” comes where it rests until the next look.
        if under is not self._rests:
            self._rests = under
        elif under is not self._about:
            self.point_at(under, position)

    def _is_near(self, position: QPoint) -> bool:
        near_area = self.button.geometry().adjusted(-10, -6, 10, 6)
        return near_area.contains(self._window.mapFromGlobal(position))

    def point_at(self, widget: QWidget, position: QPoint | None = None) -> None:
        """Show the “?” beside a widget with a term; otherwise hide it."""
        self.entries = terms_in(words_of(widget, position))
        self._about = widget
        if not self.entries:
            self.hide_button()
            return
        titles = ", ".join(entry.title for entry in self.entries[:MAX_ENTRIES])
        question = f"What does it mean: {titles}"
        self.button.setAccessibleName(question)
        self.button.setToolTip(question)
        self.button.move(self._button_position(widget, position))
        self.button.show()
        self.button.raise_()

    def hide_button(self) -> None:
        self.button.hide()
        self._about = None

    def _button_position(self, widget: QWidget, position: QPoint | None) -> QPoint:
        box = widget.rect()
        right, top = box.right() - SIZE + 4, box.top() - SIZE // 2
        if isinstance(widget, QLabel):
            flags = Qt.TextFlag.TextWordWrap if widget.wordWrap() else Qt.TextFlag.TextSingleLine
            metrics, room = widget.fontMetrics(), QRect(0, 0, box.width(), 10_000)
            text, line = metrics.boundingRect(room, int(flags), widget.text()), metrics.height()
            right, top = text.width() + 2, (line - SIZE) // 2
        elif position is not None and isinstance(widget.parent(), QHeaderView):
            right = widget.mapFromGlobal(position).x() + 8
        corner = widget.mapTo(self._window, QPoint(right, top))
        max_x, max_y = self._window.width() - SIZE, self._window.height() - SIZE
        return QPoint(max(0, min(corner.x(), max_x)), max(0, min(corner.y(), max_y)))

    def _focus_moved(self, now: QWidget | None) -> None:
        if now is None or now is self.button or self.popover is not None:
            return
        if now.window() is self._window:
            self.point_at(now)

    # Entries ----------------------------------------------------------------------------------

    def explain_focus(self) -> bool:
        """Explain the focused control; False without terms."""
        control = self._window.focusWidget()
        if control is None or not terms_in(words_of(control)):
            return False
        self.point_at(control)
        self.explain()
        return True

    def explain(self) -> None:
        if not self.entries:
            return
        self.popover = TermPopover(self.entries[:MAX_ENTRIES], self._window)
        self.popover.entry_wanted.connect(self.entry_wanted)
        self.popover.closed.connect(self._on_popover_closed)
        self.popover.show_beside(self.button)

    def _on_popover_closed(self) -> None:
        self.popover = None


class TermPopover(QFrame):
    """Entries of the glossary in a popup."""

    entry_wanted = Signal(str)
    closed = Signal()

    def __init__(self, entries: Sequence[GlossaryEntry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("card", "popover")
        self.setAccessibleName("What it means")
        self._window = parent
        column = self._column = in_column(on=self, gap=3, margins=(14, 10, 14, 10))
        for entry in entries:
            column.addWidget(wrapping_label(entry.title, "cardtitle"))
            column.addWidget(wrapping_label(entry.plain_words))
            more = LinkButton("Read more", partial(self._read_entry, entry.key))
            more.setAccessibleName(f"Read more about {entry.title}")
            column.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)
        texts = (f"{entry.title}: {entry.plain_words}" for entry in entries)
        self.setAccessibleDescription(" ".join(texts))
        self.setFixedWidth(min(appearance.pixels(WIDE), parent.width() - 20))

    def show_beside(self, widget: QWidget) -> None:
        """Show it below or above a widget, inside the window."""
        self.ensurePolished()
        # A popup that is not shown yet has no height that fits wrapped text.
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
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F1):
            self.close()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()


def terms_in(text: str) -> list[GlossaryEntry]:
    """The entries of the terms in a text."""
    # Late: not needed for the first paint.
    from app.help import glossary

    return glossary.terms_in(text)


def words_of(widget: QWidget, position: QPoint | None = None) -> str:
    """The text of a widget or header section."""
    if isinstance(widget, QLabel):
        return widget.text()
    parent = widget.parent()
    if isinstance(parent, QHeaderView) and position is not None:
        section = parent.logicalIndexAt(widget.mapFromGlobal(position))
        if section < 0:
            return ""
        return str(parent.model().headerData(section, parent.orientation()) or "")
    if isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget:
        widget = parent
    texts = [widget.text()] if isinstance(widget, QAbstractButton) else []
    texts += [widget.accessibleName(), widget.accessibleDescription()]
    texts.append(str(widget.property(AXES) or ""))
    return " ".join(dict.fromkeys(text for text in texts if text))
