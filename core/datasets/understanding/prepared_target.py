"""The target of a table, prepared for comparison with every column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset

MIN_CLASS_ROWS = 20  # fewer may be separated by chance
_COMPARED_ROWS, _FIRST_ROWS = 5000, 500
_MAX_CLASSES = 50


@dataclass(frozen=True)
class PreparedTarget:
    """The target of a table, prepared for comparison with every column."""

    values: np.ndarray  # n amounts or codes of classes
    classes: int  # k; 0 for amounts
    first_rows: np.ndarray  # exclude most columns
    compared_rows: np.ndarray  # decide on the others


def prepare_target(dataset: Dataset) -> PreparedTarget:
    """The target of a dataset of numbers or classes."""
    values, count = dataset.target, 0
    if not dataset.task.has_numbers:
        values, labels = pd.factorize(values, sort=True)
        count = len(labels)
    rows = [comparison_rows(values, count, max_rows) for max_rows in (_FIRST_ROWS, _COMPARED_ROWS)]
    return PreparedTarget(values, count, *rows)


def comparison_rows(values: np.ndarray, classes: int, max_rows: int) -> np.ndarray:
    """Evenly spaced rows, equally many per class but for very rare classes."""
    all_rows = np.arange(len(values))
    if not classes:
        return evenly_spaced(all_rows, max_rows)
    frequent = np.flatnonzero(np.bincount(values) >= MIN_CLASS_ROWS)
    if not 2 <= len(frequent) <= _MAX_CLASSES:
        return all_rows[:0]
    rows_per_class = max(MIN_CLASS_ROWS, max_rows // len(frequent))
    rows = [evenly_spaced(all_rows[values == label], rows_per_class) for label in frequent]
    return np.sort(np.concatenate(rows))


def correlation(numbers: np.ndarray, amounts: np.ndarray) -> float:
    """The absolute correlation; 0 where either is constant."""
    if numbers.min() == numbers.max() or amounts.min() == amounts.max():
        return 0.0
    x, y = (vector / np.abs(vector).max() for vector in (numbers, amounts))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return abs(float(x @ y)) / size if size > 0 else 0.0


def evenly_spaced(row_indices: np.ndarray, max_rows: int) -> np.ndarray:
    """At most `max_rows` of the indices, evenly spaced."""
    if len(row_indices) <= max_rows:
        return row_indices
    return row_indices[np.linspace(0, len(row_indices) - 1, max_rows).astype(int)]
