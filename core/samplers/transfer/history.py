"""The history of earlier datasets for the strategies that learn from it.

Only descriptive statistics of a dataset are in it, never the data (Yogatama & Mann 2014, §3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.transfer.earlier_trials import standardized_statistics
from core.space import Setting

Statistics = tuple[float, float, float]
"""Natural logarithms of rows and of features, and the number of classes (0 for numbers)."""


@dataclass(frozen=True)
class EarlierDataset:
    """The trials of one earlier dataset."""

    id: str  # says nothing about the data
    statistics: Statistics
    settings: tuple[Setting, ...]  # of its finished trials, in their order
    scores: tuple[float, ...]
    maximize: bool = True  # whether larger scores are better
    starter: bool = False  # whether it came with the program


@dataclass(frozen=True)
class TuningHistory:
    """Earlier datasets, and the present dataset's statistics."""

    datasets: tuple[EarlierDataset, ...] = ()  # tuned over the same space, as they came in
    statistics: Statistics = (0.0, 0.0, 0.0)  # of the present dataset
    simplex: tuple[str, ...] = ()  # axes whose values count only as shares of their sum

    def distances(self) -> np.ndarray:
        """Euclidean distance of every earlier dataset to the present one, shape (datasets,).

        In units of the statistics' standard deviations (Yogatama & Mann 2014, §3.4).
        """
        statistics = [*(dataset.statistics for dataset in self.datasets), self.statistics]
        table = standardized_statistics(np.array(statistics, dtype=float))
        return np.sqrt((table[:-1] ** 2).sum(axis=1))
