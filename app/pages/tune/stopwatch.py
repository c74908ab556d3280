"""A stopwatch: the seconds of a run by now, which events tell only now and then."""

from __future__ import annotations

import time


class Stopwatch:
    """Counts on from what is known, as long as it runs."""

    def __init__(self) -> None:
        self._known, self._since, self._runs = 0.0, 0.0, False

    @property
    def seconds(self) -> float:
        """The seconds by now."""
        return self._known + (time.monotonic() - self._since if self._runs else 0.0)

    def set(self, seconds: float) -> None:
        """So many are known to have passed; it never goes back while it runs."""
        self._known, self._since = max(seconds, self.seconds), time.monotonic()

    def run(self, runs: bool, seconds: float) -> None:
        """Run or stand; from another state than before it begins with so many seconds."""
        if runs != self._runs:
            self._known, self._since, self._runs = seconds, time.monotonic(), runs
