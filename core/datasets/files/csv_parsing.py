"""Parses a CSV file with pandas, by its path, and explains errors."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.files import file_bytes
from core.datasets.files.delimited_rows import (
    CsvRows,
    Dialect,
    QuoteCheck,
    QuoteChoice,
    check_rows,
    survey_file,
)
from core.datasets.files.file_bytes import TextSource, file_faults, guarded_bytes
from core.datasets.files.quotes import DOUBLED, ESCAPED, OUTER, UNQUOTED, doubled_lines
from core.datasets.finding import Finding
from core.errors import UnusableError, write_error

_KNOWS_TEXTS = isinstance(pd.Series(["a"]).dtype, pd.StringDtype)  # pandas 2 has only objects
_LARGE = 2**22  # bytes; below, inferring types gains nothing
_TRIM, _MMAP = -1, -3  # the numbers of glibc's limits


class CsvParser(ExitStack):
    """Reads a file with pandas, repeatedly where types change; a thread surveys it meanwhile.

    `dialect` is in another encoding where the first bytes did not tell the right one; `findings`
    are those of the table that was parsed.
    """

    def __init__(self, source: TextSource, dialect: Dialect) -> None:
        super().__init__()
        self._source = source
        self.dialect = dialect
        self._plain = source.path  # what pandas reads
        self._survey: Future[QuoteCheck] | None = None
        self._is_checked = False
        self.findings: tuple[Finding, ...] = ()

    def parse_file(self, arguments: Mapping[str, Any]) -> pd.DataFrame:
        """The table, or UnusableError."""
        table = self.read_table(arguments)
        dialect, survey = self.dialect, self._surveyed()
        self._check_short_rows(table, survey)
        findings = [reading_finding(self._source, dialect)]
        # Where every line is one row, no text holds the end of a line.
        line_count = dialect.skip + bool(dialect.header) + len(table)
        if dialect.width > 1 and survey.count and survey.lines != line_count:
            findings.append(self._wide_cell_finding(table))
        self.findings = tuple(finding for finding in findings if finding is not None)
        if len(table) == 0:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=self._source.path.name, cure="add rows")
        return table

    def read_table(self, arguments: Mapping[str, Any]) -> pd.DataFrame:
        """The table without a look at its rows."""
        name, dialect = self._source.path.name, self.dialect
        try:
            self._start_survey()
            if self._plain.stat().st_size > 4 * file_bytes.LONGEST_LINE:
                self._check_quotes()
            is_own = self._plain == self._source.path or not _is_rewritten(dialect)
            encoding = dialect.encoding if is_own else "utf-8"
            try:
                table = _read_path(self._plain, {**arguments, "encoding": encoding})
            finally:  # what is wrong with the bytes is said first
                self._check_quotes()
        except UnicodeDecodeError:
            if dialect.is_wide:
                fault = "the file begins as UTF-16 and has letters that are none"
                cure = "save the table as CSV again, in UTF-8"
                raise UnusableError(fault, where=name, cure=cure) from None
            other = "latin-1" if dialect.encoding == "cp1252" else "cp1252"
            self.dialect = replace(dialect, encoding=other)
            return self.read_table(arguments)
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            check_rows(self._source, dialect)
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
            fault, cure = f"the table cannot be read ({reason})", "check delimiters and quotes"
            raise UnusableError(fault, where=name, cure=cure) from None
        return table.reset_index(drop=True)

    def _start_survey(self) -> None:
        """Begin to survey the file, first written anew where pandas cannot read it by its path."""
        if self._survey is not None:
            return
        source, dialect = self._source, self.dialect
        if dialect.reading != DOUBLED:
            check_rows(source, dialect)
            self._is_checked = True
        if source.compression or _is_rewritten(dialect):
            folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="tunescope-")))
            self._plain = folder / "table.csv"
            _write_plain(source, dialect, self._plain)
        thread = self.enter_context(ThreadPoolExecutor(1))
        self._survey = thread.submit(survey_file, self._plain, source, dialect.quotes)

    def _surveyed(self) -> QuoteCheck:
        assert self._survey is not None
        return self._survey.result()

    def _check_quotes(self) -> None:
        if not self._surveyed().fits and not self._is_checked:
            check_rows(self._source, self.dialect)
        self._is_checked = True

    def _check_short_rows(self, table: pd.DataFrame, survey: QuoteCheck) -> None:
        """Find rows that pandas filled up, where there is a sign of them."""
        dialect = self.dialect
        is_filled = dialect.width > 1 and dialect.extra != "empty"
        if not is_filled or not table.iloc[:, -1].isna().any():
            return
        if not _has_full_rows(self._plain, dialect):
            is_checked = dialect.reading == DOUBLED and survey.fits
            check_rows(self._source, dialect, QuoteChoice(is_checked=is_checked))

    def _wide_cell_finding(self, table: pd.DataFrame) -> Finding | None:
        """A remark on the first text all of whose lines are rows: was its quote never closed?"""
        dialect, name = self.dialect, self._source.path.name
        first = dialect.extra == "names"
        texts = {i: cells for i, (_, cells) in enumerate(table.items(), first) if _is_text(cells)}
        if not any(
            _holds_rows(text, place, dialect)
            for place, cells in texts.items()
            for text in cells[cells.astype(str).str.contains("\n", regex=False)]
        ):
            return None
        with self._source.open_lines(dialect.encoding) as lines:
            for row in CsvRows(lines, dialect, QuoteChoice(is_checked=True)):
                cells = enumerate(row.cells) if row.end > row.begin else ()
                if any(_holds_rows(cell, i, dialect) for i, cell in cells):
                    return Finding(
                        f"In {name}, a text goes from line {row.begin:,} to {row.end:,}, and each"
                        " of these could be a row; if they are, close the quote in line"
                        f" {row.begin:,}."
                    )
        return None


def _is_text(cells: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(cells.dtype)


def _holds_rows(text: str, position: int, dialect: Dialect) -> bool:
    counts = [line.count(dialect.delimiter) for line in text.splitlines()]
    last = dialect.width - 1
    return len(counts) > 2 and counts == [last - position, *[last] * (len(counts) - 2), position]


def reading_finding(source: TextSource, dialect: Dialect) -> Finding | None:
    """A remark on an unusual reading of quotes: where the usual one would fail."""
    if dialect.reading not in (OUTER, UNQUOTED):
        return None
    try:
        check_rows(source, replace(dialect, reading=DOUBLED))
    except UnusableError as fault:
        place = fault.where.split(", ")[-1]
        phrase = f"In {source.path.name}, {dialect.reading_phrase}"
        return Finding(f"{phrase}: {fault.what} ({place}).")
    return None


def _is_rewritten(dialect: Dialect) -> bool:
    return dialect.is_wide or dialect.reading == OUTER


def _write_plain(source: TextSource, dialect: Dialect, path: Path) -> None:
    """Write a file unpacked; where pandas asks for it in UTF-8 and with quotes doubled."""
    unpacked = guarded_bytes(source.path, source.compression, wide=dialect.is_wide)
    try:
        with unpacked, path.open("wb") as into:
            if not _is_rewritten(dialect):
                shutil.copyfileobj(unpacked, into, 2**20)
                return
            encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
            lines: Iterator[str] = io.TextIOWrapper(unpacked, encoding, newline="")
            if dialect.reading == OUTER:
                lines = doubled_lines(lines, dialect.quotes)
            into.writelines(line.encode() for line in lines)
    except OSError as error:
        raise write_error("the unpacked table", str(path), error) from None


def _has_full_rows(path: Path, dialect: Dialect) -> bool:
    """Whether no row can be short: outside of quotes are as few delimiters as can be."""
    if dialect.delimiter == " " or dialect.reading == ESCAPED:
        return False
    sign = b"" if dialect.reading == UNQUOTED else dialect.quote.encode()
    delimiter, is_inside, end = dialect.delimiter.encode(), False, 0
    delimiters = lines = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(2**20):
            if not is_inside and (not sign or sign not in block):
                delimiters += block.count(delimiter)
                lines += block.count(b"\n")
            else:
                letters = np.frombuffer(block, np.uint8)
                parity = np.add.accumulate(letters == ord(sign), dtype=np.uint8) + is_inside
                outside = letters[parity % 2 == 0]
                is_inside = bool(parity[-1] % 2)
                delimiters += int(np.count_nonzero(outside == ord(delimiter)))
                lines += int(np.count_nonzero(outside == 10))
            end = block[-1]
    lines += end != 10
    return delimiters == lines * (dialect.width - 1) - (dialect.extra == "names")


def _read_path(path: Path, arguments: Mapping[str, Any]) -> pd.DataFrame:
    """A large file in half the time, by pandas' own text columns where these do not differ."""
    texts = arguments["dtype"]
    with _freed_at_once():
        if _KNOWS_TEXTS and texts and os.path.getsize(path) >= _LARGE:
            free = {**arguments, "dtype": {}}
            for rows in ({"nrows": 1000}, {}):
                table = _table_of(path, {**free, **rows})
                kinds = (table.dtypes.get(name) for name in texts)
                if not all(isinstance(kind, pd.StringDtype) for kind in kinds):
                    break
            else:
                return table
        return _table_of(path, arguments)


def _table_of(path: Path, arguments: Mapping[str, Any]) -> pd.DataFrame:
    with warnings.catch_warnings(), file_faults(str(path)):
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        # An empty mapping would be looked up for every column.
        types = arguments["dtype"] or None
        return pd.read_csv(
            str(path.absolute()), **{**arguments, "compression": None, "dtype": types}
        )


@contextlib.contextmanager
def _freed_at_once() -> Iterator[None]:
    """Return memory freed inside to the system at once; glibc else keeps some 30 MB per thread."""
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library
        yield
        return
    adjust(_TRIM, 2**20)
    try:
        yield
    finally:
        adjust(_TRIM, 2**24)
        adjust(_MMAP, 2**25)
