"""The preview of the data: first rows, and under each head the column's role or kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from app.look import appearance
from app.widgets.labels import tip
from app.widgets.plain_table import PlainTable

Index = QModelIndex | QPersistentModelIndex
LEAST_ROWS = 9
MOST_WIDTH = 320  # pixels a column takes at most before its cells end in …


class PreviewModel(QAbstractTableModel):
    """Row 0 says what each column is; the first rows of the file follow. The target comes first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: list[str] = []
        self._words: list[str] = []
        self._roles: list[str] = []
        self._rows: list[list[str]] = []

    def show_summary(self, summary: Mapping[str, Any], words: Mapping[str, str]) -> None:
        """Show the preview of a summary; `words` says what each column is."""
        described = {column["name"]: column for column in summary["columns"]}
        names: list[str] = list(summary["preview"]["columns"])
        seen = set(names)
        # Of very many columns, those beyond the preview have no cells here, but their heads do all.
        names += [name for name in described if name not in seen]
        roles = [described.get(name, {}).get("role", "feature") for name in names]
        order = sorted(range(len(names)), key=lambda at: roles[at] != "target")
        self.beginResetModel()
        self.names = [names[at] for at in order]
        self._roles = [roles[at] for at in order]
        self._words = [words.get(name, "") for name in self.names]
        gap = [""] * (len(names) - len(seen))
        rows = ([*map(str, row), *gap] for row in summary["preview"]["rows"])
        self._rows = [[row[at] for at in order] for row in rows]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """The row of kinds and the rows of the preview."""
        return 0 if parent.isValid() or not self.names else len(self._rows) + 1

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """All columns of the preview."""
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' names."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.names[section])
        if role == Qt.ItemDataRole.DisplayRole:
            return self.names[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's text, and the look of the row of kinds."""
        row, column = index.row(), index.column()
        text = self._words[column] if row == 0 else self._rows[row - 1][column]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.names[column]}: {text}"
        if role == Qt.ItemDataRole.FontRole and row == 0:
            font = QFont()
            font.setItalic(True)
            font.setBold(self._roles[column] == "target")
            return font
        if role == Qt.ItemDataRole.ForegroundRole:
            theme = appearance.current()
            if self._roles[column] == "target" and row == 0:
                return QColor(theme.accent)
            left_out = self._roles[column] == "ignore"
            return QColor(theme.muted) if row == 0 or left_out else QColor(theme.ink)
        return None


class PreviewTable(PlainTable):
    """The table; Enter, or a click on a head, asks for the menu of a column.

    Attributes:
        least_rows: how many rows have room in any case.

    Signals:
        column_pressed: (column name, place on the screen for the menu).
    """

    column_pressed = Signal(str, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.least_rows = LEAST_ROWS
        self.preview = PreviewModel(self)
        self.setModel(self.preview)
        self.setAccessibleName("First rows of the table")
        self.setAccessibleDescription("The first row says what each column is. Enter changes it.")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectColumns)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        head = self.horizontalHeader()
        head.setSectionsClickable(True)
        head.setHighlightSections(False)
        head.setTextElideMode(Qt.TextElideMode.ElideRight)
        head.setResizeContentsPrecision(20)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setAccessibleName("Names of the columns")
        head.sectionClicked.connect(self._head_clicked)
        self.clicked.connect(self._cell_clicked)
        self.preview.modelReset.connect(self.fit)

    def fit(self) -> None:
        """Columns as wide as their content, wider where there is room; rows to the text's size."""
        line = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(line + 12)
        rows = min(self.preview.rowCount(), 51)
        head = self.horizontalHeader().sizeHint().height()
        frame = 2 * self.frameWidth() + self.horizontalScrollBar().sizeHint().height()
        self.setMinimumHeight(head + min(rows, self.least_rows) * (line + 12) + frame)
        self.setMaximumHeight(head + rows * (line + 12) + frame)
        whole = [self._wanted(column) for column in range(self.preview.columnCount())]
        widths = [min(width, appearance.pixels(MOST_WIDTH)) for width in whole]
        spare = self.viewport().width() - sum(widths)
        for column, width in enumerate(whole):  # first to cells that would end in …
            more = max(0, min(width - widths[column], spare))
            widths[column] += more
            spare -= more
        share = max(0, spare // len(widths)) if widths else 0
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width + share)
        if share:
            last = len(widths) - 1
            self.setColumnWidth(last, widths[last] + share + spare - share * len(widths))

    def _wanted(self, column: int) -> int:
        head = self.horizontalHeader().sectionSizeHint(column)
        return max(head, self.sizeHintForColumn(column)) + 6

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room there is."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter, space or the menu key ask for the current column's menu."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Menu)
        if event.key() in keys and self.currentIndex().isValid():
            self._ask(self.currentIndex().column())
        else:
            super().keyPressEvent(event)

    def _head_clicked(self, column: int) -> None:
        self.setCurrentIndex(self.preview.index(0, column))
        self._ask(column)

    def _cell_clicked(self, index: QModelIndex) -> None:
        if index.row() == 0:
            self._ask(index.column())

    def _ask(self, column: int) -> None:
        x = self.columnViewportPosition(column)
        place = self.viewport().mapToGlobal(QPoint(max(0, x), 0))
        self.column_pressed.emit(self.preview.names[column], place)
