"""A stopwatch: the seconds of a run by now, which events tell only now and then."""

from __future__ import annotations

import time


class Stopwatch:
    """Counts on from what is known, as long as it runs."""

    def __init__(self) -> None:
        self._base_seconds, self._since, self._is_running = 0.0, 0.0, False

    @property
    def seconds(self) -> float:
        """The seconds by now."""
        return self._base_seconds + (time.monotonic() - self._since if self._is_running else 0.0)

    def set_seconds(self, seconds: float) -> None:
        """So many are known to have passed; it never goes back while it runs."""
        self._base_seconds, self._since = max(seconds, self.seconds), time.monotonic()

    def set_running(self, is_running: bool, seconds: float) -> None:
        """Run or stand; from another state than before it begins with so many seconds."""
        if is_running != self._is_running:
            self._base_seconds, self._since, self._is_running = (
                seconds,
                time.monotonic(),
                is_running,
            )
