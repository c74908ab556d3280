"""The past runs as the window deals with them: what there are, and what a person changes.

Lists and curves are read in a thread of their own. A change is one small file or one renaming, so
the window's thread makes it; each can be undone, the last first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QThread, Signal

from app.session.frozen_events import collection_paused
from app.session.run_loader import taking_turns
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.runs.deleted_runs import DeletedRun
    from core.tuning.runs.past_runs import PastRuns, RunSummary
    from core.tuning.runs.run_comparison import BestSoFarCurve
    from core.tuning.runs.run_labels import RunLabel

AT_ONCE = 50  # milliseconds that the window waits for a list, which usually takes fewer
PATIENCE = 3000  # milliseconds that the end of the program waits for a thread


class RunList(NamedTuple):
    """The runs, newest first, why folders are left out, and what is in the bin."""

    runs: list[RunSummary]
    left_out: dict[str, str]
    deleted: list[DeletedRun]


class _Undo(NamedTuple):
    """How the last change is taken back, and what is said of it then."""

    words: str
    undo: Callable[[], object]


class _Task(QThread):
    """Works out one thing; `outcome` is there when `ended` comes, None where it failed."""

    ended = Signal(object)

    def __init__(self, work: Callable[[Callable[[], bool]], object]) -> None:
        super().__init__()
        self._work = work
        self.outcome: object = None

    def run(self) -> None:
        """Do it."""
        try:
            with collection_paused(), taking_turns():
                self.outcome = self._work(lambda: not self.isInterruptionRequested())
        finally:
            self.ended.emit(self)


class SessionRuns(QObject):
    """What a person does with past runs.

    Attributes:
        run_list: the list as it was read last.
        can_undo: what would be undone, in words; "" for nothing.

    Signals:
        changed: another list was read.
        change_reported: (sentence, whether it went well) after every change.
        curves_read: the curves that were asked for, a list of BestSoFarCurve.
        gone: the folder of a run that is deleted now.
    """

    changed = Signal()
    change_reported = Signal(str, bool)
    curves_read = Signal(object)
    gone = Signal(object)

    def __init__(self, root: Callable[[], Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self.run_list = RunList([], {}, [])
        self._undos: list[_Undo] = []
        self._lister: _Task | None = None
        self._reader: _Task | None = None
        self._needs_reload = False
        self._stopped_tasks: list[_Task] = []

    # Reading ----------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the list anew; `changed` tells when it is there, at once where there are few."""
        if self._lister is not None:
            self._needs_reload = True  # what is read now may have begun before the change
            return
        root = self._root()
        self._lister = _Task(lambda _wanted: _read_run_list(root))
        self._lister.ended.connect(self._take_list)
        self._lister.start()
        if self._lister.wait(AT_ONCE):
            self._take_list(self._lister)

    def _take_list(self, task: _Task) -> None:
        if task is not self._lister:
            return
        task.wait()
        self._lister = None
        if isinstance(task.outcome, RunList):
            self.run_list = task.outcome
            self.changed.emit()
        if self._needs_reload:
            self._needs_reload = False
            self.reload()

    @property
    def is_reloading(self) -> bool:
        """Whether a list is being read."""
        return self._lister is not None

    def read_curves(self, folders: Sequence[str]) -> None:
        """Read the curves of some runs; `curves_read` tells. Others that are read are left."""
        self._leave_reader()
        self._reader = _Task(lambda wanted: _read_curves(folders, wanted))
        self._reader.ended.connect(self._take_curves)
        self._reader.start()

    def _take_curves(self, task: _Task) -> None:
        if task is not self._reader:
            return
        task.wait()
        self._reader = None
        if task.outcome is not None:
            self.curves_read.emit(task.outcome)

    def _leave_reader(self) -> None:
        task, self._reader = self._reader, None
        if task is not None:
            task.requestInterruption()
            self._stopped_tasks.append(task)
        self._stopped_tasks = [
            stopped_task for stopped_task in self._stopped_tasks if not stopped_task.wait(0)
        ]

    def shutdown(self) -> None:
        """Read nothing more, and wait for what is read."""
        self._leave_reader()
        lister, self._lister = self._lister, None
        for task in (*self._stopped_tasks, *([lister] if lister is not None else [])):
            task.wait(PATIENCE)

    # Changing ---------------------------------------------------------------------------------

    def rename_run(self, folder: str, name: str) -> bool:
        """Give a run a name; "" for that of its folder. Whether it went well."""
        name = " ".join(name.split())
        return self._change_label(folder, "name", name, "The run has another name.", "Renaming")

    def write_note(self, folder: str, note: str) -> bool:
        """Write a note to a run; whether it went well."""
        return self._change_label(folder, "note", note.rstrip(), "The note is kept.", "The note")

    def _change_label(self, folder: str, field: str, text: str, sentence: str, words: str) -> bool:
        from core.tuning.runs.run_labels import read_label, write_label

        before = read_label(Path(folder))
        if getattr(before, field) == text:
            return True

        def store_label(label: RunLabel) -> None:
            write_label(Path(folder), label)

        def restore_label() -> None:
            now = read_label(Path(folder))
            store_label(replace(now, **{field: getattr(before, field)}))

        if not self._try_change(lambda: store_label(replace(before, **{field: text}))):
            return False
        self._undos.append(_Undo(words, restore_label))
        self._report_change(sentence)
        return True

    def delete_runs(self, folders: Sequence[str]) -> None:
        """Put runs into the bin; one that is under way stays, and is named."""
        from core.tuning.runs.deleted_runs import KEPT_DAYS, delete_run

        deleted_folders: list[Path] = []
        faults: list[str] = []
        for folder in folders:
            try:
                deleted_folders.append(delete_run(Path(folder), self._root()))
                self.gone.emit(Path(folder))
            except UnusableError as error:
                faults.append(error.sentence)
        if deleted_folders:
            self._undos.append(_Undo("Deleting", lambda: self._bring_back(deleted_folders)))
        subject = "The run is" if len(deleted_folders) == 1 else f"{len(deleted_folders)} runs are"
        pronoun = "it" if len(deleted_folders) == 1 else "them"
        sentence = (
            f"{subject} in the bin and removed for good in {KEPT_DAYS} days. "
            f"Undo brings {pronoun} back."
        )
        self._report_change(
            " ".join([*([sentence] if deleted_folders else []), *faults]), not faults
        )

    def restore_runs(self, folders: Sequence[str]) -> None:
        """Bring runs back from the bin."""
        if self._try_change(lambda: self._bring_back([Path(folder) for folder in folders])):
            subject = "The run is" if len(folders) == 1 else f"{len(folders)} runs are"
            self._report_change(f"{subject} back.")
        else:
            self.reload()

    def _bring_back(self, folders: Sequence[Path]) -> None:
        from core.tuning.runs.deleted_runs import restore_run

        for folder in folders:
            restore_run(folder, self._root())

    def remove_for_good(self, folders: Sequence[str]) -> None:
        """Remove runs that are in the bin; nothing brings them back."""
        from core.tuning.runs.deleted_runs import remove_for_good

        def remove_all() -> None:
            for folder in folders:
                remove_for_good(Path(folder), self._root())

        if self._try_change(remove_all):
            subject = "The run is" if len(folders) == 1 else f"{len(folders)} runs are"
            self._report_change(f"{subject} removed for good.")
        else:
            self.reload()

    @property
    def can_undo(self) -> str:
        """What would be undone: "Deleting", "Renaming", "The note"; "" for nothing."""
        return self._undos[-1].words if self._undos else ""

    def undo_change(self) -> None:
        """Take the last change back."""
        if not self._undos:
            return
        last = self._undos.pop()
        if self._try_change(last.undo):
            self._report_change(f"{last.words} was undone.")
        else:
            self.reload()

    def _try_change(self, change: Callable[[], object]) -> bool:
        try:
            change()
        except UnusableError as error:
            self.change_reported.emit(error.sentence, False)
            return False
        return True

    def _report_change(self, sentence: str, well: bool = True) -> None:
        self.reload()
        self.change_reported.emit(sentence, well)


def _read_run_list(root: Path) -> RunList:
    from core.tuning.runs.deleted_runs import deleted_runs
    from core.tuning.runs.past_runs import list_runs

    past: PastRuns = list_runs(root)
    return RunList(past.runs, past.left_out, deleted_runs(root))


def _read_curves(folders: Sequence[str], is_wanted: Callable[[], bool]) -> list[BestSoFarCurve]:
    from core.tuning.runs.run_comparison import curve_of

    return [curve_of(Path(folder), is_wanted) for folder in folders]
