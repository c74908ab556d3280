"""Runs: every past run in one list; open, name, note, compare, delete, and bring back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMessageBox, QWidget

from app.pages.page import Page
from app.pages.runs.bin_card import BinCard
from app.pages.runs.note import NoteCard
from app.pages.runs.side_by_side import SideBySide
from app.pages.runs.table import RunsTable
from app.text.past.past_runs import left_out_in_words
from app.views.results.run_curves import MOST
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import OneLine, label, restyle
from resources.theme import TARGET

if TYPE_CHECKING:
    from app.session.session import Session
    from core.tuning.runs.past_runs import RunSummary
    from core.tuning.runs.side_by_side import Curve

EVERY = 5_000  # milliseconds between two looks at runs that others may have


class RunsPage(Page):
    """The list of past runs and what can be done with them."""

    topic = "results"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.runs = session.runs
        self._compared: list[str] = []
        self._awaits_plan = False
        self.set_head("Runs", "Enter opens a run, F2 renames it, Delete puts it into the bin.")
        self.compare = self.add_button("Compare", self.compare_chosen, "table")
        self.primary = self.add_primary("Open", self._open_current, "arrow-right")
        self._make_outcome()
        self.body.addWidget(self._make_list())
        self.note = NoteCard()
        self.note.written.connect(self.runs.write_note)
        self.body.addWidget(self.note)
        self.bin = BinCard()
        self.bin.hide()
        self.bin.restore_pressed.connect(self.runs.restore)
        self.bin.remove_pressed.connect(self._ask_remove)
        self.body.addWidget(self.bin)
        self.body.addStretch(1)
        self._connect()
        self._show()

    # Making it --------------------------------------------------------------------------------

    @cached_property
    def side_by_side(self) -> SideBySide:
        """The runs that are compared; made when there are some first."""
        made = SideBySide()
        made.hide()
        made.close_pressed.connect(self._close_comparison)
        made.split_wanted.connect(self._plan_again)
        made.picture.problem.connect(self.session.problem)
        self.body.insertWidget(self.body.indexOf(self.bin), made)
        return made

    def _make_outcome(self) -> None:
        self._outcome = QWidget()
        row = QHBoxLayout(self._outcome)
        row.setContentsMargins(0, 0, 0, 0)
        self.outcome = label()
        self.undo = LinkButton("Undo", self.runs.undo)
        row.addWidget(self.outcome, 1)
        row.addWidget(self.undo, 0, Qt.AlignmentFlag.AlignTop)
        self.under_head.addWidget(self._outcome)
        self._outcome.hide()

    def _make_list(self) -> Card:
        card = Card()
        row = QHBoxLayout()
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter: words of a name, file, model, note …")
        self.filter.setAccessibleName("Filter the runs")
        self.filter.setAccessibleDescription("The list shows the runs that have every word.")
        self.filter.setMinimumHeight(TARGET)
        self.counted = OneLine("", "caption")
        row.addWidget(self.filter, 1)
        row.addWidget(self.counted)
        card.body.addLayout(row)
        self.empty = label(
            "There are no runs yet. Each run appears here as soon as it begins.", "muted"
        )
        card.body.addWidget(self.empty)
        self.table = RunsTable()
        card.body.addWidget(self.table)
        self.left_out = label("", "caption")
        card.body.addWidget(self.left_out)
        holder = QWidget()
        buttons = FlowLayout(holder, gap=8)
        self.rename = PlainButton("Rename", self._rename)
        self.delete = PlainButton("Delete", self.delete_chosen, "discard")
        self.bin_button = PlainButton("Bin", self._toggle_bin)
        self.use = PlainButton("Use a model on new rows", lambda: self.step_wanted.emit("use"))
        for button in (self.rename, self.delete, self.bin_button, self.use):
            buttons.addWidget(button)
        card.body.addWidget(holder)
        return card

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._filter)
        self.table.chosen.connect(self._chosen)
        self.table.open_pressed.connect(self.run_wanted)
        self.table.delete_pressed.connect(self.delete_chosen)
        self.table.note_pressed.connect(self.note.begin)
        self.table.runs.renamed.connect(self.runs.rename)
        self.runs.changed.connect(self._show)
        self.runs.said.connect(self._say)
        self.runs.curves_read.connect(self._take_curves)
        self.session.plan_changed.connect(self._planned)
        self.session.problem.connect(self._not_planned)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self.runs.look)
        for keys, pressed in (
            (QKeySequence.StandardKey.Undo, self.runs.undo),
            (QKeySequence.StandardKey.Find, self._find),
        ):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(pressed)

    # Showing it -------------------------------------------------------------------------------

    def visited(self) -> None:
        """Read the list anew."""
        self._say("", True)
        self.runs.look()
        if self.table.runs.runs:
            self.table.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """While the page is seen, runs of other programs appear by themselves."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Keep a note that was begun."""
        super().hideEvent(event)
        self._timer.stop()
        self.note.keep()

    def show_and_compare(self, folders: Sequence[str]) -> None:
        """Choose these runs and show them side by side."""
        self.filter.clear()
        self.table.choose(set(folders), folders[0])
        self.compare_chosen()

    def _show(self) -> None:
        found = self.runs.found
        self.table.show_runs(found.runs)
        there = bool(found.runs)
        self.empty.setVisible(not there and not self.runs.is_looking)
        self.table.setVisible(there)
        self.filter.setEnabled(there)
        self.left_out.setText(left_out_in_words(found.left_out))
        self.left_out.setToolTip("\n".join(found.left_out.values()))
        self.left_out.setVisible(bool(found.left_out))
        self.bin.show_deleted(found.deleted)
        count = len(found.deleted)
        self.bin_button.rename(f"Bin ({count})" if count else "Bin")
        self._count()
        self._chosen()
        self._follow_comparison()

    def _filter(self) -> None:
        self.table.show_fitting(self.filter.text())
        self._count()

    def _count(self) -> None:
        every, shown = len(self.table.runs.runs), self.table.runs.rowCount()
        words = f"{every:,} {'run' if every == 1 else 'runs'}"
        self.counted.setText(words if shown == every else f"{shown:,} of {words}")

    def _chosen(self) -> None:
        runs = self.table.chosen_runs()
        one = len(runs) == 1
        self.primary.allow(one, "Choose one run of the list.")
        self.rename.allow(one, "Choose one run of the list.")
        self.delete.allow(bool(runs), "Choose runs of the list first.")
        few = f"Choose two to {MOST} runs: hold Shift or Ctrl while you choose."
        self.compare.allow(2 <= len(runs) <= MOST, few)
        self.note.show_run(runs[0] if one else None)

    def _say(self, sentence: str, well: bool) -> None:
        self.outcome.setText(sentence)
        self.outcome.setAccessibleName(sentence)
        restyle(self.outcome, voice="good" if well else "warning")
        self._outcome.setVisible(bool(sentence))
        words = self.runs.can_undo
        self.undo.setVisible(bool(words))
        self.undo.setAccessibleName(f"Undo: {words}" if words else "Undo")

    def _find(self) -> None:
        self.filter.setFocus()
        self.filter.selectAll()

    # What a person does -----------------------------------------------------------------------

    def _open_current(self) -> None:
        if (chosen := self.table.chosen_paths()) and len(chosen) == 1:
            self.run_wanted.emit(chosen[0])

    def _rename(self) -> None:
        self.table.setFocus()
        self.table.rename_current()

    def delete_chosen(self) -> None:
        """Put the chosen runs into the bin."""
        self.note.keep()
        self.runs.delete(self.table.chosen_paths())

    def _toggle_bin(self) -> None:
        self.bin.setVisible(self.bin.isHidden())
        if self.bin.isVisible():
            QTimer.singleShot(0, self.bin, lambda: self.scroll.ensureWidgetVisible(self.bin))

    def _ask_remove(self, folders: list[str]) -> None:
        box = QMessageBox(self)
        box.setWindowTitle("Tunescope")
        box.setIcon(QMessageBox.Icon.Warning)
        many = "this run" if len(folders) == 1 else f"these {len(folders)} runs"
        box.setText(f"Remove {many} for good?")
        box.setInformativeText("Trials, results and the fitted model are lost then.")
        stay = box.addButton("Keep", QMessageBox.ButtonRole.RejectRole)
        remove = box.addButton("Remove for good", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.exec()
        if box.clickedButton() is remove:
            self.runs.remove_for_good(folders)

    # Side by side -----------------------------------------------------------------------------

    def compare_chosen(self) -> None:
        """Read the chosen runs and show them side by side."""
        runs = self.table.chosen_runs()
        if 2 <= len(runs) <= MOST:
            self._compared = [run.path for run in runs]
            self.compare.allow(False, "The runs are being read.")
            self.runs.read_curves(self._compared)

    def _of_compared(self) -> list[RunSummary]:
        by_path = {run.path: run for run in self.runs.found.runs}
        return [by_path[path] for path in self._compared if path in by_path]

    def _take_curves(self, curves: list[Curve]) -> None:
        self._chosen()
        runs = self._of_compared()
        if [run.path for run in runs] != [curve.path for curve in curves]:
            return
        self.side_by_side.show_runs(runs, curves)
        self.side_by_side.show()
        QTimer.singleShot(0, self.side_by_side, self._look_at_comparison)

    def _look_at_comparison(self) -> None:
        self.scroll.verticalScrollBar().setValue(self.side_by_side.y())

    def _follow_comparison(self) -> None:
        """Runs that are gone are compared no longer; other names are shown."""
        if not self._compared:
            return
        card, runs = self.side_by_side, self._of_compared()
        if card.isHidden() or runs == card.runs:
            return
        paths = [run.path for run in runs]
        if len(runs) < 2:
            self._close_comparison()
        else:
            card.show_runs(runs, [curve for curve in card.curves if curve.path in paths])
            self._compared = paths

    def _close_comparison(self) -> None:
        self._compared = []
        with QSignalBlocker(self.side_by_side):
            self.side_by_side.hide()
        self.table.setFocus()

    def _plan_again(self, folder: str, seed: int) -> None:
        self._awaits_plan = True
        self.session.plan_again(folder, seed)

    def _planned(self) -> None:
        if self._awaits_plan and self.session.plan is not None:
            self._awaits_plan = False
            self.step_wanted.emit("tune")

    def _not_planned(self, _why: str) -> None:
        self._awaits_plan = False
