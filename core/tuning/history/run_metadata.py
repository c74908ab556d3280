"""What the history stores of a run, and how it lists its datasets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.samplers.transfer.history import Statistics
from core.space import Axis


@dataclass(frozen=True)
class RunMetadata:
    """What of a run is stored beside its trials."""

    model: str
    task: str
    metric: str
    maximize: bool
    statistics: Statistics  # of the dataset; see `statistics_of`
    strategy: str
    axes: tuple[Axis, ...]  # the model's space, of which only the names are stored


@dataclass(frozen=True)
class HistoryEntry:
    """One earlier dataset in a line of the page."""

    id: str
    when: str  # ISO time, UTC; "" where unknown
    model: str
    task: str
    metric: str
    strategy: str
    rows: int  # approximate, as are the features: the file holds rounded logarithms
    features: int
    classes: int
    trials: int
    best: float | None  # the best score; None without trials
    starter: bool
    imported: bool  # whether it came from a file or an Optuna study


def statistics_of(rows: int, features: int, classes: int) -> Statistics:
    """Natural logarithms of rows and features, to three decimals, and the classes (0: numbers)."""
    return round(math.log(max(1, rows)), 3), round(math.log(max(1, features)), 3), float(classes)
