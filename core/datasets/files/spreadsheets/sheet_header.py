"""Where the table of a sheet begins: below titles and blank rows, with a header or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.datasets.files.csv_table import names_of
from core.datasets.files.sniffing import Dialect, decimal_of, header_of
from core.errors import UnusableError

_MAX_ROWS_ABOVE = 50  # rows among which the header is looked for


@dataclass(frozen=True)
class SheetHeader:
    """How the table of a sheet begins.

    Attributes:
        dialect: as of a text table; its rows are the first ones below the header, as text.
        first: the row of the sheet, from 0, where the rows of the table begin.
        header_row: the row of the header, -1 where there is none.
        plain: whether pandas would give the columns the same names by itself.
    """

    dialect: Dialect
    first: int
    header_row: int
    plain: bool

    @property
    def column_names(self) -> list[str]:
        """The columns' names."""
        return names_of(self.dialect)


def head_of(cells: Sequence[Sequence[Any]], where: str, required_column: str = "") -> SheetHeader:
    """How a table begins, told from the first rows of a sheet.

    Args:
        cells: the values of the columns that hold any; None and "" where there is none.
        where: file and sheet, for errors.
        required_column: a column that must be there: its name stands in the header.

    Raises:
        UnusableError: there is no row below the header.
    """
    decimal, thousands = _number_signs(cells)
    rows = [[_as_text(value, decimal) for value in row] for row in cells]
    start = _rows_above(rows, required_column)
    table = [row for row in rows[start:] if any(row)]
    header = header_of(table, len(table[0])) if table else ()
    if table and required_column and required_column in (cell.strip() for cell in table[0]):
        header = tuple(table[0])
    below = table[1:] if header else table
    if not below:
        raise UnusableError("there is no row below the header", where=where, cure="add rows")
    dialect = Dialect(
        "utf-8",
        ",",
        decimal=decimal,
        thousands=thousands,
        skip=start,
        header=tuple(cell.strip() for cell in header),
        width=len(table[0]),
        rows=below,
    )
    plain = bool(header) and all(isinstance(v, str) and v and v == v.strip() for v in cells[start])
    return SheetHeader(dialect, start + bool(header), start if header else -1, plain)


def _rows_above(rows: Sequence[Sequence[str]], required_column: str) -> int:
    """How many rows stand above the table: blank ones, titles, heads of several columns."""
    filled = [sum(cell != "" for cell in row) for row in rows]
    counts = Counter(count for count in filled[1:] or filled if count)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    for row_index, row in enumerate(rows[:_MAX_ROWS_ABOVE]):
        if required_column and required_column in (cell.strip() for cell in row):
            return row_index
        if filled[row_index] > 1 and 2 * filled[row_index] >= usual:
            return row_index
        if filled[row_index] == 1 and usual <= 1:
            return row_index
    return next((index for index, count in enumerate(filled) if count), 0)


def _number_signs(cells: Sequence[Sequence[Any]]) -> tuple[str, str]:
    """The decimal sign and the one between thousands, of the numbers that are stored as text."""
    texts = [[value if isinstance(value, str) else "" for value in row] for row in cells]
    return decimal_of(texts, "\t")


def _as_text(value: Any, decimal: str) -> str:
    """A value as its cell would stand in a text table."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace(".", decimal)
    return str(value)
