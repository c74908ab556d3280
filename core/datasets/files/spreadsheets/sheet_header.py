"""Finds the table of a sheet: below titles and blank rows, with or without a header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.datasets.files.column_names import unique_names
from core.datasets.files.filling import date_text
from core.datasets.files.sniffing import header_of
from core.datasets.files.spreadsheets.workbook import Merged
from core.datasets.finding import Finding
from core.errors import UnusableError

_MAX_ROWS_ABOVE = 50  # rows among which the header is looked for
_MAX_HEADER_ROWS = 5


@dataclass(frozen=True)
class SheetHeader:
    """The beginning of a sheet's table; rows of the sheet count from 0."""

    column_names: list[str]
    first: int  # of the table below the header
    header_row: int  # the last one of the header; -1 for none
    plain: bool  # pandas gives the same column names
    rows: list[list[str]]  # the first ones of the table, as text
    phrases: list[str]  # for a lay person
    findings: list[Finding]


def head_of(
    cells: Sequence[Sequence[Any]],
    where: str,
    required_column: str = "",
    columns: Sequence[int] = (),
    merged: Sequence[Merged] = (),
) -> SheetHeader:
    """The beginning of a sheet's table; UnusableError if nothing is below the header.

    A header in several rows, by `merged` cells, is joined: "group: name".
    """
    rows = [[_as_text(value) for value in row] for row in cells]
    columns = columns or range(max(map(len, rows), default=0))
    start = _rows_above(rows, required_column)
    start, depth = _header_rows(rows, start, columns, merged)
    joined = _joined_names(rows[start : start + depth], start, columns, merged)
    table = [row for row in [joined, *rows[start + depth :]] if any(row)] if rows else []
    header = header_of(table, len(table[0])) if table else ()
    if table and (depth > 1 or (required_column and required_column in map(str.strip, joined))):
        header = tuple(joined)
    below = table[1:] if header else table
    if not below:
        raise UnusableError("there is no row below the header", where=where, cure="add rows")
    findings: list[Finding] = []
    names = [f"column {i + 1}" for i in range(len(table[0]))]
    if header:
        names, findings = unique_names(header, where)
    if header and depth > 1:
        findings.append(_joined_finding(names, depth))
    phrases = ["a header" if header else "no header"]
    if start:
        phrases.append(f"{'1 line' if start == 1 else f'{start} lines'} above the table left out")
    return SheetHeader(
        names,
        start + depth if header else start,
        start + depth - 1 if header else -1,
        bool(header) and depth == 1 and names == list(cells[start]),
        below,
        phrases,
        findings,
    )


def _rows_above(rows: Sequence[Sequence[str]], required_column: str) -> int:
    filled = [sum(map(bool, row)) for row in rows]
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


def _header_rows(
    rows: Sequence[Sequence[str]], start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> tuple[int, int]:
    """The first row of the header and how many rows it has, by its merged cells."""
    if not columns:
        return start, 1
    ranges = [
        (top, bottom, right > left)
        for top, left, bottom, right in merged
        if right >= columns[0]
        and left <= columns[-1]
        # What spans all columns is a title.
        and not (left <= columns[0] and right >= columns[-1] and len(columns) > 1)
    ]
    while any(top < start <= bottom or (wide and top == start - 1) for top, bottom, wide in ranges):
        if sum(map(bool, rows[start - 1])) == 1 and rows[start - 1][0]:
            break  # a title
        start -= 1
    last = start
    for _ in range(_MAX_HEADER_ROWS):
        ends = [bottom for top, bottom, _ in ranges if start <= top <= last < bottom]
        has_group = any(wide and top <= last <= bottom for top, bottom, wide in ranges)
        below = rows[last + 1] if last + 1 < len(rows) else []
        if ends and max(ends) < start + _MAX_HEADER_ROWS:
            last = max(ends)
        elif has_group and any(below) and not any(map(_is_figure, below)):
            last += 1
        else:
            break
    if any(_is_figure(cell) for row in rows[start + 1 : last + 1] for cell in row):
        return start, 1  # merged cells of the table itself
    return start, last - start + 1


def _joined_names(
    rows: Sequence[Sequence[str]], start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> list[str]:
    """The header's rows as one: "group: name", a merged cell's name in all that it covers."""
    names: list[list[str]] = [[] for _ in columns]
    positions = {column: i for i, column in enumerate(columns)}
    for i, row in enumerate(rows, start):
        texts = list(row)
        for top, left, bottom, right in merged:
            if not (top <= i <= bottom and top >= start):
                continue
            inside = [positions[c] for c in range(left, right + 1) if c in positions]
            written = next((rows[top - start][j] for j in inside if rows[top - start][j]), "")
            for j in inside:
                texts[j] = written
        for name, text in zip(names, texts, strict=False):
            if text.strip() and text.strip() not in name:
                name.append(text.strip())
    if len(rows) == 1:
        return [texts[0] if texts else "" for texts in names]
    return [": ".join(name) for name in names]


def _joined_finding(names: Sequence[str], depth: int) -> Finding:
    joined = [f"“{name}”" for name in names if ": " in name][:3]
    examples = f", such as {' and '.join(joined)}" if joined else ""
    return Finding(f"The header has {depth} rows, which are read as one name a column{examples}.")


def _is_figure(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _as_text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return date_text(value)
