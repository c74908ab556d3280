"""Detects the delimiter of a text table from its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from core.datasets.column_format import NOTHING
from core.datasets.files.quotes import OUTSIDE, UNQUOTED, WITHIN, Quotes, csv_reader, scan_line
from core.errors import UnusableError

DELIMITERS = (";", "\t", "|", ",", " ")
ONE_COLUMN = "\x1f"  # a sign that no text holds, so that every line is one cell
SAMPLE_ROWS = 500
_ALIKE = 0.9  # share of rows that blanks must cut into the same number of cells
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")

_Scored = tuple[float, str, list[list[str]]]  # a score, the delimiter, its rows


def delimiter_of(
    lines: list[str], quotes: Quotes, name: str, required_column: str
) -> tuple[str, list[list[str]]]:
    """The delimiter under which most rows have the same number of cells; ONE_COLUMN for none.

    Preferred are those that give the required column, then those where quotes are around cells.
    """
    best: _Scored | None = None
    is_quoted = quotes.reading != UNQUOTED and any(quotes.quote in line for line in lines)
    lines = first_lines(lines)
    start = "".join(lines)
    for delimiter in DELIMITERS:
        if delimiter not in start:
            continue
        form = replace(quotes, delimiter=delimiter)
        rows = split_rows(lines, form)
        share, width = _evenness(rows)
        if width < 2 or (delimiter == " " and share < _ALIKE):
            continue
        # In favour: a first row as wide as the others, or one cell shorter for row names.
        fits = len(rows[0]) in (width, width - 1) and len(rows[0]) > 1
        named = [cell.strip() for cell in rows[0]] if len(rows[0]) > 1 else []
        has_required = bool(required_column) and required_column in named
        if not has_required and _is_prose(start, rows, delimiter, share, fits):
            continue
        score = round(share, 2) + fits + 3 * has_required
        score += 0.9 * (is_quoted and _has_fitting_quotes(lines, form))
        candidate = (score, delimiter, rows)
        if best is None or score > best[0] or _is_clearer(candidate, best):
            best = candidate
    first = next((line.strip().strip(quotes.quote) for line in lines if line.strip()), "")
    if best is None or (required_column and first == required_column and best[0] < 3):
        return ONE_COLUMN, _one_column(lines, quotes, name)
    return best[1], best[2]


def first_lines(lines: list[str]) -> list[str]:
    """The lines up to the last of the first rows, blank ones among them."""
    filled = (end for end, line in enumerate(lines, 1) if not line.isspace())
    return lines[: next(islice(filled, SAMPLE_ROWS - 1, None), len(lines))]


def _has_fitting_quotes(lines: list[str], quotes: Quotes) -> bool:
    state = OUTSIDE
    for line in lines:
        if quotes.quote in line or state == WITHIN:
            scanned = scan_line(line, quotes, state)
            state = scanned.state
            if not scanned.fits:
                return False
    return True


def _one_column(lines: list[str], quotes: Quotes, name: str) -> list[list[str]]:
    rows = split_rows(lines, replace(quotes, delimiter=ONE_COLUMN))
    if not rows:
        raise UnusableError("there is no row", where=name, cure="choose a file with rows")
    return rows


def _evenness(rows: list[list[str]]) -> tuple[float, int]:
    """The share of rows below the first with the usual number of cells, and this number."""
    below = [row for row in rows[1:] if not row[0].startswith("#")] or rows[1:] or rows
    counts = Counter(len(row) for row in below)
    if not counts:
        return 0.0, 0
    width, hits = counts.most_common(1)[0]
    return hits / sum(counts.values()), width


def _is_prose(start: str, rows: list[list[str]], delimiter: str, share: float, fits: bool) -> bool:
    """Whether the delimiter is punctuation in texts: uneven rows, with blanks behind it."""
    if fits and share >= 0.75:
        return False
    if not fits and share < 0.5:
        return True
    numbers = _number_columns(rows)
    if delimiter == " ":
        return not fits and not numbers
    followed = start.count(delimiter + " ") >= _ALIKE * start.count(delimiter)
    return delimiter != "\t" and followed and not numbers


def _number_columns(rows: list[list[str]]) -> bool:
    width = _evenness(rows)[1]
    below = [row for row in rows[1:] if len(row) == width]
    return any(2 * sum(is_number(row[i]) for row in below) > len(below) for i in range(width))


def _has_dates(rows: list[list[str]]) -> bool:
    import pandas as pd

    from core.datasets.dates import date_format

    columns = [[row[i] for row in rows[1:] if i < len(row)] for i in range(len(rows[0]))]
    spaced = [cells for cells in columns if cells and all(" " in cell.strip() for cell in cells)]
    return any(date_format(pd.Series(cells, dtype="str")) for cells in spaced)


def _is_clearer(candidate: _Scored, best: _Scored) -> bool:
    """Whether blanks divide better than commas, which are all decimal signs as in 0,5."""
    if candidate[0] != best[0] or (candidate[1], best[1]) != (" ", ","):
        return False
    with_commas = [cell for row in candidate[2] for cell in row if "," in cell]
    decimal = all(COMMA_NUMBER.fullmatch(cell) for cell in with_commas)
    return decimal and not _has_dates(best[2])


class CsvRow(NamedTuple):
    """A row of a text: its first line, its last line (from 1), and its cells."""

    begin: int
    end: int
    cells: list[str]
    is_blank: bool


def csv_records(lines: Iterable[str], quotes: Quotes) -> Iterator[CsvRow]:
    """The rows in lines, also blank ones; raises csv.Error."""
    line, end = "", 0

    def note(text: str) -> str:
        nonlocal line
        line = text
        return text

    reader = csv_reader(map(note, lines), quotes)
    for cells in reader:
        begin, end = end + 1, reader.line_num
        is_blank = not cells or (len(cells) == 1 and not cells[0].strip())
        if is_blank and quotes.delimiter == ONE_COLUMN:  # "" is an empty cell
            is_blank = not line.strip()
        yield CsvRow(begin, end, cells, is_blank)


def split_rows(lines: list[str], quotes: Quotes) -> list[list[str]]:
    """The lines' cells without blank lines, up to a line that the csv module cannot parse."""
    source = (line.strip(" \t\r\n") + "\n" for line in lines) if quotes.delimiter == " " else lines
    rows = (row.cells for row in csv_records(source, quotes) if not row.is_blank)
    first_rows: list[list[str]] = []
    with suppress(csv.Error):
        first_rows.extend(islice(rows, SAMPLE_ROWS + 1))
    return first_rows


def is_missing(cell: str) -> bool:
    """Whether a cell is one of the usual spellings of a missing value."""
    return cell.strip() in NOTHING


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Whether a cell is a number in this notation."""
    cell = cell.strip()
    if thousands:
        cell = cell.replace(thousands, "")
    if decimal == ",":
        cell = cell.replace(",", ".") if "." not in cell else "no"
    return NUMBER.fullmatch(cell) is not None
