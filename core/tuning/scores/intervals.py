"""95 % confidence intervals of the contestants' scores and of their differences.

| scores and rows | method |
| --- | --- |
| folds of nested cross-validation | corrected resampled t (Nadeau & Bengio 2003) |
| shares of rows or sequences that are right | exact McNemar test, with Tango's score interval |
| area under the ROC curve | DeLong et al. 1988 |
| means and R², from some hundred rows or groups on | normal, of paired differences |
| the others | paired bootstrap of rows, or of groups where rows belong together |

Bootstrap resamples of several models' scores on the same rows.

Rows (or groups of rows) are drawn with replacement, the same for all models (paired); the middle 95
% of the scores is the interval (percentile method; Efron & Tibshirani 1993, chapter 13).

Metrics of labels depend on rows only through (target, labels): equal rows are drawn together from a
multinomial distribution, which is the same draw and cheap for a million rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.evaluation.influence import normal_interval, standard_error
from core.evaluation.paired_tests import (
    corrected_interval,
    difference_interval,
    discordant,
    mcnemar,
    share_interval,
)
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.predictions import (
    BASELINE,
    CONTESTANTS,
    DEFAULT,
    TUNED,
    ComparedPredictions,
)

REFERENCES = (DEFAULT, BASELINE)
MIN_NORMAL_ROWS = 100  # independent rows or groups from which on means count as normal
_NONE = (float("nan"), float("nan"))


@dataclass(frozen=True)
class DifferenceInterval:
    """The interval of tuned − other."""

    low: float  # an end; NaN where it is undefined
    high: float
    method: str
    p: float | None = None  # of the test that belongs to it, if any


@dataclass(frozen=True)
class ScoreIntervals:
    """The intervals of the scores, and of tuned − other for the references."""

    scores: dict[str, tuple[float, float]]
    differences: dict[str, DifferenceInterval]


def score_intervals(
    metric: Metric,
    predictions: ComparedPredictions,
    scores: Mapping[str, Mapping[str, float]],
    seed: int,
    is_default: bool = False,
) -> ScoreIntervals:
    """The intervals of a metric, by the method that suits it and the rows.

    Args:
        metric: a contestant without its kind of predictions has no interval.
        scores: of `predictions.all_scores`, the middle of normal intervals.
        is_default: whether the tuned setting is the default one: the gain is exactly 0.
    """
    if predictions.folds is not None:
        return _fold_intervals(metric, predictions)
    outputs = predictions.outputs_for(metric)
    is_independent = not predictions.units.has_groups and not predictions.units.is_time
    if metric.right is not None and (is_independent or metric.needs == "whole"):
        return _mcnemar_intervals(metric, predictions.y, outputs, is_default)
    # Areas under a curve always: every resample would cost a sort.
    has_enough_units = metric.bounded or predictions.units.count >= MIN_NORMAL_ROWS
    if metric.influence is not None and has_enough_units:
        intervals = _normal_intervals(metric, predictions, outputs, scores)
        if intervals is not None:
            return intervals
    return _bootstrap_intervals(metric, predictions, outputs, seed)


def _fold_intervals(metric: Metric, predictions: ComparedPredictions) -> ScoreIntervals:
    assert predictions.train_share is not None
    share, scores = predictions.train_share, predictions.fold_scores(metric)
    no_values = np.full(len(scores[TUNED]), np.nan)
    all_values = {name: scores.get(name, no_values) for name in CONTESTANTS}
    method = "corrected resampled t"
    differences = {
        n: corrected_interval(all_values[TUNED] - all_values[n], share) for n in REFERENCES
    }
    return ScoreIntervals(
        {name: corrected_interval(values, share) for name, values in all_values.items()},
        {name: DifferenceInterval(*ends, method) for name, ends in differences.items()},
    )


def _mcnemar_intervals(
    metric: Metric, y: np.ndarray, outputs: dict[str, Predictions], is_default: bool
) -> ScoreIntervals:
    assert metric.right is not None
    arrays = {name: getattr(output, metric.needs) for name, output in outputs.items()}
    right = {name: metric.right(y, array) for name, array in arrays.items()}
    rows = len(right[TUNED])
    differences = {}
    for name in REFERENCES:
        won, lost = discordant(right[TUNED], right[name])
        ends = difference_interval(won, lost, rows)
        if is_default and name == DEFAULT and not won + lost:
            ends = (0.0, 0.0)
        differences[name] = DifferenceInterval(*ends, "exact McNemar", mcnemar(won, lost))
    scores = {name: share_interval(int(is_right.sum()), rows) for name, is_right in right.items()}
    return ScoreIntervals(scores, differences)


def _normal_intervals(
    metric: Metric,
    predictions: ComparedPredictions,
    outputs: dict[str, Predictions],
    all_scores: Mapping[str, Mapping[str, float]],
) -> ScoreIntervals | None:
    """Normal intervals; None where a row's influence is not known, as in a class of one row."""
    assert metric.influence is not None
    groups = None
    if predictions.units.has_groups:
        # The spread of a few groups is not known well enough.
        if predictions.units.count < MIN_NORMAL_ROWS:
            return None
        groups = predictions.units.index
    arrays = {name: getattr(output, metric.needs) for name, output in outputs.items()}
    phi = {name: metric.influence(predictions.y, array) for name, array in arrays.items()}
    if not all(np.isfinite(influence).all() for influence in phi.values()):
        return None
    score = {name: all_scores[name][metric.name] for name in outputs}
    scores, differences = dict.fromkeys(CONTESTANTS, _NONE), {}
    for name, influence in phi.items():
        error = standard_error(influence, groups)
        scores[name] = normal_interval(score[name], error, bounded=metric.bounded)
    method = "DeLong" if metric.bounded else "normal"
    for name in REFERENCES:
        ends = _NONE
        if name in phi:
            error = standard_error(phi[TUNED] - phi[name], groups)
            ends = normal_interval(score[TUNED] - score[name], error)
        differences[name] = DifferenceInterval(*ends, method)
    return ScoreIntervals(scores, differences)


