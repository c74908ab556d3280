"""The run's own time: it stands still while nobody asks for the next event (a pause)."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace

from core.tuning.events import Event


class Clock:
    """Seconds of work since the run first started, pauses and interruptions left out."""

    def __init__(self, already: float = 0.0) -> None:
        self._already = already
        self._since: float | None = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        running = time.perf_counter() - self._since if self._since is not None else 0.0
        return self._already + running

    def stamped(self, events: Iterator[Event]) -> Generator[Event, None, None]:
        """The same events, each with its second; the clock stands still between them."""
        for event in events:
            self._already, self._since = self.seconds, None
            yield replace(event, seconds=round(self._already, 4))
            self._since = time.perf_counter()
