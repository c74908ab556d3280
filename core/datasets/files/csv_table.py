"""Reads a CSV file by one repeatable call of pandas.read_csv."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
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
from core.datasets.files import csv_faults
from core.datasets.files.column_names import unique_names
from core.datasets.files.csv_parsing import CsvParser
from core.datasets.files.delimiters import is_number
from core.datasets.files.quotes import BACKSLASH, DOUBLED, ESCAPED, OUTER, UNQUOTED
from core.datasets.files.sniffing import Dialect, is_missing, sniff_dialect, whole_file_choices
from core.datasets.finding import ColumnReading
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")


def read_csv_table(
    path: Path,
    compression: str,
    head: bytes,
    *,
    complete: bool,
    kinds: Mapping[str, str],
    missing: Sequence[str] = MISSING,
    required_column: str = "",
) -> RawTable:
    """The table of a delimited text file; raises UnusableError with line and column.

    Where rows below the `head` (all of the file if `complete`) do not fit, other readings of quotes
    are tried. A `required_column` decides between delimiters.
    """
    sniffed = partial(sniff_dialect, head, path.name, complete, required_column)
    dialect = sniffed()
    try:
        return _table_as(dialect, path, compression, kinds, missing)
    except UnusableError:
        choices = whole_file_choices(head)
        other = csv_faults.fitting_dialect(path, compression, choices, sniffed)
        if other is None and dialect.reading != DOUBLED:  # what fails first is easiest to mend
            csv_faults.check_rows(path, compression, replace(dialect, reading=DOUBLED))
        if other is None or (other.quote, other.reading) == (dialect.quote, dialect.reading):
            raise
    return _table_as(other, path, compression, kinds, missing)


def dialect_of(
    path: Path, compression: str, head: bytes, complete: bool, required_column: str = ""
) -> Dialect:
    """The dialect under which the quotes fit in all of a file, if there is one; else its head's."""
    sniffed = partial(sniff_dialect, head, path.name, complete, required_column)
    dialect = sniffed()
    if complete or csv_faults.has_fitting_quotes(path, compression, dialect):
        return dialect
    choices = whole_file_choices(head)
    return csv_faults.fitting_dialect(path, compression, choices, sniffed) or dialect


def _table_as(
    dialect: Dialect, path: Path, compression: str, kinds: Mapping[str, str], missing: Sequence[str]
) -> RawTable:
    findings = unique_names(dialect.header, path.name)[1]
    arguments = _arguments(dialect, compression)
    arguments["dtype"] = text_columns(dialect, kinds)
    arguments["na_values"] = _missing_words(dialect, arguments["dtype"], missing)
    with CsvParser(path, compression) as parser:
        table, dialect = parser.parse_file(dialect, arguments)
        arguments["encoding"] = dialect.encoding
        if late := _late_words(table, dialect, arguments["dtype"]):
            worded = [name for name, words in late.items() if words and words <= set(missing)]
            arguments["dtype"] |= {name: "str" for name in late if name not in worded}
            arguments["na_values"] = _missing_words(dialect, arguments["dtype"], missing, worded)
            del table
            table, dialect = parser.parse_file(dialect, arguments)
        digest = parser.fingerprint
        findings = [*findings, *parser.findings]
        readings = tuple(_missing_readings(parser, dialect, arguments, table))
    if not arguments["dtype"]:
        del arguments["dtype"]
    described = dialect.description + (f", {compression}" if compression else "")
    source = DataSource(str(path), "csv", arguments, {}, digest, described, compression)
    if dialect.reading == OUTER:
        source = replace(source, quotes=asdict(dialect.quotes))

    def line_of(row: int) -> int:
        return csv_faults.line_of(path, compression, dialect, row)

    shift = dialect.extra == "names"
    units = {n: u for n, u in zip(dialect.names, dialect.units[shift:], strict=False) if u}
    return RawTable(path.name, table, source, line_of, tuple(findings), readings, units)


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
        name: list(dict.fromkeys(c for cell in cells if (c := cell.strip()) and is_missing(c)))
        for name, cells in dialect.doubtful_cells.items()
    }
    return {name: found for name, found in words.items() if found}


def _missing_readings(
    parser: CsvParser, dialect: Dialect, arguments: Mapping[str, Any], table: pd.DataFrame
) -> Iterator[ColumnReading]:
    """The words that count as missing in columns of numbers which begin with some."""
    names = [n for n in _words_for_nothing(dialect) if table[n].dtype.kind in "iuf"]
    if not names:
        return
    as_text = {"usecols": names, "dtype": dict.fromkeys(names, "str"), "na_values": [""]}
    texts = parser.parse_file(dialect, {**arguments, **as_text})[0]
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
