"""Reads past runs in threads: 100,000 trials take seconds."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from app.session.shown_run import ShownRun, collection_paused
from core.errors import UnusableError
from core.tuning.events import RunStarted
from core.tuning.plan import Plan

AT_ONCE = 50  # milliseconds that the window waits for a thread
PATIENCE = 3000  # milliseconds at the end of the program
TURN = 0.0005  # seconds until a waiting window gets the interpreter
USUAL = sys.getswitchinterval()

IsWanted = Callable[[], bool]


class LatestTask(QObject):
    """One thing at a time in a thread; the latest started counts."""

    done = Signal(object)  # the outcome; None where it failed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._task: _Task | None = None

    @property
    def goes_on(self) -> bool:
        return self._task is not None

    def start(self, work: Callable[[IsWanted], object]) -> None:
        """Compute `work`, which may end early where it is no longer wanted."""
        self.stop()
        self._task = _Task(work)
        self._task.ended.connect(self._on_ended)
        self._task.start()

    def take_soon(self) -> None:
        """Emit `done` now, if it comes at once: a short list does not flicker."""
        if (task := self._task) is not None and task.wait(AT_ONCE):
            self._on_ended(task)

    def stop(self) -> None:
        """Stop it, without a signal."""
        task, self._task = self._task, None
        if task is not None:
            task.requestInterruption()
            # A thread that is deleted while it runs ends the program, so it is kept until it ends.
            if not task.wait(AT_ONCE):
                _stopped_tasks.append(task)
        _stopped_tasks[:] = [task for task in _stopped_tasks if not task.isFinished()]

    def shutdown(self) -> None:
        self.stop()
        for task in _stopped_tasks:
            task.wait(PATIENCE)

    def _on_ended(self, task: _Task) -> None:
        if task is not self._task:
            # It was stopped as it ended, when the signal was on its way.
            return
        self.stop()
        self.done.emit(task.outcome)


class _Task(QThread):
    """`outcome` is set when `ended` comes."""

    ended = Signal(object)

    def __init__(self, work: Callable[[IsWanted], object]) -> None:
        super().__init__()
        self._work = work
        self.outcome: object = None

    def run(self) -> None:
        try:
            with collection_paused(), taking_turns():
                self.outcome = self._work(lambda: not self.isInterruptionRequested())
        # Also after a defect: whoever waits would wait for ever.
        finally:
            self.ended.emit(self)


_stopped_tasks: list[_Task] = []  # that a slow disk keeps from ending


def load_run(
    folder: Path, is_wanted: IsWanted, started: RunStarted | None = None
) -> tuple[ShownRun, Plan] | str:
    """A past run and its plan, or why it cannot be read; views go on where it has `started`."""
    # Not needed for the first paint.
    from core.tuning.runs.run_folder import RunFolder

    try:
        run_folder = RunFolder.open(folder)
        # First: a run that ends meanwhile offers nothing that its writer refuses.
        is_running = run_folder.is_running
        run = ShownRun([], folder, is_running)
        for events in run_folder.read_blocks(beats=False):
            if not is_wanted():
                break
            if started and events[:1] == [started]:
                events[0] = started
            run.add_events(events)
        return run, run_folder.plan
    except UnusableError as error:
        return error.sentence


@contextlib.contextmanager
def taking_turns() -> Iterator[None]:
    """Switch threads ten times as often, so that the window stays responsive."""
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(USUAL)
