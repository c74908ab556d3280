"""A layout that sets its items side by side and goes on in the next line, like words."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from app.look import appearance


class FlowLayout(QLayout):
    """Items in lines; with `column_width` all items share the width of a line evenly.

    Args:
        gap: pixels between items and between lines.
        column_width: the smallest width of a column in pixels at the usual text size; 0 for
            items at their own width.
    """

    def __init__(self, parent: QWidget | None = None, gap: int = 6, column_width: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._column_width = column_width
        self.setContentsMargins(0, 0, 0, 0)

    def set_column_width(self, width: int) -> None:
        """Another smallest width of a column, in pixels at the usual text size."""
        if width != self._column_width:
            self._column_width = width
            self.invalidate()

    def addItem(self, layout_item: QLayoutItem) -> None:
        """Put an item at the end."""
        self._items.append(layout_item)
        self.invalidate()

    def count(self) -> int:
        """How many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The item at an index, None beyond the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take the item at an index out, None beyond the end."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It wants no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height that all lines need at a width."""
        return self._arrange_lines(QRect(0, 0, width, 0), moves_items=False)

    def setGeometry(self, rect: QRect) -> None:
        """Put every item into its place."""
        super().setGeometry(rect)
        self._arrange_lines(rect, moves_items=True)

    def sizeHint(self) -> QSize:
        """As small as it may be."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The largest of the items."""
        size = QSize()
        for layout_item in self._items:
            size = size.expandedTo(layout_item.minimumSize())
        return size

    def _arrange_lines(self, rect: QRect, moves_items: bool) -> int:
        shown = [layout_item for layout_item in self._items if not layout_item.isEmpty()]
        bottom = rect.y()
        for line in self._item_lines(shown, rect.width()):
            height = max(self._item_height(layout_item, width) for layout_item, width in line)
            x = rect.x()
            for layout_item, width in line:
                if moves_items:
                    layout_item.setGeometry(QRect(QPoint(x, bottom), QSize(width, height)))
                x += width + self._gap
            bottom += height + self._gap
        return max(0, bottom - rect.y() - self._gap)

    def _item_lines(
        self, items: list[QLayoutItem], room: int
    ) -> list[list[tuple[QLayoutItem, int]]]:
        if self._column_width:
            min_width = appearance.pixels(self._column_width)
            fits = max(1, (room + self._gap) // (min_width + self._gap))
            columns = min(fits, max(1, len(items)))
            width = (room - self._gap * (columns - 1)) // columns
            return [
                [(layout_item, width) for layout_item in items[start : start + columns]]
                for start in range(0, len(items), columns)
            ]
        lines: list[list[tuple[QLayoutItem, int]]] = []
        room_left = -1
        for layout_item in items:
            width = min(layout_item.sizeHint().width(), room)
            if width > room_left:
                lines.append([])
                room_left = room
            lines[-1].append((layout_item, width))
            room_left -= width + self._gap
        return lines

    @staticmethod
    def _item_height(layout_item: QLayoutItem, width: int) -> int:
        if layout_item.hasHeightForWidth():
            return layout_item.heightForWidth(width)
        return layout_item.sizeHint().height()
