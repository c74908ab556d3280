"""A read-only table."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget


class PlainTable(QTableView):
    """A read-only table without grid and vertical header."""

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
        """The tooltip of the cell at a position, or ""."""
        index = self.indexAt(position.toPoint())
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or "") if index.isValid() else ""
