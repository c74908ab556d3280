"""What the rows that a model was fitted on were like: ranges, categories and typical values.

It is kept beside the model and travels in its files as plain JSON, so that whoever opens one can
fill in a form and learn which rows are unlike these. No row is in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import sparse

from core.datasets.dataset import Column, Dataset

FORM = 1  # of what is written; other forms are not read
TASKS = ("regression", "binary", "multiclass")
MOST_COLUMNS = 1000
MOST_KINDS = 1000  # categories of one column that are kept; more are free text
LONGEST = 500  # letters of a category
LONGEST_FORMAT = 60  # letters of the format of dates
NUMBER, CHOICE, DATE, TEXT = "number", "choice", "date", "text"
KINDS = (NUMBER, CHOICE, DATE, TEXT)


@dataclass(frozen=True)
class TrainingColumn:
    """One feature column of the training rows.

    Attributes:
        name: as the model knows it.
        kind: number, choice (one of few values), date or text.
        numeric: whether its values are numbers to the model.
        low, high: of numbers, the range; None where all are missing.
        typical: the median of numbers and dates, the most frequent value of others; None for none.
        whole: whether all its numbers are whole.
        choices: its values, the most frequent first.
        more: whether there were further ones, which are not known.
        format: of dates, as `pandas.to_datetime` takes it; "" for none.
    """

    name: str
    kind: str
    numeric: bool
    low: float | None = None
    high: float | None = None
    typical: float | str | None = None
    whole: bool = False
    choices: tuple[float | str, ...] = ()
    more: bool = False
    format: str = ""


@dataclass(frozen=True)
class TrainingRows:
    """What the rows were like: how many, and their columns in the model's order."""

    rows: int
    columns: tuple[TrainingColumn, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values that JSON takes."""
        columns = [{**asdict(one), "choices": list(one.choices)} for one in self.columns]
        return {"form": FORM, "rows": self.rows, "columns": columns}

    def as_json(self) -> str:
        """The same as one text."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)


def training_rows_of(dataset: Dataset, rows: np.ndarray | None = None) -> TrainingRows | None:
    """What rows of a dataset are like; None where that is not told: no single rows, or too wide.

    Args:
        dataset: the data.
        rows: which of its rows; None for all.
    """
    names = dataset.feature_names
    if dataset.task not in TASKS or not 0 < len(names) <= MOST_COLUMNS:
        return None
    if dataset.matrix is not None:
        matrix = dataset.matrix if rows is None else dataset.matrix[rows]
        columns = sparse.csc_matrix(matrix)
        told = [_of_numbers(n, columns[:, at].toarray()[:, 0]) for at, n in enumerate(names)]
        return TrainingRows(int(matrix.shape[0]), tuple(told))
    if dataset.table is None:
        return None
    table = dataset.table[names]
    table = table if rows is None else table.iloc[rows]
    known = {column.name: column for column in dataset.columns}
    told = [_told(table[name], known[name]) for name in names]
    return TrainingRows(len(table), tuple(told))


def _told(values: pd.Series, column: Column) -> TrainingColumn:
    there = values.dropna()
    if is_numeric_dtype(values.dtype):
        numbers = there.to_numpy(float)
        of_two = column.kind == "yes/no" or values.dtype == bool
        if of_two and len(np.unique(numbers)) <= 2:
            return _of_choices(column.name, pd.Series(numbers), numeric=True)
        return _of_numbers(column.name, numbers)
    texts = there.astype(str)
    if column.kind == "date":
        middle = _middle_date(texts, column)
        return TrainingColumn(column.name, DATE, False, typical=middle, format=column.date_format)
    if column.kind == "text":
        return TrainingColumn(column.name, TEXT, False, typical="" if len(texts) else None)
    return _of_choices(column.name, texts, numeric=False)


def _of_numbers(name: str, values: np.ndarray) -> TrainingColumn:
    values = values[np.isfinite(values)]
    if not len(values):
        return TrainingColumn(name, NUMBER, True)
    whole = bool(np.all(values == np.round(values)))
    middle = np.quantile(values, 0.5, method="lower") if whole else np.median(values)
    low, high = float(values.min()), float(values.max())
    return TrainingColumn(name, NUMBER, True, low, high, float(middle), whole)


def _of_choices(name: str, values: pd.Series, *, numeric: bool) -> TrainingColumn:
    counts = values.value_counts()
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    usable = [one for one in order if numeric or len(str(one)) <= LONGEST]
    choices = tuple(float(one) if numeric else str(one) for one in usable[:MOST_KINDS])
    typical = choices[0] if choices else None
    more = len(order) > len(choices)
    return TrainingColumn(name, CHOICE, numeric, typical=typical, choices=choices, more=more)


def _middle_date(texts: pd.Series, column: Column) -> str | None:
    try:
        moments = pd.to_datetime(texts, errors="coerce", format=column.date_format, utc=True)
    except (ValueError, TypeError):
        return None
    order = moments.dropna().sort_values()
    return str(texts[order.index[(len(order) - 1) // 2]])[:LONGEST] if len(order) else None


def read_training_rows(told: object, features: list[str]) -> TrainingRows | None:
    """What a file says of the training rows; None where it says nothing, or anything else.

    Args:
        told: the text or dict of `TrainingRows`; a stranger may have written anything into it.
        features: the columns that the model takes, which must be the same.
    """
    try:
        plain = json.loads(told) if isinstance(told, str) else told
        if not isinstance(plain, Mapping) or plain.get("form") != FORM:
            return None
        columns = tuple(_read_column(column) for column in plain["columns"])
        rows = plain["rows"]
        if type(rows) is not int or rows < 0 or [one.name for one in columns] != features:
            return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return TrainingRows(rows, columns)


def _read_column(plain: Mapping[str, Any]) -> TrainingColumn:
    """A column as it was written.

    Raises:
        ValueError, KeyError, TypeError: it cannot have been written so.
    """
    name, kind, numeric = plain["name"], plain["kind"], plain["numeric"]
    value: type = float if numeric else str
    choices = tuple(_a(value, one) for one in plain["choices"])
    low, high, typical = (
        None if plain[part] is None else _a(of, plain[part])
        for part, of in (("low", float), ("high", float), ("typical", value))
    )
    sound = (
        type(name) is str
        and kind in KINDS
        and type(numeric) is bool
        and (numeric or kind != NUMBER)
        and not (numeric and kind in (DATE, TEXT))
        and (low is None) == (high is None)
        and (low is None or high is None or low <= high)
        and len(choices) <= MOST_KINDS
    )
    if not sound:
        raise ValueError("no column was ever like this")
    whole, more = _a(bool, plain["whole"]), _a(bool, plain["more"])
    form = _a(str, plain["format"])
    if len(form) > LONGEST_FORMAT or (form and kind != DATE):
        raise ValueError("no date was ever written like this")
    return TrainingColumn(name, kind, numeric, low, high, typical, whole, choices, more, form)


def _a(kind: type, value: Any) -> Any:
    value = float(value) if kind is float and type(value) is int else value
    if type(value) is not kind or (type(value) is float and not math.isfinite(value)):
        raise ValueError("it is of another kind")
    return value
