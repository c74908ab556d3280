"""95 % confidence intervals of the contestants' scores and of their differences.

| scores and rows | method |
| --- | --- |
| shares of single rows, or sequences, that are right | exact McNemar; Tango's score interval |
| areas, F1, balanced accuracy of single rows | score intervals (edge_intervals) |
| the others | jackknife of independent units: rows, groups, blocks of time |

Rows that nested cross-validation tests are judged together, each as a little less than a row.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, C | | | rows, and classes that occur |
| φ | ``phi`` | (n,) | influence of a row (core.evaluation.influence) |
| r | ``row_weight`` | | what a row counts: 1, and less in nested cross-validation |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from core.evaluation import edge_intervals
from core.evaluation.influence import fold_rows
from core.evaluation.paired_tests import difference_interval, discordant, mcnemar, share_interval
from core.evaluation.unit_intervals import (
    bounded_interval,
    distance_interval,
    spread_of,
    sum_interval,
)
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import auc_influence
from core.tuning.scores.predictions import (
    BASELINE,
    CONTESTANTS,
    DEFAULT,
    TUNED,
    AllScores,
    ComparedPredictions,
)
from core.tuning.scores.unit_scores import left_out_scores

REFERENCES = (DEFAULT, BASELINE)
_NONE = (float("nan"), float("nan"))
# How far a row out of order moves its share of an area, about: it is rarely beyond all others.
_AREA_STEP = 0.3
# Units from which gamma limits hold: of five equal models' terms all have one sign too often.
_SUM_UNITS = 30


@dataclass(frozen=True)
class DifferenceInterval:
    """The interval of tuned − other."""

    low: float  # an end; NaN where it is undefined
    high: float
    method: str
    p: float | None = None  # of the test that belongs to it, if any
    units: int | None = None  # independent ones behind it; None where every row is one


@dataclass(frozen=True)
class ScoreIntervals:
    """The intervals of the scores, and of tuned − other for the references."""

    scores: dict[str, tuple[float, float]]
    differences: dict[str, DifferenceInterval]


def score_intervals(
    metric: Metric, predictions: ComparedPredictions, scores: AllScores, is_default: bool = False
) -> ScoreIntervals:
    """The intervals of a metric, by the method that suits it and the rows.

    A contestant without its kind of predictions has none. `scores` are `predictions.all_scores`;
    where the tuned setting `is_default`, the gain is exactly 0.
    """
    if metric.right is not None:
        array = getattr(predictions.tuned, metric.needs)
        # Of sequences a unit, of tables a row is right or wrong.
        is_independent = len(metric.right(predictions.y, array)) == predictions.units.count
        if is_independent and not predictions.units.is_time:
            return _mcnemar_intervals(metric, predictions, is_default)
    if metric.name in CLASS_ESTIMATES and not (
        predictions.units.has_groups or predictions.units.is_time
    ):
        return _class_intervals(metric, predictions, scores, is_default)
    return _unit_intervals(metric, predictions, scores)


def _mcnemar_intervals(
    metric: Metric, predictions: ComparedPredictions, is_default: bool
) -> ScoreIntervals:
    assert metric.right is not None
    weight, differences, right = predictions.row_weight, {}, {}
    for name, output in predictions.outputs_for(metric).items():
        right[name] = metric.right(predictions.y, getattr(output, metric.needs))
    rows = len(right[TUNED]) * weight
    method = "exact McNemar" if predictions.folds is None else "McNemar"
    for name in REFERENCES:
        won, lost = (weight * count for count in discordant(right[TUNED], right[name]))
        ends = difference_interval(won, lost, rows)
        if is_default and name == DEFAULT and not won + lost:
            ends = (0.0, 0.0)
        differences[name] = DifferenceInterval(*ends, method, mcnemar(won, lost))
    scores = {name: share_interval(weight * int(r.sum()), rows) for name, r in right.items()}
    return ScoreIntervals(scores, differences)


def _class_intervals(
    metric: Metric, predictions: ComparedPredictions, all_scores: AllScores, is_default: bool
) -> ScoreIntervals:
    estimate_of = CLASS_ESTIMATES[metric.name]
    y, folds, weight = predictions.y, predictions.folds, predictions.row_weight
    estimates = {
        name: estimate_of(
            all_scores[name][metric.name], y, getattr(output, metric.needs), folds, weight
        )
        for name, output in predictions.outputs_for(metric).items()
    }
    scores = dict.fromkeys(CONTESTANTS, _NONE)
    scores |= {name: estimate.ends for name, estimate in estimates.items() if estimate is not None}
    tuned, differences = estimates[TUNED], {}
    for name in REFERENCES:
        ends, compared = _NONE, estimates.get(name)
        if tuned is not None and compared is not None:
            ends = edge_intervals.paired_interval(tuned, compared)
            if is_default and name == DEFAULT and (tuned.influence == compared.influence).all():
                ends = (0.0, 0.0)
        differences[name] = DifferenceInterval(*ends, "paired rows of classes")
    return ScoreIntervals(scores, differences)


def _unit_intervals(
    metric: Metric, predictions: ComparedPredictions, all_scores: AllScores
) -> ScoreIntervals:
    outputs = predictions.outputs_for(metric)
    if predictions.folds is not None and metric.needs == "scores":
        outputs = {name: _rank_in_folds(o, predictions.folds) for name, o in outputs.items()}
    arrays, units = left_out_scores(
        metric, predictions.y, list(outputs.values()), predictions.units
    )
    middle = arrays.mean(axis=1, keepdims=True)
    arrays = middle + (arrays - middle) / math.sqrt(predictions.row_weight)
    left_out = dict(zip(outputs, arrays, strict=True))
    score = {name: all_scores[name][metric.name] for name in outputs}
    scores = dict.fromkeys(CONTESTANTS, _NONE)
    differences = dict.fromkeys(REFERENCES, DifferenceInterval(*_NONE, "jackknife"))
    for name, without in left_out.items():
        if metric.is_bounded:
            scores[name] = bounded_interval(score[name], without, units)
        else:
            best = 1.0 if metric.share else 0.0
            scores[name] = distance_interval(score[name], without, units, best)
        if name != TUNED:
            spread = spread_of(left_out[TUNED] - without, units)
            ends = spread.interval_around(score[TUNED] - score[name])
            ends = _narrowed(ends, metric, predictions, outputs[name])
            differences[name] = DifferenceInterval(*ends, "jackknife", units=int(spread.count))
    return ScoreIntervals(scores, differences)


def _narrowed(
    ends: tuple[float, float], metric: Metric, predictions: ComparedPredictions, other: Predictions
) -> tuple[float, float]:
    """The ends of a difference of mean values, within the gamma limits of its sum.

    Large errors that both models have drop out of it, and stay in the jackknife of R².
    """
    units = predictions.units
    if metric.values is None or metric.is_bounded or units.is_time or units.count < _SUM_UNITS:
        return ends
    tuned, compared = (
        metric.values(predictions.y, getattr(model, metric.needs))
        for model in (predictions.tuned, other)
    )
    terms = units.unit_sums(tuned - compared) / len(predictions.y)
    low, high = sum_interval(terms, predictions.row_weight)
    return max(ends[0], low), min(ends[1], high)


def _rank_in_folds(output: Predictions, folds: np.ndarray) -> Predictions:
    """Scores as shares of their fold's rows that are lower: those of several models compare so."""
    assert output.scores is not None
    ranks = np.empty(output.scores.shape)
    for rows in fold_rows(folds, len(folds)):
        ranks[rows] = stats.rankdata(output.scores[rows], axis=0) / len(rows)
    return replace(output, scores=ranks)


