"""The tune generator: the order of events, budgets, stops, resumes that make the same trials."""

import functools
import itertools
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from run_events import about, of, settings, until
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from core.errors import UnusableError
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.events import (
    HyperGradientStep,
    PenaltyStep,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.learning.learning_run import recorded_fit, step_event, training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.conclude import conclude
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.tune import RecordedRun, tune

IRIS = DataPlan("sample:iris")
QUICK = Plan(IRIS, "logistic", "gp", trials=8, folds=3, seed=5)
SAMPLERS = [
    name
    for name, strategy in STRATEGIES.items()
    if strategy.kind == "trials" and not strategy.several
]
LEARNERS = [name for name, strategy in STRATEGIES.items() if strategy.kind == "penalties"]


@pytest.fixture(scope="module")
def whole(iris):
    """The events of the whole quick run of a strategy, made once."""
    return functools.cache(lambda strategy, groups: list(tune(quick(strategy, groups), iris)))


def quick(strategy, groups="single"):
    return QUICK.changed(strategy=strategy, groups=groups)


def test_a_run_of_trials_from_start_to_finish(iris, tmp_path):
    folder = RunFolder.create(QUICK, path=tmp_path / "run")
    events = list(tune(QUICK, iris, folder=folder))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert [event.number for event in of(TrialFinished, events)] == list(range(8))
    first = of(TrialStarted, events)[0]
    assert (first.reason, first.setting["C"]) == ("default", 1.0)
    assert {event.reason for event in of(TrialStarted, events)[1:]} == {"random", "improve"}
    assert of(SurrogateFitted, events)[-1].trials == 7
    seconds = [event.seconds for event in events]
    assert seconds == sorted(seconds)
    best = max(of(TrialFinished, events), key=lambda event: event.score)
    results = events[-1].results
    assert results["setting"] == best.setting
    assert results["validation"] == {"accuracy": best.score}
    recorded = RunFolder.open(folder.path).all_events()
    assert of(TrialFinished, recorded) == of(TrialFinished, events)
    assert recorded[-1] == events[-1]


def test_what_is_kept_predicts_what_was_reported(iris, tmp_path):
    plan = QUICK.changed(refit=False)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    *_, last = tune(plan, iris, folder=folder)
    pipeline = best_of(folder)
    X, y = build_problem(QUICK, iris).test_data
    assert np.mean(pipeline.predict(X) == y) == pytest.approx(last.results["test"]["accuracy"])


def test_validation_never_sees_test_rows_nor_a_fold_its_own(iris):
    problem = build_problem(QUICK, iris)
    test = set(problem.test_rows)
    for fit_rows, score_rows in problem.splits:
        assert not set(fit_rows) & set(score_rows)
        assert not test & (set(fit_rows) | set(score_rows))
    assert len(test) == pytest.approx(0.3 * iris.rows, abs=1)


def test_the_preparation_is_fitted_inside_every_fold(iris):
    plan = QUICK.changed(model="logistic")
    problem = build_problem(plan, iris)
    for fold, (fit_rows, _) in zip(problem.fold_data(), problem.splits, strict=True):
        np.testing.assert_allclose(fold.fit_X.mean(axis=0), 0, atol=1e-12)
        raw = iris.features.to_numpy()[fit_rows]
        expected = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        np.testing.assert_allclose(fold.fit_X, expected, atol=1e-9)


@pytest.mark.parametrize("strategy", SAMPLERS)
def test_a_resumed_run_makes_the_trials_that_the_uninterrupted_one_makes(
    iris, whole, tmp_path, strategy
):
    plan, events = quick(strategy), whole(strategy, "single")
    folder = RunFolder.create(plan, path=tmp_path / "run")
    until(tune(plan, iris, folder=folder), about(5, TrialStarted))  # which is begun and lost
    past = folder.all_events()
    resumed = list(tune(plan, iris, folder=folder, past=past))
    assert isinstance(resumed[0], RunResumed)
    together = settings(past) | settings(resumed)
    assert together == settings(events)
    scores = {e.number: e.score for e in of(TrialFinished, [*past, *resumed])}
    assert scores == {e.number: e.score for e in of(TrialFinished, events)}
    assert resumed[-1].results["setting"] == events[-1].results["setting"]


@pytest.mark.parametrize("strategy", LEARNERS)
def test_a_learner_reports_its_steps_resumes_and_stops_with_those_it_has(
    iris, whole, tmp_path, strategy
):
    plan, events = quick(strategy, "each"), whole(strategy, "each")
    kind = HyperGradientStep if strategy == "gradient" else PenaltyStep
    steps = of(kind, events)
    assert [step.step for step in steps] == list(range(len(steps)))
    assert len(steps) > 1
    values = steps[0].d if strategy == "gradient" else steps[0].penalties
    assert set(values) == set(iris.feature_names) == set(events[0].groups)
    past = events[: events.index(steps[1]) + 1]
    resumed = list(tune(plan, iris, past=past))
    assert [s.step for s in of(kind, resumed)] == [s.step for s in steps[2:]]
    assert resumed[-1].results["groups"] == pytest.approx(events[-1].results["groups"])
    assert resumed[-1].results["test"] == pytest.approx(events[-1].results["test"])
    folder = RunFolder.create(plan, path=tmp_path / "run")
    last = conclude(plan, iris, past, folder=folder)
    assert isinstance(last, RunStopped)
    step = steps[1]
    values = np.exp(list(step.d.values())) if strategy == "gradient" else step.penalties.values()
    assert list(last.results["groups"].values()) == pytest.approx(list(values))
    assert has_best(folder)


def test_stopping_ends_the_trial_process_and_keeps_the_best(iris, tmp_path):
    folder = RunFolder.create(QUICK, path=tmp_path / "run")
    seen = until(tune(QUICK, iris, folder=folder), about(2, TrialFinished))
    last = conclude(QUICK, iris, folder.all_events(), folder=folder, because="you stopped it")
    assert isinstance(last, RunStopped)
    best = max(of(TrialFinished, seen), key=lambda e: e.score)
    assert last.results["setting"] == best.setting
    assert last.results["stopped_because"] == "you stopped it"
    assert folder.all_events()[-1] == last


def test_stopping_before_the_first_trial_says_so(iris):
    last = conclude(QUICK, iris, [])
    assert isinstance(last, RunFailed)
    assert "nothing to keep" in last.sentence


def test_more_trials_go_on_after_the_end(iris, whole, tmp_path):
    short = QUICK.changed(trials=5)
    folder = RunFolder.create(short, path=tmp_path / "run")
    first = list(tune(short, iris, folder=folder))
    more = list(tune(short, iris, folder=folder, past=RecordedRun(folder.all_events(), 3)))
    assert [event.number for event in of(TrialFinished, more)] == [5, 6, 7]
    assert settings(first) | settings(more) == settings(whole("gp", "single"))
    assert more[-1].results["trials"] == 8


def test_an_excluded_trial_wins_nothing(iris):
    requests = deque()
    events = []
    for event in tune(QUICK, iris, requests=requests):
        events.append(event)
        if isinstance(event, TrialFinished) and event.number == 6:
            best = max(of(TrialFinished, events), key=lambda e: e.score)
            requests.append(TrialExcluded(number=best.number))
    assert of(TrialExcluded, events) == [TrialExcluded(number=best.number, seconds=AnySecond())]
    rest = [e for e in of(TrialFinished, events) if e.number != best.number]
    assert events[-1].results["setting"] == max(rest, key=lambda e: e.score).setting


class AnySecond(float):
    def __eq__(self, other):
        return isinstance(other, float)

    __hash__ = float.__hash__


def test_several_workers_make_the_planned_number_of_trials(iris):
    plan = QUICK.changed(workers=2, trials=7)
    events = list(tune(plan, iris))
    assert sorted(e.number for e in of(TrialFinished, events)) == list(range(7))
    points = [tuple(setting.values()) for setting in settings(events).values()]
    assert len(set(points)) == 7  # a pending point is not proposed again
    running, most = 0, 0
    for event in events:
        running += isinstance(event, TrialStarted) - isinstance(event, TrialFinished)
        most = max(most, running)
    assert most == 2


def test_time_ends_a_run_without_a_budget_of_trials(iris):
    plan = QUICK.changed(trials=None, minutes=0.02, strategy="random", patience=0)
    events = list(tune(plan, iris))
    assert events[0].total == 0
    assert events[-1].because == "the time of 0.02 minutes was up"
    assert events[-1].seconds >= 1.2
    assert of(TrialFinished, events)


def test_every_trial_failing_is_said_in_a_sentence(iris):
    plan = QUICK.changed(model="forest", strategy="random", trials=3, time_limit=1e-3)
    events = list(tune(plan, iris))
    assert len(of(TrialFailed, events)) == 3
    assert isinstance(events[-1], RunFailed)
    assert "time limit of 0.001 s" in events[-1].sentence


def test_a_small_finite_grid_ends_by_itself():
    plan = Plan(DataPlan("sample:diabetes"), "linear", "grid", {"points": 3}, trials=50, folds=3)
    events = list(tune(plan, read_data(plan.data)))
    assert len(of(TrialFinished, events)) < 10
    assert "budget" not in events[-1].because


def test_changed_data_is_not_resumed(iris):
    past = list(itertools.islice(tune(QUICK, iris), 1))
    other = replace(past[0].dataset, fingerprint="0" * 64)
    with pytest.raises(UnusableError, match="the data has changed since this run began"):
        next(tune(QUICK, iris, past=[RunStarted(dataset=other)]))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "linear"}, "linear cannot do multiclass; choose one of logistic"),
        ({"model": "tree"}, "there is no model “tree”; choose one of"),
        (
            {"model": "svm", "strategy": "mm"},
            "mm learns the penalties of a model's weights, not of svm; choose model logistic",
        ),
        ({"strategy": "bayes"}, "there is no strategy “bayes”"),
        ({"options": {"acquisition": "ucb"}}, "option acquisition: “ucb” is out of range"),
        ({"metric": "r2"}, "r2 does not measure this task"),
        ({"trials": 0}, "trials: “0” is out of range; give at least 1"),
        ({"minutes": 0}, "minutes: “0” is out of range; give a number above 0"),
        ({"folds": 1}, "folds: “1” is out of range; give at least 2"),
        ({"data": DataPlan("sample:iris", test_size=1.5)}, "test size: “1.5” is out of range"),
    ],
)
def test_an_impossible_plan_is_refused_in_one_sentence(iris, changes, sentence):
    with pytest.raises(UnusableError) as caught:
        build_problem(QUICK.changed(**changes), iris)
    assert sentence in caught.value.sentence


