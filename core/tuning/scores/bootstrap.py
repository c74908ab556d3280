"""Bootstrap resamples of several models' scores on the same rows.

Rows are drawn with replacement, the same rows for all models (paired), and the middle 95 % of
the scores is the interval (percentile method; Efron & Tibshirani 1993, chapter 13).

Where rows belong together (several rows of one patient), whole groups are drawn.

Metrics of labels alone depend on rows only through (target, labels); rows alike in all of
them are drawn together from a multinomial distribution, which is the same draw, so that a
million rows cost no more than the few cells they fall into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.tuning.scores.metric import Metric, Predictions

RESAMPLES = 2000
MIN_RESAMPLES = 200
_MAX_DRAWS = 2e7  # rows × resamples: beyond it fewer resamples are drawn, down to the fewest
_CHUNK = 2e6  # entries of a weight matrix held at once
_OUTSIDE = (2.5, 97.5)


def resampled_scores(
    metric: Metric,
    y: np.ndarray,
    all_predictions: Sequence[Predictions],
    seed: int,
    row_groups: np.ndarray | None = None,
) -> np.ndarray:
    """The scores of several models on the same resamples of rows, shape (models, B).

    Args:
        metric: what is measured.
        y: codes or numbers, shape (rows,).
        all_predictions: what each model says about these rows.
        seed: of the resamples.
        row_groups: the group of each row, drawn as a whole; None to draw single rows.
    """
    generator = np.random.default_rng(seed)
    if row_groups is not None:
        resamples = _group_weights(row_groups, generator)
    elif metric.needs == "labels" and all(
        predictions.scores is not None for predictions in all_predictions
    ):
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
    """One row for all that are alike in target and labels, and how many they are."""
    key = np.zeros(len(y), dtype=np.int64)
    for codes in (y, *(predictions.labels for predictions in all_predictions)):
        key = key * (int(codes.max()) + 2) + codes + 1  # unknown classes are −1
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return y[first], [predictions.subset(first) for predictions in all_predictions], counts


def _batches(width: int) -> Iterator[int]:
    """How many resamples at once, until there are enough, for weight matrices of this width."""
    resamples_left = int(np.clip(_MAX_DRAWS / width, MIN_RESAMPLES, RESAMPLES))
    at_once = max(1, int(_CHUNK / width))
    while resamples_left:
        yield min(resamples_left, at_once)
        resamples_left -= min(resamples_left, at_once)


def _cell_weights(counts: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, cells): how many of a resample's rows fall into each cell."""
    rows = int(counts.sum())
    for batch_size in _batches(len(counts)):
        yield generator.multinomial(rows, counts / rows, size=batch_size).astype(float)


def _row_weights(rows: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row."""
    for batch_size in _batches(rows):
        drawn = (
            generator.integers(rows, size=(batch_size, rows))
            + rows * np.arange(batch_size)[:, None]
        )
        weights = np.bincount(drawn.ravel(), minlength=batch_size * rows)
        yield weights.reshape(batch_size, rows).astype(float)


def _group_weights(row_groups: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row's group."""
    names, group_of_row = np.unique(row_groups.astype(str), return_inverse=True)
    for batch_size in _batches(len(row_groups)):
        drawn = generator.multinomial(
            len(names), np.full(len(names), 1 / len(names)), size=batch_size
        )
        yield drawn[:, group_of_row].astype(float)


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % in the middle of resampled values; NaN where none is known."""
    finite_values = values[np.isfinite(values)]
    if not len(finite_values):  # every resample had a single class
        return float("nan"), float("nan")
    low, high = np.percentile(finite_values, _OUTSIDE)
    return float(low), float(high)
