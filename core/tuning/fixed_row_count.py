"""The row count of a run's files, fixed whatever memory there is later."""

from __future__ import annotations

from dataclasses import replace

from core.datasets.dataset import Dataset
from core.datasets.sampling.file_parts import ALL
from core.tuning.plan import DataPlan


def with_row_count(data: DataPlan, dataset: Dataset) -> DataPlan:
    """The data plan with as many rows as were read."""
    if data.rows is None:
        data = replace(data, rows=dataset.sampled.rows if dataset.sampled else ALL)
    if data.test_rows is None and dataset.test is not None:
        test = dataset.test.sampled
        data = replace(data, test_rows=test.rows if test else ALL)
    return data
