"""Settings of a model that were best on the earlier datasets most like this one.

A race looks at them beside the default setting before the first trial; the Gaussian process tries
them after it. Likeness is what the
strategies that learn from earlier datasets go by: the distance of the descriptive statistics
(`TuningHistory.distances`), here of the twenty nearest datasets.
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
    """The part of the history that is tried again: the best trials of the nearest datasets.

    Args:
        history: what the history holds of one model.
        problem: that of the model.
        max_datasets: how many datasets at most.

    Returns:
        The nearest datasets whose best settings differ from the default and from each other, the
        nearest first, each with that trial alone. Of this event it is the event itself.
    """
    near = sorted(
        history.datasets,
        key=lambda dataset: (dataset.distance, -_signed_score(dataset, _best_index(dataset))),
    )
    seen = [unit_vector(problem.space, problem.default)]
    nearest: list[HistoryDataset] = []
    for dataset in near[:NEIGHBOURS]:
        index = _best_index(dataset)
        unit = unit_vector(
            problem.space, dict(zip(history.axes, dataset.values[index], strict=True))
        )
        if len(nearest) < max_datasets and all(
            np.abs(unit - other_unit).max() > SAME for other_unit in seen
        ):
            seen.append(unit)
            nearest.append(
                replace(dataset, values=[dataset.values[index]], scores=[dataset.scores[index]])
            )
    return replace(history, datasets=nearest)


def settings_in(history: HistoryRead) -> list[Setting]:
    """The settings of all trials of an event, in their order."""
    return [
        dict(zip(history.axes, values, strict=True))
        for dataset in history.datasets
        for values in dataset.values
    ]


def _best_index(dataset: HistoryDataset) -> int:
    """The place of the best trial, the first among equals."""
    return max(range(len(dataset.scores)), key=lambda index: _signed_score(dataset, index))


def _signed_score(dataset: HistoryDataset, index: int) -> float:
    return dataset.scores[index] if dataset.maximize else -dataset.scores[index]
