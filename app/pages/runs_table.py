"""The table of past runs: filtered while typing, sorted by any column."""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QWidget

from app.text.past_runs_text import HEADS, TIPS, cells_of, file_model_time, keys_of, tip_of
from app.widgets.plain_table import DISPLAY, CellModel, Index, RowTable
from app.widgets.text_labels import plain_tooltip
from core.tuning.runs.past_runs import RunSummary

NAME, STRATEGY, DATE, NOTE = 0, 1, 6, 8
MIN_ROWS = 5  # seen without scrolling


class _RunRow(NamedTuple):
    """A run's cells, sort keys, and searched text."""

    cells: tuple[str, ...]
    keys: tuple[Any, ...]
    text: str


def _make_row(run: RunSummary) -> _RunRow:
    cells = cells_of(run)
    text = " ".join([*cells, file_model_time(run), run.note, run.name, run.state]).casefold()
    return _RunRow(cells, keys_of(run, cells), text)


class RunsModel(CellModel):
    """The runs that match a text, sorted; empty cells last."""

    renamed = Signal(str, str)  # the folder of a run, and the typed name
    heads, tips = HEADS, TIPS
    numbers = (3, 4, 5, 7)

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[RunSummary] = []  # all of them
        self.rows: list[int] = []  # indices into `runs`, from top to bottom
        self._run_rows: list[_RunRow] = []
        self._words: tuple[str, ...] = ()
        self._column, self._order = DATE, Qt.SortOrder.DescendingOrder

    def show_runs(self, runs: list[RunSummary]) -> None:
        """Rows of unchanged runs are reused."""
        pairs = zip(self.runs, self._run_rows, strict=True)
        cached_by_path = {run.path: (run, row) for run, row in pairs}
        self.beginResetModel()
        self._run_rows = [
            cached_by_path[run.path][1]
            if cached_by_path.get(run.path, ("",))[0] == run
            else _make_row(run)
            for run in runs
        ]
        self.runs = list(runs)
        self._arrange_rows()
        self.endResetModel()

    def filter_rows(self, text: str) -> None:
        self.beginResetModel()
        self._words = tuple(text.casefold().split())
        self._arrange_rows()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.beginResetModel()
        self._column, self._order = column, order
        self._arrange_rows()
        self.endResetModel()

    def _arrange_rows(self) -> None:
        column, down = self._column, self._order == Qt.SortOrder.DescendingOrder
        matching_rows = [
            index
            for index, row in enumerate(self._run_rows)
            if all(word in row.text for word in self._words)
        ]
        keys = {index: self._run_rows[index].keys for index in matching_rows}
        filled_rows = [index for index in matching_rows if keys[index][column] is not None]
        # The newest first among equals, and runs without a value last in either order.
        filled_rows.sort(key=lambda index: (keys[index][column], keys[index][DATE]), reverse=down)
        self.rows = filled_rows + [index for index in matching_rows if keys[index][column] is None]

    def run_at(self, row: int) -> RunSummary:
        return self.runs[self.rows[row]]

    def cell_text(self, row: int, column: int) -> str:
        return self._run_rows[self.rows[row]].cells[column]

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NAME else flags

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        if index.row() < len(self.rows) and role == Qt.ItemDataRole.EditRole:
            return self.run_at(index.row()).title
        if index.row() < len(self.rows) and role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(tip_of(self.run_at(index.row()), index.column()))
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() != NAME:
            return False
        self.renamed.emit(self.run_at(index.row()).path, str(value))
        return True


