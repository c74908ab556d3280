"""The points in time of a column, so that the latest rows can test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.datasets.columns import unknown_column
from core.datasets.dataset import Dataset
from core.datasets.dates import date_format, seconds_since_1970
from core.datasets.finding import Finding, SuggestedChange
from core.errors import UnusableError


def with_times(dataset: Dataset, table: pd.DataFrame, column: str) -> Dataset:
    """The dataset with a column's points in time, and a finding; others raise UnusableError.

    `table` has every column of the file, also rows without a target.
    """
    names = [str(name) for name in table.columns]
    if column not in names:
        raise unknown_column(column, names, "test on the latest rows")
    where = f"{dataset.name}, column {column}"
    if column == dataset.target_name:
        cure = "choose a column of dates"
        raise UnusableError("the column is what is predicted", where=where, cure=cure)
    if len(table) > dataset.rows:
        table = table[dataset.has_target(table[dataset.target_name])]
    times = _time_points(table[column], where)
    known_times = times[np.isfinite(times)]
    if len(known_times) < 2 or known_times.min() == known_times.max():
        cure = "choose another column"
        raise UnusableError("there are no two different times", where=where, cure=cure)
    items = dataset.task.items
    sentence = (
        f"The latest {items} by “{column}” test the result, earlier ones train; validation rows are"
        f" drawn at random among those. What belongs together with {items} of the test is left out"
        " of training."
    )
    if missing := len(times) - len(known_times):
        sentence += f" Rows without a time ({missing:,}) train."
    offer = SuggestedChange(f"Test on {items} drawn at random", "", fields={"latest": ""})
    finding = Finding(sentence, column, proposal=offer)
    return replace(dataset, times=times, findings=(*dataset.findings, finding))


def _time_points(values: pd.Series, where: str) -> np.ndarray:
    """Numbers unchanged, dates as seconds since 1970; NaN where missing."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float, na_value=np.nan)
    form = date_format(values)
    if not form:
        cure = "choose a column of dates, or write them like 2024-12-31"
        raise UnusableError("the column holds neither dates nor numbers", where=where, cure=cure)
    timestamps = pd.to_datetime(values.str.strip(), format=form, errors="coerce", utc=True)
    return seconds_since_1970(timestamps)
