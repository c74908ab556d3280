"""Runs of several models, from the screening to the model that is kept."""

import math
import shutil
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier

from core.errors import UnusableError
from core.estimators.multi_model import combined_setting, selectable_models, split_model_setting
from core.estimators.registry import MODELS, model_named
from core.space import default_setting
from core.tuning.events import (
    EnsembleUpdated,
    ModelsCompared,
    ModelScreened,
    ModelSelected,
    RunFailed,
    RunFinished,
    TrialExcluded,
    TrialFinished,
    TrialStarted,
    from_json,
    to_json,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import MAX_USUAL_WORKERS
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.ledger import MAX_STRETCH, MachineLoad
from core.tuning.race.multi_model_ensemble import MultiModelEnsemble
from core.tuning.race.multi_model_study import MultiModelStudy
from core.tuning.race.race_run import MAX_SCREENING_SECONDS, RaceRun
from core.tuning.results.conclude import conclude, select_model
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.scores.scoring import TrialRequest, TrialResult, score_setting, score_trial
from core.tuning.trials.executors import ProcessExecutor
from core.tuning.tune import RecordedRun, tune

WINE = DataPlan("sample:wine")
PLAN = Plan(WINE, "auto", "race", trials=20, folds=3, seed=2)
NAMES = ("logistic", "svm", "forest")


@pytest.fixture(autouse=True)
def three_models(monkeypatch):
    """Three models instead of all, which would take a minute."""
    monkeypatch.setattr(
        "core.tuning.candidate_models.selectable_models", lambda models, task: NAMES
    )


@pytest.fixture(scope="module")
def wine():
    return read_data(WINE)


@pytest.fixture(scope="module")
def finished(wine, tmp_path_factory):
    """A finished run: its events and its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.tuning.candidate_models.selectable_models", lambda models, task: NAMES)
        folder = RunFolder.create(PLAN, path=tmp_path_factory.mktemp("race") / "run")
        return list(tune(PLAN, wine, folder=folder)), folder


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_every_model_is_looked_at_and_begins_with_its_default(finished, wine):
    events, _ = finished
    looks = {event.model: event for event in of(ModelScreened, events)}
    assert set(looks) == set(NAMES)
    assert all(0 < look.score <= 1 and look.took > 0 for look in looks.values())
    for name in NAMES:
        own = [s for s in of(TrialStarted, events) if s.setting["model"] == name]
        assert own[0].reason == "default"
        problem = build_problem(PLAN, wine)
        defaults = MODELS[name].space_of(problem.dataset.task)
        assert set(own[0].setting) == {"model", *default_setting(defaults)}
        assert len(own) >= 3  # none is given up on one bad draw
    first_look = of(TrialStarted, events)[0].seconds
    assert all(look.seconds <= first_look for look in looks.values())


def test_a_whole_trial_is_scored_as_the_model_alone_would_be(finished, wine):
    events, _ = finished
    for event in of(TrialFinished, events)[:6]:
        if event.behind:
            continue
        name, own = split_model_setting(event.setting)
        alone = build_problem(Plan(WINE, name, "random", folds=3, seed=2), wine)
        assert event.score == pytest.approx(
            score_setting(alone.scoring_job(), 0, own).score, abs=0.04
        )


def test_standings_are_what_the_trials_add_up_to(finished):
    events, _ = finished
    last = of(ModelsCompared, events)[-1]
    before = events[: events.index(last)]
    for standing in last.models:
        whole = [trial for trial in of(TrialFinished, before) if not trial.behind]
        own = [trial for trial in whole if trial.setting["model"] == standing.model]
        assert standing.trials == len(own)
        best = max(own, key=lambda trial: trial.score)
        assert standing.best == pytest.approx(best.score)
        assert standing.error == pytest.approx(np.std(best.fold_scores, ddof=1) / math.sqrt(3))
    scores = [standing.best for standing in last.models]
    assert scores == sorted(scores, reverse=True)
    assert last.next in NAMES


def test_events_of_several_models_survive_json(finished):
    events, _ = finished
    for event in of((ModelScreened, ModelsCompared), events):
        assert from_json(to_json(event)) == event


def test_what_is_kept_predicts_as_well_as_it_is_told(finished, wine):
    events, folder = finished
    results = of(RunFinished, events)[0].results
    model = best_of(folder)
    fitted = build_problem(PLAN, wine)
    X = wine.features.iloc[fitted.test_rows]
    accuracy = np.mean(model.predict(X) == wine.target[fitted.test_rows])
    # It is fitted again on all rows, those of the test among them.
    assert accuracy >= results["test"]["accuracy"] - 1e-9
    assert results["test"]["accuracy"] > results["baseline_test"]["accuracy"] + 0.3
    assert results["default_setting"]["model"] == "logistic"
    if results.get("ensemble"):
        assert isinstance(model.named_steps["model"], VotingClassifier)
        held_out = results["ensemble"]["held_out"]["accuracy"]
        whole = [event for event in of(TrialFinished, events) if not event.behind]
        folds = max(whole, key=lambda event: event.score).fold_scores
        error = np.std(folds, ddof=1) / np.sqrt(PLAN.folds)
        assert held_out >= results["ensemble"]["single_held_out"]["accuracy"] - error


@pytest.mark.parametrize("after", [0, 4, 11])
def test_an_interrupted_run_goes_on(finished, wine, after):
    events, _ = finished
    cut = next(
        at
        for at, event in enumerate(events)
        if isinstance(event, TrialStarted) and event.number == after
    )
    past = events[: cut + 1]
    rest = list(tune(PLAN, wine, past=past))
    state = state_from_events([*past, *rest])
    assert state.finished + sum(bool(t.failure) for t in state.trials) == 20
    assert len({t.number for t in state.trials}) == 20
    assert not of(ModelScreened, rest)  # nobody looks twice
    begun = {s.number: s.setting for s in of(TrialStarted, past)}
    done = {t.number: t for t in of(TrialFinished, [*past, *rest])}
    assert all(done[number].setting == setting for number, setting in begun.items())
    assert isinstance(rest[-1], RunFinished)


def test_a_stopped_run_keeps_its_best(finished, wine, tmp_path):
    events, _ = finished
    cut = next(at for at, e in enumerate(events) if isinstance(e, TrialFinished) and e.number == 9)
    folder = RunFolder.create(PLAN, path=tmp_path / "stopped")
    last = conclude(PLAN, wine, events[: cut + 1], folder=folder)
    assert last.results["test"]["accuracy"] > 0.8
    assert best_of(folder) is not None


def test_an_excluded_trial_is_no_member(wine):
    requests: deque = deque()
    members = []
    for event in tune(PLAN.changed(trials=12), wine, requests=requests):
        if isinstance(event, TrialFinished) and event.number == 2:
            requests.append(TrialExcluded(number=2))
        if isinstance(event, RunFinished):
            members = (event.results.get("ensemble") or {}).get("members", [])
            assert 2 not in members


def test_a_model_that_fails_in_every_fold_is_left_out_with_its_reason(wine):
    problem = build_problem(PLAN, wine)
    asker, work = (
        MultiModelStudy(problem, {name: problem.single_model(name) for name in NAMES}),
        problem.scoring_job(),
    )
    for _ in range(12):
        started = asker.ask()
        if started.setting["model"] == "svm":
            asker.tell(TrialResult(started.number, started.setting, failure="ValueError: no."))
        else:
            asker.tell(score_trial(work, TrialRequest(started.number, started.setting)))
    by_name = {one.model: one for one in asker.compared.models}
    assert by_name["svm"].state == "failed"
    assert "ValueError: no." in by_name["svm"].why
    assert (by_name["svm"].trials, by_name["svm"].best) == (0, None)
    assert sum(by_name[name].trials for name in ("logistic", "forest")) >= 6
    assert not asker.exhausted_reason


def test_one_model_alone_cannot_be_raced_and_several_need_it(wine):
    with pytest.raises(UnusableError, match="several models"):
        build_problem(Plan(WINE, "svm", "race"), wine)
    with pytest.raises(UnusableError, match="one model"):
        build_problem(Plan(WINE, "auto", "gp"), wine)


def test_without_trials_and_minutes_the_size_of_the_table_decides(wine):
    assert build_problem(PLAN.changed(trials=None), wine).plan.minutes == 1.0
    assert build_problem(PLAN, wine).plan.minutes is None


def test_settings_of_models_and_back():
    setting = {"C": 1.0, "gamma": 0.1}
    assert split_model_setting(combined_setting("svm", setting)) == ("svm", setting)
    assert "auto" not in selectable_models(MODELS, "binary")
    assert not {"crf", "rna", "lda", "linear"} & set(selectable_models(MODELS, "binary"))


def test_no_trial_with_a_score_is_said(wine):
    plan = PLAN.changed(trials=3, time_limit=1e-6)
    last = list(tune(plan, wine))[-1]
    assert isinstance(last, RunFailed)
    assert "time limit" in last.sentence


def test_the_best_a_simpler_one_and_the_average_are_offered(finished):
    events, _ = finished
    results = of(RunFinished, events)[0].results
    offered = {one["kind"]: one for one in results["candidates"]}
    assert {"best", "default"} <= set(offered)
    assert [one["kind"] for one in results["candidates"] if one["taken"]] == [results["taken"]]
    trials = {t.number: t for t in of(TrialFinished, events) if not t.behind}
    best = max(trials.values(), key=lambda t: (t.score, -t.number))
    assert offered["best"]["trial"] == best.number
    error = np.std(best.fold_scores, ddof=1) / math.sqrt(3)
    close = [t for t in trials.values() if t.score >= best.score - error]
    if "simplest" in offered:
        simplest = trials[offered["simplest"]["trial"]]
        assert simplest in close
    plain = [t for t in close if t.setting["model"] == "logistic"]
    if plain:
        chosen = offered.get("simplest", offered["best"])
        assert chosen["setting"]["model"] == "logistic"
        # Told are the scores that are expected of new rows, both corrected for the choice.
        end = of(EnsembleUpdated, events)[-1]
        optimism = best.score - end.single if end.single_interval else 0.0
        highest = max(t.score for t in plain)
        assert chosen["validation"] == pytest.approx(highest - optimism)
    for one in results["candidates"]:
        if not one["taken"] and one["kind"] != "default":
            assert 0 < one["test"]["accuracy"] <= 1
            assert one["gain_over_baseline"]["difference"] > 0.3


@pytest.mark.parametrize("kind", ["default", "trial", "simplest"])
def test_a_person_picks_another_one(finished, wine, tmp_path, kind):
    events, folder = finished
    copy = RunFolder(shutil.copytree(folder.path, tmp_path / "copy"))
    trials = [t for t in of(TrialFinished, events) if not t.behind]
    number = trials[3].number if kind == "trial" else None
    last = select_model(copy, ModelSelected(kind=kind, number=number), wine)
    results = last.results
    if kind == "trial":
        assert results["setting"] == trials[3].setting
    if kind == "default":
        assert results["setting"] == results["default_setting"]
    assert results["taken"] == kind
    name, own = split_model_setting(results["setting"])
    model = best_of(copy).named_steps["model"]
    expected = model_named(name, probabilities=True).build("multiclass", own, PLAN.seed)
    assert type(model) is type(expected)
    state = state_from_events(copy.all_events())
    assert state.results["taken"] == kind
    assert state.finished == state_from_events(events).finished
    # Going on with the run forgets the pick.
    more = list(tune(PLAN, wine, folder=copy, past=RecordedRun(copy.all_events(), 1)))
    assert of(RunFinished, more)[0].results["taken"] in ("best", "average")


def test_what_is_not_there_cannot_be_picked(finished, wine):
    _, folder = finished
    with pytest.raises(UnusableError, match="no trial 999"):
        select_model(folder, ModelSelected(kind="trial", number=999), wine)
    with pytest.raises(UnusableError, match="nothing to select called “fastest”"):
        select_model(folder, ModelSelected(kind="fastest"), wine)


def test_a_trial_may_take_a_share_of_the_minutes(wine, monkeypatch):
    monkeypatch.setattr("core.tuning.race.ledger.MAX_STRETCH", 1.0)  # whatever else runs here
    limits = []

    class Recording(ProcessExecutor):
        def submit_request(self, task, limit=None):
            limits.append((task.screening_rows > 0, limit or self.limit))
            super().submit_request(task, limit)

    for _ in tune(PLAN.changed(trials=4, minutes=10.0), wine, executor=Recording):
        pass
    assert {limit for look, limit in limits if look} == {MAX_SCREENING_SECONDS}
    assert {limit for look, limit in limits if not look} == {150.0}
    limits.clear()
    for _ in tune(
        Plan(WINE, "logistic", "random", trials=3, folds=3, minutes=10.0), wine, executor=Recording
    ):
        pass
    # Nobody knows before the first trial how long one takes.
    assert [limit for _, limit in limits] == [None, 150.0, 150.0]
    limits.clear()
    for _ in tune(PLAN.changed(trials=4, minutes=10.0, time_limit=7.0), wine, executor=Recording):
        pass
    assert {limit for look, limit in limits if not look} == {7.0}


def test_a_run_shorter_than_one_fit_gives_a_model_all_the_same(wine):
    events = list(tune(PLAN.changed(trials=None, minutes=1e-4), wine))
    assert isinstance(events[-1], RunFinished)
    assert len(of(TrialFinished, events)) == 1


def test_members_that_cost_too_much_to_refit_leave_the_average():
    ensemble = MultiModelEnsemble.__new__(MultiModelEnsemble)
    ensemble._problem = SimpleNamespace(minutes=1.0, refits_at_once=1)
    ensemble._trials = {n: SimpleNamespace(refit_seconds=s) for n, s in enumerate((1.0, 30.0, 5.0))}
    # Of 12 seconds the second member alone would take 30.
    assert ensemble._affordable({0: 0.5, 1: 0.3, 2: 0.2}) == pytest.approx({0: 5 / 7, 2: 2 / 7})
    assert ensemble._affordable({1: 1.0}) == {1: 1.0}  # the last one stays


def test_a_busy_machine_stretches_the_time_and_a_quiet_one_does_not():
    load = MachineLoad()
    assert load.stretch == 1.0
    load.add(TrialResult(0, {}, (1.0,), took=1.2, cpu=1.0))
    assert load.stretch == 1.0
    load.add(TrialResult(1, {}, (1.0,), took=2.8, cpu=1.0))
    assert load.stretch == 2.0
    load.add(TrialResult(2, {}, (1.0,), took=100.0, cpu=1.0))
    assert load.stretch == MAX_STRETCH


def test_of_a_resumed_run_only_the_seconds_to_come_are_stretched():
    run = RaceRun.__new__(RaceRun)
    run._problem, run._clock = SimpleNamespace(minutes=2.0), SimpleNamespace(seconds=90.0)
    run._load.add(TrialResult(0, {}, (1.0,), took=2.0, cpu=1.0))
    assert run._budget_seconds == 90.0 + 2.0 * 30.0
    run._clock = SimpleNamespace(seconds=120.0)  # as this part goes on
    assert run._budget_seconds == 150.0


@pytest.mark.parametrize(
    ("changes", "workers"),
    [
        ({}, 3),
        ({"workers": 2}, 2),
        ({"trials": 9}, 1),  # the same trials again, whatever the machine
        ({"minutes": None, "trials": 9}, 1),
        ({"model": "svm", "strategy": "gp"}, 1),
    ],
)
def test_a_trial_a_processor_runs_at_a_time_where_minutes_bound_several_models(
    wine, monkeypatch, changes, workers
):
    monkeypatch.setenv("PYTHON_CPU_COUNT", "3")
    plan = Plan(DataPlan("sample:wine"), "auto", "race", minutes=1.0)
    assert build_problem(plan.changed(**changes), wine).workers == workers
    monkeypatch.setenv("PYTHON_CPU_COUNT", "64")
    if not changes:
        assert build_problem(plan, wine).workers == MAX_USUAL_WORKERS
