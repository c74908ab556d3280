"""A table as it was read, what a person chose, and its columns in their canonical form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, isnan
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.arrow_texts import PlainTexts, plain_texts
from core.datasets.cell_values import (
    ColumnFormat,
    TextLevels,
    cell_number,
    cell_text,
    read_cells,
    text_levels,
)
from core.datasets.column_format import (
    NOTHING,
    STRAY_KINDS,
    STRAY_SHARE,
    GuessedFormat,
    guess_format,
    guess_of_numbers,
)
from core.datasets.columns import (
    ColumnCount,
    check_names,
    count_levels,
    count_values,
    is_running_text,
    sentence_columns,
    text_length,
)
from core.datasets.dataset import DataSource
from core.datasets.dataset_summary import Column
from core.datasets.finding import ColumnReading, Finding
from core.errors import UnusableError


@dataclass(frozen=True)
class RawTable:
    """A table as read, with findings on its cells; `line_of` maps a row (from 0) to its line."""

    name: str
    table: pd.DataFrame
    source: DataSource
    line_of: Callable[[int], int]
    findings: tuple[Finding, ...] = ()
    readings: tuple[ColumnReading, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)  # of columns, told beside the cells
    counts: Mapping[str, ColumnCount] = field(default_factory=dict)  # of some columns
    codes: Mapping[str, np.ndarray] = field(default_factory=dict)  # of texts' rows, of some columns

    @cached_property
    def sentence_columns(self) -> list[str]:
        return sentence_columns(self.table, self.source.formats, self.counts)


# A kind of column: numbers as a sheet stores them, whatever unit it shows.
STORED = "stored"
# How a person has the cells of a column read: words for nothing, the decimal sign, the day.
READINGS = (
    *("missing", "values", "number", "text", "comma", "point", "day first", "month first"),
    "any case",
)


@dataclass(frozen=True)
class DataOptions:
    """What a person decided about the data; everything else is detected."""

    target: str = ""  # of topics, the column of texts
    task: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)  # {column: role}
    kinds: Mapping[str, str] = field(default_factory=dict)  # {column: kind}
    readings: Mapping[str, str] = field(default_factory=dict)  # {column: one of READINGS}
    together: bool = True  # equal items and families of molecules are not split
    latest: str = ""  # the column by which the latest rows test; "" for random test rows
    leaks: bool = False  # use columns that leak the target, but for mere copies
    other_letters: bool = False  # read letters that are no bases as N


NO_CHOICES = DataOptions()


PLAIN = ColumnFormat()
_PART_LETTERS = 2**24  # of running text that are read at once
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
    """The table with every column in its canonical form, and what a person should know of it."""
    check_names(options.readings, [*map(str, raw.table.columns)], "reading", READINGS)
    _refuse_contradictions(options)
    columns, formats = dict[str, pd.Series](), dict[str, ColumnFormat]()
    counts, codes = dict[str, ColumnCount](), dict[str, np.ndarray]()
    findings, readings = list(raw.findings), list(raw.readings)
    plain_numbers = number_format(raw.source.read_csv)
    for name, values in ((str(name), values) for name, values in raw.table.items()):
        columns[name] = values
        is_number = values.dtype.kind in "iuf"
        if not (are_finite := _are_finite(values)):
            findings += _infinity_findings(values, raw.line_of)
        levels = None
        if (plain := _plain_guess(values, options, raw)) is not None:
            guess, texts = plain
            counts[name], cells, strays = texts.count, values, values[:0]
            if texts.codes is not None:
                codes[name] = texts.codes
        else:
            if not is_number and not is_running_text(values):
                levels = text_levels(values)
            if options.formats is None:
                guess = _guessed(values, options, raw, plain_numbers, levels)
            else:
                form = options.formats.get(name, plain_numbers if is_number else PLAIN)
                guess = GuessedFormat(form)
            # The usual column of numbers, by far the most frequent: nothing is copied.
            if are_finite and guess.form is plain_numbers and name not in raw.units:
                counts[name] = count_values(values, has_missing=False)
                continue
            cells, strays = _cells_and_strays(values, guess.form, levels)
        # Too many words for a column of numbers: it is one of words.
        if not are_few(strays, len(values)) and options.formats is None:
            guess = guess_format(values, "category", levels=levels)
            cells, strays = _cells_and_strays(values, guess.form, levels)
        elif not are_few(strays, len(values)):
            cells, strays = values, strays[:0]  # another kind of column than that of training
        # The few that remain are missing values, which a person should know of.
        if len(strays):
            findings.append(stray_finding(name, strays))
        if guess.sentence:
            readings.append(guess.reading_of(name))
        if "number" in _wishes(name, options) and guess.form.kind != "number":
            raise _no_numbers(name, raw.name, values)
        # Whoever reads the file again needs a format only where reading it plainly gives other
        # cells.
        form = replace(guess.form, rewrites=_is_rewritten(values, cells))
        if form.kind == "number" and not form.unit:
            form = replace(form, unit=raw.units.get(name, ""))
        if form != PLAIN and (form.kind != "number" or form.rewrites or form.unit):
            formats[name] = form
        columns[name] = cells
        if cells is values and levels is not None:
            counts[name] = count_levels(levels)
    source = replace(raw.source, formats=formats)
    is_wide = len(columns) > len(raw.table)  # columns one by one are slow to take rows of
    table = pd.DataFrame(columns, index=raw.table.index, copy=is_wide)
    raw = replace(raw, table=table, source=source, counts=counts, codes=codes)
    return replace(raw, findings=tuple(findings), readings=tuple(readings))


def _refuse_contradictions(options: FormatOptions) -> None:
    # A kind says what a column is, a reading how its cells are written; not every pair makes sense.
    for name, reading in options.readings.items():
        kind, meant = options.kinds.get(name, ""), _KIND_OF_READING.get(reading, "")
        is_text = reading == "text" and kind in ("number", "date")
        if is_text or (kind and meant and kind != meant):
            fault = f"its kind is {kind}, but it is to be read as “{reading}”"
            cure = "leave out the one or the other"
            raise UnusableError(fault, where=f"column {name}", cure=cure)


def _are_finite(values: pd.Series) -> bool:
    """Whether there is surely no infinity and nothing missing in a column of numbers."""
    if values.dtype.kind != "f":
        return values.dtype.kind in "iu"
    with np.errstate(invalid="ignore", over="ignore"):
        return isfinite(np.add.reduce(values.to_numpy()))  # nothing is stored


def _cells_and_strays(
    values: pd.Series, form: ColumnFormat, levels: TextLevels | None
) -> tuple[pd.Series, pd.Series]:
    if levels is None and values.dtype.kind not in "iuf":
        cells = _running_text(values, form)
    else:
        cells = read_cells(values, form, levels)
    if form.kind != "number" or values.dtype.kind in "iuf":
        return cells, values[:0]
    return cells, stray_texts(values, cells, form)


def _running_text(values: pd.Series, form: ColumnFormat) -> pd.Series:
    size = max(1, int(_PART_LETTERS / text_length(values)))
    parts = [values.iloc[first : first + size] for first in range(0, len(values), size)]
    cells = [read_cells(part, form) for part in parts]
    if all(part is cell for part, cell in zip(parts, cells, strict=True)):
        return values
    return pd.concat(cells)


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


def kinds_like(formats: Mapping[str, ColumnFormat]) -> dict[str, str]:
    """The kinds with which another file's columns are read before these formats are applied."""
    # A unit may stand beside some cells alone, so numbers with one are read from texts, too.
    kinds = {n: "category" if form.needs_text else STORED for n, form in formats.items()}
    return {name: kind for name, kind in kinds.items() if not formats[name].unit or kind != STORED}


