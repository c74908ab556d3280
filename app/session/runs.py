"""The past runs as the window deals with them: what there are, and what a person changes.

Lists and curves are read in a thread of their own. A change is one small file or one renaming, so
the window's thread makes it; each can be undone, the last first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QThread, Signal

from app.session.collecting import uncollected
from app.session.reading import taking_turns
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.runs.bin import DeletedRun
    from core.tuning.runs.labels import Label
    from core.tuning.runs.past_runs import PastRuns
    from core.tuning.runs.side_by_side import Curve

AT_ONCE = 50  # milliseconds that the window waits for a list, which usually takes fewer
PATIENCE = 3000  # milliseconds that the end of the program waits for a thread


class Found(NamedTuple):
    """The runs, newest first, why folders are left out, and what is in the bin."""

    runs: list[Any]
    left_out: dict[str, str]
    deleted: list[DeletedRun]


class _Undo(NamedTuple):
    """How the last change is taken back, and what is said of it then."""

    words: str
    undo: Callable[[], object]


class _Task(QThread):
    """Works out one thing; `found` is there when `ended` comes, None where it failed."""

    ended = Signal(object)

    def __init__(self, work: Callable[[Callable[[], bool]], Any]) -> None:
        super().__init__()
        self._work, self.found = work, None

    def run(self) -> None:
        """Do it."""
        try:
            with uncollected(), taking_turns():
                self.found = self._work(lambda: not self.isInterruptionRequested())
        finally:
            self.ended.emit(self)


class SessionRuns(QObject):
    """What a person does with past runs.

    Attributes:
        found: the list as it was read last.
        can_undo: what would be undone, in words; "" for nothing.

    Signals:
        changed: another list was read.
        said: (sentence, whether it went well) after every change.
        curves_read: the curves that were asked for, a list of Curve.
        gone: the folder of a run that is deleted now.
    """

    changed = Signal()
    said = Signal(str, bool)
    curves_read = Signal(object)
    gone = Signal(object)

    def __init__(self, root: Callable[[], Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self.found = Found([], {}, [])
        self._undos: list[_Undo] = []
        self._lister: _Task | None = None
        self._reader: _Task | None = None
        self._again = False
        self._left: list[_Task] = []

    # Reading ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Read the list anew; `changed` tells when it is there, at once where there are few."""
        if self._lister is not None:
            self._again = True  # what is read now may have begun before the change
            return
        root = self._root()
        self._lister = _Task(lambda _wanted: _found(root))
        self._lister.ended.connect(self._take_list)
        self._lister.start()
        if self._lister.wait(AT_ONCE):
            self._take_list(self._lister)

    def _take_list(self, task: _Task) -> None:
        if task is not self._lister:
            return
        task.wait()
        self._lister = None
        if task.found is not None:
            self.found = task.found
            self.changed.emit()
        if self._again:
            self._again = False
            self.look()

    @property
    def is_looking(self) -> bool:
        """Whether a list is being read."""
        return self._lister is not None

    def read_curves(self, folders: Sequence[str]) -> None:
        """Read the curves of some runs; `curves_read` tells. Others that are read are left."""
        self._leave_reader()
        self._reader = _Task(lambda wanted: _curves(folders, wanted))
        self._reader.ended.connect(self._take_curves)
        self._reader.start()

    def _take_curves(self, task: _Task) -> None:
        if task is not self._reader:
            return
        task.wait()
        self._reader = None
        if task.found is not None:
            self.curves_read.emit(task.found)

    def _leave_reader(self) -> None:
        task, self._reader = self._reader, None
        if task is not None:
            task.requestInterruption()
            self._left.append(task)
        self._left = [one for one in self._left if not one.wait(0)]

    def shutdown(self) -> None:
        """Read nothing more, and wait for what is read."""
        self._leave_reader()
        lister, self._lister = self._lister, None
        for task in (*self._left, *([lister] if lister is not None else [])):
            task.wait(PATIENCE)

    # Changing ---------------------------------------------------------------------------------

    def rename(self, folder: str, name: str) -> bool:
        """Give a run a name; "" for that of its folder. Whether it went well."""
        name = " ".join(name.split())
        return self._label(folder, "name", name, "The run has another name.", "Renaming")

    def write_note(self, folder: str, note: str) -> bool:
        """Write a note to a run; whether it went well."""
        return self._label(folder, "note", note.rstrip(), "The note is kept.", "The note")

    def _label(self, folder: str, field: str, text: str, said: str, words: str) -> bool:
        from core.tuning.runs.labels import read_label, write_label

        before = read_label(Path(folder))
        if getattr(before, field) == text:
            return True

        def write(label: Label) -> None:
            write_label(Path(folder), label)

        def undo() -> None:
            now = read_label(Path(folder))
            write(replace(now, **{field: getattr(before, field)}))

        if not self._tried(lambda: write(replace(before, **{field: text}))):
            return False
        self._undos.append(_Undo(words, undo))
        self._done(said)
        return True

    def delete(self, folders: Sequence[str]) -> None:
        """Put runs into the bin; one that is under way stays, and is named."""
        from core.tuning.runs.bin import KEPT_DAYS, delete_run

        binned: list[Path] = []
        faults: list[str] = []
        for folder in folders:
            try:
                binned.append(delete_run(Path(folder), self._root()))
                self.gone.emit(Path(folder))
            except UnusableError as error:
                faults.append(error.sentence)
        if binned:
            self._undos.append(_Undo("Deleting", lambda: self._bring_back(binned)))
        many = "The run is" if len(binned) == 1 else f"{len(binned)} runs are"
        them = "it" if len(binned) == 1 else "them"
        kept = (
            f"{many} in the bin and removed for good in {KEPT_DAYS} days. Undo brings {them} back."
        )
        self._done(" ".join([*([kept] if binned else []), *faults]), not faults)

    def restore(self, folders: Sequence[str]) -> None:
        """Bring runs back from the bin."""
        if self._tried(lambda: self._bring_back([Path(folder) for folder in folders])):
            many = "The run is" if len(folders) == 1 else f"{len(folders)} runs are"
            self._done(f"{many} back.")
        else:
            self.look()

    def _bring_back(self, folders: Sequence[Path]) -> None:
        from core.tuning.runs.bin import restore_run

        for folder in folders:
            restore_run(folder, self._root())

    def remove_for_good(self, folders: Sequence[str]) -> None:
        """Remove runs that are in the bin; nothing brings them back."""
        from core.tuning.runs.bin import remove_for_good

        def remove() -> None:
            for folder in folders:
                remove_for_good(Path(folder), self._root())

        if self._tried(remove):
            many = "The run is" if len(folders) == 1 else f"{len(folders)} runs are"
            self._done(f"{many} removed for good.")
        else:
            self.look()

    @property
    def can_undo(self) -> str:
        """What would be undone: "Deleting", "Renaming", "The note"; "" for nothing."""
        return self._undos[-1].words if self._undos else ""

    def undo(self) -> None:
        """Take the last change back."""
        if not self._undos:
            return
        last = self._undos.pop()
        if self._tried(last.undo):
            self._done(f"{last.words} was undone.")
        else:
            self.look()

    def _tried(self, change: Callable[[], object]) -> bool:
        try:
            change()
        except UnusableError as error:
            self.said.emit(error.sentence, False)
            return False
        return True

    def _done(self, sentence: str, well: bool = True) -> None:
        self.look()
        self.said.emit(sentence, well)


def _found(root: Path) -> Found:
    from core.tuning.runs.bin import deleted_runs
    from core.tuning.runs.past_runs import list_runs

    past: PastRuns = list_runs(root)
    return Found(past.runs, past.left_out, deleted_runs(root))


def _curves(folders: Sequence[str], wanted: Callable[[], bool]) -> list[Curve]:
    from core.tuning.runs.side_by_side import curve_of

    return [curve_of(Path(folder), wanted) for folder in folders]
