"""Reads a CSV file by one repeatable call of pandas.read_csv."""

from __future__ import annotations

import csv
import re
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
    number_formats,
    quoted_words,
)
from core.datasets.dataset import DataSource
from core.datasets.files import csv_faults
from core.datasets.files.column_names import unique_names
from core.datasets.files.csv_parsing import CsvParser
from core.datasets.files.delimiters import is_number
from core.datasets.files.quotes import BACKSLASH, DOUBLED, ESCAPED, OUTER, UNQUOTED
from core.datasets.files.sniffing import Dialect, is_missing, sniff_dialect, whole_file_choices
from core.datasets.finding import ColumnReading, Finding
from core.datasets.raw_table import RawTable
from core.datasets.stray_texts import are_few, stray_finding
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
        strays = settle_types(table, arguments, kinds, path.name)
        if strays is not None:
            del table
            table, dialect = parser.parse_file(dialect, arguments)
        digest = parser.fingerprint
        findings = [*findings, *parser.findings]
    if not arguments["dtype"]:
        del arguments["dtype"]
    described = dialect.description + (f", {compression}" if compression else "")
    source = DataSource(str(path), "csv", arguments, {}, digest, described, compression)
    if dialect.reading == OUTER:
        source = replace(source, quotes=asdict(dialect.quotes))

    def line_of(row: int) -> int:
        return csv_faults.line_of(path, compression, dialect, row)

    findings = [*findings, *(strays or ())]
    readings = tuple(_missing_readings(dialect, table))
    return RawTable(path.name, table, source, line_of, tuple(findings), readings)


def first_cells(
    head: bytes, name: str, *, complete: bool, required_column: str = ""
) -> dict[str, list[str]]:
    """Every column's first values as text, from the first bytes of the file."""
    dialect = sniff_dialect(head, name, complete=complete, required_column=required_column)
    shift = 1 if dialect.extra == "names" else 0
    return {
        column: [row[i + shift] for row in dialect.rows if i + shift < len(row)]
        for i, column in enumerate(names_of(dialect))
    }


def _arguments(dialect: Dialect, compression: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "sep": r"\s+" if dialect.delimiter == " " else dialect.delimiter,
        "encoding": dialect.encoding,
        "compression": compression or None,
        "na_values": [""],
        "keep_default_na": False,
    }
    if not dialect.header or dialect.trimmed or names_of(dialect) != list(dialect.header):
        arguments["header"] = 0 if dialect.header else None
        arguments["names"] = names_of(dialect)
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


def names_of(dialect: Dialect) -> list[str]:
    """The columns' names, made up where there is no header."""
    if not dialect.header:
        return [f"column {i + 1}" for i in range(dialect.width)]
    return unique_names(dialect.header, "")[0]


def _missing_words(
    dialect: Dialect, text: Collection[str], missing: Sequence[str]
) -> list[str] | dict[str, list[str]]:
    """What pandas takes for missing: "", and words in columns of numbers that have some."""
    shift = 1 if dialect.extra == "names" else 0
    names = names_of(dialect)
    worded = {
        name
        for i, name in enumerate(names, shift)
        if name not in text
        and any(i < len(row) and row[i].strip() and is_missing(row[i]) for row in dialect.rows)
    }
    if not worded or len(missing) == 1:
        return [""]
    return {name: list(missing) if name in worded else [""] for name in names}


def _missing_readings(dialect: Dialect, table: pd.DataFrame) -> Iterator[ColumnReading]:
    """The words among the first values of columns of numbers that count as missing."""
    shift = 1 if dialect.extra == "names" else 0
    for i, name in enumerate(names_of(dialect), shift):
        cells = (row[i].strip() for row in dialect.rows if i < len(row))
        words = dict.fromkeys(cell for cell in cells if cell and is_missing(cell))
        if words and table[name].dtype.kind in "iuf":
            yield ColumnReading(name, f"{quoted_words(list(words))} counts as missing")


def text_columns(dialect: Dialect, kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns to read as text: their first values are not all numbers, or are codes."""
    shift = 1 if dialect.extra == "names" else 0
    as_text = {}
    for i, name in enumerate(names_of(dialect), shift):
        kind = kinds.get(name, "")
        if (
            kind in ("category", "date", "text")
            or dialect.numbers[i] < 1 - STRAY_SHARE
            or _is_read_otherwise([row[i] for row in dialect.rows if i < len(row)], dialect, kind)
        ):
            as_text[name] = "str"
    return as_text


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


def settle_types(
    table: pd.DataFrame, arguments: dict[str, Any], kinds: Mapping[str, str], name: str
) -> list[Finding] | None:
    """Complete `arguments` by columns with text below the head; findings if it must be read again.

    Raises UnusableError for a column that a person called numbers and that holds too many words.
    """
    findings = []
    must_read_again = False
    strays: dict[str, list[str]] = {}
    for column, dtype in zip(map(str, table.columns), table.dtypes, strict=True):
        if column in arguments["dtype"] or dtype.kind in "biufc":
            if dtype.kind == "b":
                arguments["dtype"][column] = "str"
                must_read_again = True
            continue
        must_read_again = True
        values = table[column].dropna()
        values = values[values.map(lambda value: isinstance(value, str))]
        decimal, thousands = arguments.get("decimal", "."), arguments.get("thousands", "")
        odd = [text for text in values.unique() if not is_number(text, decimal, thousands)]
        # pandas reads " NA " with blanks around it as text.
        texts = [text for text in odd if not is_missing(text)]
        count = int(values.isin(texts).sum())
        has_few_strays = len(odd) > 0 and are_few(values[values.isin(texts)], len(table))
        if kinds.get(column) == "number" and not has_few_strays:
            raise UnusableError(
                f"“{texts[0] if texts else values.iloc[0]}” is no number, and"
                f" {count:,} values are like it",
                where=f"{name}, column {column}",
                cure="let the column be a category",
            )
        if not has_few_strays:
            arguments["dtype"][column] = "str"
            continue
        strays[column] = odd
        if texts:
            findings.append(stray_finding(column, values[values.isin(texts)]))
    if strays:
        words = arguments["na_values"]
        by_column = words if isinstance(words, dict) else dict.fromkeys(table.columns, words)
        names = table.columns
        arguments["na_values"] = {c: [*by_column[c], *strays.get(c, ())] for c in names}
    return findings if must_read_again else None
