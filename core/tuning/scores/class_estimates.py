"""Balanced accuracy, F1 and areas under ROC curves of single rows, with what their intervals need.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, C | | | rows, and classes that occur |
| φ | ``phi`` | (n,) | influence of a row (core.evaluation.influence) |
| r | ``row_weight`` | | what a row counts: 1, and less in nested cross-validation |
"""

import math
from collections.abc import Callable

import numpy as np

from core.evaluation.edge_intervals import (
    ClassEstimate,
    area_interval,
    f1_interval,
    recall_interval,
)
from core.tuning.scores.metrics import auc_influence

# How far a row out of order moves its share of an area, about: it is rarely beyond all others.
_AREA_STEP = 0.3


def _recall_estimate(
    value: float, y: np.ndarray, labels: np.ndarray, _folds: np.ndarray | None, row_weight: float
) -> ClassEstimate:
    _, index, rows = np.unique(y, return_inverse=True, return_counts=True)
    is_right = (labels == y).astype(float)
    right, step = np.bincount(index, is_right), 1.0 / (rows * len(rows))
    phi = (is_right - (right / rows)[index]) * step[index] / math.sqrt(row_weight)
    ends = recall_interval(right * row_weight, rows * row_weight)
    return ClassEstimate(value, ends, phi, step / row_weight)


def _f1_estimate(
    value: float, y: np.ndarray, labels: np.ndarray, _folds: np.ndarray | None, row_weight: float
) -> ClassEstimate:
    codes, index = np.unique(np.concatenate([y, labels]), return_inverse=True)
    C = len(codes)
    actual, called = np.split(index, 2)
    confusion = np.bincount(actual * C + called, minlength=C * C).reshape(C, C).astype(float)
    rows = confusion.sum(axis=0) + confusion.sum(axis=1)  # of a class, and called so
    # The fall of a class's F1 by one more row that is of it, or called so, wrongly.
    fall = 2.0 * np.diag(confusion) / rows**2
    phi = (2.0 * (actual == called) / rows[actual] - fall[actual] - fall[called]) / C
    step = (2.0 / rows - fall + (fall.sum() - fall) / max(C - 1, 1)) / C
    ends = f1_interval(confusion * row_weight)
    return ClassEstimate(value, ends, phi / math.sqrt(row_weight), step / row_weight)


def _area_estimate(
    value: float, y: np.ndarray, scores: np.ndarray, folds: np.ndarray | None, row_weight: float
) -> ClassEstimate | None:
    """None where all rows, or those of every fold, are of one class."""
    rows = np.unique(y, return_counts=True)[1] * row_weight
    if not math.isfinite(value):
        return None
    phi = auc_influence(y, scores, folds) / math.sqrt(row_weight)
    # Of two classes both areas are one.
    kinds = (rows[1:], rows[:1]) if len(rows) == 2 else (rows, rows.sum() - rows)
    ends = area_interval(value, float(phi @ phi), *kinds)
    below = 1.0 / (rows.sum() - rows)
    step = (1.0 / rows + (below.sum() - below) / (len(rows) - 1)) / len(rows)
    return ClassEstimate(value, ends, phi, _AREA_STEP * step)


# (score, y, what the metric needs, the fold of each row, r) -> the estimate
CLASS_ESTIMATES: dict[str, Callable[..., ClassEstimate | None]] = {
    "balanced_accuracy": _recall_estimate,
    "f1": _f1_estimate,
    "auc": _area_estimate,
}
