"""Runs of several models and the history: what they leave there, and what they begin with."""

import contextlib
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from run_events import InProcess, of, until

from core.estimators.multi_model import MODEL, split_model_setting
from core.space import unit_vector
from core.tuning.events import HistoryRead, ModelScreened, TrialFinished, TrialStarted, TuningEnded
from core.tuning.history.run_history import SAME, metadata_of
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.multi_model_study import MultiModelStudy
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.state import state_from_events
from core.tuning.trials.trial_run import AskTellStudy
from core.tuning.tune import RecordedRun, tune

NAMES = ("logistic", "svm")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def two_models():
    """Two models instead of all, which would take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        yield


def table(folder, seed, columns="ab"):
    """Two classes in narrow bands: neither a line nor a wide kernel divides them well."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, len(columns)))
    up = np.sin(4.0 * X[:, 0]) + random.normal(scale=0.3, size=150) > 0.0
    frame = pd.DataFrame(X, columns=list(columns)).assign(target=np.where(up, "up", "down"))
    path = folder / f"bands{seed}.csv"
    frame.to_csv(path, index=False)
    return DataPlan(str(path))


def planned(data, trials=11, **options):
    # Four folds: a trial is ended early after three at the earliest.
    return Plan(data, "auto", "race", trials=trials, folds=4, options={"repeats": 1, **options})


def run(plan, history, last=TuningEnded, **given):
    """The events of a run up to the end of its tuning, or an earlier one."""
    dataset = read_data(plan.data)
    return until(tune(plan, dataset, history=history, executor=InProcess, **given), last)


def of_model(kind, events, model):
    return [event for event in of(kind, events) if split_model_setting(event.setting)[0] == model]


def whole_trials(events, model):
    return [event for event in of_model(TrialFinished, events, model) if not event.behind]


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def copied(path, other):
    """Opens a copy of a history."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM INTO ?", (str(other),))
    return lambda: History(other, starter=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("histories")


@pytest.fixture(scope="module")
def first(place):
    """A run of several models and the history that it leaves; a trial that is worse ends early."""
    data, path = table(place, 1), place / "first.sqlite3"
    with pytest.MonkeyPatch.context() as patch:
        late = property(lambda study: 1e-9 if len(study._model_by_trial) > 6 else None)
        patch.setattr(MultiModelStudy, "_fold_spread", late)
        return run(planned(data), lambda: History(path, starter=False)), path, data


@pytest.fixture
def opened(first, tmp_path):
    """Opens a copy of the first run's history."""
    return copied(first[1], tmp_path / "history.sqlite3")


@pytest.fixture(scope="module")
def second(first, place):
    """A run on a table of as many rows, with what the first one left."""
    data = table(place, 2, "abc")
    return run(planned(data, 6), copied(first[1], place / "second.sqlite3")), data


def test_whole_trials_are_kept_under_their_model(first):
    events, path, _ = first
    assert any(event.behind for event in of(TrialFinished, events))
    kept = rows(path, "SELECT number, id, model, metric, task, axes FROM datasets")
    assert sorted(row[2] for row in kept) == sorted(NAMES)
    for at, id, model, metric, task, axes in kept:
        assert (metric, task) == (events[0].metric, "binary")
        assert id.startswith(events[0].remembered_as)
        trials = rows(path, f"SELECT number, setting, score FROM trials WHERE dataset = {at}")
        assert {
            number: (dict(zip(json.loads(axes), json.loads(values), strict=True)), score)
            for number, values, score in trials
        } == {
            trial.number: (split_model_setting(trial.setting)[1], trial.score)
            for trial in whole_trials(events, model)
        }


def test_a_run_of_one_model_would_have_left_the_same(first, tmp_path):
    _, path, data = first
    alone = tmp_path / "alone.sqlite3"
    run(Plan(data, "svm", "gp", trials=1, folds=4), lambda: History(alone, starter=False))
    asked = (
        "SELECT model, task, metric, maximize, strategy, log_rows, log_features, classes, axes, "
        "origin FROM datasets WHERE model = 'svm'"
    )
    assert rows(alone, asked) == rows(path, asked)
    default = (
        "SELECT setting, score FROM trials JOIN datasets ON dataset = datasets.number "
        "WHERE model = 'svm' ORDER BY trials.number LIMIT 1"
    )
    ((setting, score),) = rows(path, default)
    assert rows(alone, default) == [(setting, pytest.approx(score, abs=0.1))]