def test_the_default_setting_is_scikit_learns_own(iris):
    """A support vector machine's default gamma depends on the data: "scale" in scikit-learn."""
    problem = build_problem(QUICK.changed(model="svm"), iris)
    X, y = problem.training_data
    ours = problem.pipeline(problem.default).fit(X, y)
    peer = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("strategy", [name for name in LEARNERS if not STRATEGIES[name].tasks])
def test_the_unit_of_a_numeric_target_changes_nothing(strategy):
    data = DataPlan("sample:diabetes")
    dataset = read_data(data)
    plan = Plan(data, "linear", strategy, seed=1)
    before = list(tune(plan, dataset))[-1].results
    for unit in (1e6, 1e-6):
        results = list(tune(plan, replace(dataset, target=unit * dataset.target)))[-1].results
        assert results["test"]["r2"] == pytest.approx(before["test"]["r2"], abs=1e-6)
        assert results["test"]["mae"] == pytest.approx(unit * before["test"]["mae"], rel=1e-5)
        assert results["groups"] == pytest.approx(before["groups"], rel=1e-3)
    assert before["test"]["r2"] > 0.3


def test_the_unit_of_beta_is_the_targets_standard_deviation():
    data = DataPlan("sample:diabetes")
    dataset, scores = read_data(data), []
    for spread, beta in ((10.0, 1.0), (20.0, 4.0), (10.0, 1e4)):
        options = {"target_spread": spread, "beta": beta, "tolerance": 1e-6}
        plan = Plan(data, "linear", "mm", seed=1, options=options)
        scores.append(list(tune(plan, dataset))[-1].results["test"]["r2"])
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)
    assert abs(scores[2] - scores[0]) > 1e-4


