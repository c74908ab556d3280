"""Rows of a run's test set, with their true values and their lines in the file."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.rows_in_file import rows_in_file
from core.errors import UnusableError
from core.export.finished_run import FinishedRun
from core.export.using.row_answers import CellValue, TestRow


@dataclass(frozen=True)
class TestRows:
    """The rows that tested a run's model, in the order of their file."""

    __test__ = False  # no test, for pytest

    dataset: Dataset
    row_indices: np.ndarray  # in the dataset
    lines: list[int]  # where each begins in the file
    counted: str  # "line", or "row" where the data have no lines
    target: str  # the column to predict

    def row_by_number(self, number: int) -> TestRow:
        """The row of a number from 1, or UnusableError."""
        if not 1 <= number <= len(self.row_indices):
            fault = f"there is no row {number:,} in the test set"
            raise UnusableError(fault, cure=f"give a number from 1 to {len(self.row_indices):,}")
        row_index = int(self.row_indices[number - 1])
        return TestRow(
            number=number,
            count=len(self.row_indices),
            line=self.lines[number - 1],
            counted=self.counted,
            values=_row_values(self.dataset, row_index),
            truth=_cell_value(self.dataset.target[row_index]),
            target=self.target,
        )

    def row_at_line(self, line: int) -> TestRow:
        """The row that begins in a line of the file or the next below it, or UnusableError."""
        index = bisect_left(self.lines, line)
        if index == len(self.lines):
            fault = f"no test row is in {self.counted} {line:,} or below"
            raise UnusableError(fault, cure=f"the last one is in {self.counted} {self.lines[-1]:,}")
        return self.row_by_number(index + 1)


def test_rows_of(run: FinishedRun, dataset: Dataset | None) -> TestRows | None:
    """The test rows of a run that ended; None where its data are missing or have changed."""
    takeaway = run.takeaway
    if dataset is None or dataset.source.fingerprint != takeaway.source.fingerprint:
        return None
    test_dataset = dataset.test if takeaway.test_source else dataset
    if test_dataset is None or max(takeaway.test_rows, default=np.inf) >= test_dataset.rows:
        return None
    if takeaway.test_source and test_dataset.source.fingerprint != takeaway.test_source.fingerprint:
        return None
    row_indices = np.sort(np.array(takeaway.test_rows, dtype=int))
    file_rows = rows_in_file(test_dataset, row_indices)
    return TestRows(test_dataset, row_indices, file_rows.lines, file_rows.counted, takeaway.target)


test_rows_of.__test__ = False  # type: ignore[attr-defined]


def _row_values(dataset: Dataset, row_index: int) -> dict[str, CellValue]:
    if dataset.table is not None:
        row = dataset.table.iloc[row_index]
        return {str(name): _cell_value(row[name]) for name in dataset.table.columns}
    assert dataset.matrix is not None
    numbers = dataset.matrix[row_index].toarray()[0]
    return dict(zip(dataset.feature_names, map(float, numbers), strict=True))


def _cell_value(value: Any) -> CellValue:
    if pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, (int, float)) else str(value)
