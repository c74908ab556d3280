"""The page about the history of earlier datasets, with their table."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QLocale, QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog

from app.dialogs.message_boxes import is_deletion_confirmed
from app.pages.page import Page
from app.preferences import preferences as settings
from app.session.session import Session
from app.text.past_runs_text import day_of
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import add_to, in_lines
from app.widgets.plain_table import CellModel, RowTable
from app.widgets.text_labels import show_outcome, show_text, wrapping_label
from core.tuning.history.dataset_records import HistoryEntry
from core.tuning.scores.score import named_score_text
from core.wording import count_text

MIN_ROWS, MAX_ROWS = 4, 10  # that are seen without scrolling
FOLDER_KEY = "history/folder"
HOW_IT_HELPS = (
    "Strategies that learn from earlier datasets look up what worked on datasets of a similar "
    "size, and begin there.",
    "Every run with trials adds one line here, whatever its strategy.",
    "Some lines are shipped with Tunescope, so that this helps from the first day. You can remove "
    "and restore them.",
    "Everything stays on this computer. What you delete is erased from the file.",
)


def origin_of(entry: HistoryEntry) -> str:
    """Where it came from; the day of a run of this computer."""
    if entry.starter:
        return "shipped"
    return "imported" if entry.imported else day_of(entry.when)


class HistoryModel(CellModel):
    """A row for each dataset, the latest first."""

    heads = ("model", "best", "size", "classes", "trials", "added")
    numbers = (2, 3, 4)
    tips: ClassVar[dict[str, str]] = {
        "size": "Rows × columns.",
        "added": "The day of your run; imported from elsewhere; or shipped with Tunescope.",
    }

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[HistoryEntry] = []
        self._titles: dict[str, str] = {}
        self._cell_cache: dict[int, list[str]] = {}  # by row

    def show_entries(self, entries: list[HistoryEntry], titles: dict[str, str]) -> None:
        self.beginResetModel()
        self.rows, self._titles = entries, titles
        self._cell_cache = {}
        self.endResetModel()

    def cell_text(self, row: int, column: int) -> str:
        if row not in self._cell_cache:
            self._cell_cache[row] = self._entry_cells(self.rows[row])
        return self._cell_cache[row][column]

    def _entry_cells(self, entry: HistoryEntry) -> list[str]:
        number = QLocale().toString
        return [
            self._titles.get(entry.model, entry.model),
            named_score_text(entry.best, entry.metric),
            f"{number(entry.rows)} × {number(entry.features)}",
            number(entry.classes) if entry.classes else "–",
            number(entry.trials),
            origin_of(entry),
        ]


class HistoryTable(RowTable):
    """The datasets, whose rows are chosen."""

    def __init__(self) -> None:
        self.model_of_entries = HistoryModel()
        description = "Choose rows; the Delete key deletes them from the history."
        super().__init__(self.model_of_entries, "Datasets of the history", description)
        self.horizontalHeader().setAccessibleName("Columns of the table")
        self.model_of_entries.modelReset.connect(self.fit_columns)

    def is_elastic(self, column: int) -> bool:
        return False  # a few short words fit: nothing is cut

    def show_entries(self, entries: list[HistoryEntry], titles: dict[str, str]) -> None:
        if entries != self.model_of_entries.rows:
            self.model_of_entries.show_entries(entries, titles)
            self.chosen.emit()

    def chosen_ids(self) -> list[str]:
        return [self.model_of_entries.rows[row].id for row in self.chosen_rows()]

    def fit_columns(self) -> None:
        super().fit_columns()
        self.fit_height(min(MAX_ROWS, max(MIN_ROWS, self.model_of_entries.rowCount())))


class HistoryPage(Page):
    """The datasets, the switch, export and import."""

    topic = "history"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.history, self._readable = session.history, False
        subtitle = "What worked on earlier datasets decides the first trials on a new one."
        self.set_head("History", subtitle)
        self.outcome = wrapping_label()
        self.outcome.hide()
        self.under_head.addWidget(self.outcome)
        add_to(self.body, self._make_contents(), self._make_datasets(), self._make_exchange(), 1)
        self.history.change_reported.connect(self._show_message)
        self.history.changed.connect(self.refresh)
        session.run_changed.connect(self.request_refresh)
        self.set_panel("How it helps", HOW_IT_HELPS)

    # Making it --------------------------------------------------------------------------------

    def _make_contents(self) -> Card:
        card = Card("What the history holds")
        words = (
            "Kept of each dataset: how many rows, columns and classes it has, which settings were "
            "tried, and how they scored."
        )
        never_words = "Never kept: a row, a column's name, a value, or the file's name."
        self.path_label = wrapping_label("", "caption")
        self.path_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.switch = switch = QCheckBox("Keep a history of tuning")
        switch.setAccessibleName("Keep a history of tuning")
        switch.setAccessibleDescription("Off: nothing is added to the history or read from it.")
        switch.setMinimumHeight(24)
        switch.toggled.connect(self.history.set_enabled)
        self.trouble = wrapping_label("", "warning")
        self.trouble.hide()
        lines = (wrapping_label(words), wrapping_label(never_words), self.path_label)
        add_to(card.body, *lines, switch, self.trouble)
        return card

    def _make_datasets(self) -> Card:
        self.datasets = Card("Datasets")
        self.empty = wrapping_label(
            "The history is empty. When a run with trials has ended, its dataset "
            "is listed here in one line.",
            "muted",
        )
        self.table = HistoryTable()
        self.table.chosen.connect(self._update_buttons)
        self.table.delete_pressed.connect(self.forget_chosen)
        self.forget = PlainButton("Delete…", self.forget_chosen, "discard")
        self.forget_all = PlainButton("Delete all…", self.ask_forget_all)
        self.starter = PlainButton("", self._change_starter)
        buttons = in_lines(self.forget, self.forget_all, self.starter)
        add_to(self.datasets.body, self.empty, self.table, buttons)
        return self.datasets

    def _make_exchange(self) -> Card:
        card = Card(
            "Other computers and programs",
            "Export the history for another computer, or import one from there, or Optuna studies.",
        )
        self.save = PlainButton("Export…", self.ask_save, "save")
        self.import_button = PlainButton("Import…", self.ask_import, "open")
        self.optuna = PlainButton("Import Optuna studies…", self.ask_optuna)
        card.body.addWidget(in_lines(self.save, self.import_button, self.optuna))
        return card

    # Showing it -------------------------------------------------------------------------------

    def visited(self) -> None:
        self._show_message("", True)
        self.refresh()

    def refresh(self) -> None:
        from core.estimators.registry import MODELS  # not needed before this page

        contents = self.history.read_contents()
        self.path_label.setText(f"File: {contents.path}")
        with QSignalBlocker(self.switch):
            self.switch.setChecked(contents.enabled and contents.readable)
        self.switch.setEnabled(contents.readable)
        show_text(self.trouble, contents.problem)
        self.empty.setVisible(not contents.entries)
        self.table.setVisible(bool(contents.entries))
        titles = {name: model.title for name, model in MODELS.items()}
        self.table.show_entries(contents.entries, titles)
        self._readable = contents.readable
        self._has_starter = any(entry.starter for entry in contents.entries)
        change = "Remove" if self._has_starter else "Restore"
        self.starter.set_label(f"{change} shipped datasets")
        count = len(contents.entries)
        self.datasets.set_words(count_text(count, "dataset") if count else "Datasets")
        self._update_buttons()

    def _update_buttons(self) -> None:
        unreadable = "The file cannot be read."
        nothing = "The history is empty."
        has_entries = bool(self.table.model_of_entries.rows)
        self.forget.set_allowed(bool(self.table.chosen_ids()), "Choose rows of the table first.")
        self.forget_all.set_allowed(has_entries, nothing)
        self.save.set_allowed(has_entries, nothing)
        for button in (self.starter, self.import_button):
            button.set_allowed(self._readable, unreadable)
        is_allowed = self._readable and not self.session.is_going_on
        why_not = "A run is in progress. Import studies when it has ended."
        self.optuna.set_allowed(is_allowed, why_not if self._readable else unreadable)

    def _show_message(self, sentence: str, succeeded: bool) -> None:
        show_outcome(self.outcome, sentence, succeeded)
        if not succeeded:
            # A switch that failed is still as it was, and so must the box look.
            self.refresh()

    # What a person does -----------------------------------------------------------------------

    def forget_chosen(self) -> None:
        ids = self.table.chosen_ids()
        loss = "It is erased from the file and cannot be restored. Your runs and models stay."
        question = f"Delete {count_text(len(ids), 'dataset')} from the history?"
        if is_deletion_confirmed(self, question, loss, "Keep it", "Delete", name="forgetting"):
            self.history.forget_datasets(ids)

    def ask_forget_all(self) -> None:
        consequence = (
            "It is erased from the file and cannot be restored, except what is shipped with "
            "Tunescope. Your runs and models stay."
        )
        words = ("Delete the whole history?", consequence, "Keep it", "Delete all")
        if is_deletion_confirmed(self, *words, name="forgetting"):
            self.history.forget_all()

    def _change_starter(self) -> None:
        if self._has_starter:
            self.history.forget_starter()
        else:
            self.history.restore_starter()

    def ask_save(self) -> None:
        words = "Export the history", "tunescope-history.json"
        if path := self._ask_path(QFileDialog.getSaveFileName, *words):
            # Qt adds no ending where a person types none.
            self.history.export_to(path if Path(path).suffix else f"{path}.json")

    def ask_import(self) -> None:
        if path := self._ask_path(QFileDialog.getOpenFileName, "Import a history"):
            self.history.import_from(path)

    def _ask_path(self, ask: Callable[..., tuple[str, str]], title: str, name: str = "") -> str:
        folder = settings.stored_text(FOLDER_KEY, str(Path.home()))
        path, _ = ask(self, title, str(Path(folder) / name), "JSON (*.json)")
        if path:
            settings.remember(FOLDER_KEY, str(Path(path).parent))
        return path

    def ask_optuna(self) -> None:
        from app.dialogs.optuna_dialog import OptunaDialog

        plan, summary = self.session.plan, self.session.summary
        model = plan.model if plan else ""
        dialog = OptunaDialog(model, summary, self.history.import_wanted.emit, self)
        self.history.change_reported.connect(dialog.take_outcome)
        dialog.exec()
        dialog.deleteLater()  # it hears of changes until then
