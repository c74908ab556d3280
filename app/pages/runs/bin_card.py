"""The bin: deleted runs, until when each is kept, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.text.past.runs_list import day_of
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from resources.theme import TARGET

if TYPE_CHECKING:
    from core.tuning.runs.bin import DeletedRun

MOST_ROWS = 6


class _BinTable(DataTable):
    """The deleted runs; Enter restores, Delete asks to remove for good."""

    enter_pressed = Signal()
    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Delete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.enter_pressed.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)


class BinCard(Card):
    """What is in the bin.

    Signals:
        restore_pressed, remove_pressed: the folders of the chosen runs.
    """

    restore_pressed = Signal(object)
    remove_pressed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Bin", "", parent)
        self._there: list[DeletedRun] = []
        self.table = _BinTable("Deleted runs")
        self.table.setAccessibleDescription("Enter restores what is chosen.")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._allow())
        self.table.enter_pressed.connect(self._restore)
        self.table.delete_pressed.connect(self._remove)
        self.body.addWidget(self.table)
        self.restore = PlainButton("Restore", self._restore)
        self.remove = PlainButton("Remove for good…", self._remove, "discard")
        holder = QWidget()
        row = FlowLayout(holder, gap=8)
        row.addWidget(self.restore)
        row.addWidget(self.remove)
        self.body.addWidget(holder)
        self._allow()

    def show_deleted(self, there: list[DeletedRun]) -> None:
        """Show these, the last deleted first."""
        caption = "Each run is removed for good on the day that its line says."
        self.set_words("Bin", caption if there else "The bin is empty.")
        self.table.setVisible(bool(there))
        if there != self._there:
            self._there = list(there)
            rows = [
                [
                    one.run.called,
                    one.run.dataset,
                    day_of(one.deleted_at.isoformat()),
                    day_of(one.removed_at.isoformat()),
                ]
                for one in there
            ]
            self.table.set_table((["name", "file", "deleted", "removed for good"], rows))
            head = self.table.horizontalHeader().sizeHint().height()
            line = max(TARGET, self.fontMetrics().height() + 12)
            self.table.verticalHeader().setDefaultSectionSize(line)
            self.table.setFixedHeight(head + min(len(rows), MOST_ROWS) * line + 8)
        self._allow()

    def chosen(self) -> list[DeletedRun]:
        """The chosen runs."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self._there[row] for row in rows]

    def _allow(self) -> None:
        any_chosen = bool(self.chosen())
        for button in (self.restore, self.remove):
            button.allow(any_chosen, "Choose rows of the table first.")

    def _restore(self) -> None:
        if chosen := self.chosen():
            self.restore_pressed.emit([one.run.path for one in chosen])

    def _remove(self) -> None:
        if chosen := self.chosen():
            self.remove_pressed.emit([one.run.path for one in chosen])