def _bootstrap_intervals(
    metric: Metric, predictions: ComparedPredictions, outputs: dict[str, Predictions], seed: int
) -> ScoreIntervals:
    y = predictions.y
    groups = predictions.units.index if predictions.units.has_groups else None
    resamples = resampled_scores(metric, y, list(outputs.values()), seed, groups)
    drawn_scores = dict(zip(outputs, resamples, strict=True))
    no_values = np.full(resamples.shape[1], np.nan)
    all_values = {name: drawn_scores.get(name, no_values) for name in CONTESTANTS}
    differences = {
        name: percentile_interval(all_values[TUNED] - all_values[name]) for name in REFERENCES
    }
    return ScoreIntervals(
        {name: percentile_interval(values) for name, values in all_values.items()},
        {name: DifferenceInterval(*ends, "bootstrap") for name, ends in differences.items()},
    )


RESAMPLES = 2000
MIN_RESAMPLES = 200
_MAX_DRAWS = 2e7  # rows × resamples; with more rows fewer resamples are drawn
_MAX_ENTRIES = 2e6  # of a weight matrix held at once
_PERCENTILES = (2.5, 97.5)


def resampled_scores(
    metric: Metric,
    y: np.ndarray,
    all_predictions: Sequence[Predictions],
    seed: int,
    row_groups: np.ndarray | None = None,
) -> np.ndarray:
    """The scores of several models on the same resamples of rows, shape (models, B).

    Args:
        y: codes or numbers, shape (rows,).
        row_groups: the group of each row, drawn as a whole; None to draw single rows.
    """
    generator = np.random.default_rng(seed)
    if row_groups is not None:
        resamples = _group_weights(row_groups, generator)
    elif metric.needs == "labels" and all(p.scores is not None for p in all_predictions):
        y, all_predictions, counts = _distinct_cells(y, all_predictions)
        resamples = _cell_weights(counts, generator)
    else:
        resamples = _row_weights(len(y), generator)
    scores = [
        [metric.weighted_scores(y, predictions, weights) for predictions in all_predictions]
        for weights in resamples
    ]
    return np.concatenate(scores, axis=1)


def _distinct_cells(
    y: np.ndarray, all_predictions: Sequence[Predictions]
) -> tuple[np.ndarray, list[Predictions], np.ndarray]:
    """One row for all that are equal in target and labels, and their counts."""
    # One number for a row's target and labels: to sort numbers is far quicker than to sort rows.
    key = np.zeros(len(y), dtype=np.int64)
    for codes in (y, *(predictions.labels for predictions in all_predictions)):
        key = key * (int(codes.max()) + 2) + codes + 1  # unknown classes are −1
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return y[first], [predictions.subset(first) for predictions in all_predictions], counts


def _batches(width: int) -> Iterator[int]:
    """Batch sizes of resamples, until there are enough, for weight matrices of this width."""
    resamples_left = int(np.clip(_MAX_DRAWS / width, MIN_RESAMPLES, RESAMPLES))
    batch_size = max(1, int(_MAX_ENTRIES / width))
    while resamples_left:
        yield min(resamples_left, batch_size)
        resamples_left -= min(resamples_left, batch_size)


def _cell_weights(counts: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, cells): how many rows of a resample fall into each cell."""
    rows = int(counts.sum())
    for batch_size in _batches(len(counts)):
        yield generator.multinomial(rows, counts / rows, size=batch_size).astype(float)


def _row_weights(rows: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row."""
    for batch_size in _batches(rows):
        offsets = rows * np.arange(batch_size)[:, None]  # a range of numbers for each resample
        drawn = generator.integers(rows, size=(batch_size, rows)) + offsets
        weights = np.bincount(drawn.ravel(), minlength=batch_size * rows)
        yield weights.reshape(batch_size, rows).astype(float)


def _group_weights(row_groups: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row's group."""
    names, group_of_row = np.unique(row_groups.astype(str), return_inverse=True)
    shares = np.full(len(names), 1 / len(names))
    for batch_size in _batches(len(row_groups)):
        drawn = generator.multinomial(len(names), shares, size=batch_size)
        yield drawn[:, group_of_row].astype(float)


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of resampled values; NaN where none is finite."""
    finite_values = values[np.isfinite(values)]
    if not len(finite_values):  # every resample had a single class
        return float("nan"), float("nan")
    low, high = np.percentile(finite_values, _PERCENTILES)
    return float(low), float(high)
