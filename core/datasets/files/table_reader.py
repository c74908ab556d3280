"""What every format of a table offers: to be recognized, looked at, read and drawn from."""

from __future__ import annotations

import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from core.datasets.column_format import MISSING
from core.datasets.files.file_bytes import compression_of, decode_head, file_faults, read_head
from core.datasets.files.row_sampling import RowFormat
from core.datasets.finding import Finding
from core.datasets.raw_table import NO_CHOICES, DataOptions, RawTable
from core.errors import UnusableError
from core.wording import list_text

HEAD_ROWS = 500  # by which a format is told and columns are described before all is read
_START_BYTES = 2**16  # by which ARFF, CoNLL and FASTA are told from a table
LONGEST_NAME = 10_000  # characters of a column's name
_MAX_SHOWN = 5  # findings, and names in one


@dataclass(frozen=True)
class FileStart:
    """The beginning of a file, of which no more is read than a format asks for."""

    path: Path
    sheet: str = ""  # the one that is meant, of a workbook

    @cached_property
    def magic(self) -> bytes:
        with file_faults(self.path.name), self.path.open("rb") as stream:
            return stream.read(16)

    @cached_property
    def compression(self) -> str:
        """As of `compression_of`, which refuses what is no text; so do `head` and `text`."""
        return compression_of(self.path)

    @cached_property
    def head(self) -> bytes:
        return read_head(self.path, self.compression)

    @cached_property
    def text(self) -> str:
        return decode_head(self.head[:_START_BYTES])[1]

    @property
    def is_complete(self) -> bool:
        return len(self.head) < _START_BYTES


@dataclass(frozen=True)
class CountedRows:
    """The rows of a file that can be drawn from."""

    total: int
    codes: np.ndarray | None  # of every row's label; None where the labels are no classes
    form: RowFormat = RowFormat()  # noqa: RUF009 - it is frozen; of a text
    zero_based: bool = False  # whether a LIBSVM index is 0


@dataclass(frozen=True)
class TableReader(ABC):
    """A file with a table, in some format: a class, and a line in `registry.READERS`."""

    path: Path
    is_sparse: ClassVar[bool] = False  # whether rows are pairs of index and value, not columns

    @classmethod
    @abstractmethod
    def recognize(cls, start: FileStart) -> TableReader | None:
        """The reader where the file is of this format."""

    @abstractmethod
    def first_cells(self, required_column: str = "") -> Mapping[str, Sequence[str]]:
        """Every column's first values as text."""

    @abstractmethod
    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table, whose `line_of` names a row's place.

        `kinds`: what columns are taken for, as a person says; `missing`: words for nothing;
        `required_column`: a name that is known to be there.
        """

    @property
    def can_be_drawn(self) -> bool:
        return False

    @property
    def max_bytes(self) -> float:
        """What rows may take in memory, against files made to fill it."""
        return math.inf

    def bytes_of_rows(self, choices: DataOptions = NO_CHOICES) -> float:
        """The approximate memory of all rows, of formats that can be drawn from."""
        return 0.0

    def count_rows(self, target: str = "", *, labels: bool = True) -> CountedRows:
        """The rows, with codes of the labels in a column ("" for the usual one) if `labels`."""
        raise NotImplementedError


def unique_names(names: Sequence[str], where: str) -> tuple[list[str], list[Finding]]:
    """Names, repeated ones numbered ("price (2)"), "" as "Unnamed: 3" (from 0), and findings."""
    bare = [unicodedata.normalize("NFC", str(name)).strip() for name in names]
    bare = [name or f"Unnamed: {i}" for i, name in enumerate(bare)]
    longest = max(bare, key=len, default="")
    if len(longest) > LONGEST_NAME:  # sentences, events and every picture repeat it
        raise UnusableError(
            f"the name of column {bare.index(longest) + 1} has {len(longest):,} characters",
            where=where,
            cure=f"write at most {LONGEST_NAME:,} in the header",
        )
    taken, last_number = set(bare), dict.fromkeys(bare, 0)
    unique: list[str] = []
    positions: dict[str, list[int]] = {}  # of names that stand several times
    for i, name in enumerate(bare):
        last_number[name] += 1
        if last_number[name] == 1:
            positions[name] = [i]
            unique.append(name)
            continue
        # A column of the file may be called so itself.
        while (numbered := f"{name} ({last_number[name]})") in taken:
            last_number[name] += 1
        taken.add(numbered)
        positions[name].append(i)
        unique.append(numbered)
    repeated = {name: columns for name, columns in positions.items() if len(columns) > 1}
    findings = [
        Finding(_repeated_sentence(name, columns, [unique[i] for i in columns[1:]]), name)
        for name, columns in list(repeated.items())[:_MAX_SHOWN]
    ]
    if (left := len(repeated) - len(findings)) > 0:
        others = "1 other name of" if left == 1 else f"{left:,} other names of"
        sentence = f"{others} columns in {where} stand several times and are numbered too."
        findings.append(Finding(sentence))
    return unique, findings


def _repeated_sentence(name: str, columns: Sequence[int], numbered: Sequence[str]) -> str:
    places = list_text([str(i + 1) for i in columns], _MAX_SHOWN)
    read_as = list_text([f"“{new}”" for new in numbered], _MAX_SHOWN)
    pair = len(columns) == 2
    count, later = ("Two", "second one is") if pair else (f"{len(columns):,}", "later ones are")
    return f"{count} columns are called “{name}” (columns {places}): the {later} read as {read_as}."
