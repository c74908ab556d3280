"""The history of earlier datasets for the strategies that learn from it.

Only descriptive statistics of a dataset are in it, never the data (Yogatama & Mann 2014, §3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.transfer.coordinates import standardized_statistics
from core.space import Setting

Statistics = tuple[float, float, float]
"""Natural logarithms of rows and of features, and the number of classes (0 for numbers)."""


@dataclass(frozen=True)
class EarlierDataset:
    """The trials of one earlier dataset.

    Attributes:
        id: an identifier that says nothing about the data.
        statistics: of the dataset.
        settings, scores: of its finished trials, in their order.
        maximize: whether larger scores are better.
        starter: whether it came with the program.
    """

    id: str
    statistics: Statistics
    settings: tuple[Setting, ...]
    scores: tuple[float, ...]
    maximize: bool = True
    starter: bool = False


@dataclass(frozen=True)
class TuningHistory:
    """Earlier datasets, and the present dataset's statistics.

    Attributes:
        datasets: earlier ones that were tuned over the same space, in the order they came in.
        statistics: of the present dataset.
        simplex: axes whose values count only as shares of their sum.
    """

    datasets: tuple[EarlierDataset, ...] = ()
    statistics: Statistics = (0.0, 0.0, 0.0)
    simplex: tuple[str, ...] = ()

    def distances(self) -> np.ndarray:
        """Euclidean distance of every earlier dataset to the present one, shape (datasets,).

        In units of the statistics' standard deviations over all of them (Yogatama & Mann 2014,
        §3.4); a statistic that is the same everywhere counts for nothing.
        """
        statistics = [*(dataset.statistics for dataset in self.datasets), self.statistics]
        table = standardized_statistics(np.array(statistics, dtype=float))
        return np.sqrt((table[:-1] ** 2).sum(axis=1))
