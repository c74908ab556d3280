"""What a run leaves in the history, what it reads and begins with, and how it goes on without."""

from __future__ import annotations

import contextlib
import math
import shutil
import sqlite3
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from run_events import InProcess, about, of, settings, until
from run_events import tune_here as tune

from core.errors import UnusableError
from core.samplers.proposing_sampler import ProposingSampler, note_reason
from core.samplers.transfer.history import EarlierDataset, TuningHistory, may_be_present
from core.tuning.events import (
    HistoryRead,
    RemarkMade,
    RunFinished,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.history.dataset_records import statistics_of
from core.tuning.history.run_history import metadata_of
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.runs.state import state_from_events
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Implementation, Strategy
from core.tuning.trials.executors import ProcessExecutor
from core.tuning.tune import RecordedRun


class Follower(ProposingSampler):
    """Proposes what was best in the history, then draws."""

    def __init__(self, space, history, seed):
        super().__init__(space, seed=seed)
        self.history = history

    def propose(self, study, trial, space):
        if self.history.datasets and trial.number == 0:
            one = self.history.datasets[0]
            note_reason(study, trial, "past")
            return one.settings[one.scores.index(max(one.scores))]
        note_reason(study, trial, "random")
        return space.setting(
            self.random_generator(trial, 0).random(sum(a.width for a in space.axes))
        )


@pytest.fixture
def follows(monkeypatch):
    """A strategy that remembers, and what it was told at each beginning."""
    told: list[TuningHistory] = []

    def make(space, options, seed, history):
        told.append(history)
        return Follower(space, history, seed)

    implementation = Implementation((), make)
    words = ("follow", "Follow", "trials", "", "", "")
    entry = Strategy(*words, lambda: implementation, default_trials=3, uses_history=True)
    monkeypatch.setitem(STRATEGIES.own_entries, "follow", entry)
    return told


@pytest.fixture
def opened(tmp_path):
    return lambda: History(tmp_path / "history.sqlite3", starter=False)


def kept_in(opened):
    """The datasets of the history, in a line each."""
    with contextlib.closing(opened()) as history:
        return history.entries()


def past_trials(begun):
    return [trial for trial in begun if trial.reason == "past"]


def plan(strategy, trials=3, seed=0):
    return Plan(DataPlan("sample:iris"), "logistic", strategy, trials=trials, seed=seed, folds=3)


def test_a_run_leaves_its_statistics_its_settings_and_its_scores(iris, opened):
    events = list(tune(plan("random"), iris, history=opened))
    with contextlib.closing(opened()) as history:
        (earlier,) = history.datasets_for(metadata_of(build_problem(plan("random"), iris)))
    trials = of(TrialFinished, events)
    assert [dict(one.setting) for one in trials] == list(earlier.settings)
    assert [one.score for one in trials] == list(earlier.scores)
    # 105 of 150 rows are for training; four columns, three classes.
    assert earlier.statistics == pytest.approx((math.log(105), math.log(4), 3), abs=2e-3)
    assert events[0].remembered_as == earlier.id
    list(tune(plan("mm"), iris, history=opened))  # a penalty learner leaves nothing
    assert [entry.trials for entry in kept_in(opened)] == [3]


def test_a_later_run_is_told_of_the_earlier_one_and_begins_with_its_best(
    iris, wine, opened, follows
):
    first = list(tune(plan("random", trials=6), wine, history=opened))
    best = max(of(TrialFinished, first), key=lambda event: event.score)
    later = list(tune(plan("follow"), iris, history=opened))
    assert isinstance(later[1], HistoryRead)
    assert [one.id for one in later[1].datasets] == [first[0].remembered_as]
    begun = of(TrialStarted, later)[0]
    assert begun.reason == "past"
    assert begun.setting["C"] == pytest.approx(best.setting["C"])
    assert follows[0].datasets[0].scores == tuple(e.score for e in of(TrialFinished, first))
    assert isinstance(later[-1], RunFinished)


@pytest.mark.parametrize("strategy", ["transfer", "scot", "gp"])
def test_an_earlier_run_on_the_same_dataset_teaches_nothing(iris, wine, opened, strategy):
    for dataset, seed in ((iris, 1), (iris, 2), (wine, 1)):
        list(tune(plan("random", seed=seed), dataset, history=opened))
    events = list(tune(plan(strategy), iris, history=opened))
    (read,) = of(HistoryRead, events)
    assert read.same == 2
    assert {round(math.exp(one.statistics[1])) for one in read.datasets} <= {13}  # wine's columns
    assert len(read.datasets) == 1 or strategy == "gp"  # nothing of it where the default was best


def test_with_no_history_the_default_setting_comes_first(iris, opened, follows):
    events = list(tune(plan("follow"), iris, history=opened))
    assert of(HistoryRead, events)[0].datasets == []
    assert of(TrialStarted, events)[0].reason == "default"


@pytest.mark.parametrize("strategy", ["transfer", "scot"])
@pytest.mark.parametrize("workers", [1, 2])
def test_the_default_is_among_the_first_three(iris, wine, opened, strategy, workers):
    list(tune(plan("random", trials=6, seed=1), wine, history=opened))
    later = replace(plan(strategy, trials=4), workers=workers)
    executor = InProcess if workers == 1 else ProcessExecutor
    events = list(tune(later, iris, history=opened, executor=executor))
    begun = of(TrialStarted, events)
    default = build_problem(later, iris).default
    assert [one.number for one in begun if one.setting == default] == [1]
    assert [one.reason for one in begun][:2] == ["past", "default"]
    state = state_from_events(events)
    assert state.default_trial.setting == default
    assert state.prediction(state.default_trial) is None
    assert state.find_trial(0).response is not None


def test_a_default_that_the_history_begins_with_is_tried_once(iris, wine, opened, follows):
    list(tune(plan("random", trials=1), wine, history=opened))  # the default setting alone
    events = list(tune(plan("follow"), iris, history=opened))
    begun = of(TrialStarted, events)
    assert [one.reason for one in begun] == ["past", "random", "random"]
    assert begun[0].setting == build_problem(plan("follow"), iris).default
    assert state_from_events(events).default_trial.number == 0


@pytest.mark.parametrize("ended", [0, 1, 2])
def test_a_resumed_run_tries_the_default_once(iris, wine, opened, ended):
    list(tune(plan("random"), wine, history=opened))
    transfer = plan("transfer", trials=4)
    whole = list(tune(transfer, iris, history=opened))
    with contextlib.closing(opened()) as history:
        history.forget_dataset(whole[0].remembered_as)
    past = until(tune(transfer, iris, history=opened), about(ended, TrialFinished))
    rest = list(tune(transfer, iris, past=past, history=opened))
    assert settings([*past, *rest]) == settings(whole)


def test_a_resumed_run_is_told_what_it_was_told_before(iris, wine, opened, follows):
    list(tune(plan("random"), wine, history=opened))
    longer = plan("follow", trials=4)
    past = until(tune(longer, iris, history=opened), about(1, TrialFinished))
    list(tune(plan("random", seed=1), wine, history=opened))  # more is known in between
    rest = list(tune(longer, iris, past=past, history=opened))
    assert of(HistoryRead, rest) == []
    assert len(follows) == 2
    assert follows[0] == follows[1]
    kept = {entry.id: entry.trials for entry in kept_in(opened)}
    assert kept[past[0].remembered_as] == 4
    assert isinstance(list(tune(longer, iris, history=None))[-1], RunFinished)


def test_what_a_kill_left_out_of_the_history_is_added_when_the_run_goes_on(iris, opened, tmp_path):
    events = list(tune(plan("random", trials=2), iris, history=opened))
    with contextlib.closing(sqlite3.connect(tmp_path / "history.sqlite3")) as database:
        lost = database.execute("DELETE FROM trials WHERE number = 1").rowcount
        database.commit()
    assert lost == 1
    list(tune(plan("random", trials=2), iris, past=RecordedRun(events, 1), history=opened))
    kept = [(entry.id, entry.trials) for entry in kept_in(opened)]
    assert kept == [(events[0].remembered_as, 3)]


def copy_of(path, name):
    """A copy of a history as it is now, which other runs may write."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM INTO ?", (str(path.with_name(name)),))
    return path.with_name(name)


def rows_of(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(
            "SELECT id, trials.number, setting, score FROM datasets LEFT JOIN trials "
            "ON dataset = datasets.number ORDER BY id, trials.number"
        ).fetchall()


def test_a_run_killed_anywhere_leaves_the_history_of_one_that_was_not(iris, tmp_path):
    """Killed before an event is recorded and after it, with the history as it was then."""
    path, events, copies = tmp_path / "history.sqlite3", [], []
    short = plan("random", trials=2)
    for event in tune(short, iris, history=lambda: History(path, starter=False)):
        events.append(event)
        copies.append(copy_of(path, f"{len(events)}.sqlite3"))
        if isinstance(event, TuningEnded):
            break
    whole, file = rows_of(path), tmp_path / "resumed.sqlite3"
    resumed = partial(History, file, starter=False)
    assert [row[1] for row in whole] == [0, 1]
    for count in range(1, len(events)):
        for kept in (copies[count - 1], copies[count]):
            copy_of(kept, file.name)
            until(tune(short, iris, past=events[:count], history=resumed))
            assert rows_of(file) == whole, f"after event {count}, {events[count - 1]}"
            file.unlink()


def unusable(*_):
    raise UnusableError("the disk is full", where="history.sqlite3")


@pytest.mark.parametrize("fault", ["opening", "writing"])
def test_a_history_that_cannot_be_used_is_said_once_and_the_run_goes_on(
    iris, follows, opened, monkeypatch, fault
):
    monkeypatch.setattr(History, "add_trial", unusable)
    opening = unusable if fault == "opening" else opened
    events = list(tune(plan("follow"), iris, history=opening))
    (notice,) = of(RemarkMade, events)
    assert "the disk is full" in notice.sentence
    assert "without" in notice.sentence
    assert len(of(TrialFinished, events)) == 3
    assert isinstance(events[-1], RunFinished)


def data_of(folder, seed, rows=120, columns="ab"):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, len(columns)))
    up = np.sin(4.0 * X[:, 0]) + random.normal(scale=0.3, size=rows) > 0.0
    frame = pd.DataFrame(X, columns=list(columns)).assign(target=np.where(up, "up", "down"))
    frame.to_csv(folder / f"bands{seed}.csv", index=False)
    return DataPlan(str(folder / f"bands{seed}.csv"))


def test_an_earlier_run_on_the_second_file_is_known_by_its_rows(tmp_path):
    train, test = data_of(tmp_path, 1, rows=900), data_of(tmp_path, 2, rows=60)
    both = gp_plan(replace(train, test_file=test.file))
    metadata = metadata_of(build_problem(both, read_data(both.data)))
    earlier = metadata_of(build_problem(gp_plan(test), read_data(test)))
    assert metadata.test_statistics == (statistics_of(60, 2, 2),)
    dataset = EarlierDataset("a", earlier.statistics, (), ())
    assert may_be_present(dataset, metadata.test_statistics)
    assert not may_be_present(dataset, [metadata.statistics])


def gp_plan(data, trials=5, **options):
    return Plan(data, "svm", "gp", trials=trials, folds=3, options=options)


def tuned(plan, history, past=(), last=TuningEnded):
    dataset = read_data(plan.data)
    return until(tune(plan, dataset, history=history, past=past), last)


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory):
    """A history of three datasets, and the best setting of each, the one of the same size first."""
    place, best = tmp_path_factory.mktemp("three"), []
    file = place / "history.sqlite3"
    for seed, rows in ((1, 120), (2, 100), (3, 60)):
        plan = gp_plan(data_of(place, seed, rows), earlier=0)
        events = tuned(plan, lambda: History(file, starter=False))
        best.append(max(of(TrialFinished, events), key=lambda trial: trial.score).setting)
    return file, best


@pytest.fixture
def best(three_runs, tmp_path):
    """The best settings of the three datasets; the history is a copy."""
    shutil.copy(three_runs[0], tmp_path / "history.sqlite3")
    return three_runs[1]


def test_the_default_comes_first_then_the_best_of_the_nearest_two(tmp_path, opened, best):
    begun = of(TrialStarted, tuned(gp_plan(data_of(tmp_path, 4, columns="abc")), opened))
    assert begun[0].reason == "default"
    past = past_trials(begun)
    near = [s for s in best if abs(np.log(s["C"] / begun[0].setting["C"])) > 1e-9]
    near = list({setting["C"]: setting for setting in near}.values())  # the same counts once
    assert len(past) == min(2, len(near)) > 0
    assert past == begun[1 : 1 + len(past)]
    for trial, setting in zip(past, near, strict=False):
        assert trial.setting["C"] == pytest.approx(setting["C"], rel=1e-3)  # kept to four digits


@pytest.mark.parametrize("options", [{"earlier": 0}, {"as_published": True}])
def test_as_published_it_begins_with_nothing(tmp_path, opened, best, options):
    events = tuned(gp_plan(data_of(tmp_path, 4, columns="abc"), **options), opened)
    assert of(HistoryRead, events) == past_trials(of(TrialStarted, events)) == []


def test_a_run_that_began_without_the_history_goes_on_without_it(tmp_path, opened, best):
    alone = gp_plan(data_of(tmp_path, 4, columns="abc"))
    past = [e for e in tuned(alone, None, last=TrialFinished) if not isinstance(e, HistoryRead)]
    rest = tuned(alone, opened, past=past)
    assert of(HistoryRead, rest) == past_trials(of(TrialStarted, rest)) == []
