"""Mean and deviation of this dataset's scores, by few trials and by what was expected of them.

Notation:
    f       scores of the present dataset's trials, larger is better, shape (T,)
    m, C    mean and covariance of their responses given the earlier datasets, noise included
    μ, σ    f = μ + σ z, z ~ N(m, C); every μ is as likely, and log σ ~ N(log s, τ²)
    s, τ    from the deviations of the earlier datasets' scores
    r       f − σ m, and Q = (r − μ)ᵀ C⁻¹ (r − μ) at the best μ, (1ᵀC⁻¹r)/(1ᵀC⁻¹1)

With μ integrated out p(σ | f) ∝ σ^(1 − T) exp(−Q/2σ²) p(σ), on a grid of log σ. It is as wide as
the logarithm of a deviation that 1/(2 Var log σ) degrees of freedom tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array
from core.gp.warping import ScoreWarp
from core.optimize.cholesky import jittered_cholesky, solve_factored

USUAL_SPREAD, SPREAD_WEIGHT = 0.7, 2.0  # of log σ over datasets, and how many datasets it counts as
GRID, REACH = 400, 6.0  # points of log σ, and how many τ from log s
OWN_REACH = 3.0  # the grid goes so far beyond the logarithm of the trials' own deviation
JITTER = 1e-8


@dataclass(frozen=True)
class DeviationPrior:
    """The prior of log σ."""

    location: float  # log s
    spread: float  # τ


def deviation_prior(deviations: Sequence[float]) -> DeviationPrior:
    """The prior by the positive deviations of earlier datasets, at least one."""
    logs = np.log(deviations)
    squares = float(((logs - logs.mean()) ** 2).sum()) + SPREAD_WEIGHT * USUAL_SPREAD**2
    spread = np.sqrt(squares / (len(logs) - 1 + SPREAD_WEIGHT))
    return DeviationPrior(float(logs.mean()), float(spread))


def fitted_scale(
    sample: ScoreWarp, scores: Array, m: Array, C: Array, prior: DeviationPrior
) -> tuple[ScoreWarp, float]:
    """μ and σ by the scores (T,), whose own are `sample`; and the degrees of freedom of σ."""
    # Trials that earlier datasets recommend score nearly the same: their mean is above the usual
    # one, and their deviation says little of the usual one.
    T, s = len(scores), np.exp(prior.location)
    f = sample.sign * (scores - sample.mean) / s
    own_log = float(np.log(sample.scale / s))
    reach = REACH * prior.spread
    logs = np.linspace(min(-reach, own_log - OWN_REACH), max(reach, own_log + OWN_REACH), GRID)
    sigma = np.exp(logs)
    L, _ = jittered_cholesky(C, JITTER)
    weights = solve_factored(L, np.ones(T))
    weights /= weights.sum()
    mu = weights @ f - sigma * (weights @ m)
    standard = (f[:, None] - mu) / sigma - m[:, None]
    Q = (standard * solve_factored(L, standard)).sum(axis=0)
    log_density = (1 - T) * logs - 0.5 * Q - 0.5 * (logs / prior.spread) ** 2
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    middle = float(density @ logs)
    freedom = 0.5 / float(density @ (logs - middle) ** 2)
    deviation = float(np.exp(middle))
    mean = sample.mean + sample.sign * s * float(weights @ f - deviation * (weights @ m))
    return ScoreWarp(mean, s * deviation, sample.maximize), freedom