def test_a_later_run_screens_what_was_best_before(first, second):
    # No more is read of an earlier dataset than is screened.
    read = [dataset for event in of(HistoryRead, second[0]) for dataset in event.datasets]
    assert {len(dataset.scores) for dataset in read} == {1}
    for model in NAMES:
        default, *past = of_model(ModelScreened, second[0], model)
        assert [default.reason, *(event.reason for event in past)] == ["default", "past"][
            : 1 + len(past)
        ]
        best = max(whole_trials(first[0], model), key=lambda trial: trial.score).setting
        space = build_problem(planned(second[1]), read_data(second[1])).single_model(model).space
        ends = [unit_vector(space, split_model_setting(s)[1]) for s in (best, default.setting)]
        is_other = np.abs(ends[0] - ends[1]).max() > SAME
        expected = [(best, default.rows)] if is_other else []
        assert [(event.setting, event.rows) for event in past] == expected
        assert past or model != "svm"  # what follows is about it


def test_the_default_comes_first_and_the_better_past_setting_after_it(second):
    events, taken, best = second[0], [], {}
    for model in NAMES:
        default, *past = of_model(ModelScreened, events, model)
        best[model] = max(event.score for event in (default, *past))
        begun = of_model(TrialStarted, events, model)
        assert (begun[0].reason, begun[0].setting) == ("default", default.setting)
        ahead = [event for event in past if event.score >= default.score]
        if ahead:
            assert (begun[1].reason, begun[1].setting) == ("past", ahead[0].setting)
            taken.append(model)
        assert all(trial.reason != "past" for trial in begun[2 if ahead else 1 :])
    assert "svm" in taken
    standings = model_leaderboard(state_from_events(events))
    assert {standing.model: standing.look for standing in standings} == best
    before = [e for e in events if not isinstance(e, (TrialStarted, TrialFinished))]
    assert {m: look.score for m, look in state_from_events(before).looks.items()} == best


@pytest.mark.parametrize("cut", ["read", "screening", "trials"])
def test_a_resumed_run_goes_on_with_what_it_had_read(second, tmp_path, cut):
    events, data = second
    last = {
        "read": of(HistoryRead, events)[-1],
        "screening": of(ModelScreened, events)[0],
        "trials": of(TrialFinished, events)[3],
    }[cut]
    past = events[: events.index(last) + 1]

    def changed():
        """Another history: of the same models, with other settings that were best."""
        history = History(tmp_path / "changed.sqlite3", starter=False)
        problem = build_problem(planned(data), read_data(data))
        for single in map(problem.single_model, NAMES):
            id = history.begin_dataset(metadata_of(single))
            history.add_trial(id, 0, {**single.default, "C": 123.0}, 1.0)
        return history

    rest = run(planned(data, 6), changed, past=past)
    assert not of(HistoryRead, rest)
    assert len(of(TrialFinished, [*past, *rest])) == 6
    for model in NAMES:
        screened, before = (
            [(event.setting, event.reason) for event in of_model(ModelScreened, told, model)]
            for told in ([*past, *rest], events)
        )
        assert screened == before
        begun, before = (
            {trial.number: trial.setting for trial in of_model(TrialStarted, told, model)}
            for told in ([*past, *rest], events)
        )
        # What follows the starts may be of another model: that is chosen by seconds.
        assert [begun[n] for n in sorted(begun)][:2] == [before[n] for n in sorted(before)][:2]


def test_a_resume_completes_the_history_and_records_nothing_twice(first, opened):
    events, _, data = first
    past = events[: events.index(of(TrialFinished, events)[5]) + 1]
    path = opened().path
    with contextlib.closing(sqlite3.connect(path)) as database:
        # What came after the kill, and the last trial before it.
        database.execute("DELETE FROM trials WHERE number > 4")
        database.commit()
    for more in (-3, 1):
        past += run(planned(data), opened, past=RecordedRun(past, more))
    assert rows(path, "SELECT count(*) FROM datasets") == [(2,)]
    kept = rows(path, "SELECT model, score FROM trials JOIN datasets ON dataset = datasets.number")
    ended = {trial.number: trial for trial in of(TrialFinished, past) if not trial.behind}
    assert len(ended) > 6
    assert sorted(kept) == sorted((trial.setting[MODEL], trial.score) for trial in ended.values())


