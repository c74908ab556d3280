"""Rows of a dataset as they stand in its file, each with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.files.opening import open_bytes
from core.datasets.files.sniffing import MISSING
from core.datasets.files.table_file import TextFile, open_table
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

MOST_COLUMNS = 60
LARGEST = 50_000_000  # bytes of a file that is read again for some rows


@dataclass(frozen=True)
class Quoted:
    """Some rows of a file.

    Attributes:
        headers: the names of the columns.
        cells: a row each; None where a cell is empty.
        lines: the line where each begins; its number among the rows where `counted` says so.
        counted: "line", or "row" where the data have no lines.
        left_out: how many columns are not shown.
    """

    headers: list[str]
    cells: list[list[Any]]
    lines: list[int]
    counted: str
    left_out: int


def rows_in_file(dataset: Dataset, rows: Sequence[int] | np.ndarray) -> Quoted:
    """The rows as the file has them, also with columns that no model saw.

    Where the file is gone, has changed or is very large, the rows are shown as they were read, with
    their numbers.

    Args:
        dataset: where they belong.
        rows: their places in it.
    """
    read = _read_again(dataset) if dataset.table is not None else None
    sampled = dataset.sampled
    if read is not None:
        whole = sampled is None or len(read.table) == sampled.of
        known = _known(dataset, read.table) if sampled is None else sampled.chosen
        if len(known) == dataset.rows and whole:
            places = known[np.asarray(rows, dtype=int)]
            quoted = _quoted(read.table, places)
            lines = [read.line_of(int(place)) for place in places]
            return Quoted(*quoted[:2], lines, "line", quoted[2])
    places = np.asarray(rows, dtype=int)
    drawn = sampled is not None and len(sampled.chosen) == dataset.rows
    numbers = [int(at) + 1 for at in (sampled.chosen[places] if drawn and sampled else places)]
    if (lines_of := _libsvm_lines(dataset)) is not None:
        headers, cells, left_out = _of_matrix(dataset, places)
        return Quoted(headers, cells, [lines_of[place] for place in places], "line", left_out)
    if dataset.table is not None:
        headers, cells, left_out = _quoted(dataset.table, places)
    else:
        headers, cells, left_out = _of_matrix(dataset, places)
    return Quoted(headers, cells, numbers, "row", left_out)


def _read_again(dataset: Dataset) -> RawTable | None:
    source = dataset.source
    if source.format == "sample" or not source.path:
        return None
    try:
        if Path(source.path.partition("#")[0]).stat().st_size > LARGEST:
            return None
        opened = open_table(source.path)
        if isinstance(opened, TextFile) and opened.is_libsvm:
            return None
        return opened.read({}, MISSING, dataset.target_name)
    except (OSError, UnusableError):
        return None


def _libsvm_lines(dataset: Dataset) -> list[int] | None:
    """The line of every row of a LIBSVM file; None of other data, or where rows were left out."""
    source = dataset.source
    if source.format != "libsvm" or not source.path or dataset.set_aside or dataset.sampled:
        return None
    try:
        if Path(source.path).stat().st_size > LARGEST:
            return None
        with open_bytes(Path(source.path), source.compression) as file:
            filled = (bool(line.partition(b"#")[0].strip()) for line in file)
            found = [number for number, there in enumerate(filled, 1) if there]
    except (OSError, UnusableError):
        return None
    return found if len(found) == dataset.rows else None


def _known(dataset: Dataset, table: pd.DataFrame) -> np.ndarray:
    """The places of the rows with a target."""
    if dataset.target_name not in table.columns:
        return np.arange(len(table))
    return np.flatnonzero(table[dataset.target_name].notna().to_numpy())


def _quoted(table: pd.DataFrame, places: np.ndarray) -> tuple[list[str], list[list[Any]], int]:
    shown = table.iloc[places, :MOST_COLUMNS]
    cells = [[_plain(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    left_out = max(0, table.shape[1] - MOST_COLUMNS)
    return [str(name) for name in shown.columns], cells, left_out


def _of_matrix(dataset: Dataset, places: np.ndarray) -> tuple[list[str], list[list[Any]], int]:
    """The columns that are filled in any of the rows."""
    assert dataset.matrix is not None
    some = dataset.matrix[places].tocsc()
    filled = np.flatnonzero(np.diff(some.indptr))
    shown = filled[:MOST_COLUMNS]
    names = dataset.feature_names
    cells = some[:, shown].toarray().tolist()
    return [str(names[at]) for at in shown], cells, len(filled) - len(shown)


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool)) else str(value)
