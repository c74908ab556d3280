"""The one read-only table, whose columns fit its width, and rows of cells that are chosen."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.look import appearance
from app.widgets.text_labels import plain_tooltip
from core.wording import MAX_NAME, shortened_text
from resources.theme import TARGET

Index = QModelIndex | QPersistentModelIndex
DISPLAY, ALIGNMENT = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.TextAlignmentRole
LEFT_CELL = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT_CELL = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NARROWEST = 96  # pixels of a column of words at the usual text size
ARROW = 14  # pixels of the mark beside the head of the sorted column
MAX_HEAD = 40  # letters
MEASURED_ROWS = 200  # more take too long


def fitted_widths(wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fill a room: the widest give way first, and the spare goes to all that may."""

    def cut_widths(level: int) -> list[int]:
        return [min(w, max(level, low)) for w, low in zip(wanted, least, strict=True)]

    levels = range(max(wanted, default=0) + 1)
    fitting_count = bisect_right(levels, room, key=lambda level: sum(cut_widths(level)))
    widths = cut_widths(max(fitting_count - 1, 0))
    elastic = [c for c, low in enumerate(least) if low < wanted[c]] or list(range(len(widths)))
    spare = max(0, room - sum(widths))
    for rank, column in enumerate(elastic):
        share, odd = divmod(spare, len(elastic))
        widths[column] += share + (rank < odd)
    return widths


class PlainTable(QTableView):
    """A read-only table; where room is short, words are cut in their middle, then it scrolls."""

    cut_last: ClassVar[Sequence[int]] = ()  # columns that tell rows apart

    def __init__(self) -> None:
        self._fitted_room = 0
        super().__init__()
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        # Tab leads on to the next control; arrow keys move among the cells.
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setCornerWidget(QWidget())
        self.verticalHeader().hide()
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def is_elastic(self, column: int) -> bool:
        index = self.model().index(0, column)
        side = Qt.AlignmentFlag(index.data(ALIGNMENT) or LEFT_CELL)
        return not side & Qt.AlignmentFlag.AlignRight

    def wanted_widths(self) -> list[int]:
        """Widths that cut nothing."""
        head = self.horizontalHeader()
        # Each hint of a sorted table has room for an arrow, which only one column shows.
        arrow = appearance.pixels(ARROW) if head.isSortIndicatorShown() else 0
        sorted_column = head.sortIndicatorSection()
        heads = [
            head.sectionSizeHint(c) - arrow * (c != sorted_column) for c in range(head.count())
        ]
        return [
            0 if self.isColumnHidden(c) else max(wide, self._content_width(c) + 6)
            for c, wide in enumerate(heads)
        ]

    def _content_width(self, column: int) -> int:
        # Qt asks the model eight times for each cell; here once, and in full for the widest alone.
        model = self.model()
        rows = range(min(model.rowCount(), MEASURED_ROWS))
        cells = {str(model.index(row, column).data() or ""): row for row in rows}
        if not cells:
            return 0
        widest = max(cells, key=self.fontMetrics().horizontalAdvance)
        return self.sizeHintForIndex(model.index(cells[widest], column)).width()

    def least_widths(self, wanted: Sequence[int]) -> list[int]:
        """Widths below which the table scrolls sideways."""
        low = appearance.pixels(NARROWEST)
        least = [min(w, low) - 1 if w and self.is_elastic(c) else w for c, w in enumerate(wanted)]
        # What tells rows apart is cut last.
        for column in self.cut_last:
            spare = self.viewport().width() - sum(least)
            # Where the table scrolls anyway, nothing is cut that tells rows apart.
            room = spare if spare >= 0 else self.viewport().width() * 2 // 3 - least[column]
            least[column] += max(0, min(wanted[column] - 1 - least[column], room))
        return least

    def fit_columns(self) -> None:
        wanted = self.wanted_widths()
        widths = fitted_widths(wanted, self.least_widths(wanted), self.viewport().width())
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)

    def fit_height(self, row_count: int) -> None:
        line = max(TARGET, self.fontMetrics().height() + 12)
        self.verticalHeader().setDefaultSectionSize(line)
        head, frame = self.horizontalHeader().sizeHint().height(), 2 * self.frameWidth()
        has_bar = self.horizontalHeader().length() > self.viewport().width()
        bar = self.horizontalScrollBar().sizeHint().height() if has_bar else 0
        self.setFixedHeight(head + row_count * line + frame + bar + 2)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            # Measured once all of the change holds: cells have their padding last.
            self._fitted_room = 0
            self.scheduleDelayedItemsLayout()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        # Fitting comes back here; and the bar of rows takes its room only once it is shown.
        room = self.viewport().width()
        # A hidden table is measured when it is shown, not at every change of style.
        if self.isVisible() and self.model() is not None and self._fitted_room != room:
            self._fitted_room = room
            self.fit_columns()

    def tooltip_at(self, position: QPointF) -> str:
        index = self.indexAt(position.toPoint())
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or "") if index.isValid() else ""


class CellModel(QAbstractTableModel):
    """Cells under heads, some columns numbers; a subclass has the rows and their cells."""

    rows: Sequence[Any] | np.ndarray = ()
    heads: Sequence[str] = ()
    numbers: Collection[int] = ()  # right-aligned columns
    tips: ClassVar[Mapping[str, str]] = {}  # of heads

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.heads):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                head = self.heads[section]
                return head if len(head) <= MAX_HEAD else shortened_text(head, MAX_HEAD)
            case Qt.ItemDataRole.ToolTipRole:
                return self.tips.get(self.heads[section])
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(section)
        return None

    def cell_text(self, row: int, column: int) -> str:
        raise NotImplementedError

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        row, column = index.row(), index.column()
        # An exception in here would end the program (PySide6 6.11): ask nothing that is not there.
        if not 0 <= row < self.rowCount():
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.cell_text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tooltip(self.cell_text(row, column))
            case Qt.ItemDataRole.AccessibleTextRole:
                head = shortened_text(self.heads[column], MAX_NAME)
                return f"{head}: {self.cell_text(row, column) or 'none'}"
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(column)
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT_CELL if column in self.numbers else LEFT_CELL


class RowTable(PlainTable):
    """A table of which whole rows are chosen."""

    chosen = Signal()  # other rows
    delete_pressed = Signal()  # with rows chosen
    enter_pressed = Signal()  # the same

    def __init__(self, model: CellModel, name: str, description: str) -> None:
        super().__init__()
        model.setParent(self)
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_enter = event.key(), event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if key == Qt.Key.Key_Delete and self.chosen_rows():
            self.delete_pressed.emit()
        elif is_enter and self.chosen_rows():
            self.enter_pressed.emit()
        else:
            super().keyPressEvent(event)

    def chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())
