"""Raw rows as the numbers that a model takes, by numpy and Python's own library alone.

An exported folder holds this file's source.
"""

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
    """What becomes of the cells of a column.

    Attributes:
        kind: number, date (which becomes seconds since 1970) or text.
        format: of dates.
        fill: for what is missing, before the mean is subtracted and the scale divides.
        keys, table: of texts, and what each becomes; the last line is for unknown ones.
    """

    column: str
    kind: str
    format: str = ""
    fill: float = 0.0
    mean: float = 0.0
    scale: float = 1.0
    keys: list[str] = field(default_factory=list)
    table: list[list[float]] = field(default_factory=list)


def prepare_columns(settings: dict[str, Any], text: str) -> np.ndarray:
    """The prepared columns of every row of a file, shape (rows, columns).

    Args:
        settings: "parts", one a column or a few, and "reading", how the training file was written;
            or "width", the number of features of LIBSVM lines, and "zero_based".
        text: of the file.

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
        numbers = [_parse_seconds(cell, transform.format) for cell in cells]
    else:
        pairs = zip(cells, lines, strict=True)
        numbers = [
            math.nan if cell.strip() in missing else _parse_number(cell, line, column, cell_format)
            for cell, line in pairs
        ]
    x = np.array(numbers)
    x = np.where(np.isnan(x), transform.fill, x)
    return ((x - transform.mean) / transform.scale)[:, None]


def _parse_number(cell: str, line: int, column: str, cell_format: CellFormat) -> float:
    truth_value = TRUTH.get(cell.strip().lower())
    if truth_value is not None:
        return truth_value
    return number_of(cell, line, column, cell_format)


def _parse_seconds(cell: str, date_format: str) -> float:
    """Seconds since 1970 of a date, NaN where the cell holds none."""
    text = cell.strip()
    try:
        iso = date_format == "ISO8601"
        date = datetime.fromisoformat(text) if iso else datetime.strptime(text, date_format)
    except ValueError:
        return math.nan
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return float(math.floor(date.timestamp()))


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
                raise UnreadableError(
                    f"“{cell[:40]}” is no index:value", f"line {line_number}"
                ) from None
            if 0 <= position < width:
                row[position] = number
        rows.append(row)
    if not rows:
        raise UnreadableError("there are no rows", cure="add rows")
    return np.array(rows)
