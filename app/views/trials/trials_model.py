"""The model of the trials table, for 10,000 rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from app.look import appearance
from app.text.number_format import format_duration, format_number, format_value, percent
from app.text.setting_text import setting_cells, setting_lines, setting_title
from app.text.strategy_text import proposed_by
from app.text.tuning.trial_text import ended_early
from app.views.plot.data_table import DISPLAY, Index
from app.views.plot.view_state import ViewState
from app.widgets.text_labels import plain_tooltip
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial, tunes_several


class TrialsModel(QAbstractTableModel):
    """Number, score, settings, time and note of trials.

    Where several models are tuned, a setting is two columns: model and values.
    """

    def __init__(self, record: ViewState) -> None:
        super().__init__()
        self.record = record
        self._take_axes()
        self.order = np.empty(0, dtype=int)  # table row -> record row
        self.short_heads: dict[int, str] = {}  # of columns too narrow for their names
        self._trial_count = 0
        self._ensemble = self.run.ensemble
        self._sorted = (0, Qt.SortOrder.DescendingOrder)
        self._filter: tuple[int | None, int] = (None, 0)

    @property
    def run(self) -> RunState:
        """The state of the run that the record shows."""
        return self.record.run

    def restart(self) -> None:
        """Reset columns and rows for a new run."""
        self.beginResetModel()
        self._take_axes()
        self.order, self._trial_count = np.empty(0, dtype=int), 0
        self.endResetModel()

    def _take_axes(self) -> None:
        self.axes, self.several = self.record.axes, tunes_several(self.run.started)
        self.of_setting = len(self.axes) + self.several  # columns of a setting, from the third on

    def refresh(self) -> None:
        """Take in what changed."""
        fresh = len(self.run.trials) - self._trial_count
        self._renew_notes()
        state = (self.record.best_k, self.run.changes)
        if self.record.best_k is not None or state != self._filter:
            self._filter = state
            self._rearrange()
        elif fresh:
            self._add_rows(fresh)

    def _renew_notes(self) -> None:
        if self.run.ensemble is not self._ensemble and len(self.order):
            last = self.columnCount() - 1
            self.dataChanged.emit(self.index(0, last), self.index(len(self.order) - 1, last))
        self._ensemble = self.run.ensemble

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by a column."""
        self._sorted = (column, order)
        self._rearrange()

    def row_of(self, number: int | None) -> int | None:
        """The table row of a trial, if it is shown."""
        row = self.run.row_of.get(-1 if number is None else number)
        if row is None:
            return None
        rows = np.flatnonzero(self.order == row)
        return int(rows[0]) if len(rows) else None

    def trial_at(self, row: int) -> Trial:
        """The trial of a table row."""
        return self.run.trials[int(self.order[row])]

    def _add_rows(self, fresh: int) -> None:
        new = np.arange(self._trial_count, self._trial_count + fresh)
        newest_first = self._sorted == (0, Qt.SortOrder.DescendingOrder)
        ordered = newest_first and bool(np.all(np.diff(self.run.numbers) > 0))
        self._trial_count += fresh
        position = 0 if ordered else len(self.order)
        self.beginInsertRows(QModelIndex(), position, position + fresh - 1)
        self.order = np.concatenate([new[::-1], self.order] if ordered else [self.order, new])
        self.endInsertRows()
        if not ordered:  # sorted otherwise, or trials ended out of order
            self._rearrange()

    def _rearrange(self) -> None:
        rows = self._sorted_rows(np.arange(len(self.run.trials)))
        if self.record.best_k is not None:
            rows = rows[self.record.filtered()[rows]]
        self._trial_count = len(self.run.trials)
        if len(rows) != len(self.order):
            self.beginResetModel()
            self.order = rows
            self.endResetModel()
            return
        self.layoutAboutToBeChanged.emit()
        held = self.persistentIndexList()
        back = {int(row): position for position, row in enumerate(rows)} if held else {}
        rows_now = (back.get(int(self.order[index.row()]), 0) for index in held)
        moved = [self.index(row, old.column()) for row, old in zip(rows_now, held, strict=True)]
        self.order = rows
        self.changePersistentIndexList(held, moved)
        self.layoutChanged.emit()

    def _sorted_rows(self, rows: np.ndarray) -> np.ndarray:
        column, order = self._sorted
        last, run = self.of_setting + 1, self.run
        if column == 0:
            keys = run.numbers.astype(float)
        elif column == 1:
            keys = run.scores
        elif column <= len(self.axes) + 1:
            keys = self.record.positions[:, column - 2]
        elif column <= last:  # values of several models have no order
            keys = np.zeros(len(run.trials))
        elif column == last + 1:
            keys = np.array([trial.took for trial in run.trials])
        else:
            keys = np.array([bool(trial.failure) for trial in run.trials]) + 0.5 * run.is_excluded
        if order == Qt.SortOrder.DescendingOrder:
            keys = -keys
        return rows[np.lexsort((-run.numbers, keys))]  # NaN comes last either way

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """The number of shown trials."""
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number, score, every setting, time, note."""
        return 0 if parent.isValid() else self.of_setting + 4

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        """Names of the columns; titles of hyperparameters as tooltips."""
        # An exception in here would end the program (PySide6 6.11): ask nothing that is not there.
        if orientation != Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and self._is_text(section):
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role == DISPLAY:
            return self.short_heads.get(section, self.column_title(section))
        if role == Qt.ItemDataRole.ToolTipRole and 2 <= section <= len(self.axes) + 1:
            return plain_tooltip(setting_title(self.axes[section - 2]))
        return None

    def _is_text(self, column: int) -> bool:
        return column == self.columnCount() - 1 or (self.several and column in (2, 3))

    def column_title(self, section: int) -> str:
        """The full name of a column."""
        heads = [axis.name if self.several else setting_title(axis) for axis in self.axes]
        heads += ["setting"] if self.several else []
        return ["#", "score", *heads, "time", "note"][section]

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        """Text of a cell; failed and excluded trials are pale."""
        if index.row() >= len(self.order) or self.order[index.row()] >= len(self.run.trials):
            return None
        trial, column = self.trial_at(index.row()), index.column()
        if role == DISPLAY:
            return self._cell_text(trial, column)
        if role == Qt.ItemDataRole.ToolTipRole and self.several and column in (2, 3):
            return plain_tooltip("\n".join(setting_lines(self.run.started, trial.setting)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._cell_text(trial, column))
        if role == Qt.ItemDataRole.TextAlignmentRole and not self._is_text(column):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        is_out = bool(trial.failure) or trial.number in self.run.excluded
        if role == Qt.ItemDataRole.ForegroundRole and is_out:
            return appearance.palette(appearance.current()).placeholderText()
        return None

    def _cell_text(self, trial: Trial, column: int) -> str:
        if self.several and column in (2, 3):
            return setting_cells(self.run.started, trial.setting)[column - 2]
        if column == 0:
            return str(trial.number)
        if column == 1:
            return ("≈ " if trial.behind else "") + format_number(trial.score, 4)
        if column <= len(self.axes) + 1:
            return format_value(trial.setting.get(self.axes[column - 2].name, "–"))
        if column == self.of_setting + 2:
            return format_duration(trial.took)
        return self.note_text(trial)

    def note_text(self, trial: Trial) -> str:
        """Why a trial does not count, or was proposed."""
        if trial.failure:
            return f"failed: {trial.failure}"
        if trial.number in self.run.excluded:
            return "excluded by you"
        if trial.behind:
            return ended_early(trial, self.run.started)
        weight = self.run.weights.get(trial.number)
        if weight == 0:
            return "among the best, without weight"
        if weight is not None:
            return f"in the average, {percent(weight)}"
        reasons = {
            "default": "default setting",
            "past": "from earlier datasets",
            "improve": "promising",
            "explore": "unknown there",
            "start": "to begin with",
            "sample": "likely good",
        }
        return reasons.get(trial.reason) or proposed_by(trial.reason)
