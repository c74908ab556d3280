"""Runs: the list of all past runs, the note of one, their comparison, and the bin."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import ClassVar

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.dialogs.message_boxes import is_deletion_confirmed
from app.look import appearance
from app.pages.page import Page
from app.pages.run_comparison_card import RunComparisonCard
from app.pages.runs_table import MIN_ROWS, RunsTable
from app.session.session import Session
from app.text.past_runs_text import day_of, run_name
from app.text.rail_text import left_out_text
from app.views.plot.data_table import DataTableModel
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import TOP, add_to, in_lines, in_row
from app.widgets.plain_table import RowTable
from app.widgets.text_labels import ElidedLabel, show_outcome, show_text, wrapping_label
from core.figures.run_figures import MAX_RUNS
from core.tuning.runs.past_runs import DeletedRun, RunSummary
from core.tuning.runs.run_comparison import BestSoFarCurve
from resources.theme import TARGET

MAX_ROWS = 6  # of the bin
BESIDE_TABLE = 400  # pixels of heads, filter, buttons and note
SAVE_DELAY = 1500  # milliseconds after the last key
HEIGHT = 76  # pixels
RELOAD_MILLISECONDS = 5_000  # other programs may have new runs


class BinCard(Card):
    """The deleted runs; they are restored, or removed for good."""

    restore_pressed = Signal(object)  # the folders of the chosen runs
    remove_pressed = Signal(object)  # the same

    def __init__(self) -> None:
        super().__init__("Bin", "")
        self._deleted_runs: list[DeletedRun] = []
        self.rows = DataTableModel()
        self.table = RowTable(self.rows, "Deleted runs", "Enter restores what is chosen.")
        self.table.chosen.connect(self._update_buttons)
        restore = partial(self._emit_chosen, self.restore_pressed)
        remove = partial(self._emit_chosen, self.remove_pressed)
        self.table.enter_pressed.connect(restore)
        self.table.delete_pressed.connect(remove)
        self.restore = PlainButton("Restore", restore)
        self.remove = PlainButton("Remove for good…", remove, "discard")
        add_to(self.body, self.table, in_lines(self.restore, self.remove))
        self._update_buttons()

    def show_deleted(self, deleted_runs: list[DeletedRun]) -> None:
        caption = "Each run is removed for good on the day that its line says."
        self.set_words("Bin", caption if deleted_runs else "The bin is empty.")
        self.table.setVisible(bool(deleted_runs))
        if deleted_runs != self._deleted_runs:
            self._deleted_runs = list(deleted_runs)
            rows = [
                [run_name(entry.run)]
                + [day_of(moment.isoformat()) for moment in (entry.deleted_at, entry.removed_at)]
                for entry in deleted_runs
            ]
            self.rows.set_table(["name", "deleted", "removed for good"], rows)
            self.table.fit_columns()
            self.table.fit_height(min(len(rows), MAX_ROWS))
        self._update_buttons()

    def chosen_runs(self) -> list[DeletedRun]:
        return [self._deleted_runs[row] for row in self.table.chosen_rows()]

    def _update_buttons(self) -> None:
        any_chosen = bool(self.chosen_runs())
        for button in (self.restore, self.remove):
            button.set_allowed(any_chosen, "Choose rows of the table first.")

    def _emit_chosen(self, signal: SignalInstance) -> None:
        if chosen := self.chosen_runs():
            signal.emit([deleted_run.run.path for deleted_run in chosen])


class _Box(QPlainTextEdit):
    focus_lost = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_lost.emit()


class NoteCard(Card):
    """The note of the one chosen run."""

    written = Signal(str, str)  # the run's folder and the note

    def __init__(self) -> None:
        super().__init__("Note", "")
        self._path = self._saved_note = ""
        self.box = _Box()
        self.box.setAccessibleName("Note to the chosen run")
        self.box.setPlaceholderText("What was tried here, what came of it …")
        self.box.setTabChangesFocus(True)
        self.box.setFixedHeight(appearance.pixels(HEIGHT))
        self.body.addWidget(self.box)
        self._timer = QTimer(self, interval=SAVE_DELAY, singleShot=True)
        self._timer.timeout.connect(self.save_note)
        self.box.textChanged.connect(self._timer.start)
        self.box.focus_lost.connect(self.save_note)
        self.hide()

    def show_run(self, run: RunSummary | None) -> None:
        """An unsaved note of another run is saved first."""
        path = run.path if run is not None else ""
        if path != self._path:
            self.save_note()
        self.setVisible(run is not None)
        if run is None or (path == self._path and self.box.toPlainText() != self._saved_note):
            # There is nothing to show, or something is being typed, which a list that comes
            # meanwhile must not replace.
            return
        self.set_words(f"Note to {run_name(run)}")
        if path != self._path or run.note != self._saved_note:
            self._path, self._saved_note = path, run.note
            with QSignalBlocker(self.box):
                self.box.setPlainText(run.note)

    def focus_box(self) -> None:
        if self.isVisible():
            self.box.setFocus()

    def save_note(self) -> None:
        self._timer.stop()
        text = self.box.toPlainText()
        if self._path and text.rstrip() != self._saved_note.rstrip():
            self._saved_note = text
            self.written.emit(self._path, text)


class RunsPage(Page):
    """Past runs; they are opened, named, compared, deleted and restored."""

    topic = "results"
    wide: ClassVar[bool] = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.runs = session.runs
        self._compared: list[str] = []
        self._awaits_plan = False
        self.set_head("Runs", "Enter opens a run, F2 renames it, Delete puts it into the bin.")
        self.compare = self.add_button("Compare", self.compare_chosen, "table")
        self.primary = self.add_primary("Open", self._open_current, "arrow-right")
        self._make_outcome()
        self.note = NoteCard()
        self.note.written.connect(self.runs.write_note)
        self.bin = BinCard()
        self.bin.hide()
        self.bin.restore_pressed.connect(self.runs.restore_runs)
        self.bin.remove_pressed.connect(self._ask_remove)
        add_to(self.body, self._make_list(), self.note, self.bin, 1)
        self._connect_signals()
        self._show_list()

    # Making it --------------------------------------------------------------------------------

    @cached_property
    def comparison_card(self) -> RunComparisonCard:
        card = RunComparisonCard()
        card.hide()
        card.close_pressed.connect(self._close_comparison)
        card.split_wanted.connect(self._plan_again)
        card.picture.problem.connect(self.session.problem)
        self.body.insertWidget(self.body.indexOf(self.bin), card)
        return card

    def _make_outcome(self) -> None:
        self._outcome = QWidget()
        self.outcome = wrapping_label()
        self.undo = LinkButton("Undo", self.runs.undo_change)
        in_row((self.outcome, 1), (self.undo, TOP), on=self._outcome)
        self.under_head.addWidget(self._outcome)
        self._outcome.hide()

    def _make_list(self) -> Card:
        card = Card()
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter: words of a name, file, model, note …")
        self.filter.setAccessibleName("Filter the runs")
        self.filter.setAccessibleDescription("The list shows the runs that have every word.")
        self.filter.setMinimumHeight(TARGET)
        self.count_label = ElidedLabel("", "caption")
        words = "There are no runs yet. Each run appears here as soon as it begins."
        self.empty = wrapping_label(words, "muted")
        self.table = RunsTable()
        self.left_out = wrapping_label("", "caption")
        self.rename = PlainButton("Rename", self._rename_current)
        self.delete = PlainButton("Delete", self.delete_chosen, "discard")
        self.bin_button = PlainButton("Bin", self._toggle_bin)
        self.use = PlainButton("Use a model on new rows", lambda: self.step_wanted.emit("use"))
        row = in_row((self.filter, 1), self.count_label)
        buttons = in_lines(self.rename, self.delete, self.bin_button, self.use)
        add_to(card.body, row, self.empty, self.table, self.left_out, buttons)
        return card

    def _connect_signals(self) -> None:
        self.filter.textChanged.connect(self._filter_runs)
        self.table.chosen.connect(self._on_selection_changed)
        self.table.open_pressed.connect(self.run_wanted)
        self.table.delete_pressed.connect(self.delete_chosen)
        self.table.note_pressed.connect(self.note.focus_box)
        self.table.runs.renamed.connect(self.runs.rename_run)
        self.runs.changed.connect(self._show_list)
        self.runs.change_reported.connect(self._show_message)
        self.runs.curves_read.connect(self._show_curves)
        self.session.plan_changed.connect(self._on_planned)
        self.session.problem.connect(self._on_planning_failed)
        self._timer = QTimer(self, interval=RELOAD_MILLISECONDS)
        self._timer.timeout.connect(self.runs.reload)
        # In the page alone: elsewhere these keys undo typing.
        for keys, slot in (
            (QKeySequence.StandardKey.Undo, self.runs.undo_change),
            (QKeySequence.StandardKey.Find, self._focus_filter),
        ):
            context = Qt.ShortcutContext.WidgetWithChildrenShortcut
            QShortcut(keys, self, context=context).activated.connect(slot)

    # Showing it -------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.height() - appearance.pixels(BESIDE_TABLE)
        row_height = self.table.verticalHeader().defaultSectionSize()
        self.table.max_rows = max(MIN_ROWS, room // row_height)
        self.table.fit_columns()

    def visited(self) -> None:
        self._show_message("", True)
        self.table.scrollToTop()
        self.runs.reload()
        if self.table.runs.runs:
            self.table.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self.note.save_note()

    def show_and_compare(self, folders: Sequence[str]) -> None:
        self.filter.clear()
        self.table.choose_runs(set(folders), folders[0])
        self.compare_chosen()

    def _show_list(self) -> None:
        run_list = self.runs.run_list
        self.table.show_runs(run_list.runs)
        has_runs = bool(run_list.runs)
        self.empty.setVisible(not has_runs and not self.runs.is_reloading)
        self.table.setVisible(has_runs)
        self.filter.setEnabled(has_runs)
        show_text(self.left_out, left_out_text(run_list.left_out) if run_list.left_out else "")
        self.left_out.setToolTip("\n".join(run_list.left_out.values()))
        self.bin.show_deleted(run_list.deleted)
        count = len(run_list.deleted)
        self.bin_button.set_label(f"Bin ({count})" if count else "Bin")
        self._update_count()
        self._on_selection_changed()
        self._follow_comparison()

    def _filter_runs(self) -> None:
        self.table.show_matching(self.filter.text())
        self._update_count()

    def _update_count(self) -> None:
        total, shown = len(self.table.runs.runs), self.table.runs.rowCount()
        words = f"{total:,} {'run' if total == 1 else 'runs'}"
        self.count_label.setText(words if shown == total else f"{shown:,} of {words}")

    def _on_selection_changed(self) -> None:
        runs = self.table.chosen_runs()
        is_single = len(runs) == 1
        self.primary.set_allowed(is_single, "Choose one run of the list.")
        self.rename.set_allowed(is_single, "Choose one run of the list.")
        self.delete.set_allowed(bool(runs), "Choose runs of the list first.")
        count_hint = f"Choose two to {MAX_RUNS} runs: hold Shift or Ctrl while you choose."
        self.compare.set_allowed(2 <= len(runs) <= MAX_RUNS, count_hint)
        self.note.show_run(runs[0] if is_single else None)

    def _show_message(self, sentence: str, succeeded: bool) -> None:
        show_outcome(self.outcome, sentence, succeeded)
        self._outcome.setVisible(bool(sentence))
        words = self.runs.can_undo
        self.undo.setVisible(bool(words))
        self.undo.setAccessibleName(f"Undo: {words}" if words else "Undo")

    def _focus_filter(self) -> None:
        self.filter.setFocus()
        self.filter.selectAll()

    # What a person does -----------------------------------------------------------------------

    def _open_current(self) -> None:
        if (chosen := self.table.chosen_paths()) and len(chosen) == 1:
            self.run_wanted.emit(chosen[0])

    def _rename_current(self) -> None:
        self.table.setFocus()
        self.table.rename_current()

    def delete_chosen(self) -> None:
        self.note.save_note()
        self.runs.delete_runs(self.table.chosen_paths())

    def _toggle_bin(self) -> None:
        self.bin.setVisible(self.bin.isHidden())
        if self.bin.isVisible():
            QTimer.singleShot(0, self.bin, lambda: self.scroll_area.ensureWidgetVisible(self.bin))

    def _ask_remove(self, folders: list[str]) -> None:
        runs_text = "this run" if len(folders) == 1 else f"these {len(folders)} runs"
        question = f"Remove {runs_text} for good?"
        loss = "Trials, results and the fitted model are lost then."
        if is_deletion_confirmed(self, question, loss, "Keep", "Remove for good"):
            self.runs.remove_for_good(folders)

    # Side by side -----------------------------------------------------------------------------

    def compare_chosen(self) -> None:
        runs = self.table.chosen_runs()
        if 2 <= len(runs) <= MAX_RUNS:
            self._compared = [run.path for run in runs]
            self.compare.set_allowed(False, "The runs are being read.")
            self.runs.read_curves(self._compared)

    def _compared_runs(self) -> list[RunSummary]:
        by_path = {run.path: run for run in self.runs.run_list.runs}
        return [by_path[path] for path in self._compared if path in by_path]

    def _show_curves(self, curves: list[BestSoFarCurve]) -> None:
        self._on_selection_changed()
        runs = self._compared_runs()
        if [run.path for run in runs] != [curve.path for curve in curves]:
            return
        self.comparison_card.show_runs(runs, curves)
        self.comparison_card.show()
        bar, card = self.scroll_area.verticalScrollBar(), self.comparison_card
        QTimer.singleShot(0, card, lambda: bar.setValue(card.y()))

    def _follow_comparison(self) -> None:
        if not self._compared:
            return
        card, runs = self.comparison_card, self._compared_runs()
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
        with QSignalBlocker(self.comparison_card):
            self.comparison_card.hide()
        self.table.setFocus()

    def _plan_again(self, folder: str, seed: int) -> None:
        self._awaits_plan = True
        self.session.plan_again(folder, seed)

    def _on_planned(self) -> None:
        if self._awaits_plan and self.session.plan is not None:
            self._awaits_plan = False
            self.step_wanted.emit("tune")

    def _on_planning_failed(self, _why: str) -> None:
        self._awaits_plan = False
