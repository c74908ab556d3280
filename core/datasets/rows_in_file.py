"""Rows of a dataset as in its file, each with its line."""

from __future__ import annotations

import contextlib
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
    row_indices, sampled = np.asarray(rows, dtype=int), dataset.sampled
    raw = None if dataset.table is None else _read_again(dataset)
    if raw is not None and (file_rows := _file_rows(dataset, raw.table)) is not None:
        lines = [raw.line_of(int(row)) for row in file_rows[row_indices]]
        return _table_rows(raw.table, file_rows[row_indices], lines, "line")
    has_sample = sampled is not None and len(sampled.chosen) == dataset.rows
    file_rows = sampled.chosen if has_sample and sampled else np.arange(dataset.rows)
    lines, counted = (file_rows[row_indices] + 1).tolist(), "row"
    if (lines_of := _libsvm_lines(dataset)) is not None:
        lines, counted = [lines_of[row] for row in row_indices], "line"
    if dataset.table is not None:
        return _table_rows(dataset.table, row_indices, lines, counted)
    assert dataset.matrix is not None
    submatrix = dataset.matrix[row_indices].tocsc()
    filled = np.flatnonzero(np.diff(submatrix.indptr))
    headers = [str(dataset.feature_names[column]) for column in filled[:MAX_COLUMNS]]
    cells = submatrix[:, filled[:MAX_COLUMNS]].toarray().tolist()
    return FileRows(headers, cells, lines, counted, len(filled) - len(headers))


def _table_rows(
    table: pd.DataFrame, row_indices: np.ndarray, lines: list[int], counted: str
) -> FileRows:
    shown = table.iloc[row_indices, :MAX_COLUMNS]
    cells = [[_to_json(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    headers = [str(name) for name in shown.columns]
    return FileRows(headers, cells, lines, counted, table.shape[1] - len(headers))


def _file_rows(dataset: Dataset, table: pd.DataFrame) -> np.ndarray | None:
    """The positions of the dataset's rows in the table of its file; None for another file."""
    file_rows = np.arange(len(table))
    if dataset.sampled is not None:
        file_rows = dataset.sampled.chosen if len(table) == dataset.sampled.of else file_rows[:0]
    elif dataset.target_name in table.columns:
        file_rows = np.flatnonzero(dataset.has_target(table[dataset.target_name]))
    return file_rows if len(file_rows) == dataset.rows else None


def _read_again(dataset: Dataset) -> RawTable | None:
    source = dataset.source
    if source.format == "sample" or not source.path:
        return None
    with contextlib.suppress(OSError, UnusableError):
        if Path(source.path.partition("#")[0]).stat().st_size <= LARGEST:
            table_file = open_table(source.path)
            if not (isinstance(table_file, TextFile) and table_file.is_libsvm):
                return table_file.read({}, MISSING, dataset.target_name)
    return None


def _libsvm_lines(dataset: Dataset) -> list[int] | None:
    source, lines = dataset.source, list[int]()
    if source.format != "libsvm" or not source.path or dataset.set_aside or dataset.sampled:
        return None
    with contextlib.suppress(OSError, UnusableError):
        if Path(source.path).stat().st_size <= LARGEST:
            with open_bytes(Path(source.path), source.compression) as file:
                filled = (bool(line.partition(b"#")[0].strip()) for line in file)
                lines = [number for number, is_filled in enumerate(filled, 1) if is_filled]
    return lines if len(lines) == dataset.rows else None


def _to_json(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool)) else str(value)
