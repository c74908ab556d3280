"""Raw rows as the numbers that a model takes, by numpy alone; carried into exported folders."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.export.bundle.csv_rows import UnreadableError, columns_of, number_of
from core.export.cell_format import CellFormat, cell_format_of

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
    """The prepared columns of a text's rows, (rows, columns).

    Args:
        settings: "parts", one a column or a few, and "reading", how the training file was written;
            or "width", the number of features of LIBSVM lines, and "zero_based".

    Raises:
        UnreadableError: a column is missing, or a cell cannot be used.
    """
    if "width" in settings:
        return _libsvm_rows(text, settings["width"], 0 if settings["zero_based"] else 1)
    cell_format = cell_format_of(settings)
    transforms = [ColumnTransform(**fields_by_name) for fields_by_name in settings["parts"]]
    names = [transform.column for transform in transforms]
    columns, lines = columns_of(text, names, cell_format)
    blocks = [
        _column_values(transform, columns[transform.column], lines, cell_format)
        for transform in transforms
    ]
    return np.hstack(blocks)


def _column_values(
    transform: ColumnTransform, cells: list[str], lines: list[int], cell_format: CellFormat
) -> np.ndarray:
    """What the cells of one column become, (rows, outputs)."""
    column = transform.column
    missing = {"", *cell_format.missing_words(column)}
    if transform.kind == "text":
        table = np.array(transform.table)
        code_of_key = {key: code for code, key in enumerate(transform.keys)}
        unknown = len(transform.keys)
        texts = ["" if cell in missing else cell for cell in cells]
        encoded_cells: np.ndarray = table[[code_of_key.get(cell, unknown) for cell in texts]]
        return encoded_cells
    if transform.kind == "date":
        numbers = [_date_part(cell, transform.format, transform.part) for cell in cells]
    else:
        pairs = zip(cells, lines, strict=True)
        numbers = [
            math.nan if cell.strip() in missing else _parse_number(cell, line, column, cell_format)
            for cell, line in pairs
        ]
    x = np.array(numbers)
    if "missing" in (transform.kind, transform.part):
        return np.isnan(x).astype(float)[:, None]
    x = np.where(np.isnan(x), transform.fill, x)
    if transform.levels:
        return np.equal(x[:, None], np.array(transform.levels)).astype(float)
    return ((x - transform.mean) / transform.scale)[:, None]


def _parse_number(cell: str, line: int, column: str, cell_format: CellFormat) -> float:
    truth_value = TRUTH.get(cell.strip().lower())
    if truth_value is not None:
        return truth_value
    return number_of(cell, line, column, cell_format)


def _date_part(cell: str, date_format: str, part: str) -> float:
    text = cell.strip()
    try:
        iso = date_format == "ISO8601"
        date = datetime.fromisoformat(text) if iso else datetime.strptime(text, date_format)
        date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        return math.nan
    if part == "year":
        return float(date.year - 1970)
    if part == "weekday":
        return float(date.isoweekday())
    is_whole = part in ("month", "hour")
    return float(getattr(date, part) if is_whole else math.floor(date.timestamp()))


def _libsvm_rows(text: str, width: int, first: int) -> np.ndarray:
    """LIBSVM lines, with or without labels; features that are not known are passed over."""
    rows = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        cells = line.partition("#")[0].split()
        if not cells:
            continue
        row = np.zeros(width)
        for cell in cells[":" not in cells[0] :]:
            index, _, value = cell.partition(":")
            try:
                position, number = int(index) - first, float(value)
            except ValueError:
                fault = f"“{cell[:40]}” is no index:value"
                raise UnreadableError(fault, f"line {line_number}") from None
            if 0 <= position < width:
                row[position] = number
        rows.append(row)
    if not rows:
        raise UnreadableError("there are no rows", cure="add rows")
    return np.array(rows)
