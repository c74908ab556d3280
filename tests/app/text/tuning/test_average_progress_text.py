from __future__ import annotations

import pytest

from app.text.tuning.head import progress_text, run_title
from app.text.tuning.narrator import narration
from core.space import Axis
from core.tuning.events import (
    EnsembleUpdated,
    MembersDisagree,
    RunFinished,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from core.tuning.payloads import DatasetFacts, DisputedRow, OmittedTrial
from core.tuning.runs.state import state_from_events

AXIS = Axis("C", "Cost", "float", 0.01, 100.0, log=True)


def started(judged="cv", maximize=False, **options):
    plan = {"strategy": "eb-hyp", "model": "svm", "options": options, "folds": 5}
    return RunStarted(
        plan=plan, kind="trials", space=[AXIS], dataset=DatasetFacts(test_rows=81),
        metric="log_loss",
        maximize=maximize, total=40, judged=judged, averages=True,
    )  # fmt: skip


def average(count=4, weights=None, **fields):
    weights = weights or [1 / count] * count
    made = {
        "finished": 10 * count, "members": list(range(count)), "weights": weights,
        "scores": [0.1] * count, "average": 0.09, "single": 0.1,
    }  # fmt: skip
    return EnsembleUpdated(**{**made, **fields})


def told(*events, **how):
    return " ".join(narration(state_from_events([started(**how), *events])))


def test_the_strategy_says_how_settings_are_drawn_and_why_models_are_averaged():
    said = told()
    assert "drawn at random" in said
    assert "can be luck, so the best tenth of the models predicts together" in said
    assert "best one of a guess" in told(rule="thompson")


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        ("cv", "the mean over 5 parts of the training rows"),
        ("validation", "one part of the training rows that is held out"),
        ("training", "explains the training rows themselves: no validation is needed"),
    ],
)
def test_what_judges_the_settings_is_said(judged, words):
    assert words in told(judged=judged)


def test_a_drawn_setting_says_among_how_many():
    def drawn(candidates):
        event = TrialStarted(setting={"C": 0.27}, reason="sample", candidates=candidates)
        return told(event)

    assert "cost (C) = 0.27 is tried; it is drawn from what the scores so far make likely" in drawn(
        None
    )
    assert "The effective number of candidate settings is about 1400." in drawn(1442.3)
    assert "Hardly any other setting is a candidate." in drawn(1.2)


def test_below_twenty_trials_there_is_one_member_so_far():
    said = told(average(1, finished=9))
    assert "one member so far, trial 0; from 20 trials on there are two" in said
    assert "ahead" not in said
    assert "from 20" not in told(average(1, finished=31))


@pytest.mark.parametrize(("count", "share"), [(2, "half"), (4, "a quarter"), (8, "12\u00a0%")])
def test_equal_weights_are_said_as_a_share(count, share):
    said = told(average(count))
    assert f"{count} of {10 * count} models are in the average; each counts {share}." in said


def test_other_weights_are_named_the_largest_first():
    said = told(average(weights=[0.2, 0.5, 0.15, 0.15]))
    assert "trial 1 50\u00a0%, trial 0 20\u00a0%, trial 2 15\u00a0% and 1 more the rest" in said
    said = told(average(weights=[0.5, 0.5, 0.0, 0.0]))
    assert "2 of 40 models are in the average" in said
    assert "2 more of the best get no weight" in said


@pytest.mark.parametrize(
    ("one", "other", "maximize", "words"),
    [
        (0.09, 0.1, False, "the average is ahead by 0.01."),
        (0.1, 0.09, False, "the single best is ahead by 0.01."),
        (0.95, 0.9, True, "the average is ahead by 0.05."),
        (0.1, 0.1001, False, "they hardly differ."),
    ],
)
def test_who_is_ahead_follows_the_direction_of_the_metric(one, other, maximize, words):
    assert words in told(average(average=one, single=other), maximize=maximize)


def test_without_fair_rows_nothing_is_compared():
    assert "held-out data" not in told(average(average=None, single=None))


def test_who_is_left_out_is_said_with_the_reason():
    def without(*numbers):
        reasons = [OmittedTrial(n, f"Trial {n} is left out: it fails.") for n in numbers]
        return told(average(left_out=reasons))

    assert "Trial 7 is left out: it fails." in without(7)
    said = without(7, 9, 11)
    assert "Trial 11 is left out: it fails. So are 2 others." in said
    assert "Trial 7 is" not in said


def test_where_they_differ_most():
    rows = [DisputedRow(11, "", "yes", spread=0.3, said=[[0.9, 0.1], [0.2, 0.8]])]
    event = MembersDisagree(members=[0, 1], classes=["no", "yes"], rows=rows)
    said = told(average(2), event)
    assert "disagree most about row 12: “yes” is 10\u00a0% to 80\u00a0% likely" in said
    assert "disagree" not in told(average(2), event, average(1))


# The head of the page --------------------------------------------------------------------------


def test_the_head_says_how_many_models_and_how_good_they_are_together():
    trials = [TrialFinished(number=n, score=0.2) for n in range(40)]
    run = state_from_events([started(), *trials, average()])
    assert run_title(run) == "Averaging over good settings"
    assert progress_text(run, "") == "40 of 40, 0 s · 4 models in the average · log loss 0.09"


def test_the_head_counts_members_with_weight_and_falls_back_to_the_best():
    alone = average(2, weights=[1.0, 0.0], average=None)
    run = state_from_events([started(), TrialFinished(number=0, score=0.08), alone])
    assert "one model in the average · best log loss 0.08" in progress_text(run, "")


def test_the_end_is_said():
    assert "The run has ended: done." in told(average(), RunFinished(because="done"))
