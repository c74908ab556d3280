"""The trials of several datasets as rows of a joint kernel, nearest dataset first.

Notation:
    η       a setting; x its unit vector (core.space), shape (width,)
    φ(x)    its coordinates, shape (width,): the entries of a choice are divided by √2, so that two
            different choices are at distance 1; the numbers of a simplex are divided by their sum
    p       the number of axes: √p is then the diameter of all coordinates, as the unit cube's is
    s       dataset statistics, standardized over all datasets with the present one at 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.gp.domain import axis_ends, unit_values
from core.gp.kernels import Array, Indices
from core.space import Axis, Setting

Counted = Callable[[str, Array], Array]


class Coordinates:
    """φ, and gradients by φ as gradients by the points, over one axis or more.

    `simplex`: names of number axes whose values count only as shares of their sum (all zero: equal
    shares); other names are passed over. `axis_of`: for every entry its axis; `axes`: p.
    """

    def __init__(self, space: Sequence[Axis], simplex: Sequence[str] = ()) -> None:
        widths = [axis.width for axis in space]
        self.axis_of: Indices = np.repeat(np.arange(len(widths)), widths)
        self.axes = len(widths)
        self.width = len(self.axis_of)
        of_choice = np.array([axis.kind == "choice" for axis in space])[self.axis_of]
        self._scale = np.where(of_choice, math.sqrt(0.5), 1.0)
        self._shared = [axis for axis in space if axis.name in simplex and axis.kind != "choice"]
        names = [axis.name for axis in space]
        entries = [names.index(axis.name) for axis in self._shared]
        self._entries: Indices = np.flatnonzero(np.isin(self.axis_of, entries))

    def transform(self, points: Array) -> Array:
        """φ of points of shape (m, width), the same shape."""
        scaled = points * self._scale
        if self._shared:
            scaled[:, self._entries] = self._simplex_shares(points)[0]
        return scaled

    def pulled_back(self, points: Array, gradient: Array) -> Array:
        """Gradients by φ as gradients by the points, all of shape (m, width).

        With shares h_k = v_k/Σv: ∂/∂u_j = v_j′ (g_j − Σ_k h_k g_k)/Σv.
        """
        pulled = gradient * self._scale
        if self._shared:
            shares, slopes, total = self._simplex_shares(points)
            g = gradient[:, self._entries]
            along = np.einsum("ij,ij->i", shares, g)[:, None]
            safe = np.where(total > 0, total, 1.0)
            pulled[:, self._entries] = np.where(total > 0, slopes * (g - along) / safe, 0.0)
        return pulled

    def _simplex_shares(self, points: Array) -> tuple[Array, Array, Array]:
        """Shares h, slopes v′ by the unit value, and the sums Σv, of the simplex' numbers."""
        values, slopes = np.empty((2, len(points), len(self._shared)))
        for k, axis in enumerate(self._shared):
            values[:, k], slopes[:, k] = _values_and_slopes(axis, points[:, self._entries[k]])
        total = values.sum(axis=1, keepdims=True)
        equal = 1.0 / len(self._shared)
        shares = np.where(total > 0, values / np.where(total > 0, total, 1.0), equal)
        return shares, slopes, total


def _values_and_slopes(axis: Axis, units: Array) -> tuple[Array, Array]:
    """The value of an axis at unit values, not rounded and never negative, and its slope."""
    if axis.high <= axis.low:
        return np.full(len(units), max(axis.low, 0.0)), np.zeros(len(units))
    low, high, first, last = axis_ends(axis)
    rate = (high - low) / (last - first)
    position = low + (np.clip(units, first, last) - first) * rate
    values = np.exp(position) if axis.log else position
    slopes = rate * values if axis.log else np.full(len(units), rate)
    return np.maximum(values, 0.0), np.where(values > 0.0, slopes, 0.0)


def usable_points(
    space: Sequence[Axis], settings: Sequence[Setting], counted: Counted | None = None
) -> tuple[Indices, Array]:
    """Which settings of an earlier dataset are usable, (m,), and their unit vectors, (m, width).

    Numbers out of range are moved to the nearest end. A missing axis, an unknown choice, and
    anything but a finite number where a number is due make a setting unusable. `counted`: numbers
    of the axis of a name as it counts them.
    """
    columns = [np.zeros((len(settings), 0))]
    for axis in space:
        values = [setting.get(axis.name, _MISSING) for setting in settings]
        if axis.kind == "choice":
            columns.append(np.array([_choice_entries(axis, value) for value in values]))
        else:
            # By type: True is an int to Python, and no number of a setting.
            kinds = {kind for kind in set(map(type, values)) if issubclass(kind, _NUMBERS)} - {bool}
            numbers = np.array([v if type(v) in kinds else np.nan for v in values], dtype=float)
            numbers[np.isinf(numbers)] = np.nan
            numbers = numbers if counted is None else counted(axis.name, numbers)
            columns.append(unit_values(axis, numbers)[:, None])
    points = np.hstack(columns)
    rows = np.flatnonzero(~np.isnan(points).any(axis=1))
    return rows, points[rows]