@pytest.mark.parametrize("strategy", ["evidence", "mm"])
def test_a_refit_is_the_model_that_was_learned_where_columns_outnumber_rows(strategy, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 200))
    y = X @ rng.standard_normal(200) / 14.0 + 0.5 * rng.standard_normal(90)
    table = np.column_stack((X, y))
    path = tmp_path / "wide.csv"
    np.savetxt(path, table, delimiter=",", header=",".join([*map("x{}".format, range(200)), "y"]),
               comments="")  # fmt: skip
    plan = Plan(DataPlan(str(path), target="y"), "linear", strategy)
    problem = build_problem(plan, read_data(plan.data))
    training = training_of(problem)
    work = PenaltyProblem(training.loss, training.groups)
    *_, last = problem.strategy.make(work, problem.options)
    state = SimpleNamespace(last_step=step_event(last, training.group_names, problem.strategy))
    again = recorded_fit(problem, state)
    assert np.linalg.norm(again.w - last.w) < 1e-3 * np.linalg.norm(last.w)


@pytest.mark.parametrize("strategy", LEARNERS)
def test_minutes_end_a_penalty_learner_too(iris, strategy):
    plan = Plan(IRIS, "logistic", strategy, groups="each", minutes=1e-9)
    events = list(tune(plan, iris))
    assert len(of((PenaltyStep, HyperGradientStep), events)) == 1
    assert events[-1].because == "the time of 1e-09 minutes was up"
    assert events[-1].results["test"]["accuracy"] > 0.8
