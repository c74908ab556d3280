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

from core.tuning.scores.metric import Metric, Said

RESAMPLES = 2000
FEWEST_RESAMPLES = 200
_MOST_DRAWS = 2e7  # rows × resamples: beyond it fewer resamples are drawn, down to the fewest
_CHUNK = 2e6  # entries of a weight matrix held at once
_OUTSIDE = (2.5, 97.5)


def resampled_scores(
    metric: Metric,
    y: np.ndarray,
    said: Sequence[Said],
    seed: int,
    row_groups: np.ndarray | None = None,
) -> np.ndarray:
    """The scores of several models on the same resamples of rows, shape (models, B).

    Args:
        metric: what is measured.
        y: codes or numbers, shape (rows,).
        said: what each model says about these rows.
        seed: of the resamples.
        row_groups: the group of each row, drawn as a whole; None to draw single rows.
    """
    generator = np.random.default_rng(seed)
    if row_groups is not None:
        resamples = _group_weights(row_groups, generator)
    elif metric.needs == "labels" and all(one.scores is not None for one in said):
        y, said, counts = _cells(y, said)
        resamples = _cell_weights(counts, generator)
    else:
        resamples = _row_weights(len(y), generator)
    drawn = [[metric.weighted(y, one, weights) for one in said] for weights in resamples]
    return np.concatenate(drawn, axis=1)


def _cells(y: np.ndarray, said: Sequence[Said]) -> tuple[np.ndarray, list[Said], np.ndarray]:
    """One row for all that are alike in target and labels, and how many they are."""
    key = np.zeros(len(y), dtype=np.int64)
    for codes in (y, *(one.labels for one in said)):
        key = key * (int(codes.max()) + 2) + codes + 1  # unknown classes are −1
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return y[first], [one.rows(first) for one in said], counts


def _batches(width: int) -> Iterator[int]:
    """How many resamples at once, until there are enough, for weight matrices of this width."""
    left = int(np.clip(_MOST_DRAWS / width, FEWEST_RESAMPLES, RESAMPLES))
    at_once = max(1, int(_CHUNK / width))
    while left:
        yield min(left, at_once)
        left -= min(left, at_once)


def _cell_weights(counts: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, cells): how many of a resample's rows fall into each cell."""
    rows = int(counts.sum())
    for some in _batches(len(counts)):
        yield generator.multinomial(rows, counts / rows, size=some).astype(float)


def _row_weights(rows: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row."""
    for some in _batches(rows):
        drawn = generator.integers(rows, size=(some, rows)) + rows * np.arange(some)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=some * rows)
        yield weights.reshape(some, rows).astype(float)


def _group_weights(row_groups: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Matrices (some resamples, rows): how often a resample has each row's group."""
    names, group_of_row = np.unique(row_groups.astype(str), return_inverse=True)
    for some in _batches(len(row_groups)):
        drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=some)
        yield drawn[:, group_of_row].astype(float)


def middle(values: np.ndarray) -> tuple[float, float]:
    """The 95 % in the middle of resampled values; NaN where none is known."""
    known = values[np.isfinite(values)]
    if not len(known):  # every resample had a single class
        return float("nan"), float("nan")
    low, high = np.percentile(known, _OUTSIDE)
    return float(low), float(high)
