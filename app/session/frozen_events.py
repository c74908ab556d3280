"""Keeps the garbage collector from traversing the events of a long run.

That would stop the window for half a second with 100,000 trials. Events hold no cycles.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

MAX_UNFROZEN_EVENTS = 5_000  # a full collection takes some milliseconds


class FrozenEvents:
    """Freezes the events of the shown run, and all other objects, from time to time."""

    def __init__(self) -> None:
        self._count = 0  # of events that are not frozen
        self._spares = False

    def add_events(self, count: int) -> None:
        """Count more events, and freeze them where they are many."""
        self._count += count
        if self._count >= MAX_UNFROZEN_EVENTS:
            self._count, self._spares = 0, True
            gc.freeze()

    def begin_again(self, count: int) -> None:
        """Unfreeze all; another run is shown, with so many events."""
        if self._spares:
            gc.unfreeze()
        self._count, self._spares = 0, False
        self.add_events(count)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while hundreds of thousands of objects are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # and back: they are in the oldest generation at once
        gc.unfreeze()
        if was_enabled:
            gc.enable()
