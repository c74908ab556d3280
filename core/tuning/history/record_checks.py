"""Checks of values of the history, whatever file they come from.

Each function returns the value, or raises ValueError.
"""

from __future__ import annotations

import math
from typing import Any

from core.samplers.transfer.history import Statistics

LARGEST = 2**63  # what SQLite counts to
WIDEST = 50.0  # natural logarithm of rows or columns
MAX_CLASSES = 1e9
FARTHEST = 1e100  # of a score from 0; its square is still a number
LONGEST = 1000  # letters of a name


def sound_text(value: Any) -> str:
    """A name or time that can be encoded and printed."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > LONGEST:
        raise ValueError("not a text")
    return value


def sound_flag(value: Any) -> bool:
    """A boolean, not a number."""
    if not isinstance(value, bool):
        raise ValueError("not yes or no")
    return value


def sound_number(value: Any, low: float, high: float) -> float:
    """A finite number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError("not a number, or out of range")
    return float(value)


def sound_score(value: Any) -> float:
    """The score of a trial."""
    return sound_number(value, -FARTHEST, FARTHEST)


def sound_statistics(values: Any) -> Statistics:
    """The three descriptive statistics of a dataset."""
    rows, features, classes = values
    class_count = sound_number(classes, 0, MAX_CLASSES)
    if not class_count.is_integer():
        raise ValueError("not a number of classes")
    return sound_number(rows, 0, WIDEST), sound_number(features, 0, WIDEST), class_count


def sound_names(values: Any) -> tuple[str, ...]:
    """The names of axes, each once."""
    if not isinstance(values, list | tuple):
        raise ValueError("no names")
    names = tuple(map(sound_text, values))
    if len(set(names)) < len(names):
        raise ValueError("a name is there twice")
    return names


def is_plain(value: Any) -> bool:
    """Whether a value can be a hyperparameter's: text, finite number, boolean or None."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return len(value) <= LONGEST and not any(0xD800 <= ord(letter) < 0xE000 for letter in value)
    return value is None or (isinstance(value, int) and abs(value) < LARGEST)
