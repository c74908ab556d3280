"""Rows of a run's test set: what they hold, what was true, and where they stand in their file."""

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


@dataclass(frozen=True)
class TestRows:
    """The rows that judged a run's model, in the order of their file.

    Attributes:
        dataset: where they are.
        places: theirs in it.
        lines: where each begins in the file.
        counted: "line", or "row" where the data have no lines.
        target: the column to predict.
    """

    __test__ = False  # no test, for pytest

    dataset: Dataset
    places: np.ndarray
    lines: list[int]
    counted: str
    target: str

    def at(self, number: int) -> dict[str, Any]:
        """The row of a number from 1.

        Returns:
            number, of, line, counted, values {column: number, text or None}, truth.

        Raises:
            UnusableError: there are not so many.
        """
        if not 1 <= number <= len(self.places):
            raise UnusableError(
                f"there is no row {number:,} in the test set",
                cure=f"give a number from 1 to {len(self.places):,}",
            )
        place = int(self.places[number - 1])
        return {
            "number": number,
            "of": len(self.places),
            "line": self.lines[number - 1],
            "counted": self.counted,
            "values": _values(self.dataset, place),
            "truth": _plain(self.dataset.target[place]),
            "target": self.target,
        }

    def at_line(self, line: int) -> dict[str, Any]:
        """The row that begins in a line of the file, or the next test row below it.

        Raises:
            UnusableError: there is none below.
        """
        at = bisect_left(self.lines, line)
        if at == len(self.lines):
            raise UnusableError(
                f"no test row stands in {self.counted} {line:,} or below",
                cure=f"the last one is in {self.counted} {self.lines[-1]:,}",
            )
        return self.at(at + 1)


def test_rows_of(run: FinishedRun, dataset: Dataset | None) -> TestRows | None:
    """The test rows of a run; None where its data are not at hand, or other than they were.

    Args:
        run: one that has ended.
        dataset: the run's data.
    """
    takeaway = run.takeaway
    if dataset is None or dataset.source.fingerprint != takeaway.source["fingerprint"]:
        return None
    of = dataset.test if takeaway.test_source else dataset
    if of is None or not takeaway.test_rows or max(takeaway.test_rows) >= of.rows:
        return None
    if takeaway.test_source and of.source.fingerprint != takeaway.test_source["fingerprint"]:
        return None
    places = np.sort(np.array(takeaway.test_rows, dtype=int))
    quoted = rows_in_file(of, places)
    return TestRows(of, places, quoted.lines, quoted.counted, takeaway.target)


test_rows_of.__test__ = False  # type: ignore[attr-defined]


def _values(dataset: Dataset, place: int) -> dict[str, Any]:
    if dataset.table is not None:
        row = dataset.table.iloc[place]
        return {str(name): _plain(row[name]) for name in dataset.table.columns}
    assert dataset.matrix is not None
    numbers = dataset.matrix[place].toarray()[0]
    return dict(zip(dataset.feature_names, map(float, numbers), strict=True))


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, (int, float)) else str(value)
