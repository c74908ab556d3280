"""The history of datasets for the window, whose file is open only within a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.text import history_text as texts
from core.errors import UnusableError
from core.tuning.history.dataset_records import HistoryEntry, ImportCounts

if TYPE_CHECKING:
    from core.tuning.history.store import History


@dataclass(frozen=True)
class HistoryContents:
    """The current contents of the history."""

    path: str
    entries: list[HistoryEntry] = field(default_factory=list)  # the latest first
    enabled: bool = True  # runs are added and learned from
    problem: str = ""  # on opening
    readable: bool = True


class SessionHistory(QObject):
    """The history, and a person's changes of it."""

    change_reported = Signal(str, bool)  # after every change: sentence, whether it succeeded
    changed = Signal()
    # An ImportHistory for the worker, as storages may be large or far away; then comes
    # `take_answer` or `report_refusal`.
    import_wanted = Signal(object)

    def read_contents(self) -> HistoryContents:
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
        def apply_switch(history: History) -> str:
            history.set_enabled(on)
            return texts.switch_text(on)

        self._change_history(apply_switch)

    def forget_datasets(self, ids: list[str]) -> None:
        def forget_ids(history: History) -> str:
            for id in ids:
                history.forget_dataset(id)
            return texts.deletion_text(len(ids))

        self._change_history(forget_ids)

    def forget_all(self) -> None:
        """Delete everything, also where the file is damaged or locked."""
        from core.tuning.history.store import forget_everything

        try:
            deletion = forget_everything()
            sentences = [*deletion.notices, texts.deletion_text(deletion.datasets)]
            self.change_reported.emit(" ".join(sentences), True)
        except UnusableError as error:
            self.change_reported.emit(error.sentence, False)
        self.changed.emit()

    def forget_starter(self) -> None:
        self._change_history(lambda history: texts.starter_removal_text(history.forget_starter()))

    def restore_starter(self) -> None:
        self._change_history(lambda history: texts.starter_restore_text(history.restore_starter()))

    def export_to(self, path: str) -> None:
        self._change_history(lambda history: texts.export_text(history.export_to(Path(path)), path))

    def import_from(self, path: str) -> None:
        self._change_history(lambda history: texts.import_text(history.import_from(Path(path))))

    def take_answer(self, imported: ImportCounts) -> None:
        self.change_reported.emit(texts.import_text(imported), True)
        self.changed.emit()

    def report_refusal(self, sentence: str) -> None:
        self.change_reported.emit(sentence, False)

    def _change_history(self, work: Callable[[History], str]) -> None:
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
