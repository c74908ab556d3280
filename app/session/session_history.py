"""The history of datasets as the window deals with it: what it holds, and what a person changes.

Every call opens the file and lets go of it again, because runs and other windows use it too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.text.past.history_text import (
    deletion_text,
    export_text,
    import_text,
    starter_removal_text,
    starter_restore_text,
    switch_text,
)
from app.worker.messages import ImportHistory
from core.tuning.history.history_counts import ImportCounts

if TYPE_CHECKING:
    from core.tuning.history.store import History, HistoryEntry


@dataclass(frozen=True)
class HistoryContents:
    """What the history holds now.

    Attributes:
        path: its file.
        entries: one a dataset, the latest first.
        enabled: whether runs are added to it and learned from.
        problem: why it cannot be read, or what was noticed while it was opened; "" for nothing.
        readable: whether `entries` and `enabled` are known.
    """

    path: str
    entries: list[HistoryEntry] = field(default_factory=list)
    enabled: bool = True
    problem: str = ""
    readable: bool = True


class SessionHistory(QObject):
    """What a person does with the history.

    Signals:
        change_reported: (sentence, whether it went well) after every change.
        changed: something was added, deleted or switched.
        import_wanted: an ImportHistory for the worker; `take_answer` or `report_refusal` ends it.
    """

    change_reported = Signal(str, bool)
    changed = Signal()
    import_wanted = Signal(object)

    def read_contents(self) -> HistoryContents:
        """What the history holds now."""
        from core.errors import UnusableError
        from core.tuning.history.store import History, history_path

        path = str(history_path())
        try:
            with History() as history:
                entries = history.entries()
                notice = " ".join(history.notices)
                return HistoryContents(path, entries, history.enabled, notice)
        except UnusableError as error:
            return HistoryContents(path, problem=error.sentence, readable=False)

    def set_enabled(self, on: bool) -> None:
        """Use the history from now on, or no longer."""

        def apply_switch(history: History) -> str:
            history.set_enabled(on)
            return switch_text(on)

        self._change_history(apply_switch)

    def forget_datasets(self, ids: list[str]) -> None:
        """Forget some datasets."""

        def forget_ids(history: History) -> str:
            for id in ids:
                history.forget_dataset(id)
            return deletion_text(len(ids))

        self._change_history(forget_ids)

    def forget_all(self) -> None:
        """Forget everything, also where the file is damaged or locked."""
        from core.errors import UnusableError
        from core.tuning.history.forgetting import forget_everything

        try:
            deletion = forget_everything()
            self.change_reported.emit(
                " ".join([*deletion.notices, deletion_text(deletion.datasets)]), True
            )
        except UnusableError as error:
            self.change_reported.emit(error.sentence, False)
        self.changed.emit()

    def forget_starter(self) -> None:
        """Remove what came with the program."""
        self._change_history(lambda history: starter_removal_text(history.forget_starter()))

    def restore_starter(self) -> None:
        """Bring back what came with the program."""
        self._change_history(lambda history: starter_restore_text(history.restore_starter()))

    def export_to(self, path: str) -> None:
        """Write everything but what came with the program into a file."""
        self._change_history(lambda history: export_text(history.export_to(Path(path)), path))

    def import_from(self, path: str) -> None:
        """Import what another computer wrote."""

        def import_file(history: History) -> str:
            return import_text(history.import_from(Path(path)))

        self._change_history(import_file)

    def import_optuna(self, request: ImportHistory) -> None:
        """Import Optuna studies; the worker does it, for a storage may be large or far away."""
        self.import_wanted.emit(request)

    def take_answer(self, imported: ImportCounts) -> None:
        """What the worker took in."""
        self.change_reported.emit(import_text(imported), True)
        self.changed.emit()

    def report_refusal(self, sentence: str) -> None:
        """Why the worker took nothing in."""
        self.change_reported.emit(sentence, False)

    def _change_history(self, work: Callable[[History], str]) -> None:
        from core.errors import UnusableError
        from core.tuning.history.store import History

        try:
            with History() as history:
                sentence = work(history)
                notices = list(history.notices)
        except UnusableError as error:
            self.change_reported.emit(error.sentence, False)
            return
        self.change_reported.emit(" ".join([*notices, sentence]), True)
        self.changed.emit()
