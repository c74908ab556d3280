"""Read-only tables: of any content, and of rows of cells that are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    Qt,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

Index = QModelIndex | QPersistentModelIndex
DISPLAY = Qt.ItemDataRole.DisplayRole


class PlainTable(QTableView):
    """A read-only table without grid and vertical header."""

    def __init__(self) -> None:
        super().__init__()
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        # Tab leads on to the next control; arrow keys move among the cells.
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()

    def tooltip_at(self, position: QPointF) -> str:
        """The tooltip of the cell at a position, or ""."""
        index = self.indexAt(position.toPoint())
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or "") if index.isValid() else ""


class CellModel(QAbstractTableModel):
    """Cells under heads, of which some columns are numbers; a subclass has the rows."""

    heads: ClassVar[Sequence[str]] = ()
    numbers: ClassVar[Sequence[int]] = ()  # right-aligned columns
    tips: ClassVar[Mapping[str, str]] = {}  # of heads

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.heads):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.heads[section]
            case Qt.ItemDataRole.ToolTipRole:
                return self.tips.get(self.heads[section])
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(section)
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        is_right = column in self.numbers
        side = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class RowTable(PlainTable):
    """A table of which whole rows are chosen; its columns fit its width."""

    chosen = Signal()  # other rows
    delete_pressed = Signal()  # with rows chosen

    def __init__(self, model: CellModel, name: str, description: str, measured_rows: int) -> None:
        super().__init__()
        model.setParent(self)
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setResizeContentsPrecision(measured_rows)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())

    def chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def fit_columns(self) -> None:
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Fitting columns sets heights, which comes back here.
        if event.size().width() != event.oldSize().width():
            self.fit_columns()
