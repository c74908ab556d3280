"""The history of datasets as the window deals with it: what it holds, and what a person changes.

Every call opens the file and lets go of it again, because runs and other windows use it too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.text.past.history import (
    brought_back,
    forgotten,
    removed_starter,
    saved,
    switched,
    taken_in,
)
from app.worker.messages import ImportHistory

if TYPE_CHECKING:
    from core.tuning.history.store import Entry, History


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
    entries: list[Entry] = field(default_factory=list)
    enabled: bool = True
    problem: str = ""
    readable: bool = True


class SessionHistory(QObject):
    """What a person does with the history.

    Signals:
        said: (sentence, whether it went well) after every change.
        changed: something was added, deleted or switched.
        import_wanted: an ImportHistory for the worker; `take_answer` or `refuse` ends it.
    """

    said = Signal(str, bool)
    changed = Signal()
    import_wanted = Signal(object)

    def look(self) -> HistoryContents:
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

    def switch(self, on: bool) -> None:
        """Use the history from now on, or no longer."""

        def work(history: History) -> str:
            history.switch(on)
            return switched(on)

        self._do(work)

    def forget(self, ids: list[str]) -> None:
        """Forget some datasets."""

        def work(history: History) -> str:
            for id in ids:
                history.forget(id)
            return forgotten(len(ids))

        self._do(work)

    def forget_all(self) -> None:
        """Forget everything, also where the file is damaged or locked."""
        from core.errors import UnusableError
        from core.tuning.history.forgetting import forget_everything

        try:
            gone = forget_everything()
            self.said.emit(" ".join([*gone.notices, forgotten(gone.datasets)]), True)
        except UnusableError as error:
            self.said.emit(error.sentence, False)
        self.changed.emit()

    def forget_starter(self) -> None:
        """Remove what came with the program."""
        self._do(lambda history: removed_starter(history.forget_starter()))

    def restore_starter(self) -> None:
        """Bring back what came with the program."""
        self._do(lambda history: brought_back(history.restore_starter()))

    def export_to(self, path: str) -> None:
        """Write everything but what came with the program into a file."""
        self._do(lambda history: saved(history.export_to(Path(path)), path))

    def import_from(self, path: str) -> None:
        """Import what another computer wrote."""

        def work(history: History) -> str:
            found = history.import_from(Path(path))
            return taken_in(found.datasets, found.trials, found.known_already, list(found.left_out))

        self._do(work)

    def import_optuna(self, wanted: ImportHistory) -> None:
        """Import Optuna studies; the worker does it, for a storage may be large or far away."""
        self.import_wanted.emit(wanted)

    def take_answer(self, imported: dict[str, Any]) -> None:
        """What the worker took in."""
        brought = (imported["datasets"], imported["trials"], imported["known_already"])
        self.said.emit(taken_in(*brought, list(imported["left_out"])), True)
        self.changed.emit()

    def refuse(self, sentence: str) -> None:
        """Why the worker took nothing in."""
        self.said.emit(sentence, False)

    def _do(self, work: Callable[[History], str]) -> None:
        from core.errors import UnusableError
        from core.tuning.history.store import History

        try:
            with History() as history:
                sentence = work(history)
                notices = list(history.notices)
        except UnusableError as error:
            self.said.emit(error.sentence, False)
            return
        self.said.emit(" ".join([*notices, sentence]), True)
        self.changed.emit()
