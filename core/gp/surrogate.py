"""The surrogate: a Gaussian process fitted to scores, and the plain data that redraws it anywhere.

Scores may be maximized or minimized; inside, responses are standardized with a sign so that larger
is better, the worse half compressed (core.gp.warping).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.gp.kernels import Hyperparameters, Stationary
from core.gp.regression import ExactPosterior, GpPosterior, Posterior
from core.gp.warping import ScoreWarp


@dataclass(frozen=True)
class Surrogate:
    """The data from which a view evaluates the Gaussian process anywhere in the unit cube.

    Attributes:
        trials: how many trials it has seen.
        points: their unit vectors, n × width.
        responses: their scores, n.
        numbers: their trial numbers, n.
        kernel: se, matern32 or matern52.
        lengths: one for every entry of the unit vector.
        amplitude: variance of the standardized function.
        noise: variance of the standardized noise.
        mean, scale, median, spread: between scores and responses (`core.gp.warping.ScoreWarp`).
        maximize: whether larger scores are better.
        acquisition: ei, pi or mean.
        incumbent: unit vector of the best trial.
        next: unit vector of the next trial.
        proposes: whether it chose the next trial; the first ones are spread evenly instead.
    """

    trials: int = 0
    points: list[list[float]] = field(default_factory=list)
    responses: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    kernel: str = "matern52"
    lengths: list[float] = field(default_factory=list)
    amplitude: float = 1.0
    noise: float = 0.0
    mean: float = 0.0
    scale: float = 1.0
    maximize: bool = True
    acquisition: str = "ei"
    incumbent: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    median: float = 0.0
    spread: float = 0.0
    proposes: bool = True

    @property
    def score_warp(self) -> ScoreWarp:
        """Between scores and responses."""
        return ScoreWarp(self.mean, self.scale, self.maximize, self.median, self.spread)

    def regression(self) -> GpPosterior:
        """The posterior, refactored from the plain data; n³/3 flops."""
        hyper = Hyperparameters(np.array(self.lengths), self.amplitude, self.noise)
        z = self.score_warp.to_responses(self.responses)
        return ExactPosterior(Stationary(self.kernel, hyper), np.array(self.points), z)


def response_to_beat(regression: Posterior) -> tuple[float, int]:
    """The best observed response, and which (Brofos's y_best).

    The largest posterior mean at an observed point would be the other choice; where scores come in
    steps, as accuracies do, it lets the search settle on a step below the highest.
    """
    k = int(np.argmax(regression.z))
    return float(regression.z[k]), k
