"""Rare garbage collection while a process starts, as imports leave little garbage."""

from __future__ import annotations

import gc

SELDOM = 100_000  # new objects between two collections; the imports make some 300,000
_before: list[tuple[int, int, int]] = []  # the thresholds to restore


def collect_rarely() -> None:
    """Collect rarely from now on: collections take a fifth of the time of the imports."""
    _before.append(gc.get_threshold())
    gc.set_threshold(SELDOM, *_before[-1][1:])


def restore_collection() -> None:
    """Collect as often as before, but never the objects that exist by now."""
    if _before:
        # What the imports have made lives to the end, and need not be looked through again.
        gc.freeze()
        gc.set_threshold(*_before.pop())
