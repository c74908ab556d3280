"""Parses a CSV file with pandas, by its path where possible, and explains errors."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.files import csv_faults
from core.datasets.files.file_bytes import GuardedFile, file_faults, fingerprint, open_bytes
from core.datasets.files.parser_memory import freed_at_once
from core.datasets.files.sniffing import Dialect
from core.datasets.files.survey import FileSurvey, survey_file
from core.errors import UnusableError

_KNOWS_TEXTS = isinstance(pd.Series(["a"]).dtype, pd.StringDtype)  # pandas 2 has only objects
_LARGE = 2**22  # bytes; below, inferring types gains nothing


class CsvParser(ExitStack):
    """Reads a file with pandas, repeatedly where types change.

    A plain file is surveyed, then read by its path, with several threads where it is large. Of
    others the fingerprint is computed while reading.
    """

    def __init__(self, path: Path, compression: str) -> None:
        super().__init__()
        self._path = path
        self._compression = compression
        self._survey: FileSurvey | None = None

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
        """The table, and the dialect (its encoding changes when a later byte is not UTF-8).

        Raises:
            UnusableError: it is no table, with line and column.
        """
        path, compression = self._path, self._compression
        try:
            table, lines = self._read_table(dialect, arguments)
        except UnicodeDecodeError:
            if _is_wide(dialect):
                raise UnusableError(
                    "the file begins as UTF-16 and has letters that are none",
                    where=path.name,
                    cure="save the table as CSV again, in UTF-8",
                ) from None
            encoding = "latin-1" if dialect.encoding == "cp1252" else "cp1252"
            other_dialect = replace(dialect, encoding=encoding)
            return self.parse_file(other_dialect, {**arguments, "encoding": encoding})
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _parse_error(error, path, compression, dialect) from None
        _check_short_rows(table, lines, path, compression, dialect)
        if len(table) == 0:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=path.name, cure="add rows")
        return table.reset_index(drop=True), dialect

    def _read_table(
        self, dialect: Dialect, arguments: Mapping[str, Any]
    ) -> tuple[pd.DataFrame, int | None]:
        """The table, and the number of lines; None where none can hold another row."""
        if not self._compression and not _is_wide(dialect):
            self._survey = self._survey or survey_file(self._path, dialect.quote)
            absolute_path = str(self._path.absolute())
            with freed_at_once():
                table = _read_inferred(absolute_path, arguments)
                if table is None:
                    table = _table_of(absolute_path, arguments)
                return table, self._survey.lines
        assert self._fingerprint_future
        inner = open_bytes(self._path, self._compression)
        guarded = GuardedFile(inner, self._path.name, wide=_is_wide(dialect))
        try:
            with io.BufferedReader(guarded, 2**18) as file:
                return _table_of(file, arguments), guarded.lines
        except (pd.errors.ParserError, pd.errors.ParserWarning):
            if guarded.fault is not None:
                raise guarded.fault from None
            raise


def _is_wide(dialect: Dialect) -> bool:
    return dialect.encoding.startswith("utf-16")


def _read_inferred(absolute_path: str, arguments: Mapping[str, Any]) -> pd.DataFrame | None:
    """The table of a large file in half the time, with pandas' own detection of text columns.

    None where pandas reads cells of such a column as something else.
    """
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
        csv_faults.check_widths(path, compression, dialect)
    except UnusableError as fault:
        return fault
    if "EOF inside string" in str(error):
        return csv_faults.last_open_quote(path, compression, dialect)
    reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
    return UnusableError(
        f"the table cannot be read ({reason})", where=path.name, cure="check delimiters and quotes"
    )


def _check_short_rows(
    table: pd.DataFrame, lines: int | None, path: Path, compression: str, dialect: Dialect
) -> None:
    """Find rows that pandas filled up or an open quote swallowed, where there is a sign of them."""
    headless = len(table) + dialect.skip + bool(dialect.header)
    swallowed = lines is not None and headless < lines and not _is_wide(dialect)
    if swallowed and csv_faults.has_wide_cell(table, dialect):
        csv_faults.check_swallowed(path, compression, dialect)
    if dialect.extra == "empty" or not table.iloc[:, -1].isna().any():
        return
    if not csv_faults.plainly_regular(path, compression, dialect):
        csv_faults.check_widths(path, compression, dialect)
