"""A stopwatch: the seconds of a run by now, between its events."""

from __future__ import annotations

import time


class Stopwatch:
    """Counts on from the last known seconds while it runs."""

    def __init__(self) -> None:
        self._base_seconds, self._since, self._is_running = 0.0, 0.0, False

    @property
    def seconds(self) -> float:
        """The seconds by now."""
        return self._base_seconds + (time.monotonic() - self._since if self._is_running else 0.0)

    def set_seconds(self, seconds: float) -> None:
        """Set the known seconds; it never goes back while it runs."""
        self._base_seconds, self._since = max(seconds, self.seconds), time.monotonic()

    def set_running(self, is_running: bool, seconds: float) -> None:
        """Run or stand; a change begins at `seconds`."""
        if is_running != self._is_running:
            self._base_seconds, self._since = seconds, time.monotonic()
            self._is_running = is_running
