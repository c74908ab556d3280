"""Reads a CSV file by one repeatable call of pandas.read_csv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.blocks import column_blocks, number_names
from core.datasets.dataset import DataSource
from core.datasets.files import csv_faults
from core.datasets.files.csv_parsing import CsvParser
from core.datasets.files.delimiters import is_number
from core.datasets.files.sniffing import MISSING, Dialect, is_missing, sniff_dialect
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

# A column stays a column of numbers when at most this share, and this many different ones, of its
# values are no numbers; those then count as missing.
STRAY_SHARE = 0.1
STRAY_KINDS = 20


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

    Args:
        path: the file.
        compression: of `compression_of`.
        head: its first bytes, decompressed.
        complete: whether these are all.
        kinds: {column: kind} that a person or the training file decided.
        missing: texts that count as missing; in text columns, "." and "none" do not.
        required_column: a column that must exist, if any; it decides between delimiters.
    """
    dialect = sniff_dialect(head, path.name, complete=complete, required_column=required_column)
    check_header(dialect, path.name)
    arguments = _arguments(dialect, compression, missing)
    arguments["dtype"] = text_columns(dialect, kinds)
    with CsvParser(path, compression) as parser:
        table, dialect = parser.parse_file(dialect, arguments)
        arguments["encoding"] = dialect.encoding
        strays = settle_types(table, arguments, kinds, path.name)
        if strays is not None:
            del table
            table, dialect = parser.parse_file(dialect, arguments)
        digest = parser.fingerprint
    _refuse_infinity(table, path, compression, dialect)
    if not arguments["dtype"]:
        del arguments["dtype"]
    described = dialect.description + (f", {compression}" if compression else "")
    source = DataSource(str(path), "csv", arguments, {}, digest, described, compression)

    def line_of(row: int) -> int:
        return csv_faults.line_of(path, compression, dialect, row)

    return RawTable(path.name, table, source, line_of, tuple(strays or ()))


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


def check_header(dialect: Dialect, name: str) -> None:
    """Raise UnusableError if two columns have the same name."""
    for cell, times in Counter(dialect.header).items():
        if times > 1 and cell:
            positions = [
                str(i) for i, header_cell in enumerate(dialect.header, 1) if header_cell == cell
            ]
            raise UnusableError(
                f"{times} columns are called “{cell}” (columns {' and '.join(positions)})",
                where=f"{name}, line {dialect.skip + 1}",
                cure="give every column a name of its own",
            )


def _arguments(dialect: Dialect, compression: str, missing: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "sep": r"\s+" if dialect.delimiter == " " else dialect.delimiter,
        "encoding": dialect.encoding,
        "compression": compression or None,
        "na_values": list(missing),
        "keep_default_na": False,
    }
    if not dialect.header or dialect.trimmed:
        arguments["header"] = 0 if dialect.header else None
        arguments["names"] = names_of(dialect)
    if dialect.extra != "names":
        arguments["index_col"] = False
    for key, value, usual in (
        ("decimal", dialect.decimal, "."),
        ("thousands", dialect.thousands, ""),
        ("quotechar", dialect.quote, '"'),
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
    return [cell if cell else f"Unnamed: {i}" for i, cell in enumerate(dialect.header)]


def text_columns(dialect: Dialect, kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns to read as text: their first values are not all numbers."""
    shift = 1 if dialect.extra == "names" else 0
    as_text = {}
    for i, name in enumerate(names_of(dialect)):
        kind = kinds.get(name, "")
        if kind == "number":
            continue
        if kind in ("category", "date", "text") or dialect.numbers[i + shift] < 1 - STRAY_SHARE:
            as_text[name] = "str"
    return as_text


def settle_types(
    table: pd.DataFrame, arguments: dict[str, Any], kinds: Mapping[str, str], name: str
) -> list[Finding] | None:
    """Settle the types of columns that hold text below the head.

    Completes `arguments`, with which the file must be read again; None where the table can stay,
    otherwise findings on the values that then count as missing.

    Raises:
        UnusableError: a column that a person called numbers holds too many words.
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
        has_few_strays = len(odd) > 0 and few_strays(values[values.isin(texts)], len(table))
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
            findings.append(stray_finding(column, count, texts))
    if strays:
        arguments["na_values"] = {
            column: [*arguments["na_values"], *strays.get(column, ())] for column in table.columns
        }
    return findings if must_read_again else None


def few_strays(odd: pd.Series, rows: int) -> bool:
    """Whether the texts in a numeric column are few enough to count as missing."""
    return len(odd) <= STRAY_SHARE * rows and odd.nunique() <= STRAY_KINDS


def stray_finding(column: str, count: int, texts: list[str]) -> Finding:
    """The finding on texts in a numeric column, which count as missing."""
    # One pair of quotes per value, so that each can be redacted.
    examples = ", ".join(f"“{text[:30].replace('”', '’')}”" for text in texts[:3])
    several = f"{count:,} values that are no numbers count"
    values = "1 value that is no number counts" if count == 1 else several
    return Finding(f"In column “{column}”, {values} as missing ({examples}).", column)


def _refuse_infinity(table: pd.DataFrame, path: Path, compression: str, dialect: Dialect) -> None:
    blocks = column_blocks(table, number_names(table))
    suspects = [name for names, matrix in blocks if np.isinf(matrix).any() for name in names]
    for column in suspects:
        if not np.isinf(table[column].to_numpy()).any():
            continue
        position = list(table.columns).index(column) + (dialect.extra == "names")

        def is_infinite(cell: str) -> bool:
            text = cell.replace(dialect.decimal, ".")
            return is_number(text) and np.isinf(float(text))

        line, _ = csv_faults.find_cell(path, compression, dialect, position, is_infinite)
        raise UnusableError(
            "the value is infinite",
            where=f"{path.name}, line {line}, column {column}",
            cure="give a finite number, or leave the cell empty",
        )
