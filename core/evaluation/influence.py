"""Normal intervals of estimates by the influence of every row.

A row's influence φ_i is what it adds to an estimate's deviation from the truth, to first order:
estimate − truth ≈ Σ φ_i, with variance Σ φ_i²; where rows belong together it is the sum over groups
of (Σ of the group's φ)². The influence on a difference of two estimates is that of the influences.
Factors of √(n/(n − 1)) make Σ φ² the usual unbiased estimate, here that of DeLong et al. too.
"""

from __future__ import annotations

import math

import numpy as np

LEVEL = 0.95


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


def area_influence(positive: np.ndarray, score: np.ndarray) -> tuple[float, np.ndarray]:
    """The area under the ROC curve and every row's influence on it (n,), in O(n log n).

    The area is P(score of a positive > of a negative) + ½ P(equal). With V10 the share of negatives
    below a positive, and V01 the share of positives above a negative, both with ties as a half, the
    variance Σ φ² is that of DeLong, DeLong & Clarke-Pearson (1988), S10/m + S01/k. V10 and V01 come
    from ranks in one sort (Sun & Xu 2014). NaN where there are fewer than two of a kind.
    """
    m = int(positive.sum())
    k = len(positive) - m
    if min(m, k) < 2:
        return math.nan, np.full(len(positive), np.nan)
    order = np.argsort(score)
    ordered, ones = score[order], positive[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    to_end = np.cumsum(ones)[ends]  # positives up to each distinct score
    to_begin = np.concatenate([[0], to_end[:-1]])
    sizes = np.diff(ends, prepend=-1)
    # Twice the positives under a score, ties as a half, and twice the negatives.
    positives = np.repeat(to_begin + to_end, sizes)
    ranks = np.repeat(2 * ends + 2 - sizes, sizes)
    positive_indices, negative_indices = np.flatnonzero(ones), np.flatnonzero(~ones)
    v10 = (ranks[positive_indices] - positives[positive_indices]) / (2.0 * k)
    v01 = 1.0 - positives[negative_indices] / (2.0 * m)
    area = float(v10.mean())
    influence = np.empty(len(score))
    influence[order[positive_indices]] = (v10 - area) / math.sqrt(m * (m - 1.0))
    influence[order[negative_indices]] = (v01 - area) / math.sqrt(k * (k - 1.0))
    return area, influence


def standard_error(influence: np.ndarray, groups: np.ndarray | None = None) -> float:
    """√Σ φ², or over the sums of groups (numbered from 0, shape (n,))."""
    if groups is not None:
        sums = np.bincount(groups, weights=influence)
        count = len(sums)
        return math.sqrt(count / (count - 1.0) * float((sums - sums.mean()) @ (sums - sums.mean())))
    return math.sqrt(float(influence @ influence))


def normal_interval(estimate: float, error: float, *, bounded: bool = False) -> tuple[float, float]:
    """Estimate ± z · error; for a bounded share on the scale of its log odds, so within 0 … 1."""
    from scipy import special  # a metric's title does not need it

    half_width = float(special.ndtri(0.5 + LEVEL / 2)) * error
    if not bounded or not 0.0 < estimate < 1.0:
        return estimate - half_width, estimate + half_width
    odds, half_width = special.logit(estimate), half_width / (estimate * (1.0 - estimate))
    return float(special.expit(odds - half_width)), float(special.expit(odds + half_width))
