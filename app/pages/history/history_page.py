"""The history: what tuning keeps of earlier datasets, and everything one can do with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QMessageBox, QWidget

from app.pages.history.table import HistoryTable
from app.pages.page import Page
from app.preferences import preferences as settings
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label, restyle

if TYPE_CHECKING:
    from app.session.history import HistoryContents
    from app.session.session import Session

FOLDER_KEY = "history/folder"


class HistoryPage(Page):
    """The history of datasets, in plain words."""

    topic = "history"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.history = session.history
        self.set_head(
            "History",
            "What worked on earlier datasets decides the first trials on a new one.",
        )
        self.outcome = label()
        self.outcome.hide()
        self.under_head.addWidget(self.outcome)
        self.body.addWidget(self._make_kept())
        self.body.addWidget(self._make_datasets())
        self.body.addWidget(self._make_exchange())
        self.body.addStretch(1)
        self.history.said.connect(self._say)
        self.history.changed.connect(self.refresh)
        session.run_changed.connect(self._run_changed)
        self.tell("How it helps", self._how_it_helps())

    # Making it --------------------------------------------------------------------------------

    def _make_kept(self) -> Card:
        card = Card("What the history holds")
        card.body.addWidget(
            label(
                "Kept of each dataset: how many rows, columns and classes it has, which "
                "settings were tried, and how they scored."
            )
        )
        card.body.addWidget(
            label("Never kept: a row, a column's name, a value, or the file's name.")
        )
        self.place = label("", "caption")
        self.place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        card.body.addWidget(self.place)
        self.switch = QCheckBox("Keep a history of tuning")
        self.switch.setAccessibleName("Keep a history of tuning")
        self.switch.setAccessibleDescription(
            "Off: nothing is added to the history or read from it."
        )
        self.switch.setMinimumHeight(24)
        self.switch.toggled.connect(self.history.switch)
        card.body.addWidget(self.switch)
        self.trouble = label("", "warning")
        self.trouble.hide()
        card.body.addWidget(self.trouble)
        return card

    def _make_datasets(self) -> Card:
        self.datasets = Card("Datasets")
        self.empty = label(
            (
                "The history is empty. When a run with trials has ended, its dataset "
                "is listed here in one line."
            ),
            "muted",
        )
        self.table = HistoryTable()
        self.table.chosen.connect(self._allow)
        self.table.forget_pressed.connect(self.forget_chosen)
        self.datasets.body.addWidget(self.empty)
        self.datasets.body.addWidget(self.table)
        self.forget = PlainButton("Delete", self.forget_chosen, "discard")
        self.forget_all = PlainButton("Delete all…", self.ask_forget_all)
        self.starter = PlainButton("", self._change_starter)
        self.datasets.body.addWidget(_row(self.forget, self.forget_all, self.starter))
        return self.datasets

    def _make_exchange(self) -> Card:
        card = Card(
            "Other computers and programs",
            (
                "Export the history for another computer, or import one from there, or Optuna "
                "studies."
            ),
        )
        self.save = PlainButton("Export…", self.ask_save, "save")
        self.import_button = PlainButton("Import…", self.ask_import, "open")
        self.optuna = PlainButton("Import Optuna studies…", self.ask_optuna)
        card.body.addWidget(_row(self.save, self.import_button, self.optuna))
        return card

    def _how_it_helps(self) -> tuple[str, ...]:
        return (
            (
                "Strategies that learn from earlier datasets look up what worked on datasets "
                "of a similar size, and begin there."
            ),
            "Every run with trials adds one line here, whatever its strategy.",
            (
                "Some lines are shipped with Tunescope, so that this helps from the first day. "
                "You can remove and restore them."
            ),
            "Everything stays on this computer. What you delete is erased from the file.",
        )

    # Showing it -------------------------------------------------------------------------------

    def visited(self) -> None:
        """Look at the file anew."""
        self._say("", True)
        self.refresh()

    def refresh(self) -> None:
        """Show what the history holds now."""
        self._show(self.history.look())

    def _show(self, now: HistoryContents) -> None:
        self.place.setText(f"File: {now.path}")
        with QSignalBlocker(self.switch):
            self.switch.setChecked(now.enabled and now.readable)
        self.switch.setEnabled(now.readable)
        self.trouble.setText(now.problem)
        self.trouble.setVisible(bool(now.problem))
        self.empty.setVisible(not now.entries)
        self.table.setVisible(bool(now.entries))
        self.table.show_entries(now.entries, self._titles())
        self._readable = now.readable
        self._has_starter = any(entry.starter for entry in now.entries)
        words = "Remove shipped datasets"
        if not self._has_starter:
            words = "Restore shipped datasets"
        self.starter.rename(words)
        self.datasets.set_words(self._counted(len(now.entries)))
        self._allow()

    def _titles(self) -> dict[str, str]:
        from core.estimators.registry import MODELS  # not needed before this page

        return {name: model.title for name, model in MODELS.items()}

    def _counted(self, count: int) -> str:
        if count == 1:
            return "1 dataset"
        return f"{count} datasets" if count else "Datasets"

    def _allow(self) -> None:
        unreadable = "The file cannot be read."
        nothing = "The history is empty."
        there = bool(self.table.model_of_entries.entries)
        readable = getattr(self, "_readable", False)
        chosen = bool(self.table.chosen_ids())
        self.forget.allow(chosen, "Choose rows of the table first.")
        self.forget_all.allow(there, nothing)
        self.save.allow(there, nothing)
        for button in (self.starter, self.import_button):
            button.allow(readable, unreadable)
        going_on = self.session.is_going_on
        why_not = "A run is going on. Import studies when it has ended."
        self.optuna.allow(readable and not going_on, why_not if readable else unreadable)

    def _run_changed(self) -> None:
        if self.isVisible():
            self.refresh()

    def _say(self, sentence: str, well: bool) -> None:
        self.outcome.setText(sentence)
        self.outcome.setAccessibleName(sentence)
        restyle(self.outcome, voice="good" if well else "bad")
        self.outcome.setVisible(bool(sentence))
        if sentence:
            alert = QAccessibleEvent(self.outcome, QAccessible.Event.Alert)
            QAccessible.updateAccessibility(alert)
            if not well:
                self.refresh()  # what was switched is not

    # What a person does -----------------------------------------------------------------------

    def forget_chosen(self) -> None:
        """Forget the chosen rows."""
        self.history.forget(self.table.chosen_ids())

    def ask_forget_all(self) -> None:
        """Ask, then forget everything."""
        box = QMessageBox(self)
        box.setObjectName("forgetting")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Delete all")
        box.setText("Delete the whole history?")
        box.setInformativeText(
            "It is erased from the file and cannot be restored, except what is shipped with "
            "Tunescope. Your runs and models stay."
        )
        stay = box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole)
        gone = box.addButton("Delete all", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.exec()
        if box.clickedButton() is gone:
            self.history.forget_all()

    def _change_starter(self) -> None:
        if self._has_starter:
            self.history.forget_starter()
        else:
            self.history.restore_starter()

    def ask_save(self) -> None:
        """Ask for a place and save there."""
        proposed = str(Path(settings.text(FOLDER_KEY, str(Path.home()))) / "tunescope-history.json")
        title = "Export the history"
        path, _ = QFileDialog.getSaveFileName(self, title, proposed, "JSON (*.json)")
        if path:
            path = path if Path(path).suffix else f"{path}.json"
            settings.remember(FOLDER_KEY, str(Path(path).parent))
            self.history.export_to(path)

    def ask_import(self) -> None:
        """Ask for a file and import what it holds."""
        folder = settings.text(FOLDER_KEY, str(Path.home()))
        title = "Import a history"
        path, _ = QFileDialog.getOpenFileName(self, title, folder, "JSON (*.json)")
        if path:
            settings.remember(FOLDER_KEY, str(Path(path).parent))
            self.history.import_from(path)

    def ask_optuna(self) -> None:
        """Ask which studies, and let the worker take them in."""
        from app.dialogs.optuna import OptunaDialog

        plan, summary = self.session.plan, self.session.summary
        wanted = OptunaDialog(plan.model if plan else "", summary, self).ask()
        if wanted is not None:
            self._say("The studies are being read …", True)
            self.history.import_optuna(wanted)


def _row(*buttons: PlainButton) -> QWidget:
    holder = QWidget()
    flow = FlowLayout(holder, gap=8)
    for button in buttons:
        flow.addWidget(button)
    return holder
