"""The tune generator: the order of events, budgets, patience, settings by hand, resumes."""

import functools
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from run_events import about, of, settings, until
from run_events import tune_here as tune
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from core.errors import UnusableError
from core.penalties.penalty_problem import PenaltyProblem
from core.samplers.transfer.history import TuningHistory
from core.tuning.events import (
    DatasetFacts,
    HyperGradientStep,
    PenaltyStep,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SettingRequested,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.learning.learning_run import recorded_fit, step_event, training_of
from core.tuning.patience import (
    DEFAULT_PATIENCE,
    is_spent,
    patience_of,
    stop_reason,
    stop_rule_text,
    trials_before_stop,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.conclude import conclude
from core.tuning.runs.best import has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.scores.scoring import TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.executors import ProcessExecutor
from core.tuning.trials.trial_run import AskTellStudy
from core.tuning.tune import RecordedRun

IRIS, DIABETES = DataPlan("sample:iris"), DataPlan("sample:diabetes")
QUICK = Plan(IRIS, "logistic", "gp", trials=8, folds=3, seed=5)
SAMPLERS = [n for n, s in STRATEGIES.items() if s.kind == "trials" and not s.several]
LEARNERS = [n for n, s in STRATEGIES.items() if s.kind == "penalties"]


@pytest.fixture(scope="module")
def diabetes():
    return read_data(DIABETES)


@pytest.fixture(scope="module")
def whole(iris):
    """The events of the whole quick run of a strategy, made once."""
    return functools.cache(lambda strategy, groups: list(tune(quick(strategy, groups), iris)))


def quick(strategy, groups="single"):
    # Nested, a penalty learner would learn five times more.
    return QUICK.changed(strategy=strategy, groups=groups, evaluation="test")


def test_a_run_of_trials_from_start_to_finish(iris, tmp_path):
    folder = RunFolder.create(QUICK, path=tmp_path / "run")
    events = list(tune(QUICK, iris, folder=folder, executor=ProcessExecutor))
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


def test_validation_never_sees_test_rows_nor_a_fold_its_own(iris):
    problem = build_problem(QUICK, iris)
    test = set(problem.test_rows)
    for fit_rows, score_rows in problem.splits:
        assert not set(fit_rows) & set(score_rows)
        assert not test & (set(fit_rows) | set(score_rows))
    assert len(test) == pytest.approx(0.3 * iris.rows, abs=1)


def test_the_preparation_is_fitted_inside_every_fold(iris):
    problem = build_problem(QUICK, iris)
    for fold, (fit_rows, _) in zip(problem.fold_data(), problem.splits, strict=True):
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
    stream = tune(QUICK, iris, folder=folder, executor=ProcessExecutor)
    seen = until(stream, about(2, TrialFinished))
    last = conclude(QUICK, iris, folder.all_events(), folder=folder, because="you stopped it")
    assert isinstance(last, RunStopped)
    best = max(of(TrialFinished, seen), key=lambda e: e.score)
    assert last.results["setting"] == best.setting
    assert last.results["stopped_because"] == "you stopped it"
    assert folder.all_events()[-1] == last


def test_more_trials_go_on_after_the_end(iris, whole, tmp_path):
    short = QUICK.changed(trials=5)
    folder = RunFolder.create(short, path=tmp_path / "run")
    first = list(tune(short, iris, folder=folder))
    more = list(tune(short, iris, folder=folder, past=RecordedRun(folder.all_events(), 3)))
    assert [event.number for event in of(TrialFinished, more)] == [5, 6, 7]
    assert settings(first) | settings(more) == settings(whole("gp", "single"))
    assert more[-1].results["trials"] == 8


def test_an_excluded_trial_wins_nothing(iris):
    requests, events = deque(), []
    for event in tune(QUICK, iris, requests=requests):
        events.append(event)
        if isinstance(event, TrialFinished) and event.number == 6:
            best = max(of(TrialFinished, events), key=lambda e: e.score)
            requests.append(TrialExcluded(number=best.number))
    assert [(e.number, e.excluded) for e in of(TrialExcluded, events)] == [(best.number, True)]
    rest = [e for e in of(TrialFinished, events) if e.number != best.number]
    assert events[-1].results["setting"] == max(rest, key=lambda e: e.score).setting


def test_several_workers_make_the_planned_number_of_trials(iris):
    events = list(tune(QUICK.changed(workers=2, trials=7), iris, executor=ProcessExecutor))
    assert sorted(e.number for e in of(TrialFinished, events)) == list(range(7))
    points = [tuple(setting.values()) for setting in settings(events).values()]
    assert len(set(points)) == 7  # a pending point is not proposed again
    steps = [isinstance(e, TrialStarted) - isinstance(e, TrialFinished) for e in events]
    assert max(np.cumsum(steps)) == 2


def test_time_ends_a_run_without_a_budget_of_trials(iris):
    plan = QUICK.changed(trials=None, minutes=0.01, strategy="random", patience=0)
    events = list(tune(plan, iris))
    assert events[0].total == 0
    assert events[-1].because == "the time of 0.01 minutes was up"
    assert events[-1].seconds >= 0.6
    assert of(TrialFinished, events)


def test_every_trial_failing_is_said_in_a_sentence(iris):
    plan = QUICK.changed(model="forest", strategy="random", trials=3, time_limit=1e-3)
    events = list(tune(plan, iris, executor=ProcessExecutor))
    assert len(of(TrialFailed, events)) == 3
    assert isinstance(events[-1], RunFailed)
    assert "time limit of 0.001 s" in events[-1].sentence
    before_any = conclude(plan, iris, [])
    assert isinstance(before_any, RunFailed)
    assert "nothing to keep" in before_any.sentence


def test_a_small_finite_grid_ends_by_itself(diabetes):
    plan = Plan(DIABETES, "linear", "grid", {"points": 3}, trials=50, folds=3)
    events = list(tune(plan, diabetes))
    assert len(of(TrialFinished, events)) < 10
    assert "budget" not in events[-1].because


def test_changed_data_is_not_resumed(iris):
    other = RunStarted(dataset=DatasetFacts(fingerprint="0" * 64))
    with pytest.raises(UnusableError, match="the data has changed since this run began"):
        next(tune(QUICK, iris, past=[other]))


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
def test_the_unit_of_a_numeric_target_changes_nothing(diabetes, strategy):
    plan = Plan(DIABETES, "linear", strategy, seed=1, evaluation="test")
    before = list(tune(plan, diabetes))[-1].results
    for unit in (1e6, 1e-6):
        results = list(tune(plan, replace(diabetes, target=unit * diabetes.target)))[-1].results
        assert results["test"]["r2"] == pytest.approx(before["test"]["r2"], abs=1e-6)
        assert results["test"]["mae"] == pytest.approx(unit * before["test"]["mae"], rel=1e-5)
        assert results["groups"] == pytest.approx(before["groups"], rel=1e-3)
    assert before["test"]["r2"] > 0.3


def test_the_unit_of_beta_is_the_targets_standard_deviation(diabetes):
    scores = []
    for spread, beta in ((10.0, 1.0), (20.0, 4.0), (10.0, 1e4)):
        options = {"target_spread": spread, "beta": beta, "tolerance": 1e-6}
        plan = Plan(DIABETES, "linear", "mm", seed=1, options=options, evaluation="test")
        scores.append(list(tune(plan, diabetes))[-1].results["test"]["r2"])
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)
    assert abs(scores[2] - scores[0]) > 1e-4


@pytest.mark.parametrize("strategy", ["evidence", "mm"])
def test_a_refit_is_the_model_that_was_learned_where_columns_outnumber_rows(strategy, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((90, 200))).add_prefix("x")
    table["y"] = table @ rng.standard_normal(200) / 14.0 + 0.5 * rng.standard_normal(90)
    table.to_csv(tmp_path / "wide.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "wide.csv"), target="y"), "linear", strategy)
    problem = build_problem(plan, read_data(plan.data))
    training = training_of(problem)
    work = PenaltyProblem(training.loss, training.groups)
    *_, last = problem.strategy.make(work, problem.options)
    state = SimpleNamespace(last_step=step_event(last, training.group_names, problem.strategy))
    again = recorded_fit(problem, state)
    assert np.linalg.norm(again.w - last.w) < 1e-3 * np.linalg.norm(last.w)


@pytest.mark.parametrize("strategy", LEARNERS)
def test_minutes_end_a_penalty_learner_too(iris, strategy):
    """Its outer folds have their part of them: every row is tested all the same."""
    events = list(tune(Plan(IRIS, "logistic", strategy, groups="each", minutes=1e-9), iris))
    assert len(of((PenaltyStep, HyperGradientStep), events)) == 1
    assert events[-1].because == "the time of 1e-09 minutes was up"
    assert events[-1].results["test"]["accuracy"] > 0.8
    assert events[-1].results["rows"] == iris.rows


PLAN = Plan(IRIS, "logistic", "random", trials=60, folds=3, seed=1, patience=4)


def first_end(scores, patience):
    """After how many trials the last so many did not beat the best before them."""
    for count in range(1, len(scores) + 1):
        since = count - 1 - scores[:count].index(max(scores[:count]))
        if since >= patience:
            return count
    return None


def test_a_run_ends_when_nothing_improves(iris):
    events = until(tune(PLAN, iris))
    scores = [event.score for event in of(TrialFinished, events)]
    assert len(scores) == first_end(scores, 4) < 60
    assert events[-1].because == "4 trials in a row improved nothing"
    whole = until(tune(PLAN.changed(patience=0, trials=len(scores) + 3), iris))
    assert len(of(TrialFinished, whole)) == len(scores) + 3


def test_the_count_begins_anew_where_more_are_asked_for():
    started = RunStarted(plan=PLAN.as_dict(), total=60)
    past = [TrialFinished(number=n, score=0.5) for n in range(6)]
    run = state_from_events([started, *past])
    assert (run.without_better, is_spent(PLAN, run)) == (5, True)
    run.consume(RunResumed(done=6, total=60))  # it was merely cut off
    assert is_spent(PLAN, run)
    run.consume(RunResumed(done=6, total=70))
    assert (run.without_better, is_spent(PLAN, run)) == (0, False)
    for n in range(6, 10):
        assert not is_spent(PLAN, run)
        run.consume(TrialFinished(number=n, score=0.4))
    assert is_spent(PLAN, run)


def test_every_strategy_has_a_number_of_its_own():
    of = {name: patience_of(Plan(IRIS, "svm", name)) for name in STRATEGIES}
    assert of["gp"] == of["random"] == of["tpe"] == DEFAULT_PATIENCE == 50
    assert (of["grid"], of["race"]) == (0, 100)
    # No run of the usual budget is cut short: it would lose what it is given for.
    for name, strategy in STRATEGIES.items():
        if strategy.kind == "trials" and not strategy.several and name not in ("tpe", "cma-es"):
            assert of[name] == 0 or of[name] >= strategy.default_trials, name
    assert patience_of(Plan(IRIS, "svm", "of an extension")) == DEFAULT_PATIENCE


@pytest.mark.parametrize("workers", [0, 3])
def test_trials_that_were_under_way_with_the_best_do_not_count(workers):
    plan = PLAN.changed(workers=workers)
    run = state_from_events([RunStarted(plan=plan.as_dict(), total=60)])
    needed = 4 + max(0, workers - 1)
    for n in range(needed + 1):
        left = needed + 1 - max(n, 1)
        assert (is_spent(plan, run, workers), trials_before_stop(run)) == (
            False,
            left if n else needed,
        )
        run.consume(TrialFinished(number=n, score=0.5 if n == 0 else 0.4))
    assert (is_spent(plan, run, workers), trials_before_stop(run)) == (True, 0)
    assert not is_spent(plan, run, 100)  # as many as a cluster has
    assert is_spent(plan, run, 0)  # before any of them came
    assert f"{needed} trials" in stop_reason(run)
    assert trials_before_stop(state_from_events([RunStarted()])) == 0


def test_the_number_is_told():
    assert patience_of(PLAN.changed(patience=None)) == DEFAULT_PATIENCE
    for patience, words in (
        (None, f"{DEFAULT_PATIENCE} trials"),
        (1, "a trial"),
        (0, "however many"),
    ):
        assert words in stop_rule_text(PLAN.changed(patience=patience))


# Settings entered by hand -------------------------------------------------------------------------


def test_a_setting_by_hand_comes_next_and_beyond_the_budget(iris):
    requests = deque()
    plan = PLAN.changed(trials=4, patience=None)

    def is_end(event):
        if isinstance(event, TrialFinished) and event.number == 1:
            requests.extend(SettingRequested(setting={"C": C}) for C in (3.25, 1e9))
        return isinstance(event, TuningEnded)

    events = until(tune(plan, iris, requests=requests), is_end)
    begun = {event.number: event for event in of(TrialStarted, events)}
    assert (begun[2].setting, begun[2].reason) == ({"C": 3.25}, "hand")
    assert [begun[n].reason for n in (0, 1, 3, 4)] == ["default", "random", "random", "random"]
    assert len(of(TrialFinished, events)) == 5
    (refused,) = of(RemarkMade, events)
    assert refused.sentence.startswith("C: 1e+09 lies outside of what this run searches")


@pytest.mark.parametrize("strategy", ["gp", "random", "grid", "tpe", "transfer"])
def test_a_resumed_run_makes_the_same_trials_with_a_setting_by_hand(iris, strategy):
    problem = build_problem(replace(PLAN, strategy=strategy, trials=9), iris)

    def went_on(asker, first, by_hand):
        said = []
        for number in range(first, 9):
            if number == by_hand:
                said.append(SettingRequested(setting={"C": 7.5}))
                asker.request_setting({"C": 7.5})
            started = asker.ask()
            score = -abs(started.setting["C"] - 2.0)
            asker.tell(TrialResult(number, started.setting, (score,)))
            said += [started, TrialFinished(number=number, setting=started.setting, score=score)]
        return said

    whole = went_on(AskTellStudy(problem, TuningHistory()), 0, 4)
    hands = [event.setting for event in of(TrialStarted, whole) if event.reason == "hand"]
    assert hands == [{"C": 7.5}]
    cut = next(at for at, event in enumerate(whole) if isinstance(event, SettingRequested)) + 1
    for end in (cut, cut + 2, cut + 4):  # before its trial begins, after it, a trial later
        asker = AskTellStudy(problem, TuningHistory())
        asker.replay_trials(whole[:end])
        again = went_on(asker, len(of(TrialFinished, whole[:end])), -1)
        assert again == whole[end:]


def test_a_model_of_the_scores_learns_from_it(iris):
    problem = build_problem(replace(PLAN, strategy="gp", options={"start_trials": 2}), iris)
    asker = AskTellStudy(problem, TuningHistory())
    for number in range(6):
        if number == 4:
            asker.request_setting({"C": 7.5})
        setting = asker.ask().setting
        asker.tell(TrialResult(number, setting, (-abs(setting["C"] - 2.0),)))
    asker.ask()
    assert 4 in asker.surrogate().numbers


def test_a_run_that_ended_goes_on_for_it_alone(iris):
    plan = PLAN.changed(trials=3, patience=None)
    events = list(tune(plan, iris))
    assert isinstance(events[-1], RunFinished)
    requests = deque([SettingRequested(setting={"C": 0.75})])
    after = until(tune(plan, iris, past=RecordedRun(events), requests=requests))
    assert [event.setting for event in of(TrialStarted, after)] == [{"C": 0.75}]


@pytest.mark.parametrize(("total", "grown"), [(60, 61), (0, 0)])  # 0: time alone bounds it
def test_the_budget_of_the_state_grows_by_one(total, grown):
    started = RunStarted(plan=PLAN.as_dict(), total=total)
    assert state_from_events([started, SettingRequested(setting={"C": 1.0})]).total == grown


def test_trials_of_another_version_keep_what_waits(iris):
    asker = AskTellStudy(build_problem(PLAN, iris), TuningHistory())
    past = [SettingRequested(setting={"C": 7.5})]
    for number, (C, reason) in enumerate(((3.0, "random"), (0.5, "random"), (7.5, "hand"))):
        past.append(TrialStarted(number=number, setting={"C": C}, reason=reason))
        past.append(TrialFinished(number=number, setting={"C": C}, score=0.5))
    asker.replay_trials([*past, SettingRequested(setting={"C": 9.0})])
    following = asker.ask()
    assert (following.setting, following.reason) == ({"C": 9.0}, "hand")


def test_trials_recorded_by_another_version_are_taken_as_they_are(iris):
    problem = build_problem(replace(PLAN, strategy="gp", trials=9), iris)
    asker = AskTellStudy(problem, TuningHistory())
    past = [
        TrialStarted(number=0, setting={"C": 3.0}, reason="default"),
        TrialFinished(number=0, setting={"C": 3.0}, score=0.9),
        TrialStarted(number=1, setting={"C": 0.5}),
        TrialFailed(number=1, setting={"C": 0.5}, reason="It took too long."),
        TrialStarted(number=2, setting={"C": 7.0}),  # was under way when the run was cut off
    ]
    asker.replay_trials(past)
    asker.tell(TrialResult(2, {"C": 7.0}, (0.8, 0.7)))
    states = [(t.params["C"], t.value, t.state.name) for t in asker._study.trials]
    assert states == [(3.0, 0.9, "COMPLETE"), (0.5, None, "FAIL"), (7.0, 0.75, "COMPLETE")]
    assert asker.ask().number == 3
