"""The bin: deleted runs, until when each is kept, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.text.past.runs_list_text import day_of
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from resources.theme import TARGET

if TYPE_CHECKING:
    from core.tuning.runs.deleted_runs import DeletedRun

MAX_ROWS = 6


class _BinTable(DataTable):
    """The deleted runs; Enter restores, Delete asks to remove for good."""

    enter_pressed = Signal()
    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.enter_pressed.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)


class BinCard(Card):
    """The deleted runs; they are restored, or removed for good."""

    restore_pressed = Signal(object)  # the folders of the chosen runs
    remove_pressed = Signal(object)  # the same

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Bin", "", parent)
        self._deleted_runs: list[DeletedRun] = []
        self.table = _BinTable("Deleted runs")
        self.table.setAccessibleDescription("Enter restores what is chosen.")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._update_buttons())
        self.table.enter_pressed.connect(self._restore_chosen)
        self.table.delete_pressed.connect(self._remove_chosen)
        self.body.addWidget(self.table)
        self.restore = PlainButton("Restore", self._restore_chosen)
        self.remove = PlainButton("Remove for good…", self._remove_chosen, "discard")
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        row.addWidget(self.restore)
        row.addWidget(self.remove)
        self.body.addWidget(holder)
        self._update_buttons()

    def show_deleted(self, deleted_runs: list[DeletedRun]) -> None:
        """Show these, the last deleted first."""
        caption = "Each run is removed for good on the day that its line says."
        self.set_words("Bin", caption if deleted_runs else "The bin is empty.")
        self.table.setVisible(bool(deleted_runs))
        if deleted_runs != self._deleted_runs:
            self._deleted_runs = list(deleted_runs)
            rows = [
                [
                    deleted_run.run.display_name,
                    deleted_run.run.dataset,
                    day_of(deleted_run.deleted_at.isoformat()),
                    day_of(deleted_run.removed_at.isoformat()),
                ]
                for deleted_run in deleted_runs
            ]
            self.table.set_table((["name", "file", "deleted", "removed for good"], rows))
            head = self.table.horizontalHeader().sizeHint().height()
            line = max(TARGET, self.fontMetrics().height() + 12)
            self.table.verticalHeader().setDefaultSectionSize(line)
            self.table.setFixedHeight(head + min(len(rows), MAX_ROWS) * line + 8)
        self._update_buttons()

    def chosen_runs(self) -> list[DeletedRun]:
        """The chosen runs."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self._deleted_runs[row] for row in rows]

    def _update_buttons(self) -> None:
        any_chosen = bool(self.chosen_runs())
        for button in (self.restore, self.remove):
            button.set_allowed(any_chosen, "Choose rows of the table first.")

    def _restore_chosen(self) -> None:
        if chosen := self.chosen_runs():
            self.restore_pressed.emit([deleted_run.run.path for deleted_run in chosen])

    def _remove_chosen(self) -> None:
        if chosen := self.chosen_runs():
            self.remove_pressed.emit([deleted_run.run.path for deleted_run in chosen])
