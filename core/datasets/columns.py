"""Describes the columns of a table: kind, missing and distinct values, whether to use them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, TextLevels, moments, text_levels
from core.datasets.column_format import date_format, guess_format, seconds_since_1970
from core.datasets.dataset_summary import Column, Distribution, DistributionKind, Kind, Role
from core.datasets.texts.words import UNDIVIDED
from core.errors import UnusableError
from core.wording import shortened_text

_BLOCK_CELLS, _MIN_BLOCK_COLUMNS = 2_000_000, 16  # with fewer, columns come one by one


def number_names(table: pd.DataFrame) -> list[str]:
    """The columns of floats and integers, in table order."""
    return [str(name) for name, dtype in table.dtypes.items() if dtype.kind in "iuf"]


def column_blocks(
    table: pd.DataFrame, names: Sequence[str], rows: np.ndarray | None = None
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Blocks of numeric columns (names, a row per column); `rows` are positions, None for all."""
    count = len(table) if rows is None else len(rows)
    # Columns of a frame lie apart in memory; a block of them is transposed while the cache holds
    # it.
    size = _BLOCK_CELLS // max(1, count)
    if size < _MIN_BLOCK_COLUMNS and rows is None:  # long columns are not copied
        for name in names:
            yield [name], table[name].to_numpy(dtype=float)[None]
        return
    size = max(1, size)
    for first in range(0, len(names), size):
        block_names = list(names[first : first + size])
        block_table = table[block_names] if rows is None else table[block_names].iloc[rows]
        yield block_names, np.ascontiguousarray(block_table.to_numpy(dtype=float).T)


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
MAX_FREQUENT, LONG_SAMPLE = 20, 1000  # texts that tell whether they are sentences
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
    """Refuse an unknown column or value in `choices`, with the nearest name."""
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
    """Every column's role and kind, a person's choices first."""
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
        columns = [c if c.name in roles else _used_anyway(c, table) for c in columns]
    return tuple(columns)


def _used_anyway(column: Column, table: pd.DataFrame) -> Column:
    numeric = pd.api.types.is_numeric_dtype(table[column.name].dtype)
    if not numeric or (column.kind, column.role) != ("identifier", "ignore"):
        return column
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
    # One value beside gaps is a mark (a cross, an x), and where it is missing tells as much.
    if distinct == 1 and not kind and _TELLING <= missing / len(values) <= 1 - _TELLING:
        kind, note = "number" if numeric else "category", ""  # a mark, or none
    elif distinct <= 1:
        where = "wherever there is one" if missing else "in every row"
        note = f"the same value {where}" if distinct else "every value is missing"
        kind = kind or "constant"
    # What a person says is used, whatever the values look like.
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
    # Blanks alone are no words, and a step that counts words would fail on them.
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
    for name in (str(name) for name, dtype in table.dtypes.items() if dtype.kind not in "biufc"):
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
    # Most columns begin with values, and dropping what is missing in all of one takes long.
    first = values.array[:_FIRST]
    if first.isna().any():
        first = values.dropna().array[:_FIRST]
    return sum(len(str(text)) for text in first.tolist()) / len(first) if len(first) else 0.0


def is_running_text(values: pd.Series) -> bool:
    """Whether a column's first texts are so long that it is better not copied."""
    return text_length(values) > _LONGEST_NAME


def count_values(values: pd.Series, *, has_missing: bool = True) -> ColumnCount:
    """The counts of a column of any type; `has_missing`: whether some may be missing."""
    if is_running_text(values):
        # Factorizing would keep every long text once more.
        different = {hash(text) for text in values if isinstance(text, str)}
        is_long = are_long(_evenly_spaced(values, LONG_SAMPLE).dropna().tolist())
        return ColumnCount(int(values.isna().sum()), len(different), is_long=is_long)
    if values.dtype.kind not in "iuf":
        return count_levels(text_levels(values))
    # Of many rows a sample says whether the values are few; only then are all of them counted.
    numbers, missing = values.to_numpy(), 0
    if has_missing and numbers.dtype.kind == "f":
        missing = int(np.count_nonzero(np.isnan(numbers)))
    if len(numbers) > _MAX_COUNTED_ROWS:
        distinct = _different(numbers[:: spread_step(len(numbers))])
        if distinct > _MAX_SAMPLE_DISTINCT:
            return ColumnCount(missing, distinct)
        numbers = pd.unique(numbers)
    return ColumnCount(missing, _different(numbers))


def _different(numbers: np.ndarray) -> int:
    ordered = np.sort(numbers)  # in a third of the time of hashing them, where most differ
    is_other = ordered[1:] != ordered[:-1]
    known = len(ordered) - int(np.count_nonzero(np.isnan(ordered)))
    return int(np.count_nonzero(is_other[: max(known - 1, 0)])) + (known > 0)


