"""Raw rows as the numbers that a model takes, by numpy and pandas; carried into folders."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, moments, read_cells
from core.export.bundle.csv_rows import (
    CellFormat,
    UnreadableError,
    cell_format_of,
    columns_of,
    libsvm_pairs,
)

TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class ColumnTransform:
    """What becomes of the cells of a column."""

    column: str
    kind: str  # number, date, missing (1 where a number is missing, else 0) or text
    format: str = ""  # of dates
    fill: float = 0.0  # for what is missing, before the mean is subtracted and the scale divides
    mean: float = 0.0
    scale: float = 1.0
    keys: list[str] = field(default_factory=list)  # of texts
    table: list[list[float]] = field(default_factory=list)  # of keys, then of unknown texts
    part: str = "seconds"  # or year since 1970, month, weekday (Monday is 1), hour, or missing
    levels: list[float] = field(default_factory=list)  # of a part that becomes columns of 0 and 1


def prepare_columns(settings: dict[str, Any], text: str) -> np.ndarray:
    """The prepared columns of a text's rows, (rows, columns), or UnreadableError.

    The settings are "parts", one a column or a few, and "reading", how the training file was
    written; or "width", the number of features of LIBSVM lines, and "zero_based".
    """
    if "width" in settings:
        return _libsvm_rows(text, settings["width"], 0 if settings["zero_based"] else 1)
    cell_format = cell_format_of(settings)
    transforms = [ColumnTransform(**fields_by_name) for fields_by_name in settings["parts"]]
    forms = {t.column: _format_of(t, settings, cell_format) for t in transforms}
    cells, lines = columns_of(text, list(forms), cell_format)
    columns = {
        name: read_cells(pd.Series(cells[name], dtype="str", name=name), form)
        for name, form in forms.items()
    }
    for name, form in forms.items():
        if form.kind == "number":
            columns[name] = _numbers(columns[name], cells[name], lines, form)
    return np.hstack([_column_values(t, columns[t.column]) for t in transforms])


def _format_of(
    transform: ColumnTransform, settings: dict[str, Any], cell_format: CellFormat
) -> ColumnFormat:
    """How the cells of a column are written; folders of earlier versions say it for all columns."""
    if fields_by_name := settings.get("formats", {}).get(transform.column):
        texts = {name: tuple(fields_by_name[name]) for name in ("missing", "pair")}
        return ColumnFormat(**{**fields_by_name, **texts})
    missing = tuple(cell_format.missing_words(transform.column))
    if transform.kind == "text":
        return ColumnFormat(missing=missing, whole=False)
    if transform.kind == "date":
        return ColumnFormat("date", missing, date_format=transform.format)
    return ColumnFormat("number", missing, cell_format.decimal, cell_format.thousands or "")


def _numbers(
    numbers: pd.Series, cells: list[str], lines: list[int], form: ColumnFormat
) -> pd.Series:
    """The numbers, true and false among them; UnreadableError for a cell that is none."""
    numbers = numbers.copy()
    for row in np.flatnonzero(numbers.isna()).tolist():
        cell = cells[row].strip()
        if cell.lower() in TRUTH:
            numbers.iloc[row] = TRUTH[cell.lower()]
        elif cell and cell not in form.missing:
            where = f"line {lines[row]}, column {numbers.name}"
            raise UnreadableError(f"“{cell[:40]}” is no number", where)
    return numbers


def _column_values(transform: ColumnTransform, values: pd.Series) -> np.ndarray:
    """What the cells of one column become, (rows, outputs)."""
    if transform.kind == "text":
        code_of_key = {key: code for code, key in enumerate(transform.keys)}
        codes = values.fillna("").map(lambda text: code_of_key.get(text, len(code_of_key)))
        encoded_cells: np.ndarray = np.array(transform.table)[codes.to_numpy(int)]
        return encoded_cells
    x = _date_part(values, transform) if transform.kind == "date" else values.to_numpy(float)
    if "missing" in (transform.kind, transform.part):
        return np.isnan(x).astype(float)[:, None]
    x = np.where(np.isnan(x), transform.fill, x)
    if transform.levels:
        return np.equal(x[:, None], np.array(transform.levels)).astype(float)
    return ((x - transform.mean) / transform.scale)[:, None]


def _date_part(texts: pd.Series, transform: ColumnTransform) -> np.ndarray:
    """A part of dates, NaN for what is none."""
    times = moments(texts, transform.format).dt.tz_localize(None).to_numpy().astype("M8[s]")
    letter = {"year": "Y", "month": "M", "weekday": "D", "hour": "h"}.get(transform.part, "s")
    units = times.astype(f"M8[{letter}]").astype(np.int64)
    if transform.part == "weekday":
        units = (units + 3) % 7 + 1  # 1970 began on a Thursday
    elif letter in "Mh":
        units = units % 12 + 1 if letter == "M" else units % 24
    return np.where(np.isnat(times), np.nan, units.astype(float))


def _libsvm_rows(text: str, width: int, first: int) -> np.ndarray:
    """LIBSVM lines, with or without labels; features that are not known are passed over."""
    rows = []
    for _, pairs in libsvm_pairs(text):
        row = np.zeros(width)
        for index, number in pairs:
            if 0 <= index - first < width:
                row[index - first] = number
        rows.append(row)
    if not rows:
        raise UnreadableError("there are no rows", cure="add rows")
    return np.array(rows)
