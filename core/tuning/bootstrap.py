"""Bootstrap intervals of two models' scores on the same rows, and of their difference.

Rows are drawn with replacement, the same rows for both models (paired), and the middle 95 % of
the scores is the interval (percentile method; Efron & Tibshirani 1993, chapter 13).

Where rows belong together (several rows of one patient), whole groups are drawn.

Metrics of labels alone depend on rows only through (target, label, label); rows alike in all
three are drawn together from a multinomial distribution, which is the same draw, so that a
million rows cost no more than the few cells they fall into.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.tuning.metric import Metric, Said

RESAMPLES = 2000
FEWEST_RESAMPLES = 200
_MOST_DRAWS = 2e7  # rows × resamples: beyond it fewer resamples are drawn, down to the fewest
_CHUNK = 2e6  # entries of a weight matrix held at once
_OUTSIDE = (2.5, 97.5)


@dataclass(frozen=True)
class Intervals:
    """95 % intervals: of the tuned score, of the default's, and of tuned − default."""

    tuned: tuple[float, float]
    default: tuple[float, float]
    difference: tuple[float, float]


def intervals(
    metric: Metric,
    y: np.ndarray,
    tuned: Said,
    default: Said,
    seed: int,
    row_groups: np.ndarray | None = None,
) -> Intervals:
    """The paired percentile intervals of a metric.

    Args:
        metric: what is measured.
        y: codes or numbers, shape (rows,).
        tuned: what the tuned model says about these rows.
        default: what the default model says about them.
        seed: of the resamples.
        row_groups: the group of each row, drawn as a whole; None to draw single rows.
    """
    generator = np.random.default_rng(seed)
    if row_groups is not None:
        resamples = _group_weights(row_groups, generator)
    elif metric.needs == "labels" and tuned.scores is not None:
        cells = np.stack([y, tuned.labels, default.labels])
        _, first, counts = np.unique(cells, axis=1, return_index=True, return_counts=True)
        y, tuned, default = y[first], tuned.rows(first), default.rows(first)
        resamples = _cell_weights(counts, generator)
    else:
        resamples = _row_weights(len(y), generator)
    drawn = [
        (metric.weighted(y, tuned, weights), metric.weighted(y, default, weights))
        for weights in resamples
    ]
    of_tuned = np.concatenate([one for one, _ in drawn])
    of_default = np.concatenate([other for _, other in drawn])
    return Intervals(_middle(of_tuned), _middle(of_default), _middle(of_tuned - of_default))


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


def _middle(values: np.ndarray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not len(known):  # every resample had a single class
        return float("nan"), float("nan")
    low, high = np.percentile(known, _OUTSIDE)
    return float(low), float(high)
