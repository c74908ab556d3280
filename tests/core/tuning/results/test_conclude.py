"""The end of a run happens in processes that can be ended; what it has by then is kept."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest

from core.tuning.events import Progress, RunFailed, RunFinished, TuningEnded
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results import conclude as c
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:iris"), "logistic", "random", trials=4, folds=3, seed=5)
pytestmark = [
    pytest.mark.copies,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone"),
]


@pytest.fixture(scope="module")
def iris():
    return read_data(PLAN.data)


def die(*_arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(*_arguments):
    time.sleep(60)


def without_beats(events):
    return [type(event) for event in events if not isinstance(event, Progress)]


def test_the_result_is_made_in_another_process_and_is_the_same_as_in_this_one(
    iris, tmp_path, monkeypatch
):
    apart = RunFolder.create(PLAN, path=tmp_path / "apart")
    pids, predict = tmp_path / "pid", c.predictions_of_test
    monkeypatch.setattr(
        c, "predictions_of_test", lambda *a: (pids.write_text(str(os.getpid())), predict(*a))[1]
    )
    events = list(tune(PLAN, iris, folder=apart))
    assert int(pids.read_text()) != os.getpid()
    here = RunFolder.create(PLAN, path=tmp_path / "here")
    monkeypatch.setattr(c, "stream_from_fork", lambda stream, *_, **__: stream)
    expected = list(tune(PLAN, iris, folder=here))
    assert int(pids.read_text()) == os.getpid()
    assert without_beats(events) == without_beats(expected)
    results, same = events[-1].results, expected[-1].results
    assert (results.test, results.gain, results.remarks) == (same.test, same.gain, same.remarks)
    X = iris.features
    assert np.array_equal(best_of(apart).predict(X), best_of(here).predict(X))


@pytest.mark.parametrize(
    ("fault", "minutes", "words"),
    [
        (die, None, "The process that makes the result was killed (signal 9)."),
        (hang, 5.0, "The process that makes the result took too long and was ended."),
    ],
)
def test_an_end_that_is_lost_keeps_the_trials_and_is_made_again(
    iris, tmp_path, monkeypatch, fault, minutes, words
):
    plan = PLAN.changed(minutes=minutes)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(c, "fit_tuned_model", fault)
        beat = c._beat
        patch.setattr(c, "_beat", lambda context, _: beat(context, context.clock.seconds + 1.0))
        *_, last = events = list(tune(plan, iris, folder=folder))
    assert TuningEnded in without_beats(events)
    assert isinstance(last, RunFailed)
    assert last.sentence == f"{words} {c.KEPT}"
    state = state_from_events(folder.all_events())
    assert (state.finished, state.results) == (4, None)
    again = list(tune(plan, iris, folder=folder, past=folder.all_events()))
    assert isinstance(again[-1], RunFinished)
    assert again[-1].results.trials == 4
    assert has_best(folder)


@pytest.mark.parametrize(
    ("fault", "words"), [(die, "was killed (signal 9)."), (hang, "took too long and was ended.")]
)
def test_a_last_fit_that_is_lost_leaves_the_tested_model(iris, tmp_path, monkeypatch, fault, words):
    plan = PLAN.changed(minutes=5.0)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    monkeypatch.setattr(c, "refit_on_all_rows", fault)
    monkeypatch.setattr(c, "_refit_end", lambda problem, start: start + 3.0)
    events = list(tune(plan, iris, folder=folder))
    assert isinstance(events[-1], RunFinished)
    results = events[-1].results
    assert f"{c.KEPT_TESTED} The process that makes the result {words}" in results.remarks
    assert results.evaluation.fitted == "train"
    tested = best_of(folder)
    assert tested.predict(iris.features).shape == (iris.rows,)


def test_a_last_fit_is_not_begun_where_it_would_not_end_in_time(iris, monkeypatch):
    monkeypatch.setattr(c, "refit_on_all_rows", die)
    monkeypatch.setattr(c, "_refit_end", lambda problem, start: start)
    results = list(tune(PLAN.changed(minutes=2.0), iris))[-1].results
    assert f"{c.KEPT_TESTED} The time of 2 minutes was up." in results.remarks
