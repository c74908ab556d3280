"""The trials table."""

from __future__ import annotations

import math

from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView, QVBoxLayout, QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.setting_text import setting_cells, setting_title
from app.text.tuning.trial_text import ended_early
from app.views.plot.data_table import Table
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.trials.top_trials_filter import BestK
from app.views.trials.trials_model import TrialsModel
from app.widgets.buttons import LinkButton
from app.widgets.plain_table import PlainTable
from app.widgets.shortened_text import shorten_text
from app.widgets.text_labels import plain_tooltip, wrapping_label
from core.estimators.model_settings import title_of
from core.tuning import events
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.trial_table import Trial
from resources.theme import TARGET

PADDING = 20  # of a cell, left and right together, as resources/style.qss has it

LONGEST_SETTING = 84  # pixels of a setting's name or value before it is cut
LONGEST_OF_SEVERAL = 170  # of a model's title, and of all values of a setting


class TrialsGrid(PlainTable):
    """The table; Delete excludes or includes, Ctrl+C copies."""

    def __init__(self, view: TrialsTable) -> None:
        super().__init__()
        self._view = view
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setSortingEnabled(True)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerItem)
        self.setCornerWidget(QWidget())
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(appearance.pixels(TARGET))
        self.horizontalHeader().setSortIndicator(0, Qt.SortOrder.DescendingOrder)
        self.horizontalHeader().setStretchLastSection(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the new width."""
        super().resizeEvent(event)
        self._view.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Delete and Ctrl+C."""
        trial = self._view.chosen_trial()
        if event.key() == Qt.Key.Key_Delete and trial is not None:
            self._view.exclude_requested.emit(trial.number, not self._view.is_out(trial))
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

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self._table_button.hide()

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        """Every run of trials."""
        return started.kind == "trials"

    def make_content(self) -> QWidget:
        """The table above the selected trial's note and a button."""
        self.model = TrialsModel(self.record)
        self.table = TrialsGrid(self)
        self.table.setAccessibleName("Trials")
        self.table.setModel(self.model)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self._detail = wrapping_label("", "caption")
        container = QWidget()
        column = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.table, 1)
        column.addWidget(self._detail)
        self.exclude_button = LinkButton("Exclude this trial", self._exclude_pressed, "discard")
        column.addWidget(self.exclude_button, 0, Qt.AlignmentFlag.AlignLeft)
        return container

    def _exclude_pressed(self) -> None:
        trial = self.run.find_trial(self.record.selected)
        if trial is not None:
            self.exclude_requested.emit(trial.number, not self.is_out(trial))

    def _show_exclude_button(self, trial: Trial | None) -> None:
        self.exclude_button.setEnabled(trial is not None)
        if trial is None:
            self.exclude_button.setText("Exclude a trial")
            why = "Choose a trial in the table or in a plot first."
        elif self.is_out(trial):
            self.exclude_button.setText(f"Include trial {trial.number} again")
            why = "It counts again, and may be the best."
        else:
            self.exclude_button.setText(f"Exclude trial {trial.number}")
            why = "It counts no longer: the best is chosen among the others."
        self.exclude_button.setAccessibleName(self.exclude_button.text())
        self.exclude_button.setToolTip(plain_tooltip(why))
        self.exclude_button.setAccessibleDescription(why)

    def tooltip_at(self, position: QPointF) -> str:
        """The full text of a cell."""
        return self.table.tooltip_at(position)

    def controls(self) -> list[QWidget]:
        """The best-k filter."""
        self.best_k = BestK(self.best_k_requested.emit)
        return [self.best_k]

    def start(self, started: events.RunStarted) -> None:
        """Reset the columns."""
        self.model.restart()
        self.fit_columns()

    def has_content(self) -> bool:
        """From the first trial that ended."""
        return bool(self.run.trials)

    def draw(self) -> None:
        """Show new rows and the board's selection."""
        self.best_k.show_k(self.record.best_k)
        self.model.refresh()
        if self.table.horizontalHeader().count() and not self.table.columnWidth(0):
            self.fit_columns()
        row = self.model.row_of(self.record.selected)
        if row is not None and row != self.table.currentIndex().row():
            self.table.setCurrentIndex(self.model.index(row, 0))
        trial = self.run.find_trial(self.record.selected)
        self._show_exclude_button(trial)
        has_detail = trial is not None and (bool(trial.failure) or trial.behind)
        self._detail.setText(self._outcome_text(trial) if trial and has_detail else "")
        self._detail.setVisible(has_detail)

    def paint_theme(self) -> None:
        """Fit rows and columns to the text size."""
        self.table.verticalHeader().setDefaultSectionSize(appearance.pixels(TARGET))
        self.fit_columns()

    def chosen_trial(self) -> Trial | None:
        """The trial of the current row."""
        index = self.table.currentIndex()
        return self.model.trial_at(index.row()) if index.isValid() else None

    def is_out(self, trial: Trial) -> bool:
        """Whether it is excluded."""
        return trial.number in self.run.excluded

    def menu_of(self, trial: Trial) -> QMenu:
        """The context menu of a trial."""
        menu, out = QMenu(self.table), self.is_out(trial)
        act = menu.addAction("Include it again" if out else "Exclude this trial")
        act.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        act.triggered.connect(lambda: self.exclude_requested.emit(trial.number, not out))
        take = menu.addAction("Select this model")
        take.setEnabled(self.record.whole_run.results is not None and not trial.failure)
        take.triggered.connect(lambda: self.pick_requested.emit(trial.number))
        copy = menu.addAction("Copy its setting", self.copy_trial)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        menu.addAction("Copy the whole table", self.copy_table)
        return menu

    def copy_trial(self) -> None:
        """Copy the current trial's setting and result."""
        trial = self.chosen_trial()
        if trial is not None:
            QGuiApplication.clipboard().setText(self._trial_text(trial.number))

    def describe(self) -> str:
        """The number of trials and the best."""
        count = len(self.run.trials)
        best = self.run.best_trial
        if best is None:
            return f"{count} trials, none with a score."
        return f"{count} trials; trial {best.number} is the best with {format_number(best.score)}."

    def table_data(self) -> Table:
        """All trials in the order shown."""
        several, axes = self.model.several, self.record.axes
        heads = ["model", "setting"] if several else [setting_title(axis) for axis in axes]
        rows = []
        for trial in map(self.model.trial_at, range(self.model.rowCount())):
            setting = [trial.setting.get(axis.name) for axis in axes]
            cells = setting_cells(self.run.started, trial.setting) if several else setting
            score = trial.score if math.isfinite(trial.score) else None
            rows.append([trial.number, score, *cells, trial.took, self.model.note_text(trial)])
        return ["trial", "score", *heads, "seconds", "note"], rows

    def _outcome_text(self, trial: Trial) -> str:
        if trial.behind:
            return f"Trial {trial.number} was {ended_early(trial, self.run.started)}."
        return f"Trial {trial.number} failed: {trial.failure}"

    def _on_row_chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid() and self.table.hasFocus():
            number = self.model.trial_at(now.row()).number
            if number != self.record.selected:
                self.trial_selected.emit(number)

    def fit_columns(self) -> None:
        """Fit columns so that none is cut."""
        if not hasattr(self, "table"):
            return
        metrics = QFontMetrics(self.table.font())
        bold = self.table.horizontalHeader().fontMetrics()
        needed = []
        for column, widest in enumerate(self._widest_texts()):
            head = self.model.column_title(column)
            # The bold header needs a tenth more, and the first one room for the arrow of order.
            head_width = 1.1 * bold.horizontalAdvance(head) + (16 if column == 0 else 6)
            wide = max(metrics.horizontalAdvance(widest), head_width)
            if 2 <= column < self.model.of_setting + 2:
                longest = LONGEST_OF_SEVERAL if self.model.several else LONGEST_SETTING
                wide = min(wide, appearance.pixels(longest))
            needed.append(int(wide) + PADDING)
        needed[-1] = max(needed[-1], metrics.horizontalAdvance("default setting") + PADDING)
        for column, wide in enumerate(column_widths(needed, self.table.viewport().width())):
            self.table.setColumnWidth(column, wide)
            # The header would cut the bold words instead of eliding them.
            title, room = self.model.column_title(column), int((wide - PADDING) / 1.1)
            short = title if column == 0 else shorten_text(title, bold, room)
            self.model.short_heads[column] = short

    def _widest_texts(self) -> list[str]:
        # Numbers have three digits, so that the widest text of a column is known beforehand.
        long = max((str(self.run.total), "10000"), key=len)
        texts = [long if self.run.total > 9999 else "0000", "−0.0000"]
        if self.model.several:
            texts = [texts[0], "≈ −0.0000"]
            names = (title_of(name) for name in models_of(self.run.started))
            return [*texts, max(names, key=len, default=""), "x" * 99, "000.00 s", ""]
        for axis in self.record.axes:
            if axis.kind == "choice":
                texts.append(max((str(choice) for choice in axis.choices), key=len))
            elif axis.kind == "int":
                texts.append(str(int(axis.high)))
            else:
                ends = (format_number(axis.low * 1.234567), format_number(axis.high / 1.234567))
                texts.append(max((*ends, "0.0123"), key=len))
        return [*texts, "000.00 s", ""]


def column_widths(needed: list[int], room: int) -> list[int]:
    """Column widths that cut no column, in pages of the table's width."""
    if sum(needed) <= room:
        return needed
    groups: list[list[int]] = []
    for wide in needed:
        if groups and sum(groups[-1]) + wide <= room:
            groups[-1].append(wide)
        else:
            groups.append([min(wide, room)])
    return [wide + more for group in groups for wide, more in _share_out(group, room - sum(group))]


def _share_out(widths: list[int], spare: int) -> list[tuple[int, int]]:
    """Each width with its share of the spare pixels."""
    share, odd = divmod(spare, len(widths))
    return [(wide, share + (position < odd)) for position, wide in enumerate(widths)]
