"""The influence of every row on an estimate.

A row's influence φ_i is what it adds to an estimate's deviation from the truth, to first order:
estimate − truth ≈ Σ φ_i, with variance Σ φ_i² of independent rows. The influence on a difference of
two estimates is that of the influences.
Factors of √(n/(n − 1)) make Σ φ² the usual unbiased estimate, here that of DeLong et al. too.
"""

import math

import numpy as np


def mean_influence(values: np.ndarray) -> np.ndarray:
    """On the mean of values (n,): Σ φ² = s²/n."""
    n = len(values)
    return (values - values.mean()) / math.sqrt(n * (n - 1.0))


def r2_influence(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """On R² = 1 − MSE/Var(y) of numbers (n,), by the delta method."""
    errors, spread = (y - predicted) ** 2, (y - y.mean()) ** 2
    if not spread.any():
        return np.full(len(y), np.nan)
    share = errors.mean() / spread.mean()
    return mean_influence((share * spread - errors) / spread.mean())


def area_influence(
    positive: np.ndarray, score: np.ndarray, folds: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """The area under the ROC curve and every row's influence on it (n,), in O(n log n).

    The area is P(score of a positive > of a negative) + ½ P(equal), or its mean over folds. With
    V10 the share of negatives below a positive, and V01 the share of positives above a negative,
    both of its fold, the variance Σ φ² is that of DeLong, DeLong & Clarke-Pearson (1988),
    S10/m + S01/k. NaN where there is no row of a kind; of one row alone the variance is unknown
    and counts as 0.
    """
    placement, areas = np.full(len(score), np.nan), []
    for rows in fold_rows(folds, len(score)):
        if 0 < positive[rows].sum() < len(rows):
            placement[rows] = _placements(positive[rows], score[rows])
            areas.append(placement[rows][positive[rows]].mean())
    if not areas:
        return math.nan, placement
    is_placed = np.isfinite(placement)
    for is_kind in (positive & is_placed, ~positive & is_placed):
        count = int(is_kind.sum())
        deviation = placement[is_kind] - placement[is_kind].mean()
        placement[is_kind] = deviation / math.sqrt(count * max(1.0, count - 1.0))
    return float(np.mean(areas)), np.where(is_placed, placement, 0.0)


def fold_rows(folds: np.ndarray | None, count: int) -> list[np.ndarray]:
    """The rows of every fold; all of them where there are no folds."""
    if folds is None:
        return [np.arange(count)]
    return [np.flatnonzero(folds == fold) for fold in np.unique(folds)]


def _placements(positive: np.ndarray, score: np.ndarray) -> np.ndarray:
    """V10 of positives and V01 of negatives, ties as a half, by one sort (Sun & Xu 2014)."""
    order = np.argsort(score)
    ordered, ones = score[order], positive[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    to_end = np.cumsum(ones)[ends]  # positives up to each distinct score
    to_begin = np.concatenate([[0], to_end[:-1]])
    sizes = np.diff(ends, prepend=-1)
    # Twice the positives under a score, ties as a half, and twice the rows.
    positives = np.repeat(to_begin + to_end, sizes)
    ranks = np.repeat(2 * ends + 2 - sizes, sizes)
    m, placement = int(ones.sum()), np.empty(len(score))
    above = 1.0 - positives / (2.0 * m)
    placement[order] = np.where(ones, (ranks - positives) / (2.0 * (len(score) - m)), above)
    return placement
