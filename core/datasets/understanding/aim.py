"""The target of a table, ready to be compared with every column, and the rows to compare by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset

FEWEST_OF_A_CLASS = 20  # rows: fewer may lie apart by chance
_LOOK_AT, _LOOK_FIRST = 5000, 500  # rows by which a column is judged, and passed over
_MOST_CLASSES = 50


@dataclass(frozen=True)
class Aim:
    """The target, ready to be compared with every column.

    Attributes:
        values: amounts, or codes of classes, n each.
        classes: k; 0 for amounts.
        first, looked: the rows by which a column is passed over, and judged.
    """

    values: np.ndarray
    classes: int
    first: np.ndarray
    looked: np.ndarray


def aim_of(dataset: Dataset) -> Aim:
    """The target of a dataset of numbers or classes."""
    values, count = dataset.target, 0
    if dataset.task != "regression":
        values, labels = pd.factorize(values, sort=True)
        count = len(labels)
    rows = [judged_rows(values, count, most) for most in (_LOOK_FIRST, _LOOK_AT)]
    return Aim(values, count, *rows)


def judged_rows(values: np.ndarray, classes: int, most: int) -> np.ndarray:
    """Rows spread evenly: of classes as many each, but none of those that are too rare."""
    every = np.arange(len(values))
    if not classes:
        return evenly(every, most)
    frequent = np.flatnonzero(np.bincount(values) >= FEWEST_OF_A_CLASS)
    if not 2 <= len(frequent) <= _MOST_CLASSES:
        return every[:0]
    each = max(FEWEST_OF_A_CLASS, most // len(frequent))
    return np.sort(np.concatenate([evenly(every[values == one], each) for one in frequent]))


def evenly(places: np.ndarray, most: int) -> np.ndarray:
    """So many of the places at most, evenly spread."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(int)]