def _recall_estimate(
    value: float, y: np.ndarray, labels: np.ndarray, _folds: np.ndarray | None, row_weight: float
) -> edge_intervals.ClassEstimate:
    _, index, rows = np.unique(y, return_inverse=True, return_counts=True)
    is_right = (labels == y).astype(float)
    right, step = np.bincount(index, is_right), 1.0 / (rows * len(rows))
    phi = (is_right - (right / rows)[index]) * step[index] / math.sqrt(row_weight)
    ends = edge_intervals.recall_interval(right * row_weight, rows * row_weight)
    return edge_intervals.ClassEstimate(value, ends, phi, step / row_weight)


def _f1_estimate(
    value: float, y: np.ndarray, labels: np.ndarray, _folds: np.ndarray | None, row_weight: float
) -> edge_intervals.ClassEstimate:
    codes, index = np.unique(np.concatenate([y, labels]), return_inverse=True)
    C = len(codes)
    actual, called = np.split(index, 2)
    confusion = np.bincount(actual * C + called, minlength=C * C).reshape(C, C).astype(float)
    rows = confusion.sum(axis=0) + confusion.sum(axis=1)  # of a class, and called so
    # The fall of a class's F1 by one more row that is of it, or called so, wrongly.
    fall = 2.0 * np.diag(confusion) / rows**2
    phi = (2.0 * (actual == called) / rows[actual] - fall[actual] - fall[called]) / C
    step = (2.0 / rows - fall + (fall.sum() - fall) / max(C - 1, 1)) / C
    ends = edge_intervals.f1_interval(confusion * row_weight)
    return edge_intervals.ClassEstimate(value, ends, phi / math.sqrt(row_weight), step / row_weight)


def _area_estimate(
    value: float, y: np.ndarray, scores: np.ndarray, folds: np.ndarray | None, row_weight: float
) -> edge_intervals.ClassEstimate | None:
    """None where all rows, or those of every fold, are of one class."""
    rows = np.unique(y, return_counts=True)[1] * row_weight
    if not math.isfinite(value):
        return None
    phi = auc_influence(y, scores, folds) / math.sqrt(row_weight)
    # Of two classes both areas are one.
    kinds = (rows[1:], rows[:1]) if len(rows) == 2 else (rows, rows.sum() - rows)
    ends = edge_intervals.area_interval(value, float(phi @ phi), *kinds)
    below = 1.0 / (rows.sum() - rows)
    step = (1.0 / rows + (below.sum() - below) / (len(rows) - 1)) / len(rows)
    return edge_intervals.ClassEstimate(value, ends, phi, _AREA_STEP * step)


# (score, y, what the metric needs, the fold of each row, r) -> the estimate
CLASS_ESTIMATES: dict[str, Callable[..., edge_intervals.ClassEstimate | None]] = {
    "balanced_accuracy": _recall_estimate,
    "f1": _f1_estimate,
    "auc": _area_estimate,
}
