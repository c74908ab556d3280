"""Reads a past run in a thread: 100,000 trials take seconds."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from app.session.frozen_events import collection_paused
from app.session.shown_run import ShownRun
from core.errors import UnusableError
from core.tuning.events import Event
from core.tuning.plan import Plan

AT_ONCE = 50  # milliseconds that the window waits for a reader
PATIENCE = 3000  # milliseconds at the end of the program
CHECK_EVERY = 32  # events
TURN = 0.0005  # seconds until a waiting window gets the interpreter
USUAL = sys.getswitchinterval()


class RunLoader(QObject):
    """Reads one past run at a time; the latest request counts."""

    done = Signal(object, object)  # ShownRun, Plan
    refused = Signal(str)  # why it cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader: _Reader | None = None

    @property
    def goes_on(self) -> bool:
        """Whether a run is being read."""
        return self._reader is not None

    def start(self, folder: Path) -> None:
        """Read the run in a folder."""
        self.stop_reader()
        self._reader = _Reader(folder)
        self._reader.ended.connect(self._on_reader_ended)
        self._reader.start()

    def stop_reader(self) -> None:
        """Stop reading, without a signal."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.requestInterruption()
            if not reader.wait(AT_ONCE):
                _stopped_readers.append(reader)

    def shutdown(self) -> None:
        """Stop reading, and wait for it some seconds."""
        self.stop_reader()
        for reader in _stopped_readers:
            reader.wait(PATIENCE)

    def _on_reader_ended(self, reader: _Reader) -> None:
        if reader is not self._reader:
            return  # it was stopped as it ended
        self.stop_reader()
        if reader.loaded_run is None:
            self.refused.emit(reader.problem)
        else:
            self.done.emit(*reader.loaded_run)


class _Reader(QThread):
    """Reads one run; `loaded_run` or `problem` is set when `ended` comes."""

    ended = Signal(object)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.loaded_run: tuple[ShownRun, Plan] | None = None
        self.problem = ""

    def run(self) -> None:
        from core.tuning.runs.run_folder import RunFolder  # not needed for the first paint

        try:
            folder = RunFolder.open(self._folder)
            with collection_paused(), taking_turns():
                events = self._while_wanted(folder.read_events(beats=False))
                self.loaded_run = ShownRun(events, self._folder), folder.plan
        except UnusableError as error:
            self.problem = error.sentence
        self.ended.emit(self)

    def _while_wanted(self, events: Iterator[Event]) -> Iterator[Event]:
        for count, event in enumerate(events):
            if count % CHECK_EVERY == 0 and self.isInterruptionRequested():
                return
            yield event


@contextlib.contextmanager
def taking_turns() -> Iterator[None]:
    """Switch threads ten times as often, so that the window stays responsive."""
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(USUAL)


_stopped_readers: list[_Reader] = []  # readers that a slow disk keeps from ending
