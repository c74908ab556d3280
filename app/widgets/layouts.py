"""Layouts: columns and rows of controls, items in lines, what scrolls, and the tab order of all."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QBoxLayout,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance

# A number is a stretch of its own; beside a control it is the control's.
Content = QWidget | QLayout | int | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]
Margins = tuple[int, int, int, int]  # left, top, right, bottom, in pixels
DIALOG_MARGINS: Margins = (20, 18, 20, 16)
Box = TypeVar("Box", bound=QBoxLayout)
LEFT, TOP = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignTop


def in_column(
    *contents: Content,
    on: QWidget | None = None,
    gap: int | None = None,
    margins: Margins = (0, 0, 0, 0),
) -> QVBoxLayout:
    """Contents below each other, `on` a widget or for another layout; `gap` in pixels."""
    return _fill_layout(QVBoxLayout(), contents, on, gap, margins)


def in_row(
    *contents: Content,
    on: QWidget | None = None,
    gap: int | None = None,
    margins: Margins = (0, 0, 0, 0),
) -> QHBoxLayout:
    """The same beside each other."""
    return _fill_layout(QHBoxLayout(), contents, on, gap, margins)


def _fill_layout(
    layout: Box,
    contents: tuple[Content, ...],
    on: QWidget | None,
    gap: int | None,
    margins: Margins,
) -> Box:
    if on is not None:
        on.setLayout(layout)
    layout.setContentsMargins(*margins)
    # None leaves the gap of the style.
    if gap is not None:
        layout.setSpacing(gap)
    add_to(layout, *contents)
    return layout


def add_to(layout: QBoxLayout, *contents: Content) -> None:
    """Add contents to a column or row, one after the other."""
    for content in contents:
        match content:
            case int():
                layout.addStretch(content)
            case QWidget():
                layout.addWidget(content)
            case QLayout():
                layout.addLayout(content)
            case (QWidget() as widget, Qt.AlignmentFlag() as alignment):
                layout.addWidget(widget, 0, alignment)
            case (QWidget() as widget, int() as stretch):
                layout.addWidget(widget, stretch)
            case (QLayout() as inner, int() as stretch):
                layout.addLayout(inner, stretch)


def in_grid(across: int, down: int, *shares: int, on: QWidget | None = None) -> QGridLayout:
    """A grid with gaps in pixels, on a widget or for another layout; a stretch for each column."""
    grid = QGridLayout()
    if on is not None:
        on.setLayout(grid)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(across)
    grid.setVerticalSpacing(down)
    for column, share in enumerate(shares):
        grid.setColumnStretch(column, share)
    return grid


def in_lines(*widgets: QWidget, gap: int = 8, column_width: int = 0) -> QWidget:
    """Widgets in lines, see `FlowLayout`."""
    holder = QWidget()
    flow = FlowLayout(holder, gap, column_width)
    for widget in widgets:
        flow.addWidget(widget)
    return holder


class TextWidget(QWidget):
    """Needs the height at its width: that of wrapped words at the smallest width is far more."""

    def minimumSizeHint(self) -> QSize:
        size, tall = super().minimumSizeHint(), self.heightForWidth(self.width())
        return QSize(size.width(), min(size.height(), tall)) if tall >= 0 else size


def scrolling(inner: QWidget, area: QScrollArea | None = None) -> QScrollArea:
    """An area, by default a new one, that scrolls up and down, without frame or ground."""
    inner.setObjectName("scrolled")
    area = area or QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inner)
    area.viewport().setAutoFillBackground(False)
    return area


def clear_layout(layout: QLayout) -> None:
    """Delete its widgets."""
    while (layout_item := layout.takeAt(0)) is not None:
        if (widget := layout_item.widget()) is not None:
            # It goes with the next turn of the event loop, and would show until then.
            widget.hide()
            widget.deleteLater()
        elif (inner := layout_item.layout()) is not None:
            clear_layout(inner)


class FlowLayout(QLayout):
    """Items in lines, or with `column_width` in columns of at least so many pixels."""

    def __init__(self, parent: QWidget | None = None, gap: int = 6, column_width: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._column_width = column_width
        self.setContentsMargins(0, 0, 0, 0)

    def set_column_width(self, width: int) -> None:
        if width != self._column_width:
            self._column_width = width
            self.invalidate()

    def addItem(self, entry: QLayoutItem) -> None:
        self._items.append(entry)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange_lines(QRect(0, 0, width, 0), moves_items=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange_lines(rect, moves_items=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for entry in self._items:
            size = size.expandedTo(entry.minimumSize())
        return size

    def _arrange_lines(self, rect: QRect, moves_items: bool) -> int:
        # The item of a hidden widget takes no room.
        shown = [entry for entry in self._items if not entry.isEmpty()]
        bottom = rect.y()
        for line in self._item_lines(shown, rect.width()):
            height = max(_item_height(entry, width) for entry, width in line)
            x = rect.x()
            for entry, width in line:
                if moves_items:
                    entry.setGeometry(QRect(QPoint(x, bottom), QSize(width, height)))
                x += width + self._gap
            bottom += height + self._gap
        return max(0, bottom - rect.y() - self._gap)

    def _item_lines(
        self, items: list[QLayoutItem], room: int
    ) -> list[list[tuple[QLayoutItem, int]]]:
        if self._column_width:
            min_width = appearance.pixels(self._column_width)
            fits = max(1, (room + self._gap) // (min_width + self._gap))
            # Few items share the whole width.
            columns = min(fits, max(1, len(items)))
            width = (room - self._gap * (columns - 1)) // columns
            starts = range(0, len(items), columns)
            return [[(entry, width) for entry in items[i : i + columns]] for i in starts]
        lines: list[list[tuple[QLayoutItem, int]]] = []
        room_left = -1
        for entry in items:
            width = min(entry.sizeHint().width(), room)
            if width > room_left:
                lines.append([])
                room_left = room
            lines[-1].append((entry, width))
            room_left -= width + self._gap
        return lines


def _item_height(entry: QLayoutItem, width: int) -> int:
    return entry.heightForWidth(width) if entry.hasHeightForWidth() else entry.sizeHint().height()


def order_tabs(root: QWidget) -> None:
    """Set the tab order to that of the layouts."""
    for before, after in pairwise(_tab_stops(root)):
        QWidget.setTabOrder(before, after)


def _tab_stops(widget: QWidget | None) -> Iterator[QWidget]:
    if widget is None:
        return
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    match widget:
        case QComboBox() | QAbstractSpinBox():
            # What is inside belongs to Qt, which moves the keyboard there.
            return
        case QScrollArea():
            yield from _tab_stops(widget.widget())
        case QStackedWidget():
            yield from _tab_stops(widget.currentWidget())
        case _ if (layout := widget.layout()) is not None:
            yield from _layout_stops(layout)
        case _:
            for child in widget.children():
                if isinstance(child, QWidget) and not child.isWindow():
                    yield from _tab_stops(child)


def _layout_stops(layout: QLayout) -> Iterator[QWidget]:
    for index in range(layout.count()):
        entry = layout.itemAt(index)
        if entry is None:
            continue
        if (inner_layout := entry.layout()) is not None:
            yield from _layout_stops(inner_layout)
        else:
            yield from _tab_stops(entry.widget())
