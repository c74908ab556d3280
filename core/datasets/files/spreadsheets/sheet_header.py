"""Finds the table of a sheet: below titles and blank rows, with or without a header."""

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
    """The beginning of a sheet's table."""

    dialect: Dialect  # as of a text table, with the first rows as text
    first: int  # the sheet's row, from 0, of the table's first row
    header_row: int  # -1 for none
    plain: bool  # pandas gives the same column names

    @property
    def column_names(self) -> list[str]:
        """The columns' names."""
        return names_of(self.dialect)


def head_of(cells: Sequence[Sequence[Any]], where: str, required_column: str = "") -> SheetHeader:
    """The beginning of a table, from the first rows of a sheet (None and "" are empty cells).

    A `required_column` must be in the header.

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
    """The number of rows above the table: blank ones, titles, heads of several columns."""
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
    """Decimal and thousands sign of the numbers that are stored as text."""
    texts = [[value if isinstance(value, str) else "" for value in row] for row in cells]
    return decimal_of(texts, "\t")


def _as_text(value: Any, decimal: str) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace(".", decimal)
    return str(value)
