"""Explanations of terms: a dotted line under a term of the glossary, by pointer, and F1."""

import weakref
from collections.abc import Sequence
from functools import partial
from typing import cast

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QHideEvent, QKeyEvent, QTextLayout, QTextOption
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

from app.help.glossary import GlossaryEntry, spans_in, terms_in
from app.look import appearance
from app.widgets.buttons import LinkButton
from app.widgets.layouts import in_column
from app.widgets.text_labels import wrapping_label

LOOK = 250  # milliseconds between two checks of the pointer
LINE = 4  # pixels of the dotted line under what is no label
MAX_ENTRIES = 4  # entries shown at once
WIDE = 340  # pixels of the popover
AXES = "axes"  # the property with the titles of the axes of a plot


class TermHelp(QObject):
    """The dotted line under a pointed or focused term; it opens the entry."""

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

    # Position of the line ---------------------------------------------------------------------

    def _follow_pointer(self) -> None:
        # Polled: the signal of a lost focus comes while a window is being collected, with a widget
        # that may be half deleted.
        now = QApplication.focusWidget()
        before = self._focused() if self._focused is not None else None
        if now is not before:
            self._focused = None if now is None else weakref.ref(now)
            is_here = now is not None and now is not self.button and now.window() is self._window
            if now is not None and is_here and self.popover is None:
                self.point_at(now)
        position = QCursor.pos()
        under = QApplication.widgetAt(position)
        if under is self.button or under is None or under.window() is not self._window:
            return
        near_area = self.button.geometry().adjusted(-10, -6, 10, 6)
        if self.button.isVisible() and near_area.contains(self._window.mapFromGlobal(position)):
            return
        # The pointer moves: the line comes where it rests until the next look.
        if under is not self._rests:
            self._rests = under
        elif under is not self._about:
            self.point_at(under, position)

    def point_at(self, widget: QWidget, position: QPoint | None = None) -> None:
        self.entries = terms_in(words_of(widget, position))
        self._about = widget
        if not self.entries:
            self.hide_button()
            return
        titles = ", ".join(entry.title for entry in self.entries[:MAX_ENTRIES])
        question = f"What does it mean: {titles}"
        self.button.setAccessibleName(question)
        self.button.setToolTip(question)
        # A button stays a button down to its edge: F1 explains it.
        transparent = Qt.WidgetAttribute.WA_TransparentForMouseEvents
        self.button.setAttribute(transparent, isinstance(widget, QAbstractButton))
        box = self._term_box(widget, position)
        if box.isEmpty():  # a head without columns
            self.hide_button()
            return
        self.button.setGeometry(box)
        self.button.show()
        self.button.raise_()

    def hide_button(self) -> None:
        self.button.hide()
        self._about = None

    def _term_box(self, widget: QWidget, position: QPoint | None) -> QRect:
        box = widget.rect()
        if isinstance(widget, QLabel):
            point = None if position is None else widget.mapFromGlobal(position)
            boxes = _word_boxes(widget)
            # Of several terms the one that is pointed at.
            hits = [hit for hit in boxes if point is not None and hit.contains(point)]
            box = next(iter([*hits, *boxes]), box)
        else:
            # The rest of a button or plot stays its own.
            box.setTop(box.bottom() - LINE)
            header = widget.parent()
            if position is not None and isinstance(header, QHeaderView):
                section = header.logicalIndexAt(widget.mapFromGlobal(position))
                box.setLeft(header.sectionViewportPosition(section))
                box.setWidth(header.sectionSize(section))
        corner = widget.mapTo(self._window, box.topLeft())
        return QRect(corner, box.size()).intersected(self._window.rect())

    # Entries ----------------------------------------------------------------------------------

    def explain_focus(self) -> bool:
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
        self.setAccessibleDescription(" ".join(f"{e.title}: {e.plain_words}" for e in entries))
        self.setFixedWidth(min(appearance.pixels(WIDE), parent.width() - 20))

    def show_beside(self, widget: QWidget) -> None:
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


def _word_boxes(label: QLabel) -> list[QRect]:
    layout, area = QTextLayout(label.text(), label.font()), label.contentsRect()
    option = QTextOption(label.alignment())
    wraps = QTextOption.WrapMode.WordWrap if label.wordWrap() else QTextOption.WrapMode.NoWrap
    option.setWrapMode(wraps)
    layout.setTextOption(option)
    layout.beginLayout()
    lines, bottom = [], 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(area.width())
        line.setPosition(QPointF(0, bottom))
        bottom += line.height()
        lines.append(line)
    layout.endLayout()
    # Labels stand in the middle of their height, as Qt's do.
    is_middle = bool(label.alignment() & Qt.AlignmentFlag.AlignVCenter)
    top = area.top() + (area.height() - round(bottom)) // 2 * is_middle
    boxes = []
    for start, end in spans_in(label.text()):
        for line in lines:
            if line.textStart() <= start < line.textStart() + line.textLength():
                x, right = (cast("tuple[float, int]", line.cursorToX(i))[0] for i in (start, end))
                y = top + line.y()
                size = int(right - x) + 1, int(line.height())
                boxes.append(QRect(area.left() + int(x), int(y), *size))
    return boxes


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
