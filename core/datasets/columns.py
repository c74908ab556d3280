"""Describes the columns of a table: kind, missing and distinct values, whether to use them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import pandas as pd

from core.datasets.blocks import text_names
from core.datasets.cell_values import ColumnFormat
from core.datasets.column_format import guess_format
from core.datasets.dataset import Column, Kind, Role
from core.datasets.dates import date_format
from core.datasets.texts.words import UNDIVIDED
from core.errors import UnusableError

_ID_NAME = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|guid|index|idx|key|rowid|nr)$"
    r"|^unnamed: \d+$|^id([_\s.-]|$)|[a-z]I[dD]$"
)
_BLANKS = re.compile(r"\s+")
_PLAIN = ColumnFormat()
_TELLING = 0.01  # share of missing values from which they may mean something
ALL_DIFFER, HARDLY_TWICE = "a different value in every row", "hardly any value comes twice"
_MIN_ROWS = 10  # with fewer rows, that all values differ means nothing
_MAX_COUNTED_ROWS, _SAMPLE_ROWS, _MAX_SAMPLE_DISTINCT = 50_000, 10_000, 1000
_MAX_CATEGORY_LETTERS, _MAX_CATEGORY_WORDS = 40, 5  # on average; longer texts are running text
_FIRST, _LONGEST_SAMPLE = 200, 10_000  # texts whose lengths are averaged; letters looked at
_MAX_FREQUENT, _LONG_SAMPLE = 20, 1000  # texts that tell whether they are sentences
_LONGEST_NAME = 1000  # letters of a number, a date or a name, on average


@dataclass(frozen=True)
class ColumnCount:
    """How many values of a column are missing, how many differ, and which are the most frequent.

    `distinct` over 1,000 in 50,000 rows and more is a lower bound: that of evenly spaced rows.
    """

    missing: int
    distinct: int
    frequent: tuple[str, ...] = ()  # at most 20, of texts
    is_long: bool = False  # whether texts are sentences, on average


def check_names(choices: Mapping[str, str], names: list[str], noun: str, allowed: tuple) -> None:
    """Raise UnusableError with the nearest name for an unknown column or value in `choices`."""
    for name, value in choices.items():
        if name not in names:
            raise unknown_column(name, names, noun)
        if value not in allowed:
            fault = f"“{value}” is no {noun}"
            raise UnusableError(fault, where=f"column {name}", cure=f"use {', '.join(allowed)}")


def unknown_column(name: str, names: list[str], where: str) -> UnusableError:
    """The error for an unknown column, with the nearest name or the first eight."""
    near = difflib.get_close_matches(name, names, n=1)
    name_list = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    cure = f"did you mean “{near[0]}”" if near else f"the columns are {name_list}"
    return UnusableError(f"there is no column “{name}”", where=where, cure=cure)


def describe_columns(
    table: pd.DataFrame,
    target: str,
    roles: Mapping[str, str],
    kinds: Mapping[str, str],
    formats: Mapping[str, ColumnFormat] | None = None,
    counts: Mapping[str, ColumnCount] = {},
) -> tuple[Column, ...]:
    """Every column's role and kind, a person's choices first; unknown ones raise UnusableError."""
    names = list(table.columns)
    check_names(roles, names, "role", get_args(Role))
    check_names(kinds, names, "kind", get_args(Kind))
    columns = []
    for i, (name, (_, values)) in enumerate(zip(names, table.items(), strict=True)):
        kind, form = kinds.get(name, ""), None if formats is None else formats.get(name, _PLAIN)
        count = counts.get(name)
        column = describe_column(values, first=i == 0, kind=kind, form=form, count=count)
        columns.append(_with_choices(column, "target" if name == target else roles.get(name, "")))
    if not any(column.role == "feature" for column in columns):
        # Numbers that merely count are better than nothing to learn from.
        columns = [_use_anyway(c) if _could_serve(c, table, roles) else c for c in columns]
    return tuple(columns)


def _could_serve(column: Column, table: pd.DataFrame, roles: Mapping[str, str]) -> bool:
    is_unused_id = (column.kind, column.role) == ("identifier", "ignore")
    numeric = pd.api.types.is_numeric_dtype(table[column.name].dtype)
    return is_unused_id and numeric and column.name not in roles


def _use_anyway(column: Column) -> Column:
    note = "only counts the rows, but there is no other feature"
    return Column(column.name, "feature", "number", column.missing, column.distinct, (), note)


def _with_choices(column: Column, role: str) -> Column:
    if not role:
        return column
    note = column.note if role in ("ignore", column.role) else ""
    return replace(column, role=role, note=note)  # type: ignore[arg-type]


def describe_column(
    values: pd.Series,
    *,
    first: bool,
    kind: str = "",
    form: ColumnFormat | None = None,
    count: ColumnCount | None = None,
) -> Column:
    """One column's description.

    `first`: whether it is the leftmost column, where row numbers are usual; `kind`: a person's.
    """
    count = count or count_values(values)
    missing, distinct = count.missing, count.distinct
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if form is None:
        form = _PLAIN if numeric else guess_format(values, kind).form
    dates = form.date_format
    if distinct == 1 and not kind and _TELLING <= missing / len(values) <= 1 - _TELLING:
        kind, note = "number" if numeric else "category", ""  # a mark, or none
    elif distinct <= 1:
        kind, note = kind or "constant", _nothing_to_learn(distinct, missing)
    elif kind:
        note = ""
        dates = (dates or date_format(values)) if kind == "date" else ""
        if kind == "date" and not dates:
            fault = "the values are no dates in any usual form"
            cure = "let it be a category, or write dates like 2024-12-31"
            raise UnusableError(fault, where=f"column {values.name}", cure=cure)
    elif numeric:
        kind, note = _kind_of_numbers(values, distinct, missing, first=first)
    else:
        kind, note = _kind_of_texts(values, count, form)
    if kind == "text" and not note and not (numeric or values.str.strip().any()):
        note = "its texts are empty"
    return Column(
        name=str(values.name),
        role="ignore" if note else "feature",
        kind=kind,  # type: ignore[arg-type]
        missing=missing,
        distinct=distinct,
        categories=_frequent_of(values, count) if kind in ("category", "yes/no") else (),
        note=note,
        date_format=dates if kind == "date" else "",
        unit=form.unit,
    )


def sentence_columns(
    table: pd.DataFrame,
    formats: Mapping[str, ColumnFormat] | None = None,
    counts: Mapping[str, ColumnCount] = {},
) -> list[str]:
    """The columns of running text, that with the longest texts first."""
    running = list[str]()
    for name in text_names(table):
        form = None if formats is None else formats.get(name, _PLAIN)
        count = counts.get(name) or count_values(table[name])
        if not count.is_long:
            continue
        column = describe_column(table[name], first=False, form=form, count=count)
        running += [name] if column.kind == "text" and not column.note else []
    return sorted(running, key=lambda name: -text_length(pd.Series(table[name])))


def text_length(values: pd.Series) -> float:
    """The mean length of a column's first texts; 0 for numbers and empty columns."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return 0.0
    first = values.iloc[: 10 * _FIRST].dropna().head(_FIRST)
    if len(first) < _FIRST:
        first = values.dropna().head(_FIRST)
    return float(np.mean([len(str(text)) for text in first.tolist()])) if len(first) else 0.0


