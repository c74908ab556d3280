"""Finds the table of a sheet: below titles and blank rows, with or without a header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.datasets.dataset import Fill
from core.datasets.files.column_names import unique_names
from core.datasets.files.header_rows import is_figure, names_place
from core.datasets.files.sniffing import header_of
from core.datasets.files.spreadsheets.workbook import Merged, SheetExtent
from core.datasets.finding import Finding
from core.datasets.task import count_text
from core.errors import UnusableError

_MAX_ROWS_ABOVE = 50  # rows among which the header is looked for
_MAX_HEADER_ROWS = 5
_MAX_FILLS = 100_000
Rows = Sequence[list[str]]


@dataclass(frozen=True)
class SheetHeader:
    """The beginning of a sheet's table; rows of the sheet count from 0."""

    column_names: list[str]
    first: int  # row of the table below the header
    has_names: bool
    rows: list[list[str]]  # the first ones of the table, as text
    phrases: list[str]  # for a lay person
    findings: list[Finding]
    units: dict[str, str] = field(default_factory=dict)  # from a row below the names


def head_of(
    rows: Rows, extent: SheetExtent, columns: Sequence[int], required_column: str = ""
) -> SheetHeader:
    """The beginning of a sheet's table; UnusableError if nothing is below the header."""
    start, depth = _header_rows(rows, _rows_above(rows, required_column), columns, extent.merged)
    units: tuple[str, ...] = ()
    filled = [i for i in range(start, len(rows)) if any(rows[i])]
    if depth == 1 and filled:
        place, units = names_place([rows[i] for i in filled], required_column)
        start = filled[place]
    joined = _joined_names(rows[start : start + depth], start, columns, extent.merged)
    table = [row for row in [joined, *rows[start + depth :]] if any(row)]
    header = header_of(table, len(table[0])) if table else ()
    if table and (depth > 1 or units or (required_column and required_column in joined)):
        header = tuple(joined)
    below = table[1 + bool(units) :] if header else table
    if not below:
        raise no_rows_error(extent)
    names, findings = [f"column {i + 1}" for i in range(len(table[0]))], list[Finding]()
    if header:
        names, findings = unique_names(header, extent.where)
        findings += _joined_findings(names, depth)
    phrases = ["a header" if header else "no header"] + ["units below it"] * bool(units)
    if start:
        phrases.append(f"{count_text(start, 'line')} above the table left out")
    first = filled[place + 1] + 1 if units else start + depth * bool(header)
    unit_of = {name: unit for name, unit in zip(names, units, strict=False) if unit}
    return SheetHeader(names, first, bool(header), below, phrases, findings, unit_of)


def no_rows_error(extent: SheetExtent) -> UnusableError:
    """The error for a sheet without rows, whose formulas may lack their values."""
    fault, cure = "there is no row below the header", "add rows"
    if extent.lost:
        fault = f"its {sum(extent.lost.values()):,} formulas have no values in the file"
        cure = "open it in a spreadsheet program and save it again"
    return UnusableError(fault, where=extent.where, cure=cure)


def _rows_above(rows: Rows, required_column: str) -> int:
    filled = [sum(map(bool, row)) for row in rows]
    counts = Counter(count for count in filled[1:] or filled if count)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    needed = max(2, usual / 2) if usual > 1 else 1
    for row_index, row in enumerate(rows[:_MAX_ROWS_ABOVE]):
        if (required_column and required_column in row) or filled[row_index] >= needed:
            return row_index
    return next((index for index, count in enumerate(filled) if count), 0)


def _header_rows(
    rows: Rows, start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> tuple[int, int]:
    """The first row of the header and how many rows it has, by its merged cells."""
    left_end, right_end = columns[0], columns[-1]
    ranges = [
        (top, bottom, right > left)
        for top, left, bottom, right in merged
        # What spans all columns is a title.
        if right >= left_end and left <= right_end and not left <= left_end < right_end <= right
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
        elif has_group and any(below) and not any(map(is_figure, below)):
            last += 1
        else:
            break
    if any(is_figure(cell) for row in rows[start + 1 : last + 1] for cell in row):
        return start, 1  # merged cells of the table itself
    return start, last - start + 1


def _joined_names(
    rows: Rows, start: int, columns: Sequence[int], merged: Sequence[Merged]
) -> list[str]:
    """The header's rows as one: "group: name", a merged cell's name in all that it covers."""
    names: list[dict[str, None]] = [{} for _ in columns]
    for i, row in enumerate(rows, start):
        texts = list(row)
        for top, left, bottom, right in merged:
            if start <= top <= i <= bottom:
                inside = [j for j, column in enumerate(columns) if left <= column <= right]
                written = next(filter(None, (rows[top - start][j] for j in inside)), "")
                texts = [written if j in inside else text for j, text in enumerate(texts)]
        for name, text in zip(names, texts, strict=False):
            name |= {text: None} if text or len(rows) == 1 else {}
    return [": ".join(name) for name in names]


def _joined_findings(names: Sequence[str], depth: int) -> list[Finding]:
    joined = [f"“{name}”" for name in names if ": " in name][:3]
    examples = f", such as {' and '.join(joined)}" if joined else ""
    sentence = f"The header has {depth} rows, which are read as one name a column{examples}."
    return [Finding(sentence)] if depth > 1 else []


def fills_of(extent: SheetExtent, names: Mapping[int, str], head: SheetHeader) -> tuple[Fill, ...]:
    """Merged cells below the header (column, first, last row); UnusableError across columns."""
    fills: list[Fill] = []
    for top, left, bottom, right in extent.merged:
        inside = [name for column, name in names.items() if left <= column <= right]
        last = min(bottom, extent.rows - 1)
        if not inside or (top, left) == (last, right) or last < head.first or top > last:
            continue
        is_across = left != right or top < head.first
        if is_across or len(fills) == _MAX_FILLS:
            which = "" if is_across else f"and {_MAX_FILLS:,} others "
            cells = f"{column_letters(left)}{top + 1}:{column_letters(right)}{bottom + 1}"
            cure = "unmerge them in the spreadsheet program and give each cell a value of its own"
            raise UnusableError(
                f"the cells {cells} {which}are merged", where=extent.where, cure=cure
            )
        fills.append((inside[0], top - head.first, last - head.first))
    return tuple(fills)


def column_letters(column: int) -> str:
    """The spreadsheet name of a column (from 0): A to Z, then AA, AB and so on."""
    letters, column = "", column + 1
    while column:
        column, letter_index = divmod(column - 1, 26)
        letters = chr(ord("A") + letter_index) + letters
    return letters
