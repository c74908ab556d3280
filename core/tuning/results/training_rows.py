"""The columns of a model's training rows, for its files, without any row.

A summary of a model's training rows: ranges, categories and typical values.

It travels in the model's files as plain JSON, for forms and for warnings about unlike rows.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import sparse

from core.datasets.cell_values import moments
from core.datasets.column_format import seconds_since_1970
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.finding import column_title
from core.records import Record, optional, to_plain

FORM = 1  # of what is written; other forms are not read
NUMBER, CHOICE, DATE, TEXT = "number", "choice", "date", "text"
KINDS = (NUMBER, CHOICE, DATE, TEXT)


@dataclass(frozen=True)
class TrainingColumn(Record):
    """One feature column of the training rows."""

    name: str
    kind: str  # number, choice (one of few values), date or text
    numeric: bool  # whether its values are numbers to the model
    low: float | None = None  # the range; of dates in seconds since 1970; None for unknown
    high: float | None = None
    typical: float | str | None = None  # median of numbers and dates, else the most frequent value
    whole: bool = False  # whether all its numbers are integers
    choices: tuple[float | str, ...] = ()  # its values, the most frequent first
    more: bool = False  # whether there were further ones, which are not stored
    format: str = ""  # of dates, for `pandas.to_datetime`; "" for none
    unit: str | None = optional()  # of numbers

    @property
    def title(self) -> str:
        return column_title(self.name, self.unit)


def date_text(seconds: float) -> str:
    """The day of so many seconds since 1970, the nearest that a calendar has."""
    day = datetime.date(1970, 1, 1).toordinal() + seconds // 86400
    last = datetime.date.max.toordinal()
    return datetime.date.fromordinal(int(min(max(day, 1), last))).isoformat()


@dataclass(frozen=True)
class TrainingRows(Record):
    """How many rows there were, and their columns in the model's order."""

    rows: int
    columns: tuple[TrainingColumn, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"form": FORM, **to_plain(self)}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)


MAX_COLUMNS = 1000
MAX_CATEGORIES = 1000  # categories of one column that are kept; more are free text
MAX_LETTERS = 500  # letters of a category
MAX_FORMAT_LETTERS = 60  # letters of the format of dates


def training_rows_of(dataset: Dataset, rows: np.ndarray | None = None) -> TrainingRows | None:
    """The summary of some rows (None: all) of a dataset; None for no table, or too many columns."""
    names = dataset.feature_names
    if not dataset.task.is_table or not 0 < len(names) <= MAX_COLUMNS:
        return None
    if dataset.matrix is not None:
        matrix = dataset.matrix if rows is None else dataset.matrix[rows]
        # Read column by column: as a dense table it might not fit into memory.
        columns = sparse.csc_matrix(matrix)
        values = (columns[:, index].toarray()[:, 0] for index in range(len(names)))
        return TrainingRows(int(matrix.shape[0]), tuple(map(_number_column, names, values)))
    if dataset.table is None:
        return None
    table = dataset.table[names]
    table = table if rows is None else table.iloc[rows]
    by_name = {column.name: column for column in dataset.columns}
    training_columns = (
        replace(_training_column(table[name], by_name[name]), unit=by_name[name].unit or None)
        for name in names
    )
    return TrainingRows(len(table), tuple(training_columns))


def _training_column(values: pd.Series, column: Column) -> TrainingColumn:
    present_values = values.dropna()
    if is_numeric_dtype(values.dtype):
        numbers = present_values.to_numpy(float)
        has_two_values = column.kind == "yes/no" or values.dtype == bool
        if has_two_values and len(np.unique(numbers)) <= 2:
            return _choice_column(column.name, pd.Series(numbers), numeric=True)
        return _number_column(column.name, numbers)
    texts = present_values.astype(str)
    if column.kind == "date":
        return _date_column(texts, column)
    if column.kind == "text":
        return TrainingColumn(column.name, TEXT, False, typical="" if len(texts) else None)
    return _choice_column(column.name, texts, numeric=False)


