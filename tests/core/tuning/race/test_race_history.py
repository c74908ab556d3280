"""Runs of several models and the history: what they leave there, and what they begin with."""

import contextlib
import json
import math
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.estimators.multi_model import combined_setting, split_model_setting
from core.space import unit_vector
from core.tuning.events import (
    HistoryDataset,
    HistoryRead,
    ModelScreened,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.history.run_history import SAME, metadata_of, settings_in, warm_start_history
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.multi_model_study import MultiModelStudy, ScreeningTask
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.scores.scoring import TrialResult
from core.tuning.trials.trial_run import AskTellStudy
from core.tuning.tune import RecordedRun, tune

NAMES = ("logistic", "svm")


@pytest.fixture(autouse=True)
def two_models(monkeypatch):
    """Two models instead of all, which would take a minute."""
    monkeypatch.setattr(
        "core.tuning.candidate_models.selectable_models", lambda models, task: NAMES
    )


def table(folder, seed):
    """Two classes in narrow bands: neither a line nor a wide kernel divides them well."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 2))
    up = np.sin(4.0 * X[:, 0]) + random.normal(scale=0.3, size=150) > 0.0
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(target=np.where(up, "up", "down"))
    path = folder / f"bands{seed}.csv"
    frame.to_csv(path, index=False)
    return DataPlan(str(path))


def plan(data, **given):
    return Plan(data, "auto", "race", **{"trials": 14, "folds": 3, **given})


def drained(stream, until=TuningEnded):
    """The events until one of a kind, or until one that fits; then the run is stopped."""
    found = []
    with contextlib.closing(stream):
        for event in stream:
            found.append(event)
            if until(event) if not isinstance(until, type) else isinstance(event, until):
                break
    return found


def of(kind, events, model=None):
    found = [event for event in events if isinstance(event, kind)]
    if model is None:
        return found
    return [event for event in found if split_model_setting(event.setting)[0] == model]


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("histories")


@pytest.fixture(scope="module")
def first(place):
    """A run of several models and the history that it leaves; a trial that is worse ends early."""
    data, path = table(place, 1), place / "first.sqlite3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        late = property(lambda asker: 1e-9 if len(asker._model_by_trial) > 8 else None)
        patch.setattr(MultiModelStudy, "_fold_spread", late)
        stream = tune(plan(data), read_data(data), history=lambda: History(path, starter=False))
        return drained(stream), path, data


@pytest.fixture
def opened(first, tmp_path):
    """Opens a copy of the first run's history."""
    path = tmp_path / "history.sqlite3"
    with contextlib.closing(sqlite3.connect(first[1])) as database:
        database.execute("VACUUM INTO ?", (str(path),))
    return lambda: History(path, starter=False)


@pytest.fixture(scope="module")
def second(first, place):
    """A run on a table of the same size, with what the first one left; its folder."""
    data, path = table(place, 2), place / "second.sqlite3"
    with contextlib.closing(sqlite3.connect(first[1])) as database:
        database.execute("VACUUM INTO ?", (str(path),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        folder = RunFolder.create(plan(data, trials=8), path=place / "run")
        opened = lambda: History(path, starter=False)  # noqa: E731
        stream = tune(folder.plan, read_data(data), folder=folder, history=opened)
        return drained(stream), folder, opened, data


def whole(events, model):
    return [event for event in of(TrialFinished, events, model) if not event.behind]


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
            one.number: (split_model_setting(one.setting)[1], one.score)
            for one in whole(events, model)
        }


def test_a_run_of_one_model_would_have_left_the_same(first, tmp_path):
    _, path, data = first
    alone = tmp_path / "alone.sqlite3"
    one = Plan(data, "svm", "gp", trials=1, folds=3)
    drained(tune(one, read_data(data), history=lambda: History(alone, starter=False)))
    asked = (
        "SELECT model, task, metric, maximize, strategy, log_rows, log_features, classes, axes, "
        "origin FROM datasets WHERE model = 'svm'"
    )
    assert rows(alone, asked) == rows(path, asked)
    trials = (
        "SELECT setting, score FROM trials JOIN datasets ON dataset = datasets.number "
        "WHERE model = 'svm' ORDER BY trials.number LIMIT 1"
    )
    (of_race,), (of_one,) = rows(path, trials), rows(alone, trials)
    assert json.loads(of_race[0]) == json.loads(of_one[0])  # the default setting
    # The folds of few rows are drawn more than once in a run of several models.
    assert of_race[1] == pytest.approx(of_one[1], abs=0.1)


def test_a_later_run_looks_at_what_was_best_before(first, second):
    events, earlier = second[0], first[0]
    for model in NAMES:
        looks = of(ModelScreened, events, model)
        assert [look.reason for look in looks] == ["default", "past"][: len(looks)]
        best = max(whole(earlier, model), key=lambda one: one.score).setting
        space = build_problem(plan(second[3]), read_data(second[3])).single_model(model).space
        ends = [unit_vector(space, split_model_setting(s)[1]) for s in (best, looks[0].setting)]
        if np.abs(ends[0] - ends[1]).max() > SAME:
            assert looks[1].setting == best
            assert looks[0].rows == looks[1].rows
        else:
            assert len(looks) == 1
    assert of(ModelScreened, events, "svm")[1:]  # what follows is about it


def test_the_default_comes_first_and_the_better_past_setting_after_it(second):
    events, taken = second[0], []
    for model in NAMES:
        default, *past = of(ModelScreened, events, model)
        begun = of(TrialStarted, events, model)
        assert (begun[0].reason, begun[0].setting) == ("default", default.setting)
        ahead = [look for look in past if look.score >= default.score]
        if ahead:
            assert (begun[1].reason, begun[1].setting) == ("past", ahead[0].setting)
            taken.append(model)
        assert all(one.reason != "past" for one in begun[2 if ahead else 1 :])
    assert "svm" in taken
    best = {m: max(look.score for look in of(ModelScreened, events, m)) for m in NAMES}
    shown = {one.model: one.look for one in model_leaderboard(state_from_events(events))}
    assert shown == best
    before = [e for e in events if not isinstance(e, (TrialStarted, TrialFinished))]
    assert {m: look.score for m, look in state_from_events(before).looks.items()} == best


@pytest.mark.parametrize("cut", ["read", "one look", "looks", "trials"])
def test_a_resumed_run_goes_on_with_what_it_had_read(second, cut):
    events, _, _, data = second
    last = {
        "read": of(HistoryRead, events)[-1],
        "one look": of(ModelScreened, events)[0],
        "looks": of(ModelScreened, events)[-1],
        "trials": of(TrialFinished, events)[3],
    }[cut]
    past = events[: events.index(last) + 1]

    def changed():
        """Another history: of the same models, with other settings that were best."""
        history = History(second[1].path.parent / f"changed-{cut}.sqlite3", starter=False)
        whole = build_problem(plan(data), read_data(data))
        for name in NAMES:
            id = history.begin_dataset(metadata_of(whole.single_model(name)))
            history.add_trial(id, 0, {**whole.single_model(name).default, "C": 123.0}, 1.0)
        return history

    rest = drained(tune(plan(data, trials=8), read_data(data), past=past, history=changed))
    assert not of(HistoryRead, rest)
    told = [*past, *rest]
    for model in NAMES:
        assert [(one.setting, one.reason) for one in of(ModelScreened, told, model)] == [
            (one.setting, one.reason) for one in of(ModelScreened, events, model)
        ]
        begun, before = (
            {one.number: one for one in of(TrialStarted, run, model)} for run in (told, events)
        )
        # What follows the starts may be of another model: that is chosen by seconds.
        assert [begun[n].setting for n in sorted(begun)][:2] == [
            before[n].setting for n in sorted(before)
        ][:2]
    assert len(of(TrialFinished, told)) == 8


def test_a_resume_completes_the_history_and_records_nothing_twice(first, opened, tmp_path):
    events, _, data = first
    past = events[: events.index(of(TrialFinished, events)[5]) + 1]
    path = opened().path
    with contextlib.closing(sqlite3.connect(path)) as database:
        # What came after the kill, and the last trial before it.
        database.execute("DELETE FROM trials WHERE number > 4")
        database.commit()
    for more in (0, 1):
        past += drained(
            tune(plan(data), read_data(data), past=RecordedRun(past, more), history=opened)
        )
    assert rows(path, "SELECT count(*) FROM datasets") == [(2,)]
    kept = rows(path, "SELECT model, score FROM trials JOIN datasets ON dataset = datasets.number")
    ended = {one.number: one for one in of(TrialFinished, past) if not one.behind}
    assert len(ended) > 6
    assert sorted(kept) == sorted((one.setting["model"], one.score) for one in ended.values())


def test_what_was_deleted_meanwhile_does_not_come_back(first, opened):
    events, _, data = first
    past = events[: events.index(of(TrialFinished, events, "svm")[0]) + 1]
    with contextlib.closing(opened()) as history:
        gone = next(entry.id for entry in history.entries() if entry.model == "svm")
        history.forget_dataset(gone)
    rest = drained(
        tune(plan(data, trials=8), read_data(data), past=past, history=opened),
        lambda event: (
            isinstance(event, TrialFinished) and split_model_setting(event.setting)[0] == "svm"
        ),
    )
    assert of(TrialFinished, rest, "svm")
    assert {row[0] for row in rows(opened().path, "SELECT model FROM datasets")} == {"logistic"}


def test_with_the_history_off_nothing_is_read_or_kept(first, opened):
    data = first[2]
    with contextlib.closing(opened()) as history:
        history.set_enabled(False)
    before = rows(opened().path, "SELECT count(*) FROM trials")
    events = drained(tune(plan(data, trials=3), read_data(data), history=opened))
    assert events[0].remembered_as == ""
    with contextlib.closing(opened()) as history:
        history.set_enabled(True)
    more = drained(tune(plan(data, trials=4), read_data(data), past=events, history=opened))
    assert not of(HistoryRead, [*events, *more])
    assert {look.reason for look in of(ModelScreened, events)} == {"default"}
    assert rows(opened().path, "SELECT count(*) FROM trials") == before


def test_a_run_of_one_model_that_began_with_the_history_off_stays_out(first, opened):
    data = first[2]
    one = Plan(data, "logistic", "random", trials=2, folds=3)
    with contextlib.closing(opened()) as history:
        history.set_enabled(False)
    events = drained(tune(one, read_data(data), history=opened), TrialFinished)
    with contextlib.closing(opened()) as history:
        history.set_enabled(True)
    for _ in range(2):
        drained(tune(one, read_data(data), past=events, history=opened))
    assert rows(opened().path, "SELECT count(*) FROM datasets") == [(2,)]


def test_what_is_deleted_goes_from_the_run_that_looked_at_it(second):
    events, folder, opened, _ = second
    lines = (folder.path / "events.jsonl").read_bytes()
    (read,) = [one for one in of(HistoryRead, events) if one.model == "svm"]
    id = read.datasets[0].id
    assert [len(one.scores) for one in read.datasets] == [1]  # no more than is looked at
    assert id.encode() in lines
    with contextlib.closing(opened()) as history:
        history.forget_dataset(id)
        assert history.notices == []
    assert id.encode() not in (folder.path / "events.jsonl").read_bytes()
    assert len(folder.all_events()) == len(lines.splitlines())


def test_learning_from_earlier_datasets_gets_each_models_own(first, opened, monkeypatch):
    earlier, _, data = first
    told = {}

    class Recording(AskTellStudy):
        def __init__(self, problem, history, starts=(), **given):
            told[problem.model.name] = history
            super().__init__(problem, history, starts, **given)

    monkeypatch.setattr("core.tuning.race.model_arm.AskTellStudy", Recording)
    asked = plan(data, trials=10, options={"search": "transfer"})
    events = drained(tune(asked, read_data(data), history=opened))
    for model in NAMES:
        (dataset,) = told[model].datasets
        assert dataset.scores == tuple(one.score for one in whole(earlier, model))
        (read,) = [one for one in of(HistoryRead, events) if one.model == model]
        assert read.datasets[0].scores == list(dataset.scores)
        assert of(TrialStarted, events, model)[0].reason == "default"
    proposed = [one for one in of(TrialStarted, events) if one.reason in ("improve", "explore")]
    assert proposed
    assert all(one.expected is None for one in of(TrialStarted, events) if one.reason == "start")


def known(*datasets):
    """What is known of a model with one axis: (distance, {C: score})."""
    return HistoryRead(
        axes=["C", "class_weight"][:1],
        datasets=[
            HistoryDataset(str(at), [5.0, 1.0, 2.0], [[C] for C in trials], [*trials.values()],
                           True, False, float(distance))
            for at, (distance, trials) in enumerate(datasets)
        ],
    )  # fmt: skip


@pytest.fixture(scope="module")
def logistic(first):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        return build_problem(plan(first[2]), read_data(first[2])).single_model("logistic")


@pytest.mark.parametrize(
    ("datasets", "found"),
    [
        ([], []),
        ([(0, {1.0: 0.9})], []),  # the default itself
        ([(0, {1.02: 0.9})], []),  # next to it
        ([(2, {0.01: 0.9, 30.0: 0.8}), (1, {90.0: 0.7})], [90.0, 0.01]),  # the nearest first
        ([(1, {0.01: 0.9}), (2, {0.0101: 0.8}), (3, {30.0: 0.5})], [0.01, 30.0]),
        ([(1, {0.01: 0.9}), (2, {30.0: 0.5}), (3, {90.0: 0.5})], [0.01, 30.0]),  # two at most
        ([(1, {0.01: 0.8}), (1, {30.0: 0.9})], [30.0, 0.01]),  # as near: the better one
        ([(at, {1.0: 0.9}) for at in range(20)] + [(20, {30.0: 0.9})], []),  # too far away
    ],
)
def test_the_best_of_the_most_similar_datasets_are_recalled(logistic, datasets, found):
    assert [axis.name for axis in logistic.space] == ["C"]
    part = warm_start_history(known(*datasets), logistic)
    assert [setting["C"] for setting in settings_in(part)] == found
    assert warm_start_history(part, logistic) == part


def test_where_small_scores_are_good_the_smallest_is_best(logistic):
    read = known((1, {0.01: 0.9, 30.0: 0.2}))
    turned = replace(read, datasets=[replace(read.datasets[0], maximize=False)])
    assert settings_in(warm_start_history(turned, logistic)) == [{"C": 30.0}]


def test_all_looks_at_a_model_share_the_time_of_one(logistic):
    asker = MultiModelStudy(logistic, {"logistic": logistic}, {"logistic": known((1, {0.01: 0.9}),
                      (2, {30.0: 0.9}))})  # fmt: skip
    rows = len(logistic.splits[0][0])
    default, *past = asker.pending_screenings(rows)
    assert [look.setting["C"] for look in past] == [0.01, 30.0]
    assert asker.screening_limit(default, 5.0) == 5.0
    asker.add_screening(_taken(default, 2.0, 0.5))
    assert asker.screening_limit(past[0], 5.0) == pytest.approx(3.0)
    asker.add_screening(_taken(past[0], 1.5, None))
    assert asker.screening_limit(past[1], 5.0) == 0.0  # the default's would not fit
    assert asker.pending_screenings(rows) == past[1:]
    assert asker.arms["logistic"].warm_start is None
    asker.add_screening(_taken(past[1], 0.1, 0.5))
    assert asker.arms["logistic"].warm_start == {"C": 30.0}
    assert asker.arms["logistic"].screening_score == 0.5


def _taken(look: ScreeningTask, took, score):
    return ModelScreened(
        model=look.model, setting=look.setting, score=score, rows=look.rows, took=took,
        failure="" if score is not None else "It took too long.", reason=look.reason,
    )  # fmt: skip


def test_a_look_that_failed_counts_for_nothing():
    state = state_from_events(
        [ModelScreened(model="svm", setting=combined_setting("svm", {}), failure="No.")]
    )
    assert state.looks["svm"].score is None
    state.consume(ModelScreened(model="svm", score=0.5, reason="past"))
    state.consume(ModelScreened(model="svm", failure="No.", reason="past"))
    assert state.looks["svm"].score == 0.5
    assert math.isfinite(state.looks["svm"].score)


def test_the_price_of_many_rows_is_a_constant_and_a_slope(logistic):
    asker = MultiModelStudy(logistic, {"logistic": logistic})
    rows = len(logistic.splits[0][0]) // 2
    for look, took in zip(asker.pending_screenings(rows), (1.1, 1.3), strict=True):
        asker.add_screening(_taken(look, took, 0.5))
    small = rows // 3
    slope = 0.2 / (rows - small)  # a second is paid whatever the rows
    expected = 4 * (1.1 + slope * (10_000 - small))
    arm = asker.arms["logistic"]
    assert arm.expected_seconds({}, 10_000, 4) == pytest.approx(expected)


def test_very_many_rows_are_looked_at_in_ten_times_as_many_and_slow_models_waited_for(logistic):
    asker = MultiModelStudy(logistic, {"logistic": logistic})
    asker._fit_rows = 100_000
    small, large = asker.pending_screenings(1000)
    assert (small.rows, large.rows) == (1000, 10_000)
    asker.add_screening(_taken(small, 0.3, 0.5))
    # Ten times .3 s at most; part of the .3 s is paid once.
    assert asker.screening_limit(large, 1.8) == pytest.approx(1.5)
    asker.add_screening(_taken(large, 1.2, 0.7))
    assert asker.arms["logistic"].screening_score == 0.7
    assert asker.arms["logistic"].expected_seconds({}, 100_000, 1) == pytest.approx(10.2)


def test_a_trial_that_took_too_long_is_expected_to_take_twice_as_long(logistic):
    asker = MultiModelStudy(logistic, {"logistic": logistic})
    asker.add_screening(_taken(asker.pending_screenings(10_000)[0], 0.1, 0.5))
    begun = asker.ask(60.0)
    late = TrialResult(begun.number, begun.setting, (), 15.0, failure="It took too long.")
    asker.tell(late)
    assert asker.arms["logistic"].expected_seconds({}, 1000, 5) == 30.0
