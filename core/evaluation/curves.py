"""ROC and precision–recall curves of one class against the rest, and its calibration.

| symbol | code | meaning |
| --- | --- | --- |
| TP, FP | ``true``, ``false`` | rows of the class, and others, that are called the class |
| P, N | ``positives``, ``negatives`` | rows of the class, and others |

A row is called the class where its score is at least the threshold. ROC: TP/P over FP/N.
Precision–recall: TP/(TP + FP) over TP/P. Average precision is Σ (R_k − R_{k−1}) P_k over falling
thresholds, without interpolation, as scikit-learn has it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.evaluation.influence import normal_interval, of_area, standard_error
from core.evaluation.paired_proportions import share_interval

BINS = 10
RESAMPLES = 400
_MOST = 4e7  # rows × resamples


@dataclass(frozen=True)
class Curve:
    """Counts at every threshold that makes a difference, the highest first.

    Attributes:
        thresholds: the different scores, falling, shape (k,).
        true, false: how many rows of the class, and others, score at least that, shape (k,).
    """

    thresholds: np.ndarray
    true: np.ndarray
    false: np.ndarray

    @property
    def positives(self) -> int:
        """Rows of the class."""
        return int(self.true[-1]) if len(self.true) else 0

    @property
    def negatives(self) -> int:
        """The others."""
        return int(self.false[-1]) if len(self.false) else 0


def curve(positive: np.ndarray, score: np.ndarray) -> Curve:
    """The counts, from which both curves follow.

    Args:
        positive: which rows are of the class, shape (n,).
        score: the more, the likelier, shape (n,).
    """
    order = np.argsort(-score, kind="stable")
    ordered, ones = score[order], positive[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    true = np.cumsum(ones)[ends]
    return Curve(ordered[ends], true, ends + 1 - true)


def thinned(whole: Curve, most: int) -> Curve:
    """At most so many of its thresholds: even steps along both axes, and both ends."""
    count = len(whole.thresholds)
    if count <= most:
        return whole
    # Even steps of TP/P + FP/N, the length along the ROC curve, and of ranks for what lies close.
    along = whole.true / max(whole.positives, 1) + whole.false / max(whole.negatives, 1)
    wanted = np.linspace(along[0], along[-1], most // 2)
    kept = np.searchsorted(along, wanted).clip(0, count - 1)
    kept = np.union1d(kept, np.linspace(0, count - 1, most - most // 2).astype(int))
    return Curve(whole.thresholds[kept], whole.true[kept], whole.false[kept])


def average_precision(found: Curve) -> float:
    """Σ (R_k − R_{k−1}) P_k; NaN where no row is of the class."""
    if not found.positives:
        return float("nan")
    precision = found.true / (found.true + found.false)
    gained = np.diff(found.true, prepend=0) / found.positives
    return float(gained @ precision)


def area_with_interval(
    positive: np.ndarray, score: np.ndarray, groups: np.ndarray | None = None
) -> tuple[float, float, float]:
    """The area under the ROC curve with DeLong's 95 % interval; NaN with one row of a kind."""
    area, influence = of_area(positive, score)
    if not np.isfinite(area):
        return area, float("nan"), float("nan")
    return (area, *normal_interval(area, standard_error(influence, groups), bounded=True))


def average_precision_with_interval(
    positive: np.ndarray, score: np.ndarray, seed: int, groups: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Average precision with a 95 % interval by a bootstrap of rows, or of whole groups."""
    found = average_precision(curve(positive, score))
    if not np.isfinite(found):
        return found, float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    order = np.argsort(-score, kind="stable")
    ordered, ones = score[order], positive[order].astype(float)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    n = len(score)
    owners = np.arange(n) if groups is None else groups[order]
    count = int(owners.max()) + 1
    drawn = []
    for _ in range(int(np.clip(_MOST / n, 100, RESAMPLES))):
        weights = np.bincount(generator.integers(count, size=count), minlength=count)[owners]
        true = np.cumsum(weights * ones)[ends]
        called = np.cumsum(weights)[ends]
        if true[-1] > 0:
            precision = np.divide(true, called, out=np.zeros(len(ends)), where=called > 0)
            drawn.append(float(np.diff(true, prepend=0.0) @ precision / true[-1]))
    low, high = np.percentile(drawn, (2.5, 97.5))
    return found, float(low), float(high)


def calibration(positive: np.ndarray, probability: np.ndarray, bins: int = BINS) -> list[dict]:
    """What was said and what was seen, a bin of probabilities each, empty ones left out.

    Returns:
        {predicted: the mean, observed: the share of the class, rows, low, high: Wilson's 95 %
        interval of that share}.
    """
    place = np.minimum((probability * bins).astype(int), bins - 1)
    found = []
    for at in np.unique(place):
        inside = place == at
        rows, of_class = int(inside.sum()), int(positive[inside].sum())
        low, high = share_interval(of_class, rows)
        said = float(probability[inside].mean())
        entry = {"predicted": said, "observed": of_class / rows, "rows": rows}
        found.append({**entry, "low": low, "high": high})
    return found
