"""Locates faults of a CSV file, slowly, after fast reading failed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from core.datasets.files.file_bytes import LONGEST_LINE, GuardedFile, open_bytes
from core.datasets.files.sniffing import Dialect
from core.errors import UnusableError


def numbered_rows(
    path: Path, compression: str, dialect: Dialect
) -> Iterator[tuple[int, int, list[str]]]:
    """Every row that is not blank: its first line, its last line, and its cells."""
    csv.field_size_limit(2 * LONGEST_LINE)
    raw = GuardedFile(open_bytes(path, compression), path.name, wide=True)
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with io.TextIOWrapper(io.BufferedReader(raw), encoding, "replace", newline="") as text:
        for _ in range(dialect.skip):
            text.readline()
        blank = dialect.delimiter == " "
        lines = (line.strip() + "\n" for line in text) if blank else text
        reader = csv.reader(
            lines, delimiter=dialect.delimiter, quotechar=dialect.quote, skipinitialspace=True
        )
        previous_end = dialect.skip
        for row in reader:
            row_end = dialect.skip + reader.line_num
            if row and (len(row) > 1 or row[0].strip()):
                yield previous_end + 1, row_end, row
            previous_end = row_end


def check_widths(path: Path, compression: str, dialect: Dialect) -> None:
    """Find the first row that has more or fewer cells than the others.

    Raises:
        UnusableError: with line, actual and expected count, or with the line of an open quote.
    """
    for index, (begin, end, row) in enumerate(numbered_rows(path, compression, dialect)):
        is_header = index == 0 and dialect.extra and len(row) == len(dialect.header)
        if is_header or len(row) == dialect.width:
            continue
        if end > begin and any("\n" in cell or "\r" in cell for cell in row):
            raise open_quote(path.name, begin, dialect.quote)
        raise UnusableError(
            f"the row has {len(row)} {'value' if len(row) == 1 else 'values'}"
            f" where the others have {dialect.width}",
            where=f"{path.name}, line {begin}",
            cure=f"give it {dialect.width} values; put quotes around text that holds the delimiter"
            if len(row) > dialect.width
            else f"give it {dialect.width} values, empty ones where nothing is known",
        )


def plainly_regular(path: Path, compression: str, dialect: Dialect) -> bool:
    """Whether no row can be short: there are no quotes, and the fewest delimiters possible."""
    if dialect.delimiter == " " or dialect.encoding == "utf-16":
        return False
    delimiter, quote = dialect.delimiter.encode(), dialect.quote.encode()
    delimiters = lines = 0
    end = b"\n"
    with open_bytes(path, compression) as file:
        while data := file.read(2**20):
            if quote in data:
                return False
            delimiters += data.count(delimiter)
            lines += data.count(b"\n")
            end = data[-1:]
    lines += end != b"\n"
    return delimiters == lines * (dialect.width - 1) - (dialect.extra == "names")


def has_wide_cell(table: pd.DataFrame, dialect: Dialect) -> bool:
    """Whether a text cell holds line ends with a row's worth of delimiters between them."""
    for name in table.columns:
        values = table[name]
        if pd.api.types.is_numeric_dtype(values.dtype):
            continue
        texts = values.dropna().astype(str)
        multiline_texts = texts[texts.str.contains("\n", regex=False)]
        if any(_holds_rows(text, dialect) for text in multiline_texts):
            return True
    return False


def _holds_rows(text: str, dialect: Dialect) -> bool:
    inner = text.splitlines()[1:-1]
    needed = max(1, dialect.width - 1)
    return bool(inner) and all(line.count(dialect.delimiter) >= needed for line in inner)


def check_swallowed(path: Path, compression: str, dialect: Dialect) -> None:
    """Find the row where a cell swallowed the rows below it.

    Raises:
        UnusableError: with the line where the quote opens.
    """
    for begin, end, row in numbered_rows(path, compression, dialect):
        if end > begin and any(_holds_rows(cell, dialect) for cell in row):
            raise open_quote(path.name, begin, dialect.quote)


def open_quote(name: str, line: int, quote: str) -> UnusableError:
    """The error for a quote that opens in this line and is not closed."""
    return UnusableError(
        f"a quote ({quote}) opens here and is not closed",
        where=f"{name}, line {line}",
        cure="close it, or double a quote that belongs to the text",
    )


def last_open_quote(path: Path, compression: str, dialect: Dialect) -> UnusableError:
    """The error for a file that ends inside quotes, which open in its last row."""
    begin = 1
    for begin, _, _ in numbered_rows(path, compression, dialect):  # noqa: B007
        pass
    return open_quote(path.name, begin, dialect.quote)


def find_cell(
    path: Path, compression: str, dialect: Dialect, column: int, is_wanted: Callable[[str], bool]
) -> tuple[int, str]:
    """Line and text of the first wanted cell of a column (from 0); (0, "") if none."""
    rows = numbered_rows(path, compression, dialect)
    if dialect.header:
        next(rows, None)
    for begin, _, row in rows:
        if column < len(row) and is_wanted(row[column].strip()):
            return begin, row[column].strip()
    return 0, ""


def line_of(path: Path, compression: str, dialect: Dialect, row: int) -> int:
    """The line where a row (from 0, below the header) begins; 0 if there is no such row."""
    rows = numbered_rows(path, compression, dialect)
    below = islice(rows, row + bool(dialect.header), None)
    return next((begin for begin, _, _ in below), 0)