class RunsTable(RowTable):
    """Enter opens a run, F2 renames it, Delete deletes the chosen ones."""

    open_pressed = Signal(object)  # the run's folder
    note_pressed = Signal()  # F2 on a note
    cut_last = (NAME,)

    def __init__(self) -> None:
        self.runs = RunsModel()
        self.max_rows = MIN_ROWS
        self._pending_runs: list[RunSummary] | None = None  # came while a name was typed
        description = (
            "Enter opens a run, F2 renames it, Delete puts what is chosen into the bin. Choose "
            "several rows to see them side by side."
        )
        super().__init__(self.runs, "Past runs", description)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        head = self.horizontalHeader()
        head.setAccessibleName("Columns of the table; a click sorts by one")
        head.setSortIndicatorShown(True)
        head.setSectionsClickable(True)
        head.setSortIndicator(DATE, Qt.SortOrder.DescendingOrder)
        head.sortIndicatorChanged.connect(self._sort_rows)
        self.doubleClicked.connect(self._open_run)

    # What is shown ----------------------------------------------------------------------------

    def show_runs(self, runs: list[RunSummary]) -> None:
        """The selection is kept."""
        if runs == self.runs.runs:
            return
        if self.state() == QAbstractItemView.State.EditingState:
            # A name is being typed: another model of the rows would close its editor.
            self._pending_runs = runs
            return
        self._pending_runs = None
        self._keep_selection(lambda: self.runs.show_runs(runs))
        self.fit_columns()

    def _keep_selection(self, change: Callable[[], None]) -> None:
        chosen, current = set(self.chosen_paths()), self.current_path()
        index, scroll_value = self.currentIndex(), self.verticalScrollBar().value()
        row, column = index.row(), max(index.column(), NAME)
        change()
        paths = [self.runs.runs[run_index].path for run_index in self.runs.rows]
        # What was chosen is gone, such as deleted: the next one is chosen, so that Delete goes on.
        if paths and chosen and not chosen & set(paths):
            chosen = {paths[max(0, min(row, len(paths) - 1))]}
        self.choose_runs(chosen, current, row, column)
        self.verticalScrollBar().setValue(scroll_value)
        self.chosen.emit()

    def choose_runs(
        self, chosen: set[str], current: str = "", row: int = 0, column: int = NAME
    ) -> None:
        """Choose these folders' rows; the current row is that of `current`, else `row`."""
        paths = [self.runs.runs[run_index].path for run_index in self.runs.rows]
        selection = QItemSelection()
        last = len(HEADS) - 1
        for index, path in enumerate(paths):
            if path in chosen:
                selection.select(self.runs.index(index, NAME), self.runs.index(index, last))
        row = paths.index(current) if current in paths else min(row, len(paths) - 1)
        flags = QItemSelectionModel.SelectionFlag
        if row >= 0:
            self.selectionModel().setCurrentIndex(self.runs.index(row, column), flags.NoUpdate)
        self.selectionModel().select(selection, flags.ClearAndSelect)

    def show_matching(self, text: str) -> int:
        self._keep_selection(lambda: self.runs.filter_rows(text))
        return self.runs.rowCount()

    def _sort_rows(self, column: int, order: Qt.SortOrder) -> None:
        self._keep_selection(lambda: self.runs.sort(column, order))
        self.fit_columns()

    def chosen_runs(self) -> list[RunSummary]:
        return list(map(self.runs.run_at, self.chosen_rows()))

    def chosen_paths(self) -> list[str]:
        return [run.path for run in self.chosen_runs()]

    def current_path(self) -> str:
        index = self.currentIndex()
        return self.runs.run_at(index.row()).path if index.isValid() else ""

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        QTimer.singleShot(0, self, self._catch_up)

    def _catch_up(self) -> None:
        if self._pending_runs is not None:
            self.show_runs(self._pending_runs)

    # Keys -------------------------------------------------------------------------------------

    def _open_run(self, index: QModelIndex) -> None:
        self.open_pressed.emit(self.runs.run_at(index.row()).path)

    def rename_current(self) -> None:
        index = self.currentIndex()
        if index.isValid():
            name = self.runs.index(index.row(), NAME)
            self.setCurrentIndex(name)
            self.edit(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        match event.key():
            case Qt.Key.Key_F2 if index.isValid():
                if index.column() == NOTE:
                    self.note_pressed.emit()
                else:
                    self.rename_current()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if index.isValid():
                if self.state() != QAbstractItemView.State.EditingState:
                    self._open_run(index)
            case _:
                super().keyPressEvent(event)

    # Sizes ------------------------------------------------------------------------------------

    def fit_columns(self) -> None:
        strategies = [self.runs.cell_text(row, STRATEGY) for row in range(self.runs.rowCount())]
        self.setColumnHidden(STRATEGY, not any(strategies))
        super().fit_columns()
        self.fit_height(min(self.max_rows, max(MIN_ROWS, len(self.runs.runs))))
