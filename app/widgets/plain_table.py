"""A table that is only read: rows in two shades, no grid, one line a row; Tab leaves it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget


class PlainTable(QTableView):
    """Such a table, scrolled by the pixel, without a head for its rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()

    def tooltip_at(self, position: QPointF) -> str:
        """What the cell at a place of the viewport tells the pointer; "" beside all cells."""
        index = self.indexAt(position.toPoint())
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or "") if index.isValid() else ""
