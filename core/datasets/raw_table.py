"""A table as it was read, and the options that a person chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from core.datasets.columns import ColumnCount, sentence_columns
from core.datasets.dataset import DataSource
from core.datasets.finding import ColumnReading, Finding


@dataclass(frozen=True)
class RawTable:
    """A table as read, with findings on its cells; `line_of` maps a row (from 0) to its line."""

    name: str
    table: pd.DataFrame
    source: DataSource
    line_of: Callable[[int], int]
    findings: tuple[Finding, ...] = ()
    readings: tuple[ColumnReading, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)  # of columns, told beside the cells
    counts: Mapping[str, ColumnCount] = field(default_factory=dict)  # of some columns

    @cached_property
    def sentence_columns(self) -> list[str]:
        """The columns of running text, that with the longest texts first."""
        return sentence_columns(self.table, self.source.formats, self.counts)


# A kind of column: numbers as a sheet stores them, whatever unit it shows.
STORED = "stored"
# How a person has the cells of a column read: words for nothing, the decimal sign, the day.
READINGS = (
    *("missing", "values", "number", "text", "comma", "point", "day first", "month first"),
    "any case",
)


@dataclass(frozen=True)
class DataOptions:
    """What a person decided about the data; everything else is detected."""

    target: str = ""  # of topics, the column of texts
    task: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)  # {column: role}
    kinds: Mapping[str, str] = field(default_factory=dict)  # {column: kind}
    readings: Mapping[str, str] = field(default_factory=dict)  # {column: one of READINGS}
    together: bool = True  # equal items and families of molecules are not split
    latest: str = ""  # the column by which the latest rows test; "" for random test rows
    leaks: bool = False  # use columns that leak the target, but for mere copies
    other_letters: bool = False  # read letters that are no bases as N


NO_CHOICES = DataOptions()
