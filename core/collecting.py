"""How often Python looks for garbage while a process starts: seldom, as imports leave little."""

from __future__ import annotations

import gc

SELDOM = 100_000  # new objects between two looks; the imports make some 300,000
_USUAL = gc.get_threshold()


def while_starting() -> None:
    """From here on seldom: a fifth of the time of the imports goes into looking otherwise."""
    gc.set_threshold(SELDOM, *_USUAL[1:])


def as_usual() -> None:
    """From here on as often as Python does, but never again through what is there by now."""
    gc.freeze()
    gc.set_threshold(*_USUAL)
