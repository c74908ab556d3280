from __future__ import annotations

import math

import pytest

from app.text.tuning.narrator import narration
from core.space import Axis
from core.tuning.events import (
    EnsembleUpdated,
    HistoryRead,
    HyperGradientStep,
    JointSurfaceFitted,
    PenaltyStep,
    RemarkMade,
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
    TuningEnded,
)
from core.tuning.payloads import DatasetFacts, HistoryDataset
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.state import state_from_events

AXIS = Axis("C", "Cost", "float", 0.01, 100.0, log=True)


def started(strategy="hybrid", kind="trials", **options):
    plan = Plan(DataPlan("heart.csv"), "svm", strategy, options=options).as_dict()
    space = [AXIS] if kind == "trials" else []
    return RunStarted(plan=plan, kind=kind, space=space, dataset=DatasetFacts(test_rows=81))


def told(*events, **how):
    return " ".join(narration(state_from_events([started(**how), *events])))


def tried(number, score, reason="", c=0.27):
    setting, reason = {"C": c}, reason or ("improve" if number else "default")
    return (
        TrialStarted(number=number, setting=setting, reason=reason),
        TrialFinished(number=number, setting=setting, score=score),
    )


def test_the_strategy_and_the_test_set_come_first():
    said = told()
    assert "Gaussian process" in said
    assert "One in five goes where the guess is least certain" in said
    assert "81 rows are the test set" in said


def test_the_share_of_exploring_follows_the_option():
    assert "One in ten goes" in told(strategy="hybrid", tau=0.9)
    assert "A share of 37 % goes" in told(strategy="hybrid", tau=0.63)


def test_the_surrogate_says_from_how_many_trials_it_guesses():
    assert "from the 14 tried so far" in told(SurrogateFitted(trials=14))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("explore", "cost (C) = 0.27 is tried because nothing is known there"),
        ("improve", "cost (C) = 0.27 is tried because it may be better than the best"),
        ("default", "the default setting (cost (C) = 0.27) is tried"),
        (
            "past",
            "cost (C) = 0.27 is tried first, because settings like it did best on earlier datasets",
        ),
        ("random", "drawn at random"),
        ("grid", "next point of the grid"),
        ("tpe", "good trials are dense"),
        ("something new", "cost (C) = 0.27 is tried."),
    ],
)
def test_every_reason_of_a_trial_is_said(reason, words):
    assert words in told(TrialStarted(setting={"C": 0.27}, reason=reason))


def test_what_is_expected_is_said_where_it_is_known():
    event = TrialStarted(setting={"C": 0.27}, reason="improve", expected=0.873, uncertainty=0.01)
    assert "about 0.873 is expected" in told(event)
    event = TrialStarted(setting={"C": 0.27}, reason="explore", expected=0.87, uncertainty=0.02)
    assert "give or take 0.02" in told(event)


def test_best_and_worse_trials_are_told_apart():
    assert "the best so far" in told(*tried(0, 0.8), *tried(1, 0.9))
    said = told(*tried(0, 0.8), *tried(1, 0.9), *tried(2, 0.85))
    assert "not as good as the best" in said
    assert "The best so far is trial 1 with 0.9; the default setting has 0.8" in said


def test_less_is_better_where_the_metric_says_so():
    plan = Plan(DataPlan("x"), "linear", "random").as_dict()
    begun = RunStarted(plan=plan, maximize=False, metric="mse")
    said = narration(state_from_events([begun, *tried(0, 0.8), *tried(1, 0.5)]))
    assert "That is the best so far" in said[-1]


def test_a_long_wait_for_something_better_is_said():
    events = [event for n in range(12) for event in tried(n, 0.9 if n == 0 else 0.5)]
    assert "No improvement for 11 trials" in told(*events)


def test_a_failed_trial_gives_its_reason_once_with_one_full_stop():
    said = told(TrialFailed(number=7, reason="It took longer than 10 s."))
    assert "Trial 7 failed: It took longer than 10 s. The run continues without it." in said
    assert "no memory. The run" in told(TrialFailed(number=7, reason="no memory"))


def test_an_excluded_best_trial_makes_room_for_the_next():
    out = TrialExcluded(number=1, excluded=True)
    said = told(*tried(0, 0.7), *tried(1, 0.9), *tried(2, 0.8), out)
    assert "Trial 1 is excluded" in said
    assert "The best so far is trial 2" in said
    back = TrialExcluded(number=1, excluded=False)
    said = told(*tried(0, 0.7), *tried(1, 0.9), *tried(2, 0.8), out, back)
    assert "Trial 1 counts again" in said
    assert "The best so far is trial 1" in said


def step(number, objective, penalties, off=()):
    return PenaltyStep(
        step=number, objective=objective, penalties=penalties, switched_off=list(off)
    )


def test_a_group_that_is_mostly_noise_is_named_with_its_factor():
    said = told(
        step(0, 570.0, {"blood": 1.0, "noise_a": 1.0}),
        step(1, 411.3, {"blood": 0.5, "noise_a": 24.0}),
        strategy="mm",
        kind="penalties",
    )
    assert "“noise_a” is penalized 48 times harder than “blood”: its columns add little." in said
    assert "Step 1: the objective falls from 570 to 411.3" in said
    assert "no validation is needed" in said


def test_groups_that_are_switched_off_are_named_and_leave_the_contrast():
    penalties = {"blood": 1.0, "noise_a": 1e6, "imaging": 4.0}
    said = told(
        step(0, 5.0, dict.fromkeys(penalties, 1.0)),
        step(1, 4.0, penalties, off=["noise_a"]),
        strategy="mm",
        kind="penalties",
    )
    assert "“noise_a” is switched off" in said
    assert "“imaging” is penalized 4 times harder than “blood”" in said


