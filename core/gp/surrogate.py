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
    """The data from which a view evaluates the Gaussian process anywhere in the unit cube."""

    trials: int = 0  # how many it has seen
    points: list[list[float]] = field(default_factory=list)  # unit vectors, n × width
    responses: list[float] = field(default_factory=list)  # scores, n
    numbers: list[int] = field(default_factory=list)  # of the trials, n
    kernel: str = "matern52"  # se, matern32 or matern52
    lengths: list[float] = field(default_factory=list)  # one for every entry of the unit vector
    amplitude: float = 1.0  # variance of the standardized function
    noise: float = 0.0  # variance of the standardized noise
    mean: float = 0.0  # with scale, median and spread: a `core.gp.warping.ScoreWarp`
    scale: float = 1.0
    maximize: bool = True  # whether larger scores are better
    acquisition: str = "ei"  # ei, pi or mean
    incumbent: list[float] = field(default_factory=list)  # unit vector of the best trial
    next: list[float] = field(default_factory=list)  # unit vector of the next trial
    median: float = 0.0
    spread: float = 0.0
    proposes: bool = True  # whether it chose the next trial; the first ones are spread evenly

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

    Not the largest posterior mean: where scores come in steps it would settle below the highest.
    """
    k = int(np.argmax(regression.z))
    return float(regression.z[k]), k
