"""Parses a CSV file with pandas, by its path where possible, and explains errors."""

from __future__ import annotations

import codecs
import io
import os
import warnings
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import pandas as pd

from core.datasets.files import csv_faults
from core.datasets.files.file_bytes import GuardedFile, file_faults, fingerprint, open_bytes
from core.datasets.files.parser_memory import freed_at_once
from core.datasets.files.quote_readings import QuoteCheck, QuoteChoice
from core.datasets.files.quotes import DOUBLED, OUTER, doubled_text
from core.datasets.files.sniffing import Dialect
from core.datasets.files.survey import FileSurvey, survey_file
from core.datasets.finding import Finding
from core.errors import UnusableError

_KNOWS_TEXTS = isinstance(pd.Series(["a"]).dtype, pd.StringDtype)  # pandas 2 has only objects
_LARGE = 2**22  # bytes; below, inferring types gains nothing


class CsvParser(ExitStack):
    """Reads a file with pandas, repeatedly where types change; a plain one is surveyed first."""

    def __init__(self, path: Path, compression: str) -> None:
        super().__init__()
        self._path = path
        self._compression = compression
        self._survey: FileSurvey | None = None
        self._checked: Dialect | None = None
        self.findings: tuple[Finding, ...] = ()  # of the last parsing

    @cached_property
    def _fingerprint_future(self) -> Future[str]:
        return self.enter_context(ThreadPoolExecutor(1)).submit(fingerprint, self._path)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, after parsing."""
        return self._survey.fingerprint if self._survey else self._fingerprint_future.result()

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
        self.findings = self._quote_findings(table, check, dialect)
        if len(table) == 0:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=path.name, cure="add rows")
        return table.reset_index(drop=True), dialect

    def _read_table(
        self, dialect: Dialect, arguments: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, QuoteCheck]:
        path, compression = self._path, self._compression
        if not compression and not _is_wide(dialect):
            self._survey = self._survey or survey_file(path, dialect.quotes)
            self._check_quotes(dialect, self._survey.check)
            if dialect.reading != OUTER:
                absolute_path = str(path.absolute())
                with freed_at_once():
                    table = _read_inferred(absolute_path, arguments)
                    if table is None:
                        table = _table_of(absolute_path, arguments)
                    return table, self._survey.check
        assert self._survey or self._fingerprint_future
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

    def _quote_findings(
        self, table: pd.DataFrame, check: QuoteCheck, dialect: Dialect
    ) -> tuple[Finding, ...]:
        path, compression = self._path, self._compression
        findings = [csv_faults.reading_finding(path, compression, dialect)]
        if dialect.width > 1 and (check.is_multiline or not check.fits):
            findings.append(csv_faults.wide_cell_finding(table, path, compression, dialect))
        return tuple(finding for finding in findings if finding is not None)


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


def _read_inferred(absolute_path: str, arguments: Mapping[str, Any]) -> pd.DataFrame | None:
    """A large file in half the time, by pandas' own text columns; None where these differ."""
    if not (_KNOWS_TEXTS and arguments["dtype"]) or os.path.getsize(absolute_path) < _LARGE:
        return None
    free = {**arguments, "dtype": {}}

    def has_text_dtypes(table: pd.DataFrame) -> bool:
        kinds = (table.dtypes.get(name) for name in arguments["dtype"])
        return all(isinstance(kind, pd.StringDtype) for kind in kinds)

    if not has_text_dtypes(_table_of(absolute_path, {**free, "nrows": 1000})):
        return None
    table = _table_of(absolute_path, free)
    return table if has_text_dtypes(table) else None


def _table_of(source: Any, arguments: Mapping[str, Any]) -> pd.DataFrame:
    with warnings.catch_warnings(), file_faults(str(source)):
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        # A stream is decompressed already. An empty mapping would be looked up for every column.
        types = arguments["dtype"] or None
        return pd.read_csv(source, **{**arguments, "compression": None, "dtype": types})


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