def _choice_entries(axis: Axis, value: Any) -> list[float]:
    is_known = any(value is choice or value == choice for choice in axis.choices)
    return axis.to_unit(value) if is_known else [np.nan] * axis.width


_NUMBERS = (float, int, np.number)
_MISSING = object()


def standardized_statistics(table: Array) -> Array:
    """Statistics (datasets, 3) in standard deviations, the last row (the present dataset) at 0.

    The distances of the rows to it are those of Yogatama & Mann (2014), §3.4.
    """
    deviation = table.std(axis=0)
    return (table - table[-1]) / np.where(deviation > 0, deviation, 1.0)


NEIGHBOURS = 20  # datasets of the neighbours' kernel: the paper's number
# Inducing points spread over more trials predict worse: those of far datasets tell little.
MAX_TRIALS = 8_000


@dataclass(frozen=True)
class DatasetTrials:
    """The trials of one earlier dataset, and its 3 statistics."""

    statistics: Sequence[float]
    settings: Sequence[Setting]
    scores: Sequence[float]


@dataclass(frozen=True)
class EarlierTrials:
    """The usable trials of k earlier datasets as rows, n in all."""

    datasets: tuple[int, ...]  # which of all the datasets, k, nearest first
    used_trials: tuple[tuple[int, ...], ...]  # for each of them which trials are used; n in all
    points: Array  # unit vectors, shape (n, width), dataset by dataset
    d: Indices  # the dataset of every row, 1 … k, shape (n,)
    statistics: Array  # standardized, the present dataset's (zeros) first, shape (k + 1, 3)
    all_statistics: Array  # standardized, of all datasets, the present one last

    @property
    def members(self) -> Indices:
        """The present dataset and the k, as rows of `all_statistics`."""
        return np.array([len(self.all_statistics) - 1, *self.datasets], dtype=int)

    def nearest(self, max_datasets: int) -> EarlierTrials:
        """Only the trials of the nearest datasets."""
        rows = self.d <= max_datasets
        return EarlierTrials(
            self.datasets[:max_datasets],
            self.used_trials[:max_datasets],
            self.points[rows],
            self.d[rows],
            self.statistics[: max_datasets + 1],
            self.all_statistics,
        )


def nearest_first(all_statistics: Array) -> list[int]:
    """Datasets by their distance to the present one, the last row of the standardized table."""
    far = np.sqrt((all_statistics[:-1] ** 2).sum(axis=1))
    return [int(k) for k in np.argsort(far, kind="stable")]


def earlier_trials(
    all_datasets: Sequence[DatasetTrials],
    present: Sequence[float],
    space: Sequence[Axis],
    *,
    counted: Counted | None = None,
    order: Sequence[int] | None = None,
    max_datasets: int | None = None,
) -> EarlierTrials:
    """The usable trials of earlier datasets (`usable_points`); those without any are left out.

    `present`: the present dataset's statistics; `order`: which datasets, in this order; None for
    the nearest, as many as have `MAX_TRIALS`.
    """
    table = np.array([*(dataset.statistics for dataset in all_datasets), present], dtype=float)
    all_statistics = standardized_statistics(table)
    datasets, used_trials = list[int](), list[tuple[int, ...]]()
    points = [np.zeros((0, sum(axis.width for axis in space)))]
    for index in nearest_first(all_statistics) if order is None else order:
        is_enough = order is None and sum(map(len, used_trials)) >= MAX_TRIALS
        if is_enough or len(datasets) == max_datasets:
            break
        dataset = all_datasets[index]
        rows, usable = usable_points(space, dataset.settings, counted)
        has_score = np.isfinite(np.array(dataset.scores, dtype=float)[rows])
        if has_score.any():
            datasets.append(index)
            used_trials.append(tuple(rows[has_score].tolist()))
            points.append(usable[has_score])
    sizes = [len(trials) for trials in used_trials]
    return EarlierTrials(
        datasets=tuple(datasets),
        used_trials=tuple(used_trials),
        points=np.vstack(points),
        d=np.repeat(np.arange(1, len(sizes) + 1), sizes),
        statistics=np.vstack([np.zeros((1, table.shape[1])), all_statistics[datasets]]),
        all_statistics=all_statistics,
    )
