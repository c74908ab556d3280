"""What a dataset is made of: the table as it was read, and what a person chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from core.datasets.dataset import DataSource
from core.datasets.finding import Finding


@dataclass(frozen=True)
class RawTable:
    """A table as read, how it was read, and what was found on the way.

    Attributes:
        name: the file's name, for errors.
        line_of: tells the file's line of a row (from 0).
    """

    name: str
    table: pd.DataFrame
    source: DataSource
    line_of: Callable[[int], int]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class DataOptions:
    """What a person decided about the data; everything else is told from the table.

    Attributes:
        target: the target column; "" for target, label, class or y, or the last one. For topics,
            the column of texts.
        task: regression, binary, multiclass, sequence, structure or topics; "" to tell from the
            table.
        roles: {column: target, feature, group, ignore or sequence}.
        kinds: {column: number, category, yes/no, date, …}.
        together: whether equal items, and molecules of one family, stay on one side of a split.
        latest: the column by which the latest rows test; "" to test on rows drawn at random.
        leaks: whether columns that leak the target are used, but for its mere renamings.
        other_letters: whether letters of molecules that are no bases are read as N.
    """

    target: str = ""
    task: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    together: bool = True
    latest: str = ""
    leaks: bool = False
    other_letters: bool = False


NO_CHOICES = DataOptions()
