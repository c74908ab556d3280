"""The target of a table, ready to be compared with every column, and the rows to compare by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset

MIN_CLASS_ROWS = 20  # rows: fewer may lie apart by chance
_LOOK_AT, _LOOK_FIRST = 5000, 500  # rows by which a column is judged, and passed over
_MAX_CLASSES = 50


@dataclass(frozen=True)
class PreparedTarget:
    """The target, ready to be compared with every column.

    Attributes:
        values: amounts, or codes of classes, n each.
        classes: k; 0 for amounts.
        first_rows, compared_rows: the rows by which a column is passed over, and judged.
    """

    values: np.ndarray
    classes: int
    first_rows: np.ndarray
    compared_rows: np.ndarray


def prepare_target(dataset: Dataset) -> PreparedTarget:
    """The target of a dataset of numbers or classes."""
    values, count = dataset.target, 0
    if not dataset.task.has_numbers:
        values, labels = pd.factorize(values, sort=True)
        count = len(labels)
    rows = [comparison_rows(values, count, max_rows) for max_rows in (_LOOK_FIRST, _LOOK_AT)]
    return PreparedTarget(values, count, *rows)


def comparison_rows(values: np.ndarray, classes: int, max_rows: int) -> np.ndarray:
    """Rows spread evenly: of classes as many each, but none of those that are too rare."""
    all_rows = np.arange(len(values))
    if not classes:
        return evenly_spaced(all_rows, max_rows)
    frequent = np.flatnonzero(np.bincount(values) >= MIN_CLASS_ROWS)
    if not 2 <= len(frequent) <= _MAX_CLASSES:
        return all_rows[:0]
    rows_per_class = max(MIN_CLASS_ROWS, max_rows // len(frequent))
    return np.sort(
        np.concatenate(
            [evenly_spaced(all_rows[values == label], rows_per_class) for label in frequent]
        )
    )


def evenly_spaced(row_indices: np.ndarray, max_rows: int) -> np.ndarray:
    """So many of the places at most, evenly spread."""
    if len(row_indices) <= max_rows:
        return row_indices
    return row_indices[np.linspace(0, len(row_indices) - 1, max_rows).astype(int)]
