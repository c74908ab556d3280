"""How often Python looks for garbage while a process starts: seldom, as imports leave little."""

from __future__ import annotations

import gc

SELDOM = 100_000  # new objects between two looks; the imports make some 300,000
_before: list[tuple[int, int, int]] = []  # how often it was, while it is seldom


def collect_rarely() -> None:
    """From here on seldom: a fifth of the time of the imports goes into looking otherwise."""
    _before.append(gc.get_threshold())
    gc.set_threshold(SELDOM, *_before[-1][1:])


def restore_collection() -> None:
    """From here on as often as before, but never again through what is there by now."""
    if _before:
        gc.freeze()
        gc.set_threshold(*_before.pop())
