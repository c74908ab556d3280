"""ROC and precision–recall curves of one class against the rest, and its calibration.

| symbol | code | meaning |
| --- | --- | --- |
| TP, FP | ``true``, ``false`` | rows of the class, and others, that score at least a threshold |
| P, N | ``positives``, ``negatives`` | rows of the class, and others |

ROC: TP/P over FP/N. Precision–recall: TP/(TP + FP) over TP/P. Average precision is
Σ (R_k − R_{k−1}) P_k over falling thresholds, without interpolation, as scikit-learn has it.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.datasets.units import Units
from core.evaluation.calibration_bin import CalibrationBin
from core.evaluation.edge_intervals import area_interval
from core.evaluation.influence import area_influence
from core.evaluation.paired_tests import share_interval
from core.evaluation.unit_intervals import bounded_interval, joined_units, mean_left_out

BINS = 10


@dataclass(frozen=True)
class ThresholdCounts:
    """Counts at every threshold that makes a difference, the highest first."""

    thresholds: np.ndarray  # the different scores, falling, shape (k,)
    true: np.ndarray  # how many rows of the class score at least that, shape (k,)
    false: np.ndarray  # how many others

    @property
    def positives(self) -> int:
        """Rows of the class."""
        return int(self.true[-1]) if len(self.true) else 0

    @property
    def negatives(self) -> int:
        """The others."""
        return int(self.false[-1]) if len(self.false) else 0


def threshold_counts(positive: np.ndarray, score: np.ndarray) -> ThresholdCounts:
    """The counts of rows of the class (n,) and their scores, from which both curves follow."""
    order = np.argsort(-score, kind="stable")
    ordered, ones = score[order], positive[order]
    # No threshold lies between equal scores.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    true = np.cumsum(ones)[ends]
    return ThresholdCounts(ordered[ends], true, ends + 1 - true)


def thin_curve(counts: ThresholdCounts, max_points: int) -> ThresholdCounts:
    """At most so many of its thresholds: even steps along both axes, and both ends."""
    count = len(counts.thresholds)
    if count <= max_points:
        return counts
    # Even steps of TP/P + FP/N, the length along the ROC curve, and of ranks for what lies close.
    along = counts.true / max(counts.positives, 1) + counts.false / max(counts.negatives, 1)
    targets = np.linspace(along[0], along[-1], max_points // 2)
    indices = np.searchsorted(along, targets).clip(0, count - 1)
    ranks = np.linspace(0, count - 1, max_points - max_points // 2).astype(int)
    indices = np.union1d(indices, ranks)
    return ThresholdCounts(counts.thresholds[indices], counts.true[indices], counts.false[indices])


def area_with_interval(
    positive: np.ndarray, score: np.ndarray, units: Units
) -> tuple[float, float, float]:
    """The area under the ROC curve with its 95 % interval; NaN with no row of a kind."""
    area, influence = area_influence(positive, score)
    if not np.isfinite(area):
        return area, math.nan, math.nan
    if not units.has_groups and not units.is_time:
        kinds = np.array([float(positive.sum())]), np.array([float((~positive).sum())])
        return (area, *area_interval(area, float(influence @ influence), *kinds))
    units = joined_units(units)
    left_out = area - units.unit_sums(influence) / (1.0 - units.row_shares)
    return (area, *bounded_interval(area, left_out, units))


def average_precision_with_interval(
    positive: np.ndarray, score: np.ndarray, units: Units
) -> tuple[float, float, float]:
    """Average precision with a 95 % interval by the average precision without each unit.

    NaN where no row is of the class.
    """
    order = np.argsort(-score, kind="stable")
    ordered, ones = score[order], positive[order].astype(float)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))

    # Weights instead of chosen rows, so that the scores are sorted once for all units.
    def weighted_average(weights: np.ndarray) -> float:
        true, calls = np.cumsum(weights * ones)[ends], np.cumsum(weights)[ends]
        if not true[-1] > 0:
            return math.nan
        precision = np.divide(true, calls, out=np.zeros(len(ends)), where=calls > 0)
        return float(np.diff(true, prepend=0.0) @ precision / true[-1])

    average = weighted_average(np.ones(len(ones)))
    if math.isnan(average):
        return average, math.nan, math.nan
    units = joined_units(units)
    index = units.index[order]
    left_out = np.array([weighted_average(index != unit) for unit in range(units.count)])
    return (average, *bounded_interval(average, left_out, units))


def calibration(
    positive: np.ndarray, probability: np.ndarray, units: Units
) -> list[CalibrationBin]:
    """Mean probability and observed share of every bin of probabilities but empty ones."""
    # A probability of 1 belongs to the last bin, which has no bin above it.
    bin_of_row = np.minimum((probability * BINS).astype(int), BINS - 1)
    entries = []
    for bin_index in np.unique(bin_of_row):
        inside = bin_of_row == bin_index
        rows, of_class = int(inside.sum()), int(positive[inside].sum())
        low, high = share_interval(of_class, rows)
        if units.has_groups or units.is_time:
            inside_units = joined_units(units.take_rows(inside))
            left_out = mean_left_out(positive[inside].astype(float), inside_units)
            low, high = bounded_interval(of_class / rows, left_out, inside_units)
        mean_probability = float(probability[inside].mean())
        entries.append(CalibrationBin(mean_probability, of_class / rows, rows, low, high))
    return entries