def _number_column(name: str, values: np.ndarray) -> TrainingColumn:
    values = values[np.isfinite(values)]
    if not len(values):
        return TrainingColumn(name, NUMBER, True)
    is_integer = bool(np.all(values == np.round(values)))
    # Of integers one that occurs, rather than a half between two of them.
    middle = np.quantile(values, 0.5, method="lower") if is_integer else np.median(values)
    low, high = float(values.min()), float(values.max())
    return TrainingColumn(name, NUMBER, True, low, high, float(middle), is_integer)


def _choice_column(name: str, values: pd.Series, *, numeric: bool) -> TrainingColumn:
    counts = values.value_counts()
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    usable = [value for value in order if numeric or len(str(value)) <= MAX_LETTERS]
    choices = tuple(float(value) if numeric else str(value) for value in usable[:MAX_CATEGORIES])
    typical = choices[0] if choices else None
    more = len(order) > len(choices)
    return TrainingColumn(name, CHOICE, numeric, typical=typical, choices=choices, more=more)


def _date_column(texts: pd.Series, column: Column) -> TrainingColumn:
    form, seconds = column.date_format, np.empty(0)
    with contextlib.suppress(ValueError, TypeError):
        seconds = seconds_since_1970(moments(texts, form))
    order = np.argsort(seconds, kind="stable")[: int(np.isfinite(seconds).sum())]
    if not len(order):
        return TrainingColumn(column.name, DATE, False, format=form)
    middle = str(texts.iloc[order[(len(order) - 1) // 2]])[:MAX_LETTERS]
    has_day = not form.startswith("%H")
    low, high = (float(seconds[row]) if has_day else None for row in order[[0, -1]])
    return TrainingColumn(column.name, DATE, False, low, high, middle, format=form)


def read_training_rows(document: object, features: list[str]) -> TrainingRows | None:
    """The summary in an untrusted file; None where it is absent, invalid or of other columns."""
    try:
        plain = json.loads(document) if isinstance(document, str) else document
        if not isinstance(plain, Mapping) or plain.get("form") != FORM:
            return None
        columns = tuple(_read_column(column) for column in plain["columns"])
        rows = plain["rows"]
        if type(rows) is not int or rows < 0 or [column.name for column in columns] != features:
            return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return TrainingRows(rows, columns)


def _read_column(plain: Mapping[str, Any]) -> TrainingColumn:
    """A column as it was written; ValueError, KeyError or TypeError for anything else."""
    name, kind, numeric = plain["name"], plain["kind"], plain["numeric"]
    choice_type: type = float if numeric else str
    choices = tuple(_require_type(choice_type, choice) for choice in plain["choices"])
    low, high, typical = (
        None if plain[key] is None else _require_type(value_type, plain[key])
        for key, value_type in (("low", float), ("high", float), ("typical", choice_type))
    )
    is_sound = (
        type(name) is str
        and kind in KINDS
        and type(numeric) is bool
        and (numeric or kind != NUMBER)
        and not (numeric and kind in (DATE, TEXT))
        and (low is None) == (high is None)
        and (low is None or high is None or low <= high)
        and len(choices) <= MAX_CATEGORIES
    )
    if not is_sound:
        raise ValueError("no column was ever like this")
    is_integer, more = _require_type(bool, plain["whole"]), _require_type(bool, plain["more"])
    form = _require_type(str, plain["format"])
    if len(form) > MAX_FORMAT_LETTERS or (form and kind != DATE):
        raise ValueError("no date was ever written like this")
    unit = _require_type(str, plain.get("unit") or "")[:MAX_FORMAT_LETTERS] or None
    return TrainingColumn(
        name, kind, numeric, low, high, typical, is_integer, choices, more, form, unit
    )


def _require_type(kind: type, value: Any) -> Any:
    value = float(value) if kind is float and type(value) is int else value
    if type(value) is not kind or (type(value) is float and not math.isfinite(value)):
        raise ValueError("it is of another kind")
    return value
