"""The data table of a plot."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QHeaderView, QWidget

from app.text.number_format import format_value
from app.widgets.plain_table import PlainTable
from core.export.spreadsheet_cells import escape_formula
from resources.theme import TARGET

DISPLAY = Qt.ItemDataRole.DisplayRole
Index = QModelIndex | QPersistentModelIndex
Table = tuple[list[str], list[list[Any]]]


class DataTableModel(QAbstractTableModel):
    """Rows of plain values, formatted for the locale."""

    def __init__(self) -> None:
        super().__init__()
        self._headers: list[str] = []
        self._rows: list[list[Any]] = []

    def set_table(self, headers: list[str], rows: list[list[Any]]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self._headers, self._rows = headers, rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """The number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """The number of columns."""
        return 0 if parent.isValid() else len(self._headers)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        """Text; numbers are right-aligned."""
        value = self._rows[index.row()][index.column()]
        if role == DISPLAY:
            return "" if value is None else format_value(value, 4)
        if role == Qt.ItemDataRole.TextAlignmentRole and isinstance(value, (int, float)):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        """Column names."""
        if role == DISPLAY and orientation == Qt.Orientation.Horizontal:
            return self._headers[section]
        return None


class DataTable(PlainTable):
    """The table that can replace a plot."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.verticalHeader().setDefaultSectionSize(TARGET)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setResizeContentsPrecision(200)
        header.setStretchLastSection(True)
        self.setCornerWidget(QWidget())
        self._model = DataTableModel()
        self.setModel(self._model)
        keys = QShortcut(QKeySequence.StandardKey.Copy, self)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.copy_selected)

    def set_table(self, table: Table) -> None:
        """Replace the rows and fit the columns."""
        self._model.set_table(*table)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Fit columns to contents and bold header."""
        self.resizeColumnsToContents()
        for column in range(self.model().columnCount() - 1):
            self.setColumnWidth(column, self.columnWidth(column) + 16)

    def copy_selected(self) -> None:
        """Copy the selected cells."""
        cells = self.selectedIndexes()
        if not cells:
            return
        rows: dict[int, list[str]] = {}
        for cell in sorted(cells, key=lambda c: (c.row(), c.column())):
            rows.setdefault(cell.row(), []).append(str(cell.data() or ""))
        QGuiApplication.clipboard().setText(_delimited(rows.values(), "\t").removesuffix("\n"))


def as_text(table: Table, delimiter: str) -> str:
    """Delimited text; numbers in full with a point, missing ones empty."""
    return _delimited([table[0], *table[1]], delimiter)


def _delimited(rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows(_plain_row(row) for row in rows)
    return out.getvalue()


def _plain_row(row: Sequence[Any]) -> list[Any]:
    empty = (v is None or (isinstance(v, float) and math.isnan(v)) for v in row)
    return ["" if none else escape_formula(value) for none, value in zip(empty, row, strict=True)]