def is_running_text(values: pd.Series) -> bool:
    """Whether a column's first texts are so long that it is better not copied."""
    return text_length(values) > _LONGEST_NAME


def count_values(values: pd.Series, *, has_missing: bool = True) -> ColumnCount:
    """The counts of a column of any type; `has_missing`: whether some may be missing."""
    if is_running_text(values):
        different = {hash(text) for text in values if isinstance(text, str)}
        is_long = _are_long(_evenly_spaced(values, _LONG_SAMPLE).dropna().tolist())
        return ColumnCount(int(values.isna().sum()), len(different), is_long=is_long)
    if values.dtype.kind not in "iuf":
        return count_levels(*pd.factorize(values))
    numbers, missing = values.to_numpy(), 0
    if has_missing and numbers.dtype.kind == "f":
        missing = int(np.count_nonzero(np.isnan(numbers)))
    if len(numbers) > _MAX_COUNTED_ROWS:
        distinct = _different(numbers[:: _step(len(numbers), _SAMPLE_ROWS)])
        if distinct > _MAX_SAMPLE_DISTINCT:
            return ColumnCount(missing, distinct)
        numbers = pd.unique(numbers)
    return ColumnCount(missing, _different(numbers))


def _different(numbers: np.ndarray) -> int:
    ordered = np.sort(numbers)  # in a third of the time of hashing them, where most differ
    is_other = ordered[1:] != ordered[:-1]
    known = len(ordered) - int(np.count_nonzero(np.isnan(ordered)))
    return int(np.count_nonzero(is_other[: max(known - 1, 0)])) + (known > 0)


