"""Which of several models is tried next, on chances worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from core.tuning.race.allocation import (
    MIN_TRIALS,
    TURN_TRIALS,
    ArmChoice,
    ArmEstimate,
    RemainingBudget,
    expected_improvement,
    next_model,
    scale_of_scores,
)

GOOD = ArmEstimate(
    "good", trials=5, screening_score=0.9, expected_seconds=1.0, seconds=5.0, expected_gain=0.02
)
CHEAP = ArmEstimate(
    "cheap", trials=5, screening_score=0.8, expected_seconds=0.01, seconds=0.05, expected_gain=0.004
)
EARLY, LATE = (
    RemainingBudget(seconds_left=100.0, share=1.0, done=9),
    RemainingBudget(seconds_left=5.0, share=0.05, done=9),
)


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.1), (0.7, 0.1), (0.5, 2.0), (-3.0, 0.4)])
def test_expected_improvement_is_the_integral(mean, deviation):
    best = 0.5
    expected, _ = quad(
        lambda y: (y - best) * norm.pdf(y, mean, deviation), best, mean + 12 * deviation
    )
    assert expected_improvement(mean, deviation, best) == pytest.approx(max(expected, 0), abs=1e-9)
    # Without uncertainty it is the difference.
    assert expected_improvement(mean, 0.0, best) == pytest.approx(max(mean - best, 0.0))


def _first_trials(looks, seconds):
    """The order of the first trials of (name: (look, expected seconds)), the clock going on."""
    estimates = [ArmEstimate(name, 0, *look, 0.0, 0.1) for name, look in looks.items()]
    order, left = [], seconds
    while any(estimate.trials == 0 for estimate in estimates):
        choice = next_model(estimates, 0.01, RemainingBudget(left, left / seconds, len(order) + 1))
        if choice.why != "first":
            return order
        order.append(choice.model)
        left -= looks[choice.model][1]
        estimates = [replace(e, trials=1) if e.model == choice.model else e for e in estimates]
    return order


LOOKS = {"slow best": (0.9, 3.0), "quick good": (0.88, 0.1), "quick bad": (0.5, 0.01)}


def test_every_model_is_tried_first_the_cheaper_before_the_dearer():
    order = ["quick bad", "quick good", "slow best"]
    assert _first_trials(LOOKS, 100.0) == order
    # But the best at the look before a third of the time is gone.
    assert _first_trials({**LOOKS, "dear": (0.6, 2.5), "dearer": (0.7, 2.8)}, 15.0)[:3] == order
    # And the best two, whatever share of the time they take.
    looks = {"best": (0.95, 40.0), "second": (0.94, 30.0), "third": (0.9, 35.0)}
    assert set(_first_trials(looks, 90.0)) == {"best", "second"}


def test_a_default_that_does_not_fit_into_the_time_waits():
    endless = ArmEstimate("endless", 0, 0.95, 110.0, seconds=0.0, expected_gain=0.5)
    assert next_model([GOOD, endless], 0.01, EARLY).model == "good"
    longer = replace(endless, model="longer", expected_seconds=120.0)
    assert next_model([endless, longer], 0.01, EARLY) == ArmChoice("endless", "first")


def test_no_model_is_given_up_on_one_bad_draw():
    hopeless = ArmEstimate("hopeless", 1, 0.1, 0.5, seconds=0.5, expected_gain=0.0, lag=9.0)
    for trials in range(1, MIN_TRIALS):
        chosen = next_model([GOOD, replace(hopeless, trials=trials)], 0.01, EARLY)
        assert (chosen.model, chosen.why) == ("hopeless", "floor")
    assert next_model([GOOD, replace(hopeless, trials=MIN_TRIALS)], 0.01, EARLY).model == "good"


@pytest.mark.parametrize(("lag", "share"), [(0.0, 0.3), (1.0, 0.08), (40.0, 0.01)])
def test_further_settings_of_the_leading_models_may_take_more_of_the_time(lag, share):
    model = ArmEstimate("few", 1, 0.9, 99 * share, seconds=9.0, expected_gain=0.0, lag=lag)
    assert next_model([GOOD, model], 0.01, EARLY) == ArmChoice("few", "floor")
    dearer = replace(model, expected_seconds=101 * share)
    assert next_model([GOOD, dearer], 0.01, EARLY).model == "good"


def test_seconds_count_early_and_the_gain_alone_at_the_end():
    # 0.004/(0.01+0.15) = 0.025 a second, 0.02/(1+0.15) = 0.017 a second.
    assert next_model([GOOD, CHEAP], 1.0, EARLY).model == "cheap"
    assert next_model([GOOD, CHEAP], 1.0, LATE).model == "good"
    # What no longer fits into the time is not begun.
    long = replace(GOOD, expected_seconds=6.0)
    over = RemainingBudget(seconds_left=0.001, share=0.0, done=9)
    assert {next_model([long, CHEAP], 1.0, budget).model for budget in (LATE, over)} == {"cheap"}


def test_in_turns_the_model_that_had_least_is_tried_unless_it_is_hopeless():
    turn = replace(EARLY, done=2 * TURN_TRIALS)
    rarely = ArmEstimate("rarely", 4, 0.7, expected_seconds=0.1, seconds=0.01, expected_gain=0.001)
    assert next_model([GOOD, CHEAP, rarely], 0.01, turn).model == "rarely"
    assert next_model([GOOD, CHEAP, rarely], 0.01, EARLY).model != "rarely"
    hopeless = replace(rarely, expected_gain=1e-9)
    assert next_model([GOOD, CHEAP, hopeless], 0.01, turn).model == "cheap"


def test_scale_of_scores():
    assert scale_of_scores([0.9, 0.8, 0.1], noise=0.001) == pytest.approx(0.05)
    assert scale_of_scores([0.9, 0.9, 0.9], noise=0.02) == 0.02
    assert scale_of_scores([-math.inf, 0.9], noise=0.0) == pytest.approx(1e-9)
    assert scale_of_scores([], noise=0.0) > 0
    assert np.isfinite(scale_of_scores([-math.inf], noise=0.0))
