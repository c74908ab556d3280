"""The table of the history: a row for each dataset, the latest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.score_text import metric_in_short
from app.widgets.plain_table import PlainTable
from app.widgets.text_labels import plain_tooltip

if TYPE_CHECKING:
    from core.tuning.history.store import HistoryEntry

Index = QModelIndex | QPersistentModelIndex
MIN_ROWS, MAX_ROWS = 4, 10  # that are seen without scrolling
MODEL = 1  # the column that shrinks where the table is narrow
NARROWEST = 120  # pixels of MODEL at the usual text size
NUMBERS = (2, 3, 4, 5, 6)  # right-aligned columns
BEST = 6  # the column of the best score


def origin_of(entry: HistoryEntry) -> str:
    """Where a dataset of the history came from."""
    if entry.starter:
        return "with Tunescope"
    return "imported" if entry.imported else "this computer"


def when_of(entry: HistoryEntry) -> str:
    """The day in the person's locale; "–" where it is unknown."""
    moment = QDateTime.fromString(entry.when, Qt.DateFormat.ISODate)
    if not moment.isValid():
        return "–"
    return QLocale().toString(moment.toLocalTime().date(), QLocale.FormatType.ShortFormat)


class HistoryModel(QAbstractTableModel):
    """When, model, rows, columns, classes, trials, best score, where from."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: list[HistoryEntry] = []
        self._titles: dict[str, str] = {}
        self._cell_cache: dict[int, list[str]] = {}  # by row

    def show_entries(self, entries: list[HistoryEntry], titles: dict[str, str]) -> None:
        """Show datasets; `titles` are those of the models."""
        self.beginResetModel()
        self.entries, self._titles = entries, titles
        self._cell_cache = {}
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """The datasets."""
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """The cells of a row."""
        return 0 if parent.isValid() else len(self._column_heads())

    def _column_heads(self) -> list[str]:
        return ["when", "model", "rows", "columns", "classes", "trials", "best", "where from"]

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The heads, aligned as their cells."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self._column_heads()):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return self._column_heads()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's text."""
        if index.row() >= len(self.entries):
            return None
        entry = self.entries[index.row()]
        if index.row() not in self._cell_cache:
            self._cell_cache[index.row()] = self._entry_cells(entry)
        text = self._cell_cache[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if index.column() == BEST and entry.best is not None:
            text = f"{text} ({metric_in_short(entry.metric)})"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self._column_heads()[index.column()]}: {text}"
        return _alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _entry_cells(self, entry: HistoryEntry) -> list[str]:
        number = QLocale().toString
        return [
            when_of(entry),
            self._titles.get(entry.model, entry.model),
            number(entry.rows),
            number(entry.features),
            number(entry.classes) if entry.classes else "–",
            number(entry.trials),
            format_number(entry.best, 4),
            origin_of(entry),
        ]


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_right = column in NUMBERS
    side = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class HistoryTable(PlainTable):
    """The table; several rows can be chosen, and Delete asks to delete them."""

    chosen = Signal()  # other rows
    forget_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widths: dict[tuple[int, str], int] = {}
        self.model_of_entries = HistoryModel(self)
        self.setModel(self.model_of_entries)
        self.setAccessibleName("Datasets of the history")
        self.setAccessibleDescription("Choose rows; the Delete key deletes them from the history.")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setResizeContentsPrecision(200)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setAccessibleName("Columns of the table")
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())
        self.model_of_entries.modelReset.connect(self._widths.clear)
        self.model_of_entries.modelReset.connect(self.fit_columns)

    def show_entries(self, entries: list[HistoryEntry], titles: dict[str, str]) -> None:
        """Show these datasets; nothing is chosen."""
        if entries != self.model_of_entries.entries:
            self.model_of_entries.show_entries(entries, titles)
            self.chosen.emit()

    def chosen_ids(self) -> list[str]:
        """The ids of the chosen datasets, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.model_of_entries.entries[row].id for row in rows]

    def fit_columns(self) -> None:
        """Fit the height to a few rows, and the columns to their contents."""
        line = self.fontMetrics().height() + 12
        self.verticalHeader().setDefaultSectionSize(line)
        rows = min(MAX_ROWS, max(MIN_ROWS, self.model_of_entries.rowCount()))
        head = self.horizontalHeader().sizeHint().height()
        self.setMinimumHeight(head + rows * line + 2 * self.frameWidth() + 4)
        count = self.model_of_entries.columnCount()
        widths = [self._wanted_width(column) for column in range(count)]
        spare = self.viewport().width() - sum(widths)
        widths[MODEL] = max(widths[MODEL] + spare, min(widths[MODEL], appearance.pixels(NARROWEST)))
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)

    def _wanted_width(self, column: int) -> int:
        key = (column, self.font().key())  # the same at every width of the table
        if key not in self._widths:
            head = self.horizontalHeader().sectionSizeHint(column)
            self._widths[key] = max(head, self.sizeHintForColumn(column)) + 6
        return self._widths[key]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete the chosen rows on the Delete key."""
        if event.key() == Qt.Key.Key_Delete and self.chosen_ids():
            self.forget_pressed.emit()
        else:
            super().keyPressEvent(event)
