"""The one clock of all limits and budgets: without sleep of the computer and halts (SIGSTOP)."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Iterator

TICK = 1.0  # seconds between two looks at the clock
LONGEST = 5.0  # seconds between two looks, above which the process was not awake


class AwakeTimer:
    """Seconds in which this process could work, since the first reading.

    A thread looks every `tick` seconds. Where compiled code delays it, the processor is used; a gap
    above `longest` with hardly any use was sleep. `time.monotonic` includes SIGSTOP, and on Windows
    sleep; the time of day jumps.
    """

    def __init__(self, tick: float = TICK, longest: float = LONGEST) -> None:
        self._tick, self._longest = tick, longest
        self._lock = threading.Lock()
        self._counted = 0.0
        self._ticking: threading.Thread | None = None
        self._last_seconds = self._used = 0.0

    @property
    def seconds(self) -> float:
        """Until now."""
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
        self._counted += gap if gap <= self._longest else min(gap, max(self._tick, worked))
        return self._counted

    def _tick_forever(self) -> None:
        while True:
            time.sleep(self._tick)
            with self._lock:
                self._update_seconds()

    def tick_after_fork(self) -> None:
        """Go on in a forked process, which has no thread that ticks, and maybe a taken lock."""
        self._lock, self._ticking = threading.Lock(), None


AWAKE = AwakeTimer()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=AWAKE.tick_after_fork)


class TimeUpError(Exception):
    """A computation did not end within its `time_limit`."""


_limit_end = math.inf  # in AWAKE.seconds


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Within `with`, `check_time` raises TimeUpError after so many seconds."""
    global _limit_end
    _limit_end = AWAKE.seconds + seconds
    try:
        yield
    finally:
        _limit_end = math.inf


def check_time() -> None:
    """Look at the clock: what computes for long calls it at each inner step."""
    if _limit_end < math.inf and AWAKE.seconds > _limit_end:
        raise TimeUpError
