"""The history of earlier datasets for the strategies that learn from it.

Only descriptive statistics of a dataset are in it, never the data (Yogatama & Mann 2014, §3.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.gp.transfer.earlier_trials import standardized_statistics
from core.space import Setting

Statistics = tuple[float, float, float]
"""Natural logarithms of rows and of features, and the number of classes (0 for numbers)."""
# Of one file more or fewer rows train, by the share that tests or where some are left out; the
# last digit of a logarithm is rounded.
MAX_LOG_ROWS = math.log(2.0) + 2e-3
ALIKE_SHARE = 0.05  # of a score, by which another split may change it


@dataclass(frozen=True)
class EarlierDataset:
    """The trials of one earlier dataset."""

    id: str  # says nothing about the data
    statistics: Statistics
    settings: tuple[Setting, ...]  # of its finished trials, in their order
    scores: tuple[float, ...]
    maximize: bool = True  # whether larger scores are better
    starter: bool = False  # whether it came with the program

    @cached_property
    def scores_by_values(self) -> dict[tuple[Any, ...], float]:
        """{values of a setting: its score}."""
        values = (tuple(setting.values()) for setting in self.settings)
        return dict(zip(values, self.scores, strict=True))

    @cached_property
    def score_deviation(self) -> float:
        return float(np.std(self.scores))


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


def may_be_present(dataset: EarlierDataset, present: Sequence[Statistics]) -> bool:
    """Whether an earlier run may have been on a file of the present run, or on part of one."""
    # What came with the program is generated, and nobody's file.
    return not dataset.starter and any(_is_same_form(dataset.statistics, s) for s in present)


def teaching_datasets(
    datasets: Sequence[EarlierDataset], present: Sequence[Statistics]
) -> tuple[tuple[EarlierDataset, ...], int]:
    """Those that a run may learn from, in their order, and how many may be the present dataset.

    These do not teach: their scores may be of rows that test now. Of several runs on one dataset,
    the one of most trials counts, the newest of equal ones.
    """
    runs, indices_by_form = list[EarlierDataset](), dict[Any, list[int]]()
    usable_datasets = [d for d in datasets if not may_be_present(d, present)]
    for dataset in usable_datasets:
        indices = indices_by_form.setdefault(dataset.statistics[1:], [])
        rerun = next((index for index in indices if _are_reruns(runs[index], dataset)), None)
        if rerun is None:
            indices.append(len(runs))
            runs.append(dataset)
        elif len(dataset.scores) >= len(runs[rerun].scores):
            runs[rerun] = dataset
    return tuple(runs), len(datasets) - len(usable_datasets)


def _is_same_form(first: Statistics, second: Statistics) -> bool:
    return first[1:] == second[1:] and abs(first[0] - second[0]) <= MAX_LOG_ROWS


def _are_reruns(first: EarlierDataset, second: EarlierDataset) -> bool:
    """Whether two were one, by form and by the scores of the settings that both tried."""
    is_same = _is_same_form(first.statistics, second.statistics)
    if not is_same or first.starter or second.starter:
        return False
    pairs = [
        (score, second.scores_by_values[values])
        for values, score in first.scores_by_values.items()
        if values in second.scores_by_values
    ]
    gaps = sorted(abs(score - rerun_score) for score, rerun_score in pairs)
    # Another split changes a score by less than other settings do.
    shares = [ALIKE_SHARE * abs(score) for score, _ in pairs]
    enough = max(first.score_deviation, second.score_deviation, *shares)
    return not pairs or gaps[len(gaps) // 2] <= enough
