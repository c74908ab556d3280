"""The past runs for the window: the list, and changes by a person, which can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.session.run_loader import LatestTask
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import DeletedRun, RunSummary
    from core.tuning.runs.run_comparison import BestSoFarCurve


class RunList(NamedTuple):
    """The runs, newest first, the reasons of skipped folders, and the bin."""

    runs: list[RunSummary]
    left_out: dict[str, str]
    deleted: list[DeletedRun]


class _Undo(NamedTuple):
    words: str
    undo: Callable[[], object]


class SessionRuns(QObject):
    """The list of past runs, and a person's changes of it."""

    changed = Signal()  # another list was read
    change_reported = Signal(str, bool)  # after every change: sentence, whether it succeeded
    curves_read = Signal(object)  # a list of BestSoFarCurve
    gone = Signal(object)  # the folder of a deleted run

    def __init__(self, root: Callable[[], Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self.run_list = RunList([], {}, [])
        self._undos: list[_Undo] = []
        self._needs_reload = False
        self._lister, self._reader = LatestTask(self), LatestTask(self)
        self._lister.done.connect(self._take_list)
        self._reader.done.connect(self._take_curves)

    # Reading ----------------------------------------------------------------------------------

    def reload(self) -> None:
        """`changed` follows, at once where the runs are few."""
        if self._lister.goes_on:
            # The present reading may have begun before the change that is to be seen.
            self._needs_reload = True
            return
        root = self._root()
        self._lister.start(lambda _wanted: _read_run_list(root))
        # A short list is there at once: the page does not flicker.
        self._lister.take_soon()

    def _take_list(self, run_list: RunList | None) -> None:
        if run_list is not None:
            self.run_list = run_list
            self.changed.emit()
        if self._needs_reload:
            self._needs_reload = False
            self.reload()

    @property
    def is_reloading(self) -> bool:
        return self._lister.goes_on

    def read_curves(self, folders: Sequence[str]) -> None:
        """`curves_read` follows, for the latest folders."""
        self._reader.start(partial(_read_curves, folders))

    def _take_curves(self, curves: list[BestSoFarCurve] | None) -> None:
        if curves is not None:
            self.curves_read.emit(curves)

    def shutdown(self) -> None:
        self._reader.shutdown()
        self._lister.shutdown()

    # Changing ---------------------------------------------------------------------------------

    def rename_run(self, folder: str, name: str) -> bool:
        """Rename a run, "" for the folder's name; whether it succeeded."""
        name = " ".join(name.split())
        return self._change_label(folder, "name", name, "The run has another name.", "Renaming")

    def write_note(self, folder: str, note: str) -> bool:
        return self._change_label(folder, "note", note.rstrip(), "The note is kept.", "The note")

    def _change_label(self, folder: str, field: str, text: str, sentence: str, words: str) -> bool:
        from core.tuning.runs.past_runs import read_label, write_label

        before = read_label(Path(folder))
        if getattr(before, field) == text:
            return True

        def store_text(text: str) -> None:
            # Name and note share a file: only the one that is changed is written, and goes back.
            write_label(Path(folder), replace(read_label(Path(folder)), **{field: text}))

        undo = _Undo(words, partial(store_text, getattr(before, field)))
        return self._try_change(partial(store_text, text), sentence, undo)

    def delete_runs(self, folders: Sequence[str]) -> None:
        """One that goes on is skipped and reported."""
        from core.tuning.runs.past_runs import KEPT_DAYS, delete_run

        deleted_folders: list[Path] = []
        faults: list[str] = []
        for folder in folders:
            try:
                deleted_folders.append(delete_run(Path(folder), self._root()))
                # The window may show this run, of which nothing could be saved any more.
                self.gone.emit(Path(folder))
            except UnusableError as error:
                faults.append(error.sentence)
        if deleted_folders:
            self._undos.append(_Undo("Deleting", lambda: self._bring_back(deleted_folders)))
        pronoun = "it" if len(deleted_folders) == 1 else "them"
        sentence = (
            f"{_runs_are(deleted_folders)} in the bin and removed for good in {KEPT_DAYS} days. "
            f"Undo brings {pronoun} back."
        )
        sentences = [sentence] if deleted_folders else []
        self._report_change(" ".join([*sentences, *faults]), not faults)

    def restore_runs(self, folders: Sequence[str]) -> None:
        paths = [Path(folder) for folder in folders]
        self._try_change(partial(self._bring_back, paths), f"{_runs_are(folders)} back.")

    def _bring_back(self, folders: Sequence[Path]) -> None:
        from core.tuning.runs.past_runs import restore_run

        for folder in folders:
            restore_run(folder, self._root())

    def remove_for_good(self, folders: Sequence[str]) -> None:
        from core.tuning.runs.past_runs import remove_for_good

        def remove_all() -> None:
            for folder in folders:
                remove_for_good(Path(folder), self._root())

        self._try_change(remove_all, f"{_runs_are(folders)} removed for good.")

    @property
    def can_undo(self) -> str:
        """Deleting, Renaming or The note; "" for nothing."""
        return self._undos[-1].words if self._undos else ""

    def undo_change(self) -> None:
        if self._undos:
            last = self._undos.pop()
            self._try_change(last.undo, f"{last.words} was undone.")

    def _try_change(
        self, change: Callable[[], object], sentence: str, undo: _Undo | None = None
    ) -> bool:
        try:
            change()
        except UnusableError as error:
            self._report_change(error.sentence, False)
            return False
        self._undos += [undo] if undo is not None else []
        self._report_change(sentence)
        return True

    def _report_change(self, sentence: str, succeeded: bool = True) -> None:
        self.reload()
        self.change_reported.emit(sentence, succeeded)


def _runs_are(folders: Sequence[object]) -> str:
    return "The run is" if len(folders) == 1 else f"{len(folders)} runs are"


def _read_run_list(root: Path) -> RunList:
    from core.tuning.runs.past_runs import deleted_runs, list_runs

    return RunList(*list_runs(root), deleted_runs(root))


def _read_curves(folders: Sequence[str], is_wanted: Callable[[], bool]) -> list[BestSoFarCurve]:
    from core.tuning.runs.run_comparison import curve_of

    return [curve_of(Path(folder), is_wanted) for folder in folders]
