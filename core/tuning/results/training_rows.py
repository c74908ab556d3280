"""The columns of a model's training rows, for its files, without any row.

Plain JSON of ranges, categories, typical values and a distance, for forms and warnings.
"""

import contextlib
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
from core.datasets.units import dataset_units
from core.evaluation.rank_distance import RankDistance, rank_distance
from core.json_reading import read_as
from core.records import Record, optional, to_plain
from core.tuning.results.training_columns import (
    CHOICE,
    DATE,
    KINDS,
    MIN_COMMON,
    NUMBER,
    TEXT,
    TrainingColumn,
    category_text,
)

FORM = 1  # of what is written; other forms are not read


def numbers_or_codes(column: TrainingColumn, values: pd.Series) -> np.ndarray:
    """The numbers, or the categories' codes (-1 for a new one), of rows, (n,); NaN without."""
    if column.kind == NUMBER:
        return pd.to_numeric(values, errors="coerce").to_numpy(float)
    if column.category_count < 0:
        return np.full(len(values), np.nan)
    codes = pd.Index([category_text(choice) for choice in column.choices])
    texts = pd.Index(values.map(category_text, na_action="ignore"), dtype=object)
    return np.where(values.isna(), np.nan, codes.get_indexer(texts))


@dataclass(frozen=True)
class TrainingRows(Record):
    """How many rows there were, and their columns in the model's order."""

    rows: int
    columns: tuple[TrainingColumn, ...]
    distance: RankDistance | None = optional()  # none of few rows and in earlier models

    def numbers_and_codes(self, rows: pd.DataFrame) -> np.ndarray:
        """Of rows with these columns, (n, p)."""
        return np.column_stack([numbers_or_codes(c, rows[c.name]) for c in self.columns])

    def as_dict(self) -> dict[str, Any]:
        return {"form": FORM, **to_plain(self)}

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)


MAX_COLUMNS = 1000
# What the distance is made of; of more a sample is drawn.
MAX_ROWS, MIN_ROWS, MAX_CELLS = 5000, 200, 300_000
MAX_CATEGORIES = 1000  # categories of one column that are kept; more are free text
MAX_LETTERS = 500  # letters of a category
MAX_FORMAT_LETTERS = 60  # letters of the format of dates


def training_rows_of(dataset: Dataset, rows: np.ndarray | None = None) -> TrainingRows | None:
    """Of some rows (None: all); None for no table, or too many columns."""
    names = dataset.feature_names
    if not dataset.task.is_table or not 0 < len(names) <= MAX_COLUMNS:
        return None
    rows = np.arange(dataset.rows) if rows is None else rows
    max_rows = min(MAX_ROWS, max(MAX_CELLS // len(names), MIN_ROWS))
    sample = rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:max_rows])]
    if dataset.matrix is not None:
        # Read column by column: as a dense table it might not fit into memory.
        matrix = sparse.csc_matrix(dataset.matrix[rows])
        values = (matrix[:, index].toarray()[:, 0] for index in range(len(names)))
        columns = tuple(map(_number_column, names, values))
        sampled = pd.DataFrame(dataset.matrix[sample].toarray(), columns=names)
    elif dataset.table is not None:
        table, sampled = dataset.table[names].iloc[rows], dataset.table[names].iloc[sample]
        by_name = {column.name: column for column in dataset.columns}
        columns = tuple(
            replace(_training_column(table[name], by_name[name]), unit=by_name[name].unit or None)
            for name in names
        )
    else:
        return None
    training, units = TrainingRows(len(rows), columns), dataset_units(dataset).codes[sample]
    counts = [column.category_count for column in columns]
    return replace(
        training, distance=rank_distance(training.numbers_and_codes(sampled), counts, units)
    )


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
    common = sum(int(counts[value] >= MIN_COMMON) for value in usable[:MAX_CATEGORIES])
    return TrainingColumn(
        name, CHOICE, numeric, typical=typical, choices=choices, more=more, common=common
    )


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
    """From an untrusted file; None where it is absent, invalid or of other columns."""
    try:
        plain = json.loads(document) if isinstance(document, str) else document
        if not isinstance(plain, Mapping) or plain.get("form") != FORM:
            return None
        training = read_as(TrainingRows, plain)
    except (ValueError, RecursionError):
        return None
    columns, distance = training.columns, training.distance
    is_sound = (
        [column.name for column in columns] == features
        and training.rows >= 0
        and all(map(_is_sound, columns))
        and (distance is None or distance.is_sound([column.category_count for column in columns]))
    )
    return training if is_sound else None


def _is_sound(column: TrainingColumn) -> bool:
    low, high, numeric = column.low, column.high, column.numeric
    values = [value for value in (*column.choices, column.typical) if value is not None]
    numbers = [v for v in (*values, low, high) if v is not None and not isinstance(v, str)]
    return (
        column.kind in KINDS
        and numeric is (column.kind == NUMBER or (numeric and column.kind == CHOICE))
        and all(isinstance(value, str) is not numeric for value in values)
        and all(map(math.isfinite, numbers))
        and (low is None) == (high is None)
        and (low is None or high is None or low <= high)
        and len(column.choices) <= MAX_CATEGORIES
        and len(column.format) <= (MAX_FORMAT_LETTERS if column.kind == DATE else 0)
    )
