"""Whether the window says that every row tests."""

from __future__ import annotations

import pytest

from app.text.data_text import is_nested
from core.datasets.dataset_summary import ClassCount, DatasetSummary
from core.datasets.task import Task
from core.tuning.plan import DataPlan, Plan


@pytest.mark.parametrize(
    ("rarest", "kind", "evaluation", "expected"),
    [(3, "penalties", "", True), (2, "penalties", "", False), (3, "trials", "", False),
     (3, "trials", "nested", True), (3, "penalties", "test", False)],
)  # fmt: skip
def test_every_row_tests_where_each_fold_leaves_two_rows_of_a_class(
    rarest, kind, evaluation, expected
):
    classes = [ClassCount("no", 60), ClassCount("yes", rarest)]
    summary = DatasetSummary("ill", "csv", 60 + rarest, 4, Task.BINARY, "ill", classes=classes)
    assert is_nested(summary, Plan(DataPlan("f"), "", "", evaluation=evaluation), kind) == expected
