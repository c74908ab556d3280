"""The table of all trials, which sorts, filters and excludes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView, QWidget

from app.look import appearance
from app.text.narration import ended_early
from app.text.plan_text import proposed_by, setting_cells, setting_lines, setting_title
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.widgets.buttons import LinkButton
from app.widgets.layouts import LEFT, in_column
from app.widgets.plain_table import DISPLAY, CellModel, Index, PlainTable
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import plain_tooltip, show_text, wrapping_label
from core.estimators.model_settings import title_of
from core.figures.figure import Table
from core.tuning import events
from core.tuning.runs.model_runs import models_of
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial, tunes_several
from core.tuning.scores.score import score_text
from core.wording import duration_text, format_number, format_value, percent
from resources.theme import TARGET


class TrialsModel(CellModel):
    """A row a trial; a setting of several models is two columns, model and values."""

    def __init__(self, record: ViewState) -> None:
        super().__init__()
        self.record = record
        self._take_axes()
        self.rows: np.ndarray = np.empty(0, dtype=int)  # of the record
        self._trial_count = 0
        self._ensemble = self.run.ensemble
        self._sorted = (0, Qt.SortOrder.DescendingOrder)
        self._filter: tuple[int | None, int] = (None, 0)

    @property
    def run(self) -> RunState:
        return self.record.run

    def restart(self) -> None:
        self.beginResetModel()
        self._take_axes()
        self.rows, self._trial_count = np.empty(0, dtype=int), 0
        self.endResetModel()

    def _take_axes(self) -> None:
        self.axes, self.several = self.record.axes, tunes_several(self.run.started)
        names = [axis.name if self.several else setting_title(axis) for axis in self.axes]
        names += ["setting"] if self.several else []
        self.heads = ["#", "score", *names, "time", "note"]
        self.of_setting = len(names)  # columns of a setting, from the third on
        numbers = range(len(self.heads) - 1)
        self.numbers = [c for c in numbers if not self.several or c not in (2, 3)]

    def refresh(self) -> None:
        fresh = len(self.run.trials) - self._trial_count
        # A new average changes the notes of trials that ended long ago.
        if self.run.ensemble is not self._ensemble and len(self.rows):
            last = self.columnCount() - 1
            self.dataChanged.emit(self.index(0, last), self.index(len(self.rows) - 1, last))
        self._ensemble = self.run.ensemble
        state = (self.record.best_k, self.run.changes)
        if self.record.best_k is not None or state != self._filter:
            self._filter = state
            self._rearrange()
        elif fresh:
            self._add_rows(fresh)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = (column, order)
        self._rearrange()

    def row_of(self, number: int | None) -> int | None:
        row = self.run.row_of.get(-1 if number is None else number)
        if row is None:
            return None
        rows = np.flatnonzero(self.rows == row)
        return int(rows[0]) if len(rows) else None

    def trial_at(self, row: int) -> Trial:
        return self.run.trials[int(self.rows[row])]

    def _add_rows(self, fresh: int) -> None:
        new = np.arange(self._trial_count, self._trial_count + fresh)
        newest_first = self._sorted == (0, Qt.SortOrder.DescendingOrder)
        ordered = newest_first and bool(np.all(np.diff(self.run.numbers) > 0))
        self._trial_count += fresh
        position = 0 if ordered else len(self.rows)
        self.beginInsertRows(QModelIndex(), position, position + fresh - 1)
        self.rows = np.concatenate([new[::-1], self.rows] if ordered else [self.rows, new])
        self.endInsertRows()
        # The table is sorted otherwise, or trials ended out of order.
        if not ordered:
            self._rearrange()

    def _rearrange(self) -> None:
        rows = self._sorted_rows(np.arange(len(self.run.trials)))
        if self.record.best_k is not None:
            rows = rows[self.record.filtered()[rows]]
        self._trial_count = len(self.run.trials)
        if len(rows) != len(self.rows):
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
            return
        self.layoutAboutToBeChanged.emit()
        held = self.persistentIndexList()
        # Qt holds current and selected rows by their place: they follow their trials.
        back = {int(row): position for position, row in enumerate(rows)} if held else {}
        rows_now = (back.get(int(self.rows[index.row()]), 0) for index in held)
        moved = [self.index(row, old.column()) for row, old in zip(rows_now, held, strict=True)]
        self.rows = rows
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
        # Settings of several models have no common order: they sort as text.
        elif column <= last:
            keys = np.zeros(len(run.trials))
        elif column == last + 1:
            keys = np.array([trial.took for trial in run.trials])
        else:
            # By how little they count: those that were excluded, then those that failed.
            keys = np.array([bool(trial.failure) for trial in run.trials]) + 0.5 * run.is_excluded
        if order == Qt.SortOrder.DescendingOrder:
            keys = -keys
        # NumPy puts NaN last, whichever way the keys are signed.
        return rows[np.lexsort((-run.numbers, keys))]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and 2 <= section <= len(self.axes) + 1:
            return plain_tooltip(setting_title(self.axes[section - 2]))
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        if index.row() >= len(self.rows) or self.rows[index.row()] >= len(self.run.trials):
            return None
        trial, column = self.trial_at(index.row()), index.column()
        if role == Qt.ItemDataRole.ToolTipRole and self.several and column in (2, 3):
            return plain_tooltip("\n".join(setting_lines(self.run.started, trial.setting)))
        is_out = bool(trial.failure) or trial.number in self.run.excluded
        if role == Qt.ItemDataRole.ForegroundRole and is_out:
            return appearance.palette(appearance.current()).placeholderText()
        return super().data(index, role)

    def cell_text(self, row: int, column: int) -> str:
        trial = self.trial_at(row)
        if self.several and column in (2, 3):
            return setting_cells(self.run.started, trial.setting)[column - 2]
        if column == 0:
            return str(trial.number)
        if column == 1:
            score = score_text(trial.score, self.run.started.metric)
            return f"≈ {score}" if trial.behind else score
        if column <= len(self.axes) + 1:
            return format_value(trial.setting.get(self.axes[column - 2].name, "–"))
        if column == self.of_setting + 2:
            return duration_text(trial.took)
        return self.note_text(trial)

    def note_text(self, trial: Trial) -> str:
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


COUNTS = (None, 5, 10, 25, 100)


class BestK(QuietComboBox):
    """All trials, or the best k; `ask` gets k or None."""

    def __init__(self, ask: Callable[[int | None], object]) -> None:
        super().__init__()
        self.setAccessibleName("Show all trials or only the best")
        self.setToolTip(self.accessibleName())
        self.show_k(None)
        self.activated.connect(lambda index: ask(self.itemData(index)))

    def show_k(self, k: int | None) -> None:
        if self.currentData() != k or self.currentIndex() < 0:
            counts = dict.fromkeys((*COUNTS, k))
            self.set_choices({n: "All trials" if n is None else f"Best {n}" for n in counts}, k)


NOTE = "in the average, 99 %"  # as long as most notes
PADDING = 20  # of a cell, left and right together, as resources/style.qss has it


class TrialsGrid(PlainTable):
    """Delete excludes or includes, Ctrl+C copies."""

    def __init__(self, view: TrialsTable) -> None:
        super().__init__()
        self._view = view
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setSortingEnabled(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(appearance.pixels(TARGET))
        self.horizontalHeader().setSortIndicator(0, Qt.SortOrder.DescendingOrder)

    def is_elastic(self, column: int) -> bool:
        model = self._view.model
        return 2 <= column < model.of_setting + 2 or column == model.columnCount() - 1

    def wanted_widths(self) -> list[int]:
        # Without looking at the cells, since columns must not move while trials arrive.
        head, advance = self.horizontalHeader(), self.fontMetrics().horizontalAdvance
        texts = enumerate(self._widest_texts())
        return [
            max(advance(text) + PADDING, head.sectionSizeHint(column)) for column, text in texts
        ]

    def _widest_texts(self) -> list[str]:
        # Numbers have three digits, so that the widest text of a column is known beforehand.
        # A digit more than the last number has is room for a cell's margin.
        last = f"0{max(self._view.run.total, len(self._view.run.trials))}"
        texts = [max(last, "0000", key=len), "−0.0000"]
        if self._view.model.several:
            texts = [texts[0], "≈ −0.0000"]
            names = (title_of(name) for name in models_of(self._view.run.started))
            return [*texts, max(names, key=len, default=""), "x" * 99, "000.00 s", NOTE]
        for axis in self._view.record.axes:
            if axis.kind == "choice":
                texts.append(max((str(choice) for choice in axis.choices), key=len))
            elif axis.kind == "int":
                texts.append(str(int(axis.high)))
            else:
                ends = (format_number(axis.low * 1.234567), format_number(axis.high / 1.234567))
                texts.append(max((*ends, "0.0123"), key=len))
        return [*texts, "000.00 s", NOTE]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        trial = self._view.chosen_trial()
        if event.key() == Qt.Key.Key_Delete and trial is not None:
            self._view.toggle_excluded(trial)
        elif event.matches(QKeySequence.StandardKey.Copy) and trial is not None:
            self._view.copy_trial()
        else:
            super().keyPressEvent(event)

    def _show_menu(self, position: QPoint) -> None:
        trial = self._view.chosen_trial()
        if trial is not None:
            self._view.menu_of(trial).popup(self.viewport().mapToGlobal(position))


class TrialsTable(View):
    """Every trial with its setting, score, time and note."""

    name = "trials"
    title = "Trials"
    question = "What was tried? Pick one to see it in every plot."
    waiting = "Trials are listed here as they end."
    listens = (
        *(events.TrialFinished, events.TrialFailed, events.TrialExcluded),
        events.EnsembleUpdated,
    )

    wide = True
    is_table = True

    def make_content(self) -> QWidget:
        self.model = TrialsModel(self.record)
        self.table = TrialsGrid(self)
        self.table.setAccessibleName("Trials")
        self.table.setModel(self.model)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self._detail = wrapping_label("", "caption")

        def toggle_selected() -> None:
            self.toggle_excluded(self.run.find_trial(self.record.selected))

        self.exclude_button = LinkButton("Exclude this trial", toggle_selected, "discard")
        container, last = QWidget(), (self.exclude_button, LEFT)
        in_column((self.table, 1), self._detail, last, on=container, gap=4)
        return container

    def toggle_excluded(self, trial: Trial | None) -> None:
        if trial is not None:
            self.exclude_requested.emit(trial.number, not self.is_out(trial))

    def _show_exclude_button(self, trial: Trial | None) -> None:
        self.exclude_button.setEnabled(trial is not None and not self.record.has_other_writer)
        if trial is None:
            self.exclude_button.setText("Exclude a trial")
            why = "Choose a trial in the table or in a plot first."
        elif self.is_out(trial):
            self.exclude_button.setText(f"Include trial {trial.number} again")
            why = "It counts again, and may be the best."
        else:
            self.exclude_button.setText(f"Exclude trial {trial.number}")
            why = "It counts no longer: the best is chosen among the others."
        if self.record.has_other_writer:
            why = "The run is running in another program: exclude trials when it has ended."
        self.exclude_button.setAccessibleName(self.exclude_button.text())
        self.exclude_button.setToolTip(plain_tooltip(why))
        self.exclude_button.setAccessibleDescription(why)

    def tooltip_at(self, position: QPointF) -> str:
        return self.table.tooltip_at(position)

    def controls(self) -> list[QWidget]:
        self.best_k = BestK(self.best_k_requested.emit)
        return [self.best_k]

    def start(self, started: events.RunStarted) -> None:
        self.model.restart()
        self.table.fit_columns()

    def has_content(self) -> bool:
        return bool(self.run.trials)

    def draw(self) -> None:
        self.best_k.show_k(self.record.best_k)
        self.model.refresh()
        row = self.model.row_of(self.record.selected)
        if row is not None and row != self.table.currentIndex().row():
            self.table.setCurrentIndex(self.model.index(row, 0))
        trial = self.run.find_trial(self.record.selected)
        self._show_exclude_button(trial)
        outcome = ""
        if trial is not None and trial.behind:
            outcome = f"Trial {trial.number} was {ended_early(trial, self.run.started)}."
        elif trial is not None and trial.failure:
            outcome = f"Trial {trial.number} failed: {trial.failure}"
        show_text(self._detail, outcome)

    def paint_theme(self) -> None:
        self.table.verticalHeader().setDefaultSectionSize(appearance.pixels(TARGET))
        self.table.fit_columns()

    def chosen_trial(self) -> Trial | None:
        index = self.table.currentIndex()
        return self.model.trial_at(index.row()) if index.isValid() else None

    def is_out(self, trial: Trial) -> bool:
        return trial.number in self.run.excluded

    def menu_of(self, trial: Trial) -> QMenu:
        menu, out = QMenu(self.table), self.is_out(trial)
        act = menu.addAction("Include it again" if out else "Exclude this trial")
        act.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        act.setEnabled(not self.record.has_other_writer)
        act.triggered.connect(lambda: self.toggle_excluded(trial))
        take = menu.addAction("Select this model")
        take.setEnabled(self.record.whole_run.results is not None and not trial.failure)
        take.triggered.connect(lambda: self.pick_requested.emit(trial.number))
        copy = menu.addAction("Copy its setting", self.copy_trial)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        menu.addAction("Copy the whole table", self.copy_table)
        return menu

    def copy_trial(self) -> None:
        trial = self.chosen_trial()
        if trial is not None:
            QGuiApplication.clipboard().setText(self._trial_text(trial.number))

    def describe(self) -> str:
        count = len(self.run.trials)
        best = self.run.best_trial
        if best is None:
            return f"{count} trials, none with a score."
        score = score_text(best.score, self.run.started.metric)
        return f"{count} trials; trial {best.number} is the best with {score}."

    def table_data(self) -> Table:
        several, axes = self.model.several, self.record.axes
        heads = ["model", "setting"] if several else [setting_title(axis) for axis in axes]
        rows = []
        for trial in map(self.model.trial_at, range(self.model.rowCount())):
            setting = [trial.setting.get(axis.name) for axis in axes]
            cells = setting_cells(self.run.started, trial.setting) if several else setting
            score = trial.score if math.isfinite(trial.score) else None
            rows.append([trial.number, score, *cells, trial.took, self.model.note_text(trial)])
        return ["trial", "score", *heads, "seconds", "note"], rows

    def _on_row_chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        # A row becomes current when the table is filled, too: a person's choice has the keyboard.
        if now.isValid() and self.table.hasFocus():
            number = self.model.trial_at(now.row()).number
            if number != self.record.selected:
                self.trial_selected.emit(number)
