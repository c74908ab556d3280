"""Bootstrap resamples of several models' scores on the same rows.

Rows (or groups of rows) are drawn with replacement, the same for all models (paired); the middle 95
% of the scores is the interval (percentile method; Efron & Tibshirani 1993, chapter 13).

Metrics of labels depend on rows only through (target, labels): equal rows are drawn together from a
multinomial distribution, which is the same draw and cheap for a million rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.tuning.scores.metric import Metric, Predictions

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
        metric: of the scores.
        y: codes or numbers, shape (rows,).
        all_predictions: of each model for these rows.
        seed: of the resamples.
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
