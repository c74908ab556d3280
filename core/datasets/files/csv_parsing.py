"""Parses a CSV file with pandas, by its path where possible, and explains errors."""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import hashlib
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import pandas as pd

from core.datasets.files import csv_faults, file_bytes
from core.datasets.files.file_bytes import GuardedFile, file_faults, fingerprint, open_bytes
from core.datasets.files.quote_readings import QuoteCheck, QuoteChoice
from core.datasets.files.quotes import DOUBLED, OUTER, Quotes, doubled_text
from core.datasets.files.sniffing import Dialect
from core.datasets.finding import Finding
from core.errors import UnusableError

_KNOWS_TEXTS = isinstance(pd.Series(["a"]).dtype, pd.StringDtype)  # pandas 2 has only objects
_LARGE = 2**22  # bytes; below, inferring types gains nothing
_BLOCK = 2**20
_TRIM, _MMAP = -1, -3  # the numbers of glibc's limits


class CsvParser(ExitStack):
    """Reads a file with pandas, repeatedly where types change; a thread surveys it meanwhile."""

    def __init__(self, path: Path, compression: str) -> None:
        super().__init__()
        self._path = path
        self._compression = compression
        self._thread = self.enter_context(ThreadPoolExecutor(1))
        self._survey: Future[tuple[str, QuoteCheck]] | None = None
        self._checked: Dialect | None = None
        self._digest: Future[str] | None = None
        self.findings: tuple[Finding, ...] = ()  # of the last parsing

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, after parsing."""
        if self._survey:
            return self._survey.result()[0]
        assert self._digest
        return self._digest.result()

    def parse_file(
        self, dialect: Dialect, arguments: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, Dialect]:
        """The table and its dialect (perhaps in another encoding), or UnusableError."""
        path, compression = self._path, self._compression
        try:
            table, check = self._read_table(dialect, arguments)
        except UnicodeDecodeError:
            if _is_wide(dialect):
                fault = "the file begins as UTF-16 and has letters that are none"
                cure = "save the table as CSV again, in UTF-8"
                raise UnusableError(fault, where=path.name, cure=cure) from None
            encoding = "latin-1" if dialect.encoding == "cp1252" else "cp1252"
            other_dialect = replace(dialect, encoding=encoding)
            return self.parse_file(other_dialect, {**arguments, "encoding": encoding})
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _parse_error(error, path, compression, dialect) from None
        _check_short_rows(table, check, path, compression, dialect)
        findings = [csv_faults.reading_finding(path, compression, dialect)]
        if dialect.width > 1 and (check.is_multiline or not check.fits):
            findings.append(csv_faults.wide_cell_finding(table, path, compression, dialect))
        self.findings = tuple(finding for finding in findings if finding is not None)
        if len(table) == 0:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=path.name, cure="add rows")
        return table.reset_index(drop=True), dialect

    def _read_table(
        self, dialect: Dialect, arguments: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, QuoteCheck]:
        path, compression = self._path, self._compression
        if not compression and not _is_wide(dialect):
            self._survey = self._survey or self._thread.submit(survey_file, path, dialect.quotes)
            if dialect.reading != DOUBLED or path.stat().st_size > 4 * file_bytes.LONGEST_LINE:
                self._check_quotes(dialect, self._survey.result()[1])
            if dialect.reading != OUTER:
                try:
                    table = _read_path(str(path.absolute()), arguments)
                finally:  # what is wrong with the bytes is said first
                    check = self._survey.result()[1]
                    self._check_quotes(dialect, check)
                return table, check
        elif self._digest is None:
            self._digest = self._thread.submit(fingerprint, path)
        check = QuoteCheck(dialect.quotes)
        guarded = _WatchedFile(open_bytes(path, compression), path.name, dialect, check)
        try:
            with io.BufferedReader(guarded, 2**18) as file:
                source = doubled_source(file, dialect) if dialect.reading == OUTER else file
                table = _table_of(source, arguments)
        except (pd.errors.ParserError, pd.errors.ParserWarning):
            if guarded.fault is not None:
                raise guarded.fault from None
            raise
        check.finish()
        self._check_quotes(dialect, check)
        return table, check

    def _check_quotes(self, dialect: Dialect, check: QuoteCheck) -> None:
        if dialect is not self._checked and (dialect.reading != DOUBLED or not check.fits):
            csv_faults.check_rows(self._path, self._compression, dialect)
        self._checked = dialect


def survey_file(path: Path, quotes: Quotes) -> tuple[str, QuoteCheck]:
    """SHA-256 in hexadecimal and the quotes; UnusableError for a NUL byte or an endless line."""
    digest, check = hashlib.sha256(), QuoteCheck(quotes)
    with GuardedFile(open_bytes(path, ""), path.name, wide=False) as file:
        buffer = bytearray(_BLOCK)
        while file.readinto(buffer):
            digest.update(file.block)
            check.add_block(file.block)
    check.finish()
    return digest.hexdigest(), check


class _WatchedFile(GuardedFile):
    def __init__(self, inner: IO[bytes], name: str, dialect: Dialect, check: QuoteCheck) -> None:
        super().__init__(inner, name, wide=_is_wide(dialect))
        self._check = check
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._decoder = decoder if _is_wide(dialect) else None

    def readinto(self, buffer: object) -> int:
        size = super().readinto(buffer)
        data = bytes(memoryview(buffer)[:size])  # type: ignore[arg-type]
        self._check.add_block(self._decoder.decode(data).encode() if self._decoder else data)
        return size


def doubled_source(file: IO[bytes], dialect: Dialect) -> io.StringIO:
    """The text with every quote in a cell doubled, which pandas can read."""
    return doubled_text(file.read(), dialect.encoding, **asdict(dialect.quotes))


def _is_wide(dialect: Dialect) -> bool:
    return dialect.encoding.startswith("utf-16")


def _read_path(absolute_path: str, arguments: Mapping[str, Any]) -> pd.DataFrame:
    """A large file in half the time, by pandas' own text columns where these do not differ."""
    texts = arguments["dtype"]
    with _freed_at_once():
        if _KNOWS_TEXTS and texts and os.path.getsize(absolute_path) >= _LARGE:
            free = {**arguments, "dtype": {}}
            for rows in ({"nrows": 1000}, {}):
                table = _table_of(absolute_path, {**free, **rows})
                kinds = (table.dtypes.get(name) for name in texts)
                if not all(isinstance(kind, pd.StringDtype) for kind in kinds):
                    break
            else:
                return table
        return _table_of(absolute_path, arguments)


def _table_of(source: Any, arguments: Mapping[str, Any]) -> pd.DataFrame:
    with warnings.catch_warnings(), file_faults(str(source)):
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        # A stream is decompressed already. An empty mapping would be looked up for every column.
        types = arguments["dtype"] or None
        return pd.read_csv(source, **{**arguments, "compression": None, "dtype": types})


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


def _parse_error(error: Exception, path: Path, compression: str, dialect: Dialect) -> UnusableError:
    try:
        csv_faults.check_rows(path, compression, dialect)
    except UnusableError as fault:
        return fault
    reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
    cure = "check delimiters and quotes"
    return UnusableError(f"the table cannot be read ({reason})", where=path.name, cure=cure)


def _check_short_rows(
    table: pd.DataFrame, check: QuoteCheck, path: Path, compression: str, dialect: Dialect
) -> None:
    """Find rows that pandas filled up, where there is a sign of them."""
    if dialect.extra == "empty" or not table.iloc[:, -1].isna().any():
        return
    if not csv_faults.plainly_regular(path, compression, dialect):
        choice = QuoteChoice(is_checked=dialect.reading == DOUBLED and check.fits)
        csv_faults.check_rows(path, compression, dialect, choice)
