"""How much of the history helps a run, and how much an import brought."""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Record


@dataclass(frozen=True)
class HistoryCounts(Record):
    """How many earlier datasets can help a run.

    Attributes:
        similar: how many of them are alike.
        starter: how many of them came with the program.
        enabled: whether runs learn from the history at all.
    """

    datasets: int = 0
    similar: int = 0
    starter: int = 0
    enabled: bool = True


@dataclass(frozen=True)
class ImportCounts(Record):
    """What an import brought.

    Attributes:
        datasets, trials: that are new.
        known_already: datasets that were there before.
        left_out: a sentence each about what could not be taken.
    """

    datasets: int = 0
    trials: int = 0
    known_already: int = 0
    left_out: tuple[str, ...] = ()
