"""The trials of earlier datasets that a joint kernel uses, nearest dataset first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.gp.kernels import Array, Indices
from core.gp.transfer.coordinates import standardized_statistics

NEIGHBOURS = 20  # datasets of the neighbours' kernel: the paper's number
ToPoint = Callable[[Mapping[str, Any]], Array | None]


@dataclass(frozen=True)
class DatasetTrials:
    """The trials of one earlier dataset, and its 3 statistics."""

    statistics: Sequence[float]
    settings: Sequence[Mapping[str, Any]]
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
    to_point: ToPoint,
    width: int,
    *,
    order: Sequence[int] | None = None,
    max_datasets: int | None = None,
) -> EarlierTrials:
    """The usable trials of earlier datasets; those without any are left out.

    `present`: the present dataset's statistics; `to_point`: the unit vector of a setting, None
    where it cannot be used; `order`: which datasets, in this order; None for all, nearest first.
    """
    table = np.array([*(dataset.statistics for dataset in all_datasets), present], dtype=float)
    all_statistics = standardized_statistics(table)
    datasets, used_trials, points = list[int](), list[tuple[int, ...]](), list[Array]()
    for index in nearest_first(all_statistics) if order is None else order:
        if max_datasets is not None and len(datasets) == max_datasets:
            break
        points_by_trial = _usable_trials(all_datasets[index], to_point)
        if points_by_trial:
            datasets.append(index)
            used_trials.append(tuple(points_by_trial))
            points += points_by_trial.values()
    sizes = [len(trials) for trials in used_trials]
    return EarlierTrials(
        datasets=tuple(datasets),
        used_trials=tuple(used_trials),
        points=np.array(points).reshape(-1, width),
        d=np.repeat(np.arange(1, len(sizes) + 1), sizes),
        statistics=np.vstack([np.zeros((1, table.shape[1])), all_statistics[datasets]]),
        all_statistics=all_statistics,
    )


def _usable_trials(dataset: DatasetTrials, to_point: ToPoint) -> dict[int, Array]:
    points_by_trial: dict[int, Array] = {}
    for index, (setting, score) in enumerate(zip(dataset.settings, dataset.scores, strict=True)):
        point = to_point(setting) if math.isfinite(score) else None
        if point is not None:
            points_by_trial[index] = point
    return points_by_trial
