"""Tasks: equal to their names wherever these are written, and complete in every row."""

import json
import pickle

import pytest

from core.datasets.task import TASKS, Task
from core.tuning.plan import Plan
from core.tuning.scores.metrics import METRICS


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_its_name(task):
    assert Task(str(task)) is pickle.loads(pickle.dumps(task)) is task
    assert (json.dumps(task), repr(task), f"{task}") == (f'"{task.value}"', repr(task.value), task)
    assert {task.value: 1}[task] == 1


@pytest.mark.parametrize("task", TASKS)
def test_a_task_says_everything(task):
    for metric in (task.default_metric, task.averaged_metric):
        assert task in METRICS[metric].tasks
    assert task.prediction_text
    assert task.question or not task.has_target
    assert set(task.parameters) <= Plan.__dataclass_fields__.keys()
    assert task.is_table + task.is_structured + (not task.has_target) == 1


def test_what_is_not_known_yet_has_rows():
    assert not Task("")
    assert Task("").count_text(1) == "1 row"
    assert (Task.SEQUENCE.count_text(2000), Task.SEQUENCE.items) == ("2,000 tokens", "sequences")
