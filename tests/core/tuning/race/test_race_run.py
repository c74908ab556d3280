"""Runs of several models, from the screening to the model that is kept."""

import itertools
import math
import shutil
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from run_events import InProcess, about, of
from sklearn.ensemble import VotingClassifier

from core.errors import UnusableError
from core.estimators.multi_model import MODEL, split_model_setting
from core.estimators.registry import MODELS, model_named
from core.space import default_setting, setting_at
from core.tuning.events import (
    EnsembleUpdated,
    ModelsCompared,
    ModelScreened,
    ModelSelected,
    RunFinished,
    RunStarted,
    SurrogateFitted,
    TrialExcluded,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import MAX_USUAL_WORKERS
from core.tuning.problem_setup import build_problem
from core.tuning.race.ledger import MAX_STRETCH, MachineLoad
from core.tuning.race.multi_model_study import MultiModelStudy
from core.tuning.race.race_run import RaceRun, screening_row_count
from core.tuning.results.conclude import select_model
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.runs.trial_table import fold_error
from core.tuning.scores.scoring import TrialResult, score_setting
from core.tuning.trials.trial_run import TrialRun
from core.tuning.tune import RecordedRun, tune

WINE = DataPlan("sample:wine")
PLAN = Plan(WINE, "auto", "race", trials=14, folds=3, seed=2)
NAMES = ("logistic", "svm", "forest")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def three_models():
    """Three models instead of all, which would take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        yield


@pytest.fixture(scope="module")
def finished(wine, tmp_path_factory):
    """A finished run: its events and its folder."""
    folder = RunFolder.create(PLAN, path=tmp_path_factory.mktemp("race") / "run")
    return list(tune(PLAN, wine, folder=folder, executor=InProcess)), folder


@pytest.fixture
def events(finished):
    return finished[0]


def whole_trials(events):
    """Those that were not ended early."""
    return [trial for trial in of(TrialFinished, events) if not trial.behind]


def test_every_model_is_screened_and_begins_with_its_default(events, wine):
    screenings = {event.model: event for event in of(ModelScreened, events)}
    assert set(screenings) == set(NAMES)
    assert all(0 < event.score <= 1 and event.took > 0 for event in screenings.values())
    started = of(TrialStarted, events)
    for name in NAMES:
        first, *more = (trial for trial in started if trial.setting[MODEL] == name)
        assert first.reason == "default"
        assert set(first.setting) == {MODEL, *default_setting(MODELS[name].space_of(wine.task))}
        assert len(more) >= 2  # none is given up on one bad draw
    assert max(event.seconds for event in screenings.values()) <= started[0].seconds


def test_a_whole_trial_is_scored_as_the_model_alone_would_be(events, wine):
    # Nine folds of the same rows, as few rows are divided three times.
    assert of(RunStarted, events)[0].repeats == 3
    trials = whole_trials(events)
    assert {len(trial.fold_scores) for trial in trials} == {9}
    for trial in trials[:3]:
        name, own = split_model_setting(trial.setting)
        alone = build_problem(Plan(WINE, name, "random", folds=3, seed=2), wine)
        expected = score_setting(alone.scoring_job(), 0, own).score
        assert trial.score == pytest.approx(expected, abs=0.04)


def test_standings_are_what_the_trials_add_up_to(events):
    last = of(ModelsCompared, events)[-1]
    trials = whole_trials(events[: events.index(last)])
    for standing in last.models:
        own = [trial for trial in trials if trial.setting[MODEL] == standing.model]
        best = max(own, key=lambda trial: trial.score)
        assert (standing.trials, standing.best) == (len(own), pytest.approx(best.score))
        error = np.std(best.fold_scores, ddof=1) / math.sqrt(3)
        assert standing.error == pytest.approx(error)
        assert fold_error(best.fold_scores, repeats=3) == pytest.approx(error)
    scores = [standing.best for standing in last.models]
    assert scores == sorted(scores, reverse=True)
    assert last.next in NAMES


def test_a_surrogate_is_of_the_trials_of_one_model_and_proposes_the_next_one(events, wine):
    problem = build_problem(PLAN, wine)
    trials = {trial.number: trial for trial in of(TrialFinished, events)}
    surrogates = [(a, b) for a, b in itertools.pairwise(events) if isinstance(a, SurrogateFitted)]
    assert len(surrogates) >= 2
    for surrogate, following in surrogates:
        assert isinstance(following, TrialStarted)
        assert following.setting[MODEL] == surrogate.model
        assert surrogate.trials == len(surrogate.numbers) >= 2
        own = [trials[number] for number in surrogate.numbers]
        assert {trial.setting[MODEL] for trial in own} == {surrogate.model}
        assert surrogate.responses == pytest.approx([trial.score for trial in own])
        space = problem.single_model(surrogate.model).space
        for point, trial in zip(surrogate.points, own, strict=True):
            setting = setting_at(space, np.array(point))
            assert setting == pytest.approx(split_model_setting(trial.setting)[1])


def test_what_is_kept_predicts_as_well_as_it_is_told(finished, wine):
    events, folder = finished
    results, model = events[-1].results, best_of(folder)
    rows = build_problem(PLAN, wine).test_rows
    accuracy = np.mean(model.predict(wine.features.iloc[rows]) == wine.target[rows])
    # It is fitted again on all rows, those of the test among them.
    assert accuracy >= results["test"]["accuracy"] - 1e-9
    assert results["test"]["accuracy"] > results["baseline_test"]["accuracy"] + 0.3
    assert results["default_setting"][MODEL] == "logistic"
    if results.get("ensemble"):
        assert isinstance(model.named_steps["model"], VotingClassifier)
        best = max(whole_trials(events), key=lambda trial: trial.score)
        held_out, single = results["ensemble"]["held_out"], results["ensemble"]["single_held_out"]
        assert held_out["accuracy"] >= single["accuracy"] - fold_error(best.fold_scores, 3)


@pytest.mark.parametrize("number", [0, 9])
def test_an_interrupted_run_goes_on(events, wine, number):
    past = events[: events.index(next(filter(about(number, TrialStarted), events))) + 1]
    requests = deque([TrialExcluded(number=2)])
    recorded = RecordedRun(past, number + 5 - PLAN.trials)  # of fewer trials: each takes a while
    rest = list(tune(PLAN, wine, past=recorded, requests=requests, executor=InProcess))
    state = state_from_events([*past, *rest])
    assert sorted(trial.number for trial in state.trials) == list(range(number + 5))
    assert not of(ModelScreened, rest)  # nobody looks twice
    done = {trial.number: trial.setting for trial in of(TrialFinished, [*past, *rest])}
    assert all(done[trial.number] == trial.setting for trial in of(TrialStarted, past))
    assert isinstance(rest[-1], RunFinished)
    assert 2 not in (rest[-1].results.get("ensemble") or {}).get("members", [])


def test_a_model_that_fails_in_every_fold_is_left_out_with_its_reason(wine):
    problem = build_problem(PLAN.changed(options={"repeats": 1}), wine)
    study = MultiModelStudy(problem, {name: problem.single_model(name) for name in NAMES})
    for number in range(12):
        started = study.ask()
        fails = started.setting[MODEL] == "svm"
        folds, failure = ((), "ValueError: no.") if fails else ((0.9 - number / 100,) * 3, "")
        study.tell(TrialResult(started.number, started.setting, folds, failure=failure))
    by_name = {standing.model: standing for standing in study.compared.models}
    assert by_name["svm"].state == "failed"
    assert "ValueError: no." in by_name["svm"].why
    assert (by_name["svm"].trials, by_name["svm"].best) == (0, None)
    assert sum(by_name[name].trials for name in ("logistic", "forest")) >= 6
    assert not study.exhausted_reason


@pytest.mark.parametrize(
    ("model", "strategy", "words"), [("svm", "race", "several models"), ("auto", "gp", "one model")]
)
def test_one_model_alone_cannot_be_raced_and_several_need_it(wine, model, strategy, words):
    with pytest.raises(UnusableError, match=words):
        build_problem(Plan(WINE, model, strategy), wine)


def test_the_best_a_simpler_one_and_the_average_are_offered(events):
    results = events[-1].results
    offered = {candidate["kind"]: candidate for candidate in results["candidates"]}
    assert {"best", "default"} <= set(offered)
    assert [kind for kind, candidate in offered.items() if candidate["taken"]] == [results["taken"]]
    trials = whole_trials(events)
    best = max(trials, key=lambda trial: (trial.score, -trial.number))
    assert offered["best"]["trial"] == best.number
    close = [t for t in trials if t.score >= best.score - fold_error(best.fold_scores, 3)]
    if "simplest" in offered:
        assert offered["simplest"]["trial"] in {trial.number for trial in close}
    linear = [trial for trial in close if trial.setting[MODEL] == "logistic"]
    if linear:
        simplest = offered.get("simplest", offered["best"])
        assert simplest["setting"][MODEL] == "logistic"
        # Told are the scores that are expected of new rows, both corrected for the choice.
        end = of(EnsembleUpdated, events)[-1]
        optimism = best.score - end.single if end.single_interval else 0.0
        highest = max(trial.score for trial in linear)
        assert simplest["validation"] == pytest.approx(highest - optimism)
    for kind, candidate in offered.items():
        if not candidate["taken"] and kind != "default":
            assert 0 < candidate["test"]["accuracy"] <= 1
            assert candidate["gain_over_baseline"]["difference"] > 0.3


@pytest.mark.parametrize("kind", ["default", "trial", "simplest"])
def test_a_person_picks_another_one(finished, wine, tmp_path, kind):
    events, folder = finished
    copy = RunFolder(shutil.copytree(folder.path, tmp_path / "copy"))
    trial = whole_trials(events)[3]
    number = trial.number if kind == "trial" else None
    results = select_model(copy, ModelSelected(kind=kind, number=number), wine).results
    expected = {"trial": trial.setting, "default": results["default_setting"]}
    assert results["setting"] == expected.get(kind, results["setting"])
    name, own = split_model_setting(results["setting"])
    own_model = model_named(name, probabilities=True).build("multiclass", own, PLAN.seed)
    assert type(best_of(copy).named_steps["model"]) is type(own_model)
    state = state_from_events(copy.all_events())
    assert state.results["taken"] == results["taken"] == kind
    assert state.finished == state_from_events(events).finished


def test_going_on_with_a_run_forgets_what_a_person_picked(events, wine):
    past = RecordedRun([*events, ModelSelected(kind="default")], 1)
    *_, last = tune(PLAN, wine, past=past, executor=InProcess)
    assert last.results["taken"] in ("best", "average")


@pytest.mark.parametrize(
    ("selected", "words"),
    [
        (ModelSelected(kind="trial", number=999), "no trial 999"),
        (ModelSelected(kind="fastest"), "nothing to select called “fastest”"),
    ],
)
def test_what_is_not_there_cannot_be_picked(finished, wine, selected, words):
    with pytest.raises(UnusableError, match=words):
        select_model(finished[1], selected, wine)


def race_of(wine, seconds=0.0, **changes):
    """A run that has taken some seconds, and whose next trial is to take 80."""
    problem = build_problem(PLAN.changed(**changes), wine)
    run = RaceRun(problem, RunState(), SimpleNamespace(seconds=seconds), deque(), None)
    run._study = SimpleNamespace(expected_seconds=80.0)
    return run


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({}, None),
        ({"minutes": 20.0}, 300.0),  # a quarter of them
        ({"minutes": 10.0}, 240.0),  # three times what it is expected to take
        ({"minutes": 10.0, "time_limit": 7.0}, 7.0),
    ],
)
def test_a_trial_may_take_a_share_of_the_minutes(wine, changes, limit):
    run = race_of(wine, **changes)
    assert run.time_limit == limit
    run._load.add(TrialResult(0, {}, (1.0,), took=2.0, cpu=1.0))
    is_planned = limit is None or "time_limit" in changes
    assert run.time_limit == (limit if is_planned else 2 * limit)  # longer on a busy machine


def test_the_first_trial_of_one_model_may_take_all_the_time(wine):
    plan = Plan(WINE, "logistic", "random", folds=3, minutes=10.0)
    state = RunState()
    run = TrialRun(build_problem(plan, wine), state, SimpleNamespace(seconds=0.0), deque(), None)
    assert run.time_limit is None  # nobody knows before it how long one takes
    state.consume(TrialFinished(number=0, setting={"C": 1.0}, score=0.5, took=40.0))
    assert run.time_limit == 150.0
    state.consume(TrialFinished(number=1, setting={"C": 2.0}, score=0.5, took=80.0))
    assert run.time_limit == 3 * 60.0


def test_a_run_shorter_than_one_fit_gives_a_model_all_the_same(wine):
    events = list(tune(PLAN.changed(trials=None, minutes=1e-4), wine))
    assert isinstance(events[-1], RunFinished)
    assert len(of(TrialFinished, events)) == 1


def test_a_busy_machine_stretches_the_time_and_a_quiet_one_does_not():
    load = MachineLoad()
    assert load.stretch == 1.0
    for took, stretch in ((1.2, 1.0), (2.8, 2.0), (100.0, MAX_STRETCH)):
        load.add(TrialResult(0, {}, (1.0,), took=took, cpu=1.0))
        assert load.stretch == stretch


def test_of_a_resumed_run_only_the_seconds_to_come_are_stretched(wine):
    run = race_of(wine, seconds=90.0, minutes=2.0)
    run._load.add(TrialResult(0, {}, (1.0,), took=2.0, cpu=1.0))
    assert run._budget_seconds == 90.0 + 2.0 * 30.0
    run._clock = SimpleNamespace(seconds=120.0)  # as this part goes on
    assert run._budget_seconds == 150.0


@pytest.mark.parametrize(
    ("columns", "rows"), [(1, 1000), (400, 1000), (1000, 400), (1850, 250), (100_000, 250)]
)
def test_of_wide_tables_fewer_rows_are_screened(columns, rows):
    assert screening_row_count(columns) == rows


@pytest.mark.parametrize(
    ("changes", "minutes", "workers"),
    [
        ({}, 1.0, 3),  # the size of the table decides
        ({"workers": 2}, 1.0, 2),
        ({"trials": 9}, None, 1),  # the same trials again, whatever the machine
        ({"trials": 9, "minutes": 2.0}, 2.0, 1),
        ({"model": "svm", "strategy": "gp", "minutes": 2.0}, 2.0, 1),
    ],
)
def test_a_trial_a_processor_runs_at_a_time_where_minutes_bound_several_models(
    wine, monkeypatch, changes, minutes, workers
):
    plan = Plan(WINE, "auto", "race")
    monkeypatch.setenv("PYTHON_CPU_COUNT", "3")
    problem = build_problem(plan.changed(**changes), wine)
    assert (problem.minutes, problem.workers) == (minutes, workers)
    monkeypatch.setenv("PYTHON_CPU_COUNT", "64")
    if not changes:
        assert problem.workers == MAX_USUAL_WORKERS