def number_format(arguments: Mapping[str, Any]) -> ColumnFormat:
    """The format of numbers that pandas reads with these arguments."""
    decimal, thousands = arguments.get("decimal", "."), arguments.get("thousands", "")
    return ColumnFormat("number", (), decimal, thousands)


def _guessed(
    values: pd.Series,
    options: FormatOptions,
    raw: RawTable,
    plain_numbers: ColumnFormat,
    levels: TextLevels | None,
) -> GuessedFormat:
    name = str(values.name)
    kind, reading = _wishes(name, options)
    if values.dtype.kind in "iuf":
        # Looking for codes and days among numbers takes long, and hardly any column holds them:
        # these are whole and of several digits.
        first = values.to_numpy()[:100]
        is_amount = name == options.target or ((first < 100) | (np.floor(first) < first)).any()
        guess = None if is_amount else guess_of_numbers(values, kind, reading)
        return guess or GuessedFormat(plain_numbers)
    if not (kind or reading) and levels is None:
        return GuessedFormat(PLAIN)  # running text
    delimiter = str(raw.source.read_csv.get("sep", ","))
    typed = raw.source.format in ("parquet", "feather", "arff")  # these say what is text
    return guess_format(values, kind, reading, delimiter=delimiter, typed=typed, levels=levels)


def _plain_guess(
    values: pd.Series, options: FormatOptions, raw: RawTable
) -> tuple[GuessedFormat, PlainTexts] | None:
    """The format of texts that are read as they are written, told by some of them; else None."""
    if options.formats is not None or any(_wishes(str(values.name), options)):
        return None
    if (texts := plain_texts(values)) is None:
        return None
    if texts.are_iso_dates():
        return GuessedFormat(ColumnFormat("date", date_format="ISO8601")), texts
    levels = TextLevels(np.repeat(np.arange(len(texts.words)), texts.frequencies), texts.words)
    guess = _guessed(values, options, raw, PLAIN, levels)
    if guess.sentence or guess.form.missing or guess.form.kind not in ("category", "yes/no"):
        return None
    return guess, texts


def _is_rewritten(values: pd.Series, cells: pd.Series) -> bool:
    if cells is values:
        return False
    if cells.dtype.kind == "f" or values.dtype.kind in "iuf":
        return True
    # Missing cells are compared as empty ones, which is how they are written.
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
    words = [text for text in texts if isnan(cell_number(cell_text(text), PLAIN))] or texts
    fault = f"“{words[0][:60]}” is no number, and {len(words):,} values are like it"
    cure = "let the column be a category"
    return UnusableError(fault, where=f"{name}, column {column}", cure=cure)


def stray_texts(values: pd.Series, cells: pd.Series, form: ColumnFormat) -> pd.Series:
    """The texts in a column of numbers that are none and stand for nothing either."""
    texts = values[cells.isna() & values.notna()].map(cell_text)
    return texts[~texts.isin({"", *NOTHING, *form.missing})]


def are_few(strays: pd.Series, rows: int) -> bool:
    """Whether the texts in a numeric column are few enough to count as missing."""
    return not len(strays) or (
        len(strays) <= STRAY_SHARE * rows and strays.nunique() <= STRAY_KINDS
    )


def stray_finding(column: str, strays: pd.Series) -> Finding:
    """The finding on texts in a numeric column, which count as missing."""
    # One pair of quotes per value, so that each can be redacted.
    examples = ", ".join(f"“{text[:30].replace('”', '’')}”" for text in strays.unique()[:3])
    several = f"{len(strays):,} values that are no numbers count"
    values = "1 value that is no number counts" if len(strays) == 1 else several
    return Finding(f"In column “{column}”, {values} as missing ({examples}).", column)
