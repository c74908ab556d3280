"""Raw rows as the numbers that a model takes, by numpy and Python's own library alone.

An exported folder holds this file's source. What a column's cells become is described by
core.export.bundle.folder_columns.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.export.bundle.reading import UnreadableError, columns_of, number_of

TRUTH = {"true": 1.0, "false": 0.0}


def prepared(settings: dict[str, Any], text: str) -> np.ndarray:
    """The prepared columns of every row of a file, shape (rows, columns).

    Args:
        settings: "parts", one a column or a few, and "reading", how the training file was written;
            or "width", the number of features of LIBSVM lines, and "zero_based".
        text: of the file.

    Raises:
        UnreadableError: a column is missing, or a cell cannot be used.
    """
    if "width" in settings:
        return _of_lines(text, settings["width"], 0 if settings["zero_based"] else 1)
    reading, parts = settings["reading"], settings["parts"]
    names = [part["column"] for part in parts]
    columns, lines = columns_of(text, names, reading["quote"], reading["padded"])
    made = [_part(part, columns[part["column"]], lines, reading) for part in parts]
    return np.hstack(made)


def _part(
    part: dict[str, Any], cells: list[str], lines: list[int], reading: dict[str, Any]
) -> np.ndarray:
    """What the cells of one column become, (rows, outputs)."""
    column = part["column"]
    given = reading["missing"]
    missing = {"", *(given.get(column, []) if isinstance(given, dict) else given)}
    if part["kind"] == "text":
        table, place = np.array(part["table"]), {key: at for at, key in enumerate(part["keys"])}
        unknown = len(part["keys"])
        found = ["" if cell in missing else cell for cell in cells]
        looked_up: np.ndarray = table[[place.get(cell, unknown) for cell in found]]
        return looked_up
    if part["kind"] == "date":
        numbers = [_seconds(cell, part["format"]) for cell in cells]
    else:
        pairs = zip(cells, lines, strict=True)
        numbers = [
            math.nan if cell.strip() in missing else _number(cell, line, column, reading)
            for cell, line in pairs
        ]
    x = np.array(numbers)
    x = np.where(np.isnan(x), part["fill"], x)
    return ((x - part["mean"]) / part["scale"])[:, None]


def _number(cell: str, line: int, column: str, reading: dict[str, Any]) -> float:
    truth = TRUTH.get(cell.strip().lower())
    if truth is not None:
        return truth
    return number_of(cell, line, column, reading["decimal"], reading["thousands"] or "")


def _seconds(cell: str, form: str) -> float:
    """Seconds since 1970 of a date, NaN where the cell holds none."""
    text = cell.strip()
    try:
        iso = form == "ISO8601"
        found = datetime.fromisoformat(text) if iso else datetime.strptime(text, form)
    except ValueError:
        return math.nan
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return float(math.floor(found.timestamp()))


def _of_lines(text: str, width: int, first: int) -> np.ndarray:
    """LIBSVM lines, with or without labels; features that are not known are passed over."""
    rows = []
    for at, line in enumerate(text.splitlines(), start=1):
        cells = line.partition("#")[0].split()
        if not cells:
            continue
        row = np.zeros(width)
        for cell in cells[":" not in cells[0] :]:
            index, _, value = cell.partition(":")
            try:
                place, number = int(index) - first, float(value)
            except ValueError:
                raise UnreadableError(f"“{cell[:40]}” is no index:value", f"line {at}") from None
            if 0 <= place < width:
                row[place] = number
        rows.append(row)
    if not rows:
        raise UnreadableError("there are no rows", cure="add rows")
    return np.array(rows)
