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

MOST = 2  # settings of a model
SAME = 0.05  # of an axis: settings that differ by no more anywhere count as one


def recalled(read: HistoryRead, problem: Problem, most: int = MOST) -> HistoryRead:
    """The part of the history that is tried again: the best trials of the nearest datasets.

    Args:
        read: what the history holds of one model.
        problem: that of the model.
        most: how many datasets at most.

    Returns:
        The nearest datasets whose best settings differ from the default and from each other, the
        nearest first, each with that trial alone. Of this event it is the event itself.
    """
    near = sorted(read.datasets, key=lambda one: (one.distance, -_score(one, _best(one))))
    seen = [unit_vector(problem.space, problem.default)]
    found: list[HistoryDataset] = []
    for one in near[:NEIGHBOURS]:
        at = _best(one)
        unit = unit_vector(problem.space, dict(zip(read.axes, one.values[at], strict=True)))
        if len(found) < most and all(np.abs(unit - other).max() > SAME for other in seen):
            seen.append(unit)
            found.append(replace(one, values=[one.values[at]], scores=[one.scores[at]]))
    return replace(read, datasets=found)


def settings_in(read: HistoryRead) -> list[Setting]:
    """The settings of all trials of an event, in their order."""
    return [
        dict(zip(read.axes, values, strict=True)) for one in read.datasets for values in one.values
    ]


def _best(one: HistoryDataset) -> int:
    """The place of the best trial, the first among equals."""
    return max(range(len(one.scores)), key=lambda at: _score(one, at))


def _score(one: HistoryDataset, at: int) -> float:
    return one.scores[at] if one.maximize else -one.scores[at]
