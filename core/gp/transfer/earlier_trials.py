"""The trials of earlier datasets that a common kernel stands on, nearest dataset first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.gp.kernels import Array, Indices
from core.gp.transfer.points import standardized_statistics

NEIGHBOURS = 20  # datasets of the neighbours' kernel: the paper's number
ToPoint = Callable[[Mapping[str, Any]], Array | None]


@dataclass(frozen=True)
class DatasetTrials:
    """The trials of one earlier dataset.

    Attributes:
        statistics: of the dataset, 3 numbers.
        settings, scores: of its trials.
    """

    statistics: Sequence[float]
    settings: Sequence[Mapping[str, Any]]
    scores: Sequence[float]


@dataclass(frozen=True)
class EarlierTrials:
    """The usable trials of k earlier datasets as rows, n in all.

    Attributes:
        datasets: which of all the datasets, k, nearest first.
        kept: for each of them which of its trials are used; n in all.
        points: unit vectors, shape (n, width), dataset by dataset.
        d: the dataset of every row, 1 … k, shape (n,).
        statistics: standardized, the present dataset's (zeros) before those of the k,
            shape (k + 1, 3).
        everyone: standardized statistics of all datasets, the present one last.
    """

    datasets: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]
    points: Array
    d: Indices
    statistics: Array
    everyone: Array

    @property
    def members(self) -> Indices:
        """The present dataset and the k, as rows of `everyone`."""
        return np.array([len(self.everyone) - 1, *self.datasets], dtype=int)

    def nearest(self, most: int) -> EarlierTrials:
        """The same of the nearest datasets only."""
        rows = self.d <= most
        return EarlierTrials(
            self.datasets[:most],
            self.kept[:most],
            self.points[rows],
            self.d[rows],
            self.statistics[: most + 1],
            self.everyone,
        )


def nearest_first(everyone: Array) -> list[int]:
    """Datasets by their distance to the present one, the last row of the standardized table."""
    far = np.sqrt((everyone[:-1] ** 2).sum(axis=1))
    return [int(k) for k in np.argsort(far, kind="stable")]


def earlier_trials(
    given: Sequence[DatasetTrials],
    present: Sequence[float],
    to_point: ToPoint,
    width: int,
    *,
    order: Sequence[int] | None = None,
    most: int | None = None,
) -> EarlierTrials:
    """The usable trials of earlier datasets; those without any are left out.

    Args:
        given: all earlier datasets.
        present: the present dataset's statistics.
        to_point: the unit vector of a setting; None where it cannot be used.
        width: of unit vectors.
        order: which datasets, in this order; nearest first if not given.
        most: how many datasets at most.
    """
    table = np.array([*(one.statistics for one in given), present], dtype=float)
    everyone = standardized_statistics(table)
    datasets: list[int] = []
    kept: list[tuple[int, ...]] = []
    points: list[Array] = []
    for index in nearest_first(everyone) if order is None else order:
        if most is not None and len(datasets) == most:
            break
        found = _usable_trials(given[index], to_point)
        if found:
            datasets.append(index)
            kept.append(tuple(found))
            points += found.values()
    sizes = [len(trials) for trials in kept]
    return EarlierTrials(
        datasets=tuple(datasets),
        kept=tuple(kept),
        points=np.array(points).reshape(-1, width),
        d=np.repeat(np.arange(1, len(sizes) + 1), sizes),
        statistics=np.vstack([np.zeros((1, table.shape[1])), everyone[datasets]]),
        everyone=everyone,
    )


def _usable_trials(one: DatasetTrials, to_point: ToPoint) -> dict[int, Array]:
    found: dict[int, Array] = {}
    for index, (setting, score) in enumerate(zip(one.settings, one.scores, strict=True)):
        point = to_point(setting) if math.isfinite(score) else None
        if point is not None:
            found[index] = point
    return found
