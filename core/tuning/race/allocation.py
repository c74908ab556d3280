"""Which of several models is tried next: the one with the most expected improvement a second.

Every model first gets a few trials; the next one then goes to the model with the largest expected
improvement on the best score of all (Mockus 1975; Jones, Schonlau and Welch 1998), divided by its
expected seconds (Snoek, Larochelle and Adams 2012, §3.2) to a power that falls from 1 to 0 with the
time left, so that dear models are not starved by cheap ones (Lee and others 2020).

| symbol | code | meaning |
| --- | --- | --- |
| f* | ``best`` | the best score of all models, larger is better |
| μ, s | ``mean``, ``deviation`` | of the score of a model's next trial |
| c | ``expected_seconds`` | of that trial |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MIN_TRIALS = 3  # of every model, its default among them
LEADER_SHARE = 1 / 3  # of the time, before which the best at the screening has a trial
FIRST_LEADERS = 2  # the best at the screening, tried whatever share of the time left they take
FIRST_SHARE = 0.3  # of the time left, that the first trial of a model may take
FLOOR_SHARES = ((0.5, 0.3), (1.5, 0.08), (math.inf, 0.01))  # (lag, share), of the next ones
TURN_TRIALS = 8  # every so many trials the model that had the least time is tried
ASKING_SECONDS = 0.15  # of every trial beside its fits
MIN_GAIN = 0.02  # of the scores' scale; a smaller expected improvement is none


@dataclass(frozen=True)
class ArmEstimate:
    """What is expected of a model's next trial; larger scores are better."""

    model: str
    trials: int  # so far, running ones among them
    screening_score: float  # −∞ where the screening failed
    expected_seconds: float  # of the next trial
    seconds: float  # spent so far
    expected_gain: float  # improvement on the best score of all
    lag: float = math.inf  # behind the best score of all, in scales of scores


@dataclass(frozen=True)
class ArmChoice:
    """The model that is tried next."""

    model: str
    why: str  # first, floor, turn or gain


def expected_improvement(mean: float, deviation: float, best: float) -> float:
    """E max(0, Y − f*) for Y normal with mean μ and standard deviation s."""
    if deviation <= 0.0:
        return max(0.0, mean - best)
    z = (mean - best) / deviation
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return (mean - best) * 0.5 * math.erfc(-z / math.sqrt(2.0)) + deviation * density


@dataclass(frozen=True)
class RemainingBudget:
    """The budget at the time of the choice."""

    seconds_left: float  # infinite where trials are counted
    share: float  # of the run's time or trials that is left
    done: int  # trials started so far, of all models

    @property
    def until_leader(self) -> float:
        if self.share <= 0 or math.isinf(self.seconds_left):
            return self.seconds_left
        return self.seconds_left - (1 - LEADER_SHARE) * self.seconds_left / self.share


def next_model(arms: Sequence[ArmEstimate], scale: float, budget: RemainingBudget) -> ArmChoice:
    """`scale` is the unit of small and large improvements."""
    seconds_left = budget.seconds_left
    # The order matters: first every default, then the floor, so that none is given up on one bad
    # draw, then turns and gains.
    new_arms = [arm for arm in arms if arm.trials == 0]
    if (first_arm := _first_arm(new_arms, arms, budget)) is not None:
        return ArmChoice(first_arm.model, "first")
    # Nothing fits into the time: a run gives some model all the same.
    if len(new_arms) == len(arms):
        return ArmChoice(min(new_arms, key=lambda arm: arm.expected_seconds).model, "first")
    started_arms = [arm for arm in arms if arm.trials > 0]
    few_trial_arms = [arm for arm in started_arms if arm.trials < MIN_TRIALS]
    floor_arms = [
        arm for arm in few_trial_arms if arm.expected_seconds <= _floor_share(arm) * seconds_left
    ]
    if floor_arms:
        fewest = min(floor_arms, key=lambda arm: (arm.trials, arm.lag, -arm.screening_score))
        return ArmChoice(fewest.model, "floor")
    arms_in_time = [arm for arm in arms if arm.expected_seconds <= seconds_left]
    if not arms_in_time:
        arms_in_time = [min(started_arms, key=lambda arm: arm.expected_seconds)]
    # An expected gain is a guess: now and then a model that is no longer tried may prove it wrong.
    if budget.done % TURN_TRIALS == 0:
        open_arms = [
            arm
            for arm in arms_in_time
            if arm.expected_gain > MIN_GAIN * scale and arm.expected_seconds < 0.1 * seconds_left
        ]
        if open_arms:
            return ArmChoice(min(open_arms, key=lambda arm: arm.seconds).model, "turn")
    # Early on, gains a second; at the end seconds that nobody needs are worth nothing.
    power = max(0.0, min(1.0, budget.share))
    best = max(
        arms_in_time,
        key=lambda arm: arm.expected_gain / (arm.expected_seconds + ASKING_SECONDS) ** power,
    )
    return ArmChoice(best.model, "gain")


def _floor_share(arm: ArmEstimate) -> float:
    """Of the time left, that one of a model's first trials may take: more of the leading ones."""
    return next(share for lag, share in FLOOR_SHARES if arm.lag <= lag)


def _first_arm(
    new_arms: Sequence[ArmEstimate], arms: Sequence[ArmEstimate], budget: RemainingBudget
) -> ArmEstimate | None:
    ranked = sorted(arms, key=lambda arm: -arm.screening_score)
    leaders = [arm for arm in ranked[:FIRST_LEADERS] if arm in new_arms]
    in_time = [arm for arm in new_arms if arm.expected_seconds <= budget.seconds_left]
    share = FIRST_SHARE * budget.seconds_left
    quick_arms = [arm for arm in in_time if arm in leaders or arm.expected_seconds <= share]
    if not quick_arms:
        return None
    cheapest = min(quick_arms, key=lambda arm: arm.expected_seconds)
    leader = next((arm for arm in leaders if arm in quick_arms), cheapest)
    # The cheaper ones first, but the leader before its share of the time is gone.
    is_late = cheapest.expected_seconds + leader.expected_seconds > budget.until_leader
    return leader if is_late else cheapest


def scale_of_scores(defaults: Sequence[float], noise: float) -> float:
    """From the best of default settings' scores to the middle one, but never below their noise."""
    finite = sorted(score for score in defaults if math.isfinite(score))
    if not finite:
        return max(noise, 1e-9)
    # The middle one: a single model that fails badly must not set the scale.
    middle = finite[len(finite) // 2]
    return max(noise, 0.5 * (finite[-1] - middle), 1e-9)
