"""Gives the columns of a table their meaning: one pass behind the readers of all formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_number, cell_text, read_cells
from core.datasets.column_format import GuessedFormat, guess_format, has_code_width
from core.datasets.columns import check_names
from core.datasets.dataset import Column, DataSource
from core.datasets.finding import Finding
from core.datasets.raw_table import READINGS, RawTable
from core.datasets.stray_texts import are_few, stray_finding, stray_texts
from core.errors import UnusableError

PLAIN = ColumnFormat()
_KIND_OF_READING = {
    **dict.fromkeys(("number", "comma", "point"), "number"),
    **dict.fromkeys(("day first", "month first"), "date"),
}


@dataclass(frozen=True)
class FormatOptions:
    """What decides how columns are read, beside their cells."""

    kinds: Mapping[str, str] = field(default_factory=dict)  # {column: kind}, of a person
    readings: Mapping[str, str] = field(default_factory=dict)  # {column: one of READINGS}
    formats: Mapping[str, ColumnFormat] | None = None  # of the training rows; None for those
    target: str = ""


def with_formats(raw: RawTable, options: FormatOptions) -> RawTable:
    """The table with every column in its canonical form, and what a person should know of it.

    Raises UnusableError for a column of numbers with too many words, or a wrong reading.
    """
    check_names(options.readings, [*map(str, raw.table.columns)], "reading", READINGS)
    _refuse_contradictions(options)
    columns, formats = dict[str, pd.Series](), dict[str, ColumnFormat]()
    findings, readings = list(raw.findings), list(raw.readings)
    for name in map(str, raw.table.columns):
        values = raw.table[name]
        findings += _infinity_findings(values, raw.line_of)
        if options.formats is None:
            guess = _guessed(values, options, raw)
        else:
            guess = GuessedFormat(options.formats.get(name, _default_format(values, raw.source)))
        cells, strays = _cells_and_strays(values, guess.form)
        if not are_few(strays, len(values)) and options.formats is None:
            guess = guess_format(values, "category")
            cells, strays = _cells_and_strays(values, guess.form)
        elif not are_few(strays, len(values)):
            cells, strays = values, strays[:0]  # another kind of column than that of training
        if len(strays):
            findings.append(stray_finding(name, strays))
        if guess.sentence:
            readings.append(guess.reading_of(name))
        if "number" in _wishes(name, options) and guess.form.kind != "number":
            raise _no_numbers(name, raw.name, values)
        form = replace(guess.form, rewrites=_is_rewritten(values, cells))
        if form != PLAIN and (form.kind != "number" or form.rewrites):
            formats[name] = form
        columns[name] = cells
    source = replace(raw.source, formats=formats)
    table = pd.DataFrame(columns, index=raw.table.index)
    raw = replace(raw, findings=tuple(findings), readings=tuple(readings))
    return replace(raw, table=table, source=source)


def _refuse_contradictions(options: FormatOptions) -> None:
    for name, reading in options.readings.items():
        kind, meant = options.kinds.get(name, ""), _KIND_OF_READING.get(reading, "")
        is_text = reading == "text" and kind in ("number", "date")
        if is_text or (kind and meant and kind != meant):
            fault = f"its kind is {kind}, but it is to be read as “{reading}”"
            cure = "leave out the one or the other"
            raise UnusableError(fault, where=f"column {name}", cure=cure)


def _cells_and_strays(values: pd.Series, form: ColumnFormat) -> tuple[pd.Series, pd.Series]:
    cells = read_cells(values, form)
    if form.kind != "number" or values.dtype.kind in "iuf":
        return cells, values[:0]
    return cells, stray_texts(values, cells, form)


def _wishes(name: str, options: FormatOptions) -> tuple[str, str]:
    return options.kinds.get(name, ""), options.readings.get(name, "")


def formats_of(columns: Sequence[Column], source: DataSource) -> dict[str, ColumnFormat]:
    """The format of every column of a file that was read before."""
    texts, number = source.read_csv.get("dtype", {}), number_format(source.read_csv)
    formats = {}
    for column in columns:
        form = PLAIN if column.name in texts else number
        if column.kind == "date":
            form = ColumnFormat("date", date_format=column.date_format)
        formats[column.name] = form
    return formats | dict(source.formats or {})


def number_format(arguments: Mapping[str, Any]) -> ColumnFormat:
    """The format of numbers that pandas reads with these arguments."""
    decimal, thousands = arguments.get("decimal", "."), arguments.get("thousands", "")
    return ColumnFormat("number", (), decimal, thousands)


def _default_format(values: pd.Series, source: DataSource) -> ColumnFormat:
    return number_format(source.read_csv) if values.dtype.kind in "iuf" else PLAIN


def _guessed(values: pd.Series, options: FormatOptions, raw: RawTable) -> GuessedFormat:
    name = str(values.name)
    kind, reading = _wishes(name, options)
    if values.dtype.kind in "iuf":
        if kind or reading or name == options.target or not has_code_width(values):
            return GuessedFormat(number_format(raw.source.read_csv))
        code = str(values.iloc[0])
        sentence = f"“{code}” is a code: every value has {len(code)} digits"
        return GuessedFormat(PLAIN, sentence, "number", "as a number")
    delimiter = str(raw.source.read_csv.get("sep", ","))
    typed = raw.source.format in ("parquet", "feather", "arff")  # these say what is text
    return guess_format(values, kind, reading, delimiter=delimiter, typed=typed)


def _is_rewritten(values: pd.Series, cells: pd.Series) -> bool:
    if cells is values:
        return False
    if cells.dtype.kind == "f" or values.dtype.kind in "iuf":
        return True
    before = values.where(values.notna(), "").astype(str)
    return bool((before != cells.where(cells.notna(), "").astype(str)).any())


def _infinity_findings(values: pd.Series, line_of: Callable[[int], int]) -> Iterator[Finding]:
    if values.dtype.kind != "f" or not (is_infinite := np.isinf(values.to_numpy())).any():
        return
    count, line = int(is_infinite.sum()), line_of(int(is_infinite.argmax()))
    verb = "value is infinite and counts" if count == 1 else "values are infinite and count"
    sentence = f"In column “{values.name}”, {count:,} {verb} as missing (line {line:,})."
    yield Finding(sentence, str(values.name), serious=True)


def _no_numbers(column: str, name: str, values: pd.Series) -> UnusableError:
    texts = [str(value) for value in values.dropna()]
    words = [text for text in texts if math.isnan(cell_number(cell_text(text), PLAIN))] or texts
    fault = f"“{words[0][:60]}” is no number, and {len(words):,} values are like it"
    cure = "let the column be a category"
    return UnusableError(fault, where=f"{name}, column {column}", cure=cure)