def test_a_still_objective_is_said():
    said = told(step(0, 400.0, {"a": 1.0}), step(1, 399.99, {"a": 2.0}), strategy="mm",
                kind="penalties")  # fmt: skip
    assert "hardly moves any more" in said


def test_gradient_steps_say_the_error_and_the_ends_of_ranges():
    events = (
        HyperGradientStep(step=0, holdout_loss=0.6, d={"a": 0.0, "b": 0.0}),
        HyperGradientStep(
            step=1, holdout_loss=0.5, d={"a": 0.0, "b": math.log(10)}, at_bound=["a"]
        ),
    )
    said = told(*events, strategy="gradient", kind="penalties")
    assert "the error on held-out rows falls to 0.5" in said
    assert "The penalty of “a” is at the end of its range" in said


def test_an_average_says_how_many_are_in_it():
    said = told(*tried(0, 0.8), *tried(1, 0.9), EnsembleUpdated(members=[1], weights=[1.0]))
    assert "The average has one member so far, trial 1" in said


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (RunResumed(done=14, total=40), "continues after 14"),
        (RunFinished(because="the budget of 40 trials was spent"), "budget of 40 trials"),
        (RunStopped(because="it was stopped"), "it was stopped"),
        (RunFailed(sentence="No trial gave a score."), "No trial gave a score."),
    ],
)
def test_turns_of_the_run_are_said(event, words):
    assert words in told(event)


def test_every_strategy_has_words_of_its_own():
    from core.tuning.strategies.registry import STRATEGIES

    said = {name: told(strategy=name, kind=strategy.kind) for name, strategy in STRATEGIES.items()}
    assert all(len(words) > 60 for words in said.values())
    assert len(set(said.values())) == len(said)


def test_a_new_run_begins_with_empty_words():
    assert "0.9" in told(*tried(0, 0.9))
    assert "0.9" not in told(*tried(0, 0.9), started())


def test_an_excluded_trial_is_not_called_the_best_after_a_resume():
    again = (RunResumed(done=2, total=4), *tried(1, 0.9))
    said = told(*tried(0, 0.7), *tried(1, 0.9), TrialExcluded(number=1), *again)
    assert "best so far" not in said
    assert "it does not count" in said


# Earlier datasets -----------------------------------------------------------------------------


def read(count):
    datasets = [
        HistoryDataset(str(at), [5.0, 2.0, 2], [], [], True, starter=False, distance=at / 10)
        for at in range(count)
    ]
    return HistoryRead(statistics=[5.0, 2.0, 2], axes=["C"], datasets=datasets)


def test_what_is_read_is_counted_and_who_speaks():
    fitted = JointSurfaceFitted(neighbours=list(range(20)))
    said = told(read(34), fitted, strategy="transfer")
    assert "The history holds 34 earlier datasets; the 20 nearest count." in said
    assert "what worked on datasets like this one" in said
    assert "all of them count" in told(read(3), strategy="transfer")
    assert "holds one earlier dataset" in told(read(1), strategy="transfer")


def test_without_a_history_the_first_trial_is_the_default():
    said = told(read(0), strategy="transfer")
    assert "The history holds no other dataset" in said
    assert "The first trial is the default setting." in said


def test_the_ranking_of_settings_is_told_otherwise():
    said = told(read(3), strategy="scot")
    assert "which settings beat which others" in said
    assert said.count("Gaussian process") == 1


def test_against_what_scores_are_measured():
    first = JointSurfaceFitted(trials=1, mean=0.8, scale=0.05)
    assert "from earlier datasets" in told(read(2), first, strategy="transfer")
    assert "assumed until two scores" in told(read(0), first, strategy="transfer")
    third = JointSurfaceFitted(trials=3, mean=0.8, scale=0.02, settled=True)
    said = told(first, third, strategy="transfer")
    assert "Mean 0.8, standard deviation 0.02: from this dataset's 3 scores." in said
    assert "borrowed" not in said
    assert "from this dataset's 3 trials and from what worked" in said
    ranks = JointSurfaceFitted(trials=3, method="scot", mean=-23.0, scale=18.0, settled=True)
    assert "deviation" not in told(ranks, strategy="scot")


def test_a_first_trial_from_the_history_is_not_called_the_default():
    first = tried(0, 0.8, reason="past")
    said = told(read(3), *first, *tried(1, 0.9), strategy="transfer")
    assert "The first trial was the setting that looked best on earlier datasets." in said
    assert "the default setting has" not in said


def test_a_notice_stays_and_is_said_once():
    notice = RemarkMade(sentence="The history is damaged.")
    said = told(notice, notice, *tried(0, 0.8), strategy="transfer")
    assert said.count("The history is damaged.") == 1


def test_how_many_trials_without_a_better_one_are_left():
    plan = Plan(DataPlan("heart.csv"), "svm", "random", patience=20).as_dict()
    same = [TrialFinished(number=n, setting={"C": 1.0}, score=0.5) for n in range(12)]
    run = state_from_events([RunStarted(plan=plan, kind="trials", space=[AXIS], total=60), *same])
    said = " ".join(narration(run))
    assert "No improvement for 11 trials" in said
    assert "After 9 more without a better one the run stops." in said
    short = state_from_events([RunStarted(plan=plan, kind="trials", space=[AXIS], total=21), *same])
    assert "the run stops." not in " ".join(narration(short))  # the budget is spent with them
    run.consume(TuningEnded(because="the budget of 60 trials was spent"))
    assert "the run stops." not in " ".join(narration(run))


def test_a_setting_that_a_person_entered_is_said_so():
    said = told(*tried(0, 0.5), TrialStarted(number=1, setting={"C": 0.27}, reason="hand"))
    assert "ost (C) = 0.27 is tried, because you asked for it" in said
