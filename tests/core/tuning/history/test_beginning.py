"""The Gaussian process begins with what did best on the earlier datasets most like this one."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest

from core.tuning.events import HistoryRead, TrialFinished, TrialStarted, TuningEnded
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import RecordedRun, tune


def data_of(folder, seed, rows=120):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 2))
    up = np.sin(4.0 * X[:, 0]) + random.normal(scale=0.3, size=rows) > 0.0
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(target=np.where(up, "up", "down"))
    frame.to_csv(folder / f"bands{seed}.csv", index=False)
    return DataPlan(str(folder / f"bands{seed}.csv"))


def plan(data, trials=5, **options):
    return Plan(data, "svm", "gp", trials=trials, folds=3, options=options)


def run(plan, history, folder=None, past=(), until=TuningEnded):
    found = []
    stream = tune(
        plan, read_data(plan.data), history=history, folder=folder, past=RecordedRun(list(past))
    )
    with contextlib.closing(stream):
        for event in stream:
            found.append(event)
            if isinstance(event, until):
                break
    return found


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def opened(tmp_path):
    return lambda: History(tmp_path / "history.sqlite3", starter=False)


@pytest.fixture
def best(tmp_path, opened):
    """The best settings of three earlier datasets, the one of the same size first."""
    settings = {}
    for seed, rows in ((1, 120), (2, 100), (3, 60)):
        events = run(plan(data_of(tmp_path, seed, rows), earlier=0), opened)
        trials = of(TrialFinished, events)
        settings[seed] = max(trials, key=lambda trial: trial.score).setting
    return list(settings.values())


def test_the_default_comes_first_then_the_best_of_the_nearest_two(tmp_path, opened, best):
    events = run(plan(data_of(tmp_path, 4)), opened)
    begun = of(TrialStarted, events)
    assert begun[0].reason == "default"
    past = [trial for trial in begun if trial.reason == "past"]
    assert [trial.number for trial in past] == list(range(1, 1 + len(past)))
    near = [s for s in best if abs(np.log(s["C"] / begun[0].setting["C"])) > 1e-9]
    assert len(past) == min(2, len(near)) > 0
    for trial, setting in zip(past, near, strict=False):
        assert trial.setting["C"] == pytest.approx(setting["C"], rel=1e-3)  # kept to four digits
    assert not any(trial.reason == "past" for trial in begun[1 + len(past) :])


@pytest.mark.parametrize("options", [{"earlier": 0}, {"as_published": True}])
def test_as_published_it_begins_with_nothing(tmp_path, opened, best, options):
    events = run(plan(data_of(tmp_path, 4), **options), opened)
    assert not of(HistoryRead, events)
    assert all(trial.reason != "past" for trial in of(TrialStarted, events))


def test_what_is_switched_off_is_not_used(tmp_path, opened, best):
    with opened() as history:
        history.set_enabled(on=False)
    events = run(plan(data_of(tmp_path, 4)), opened)
    assert all(trial.reason != "past" for trial in of(TrialStarted, events))


def test_a_resumed_run_goes_on_as_it_began_whatever_the_history_holds_now(tmp_path, opened, best):
    data = data_of(tmp_path, 4)
    whole = of(TrialStarted, run(plan(data), opened))
    again = plan(data)
    folder = RunFolder.create(again, root=tmp_path / "runs")
    half = run(again, opened, folder, until=TrialFinished)
    with opened() as history:
        history.set_enabled(on=False)
    rest = run(again, opened, folder, past=folder.all_events())
    settings = {one.number: one.setting for one in of(TrialStarted, [*half, *rest])}
    assert settings == {one.number: one.setting for one in whole}


def test_a_run_that_began_without_the_history_goes_on_without_it(tmp_path, opened, best):
    data = data_of(tmp_path, 4)
    alone = plan(data)
    folder = RunFolder.create(alone, root=tmp_path / "runs")
    run(alone, None, folder, until=TrialFinished)
    past = [event for event in folder.all_events() if not isinstance(event, HistoryRead)]
    rest = run(alone, opened, folder, past=past)
    assert not of(HistoryRead, rest)
    assert all(trial.reason != "past" for trial in of(TrialStarted, rest))