def count_levels(codes: np.ndarray, cells: pd.Index) -> ColumnCount:
    """The counts of a column of texts, by its `pd.factorize`."""
    distinct, spread = len(cells), codes[:: _step(len(codes), _SAMPLE_ROWS)]
    spread = spread[spread >= 0]
    order, firsts = pd.factorize(spread)  # in their order of appearance
    if len(codes) > _MAX_COUNTED_ROWS and len(firsts) > _MAX_SAMPLE_DISTINCT:
        distinct = len(firsts)
    frequent = np.argsort(-np.bincount(order), kind="stable")[:_MAX_FREQUENT]
    names = tuple(str(cells[code]) for code in firsts[frequent])
    some = codes[:: _step(len(codes), _LONG_SAMPLE)]
    few, places = np.unique(some[some >= 0], return_inverse=True)
    texts = [str(cell)[:_LONGEST_SAMPLE] for cell in cells[few].tolist()]
    is_long = _are_long([texts[place] for place in places])
    return ColumnCount(int(np.count_nonzero(codes < 0)), distinct, names, is_long)


def _step(rows: int, count: int) -> int:
    return max(1, rows // count)


def _evenly_spaced(values: pd.Series, count: int) -> pd.Series:
    return values.iloc[:: _step(len(values), count)]


def _nothing_to_learn(distinct: int, missing: int) -> str:
    if distinct == 0:
        return "every value is missing"
    return "the same value wherever there is one" if missing else "the same value in every row"


def _frequent_of(values: pd.Series, count: ColumnCount) -> tuple[str, ...]:
    if count.frequent:
        return count.frequent
    frequencies = _evenly_spaced(values, _SAMPLE_ROWS).value_counts()
    return tuple(str(value) for value in frequencies.index[:_MAX_FREQUENT])


def _kind_of_numbers(
    values: pd.Series, distinct: int, missing: int, *, first: bool
) -> tuple[str, str]:
    if distinct == 2 and (values.min(), values.max()) == (0, 1):
        return "yes/no", ""
    count = len(values) - missing
    name = str(values.name).strip()
    named = _ID_NAME.search(name) or _ID_NAME.search(name.lower())
    if count < _MIN_ROWS or not (named or first):
        return "number", ""
    head = values.iloc[:_SAMPLE_ROWS].to_numpy(dtype=float)
    if (head > np.floor(head)).any() or not _all_differ(values, distinct, count):
        return "number", ""
    present_values = values.dropna().to_numpy(dtype=float)
    if not np.array_equal(present_values, np.floor(present_values)):
        return "number", ""
    if named:
        return "identifier", "a different number in every row, by its name an identifier"
    if np.all(np.diff(present_values) == 1):
        return "identifier", "only counts the rows"
    return "number", ""


def _all_differ(values: pd.Series, distinct: int, count: int) -> bool:
    if distinct == count or len(values) <= _MAX_COUNTED_ROWS:
        return distinct == count
    # A sample with repeated values needs no full count.
    sample_size = int(_evenly_spaced(values, _SAMPLE_ROWS).notna().sum())
    return distinct >= sample_size and int(values.nunique()) == count


def _are_long(texts: Sequence[str]) -> bool:
    letters = sum(map(len, texts)) / max(1, len(texts))
    if letters > _MAX_CATEGORY_LETTERS or letters / 2 + 1 <= _MAX_CATEGORY_WORDS:
        return letters > _MAX_CATEGORY_LETTERS  # there are at most half as many words
    blanks = sum(len(_BLANKS.findall(text)) + len(UNDIVIDED.findall(text)) / 2 for text in texts)
    return blanks / len(texts) + 1 > _MAX_CATEGORY_WORDS


def _kind_of_texts(values: pd.Series, counted: ColumnCount, form: ColumnFormat) -> tuple[str, str]:
    distinct, is_long, count = counted.distinct, counted.is_long, len(values) - counted.missing
    if distinct == 2 and form.kind == "yes/no":
        return "yes/no", ""
    if form.kind == "date":
        return "date", ""
    n_examined = count  # of these `distinct` was counted
    if len(values) > _MAX_COUNTED_ROWS:
        n_examined = min(count, -(-len(values) // _step(len(values), _SAMPLE_ROWS)))
    if is_long and distinct > max(20, 0.3 * n_examined):
        return "text", ""
    if count >= _MIN_ROWS and _all_differ(values, distinct, count):
        return "identifier", ALL_DIFFER
    if distinct > 100 and distinct > 0.5 * n_examined:
        return "text", HARDLY_TWICE
    return "category", ""
