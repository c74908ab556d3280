"""A layout of items in lines, like text."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from app.look import appearance


class FlowLayout(QLayout):
    """Items in lines, or with `column_width` in columns of at least so many pixels."""

    def __init__(self, parent: QWidget | None = None, gap: int = 6, column_width: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._column_width = column_width
        self.setContentsMargins(0, 0, 0, 0)

    def set_column_width(self, width: int) -> None:
        """Change the smallest width of a column, in pixels."""
        if width != self._column_width:
            self._column_width = width
            self.invalidate()

    def addItem(self, entry: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(entry)
        self.invalidate()

    def count(self) -> int:
        """The number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The item at an index, None beyond the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item, None beyond the end."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """None."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Always true."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines at a width."""
        return self._arrange_lines(QRect(0, 0, width, 0), moves_items=False)

    def setGeometry(self, rect: QRect) -> None:
        """Place every item."""
        super().setGeometry(rect)
        self._arrange_lines(rect, moves_items=True)

    def sizeHint(self) -> QSize:
        """The minimum size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """The size of the largest item."""
        size = QSize()
        for entry in self._items:
            size = size.expandedTo(entry.minimumSize())
        return size

    def _arrange_lines(self, rect: QRect, moves_items: bool) -> int:
        shown = [entry for entry in self._items if not entry.isEmpty()]
        bottom = rect.y()
        for line in self._item_lines(shown, rect.width()):
            height = max(self._item_height(entry, width) for entry, width in line)
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

    @staticmethod
    def _item_height(entry: QLayoutItem, width: int) -> int:
        if entry.hasHeightForWidth():
            return entry.heightForWidth(width)
        return entry.sizeHint().height()
