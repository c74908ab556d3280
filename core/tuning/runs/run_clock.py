"""The run's own time: it stands still while nobody asks for the next event (a pause).

Nor does it run while the computer sleeps or the process is halted (SIGSTOP), and the clock on the
wall has no part in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import replace

from core.tuning.events import Event

TICK = 1.0  # seconds between two looks at the clock
LONGEST = 5.0  # seconds between two looks, above which the process was not awake


class AwakeTimer:
    """Seconds in which this process could work, since the first look.

    A thread looks every second. It may be kept from it by compiled code, which then uses the
    processor; a gap in which the processor was hardly used was sleep. `time.monotonic` alone will
    not do: it stands still while Linux sleeps, but not while Windows does, nor for SIGSTOP.
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
                self._ticking = threading.Thread(
                    target=self._tick_forever, name="clock", daemon=True
                )
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
    """Seconds of work since the run first started, pauses and interruptions left out."""

    def __init__(self, already: float = 0.0) -> None:
        self._already = already
        self._since: float | None = AWAKE.seconds

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        running = AWAKE.seconds - self._since if self._since is not None else 0.0
        return self._already + running

    def stamped(self, events: Iterator[Event]) -> Generator[Event, None, None]:
        """The same events, each with its second; the clock stands still between them."""
        for event in events:
            self._already, self._since = self.seconds, None
            yield replace(event, seconds=round(self._already, 4))
            self._since = AWAKE.seconds


def time_is_up(minutes: float) -> str:
    """Why a run ended that had so many minutes."""
    return f"the time of {minutes:g} {'minute' if minutes == 1 else 'minutes'} was up"
