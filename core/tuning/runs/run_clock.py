"""The run's time, without pauses, sleep of the computer, or halts of the process (SIGSTOP)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

from core.tuning.events import Event

T = TypeVar("T")

TICK = 1.0  # seconds between two looks at the clock
LONGEST = 5.0  # seconds between two looks, above which the process was not awake
ABANDONED = "The time of the run was up."  # why a trial that was running then has no score


class AwakeTimer:
    """Seconds in which this process could work, since the first reading.

    A thread ticks every second. Where compiled code delays it, the processor is used; a gap with
    hardly any use was sleep. `time.monotonic` includes SIGSTOP, and on Windows sleep.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted = 0.0
        self._ticking: threading.Thread | None = None
        self._last_seconds = self._used = 0.0

    @property
    def seconds(self) -> float:
        with self._lock:
            if self._ticking is None:
                self._last_seconds, self._used = time.monotonic(), time.process_time()
                tick = self._tick_forever
                self._ticking = threading.Thread(target=tick, name="clock", daemon=True)
                self._ticking.start()
            return self._update_seconds()

    def _update_seconds(self) -> float:
        now, used = time.monotonic(), time.process_time()
        gap, worked = now - self._last_seconds, used - self._used
        self._last_seconds, self._used = now, used
        # A long gap counts as far as the processor worked in it, and as one tick at least.
        self._counted += gap if gap <= LONGEST else min(gap, max(TICK, worked))
        return self._counted

    def _tick_forever(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                self._update_seconds()

    def tick_after_fork(self) -> None:
        """Go on in a forked process, which has no thread that ticks, and maybe a taken lock."""
        self._lock, self._ticking = threading.Lock(), None


AWAKE = AwakeTimer()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=AWAKE.tick_after_fork)


class RunClock:
    """Seconds of work since the run first started, after `already` seconds before a resumption."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._since: float | None = AWAKE.seconds

    @property
    def seconds(self) -> float:
        running = AWAKE.seconds - self._since if self._since is not None else 0.0
        return self._seconds + running

    def stamped(self, events: Generator[Event, None, T]) -> Generator[Event, None, T]:
        """The same events, each with its second; the clock stands still between them."""
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            # Whoever reads the events may pause between them, which is no time of the run.
            self._seconds, self._since = self.seconds, None
            yield replace(event, seconds=round(self._seconds, 4))
            self._since = AWAKE.seconds


def time_is_up(minutes: float) -> str:
    """The reason for the end of a run of so many minutes."""
    return f"the time of {minutes:g} {'minute' if minutes == 1 else 'minutes'} was up"
