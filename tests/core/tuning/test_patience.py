"""A run ends when nothing improves, and settings entered by hand are tried next."""

import contextlib
from collections import deque
from dataclasses import replace

import pytest
from run_events import of, until

from core.samplers.transfer.history import TuningHistory
from core.tuning.events import (
    RemarkMade,
    RunFinished,
    RunResumed,
    RunStarted,
    SettingRequested,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.patience import (
    DEFAULT_PATIENCE,
    is_spent,
    patience_of,
    stop_reason,
    stop_rule_text,
    trials_before_stop,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.scores.scoring import TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.trial_run import AskTellStudy
from core.tuning.tune import RecordedRun, tune

IRIS = DataPlan("sample:iris")
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
    for name, one in STRATEGIES.items():
        if one.kind == "trials" and not one.several and name not in ("tpe", "cma-es"):
            assert of[name] == 0 or of[name] >= one.default_trials, name
    assert patience_of(Plan(IRIS, "svm", "of an extension")) == DEFAULT_PATIENCE
    assert patience_of(Plan(IRIS, "svm", "grid", patience=3)) == 3


def test_how_many_are_left_is_told_while_it_runs():
    plan = PLAN.changed(patience=20)
    run = state_from_events([RunStarted(plan=plan.as_dict(), total=60)])
    for n in range(12):
        run.consume(TrialFinished(number=n, score=0.5))
    assert trials_before_stop(run) == 9  # eleven of twenty brought nothing
    assert trials_before_stop(state_from_events([RunStarted()])) == 0


def test_trials_that_were_under_way_with_the_best_do_not_count():
    plan = PLAN.changed(patience=4, workers=3)
    run = state_from_events(
        [RunStarted(plan=plan.as_dict(), total=60), TrialFinished(number=0, score=0.5)]
    )
    for n in range(1, 7):
        assert (is_spent(plan, run, 3), trials_before_stop(run)) == (False, 7 - n)
        run.consume(TrialFinished(number=n, score=0.4))
    assert (is_spent(plan, run, 3), trials_before_stop(run)) == (True, 0)
    assert not is_spent(plan, run, 100)  # as many as a cluster has
    assert is_spent(plan, run, 0)  # before any of them came
    assert stop_reason(run) == "6 trials in a row improved nothing"


def test_the_number_is_told():
    assert patience_of(PLAN.changed(patience=None)) == DEFAULT_PATIENCE
    assert stop_rule_text(PLAN) == "It stops when 4 trials in a row improve nothing."
    assert f"{DEFAULT_PATIENCE} trials in a row" in stop_rule_text(PLAN.changed(patience=None))
    assert stop_rule_text(PLAN.changed(patience=1)) == "It stops when a trial improves nothing."
    assert "however many" in stop_rule_text(PLAN.changed(patience=0))


# Settings entered by hand -------------------------------------------------------------------------


def test_a_setting_by_hand_comes_next_and_beyond_the_budget(iris):
    requests, events = deque(), []
    plan = PLAN.changed(trials=4, patience=None)
    with contextlib.closing(tune(plan, iris, requests=requests)) as stream:
        for event in stream:
            events.append(event)
            if isinstance(event, TrialFinished) and event.number == 1:
                requests.append(SettingRequested(setting={"C": 3.25}))
                requests.append(SettingRequested(setting={"C": 1e9}))
            if isinstance(event, TuningEnded):
                break
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
    done = len(of(TrialFinished, events))
    more = done - state_from_events(events).total
    after = until(tune(plan, iris, past=RecordedRun(events, more), requests=requests))
    assert [event.setting for event in of(TrialStarted, after)] == [{"C": 0.75}]


def test_the_budget_of_the_state_grows_by_one():
    run = RunState()
    run.consume(RunStarted(plan=PLAN.as_dict(), total=60))
    run.consume(SettingRequested(setting={"C": 1.0}))
    assert run.total == 61
    run.consume(RunStarted(plan=PLAN.as_dict(), total=0))
    run.consume(SettingRequested(setting={"C": 1.0}))
    assert run.total == 0  # time alone bounds it


def test_trials_of_another_version_keep_what_waits(iris):
    problem = build_problem(PLAN, iris)
    asker = AskTellStudy(problem, TuningHistory())
    tried = ({"C": 3.0}, {"C": 0.5}, {"C": 7.5})
    past = [SettingRequested(setting={"C": 7.5})]
    for number, setting in enumerate(tried):
        reason = "hand" if number == 2 else "random"
        past.append(TrialStarted(number=number, setting=setting, reason=reason))
        past.append(TrialFinished(number=number, setting=setting, score=0.5))
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
