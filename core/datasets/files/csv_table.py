"""Reads a CSV file by one repeatable call of pandas.read_csv."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_number
from core.datasets.column_format import (
    MISSING,
    STRAY_SHARE,
    chosen_format,
    is_code,
    missing_text,
    number_formats,
)
from core.datasets.dataset import DataSource
from core.datasets.files.column_names import unique_names
from core.datasets.files.csv_parsing import CsvParser
from core.datasets.files.delimited_rows import (
    CsvRows,
    Dialect,
    QuoteChoice,
    check_rows,
    has_fitting_quotes,
)
from core.datasets.files.delimiters import is_missing, is_number
from core.datasets.files.file_bytes import TextSource
from core.datasets.files.foreign_files import control_line
from core.datasets.files.quotes import BACKSLASH, DOUBLED, ESCAPED, OUTER, UNQUOTED
from core.datasets.files.sniffing import (
    looks_like_libsvm,
    names_fit,
    sniff_dialect,
    whole_file_choices,
)
from core.datasets.finding import ColumnReading, Finding
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_LIBSVM_ENDINGS = (".libsvm", ".svm", ".svmlight")
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")


@dataclass(frozen=True)
class TextFile(TextSource):
    """A CSV or LIBSVM file with its first bytes."""

    @cached_property
    def is_libsvm(self) -> bool:
        """Whether its lines are LIBSVM's."""
        text = self.start[1]
        named = any(suffix in _LIBSVM_ENDINGS for suffix in self.path.suffixes)
        return looks_like_libsvm(text) or (named and ":" in text)

    def sniff(self, required_column: str = "", *choice: QuoteChoice) -> Dialect:
        """The dialect of the first bytes; a required column decides between delimiters."""
        return sniff_dialect(self.head, self.path.name, self.is_complete, required_column, *choice)

    def first_cells(self, required_column: str = "") -> Mapping[str, Sequence[str]]:
        """Every column's first values as text."""
        return self.sniff(required_column).cells

    def dialect(self, required_column: str = "") -> Dialect:
        """The dialect under which the quotes fit in all of the file, else that of its beginning."""
        dialect = self.sniff(required_column)
        if self.is_complete or has_fitting_quotes(self, dialect):
            return dialect
        return self._other_dialect(required_column) or dialect

    def _other_dialect(self, required_column: str) -> Dialect | None:
        """The dialect of the first choice of quotes that fits all rows."""
        for choice in whole_file_choices(self.head):
            with suppress(UnusableError):
                dialect = self.sniff(required_column, choice)
                check_rows(self, dialect, choice)
                if names_fit(dialect):
                    return dialect
        return None

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table of a CSV file; raises UnusableError with line and column.

        Where rows below the first bytes do not fit, other readings of quotes are tried.
        """
        dialect = self.sniff(required_column)
        try:
            return self._table_as(dialect, kinds, missing)
        except UnusableError:
            other = self._other_dialect(required_column)
            if other is None and dialect.reading != DOUBLED:  # what fails first is easiest to mend
                check_rows(self, replace(dialect, reading=DOUBLED))
            if other is None or (other.quote, other.reading) == (dialect.quote, dialect.reading):
                raise
        return self._table_as(other, kinds, missing)

    def _table_as(
        self, dialect: Dialect, kinds: Mapping[str, str], missing: Sequence[str]
    ) -> RawTable:
        path, compression = self.path, self.compression
        arguments = _arguments(dialect, compression)
        arguments["dtype"] = text_columns(dialect, kinds)
        arguments["na_values"] = _missing_words(dialect, arguments["dtype"], missing)
        with CsvParser(self, dialect) as parser:
            table = parser.parse_file(arguments)
            if late := _late_words(table, dialect, arguments["dtype"]):
                worded = [name for name, words in late.items() if words and words <= set(missing)]
                arguments["dtype"] |= {name: "str" for name in late if name not in worded}
                arguments["na_values"] = _missing_words(
                    dialect, arguments["dtype"], missing, worded
                )
                del table
                table = parser.parse_file(arguments)
            readings = tuple(_missing_readings(parser, arguments, table))
            dialect = parser.dialect
        arguments["encoding"] = dialect.encoding
        if not arguments["dtype"]:
            del arguments["dtype"]
        described = ", ".join(filter(None, (dialect.description, compression)))
        source = DataSource(str(path), "csv", arguments, {}, "", described, compression)
        if dialect.reading == OUTER:
            source = replace(source, quotes=asdict(dialect.quotes))

        def line_of(row: int) -> int:
            with self.open_lines(dialect.encoding) as lines:
                rows = CsvRows(lines, dialect, QuoteChoice(is_checked=True))
                return next((r.begin for r in islice(rows, row + bool(dialect.header), None)), 0)

        units = dialect.units[dialect.extra == "names" :]
        return RawTable(
            path.name,
            table,
            source,
            line_of,
            (
                *unique_names(dialect.header, path.name)[1],
                *parser.findings,
                *self._control_finding(),
            ),
            readings,
            {name: unit for name, unit in zip(dialect.names, units, strict=False) if unit},
        )

    def _control_finding(self) -> Iterator[Finding]:
        if line := control_line(self.head):
            where = f"{self.path.name} holds control characters (first in line {line:,})"
            yield Finding(f"{where}; they stay in its texts.")


def _arguments(dialect: Dialect, compression: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "sep": r"\s+" if dialect.delimiter == " " else dialect.delimiter,
        "encoding": dialect.encoding,
        "compression": compression or None,
        "na_values": [""],
        "keep_default_na": False,
    }
    if not dialect.header or dialect.trimmed or dialect.names != list(dialect.header):
        arguments["header"] = 0 if dialect.header else None
        arguments["names"] = dialect.names
    if dialect.extra != "names":
        arguments["index_col"] = False
    for key, value, usual in (
        ("decimal", dialect.decimal, "."),
        ("thousands", dialect.thousands, ""),
        ("quotechar", dialect.quote, '"'),
        ("quoting", csv.QUOTE_NONE if dialect.reading == UNQUOTED else 0, 0),
        ("escapechar", BACKSLASH if dialect.reading == ESCAPED else "", ""),
        ("skipinitialspace", dialect.padded, False),
        ("skiprows", dialect.skip, 0),
    ):
        if value != usual:
            arguments[key] = value
    return arguments


def _late_words(
    table: pd.DataFrame, dialect: Dialect, text: Collection[str]
) -> dict[str, set[str]]:
    """What is no number in the columns that begin as numbers."""
    words = {}
    for name, values in table.items():
        if name not in text and values.dtype.kind not in "iufc":
            cells = (cell for cell in values.unique() if isinstance(cell, (str, bool)))
            signs = dialect.decimal, dialect.thousands
            words[str(name)] = {str(c) for c in cells if not is_number(str(c), *signs)}
    return words


def _missing_words(
    dialect: Dialect, text: Collection[str], missing: Sequence[str], late: Sequence[str] = ()
) -> list[str] | dict[str, list[str]]:
    """What pandas takes for missing: "", and words in columns of numbers that have some."""
    worded = {name for name in (*_words_for_nothing(dialect), *late) if name not in text}
    if not worded or len(missing) == 1:
        return [""]
    return {name: list(missing) if name in worded else [""] for name in dialect.names}


def _words_for_nothing(dialect: Dialect) -> dict[str, list[str]]:
    words = {
        name: [cell for cell in dict.fromkeys(map(str.strip, cells)) if cell and is_missing(cell)]
        for name, cells in dialect.doubtful_cells.items()
    }
    return {name: found for name, found in words.items() if found}


def _missing_readings(
    parser: CsvParser, arguments: Mapping[str, Any], table: pd.DataFrame
) -> Iterator[ColumnReading]:
    """The words that count as missing in columns of numbers which begin with some."""
    names = [n for n in _words_for_nothing(parser.dialect) if table[n].dtype.kind in "iuf"]
    if not names:
        return
    as_text = {"usecols": names, "dtype": dict.fromkeys(names, "str"), "na_values": [""]}
    texts = parser.read_table({**arguments, **as_text})
    for name in names:
        words = texts[name][table[name].isna()].dropna().str.strip()
        counts = Counter[str](words[words != ""])
        yield ColumnReading(name, missing_text(counts, list(counts)))


def text_columns(dialect: Dialect, kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns to read as text: their first values are not all numbers, or are codes."""
    doubtful = dialect.doubtful_cells
    chosen = {n: "str" for n in dialect.names if kinds.get(n) in ("category", "date", "text")}
    return chosen | {
        name: "str"
        for name, cells in doubtful.items()
        if dialect.number_share(cells) < 1 - STRAY_SHARE
        or _is_read_otherwise(cells, dialect, kinds.get(name, ""))
    }


def _is_read_otherwise(cells: Sequence[str], dialect: Dialect, kind: str) -> bool:
    words = [cell.strip() for cell in cells if not is_missing(cell)]
    if kind != "number" and any(map(is_code, words)):
        return True
    marks = [word for word in words if "," in word or "." in word][:100]
    own = ColumnFormat("number", (), dialect.decimal, dialect.thousands)
    if not marks or (dialect.delimiter != ";" and not any("," in word for word in marks)):
        return False
    if own.decimal == "." and not all(_GROUPED.fullmatch(word) for word in marks):
        return False
    form = chosen_format(number_formats(marks), words, dialect.delimiter)
    return form is not None and any(cell_number(w, own) != cell_number(w, form) for w in marks)