def count_levels(levels: TextLevels) -> ColumnCount:
    """The counts of a column of texts."""
    codes, cells = levels.codes, levels.cells
    distinct, spread = len(cells), codes[:: spread_step(len(codes))]
    spread = spread[spread >= 0]
    order, firsts = pd.factorize(spread)  # in their order of appearance
    if has_many_levels(len(codes), len(firsts)):
        distinct = len(firsts)
    frequent = np.argsort(-np.bincount(order), kind="stable")[:MAX_FREQUENT]
    some = codes[:: spread_step(len(codes), LONG_SAMPLE)].tolist()
    names = tuple(str(cells[code]) for code in firsts[frequent])
    is_long = are_long([str(cells[code]) for code in some if code >= 0])
    return ColumnCount(int(np.count_nonzero(codes < 0)), distinct, names, is_long)


def has_many_levels(rows: int, distinct: int) -> bool:
    """Whether so many levels in evenly spaced rows of a column are enough to know."""
    return rows > _MAX_COUNTED_ROWS and distinct > _MAX_SAMPLE_DISTINCT


def counted_rows(rows: int) -> int:
    """In how many of a column's rows more than 1,000 levels are counted."""
    return rows if rows <= _MAX_COUNTED_ROWS else -(-rows // spread_step(rows))


def spread_step(rows: int, count: int = _SAMPLE_ROWS) -> int:
    """The distance of `count` or more evenly spaced rows; levels are counted in them first."""
    return max(1, rows // count)


def _evenly_spaced(values: pd.Series, count: int) -> pd.Series:
    return values.iloc[:: spread_step(len(values), count)]


def _frequent_of(values: pd.Series, count: ColumnCount) -> tuple[str, ...]:
    if count.frequent:
        return count.frequent
    frequencies = _evenly_spaced(values, _SAMPLE_ROWS).value_counts()
    return tuple(str(value) for value in frequencies.index[:MAX_FREQUENT])


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
    # Cheap looks come first: a fraction among the first rows rules an identifier out.
    head = values.iloc[:_SAMPLE_ROWS].to_numpy(dtype=float)
    if (head > np.floor(head)).any() or not _all_differ(values, distinct, count):
        return "number", ""
    present_values = values.dropna().to_numpy(dtype=float)
    if not np.array_equal(present_values, np.floor(present_values)):
        return "number", ""
    if named:
        return "identifier", "a different number in every row, by its name an identifier"
    # Without a telling name only a gapless count is taken for one.
    if np.all(np.diff(present_values) == 1):
        return "identifier", "only counts the rows"
    return "number", ""


def _all_differ(values: pd.Series, distinct: int, count: int) -> bool:
    is_exact = distinct <= _MAX_SAMPLE_DISTINCT or len(values) <= _MAX_COUNTED_ROWS
    if distinct == count or is_exact:
        return distinct == count
    # A sample with repeated values needs no full count.
    sample_size = counted_rows(len(values))
    if count < len(values):
        sample_size = int(_evenly_spaced(values, _SAMPLE_ROWS).notna().sum())
    return distinct >= sample_size and int(values.nunique()) == count


def are_long(texts: Sequence[str]) -> bool:
    """Whether texts are sentences, on average."""
    texts = [text[:_LONGEST_SAMPLE] for text in texts]
    letters = sum(map(len, texts)) / max(1, len(texts))
    if letters > _MAX_CATEGORY_LETTERS or letters / 2 + 1 <= _MAX_CATEGORY_WORDS:
        return letters > _MAX_CATEGORY_LETTERS  # there are at most half as many words
    running_text = "\0".join(texts)
    if running_text.isascii():  # counting is some twenty times as fast as a search
        blanks = len(running_text.split()) - 1.0
    else:
        blanks = len(_BLANKS.findall(running_text)) + len(UNDIVIDED.findall(running_text)) / 2
    return blanks / len(texts) + 1 > _MAX_CATEGORY_WORDS


def _kind_of_texts(values: pd.Series, counted: ColumnCount, form: ColumnFormat) -> tuple[str, str]:
    distinct, is_long, count = counted.distinct, counted.is_long, len(values) - counted.missing
    if distinct == 2 and form.kind == "yes/no":
        return "yes/no", ""
    if form.kind == "date":
        return "date", ""
    n_examined = min(count, counted_rows(len(values)))
    if is_long and distinct > max(20, 0.3 * n_examined):
        return "text", ""
    if count >= _MIN_ROWS and _all_differ(values, distinct, count):
        return "identifier", ALL_DIFFER
    if distinct > 100 and distinct > 0.5 * n_examined:
        return "text", HARDLY_TWICE
    return "category", ""


# How the values are distributed, for the bars above a column in the window.
MAX_COLUMNS = 300  # described
MAX_ROWS = 20_000  # examined of one column
MIN_ROWS = 5000  # even of the widest table
MAX_CELLS = 6_000_000  # examined of all columns together
BINS, BARS = 20, 8
LONGEST = 40  # letters of a value's name


class Distributions(Mapping[str, Distribution]):
    """{column: distribution} of the shown columns, but for texts and identifiers.

    They are computed when they are asked for, from some rows that are kept until then.
    """

    def __init__(self, table: pd.DataFrame, columns: Sequence[Column]) -> None:
        shown, self._of = shown_columns(columns), len(table)
        unshown = ("text", "identifier")
        self._columns = [c for c in shown if c.kind not in unshown and c.name in table]
        # The whole table is not kept: it may be large, and the bars are asked for once, if at all.
        rows = spread_rows(len(table), len(shown))
        sample = table[[column.name for column in self._columns]]
        self._sample = sample if rows is None else sample.iloc[rows]

    @cached_property
    def _by_column(self) -> dict[str, Distribution]:
        spreads = {c.name: distribution(self._sample[c.name], c, self._of) for c in self._columns}
        del self._sample
        return {name: spread for name, spread in spreads.items() if spread is not None}

    def __getitem__(self, name: str) -> Distribution:
        return self._by_column[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_column)

    def __len__(self) -> int:
        return len(self._by_column)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._by_column,)


def shown_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns of a summary: the first ones, and the target in any case."""
    shown = list(columns[:MAX_COLUMNS])
    target = next((column for column in reversed(columns) if column.role == "target"), None)
    if target is not None and all(column.role != "target" for column in shown):
        # In files of very many columns the target often is the last one.
        shown[-1] = target
    return shown


def spread_rows(rows: int, columns: int) -> np.ndarray | None:
    """Positions of evenly spaced rows, fewer the more columns; None for all."""
    max_rows = min(MAX_ROWS, max(MIN_ROWS, MAX_CELLS // max(columns, 1)))
    return None if rows <= max_rows else np.linspace(0, rows - 1, max_rows).astype(np.int64)


def distribution(values: pd.Series, column: Column, total_rows: int) -> Distribution | None:
    """The distribution of some of a column's `total_rows` values; None if all missing."""
    rows: dict[str, Any] = {"rows": len(values), "of": total_rows}
    # Codes and years are numbers in the table, and each of them is a value to count.
    is_amount = column.kind not in ("category", "yes/no") and not column.date_format
    if values.dtype.kind in "iuf" and is_amount:
        return binned_distribution(values.to_numpy(dtype=float), "numbers", **rows)
    present_values = values.dropna()
    if column.kind == "date" and column.date_format:
        seconds = seconds_since_1970(moments(present_values, column.date_format).dropna())
        return binned_distribution(seconds, "dates", **rows)
    return _value_distribution(present_values, **rows)


def binned_distribution(
    values: np.ndarray, kind: DistributionKind, *, rows: int, of: int
) -> Distribution | None:
    """Numbers in bins of equal width; one bin per value for few whole numbers."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    # Halved, so that no span is beyond what a float holds.
    if low / 2 == high / 2:
        return Distribution(kind, (len(values),), low, high, rows=rows, of=of)
    fractions = (values / 2 - low / 2) / (high / 2 - low / 2)
    span = high - low
    # Few whole numbers: bins of equal width would hold now one of them, now two.
    if span < BINS and np.array_equal(values, np.floor(values)):
        bins = round(span) + 1
        codes = np.rint(fractions * span).astype(np.int64)
    else:
        bins = BINS
        codes = np.minimum((fractions * bins).astype(np.int64), bins - 1)
    counts = tuple(np.bincount(codes, minlength=bins).tolist())
    return Distribution(kind, counts, low, high, rows=rows, of=of)


def _value_distribution(present_values: pd.Series, *, rows: int, of: int) -> Distribution | None:
    counts = present_values.value_counts()
    if counts.empty:
        return None
    first = counts.iloc[:BARS]
    return Distribution(
        "values",
        tuple(int(count) for count in first),
        labels=tuple(shortened_text(value, LONGEST) for value in first.index),
        other=int(counts.iloc[BARS:].sum()),
        different=max(0, len(counts) - BARS),
        rows=rows,
        of=of,
    )


def sparse_distributions(
    matrix: Any, target: np.ndarray, columns: Sequence[Column]
) -> Mapping[str, Distribution]:
    """The same for the columns of a CSR matrix and its target."""
    shown = shown_columns(columns)
    total = matrix.shape[0]
    rows = spread_rows(total, len(shown))
    features = [column for column in shown if column.role == "feature"]
    sample = (matrix if rows is None else matrix[rows])[:, : len(features)].tocsc()
    by_column = {}
    for index, column in enumerate(features):
        values = sample[:, [index]].toarray().ravel().astype(float)
        spread = binned_distribution(values, "numbers", rows=len(values), of=total)
        if spread is not None:
            by_column[column.name] = spread
    for column in shown:
        if column.role == "target" and column.name not in by_column:
            values = pd.Series(target if rows is None else target[rows], name=column.name)
            spread = distribution(values, column, total)
            if spread is not None:
                by_column[column.name] = spread
    return by_column
