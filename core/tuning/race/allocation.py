"""Which of several models is tried next: where the best score is expected to rise most a second.

Every model gets a few trials before it can be passed over, so that none is given up on one bad
draw. After that the next trial goes to the model with the largest expected improvement on the best
score of all (Mockus 1975; Jones, Schonlau and Welch 1998), divided by the seconds that the trial is
expected to take (Snoek, Larochelle and Adams 2012, §3.2) to a power that falls from 1 to 0 as the
time is used up, so that dear models are not starved by cheap ones (Lee and others 2020).

| symbol | code | meaning |
| --- | --- | --- |
| f* | ``best`` | the best score of all models, larger is better |
| μ, s | ``mean``, ``deviation`` | what a model's next trial is expected to score |
| c | ``expected_seconds`` | seconds that it is expected to take |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FLOOR = 3  # trials of every model, its default among them
FIRST_SHARE, FLOOR_SHARE = 0.25, 0.08  # of the time left that a default, a further trial may take
TURN = 8  # every so many trials the model that had the least time is tried
ASKING = 0.15  # seconds that every trial takes beside its fits
BEHIND = 0.02  # of the scores' scale: less expected improvement is none


@dataclass(frozen=True)
class ArmEstimate:
    """What a model's next trial promises; scores are such that larger is better.

    Attributes:
        trials: that it has had, those under way among them.
        screening_score: its score at the screening; −∞ where that failed.
        expected_seconds: seconds that the next trial is expected to take.
        seconds: that it has had so far.
        expected_gain: the improvement on the best score of all that is expected.
    """

    model: str
    trials: int
    screening_score: float
    expected_seconds: float
    seconds: float
    expected_gain: float


@dataclass(frozen=True)
class ArmChoice:
    """The model that is tried next.

    Attributes:
        why: first, floor, turn or gain.
    """

    model: str
    why: str


def expected_improvement(mean: float, deviation: float, best: float) -> float:
    """E max(0, Y − f*) for Y normal with mean μ and standard deviation s."""
    if deviation <= 0.0:
        return max(0.0, mean - best)
    z = (mean - best) / deviation
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return (mean - best) * 0.5 * math.erfc(-z / math.sqrt(2.0)) + deviation * density


@dataclass(frozen=True)
class RemainingBudget:
    """When the choice is made.

    Attributes:
        seconds_left: seconds until the run ends; infinite where trials are counted.
        share: of the run's time or trials that is left, 1 at the start.
        done: trials that were begun so far, of all models.
    """

    seconds_left: float
    share: float
    done: int


def next_model(arms: Sequence[ArmEstimate], scale: float, budget: RemainingBudget) -> ArmChoice:
    """The model that is tried next.

    Args:
        arms: of all models that may be tried.
        scale: of the scores, in whose units improvements are small or large.
        budget: when the choice is made.
    """
    seconds_left = budget.seconds_left
    new_arms = [arm for arm in arms if arm.trials == 0]
    affordable_arms = [
        arm for arm in new_arms if arm.expected_seconds <= FIRST_SHARE * seconds_left
    ]
    if affordable_arms or len(new_arms) == len(arms):
        first = min(
            affordable_arms or new_arms,
            key=lambda arm: (_screening_half(arm, arms), arm.expected_seconds),
        )
        if not affordable_arms:
            first = min(new_arms, key=lambda arm: arm.expected_seconds)
        return ArmChoice(first.model, "first")
    started_arms = [arm for arm in arms if arm.trials > 0]
    floor_arms = [
        arm
        for arm in started_arms
        if arm.trials < FLOOR and arm.expected_seconds <= FLOOR_SHARE * seconds_left
    ]
    if floor_arms:
        return ArmChoice(
            min(floor_arms, key=lambda arm: (arm.trials, -arm.screening_score)).model, "floor"
        )
    arms_in_time = [arm for arm in started_arms if arm.expected_seconds <= seconds_left] or [
        min(started_arms, key=lambda o: o.expected_seconds)
    ]
    if budget.done % TURN == 0:
        open_arms = [
            arm
            for arm in arms_in_time
            if arm.expected_gain > BEHIND * scale and arm.expected_seconds < 0.1 * seconds_left
        ]
        if open_arms:
            return ArmChoice(min(open_arms, key=lambda arm: arm.seconds).model, "turn")
    power = max(0.0, min(1.0, budget.share))
    best = max(
        arms_in_time, key=lambda arm: arm.expected_gain / (arm.expected_seconds + ASKING) ** power
    )
    return ArmChoice(best.model, "gain")


def _screening_half(arm: ArmEstimate, arms: Sequence[ArmEstimate]) -> int:
    """The better half at the screening comes first; within a half the quicker first."""
    ahead = sum(other_arm.screening_score > arm.screening_score for other_arm in arms)
    return 0 if ahead < (len(arms) + 1) // 2 else 1


def scale_of_scores(defaults: Sequence[float], noise: float) -> float:
    """How far apart good models lie: from the best to the middle one, but never below the noise.

    Args:
        defaults: scores of the models' default settings, larger is better.
        noise: the standard error of a score.
    """
    finite = sorted(score for score in defaults if math.isfinite(score))
    if not finite:
        return max(noise, 1e-9)
    middle = finite[len(finite) // 2]
    return max(noise, 0.5 * (finite[-1] - middle), 1e-9)
