"""Keeps the collector of garbage from looking through the events of a long run.

A full collection looks at every object that holds others: half a second with those of 100,000
trials, in which the window stands still. Events hold no cycles: they go when nobody holds them.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

MAX_UNFROZEN_EVENTS = 5_000  # events that a full collection looks through in some milliseconds


class FrozenEvents:
    """The events of the run that is shown: from time to time they are taken from the collector.

    What else there is at that moment is taken with them, until another run is shown.
    """

    def __init__(self) -> None:
        self._count = 0  # of the events that it still looks through
        self._spares = False

    def add_events(self, count: int) -> None:
        """So many more events are there."""
        self._count += count
        if self._count >= MAX_UNFROZEN_EVENTS:
            self._count, self._spares = 0, True
            gc.freeze()

    def begin_again(self, count: int) -> None:
        """Another run is shown, with so many events."""
        if self._spares:
            gc.unfreeze()
        self._count, self._spares = 0, False
        self.add_events(count)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """While inside, nobody looks for garbage among the hundreds of thousands of new objects."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # and back: they count as old at once, instead of being looked through thrice
        gc.unfreeze()
        if before:
            gc.enable()
