"""Rows of a dataset as in its file, each with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.column_format import MISSING
from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import open_bytes
from core.datasets.files.table_file import TextFile, open_table
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

MAX_COLUMNS = 60
LARGEST = 50_000_000  # bytes of a file that is read again for some rows


@dataclass(frozen=True)
class FileRows:
    """Some rows of a file."""

    headers: list[str]
    cells: list[list[Any]]  # by row; None if empty
    lines: list[int]  # first line of each row, or its number
    counted: str  # "line", or "row" where the data have no lines
    left_out: int  # number of columns not shown


def rows_in_file(dataset: Dataset, rows: Sequence[int] | np.ndarray) -> FileRows:
    """Rows (positions) with unused columns; as read if the file changed or is very large."""
    raw = _read_again(dataset) if dataset.table is not None else None
    sampled = dataset.sampled
    if raw is not None:
        has_all_rows = sampled is None or len(raw.table) == sampled.of
        labelled_rows = _labelled_rows(dataset, raw.table) if sampled is None else sampled.chosen
        if len(labelled_rows) == dataset.rows and has_all_rows:
            row_indices = labelled_rows[np.asarray(rows, dtype=int)]
            headers, cells, left_out = _table_cells(raw.table, row_indices)
            lines = [raw.line_of(int(row)) for row in row_indices]
            return FileRows(headers, cells, lines, "line", left_out)
    row_indices = np.asarray(rows, dtype=int)
    is_sample = sampled is not None and len(sampled.chosen) == dataset.rows
    file_rows = sampled.chosen[row_indices] if is_sample and sampled else row_indices
    numbers = [int(row) + 1 for row in file_rows]
    if (lines_of := _libsvm_lines(dataset)) is not None:
        headers, cells, left_out = _matrix_cells(dataset, row_indices)
        return FileRows(headers, cells, [lines_of[row] for row in row_indices], "line", left_out)
    if dataset.table is not None:
        headers, cells, left_out = _table_cells(dataset.table, row_indices)
    else:
        headers, cells, left_out = _matrix_cells(dataset, row_indices)
    return FileRows(headers, cells, numbers, "row", left_out)


def _read_again(dataset: Dataset) -> RawTable | None:
    source = dataset.source
    if source.format == "sample" or not source.path:
        return None
    try:
        if Path(source.path.partition("#")[0]).stat().st_size > LARGEST:
            return None
        table_file = open_table(source.path)
        if isinstance(table_file, TextFile) and table_file.is_libsvm:
            return None
        return table_file.read({}, MISSING, dataset.target_name)
    except (OSError, UnusableError):
        return None


def _libsvm_lines(dataset: Dataset) -> list[int] | None:
    source = dataset.source
    if source.format != "libsvm" or not source.path or dataset.set_aside or dataset.sampled:
        return None
    try:
        if Path(source.path).stat().st_size > LARGEST:
            return None
        with open_bytes(Path(source.path), source.compression) as file:
            filled = (bool(line.partition(b"#")[0].strip()) for line in file)
            line_numbers = [number for number, is_filled in enumerate(filled, 1) if is_filled]
    except (OSError, UnusableError):
        return None
    return line_numbers if len(line_numbers) == dataset.rows else None


def _labelled_rows(dataset: Dataset, table: pd.DataFrame) -> np.ndarray:
    if dataset.target_name not in table.columns:
        return np.arange(len(table))
    return np.flatnonzero(table[dataset.target_name].notna().to_numpy())


def _table_cells(
    table: pd.DataFrame, row_indices: np.ndarray
) -> tuple[list[str], list[list[Any]], int]:
    shown = table.iloc[row_indices, :MAX_COLUMNS]
    cells = [[_to_json(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    left_out = max(0, table.shape[1] - MAX_COLUMNS)
    return [str(name) for name in shown.columns], cells, left_out


def _matrix_cells(
    dataset: Dataset, row_indices: np.ndarray
) -> tuple[list[str], list[list[Any]], int]:
    assert dataset.matrix is not None
    submatrix = dataset.matrix[row_indices].tocsc()
    filled = np.flatnonzero(np.diff(submatrix.indptr))
    shown = filled[:MAX_COLUMNS]
    names = dataset.feature_names
    cells = submatrix[:, shown].toarray().tolist()
    return [str(names[column]) for column in shown], cells, len(filled) - len(shown)


def _to_json(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool)) else str(value)
