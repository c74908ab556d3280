"""Columns of numbers that cannot tell the target are passed over many at a time.

Each column of a wide table would else be looked at alone, which takes far longer than to see, by a
matrix of them, that it tells nothing.
"""

from __future__ import annotations

import numpy as np

from core.datasets.blocks import column_blocks, number_names
from core.datasets.dataset import Dataset
from core.datasets.understanding.prepared_target import PreparedTarget, prepare_target

_MIN_COLUMNS, _MAX_ROWS = 100, 5000  # of a wide table
_AMISS = 0.1  # share of the rows where the class may change beside its stretches
_FEW_VALUES = 20
_CORRELATED = 0.99


def leakage_candidates(dataset: Dataset) -> list[str]:
    """The features that deserve a look of their own; all of them where the table is not wide.

    A column of numbers without gaps is passed over where it has many values and, along them, the
    class changes at more than every tenth row; or its correlation with the amount is below .99.
    """
    table, names = dataset.table, list(dataset.feature_names)
    assert table is not None
    if len(names) < _MIN_COLUMNS or len(table) > _MAX_ROWS:
        return names
    aim = prepare_target(dataset)
    if not len(aim.first_rows):
        return names
    dismissed: set[str] = set()
    rows = aim.first_rows if aim.classes else None
    for block_names, matrix in column_blocks(table, number_names(table), rows):
        with np.errstate(invalid="ignore", over="ignore"):
            telling = _by_class(matrix, aim) if aim.classes else _by_amount(matrix, aim.values)
        dismissed.update(
            name for name, tells in zip(block_names, telling, strict=True) if not tells
        )
    return [name for name in names if name not in dismissed]


def _by_class(matrix: np.ndarray, aim: PreparedTarget) -> np.ndarray:
    """Whether the class changes so rarely along each row of the matrix that it may tell it."""
    classes = aim.values[aim.first_rows]
    by_class = np.argsort(classes, kind="stable")  # equal numbers then change the class least often
    matrix, classes = matrix[:, by_class], classes[by_class]
    order = np.argsort(matrix, axis=1, kind="stable")
    changes = np.count_nonzero(np.diff(classes[order], axis=1), axis=1)
    ordered = np.take_along_axis(matrix, order, axis=1)
    values = 1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    labels = len(np.unique(classes))
    has_few_values = values <= max(_FEW_VALUES, aim.classes)
    changes_rarely = changes <= labels + _AMISS * len(classes)
    return np.asarray(has_few_values | changes_rarely | np.isnan(matrix).any(axis=1))


def _by_amount(matrix: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Whether each row of the matrix has nearly a line's correlation with the amounts."""
    scale = np.abs(matrix).max(axis=1, keepdims=True)
    centred = matrix / scale - (matrix / scale).mean(axis=1, keepdims=True)
    aim = amounts / np.abs(amounts).max()
    aim = aim - aim.mean()
    size = np.sqrt(np.einsum("ij,ij->i", centred, centred) * (aim @ aim))
    correlation = np.abs(centred @ aim) / size
    return ~(correlation < _CORRELATED)  # one that is not known gets its look
