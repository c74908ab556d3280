"""How many datasets of the history help a run, and how many an import added."""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Record


@dataclass(frozen=True)
class HistoryCounts(Record):
    """How many earlier datasets a run can use; of them, how many are similar, and the starter's."""

    datasets: int = 0
    similar: int = 0
    starter: int = 0
    enabled: bool = True


@dataclass(frozen=True)
class ImportCounts(Record):
    """New datasets and trials, known datasets, and a sentence for each that was left out."""

    datasets: int = 0
    trials: int = 0
    known_already: int = 0
    left_out: tuple[str, ...] = ()