class Killed(BaseException):
    """In place of SIGKILL: nothing after it runs."""


@pytest.mark.parametrize("is_written", [False, True])
def test_a_kill_around_the_row_of_a_first_trial_loses_none(
    first, tmp_path, monkeypatch, is_written
):
    data, path, events = first[2], tmp_path / "history.sqlite3", []
    write = History.add_trial

    def killed(history, id, *trial):
        if is_written or not id.endswith("svm"):
            write(history, id, *trial)
        if id.endswith("svm"):
            raise Killed

    monkeypatch.setattr(History, "add_trial", killed)
    opened = {"history": lambda: History(path, starter=False), "executor": InProcess}
    with pytest.raises(Killed):
        events.extend(tune(planned(data, 5), read_data(data), **opened))
    monkeypatch.setattr(History, "add_trial", write)
    assert not of_model(TrialFinished, events, "svm")
    # A score that is another one where the trial is repeated: the events have the last word.
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE trials SET score = -1.0")
        database.commit()
    events += run(planned(data, 5), opened["history"], past=events)
    kept = rows(path, "SELECT model, score FROM trials JOIN datasets ON dataset = datasets.number")
    assert "svm" in dict(kept)
    assert sorted(kept) == sorted(
        (model, trial.score) for model in NAMES for trial in whole_trials(events, model)
    )


def test_what_was_deleted_meanwhile_does_not_come_back(first, opened):
    events, _, data = first
    past = events[: events.index(of_model(TrialFinished, events, "svm")[0]) + 1]
    with contextlib.closing(opened()) as history:
        history.forget_dataset(next(e.id for e in history.entries() if e.model == "svm"))

    def is_svm(event):
        return bool(of_model(TrialFinished, [event], "svm"))

    rest = run(planned(data), opened, is_svm, past=past)
    assert of_model(TrialFinished, rest, "svm")
    assert rows(opened().path, "SELECT model FROM datasets") == [("logistic",)]


def test_with_the_history_off_nothing_is_read_or_kept(first, opened):
    data = first[2]
    single = Plan(data, "logistic", "random", trials=2, folds=3)
    before = rows(opened().path, "SELECT count(*) FROM trials")
    with contextlib.closing(opened()) as history:
        history.set_enabled(False)
    events = run(planned(data, 3), opened)
    alone = run(single, opened, TrialFinished)
    assert events[0].remembered_as == ""
    # A run that began without it goes on without it.
    with contextlib.closing(opened()) as history:
        history.set_enabled(True)
    more = run(planned(data, 3), opened, past=RecordedRun(events, 1))
    run(single, opened, past=alone)
    assert not of(HistoryRead, [*events, *more])
    assert {event.reason for event in of(ModelScreened, events)} == {"default"}
    assert rows(opened().path, "SELECT count(*) FROM trials") == before
    assert rows(opened().path, "SELECT count(*) FROM datasets") == [(2,)]


def test_learning_from_earlier_datasets_gets_each_models_own(first, opened, monkeypatch, tmp_path):
    earlier, data, told = first[0], table(tmp_path, 2, "abc"), {}

    class Recording(AskTellStudy):
        def __init__(self, problem, history, starts=(), **given):
            told[problem.model.name] = history
            super().__init__(problem, history, starts, **given)

    monkeypatch.setattr("core.tuning.race.model_arm.AskTellStudy", Recording)
    events = run(planned(data, 10, search="transfer"), opened)
    for model in NAMES:
        (dataset,) = told[model].datasets
        assert dataset.scores == tuple(trial.score for trial in whole_trials(earlier, model))
        (read,) = (event for event in of(HistoryRead, events) if event.model == model)
        assert read.datasets[0].scores == list(dataset.scores)
        assert of_model(TrialStarted, events, model)[0].reason == "default"
    started = of(TrialStarted, events)
    assert {"improve", "explore"} & {trial.reason for trial in started}
    assert all(trial.expected is None for trial in started if trial.reason == "start")
