"""Where a table's names stand: below lines of a title, above a row of units, if there are any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from core.datasets.column_format import NOTHING, number_formats
from core.datasets.files.delimiters import is_number

_MAX_ROWS_ABOVE = 50
_BODY_ROWS = 40  # that tell which columns are numbers
_NUMBER_SHARE = 0.9
_IN_BRACKETS = re.compile(r"\[(.{1,12})\]|\((.{1,12})\)")
_LIKE_A_UNIT = re.compile(r"[^\W\d][^\s,;]{0,9}|[µ°%‰#$€£¥][^\s,;]{0,5}")
_NO_UNITS = {"", "-", "–", "—"}


def names_place(rows: Sequence[Sequence[str]], required: str = "") -> tuple[int, tuple[str, ...]]:
    """The row of the names, from 0, and the units below them ("" for none; () without such a row).

    (0, ()) where the kinds of the rows below do not tell; `required`: a name that is known.
    """
    below = rows[len(rows) // 2 :]
    width = Counter(map(len, below)).most_common(1)[0][0] if rows else 0
    above, sample = (
        [[cell.strip() for cell in row] for row in some]
        for some in (rows[:_MAX_ROWS_ABOVE], below[:: max(1, len(below) // _BODY_ROWS)])
    )
    numeric = [i for i in range(width) if _are_numbers([row[i] for row in sample if i < len(row)])]
    if required and any(required in row for row in above):
        place = next(i for i, row in enumerate(above) if required in row)
        return place, _units_of(above[place + 1], numeric) if place + 1 < len(above) else ()
    usual = Counter(sum(map(bool, row)) for row in sample).most_common(1)[0][0] if sample else 0
    first = next((i for i, row in enumerate(above) if _is_body(row, numeric, usual)), 0)
    if first < 2:
        return 0, ()
    units = _units_of(above[first - 1], numeric)
    place = first - 1 - bool(units)
    # A first row with a word in its only column of numbers looks like names, too.
    is_certain = bool(units) or len(numeric) > 1 or not _are_names(above[0], width)
    # A row of the table itself repeats words of others, or lacks its numbers.
    cells = [(i, cell) for i, cell in enumerate(above[place]) if cell]
    is_row = any(cell in [row[i] for row in sample if i < len(row)] for i, cell in cells)
    is_row = is_row or 2 * sum(i in numeric for i, _ in cells) < len(numeric)
    if not _are_names(above[place], width) or is_row or not is_certain:
        return 0, ()
    return place, units


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell not in NOTHING]
    return bool(filled) and sum(map(is_figure, filled)) >= _NUMBER_SHARE * len(filled)


def _is_body(row: Sequence[str], numeric: Sequence[int], usual: int) -> bool:
    cells = [row[i] for i in numeric if i < len(row) and row[i] not in NOTHING]
    return bool(cells) and all(map(is_figure, cells)) and 2 * sum(map(bool, row)) >= usual


def _are_names(row: Sequence[str], width: int) -> bool:
    names = [cell for cell in row if cell]
    is_full = len(row) >= width - 1 and len(names) >= max(2, int(_NUMBER_SHARE * width))
    return is_full and len(set(names)) == len(names) and not any(map(_is_value, names))


def _is_value(cell: str) -> bool:
    return cell in NOTHING or is_figure(cell)


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, with a decimal point or a decimal comma."""
    return is_number(cell) or is_number(cell, ",")


def _units_of(row: Sequence[str], numeric: Sequence[int]) -> tuple[str, ...]:
    """The units of a row of units, without brackets; () for another row."""
    units = [_IN_BRACKETS.sub(r"\1\2", cell) if cell not in _NO_UNITS else "" for cell in row]
    figures = [i for i in numeric if i < len(row) and units[i]]
    known = [i for i in figures if units[i] != row[i] or number_formats([f"1{units[i]}"])]
    others = [unit for i, unit in enumerate(units) if unit and i not in numeric]
    fits = all(_LIKE_A_UNIT.fullmatch(units[i]) or units[i] != row[i] for i in figures)
    has_values = any(map(_is_value, filter(None, units)))
    if not known or not fits or has_values or len(others) > len(figures):
        return ()
    return tuple(unit if i in numeric else "" for i, unit in enumerate(units))
