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
| c | ``takes`` | seconds that it is expected to take |
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
class Chance:
    """What a model's next trial promises; scores are such that larger is better.

    Attributes:
        trials: that it has had, those under way among them.
        look: its score at the first look; −∞ where that failed.
        takes: seconds that the next trial is expected to take.
        seconds: that it has had so far.
        gain: the improvement on the best score of all that is expected.
    """

    model: str
    trials: int
    look: float
    takes: float
    seconds: float
    gain: float


@dataclass(frozen=True)
class Choice:
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
class Moment:
    """When the choice is made.

    Attributes:
        left: seconds until the run ends; infinite where trials are counted.
        share: of the run's time or trials that is left, 1 at the start.
        done: trials that were begun so far, of all models.
    """

    left: float
    share: float
    done: int


def next_model(chances: Sequence[Chance], scale: float, now: Moment) -> Choice:
    """The model that is tried next.

    Args:
        chances: of all models that may be tried.
        scale: of the scores, in whose units improvements are small or large.
        now: when the choice is made.
    """
    left = now.left
    new = [one for one in chances if one.trials == 0]
    affordable = [one for one in new if one.takes <= FIRST_SHARE * left]
    if affordable or len(new) == len(chances):
        first = min(affordable or new, key=lambda one: (_rank(one, chances), one.takes))
        if not affordable:
            first = min(new, key=lambda one: one.takes)
        return Choice(first.model, "first")
    begun = [one for one in chances if one.trials > 0]
    few = [one for one in begun if one.trials < FLOOR and one.takes <= FLOOR_SHARE * left]
    if few:
        return Choice(min(few, key=lambda one: (one.trials, -one.look)).model, "floor")
    fitting = [one for one in begun if one.takes <= left] or [min(begun, key=lambda o: o.takes)]
    if now.done % TURN == 0:
        open_ = [one for one in fitting if one.gain > BEHIND * scale and one.takes < 0.1 * left]
        if open_:
            return Choice(min(open_, key=lambda one: one.seconds).model, "turn")
    power = max(0.0, min(1.0, now.share))
    best = max(fitting, key=lambda one: one.gain / (one.takes + ASKING) ** power)
    return Choice(best.model, "gain")


def _rank(one: Chance, chances: Sequence[Chance]) -> int:
    """The better half at the first look comes first; within a half the quicker first."""
    ahead = sum(other.look > one.look for other in chances)
    return 0 if ahead < (len(chances) + 1) // 2 else 1


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
