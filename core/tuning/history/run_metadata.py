"""What the history is told of a run, and what it tells of itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.samplers.transfer.history import Statistics
from core.space import Axis


@dataclass(frozen=True)
class RunMetadata:
    """What of a run is kept beside its trials.

    Attributes:
        model, metric, strategy: names in the registries.
        task: regression, binary, multiclass, sequence or structure.
        maximize: whether larger scores are better.
        statistics: of the dataset; see `statistics_of`.
        axes: the model's space, of which only the names are kept.
    """

    model: str
    task: str
    metric: str
    maximize: bool
    statistics: Statistics
    strategy: str
    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class HistoryEntry:
    """One earlier dataset in a line, for the page.

    Attributes:
        when: ISO time, UTC; "" where it is not known.
        rows, features: about how many; the file holds rounded logarithms.
        best: the best score; None without trials.
        starter: whether it came with the program.
        imported: whether it came from a file or an Optuna study.
    """

    id: str
    when: str
    model: str
    task: str
    metric: str
    strategy: str
    rows: int
    features: int
    classes: int
    trials: int
    best: float | None
    starter: bool
    imported: bool


def statistics_of(rows: int, features: int, classes: int) -> Statistics:
    """Natural logarithms of rows and features, to three decimals, and the classes (0: numbers)."""
    return round(math.log(max(1, rows)), 3), round(math.log(max(1, features)), 3), float(classes)
