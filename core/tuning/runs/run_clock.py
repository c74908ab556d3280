"""The run's time, without pauses, sleep of the computer, or halts of the process (SIGSTOP)."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import replace

from core.tuning.events import Event

TICK = 1.0  # seconds between two looks at the clock
LONGEST = 5.0  # seconds between two looks, above which the process was not awake


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
        """Seconds so far."""
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
        self._counted += gap if gap <= LONGEST else min(gap, max(TICK, worked))
        return self._counted

    def _tick_forever(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                self._update_seconds()


AWAKE = AwakeTimer()


class RunClock:
    """Seconds of work since the run first started, after `already` seconds before a resumption."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._since: float | None = AWAKE.seconds

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        running = AWAKE.seconds - self._since if self._since is not None else 0.0
        return self._seconds + running

    def stamped(self, events: Iterator[Event]) -> Generator[Event, None, None]:
        """The same events, each with its second; the clock stands still between them."""
        for event in events:
            self._seconds, self._since = self.seconds, None
            yield replace(event, seconds=round(self._seconds, 4))
            self._since = AWAKE.seconds


def time_is_up(minutes: float) -> str:
    """The reason for the end of a run of so many minutes."""
    return f"the time of {minutes:g} {'minute' if minutes == 1 else 'minutes'} was up"
