"""The scores of several models without each unit, which say how well a score is known."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.datasets.units import Units, join_units
from core.evaluation.unit_intervals import TIME_BLOCKS, spread_of
from core.tuning.scores.metric import Metric, Predictions

MAX_CELLS = 4e6  # units × rows; with more, influences are taken or units are joined
_MIN_JOINED = 200  # so many units are enough to know the spread
_MAX_ENTRIES = 2e6  # of a weight matrix held at once


def left_out_scores(
    metric: Metric,
    y: np.ndarray,
    all_predictions: Sequence[Predictions],
    units: Units,
    max_cells: float = MAX_CELLS,
) -> tuple[np.ndarray, Units]:
    """The models' scores without each unit, (models, G), and the units that were left out.

    Units that are moments are joined to blocks of time, in order. With more than `max_cells`, units
    × rows, the scores are right to first order.
    """
    n = len(y)
    if units.count < 2:  # nothing is there without it
        return np.full((len(all_predictions), units.count), np.nan), units
    if units.is_time:
        units = join_units(units, TIME_BLOCKS)
    if units.count * n > max_cells and metric.influence is not None:
        return np.stack([_first_order(metric, y, p, units) for p in all_predictions]), units
    counts, cell_of_row = np.ones(n), np.arange(n)
    # Metrics of labels depend on rows only through (target, labels): equal rows are one cell.
    if metric.needs == "labels" and all(p.scores is not None for p in all_predictions):
        y, all_predictions, cell_of_row, counts = _distinct_cells(y, all_predictions)
    cells, batch_scores = len(counts), []
    units = join_units(units, max(_MIN_JOINED, int(max_cells / cells)))
    batch = max(1, int(_MAX_ENTRIES / cells))
    order = np.argsort(units.index, kind="stable")
    ends = np.searchsorted(units.index[order], np.arange(0, units.count + batch, batch))
    for start, rows in zip(range(0, units.count, batch), np.split(order, ends[1:-1]), strict=True):
        size = min(batch, units.count - start)
        keys = (units.index[rows] - start) * cells + cell_of_row[rows]
        weights = counts - np.bincount(keys, minlength=size * cells).reshape(size, cells)
        batch_scores.append([metric.weighted_scores(y, p, weights) for p in all_predictions])
    return np.concatenate(batch_scores, axis=1), units


def mean_difference(
    metric: Metric,
    y: np.ndarray,
    minuend: Sequence[Predictions],
    subtrahend: Sequence[Predictions],
    units: Units,
    max_cells: float = MAX_CELLS,
) -> tuple[float, float, float]:
    """The mean score of some models minus that of others (or of none), with its 95 % interval.

    The interval holds the chance of the test rows, and of the models of a kind, which differ by
    what was drawn at random for each.
    """
    models, count = [*minuend, *subtrahend], len(minuend)
    left_out, units = left_out_scores(metric, y, models, units, max_cells)
    # A column more: the score of all rows.
    scores = np.column_stack([left_out, [metric.score(y, model) for model in models]])
    means, variance = np.zeros(scores.shape[1]), 0.0
    for sign, kind in ((1.0, scores[:count]), (-1.0, scores[count:])):
        if len(kind):
            means = means + sign * kind.mean(axis=0)
        if len(kind) > 1:
            variance += float(kind[:, -1].var(ddof=1)) / len(kind)
    spread = spread_of(means[:-1], units)
    error = math.hypot(spread.error, math.sqrt(variance))
    return float(means[-1]), *replace(spread, error=error).interval_around(float(means[-1]))


def _first_order(metric: Metric, y: np.ndarray, output: Predictions, units: Units) -> np.ndarray:
    assert metric.influence is not None
    phi = metric.influence(y, getattr(output, metric.needs))
    change = units.unit_sums(phi) * math.sqrt(1.0 - 1.0 / len(y)) / (1.0 - units.row_shares)
    return np.asarray(metric.score(y, output) - change)


def _distinct_cells(
    y: np.ndarray, all_predictions: Sequence[Predictions]
) -> tuple[np.ndarray, list[Predictions], np.ndarray, np.ndarray]:
    """One row for all equal in target and labels, the cell of each row, and their counts."""
    # One number for a row's target and labels: to sort numbers is far quicker than to sort rows.
    key = np.zeros(len(y), dtype=np.int64)
    for codes in (y, *(predictions.labels for predictions in all_predictions)):
        key = key * (int(codes.max()) + 2) + codes + 1  # unknown classes are −1
    _, first, cells, counts = np.unique(key, True, True, True)
    models = [predictions.subset(first) for predictions in all_predictions]
    return y[first], models, cells, counts.astype(float)
