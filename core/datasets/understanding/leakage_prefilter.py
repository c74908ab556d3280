"""Excludes numeric columns that cannot leak the target, in blocks, before slower checks."""

from __future__ import annotations

import numpy as np

from core.datasets.blocks import column_blocks, number_names
from core.datasets.dataset import Dataset
from core.datasets.understanding.prepared_target import PreparedTarget, prepare_target

_MIN_COLUMNS, _MAX_ROWS = 100, 5000  # of a wide table
_MAX_CHANGES = 0.1  # share of rows where the class may change within its intervals
_FEW_VALUES = 20
_CORRELATED = 0.99


def leakage_candidates(dataset: Dataset) -> list[str]:
    """The features that need a check of their own; all of them unless the table is wide.

    Excluded are complete numeric columns of many values where the class changes at more than every
    tenth row as they grow, or |correlation| with the amount is below .99.
    """
    table, names = dataset.table, list(dataset.feature_names)
    assert table is not None
    if len(names) < _MIN_COLUMNS or len(table) > _MAX_ROWS:
        return names
    target = prepare_target(dataset)
    if not len(target.first_rows):
        return names
    excluded: set[str] = set()
    rows = target.first_rows if target.classes else None
    for block_names, matrix in column_blocks(table, number_names(table), rows):
        with np.errstate(invalid="ignore", over="ignore"):
            select = _by_class if target.classes else _by_amount
            is_candidate = select(matrix, target)
        pairs = zip(block_names, is_candidate, strict=True)
        excluded.update(name for name, can_leak in pairs if not can_leak)
    return [name for name in names if name not in excluded]


def _by_class(matrix: np.ndarray, target: PreparedTarget) -> np.ndarray:
    classes = target.values[target.first_rows]
    by_class = np.argsort(classes, kind="stable")  # then equal numbers change the class least
    matrix, classes = matrix[:, by_class], classes[by_class]
    order = np.argsort(matrix, axis=1, kind="stable")
    changes = np.count_nonzero(np.diff(classes[order], axis=1), axis=1)
    ordered = np.take_along_axis(matrix, order, axis=1)
    values = 1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    labels = len(np.unique(classes))
    has_few_values = values <= max(_FEW_VALUES, target.classes)
    changes_rarely = changes <= labels + _MAX_CHANGES * len(classes)
    return np.asarray(has_few_values | changes_rarely | np.isnan(matrix).any(axis=1))


def _by_amount(matrix: np.ndarray, target: PreparedTarget) -> np.ndarray:
    amounts = target.values
    scale = np.abs(matrix).max(axis=1, keepdims=True)
    X = matrix / scale - (matrix / scale).mean(axis=1, keepdims=True)
    y = amounts / np.abs(amounts).max()
    y = y - y.mean()
    size = np.sqrt(np.einsum("ij,ij->i", X, X) * (y @ y))
    correlation = np.abs(X @ y) / size
    return ~(correlation < _CORRELATED)  # NaN is a candidate
