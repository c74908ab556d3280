"""A model's answers on the rows of a table, and the table as it is read, every cell as text."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import pandas as pd

from core.datasets.files.table_reader import TableReader
from core.datasets.raw_table import RawTable
from core.errors import UnusableError
from core.export.bundle.csv_rows import names_beside
from core.export.destination import OutputForm

Cell = str | float | int | None
_RowFunction = Callable[[pd.DataFrame], Iterable[Any]]
SHARE = "probability of "  # so begin the columns of the classes' probabilities


def plain_rows(table: pd.DataFrame) -> Iterator[Sequence[Cell]]:
    """The rows of a table of answers."""
    return zip(*(plain_cells(table[name]) for name in table), strict=True)


def plain_cells(values: pd.Series) -> list[Cell]:
    """The cells of a column of answers, None where missing."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
        return [None if cell != cell else cell for cell in values.tolist()]
    cells = values.astype(object).tolist()
    return cells if set(map(type, cells)) == {str} else list(map(_plain_cell, cells))


def _plain_cell(cell: Any) -> Cell:
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if hasattr(cell, "item"):
        cell = cell.item()
    return cell if isinstance(cell, (int, float)) else str(cell)


class Answers:
    """The answers on the rows, drawn once, in their order; `is_whole`: one for every row.

    With `least_sure_first` and classes' probabilities the rows are written in `order`.
    """

    # The first of the tables is drawn here, so that unusable rows raise before anything is written.

    def __init__(
        self,
        tables: Iterable[pd.DataFrame],
        *,
        is_whole: bool = True,
        least_sure_first: bool = False,
    ) -> None:
        remaining_tables = iter(tables)
        first = next(remaining_tables, pd.DataFrame())
        self.first = first
        self.columns = list(map(str, first.columns))
        self.is_whole = is_whole
        self.is_sorted = least_sure_first and has_doubt(first)
        self.count = 0  # rows drawn so far
        self._top_shares: list[np.ndarray] = []
        self._tables = map(self._note_shares, chain([first], remaining_tables))
        self._rows = self._drawn_rows(plain_rows)
        self._waiting = first.iloc[:0]  # drawn as a table, and not taken yet

    def _note_shares(self, table: pd.DataFrame) -> pd.DataFrame:
        if self.is_sorted:
            shares = table.filter(regex=f"^{SHARE}")
            self._top_shares.append(shares.max(axis=1).fillna(0.0).to_numpy())
        return table

    def order(self) -> np.ndarray:
        """The numbers of the drawn rows, the least sure first, equal ones as they come."""
        # Of the likeliest class: the smaller its probability, the greater the doubt.
        return np.argsort(np.concatenate(self._top_shares)[: self.count], kind="stable")

    def names_beside(self, table_names: Iterable[str]) -> list[str]:
        """The columns' names, numbered where the table has a column of that name."""
        return names_beside(self.columns, table_names)

    def rows(self, rows_of: _RowFunction = plain_rows) -> Iterator[Any]:
        """The answers that are not drawn yet, row by row, as a function makes them of a table."""
        self._rows = self._drawn_rows(rows_of)
        return self._rows

    def _drawn_rows(self, rows_of: _RowFunction) -> Iterator[Any]:
        for table in self._tables:
            for row in rows_of(table):
                self.count += 1
                yield row

    @property
    def has_ended(self) -> bool:
        """Whether all answers are drawn."""
        return not len(self._waiting) and next(self._rows, None) is None

    def take_rows(self, size: int) -> pd.DataFrame:
        """The answers on the next `size` rows; fewer at the end."""
        blocks = [self._waiting]
        while sum(map(len, blocks)) < size:
            table = next(self._tables, None)
            if table is None:
                break
            blocks.append(table)
        # An empty block would have a say in the types of the joined columns.
        filled = [block for block in blocks if len(block)] or blocks[:1]
        joined = filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)
        self._waiting = joined.iloc[size:]
        self.count += min(size, len(joined))
        return joined.iloc[:size]


def has_doubt(answers: pd.DataFrame) -> bool:
    """Whether there are probabilities of classes, which say how sure an answer is."""
    return sum(str(name).startswith(SHARE) for name in answers) > 1


def is_empty(cell: Cell) -> bool:
    """Whether a cell has nothing in it."""
    return cell is None or (isinstance(cell, str) and not cell)


def answer_text(cell: Cell, decimal: str = ".") -> str:
    """An answer as it stands in a text."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell) if decimal == "." else repr(cell).replace(".", decimal)
    return str(cell)


def check_row_count(answers: Answers, row_count: int, name: str) -> None:
    """UnusableError where there are not as many rows as answers: the file changed."""
    if answers.has_ended and (answers.count == row_count or not answers.is_whole):
        return
    fault = (
        "the predictions cannot be put behind the rows, since the file was read as another number"
    )
    cure = "predict again if the file was changed meanwhile; otherwise write the predictions"
    raise UnusableError(f"{fault} of rows", where=name, cure=f"{cure} alone (--only)")


class OwnTable(ABC):
    """A person's table: its names and rows as they stand there, and its way back into its format.

    Where it can stay what it is, a table of texts writes itself by `write_answered`, another one by
    `write_file`; both give sentences on what could not stay.
    """

    file: TableReader
    is_text: ClassVar[bool] = False

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns' names."""

    @abstractmethod
    def rows(self) -> Iterator[list[Cell]]:
        """The cells of every row."""

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        """Whether the file may be written as it was, with answers added."""
        return False

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        """Write a text with the answers."""
        raise NotImplementedError

    def write_file(self, path: Path, form: OutputForm, answers: Answers) -> list[str]:
        """Write another file with the answers."""
        raise NotImplementedError


@dataclass(frozen=True)
class ReadTable(OwnTable):
    """The table of a file without a reader of parts."""

    file: TableReader

    @cached_property
    def raw_table(self) -> RawTable:
        """All of it, as texts."""
        return self.file.read(dict.fromkeys(self.file.first_cells(), "category"))

    @property
    def has_header(self) -> bool:
        arguments = self.raw_table.source.read_csv
        return "header" not in arguments or arguments["header"] is not None

    @property
    def names(self) -> list[str]:
        return list(map(str, self.raw_table.table.columns))

    def rows(self) -> Iterator[list[Cell]]:
        table = self.raw_table.table
        columns = [table[name].astype(object).where(table[name].notna(), None) for name in table]
        for row in zip(*columns, strict=True):
            yield [None if cell is None else str(cell) for cell in row]
