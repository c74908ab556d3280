"""Questions about a run that ended: answered once, kept, left when something else is asked."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from app.session.session_requests import PendingRequests
from app.worker import messages as m
from app.worker.engine import Engine
from app.worker.worker_process import INTERRUPTED, STOPPED, _Worker
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from core.tuning.why.answer_types import LearningCurve, NoAnswer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.standard_normal(120), "b": rng.standard_normal(120)})
    table["target"] = np.where(table["a"] > 0, "x", "y")
    table.to_csv(place / "data.csv", index=False)
    plan = Plan(DataPlan(str(place / "data.csv"), test_size=0.3), "logistic", "mm")
    folder = RunFolder.create(plan, path=place / "run")
    for _ in tune(plan, read_dataset(plan.data.file), folder=folder):
        pass
    folder.close()
    return folder


def test_a_past_run_is_answered_and_the_answer_kept_without_its_data(run):
    asked = m.Explain(str(run.path), "rows")
    (first,) = Engine().explain(asked)
    assert first.done
    assert first.answer["labels"] == ["y", "x"]
    data = run.path.parent / "data.csv"
    away = data.rename(data.with_suffix(".away"))
    try:
        (again,) = Engine().explain(asked)
        assert again.answer == first.answer
        with pytest.raises(UnusableError, match=r"data\.csv"):
            list(Engine().explain(m.Explain(str(run.path), "importance")))
    finally:
        away.rename(data)


def told(run, waiting=(), cancelled=(), question="learning"):
    """The answers of a worker to a question, while other requests wait."""
    pipe = SimpleNamespace(send=lambda message: messages.append(message.answer))
    worker, messages = _Worker(pipe, ""), []
    worker._cancelled_ids.update(cancelled)
    worker._work = deque(m.Request(9, request) for request in waiting)
    worker._handle_request(Engine(), m.Request(1, m.Explain(str(run.path), question)))
    return messages


def test_a_long_answer_comes_in_parts_until_something_else_is_wanted(run):
    tune_now = m.Tune(Plan(DataPlan("x.csv"), "logistic", "mm"))
    assert told(run, cancelled=[1])[-1].answer == NoAnswer(STOPPED)
    assert told(run, [tune_now])[-1].answer == NoAnswer(INTERRUPTED)
    parts = told(run, [m.Explain("run", "rows")], cancelled=[2])
    assert [part.done for part in parts] == [False] * 4 + [True]
    assert "problem" not in parts[-1].answer


def test_a_stop_is_heard_while_it_is_asked_or_waits_and_not_afterwards():
    worker = _Worker(None, "")
    worker._current_id = 3
    worker._work = deque([m.Request(4, m.Explain("run", "rows"))])
    for id in (2, 3, 4):
        worker._handle_control(m.Request(id, m.CancelExplanation()))
    assert worker._cancelled_ids == {3, 4}


def test_a_defect_is_told_without_a_value_of_the_data(run, monkeypatch):
    def broken(*_question):
        raise KeyError("a value of the data")

    monkeypatch.setattr("core.tuning.why.answers.answers", broken)
    (answer,) = told(run, question="importance")
    assert answer.done
    assert "KeyError" in answer.details
    assert "a value" not in answer.details + answer.answer["problem"]


def test_each_question_waits_for_its_own_answer():
    sent = []
    asked = PendingRequests(sent.append)
    asked.ask(m.Explain("run", "rows"))
    asked.ask(m.Explain("run", "importance"))
    first, second = (one.id for one in sent)
    part = m.Explained(sent[0].payload, LearningCurve("accuracy", True, [], done=False))
    assert asked.answered(m.Message(first, part)) == (True, m.Explain)
    final = m.Explained(sent[0].payload, NoAnswer(""))
    assert asked.answered(m.Message(first, final)) == (True, m.Explain)
    assert [one.question for one in asked.forget_kind(m.Explain)] == ["importance"]
    assert asked.answered(m.Message(second, part)) == (False, None)
