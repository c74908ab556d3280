"""Locates faults of a CSV file, slowly, after fast reading failed."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pandas as pd

from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.datasets.files.quote_readings import QuoteCheck, QuoteChoice
from core.datasets.files.quotes import DOUBLED, OUTER, UNQUOTED, csv_reader
from core.datasets.files.sniffing import Dialect, names_fit
from core.datasets.finding import Finding
from core.errors import UnusableError


def _open_lines(path: Path, compression: str, dialect: Dialect) -> io.TextIOWrapper:
    raw = GuardedFile(open_bytes(path, compression), path.name, wide=True)
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    return io.TextIOWrapper(io.BufferedReader(raw), encoding, "replace", newline="")


def _lines_below(text: io.TextIOWrapper, dialect: Dialect) -> Iterator[str]:
    for _ in range(dialect.skip):
        text.readline()
    return (line.strip() + "\n" for line in text) if dialect.delimiter == " " else iter(text)


def numbered_rows(
    path: Path, compression: str, dialect: Dialect
) -> Iterator[tuple[int, int, list[str]]]:
    """Every row that is not blank: its first line, its last line, and its cells."""
    with _open_lines(path, compression, dialect) as text:
        reader = csv_reader(_lines_below(text, dialect), dialect.quotes)
        previous_end = dialect.skip
        for row in reader:
            row_end = dialect.skip + reader.line_num
            if row and (len(row) > 1 or row[0].strip()):
                yield previous_end + 1, row_end, row
            previous_end = row_end


def check_rows(
    path: Path, compression: str, dialect: Dialect, choice: QuoteChoice | None = None
) -> None:
    """Raise UnusableError at the first row of another width or with unfitting quotes."""
    with _open_lines(path, compression, dialect) as text:
        fault = dialect.shape.row_fault(_lines_below(text, dialect), choice)
    if fault is not None:
        where = f"{path.name}, line {fault.line + dialect.skip}"
        raise UnusableError(fault.what, where=where, cure=fault.cure)


def has_fitting_quotes(path: Path, compression: str, dialect: Dialect) -> bool:
    """Whether all quotes of a file fit the dialect's reading, and where that is not plain, rows."""
    if dialect.reading == DOUBLED and not dialect.encoding.startswith("utf-16"):
        check = QuoteCheck(dialect.quotes)
        with open_bytes(path, compression) as file:
            while data := file.read(2**22):
                check.add_block(data)
        check.finish()
        if check.fits:
            return True
    try:
        check_rows(path, compression, dialect)
    except UnusableError:
        return False
    return True


def fitting_dialect(
    path: Path, compression: str, choices: Iterable[QuoteChoice], sniffed: Callable[..., Dialect]
) -> Dialect | None:
    """The dialect (`sniffed` from the head) of the first choice that fits all rows."""
    for choice in choices:
        try:
            dialect = sniffed(choice=choice)
            check_rows(path, compression, dialect, choice)
        except UnusableError:
            continue
        if names_fit(dialect):
            return dialect
    return None


def reading_finding(path: Path, compression: str, dialect: Dialect) -> Finding | None:
    """A remark on an unusual reading of quotes: where the usual one would fail."""
    if dialect.reading not in (OUTER, UNQUOTED):
        return None
    try:
        check_rows(path, compression, replace(dialect, reading=DOUBLED))
    except UnusableError as fault:
        phrase = dialect.reading_phrase
        return Finding(f"In {path.name}, {phrase}: {fault.what} ({fault.where.split(', ')[-1]}).")
    return None


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


def wide_cell_finding(
    table: pd.DataFrame, path: Path, compression: str, dialect: Dialect
) -> Finding | None:
    """A remark on the first text all of whose lines are rows too: was its quote never closed?"""
    if not any(
        _holds_rows(text, position, dialect)
        for position, name in enumerate(table.columns, dialect.extra == "names")
        if not pd.api.types.is_numeric_dtype(table[name].dtype)
        for text in table[name][table[name].astype(str).str.contains("\n", regex=False)]
    ):
        return None
    for begin, end, row in numbered_rows(path, compression, dialect):
        if end > begin and any(_holds_rows(cell, i, dialect) for i, cell in enumerate(row)):
            return Finding(
                f"In {path.name}, a text goes from line {begin:,} to {end:,}, and each of these"
                f" could be a row; if they are, close the quote in line {begin:,}."
            )
    return None


def _holds_rows(text: str, position: int, dialect: Dialect) -> bool:
    counts = [line.count(dialect.delimiter) for line in text.splitlines()]
    last = dialect.width - 1
    return len(counts) > 2 and counts == [last - position, *[last] * (len(counts) - 2), position]


def line_of(path: Path, compression: str, dialect: Dialect, row: int) -> int:
    """The line where a row (from 0, below the header) begins; 0 if there is no such row."""
    rows = numbered_rows(path, compression, dialect)
    below = islice(rows, row + bool(dialect.header), None)
    return next((begin for begin, _, _ in below), 0)
