"""Settings of a model that were best on the most similar earlier datasets.

A race screens them with the default setting; the Gaussian process tries them after it. Similarity
is `TuningHistory.distances`, here of the twenty nearest datasets.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.gp.transfer.earlier_trials import NEIGHBOURS
from core.space import Setting, unit_vector
from core.tuning.events import HistoryRead
from core.tuning.payloads import HistoryDataset
from core.tuning.problem import Problem

MAX_DATASETS = 2  # settings of a model
SAME = 0.05  # of an axis: settings that differ by no more anywhere count as one


def warm_start_history(
    history: HistoryRead, problem: Problem, max_datasets: int = MAX_DATASETS
) -> HistoryRead:
    """The best trials of the nearest datasets, one each, which are tried again.

    Their settings differ from the default and from each other, the nearest first. Applied to its
    own result it changes nothing.
    """
    near = sorted(
        history.datasets,
        key=lambda dataset: (dataset.distance, -_signed_score(dataset, _best_index(dataset))),
    )
    seen = [unit_vector(problem.space, problem.default)]
    nearest: list[HistoryDataset] = []
    for dataset in near[:NEIGHBOURS]:
        if len(nearest) == max_datasets:
            break
        index = _best_index(dataset)
        values, score = dataset.values[index], dataset.scores[index]
        unit = unit_vector(problem.space, dict(zip(history.axes, values, strict=True)))
        if all(np.abs(unit - seen_unit).max() > SAME for seen_unit in seen):
            seen.append(unit)
            nearest.append(replace(dataset, values=[values], scores=[score]))
    return replace(history, datasets=nearest)


def settings_in(history: HistoryRead) -> list[Setting]:
    """The settings of all trials of an event, in order."""
    return [
        dict(zip(history.axes, values, strict=True))
        for dataset in history.datasets
        for values in dataset.values
    ]


def _best_index(dataset: HistoryDataset) -> int:
    """The index of the best trial, the first among equals."""
    return max(range(len(dataset.scores)), key=lambda index: _signed_score(dataset, index))


def _signed_score(dataset: HistoryDataset, index: int) -> float:
    return dataset.scores[index] if dataset.maximize else -dataset.scores[index]
