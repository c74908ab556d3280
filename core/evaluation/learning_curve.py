"""Would more rows help: nested parts of the training rows, and intervals of their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def nested_parts(
    labels: Array | None, groups: Array | None, rows: int, shares: Sequence[float], seed: int
) -> list[np.ndarray]:
    """Indices of the rows of each part, sorted; every part holds the smaller ones.

    Args:
        labels: codes of classes, (rows,), each in every part, two rows at least; or None.
        groups: codes of rows that stay together, (rows,); None where each is its own group.
        rows, shares, seed: how many; growing, the last 1; of the order.
    """
    generator = np.random.default_rng(seed)
    if groups is not None:
        _, groups = np.unique(groups, return_inverse=True)
        position = generator.permutation(int(groups.max()) + 1)[groups]
        order = np.lexsort((np.arange(rows), position))
    else:
        order = generator.permutation(rows)
    if labels is not None:
        order = _spread_classes(order, labels[order], keep=groups is not None)
    return [np.sort(order[: max(2, round(share * rows))]) for share in shares]


def _spread_classes(order: np.ndarray, labels: np.ndarray, keep: bool) -> np.ndarray:
    """The same rows, two of every class first, then every class evenly."""
    rank, size = np.zeros(len(order)), np.zeros(len(order))
    for code in np.unique(labels):
        class_rows = np.flatnonzero(labels == code)
        rank[class_rows], size[class_rows] = np.arange(len(class_rows)), len(class_rows)
    first = np.where(rank < 2, 0, 1)
    sort_key = np.arange(len(order)) if keep else (rank + 0.5) / size
    return order[np.lexsort((sort_key, first))]


def mean_with_interval(scores: np.ndarray, seed: int) -> tuple[float, float]:
    """The 95 % interval of the mean over parts of scores (parts, resamples) of test rows."""
    middle = mean_of_parts(scores, seed)
    finite_means = middle[np.isfinite(middle)]
    if not len(finite_means):
        return float("nan"), float("nan")
    low, high = np.percentile(finite_means, (2.5, 97.5))
    return float(low), float(high)


def mean_of_parts(scores: np.ndarray, seed: int) -> np.ndarray:
    """The mean over parts drawn with replacement, one draw a resample, shape (resamples,)."""
    part_count, resamples = scores.shape
    part_indices = np.random.default_rng(seed).integers(part_count, size=(part_count, resamples))
    return np.take_along_axis(scores, part_indices, axis=0).mean(axis=0)
