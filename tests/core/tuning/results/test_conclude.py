"""The end of a run happens in processes that can be ended; what it has by then is kept."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest
from run_events import tune_here as tune

from core.errors import UnusableError
from core.tuning.events import Progress, RunFailed, RunFinished, RunStarted, TuningEnded
from core.tuning.plan import DataPlan, Plan
from core.tuning.results import conclude as c
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

PLAN = Plan(DataPlan("sample:iris"), "logistic", "random", trials=4, folds=3, seed=5)
pytestmark = [
    pytest.mark.copies,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone"),
]


def die(*_arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(*_arguments):
    time.sleep(60)


def without_beats(events):
    return [type(event) for event in events if not isinstance(event, Progress)]


def test_the_result_is_made_in_another_process_and_is_the_same_as_in_this_one(
    iris, tmp_path, monkeypatch
):
    pids, predict, ends, models = tmp_path / "pid", c.predictions_of_test, [], []
    monkeypatch.setattr(
        c, "predictions_of_test", lambda *a: (pids.write_text(str(os.getpid())), predict(*a))[1]
    )
    for place in ("apart", "here"):
        folder = RunFolder.create(PLAN, path=tmp_path / place)
        events = list(tune(PLAN, iris, folder=folder))
        assert (int(pids.read_text()) == os.getpid()) == (place == "here")
        results = events[-1].results
        ends.append((without_beats(events), results.test, results.gain, results.remarks))
        models.append(best_of(folder).predict(iris.features))
        monkeypatch.setattr(c, "stream_from_fork", lambda stream, *_, **__: stream)
    assert ends[0] == ends[1]
    assert np.array_equal(*models)


def test_a_run_interrupted_before_its_beginning_was_recorded_begins_when_it_is_resumed(
    iris, tmp_path
):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    assert isinstance(c.conclude(PLAN, iris, (), folder=folder), RunFailed)
    assert folder.all_events() == []
    events = list(tune(PLAN, iris, folder=folder, past=folder.all_events()))
    assert isinstance(events[0], RunStarted)
    assert events[0].total == PLAN.trials
    assert isinstance(events[-1], RunFinished)


def test_a_past_without_its_beginning_is_refused(iris):
    with pytest.raises(UnusableError, match="the beginning of this run is missing"):
        next(tune(PLAN, iris, past=[RunFailed(sentence="It was stopped.")]))


LOST = [(die, "was killed (signal 9)."), (hang, "took too long and was ended.")]


@pytest.mark.parametrize(("fault", "words"), LOST)
def test_an_end_that_is_lost_keeps_the_trials_and_is_made_again(
    iris, tmp_path, monkeypatch, fault, words
):
    plan = PLAN.changed(minutes=5.0)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(c, "fit_tuned_model", fault)
        beat = c._beat
        patch.setattr(c, "_beat", lambda context, _: beat(context, context.clock.seconds + 1.0))
        *_, last = events = list(tune(plan, iris, folder=folder))
    assert TuningEnded in without_beats(events)
    assert isinstance(last, RunFailed)
    assert last.sentence == f"The process that makes the result {words} {c.KEPT}"
    past = folder.all_events()
    state = state_from_events(past)
    assert (state.finished, state.results) == (4, None)
    again = list(tune(plan, iris, folder=folder, past=past))
    assert isinstance(again[-1], RunFinished)
    assert again[-1].results.trials == 4
    assert has_best(folder)


@pytest.mark.parametrize(("fault", "words"), LOST)
def test_a_last_fit_that_is_lost_leaves_the_tested_model(iris, tmp_path, monkeypatch, fault, words):
    plan = PLAN.changed(minutes=5.0)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    monkeypatch.setattr(c, "refit_on_all_rows", fault)
    monkeypatch.setattr(c, "_refit_end", lambda problem, start: start + 3.0)
    last = list(tune(plan, iris, folder=folder))[-1]
    assert isinstance(last, RunFinished)
    assert f"{c.KEPT_TESTED} The process that makes the result {words}" in last.results.remarks
    assert last.results.evaluation.fitted == "train"
    assert best_of(folder).predict(iris.features).shape == (iris.rows,)


def test_a_last_fit_is_not_begun_where_it_would_not_end_in_time(iris, monkeypatch):
    monkeypatch.setattr(c, "refit_on_all_rows", die)
    monkeypatch.setattr(c, "_refit_end", lambda problem, start: start)
    results = list(tune(PLAN.changed(minutes=2.0), iris))[-1].results
    assert f"{c.KEPT_TESTED} The time of 2 minutes was up." in results.remarks
