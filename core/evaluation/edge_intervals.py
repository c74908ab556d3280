"""Intervals of metrics of classes that hold for few rows of a class and at perfect scores.

| symbol | code | meaning |
| --- | --- | --- |
| n, x | ``rows``, ``right`` | rows of every class, and how many of them are right, (C,) |
| m, k | ``positives``, ``negatives`` | rows of either kind behind every area, (A,) |
| θ | ``value``, ``truth`` | the metric |

A score interval holds all θ with |θ̂ − θ| ≤ z √V(θ): the variance is that of the θ in question,
since a perfect score θ̂ has none (Wilson 1927). Counts may be broken: nested cross-validation
counts a row as less than one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from core.evaluation.paired_tests import Z, share_interval

_NEAR = 1e-9
# Rows of the rarer kind at which an area's own variance and that of its model weigh the same,
# at θ̂ = ½. Of 2 to 8, on binormal, exponential and rounded scores, 4 was nearest to 95 %.
_MODEL_ROWS = 4.0
_STEP_ROWS = 4.0  # that tell two models apart, at which they weigh as much as the steps


def recall_interval(right: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """The score interval of the mean of classes' recalls; that of Wilson for a single class.

    For a mean θ the recalls p are the likeliest ones with this mean: with one multiplier λ for all
    classes, x_c/p_c − (n_c − x_c)/(1 − p_c) = λ. The variance is
    Σ p_c (1 − p_c)/n_c / C² (Martín Andrés et al. 2011, Comp. Stat. Data Anal. 55, section 3).
    """
    return _lowest_recall(right, rows), 1.0 - _lowest_recall(rows - right, rows)


def _lowest_recall(right: np.ndarray, rows: np.ndarray) -> float:
    value = float((right / rows).mean())

    def recalls_at(multiplier: float) -> np.ndarray:
        # 1 − p = (n − x)/μ, and p = x/(μ + λ) where all rows are right.
        b = multiplier - rows
        mu = (np.sqrt(b * b + 4.0 * (rows - right) * multiplier) - b) / 2.0
        return np.asarray(right / (mu + multiplier))

    def excess_distance(multiplier: float) -> float:
        p = recalls_at(multiplier)
        distance = value - float(p.mean())
        # Of entirely right classes small multipliers move nothing.
        if distance < 1e-12:
            return -1.0
        return distance - Z * math.sqrt(float((p * (1.0 - p) / rows).sum())) / len(rows)

    if value <= 0.0:
        return 0.0
    high = float(rows.max())
    while excess_distance(high) <= 0.0:
        high *= 2.0
    return float(recalls_at(optimize.brentq(excess_distance, _NEAR, high)).mean())


def area_interval(
    area: float, variance: float, positives: np.ndarray, negatives: np.ndarray
) -> tuple[float, float]:
    """The score interval of the mean of A areas under ROC curves.

    V(θ) is that of Hanley & McNeil with (m + k)/2 − 1 in place of m − 1 and k − 1 (Newcombe 2006,
    Statistics in Medicine 25, part 2, method 5), blended with the areas' own variance, of DeLong:
    the more, the more rows are out of order, and never below it. It is scaled as θ(1 − θ).
    """
    spread = area * (1.0 - area)
    if not variance and area == 0.5:  # scores that are all the same
        return area, area
    observed = variance / spread if spread else 0.0
    trust = 4.0 * spread * float(np.minimum(positives, negatives).mean()) / _MODEL_ROWS

    def variance_at(truth: float) -> float:
        rows = (positives + negatives) / 2.0 - 1.0
        ranks = (1.0 - truth) / (2.0 - truth) + truth / (1.0 + truth)
        model = float(((1.0 + rows * ranks) / (positives * negatives)).mean()) / len(positives)
        blend = (trust * observed + model) / (trust + 1.0)
        return truth * (1.0 - truth) * max(blend, observed)

    highest = 1.0 - _lowest_truth(1.0 - area, lambda truth: variance_at(1.0 - truth))
    return _lowest_truth(area, variance_at), highest


def _lowest_truth(value: float, variance_at: Callable[[float], float]) -> float:
    def excess_distance(truth: float) -> float:
        return value - truth - Z * math.sqrt(variance_at(truth))

    return float(optimize.brentq(excess_distance, 0.0, value - _NEAR)) if value > _NEAR else 0.0


def f1_interval(confusion: np.ndarray) -> tuple[float, float]:
    """The interval of the mean of the classes' F1, from rows counted [actual][called], (C, C).

    F1/(2 − F1) is the share of right rows among those of the class or called so, and has Wilson's
    interval. Distances to the ends of the classes' intervals are added as squares, with the
    correlations of the F1 (Zou & Donner 2008, Statistics in Medicine 27, eq. 15).
    """
    right, counts = np.diag(confusion), confusion.sum(axis=0) + confusion.sum(axis=1)
    pairs = zip(right, counts - right, strict=True)
    shares = np.array([share_interval(*pair) for pair in pairs])
    (low, high), f1 = (2.0 * shares / (1.0 + shares)).T, 2.0 * right / counts
    # A row of one class that is called another lowers the F1 of both.
    covariance = (confusion + confusion.T) * np.outer(f1 / counts, f1 / counts)
    # Over the intervals' half-widths, as those know more than a perfect score's covariance.
    scale = np.outer(high - low, high - low) / 4.0
    correlation = np.minimum(Z * Z * covariance / scale, 1.0)
    np.fill_diagonal(correlation, 1.0)
    below, above = (math.sqrt(float(d @ correlation @ d)) / len(f1) for d in (f1 - low, high - f1))
    return float(f1.mean()) - below, float(f1.mean()) + above


@dataclass(frozen=True)
class ClassEstimate:
    """A metric of classes on some rows, with what its intervals need."""

    value: float
    ends: tuple[float, float]  # of its interval
    influence: np.ndarray  # of every row (core.evaluation.influence), (n,)
    steps: np.ndarray  # how far a row more or less right in each class moves it, (C,)


def paired_interval(first: ClassEstimate, second: ClassEstimate) -> tuple[float, float]:
    """The interval of the difference of two models on the same rows.

    Two rows more are counted in every class, of which each model has one right (Bonett & Price
    2012, Journal of Educational and Behavioral Statistics 37, for a single share).
    """
    phi, steps = first.influence - second.influence, (first.steps + second.steps) / 2.0
    variance = float(phi @ phi)
    effective_rows = variance**2 / float((phi**4).sum()) if variance else 0.0
    square = (variance + _STEP_ROWS * float(steps @ steps)) / (effective_rows + _STEP_ROWS)
    half_width = Z * math.sqrt(variance + 2.0 * square)
    difference = first.value - second.value
    return max(-1.0, difference - half_width), min(1.0, difference + half_width)
