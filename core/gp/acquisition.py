"""Acquisition functions ("anticipation equations"): how promising a point is, and its slope.

Notation (everything standardized, larger is better):
    μ, sd   posterior mean and standard deviation
    best    the response to beat
    u       (μ − best)/sd
    φ, Φ    density and distribution function of the standard normal
    M       Mills' ratio Φ(u)/φ(u)
    h       φ(u) + u Φ(u), so that EI = sd h (Brofos 2013, eq. 1) and PI = Φ(u) (eq. 3)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from core.gp.kernels import Array

LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
FAR = -1e5  # below it 1 + uM is rounding and the asymptotic series is exact to machine precision

Slopes = tuple[Array, Array, Array]
Acquisition = Callable[[Array, Array, float], Slopes]


def log_h(u: Array) -> Array:
    """log(φ(u) + uΦ(u)), stable for every u (after Ament et al. 2023, arXiv:2310.20708, eq. 9)."""
    u = np.asarray(u, dtype=float)
    near = np.maximum(u, -1.0)
    middle = np.clip(u, FAR, -1.0)
    # Below −1 the two terms cancel: there log φ + log(1 + uM), whose M does not underflow.
    direct = np.log(_density(near) + near * ndtr(near))
    gaussian = -0.5 * u * u - LOG_SQRT_2PI
    by_mills = gaussian + np.log1p(middle * mills_ratio(middle))
    # Farther out uM rounds to −1, and 1 + uM = u⁻²(1 + O(u⁻²)).
    far = gaussian - 2.0 * np.log(np.maximum(-u, 1.0))
    return np.where(u > -1.0, direct, np.where(u > FAR, by_mills, far))


def mills_ratio(u: Array) -> Array:
    """M(u) = Φ(u)/φ(u) = √(π/2) erfcx(−u/√2), for u ≤ 0 without underflow."""
    return np.sqrt(np.pi / 2.0) * erfcx(-np.asarray(u) / np.sqrt(2.0))


def _density(u: Array) -> Array:
    return np.exp(-0.5 * u * u - LOG_SQRT_2PI)


def log_expected_improvement(mean: Array, sd: Array, best: float) -> Slopes:
    """Logarithm of EI: log sd + log h(u), with derivatives Φ/(sd h) by μ and φ/(sd h) by sd."""
    u = (mean - best) / sd
    near, low = np.maximum(u, -1.0), np.minimum(u, -1.0)
    h = _density(near) + near * ndtr(near)
    M = mills_ratio(low)
    # φ/h = 1/(1 + uM), a ratio that cannot underflow; far out 1 + uM → 1/u².
    safe = np.maximum(low, FAR)
    density_over_h = np.where(low > FAR, 1.0 / (1.0 + safe * mills_ratio(safe)), low * low)
    by_mean = np.where(u > -1.0, ndtr(near) / h, M * density_over_h) / sd
    by_sd = np.where(u > -1.0, _density(near) / h, density_over_h) / sd
    return np.log(sd) + log_h(u), by_mean, by_sd


def log_probability_of_improvement(mean: Array, sd: Array, best: float) -> Slopes:
    """Logarithm of PI: log Φ(u), with its derivatives by μ (φ/Φ/sd) and by sd (−u φ/Φ/sd)."""
    u = (mean - best) / sd
    low = np.minimum(u, 0.0)
    high = np.maximum(u, 0.0)
    hazard = np.where(u <= 0.0, 1.0 / mills_ratio(low), _density(high) / ndtr(high))
    return log_ndtr(u), hazard / sd, -u * hazard / sd


def posterior_mean(mean: Array, sd: Array, best: float) -> Slopes:
    """μ itself, derivatives 1 and 0."""
    return mean, np.ones_like(mean), np.zeros_like(sd)


def standard_deviation(mean: Array, sd: Array, best: float) -> Slopes:
    """Log sd, derivatives 0 and 1/sd."""
    # A logarithm, as EI and PI are, so that the log prior of a search can be added.
    return np.log(sd), np.zeros_like(mean), 1.0 / sd


ACQUISITIONS: dict[str, Acquisition] = {
    "ei": log_expected_improvement,
    "pi": log_probability_of_improvement,
    "mean": posterior_mean,
}


def expected_improvement(mean: Array, sd: Array, best: float) -> Array:
    """EI = sd (φ(u) + uΦ(u)), in the units of μ (Brofos 2013, eq. 1)."""
    return np.exp(log_expected_improvement(mean, sd, best)[0])


def probability_of_improvement(mean: Array, sd: Array, best: float) -> Array:
    """PI = Φ(u) (Brofos 2013, eq. 3)."""
    return ndtr((mean - best) / sd)
