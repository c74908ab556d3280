"""Gaussian-process regression, its factor extended by further points, and it as plain data.

Notation:
    X       the kernel's inputs of n points, shape (n, any)
    z       standardized responses, larger is better, shape (n,)
    K       k(X, X) + σ² I, with lower Cholesky factor L
    k       k(X, x), the covariances with a point x
    α, F    what gives the posterior: mean kᵀα, variance k(x, x) − ‖F k‖²; here K⁻¹ z and L⁻¹
    μ, sd   posterior mean and standard deviation of the noise-free function (Brofos eq. 5 and 6)

Of a `Surrogate` scores may be maximized or minimized; inside, larger is better (core.gp.warping).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy.linalg import lapack

from core.gp.kernels import Array, Hyperparameters, Kernel, Stationary
from core.gp.warping import (
    UNLIMITED,
    Limits,
    PredictedScores,
    ScoreWarp,
    predicted_scores,
    t_widening,
)
from core.optimize.cholesky import extend_factor, jittered_cholesky, solve_factored, solve_lower

SMALLEST_VARIANCE = 1e-14  # of the prior's; below it a standard deviation is rounding
MIN_JITTER = 1e-8  # of the prior's variance
# Points up to which L is inverted: products with it take a sixth of the time that solving takes.
_INVERTED = 400
K = TypeVar("K", bound=Kernel)


class ResponseSurface(Protocol):
    """A posterior over unit vectors, as a search uses it."""

    X: Array
    z: Array

    @property
    def lengths(self) -> Array:
        """ℓ, one for every entry of the unit vector, shape (width,)."""

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at m points, each of shape (m,)."""

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Both and their gradients by the point."""

    def extended(self, X_new: Array, z: Array) -> ResponseSurface:
        """With more points; z is of all."""


class Posterior(ABC, Generic[K]):
    """A Gaussian process's posterior, by the points X (n, any), responses z seen, and α (n,)."""

    def __init__(self, kernel: K, X: Array, z: Array, alpha: Array) -> None:
        self.kernel, self.X, self.z, self.alpha = kernel, X, z, alpha

    @property
    def lengths(self) -> Array:
        return self.kernel.length_scales()

    @abstractmethod
    def whitened(self, k: Array) -> Array:
        """F k, for the columns of k."""

    @abstractmethod
    def unwhitened(self, v: Array) -> Array:
        """Fᵀ v, for the columns of v."""

    @abstractmethod
    def extended(self, X_new: Array, z: Array) -> Posterior[K]:
        """With m more points, perhaps none; z is of all, and all may have changed."""

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """μ = kᵀα and sd = √(k(x, x) − ‖F k‖²) at m points, each of shape (m,)."""
        k = self.kernel.cross_covariance(self.X, points)
        return k.T @ self.alpha, self._deviation(self.whitened(k))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """μ, sd and their gradients by the point, shapes (m,), (m,), (m, width), (m, width).

        ∇μ = Σ α_i ∂k_i;  ∇sd = −(1/sd) Σ (FᵀF k)_i ∂k_i.
        """
        k, slopes = self.kernel.cross_and_slopes(self.X, points)
        v = self.whitened(k)
        sd = self._deviation(v)
        falling = slopes(self.unwhitened(v))
        return k.T @ self.alpha, sd, slopes(self.alpha[:, None]), -falling / sd[:, None]

    def _deviation(self, v: Array) -> Array:
        prior = self.kernel.prior_variance
        variance = prior - np.einsum("ij,ij->j", v, v)
        # At observed points rounding may leave nothing, or less.
        return np.asarray(np.sqrt(np.maximum(variance, SMALLEST_VARIANCE * prior)))


class ApproximatePosterior(Posterior[K]):
    """A posterior by its α and F."""

    def __init__(self, kernel: K, X: Array, z: Array, alpha: Array, F: Array) -> None:
        super().__init__(kernel, X, z, alpha)
        self.F = F

    def whitened(self, k: Array) -> Array:
        return np.asarray(self.F @ k)

    def unwhitened(self, v: Array) -> Array:
        return np.asarray(self.F.T @ v)


class ExactPosterior(Posterior[K]):
    """The exact posterior given X (n, any), n ≥ 1, and standardized responses z (n,).

    `L` is K's factor where known; the kernel gets a little noise where K is not positive definite.
    """

    def __init__(self, kernel: K, X: Array, z: Array, L: Array | None = None) -> None:
        if L is None:
            kernel = kernel.reaching(X)
            L, jitter = jittered_cholesky(kernel.covariance(X), MIN_JITTER)
            kernel = kernel.noisier(jitter) if jitter else kernel
        self.L = L
        super().__init__(kernel, X, z, solve_factored(L, z))

    def extended(self, X_new: Array, z: Array) -> ExactPosterior[K]:
        """With points X_new (m, any) and all responses z (n + m,); L extended in m n² flops."""
        if len(X_new) == 0:
            return ExactPosterior(self.kernel, self.X, z, self.L)
        X = np.vstack([self.X, X_new])
        kernel = self.kernel.reaching(X)
        # The new points changed a constant in every entry of K.
        if kernel.prior_variance != self.kernel.prior_variance:
            return ExactPosterior(kernel, X, z)
        try:
            side = kernel.cross_covariance(self.X, X_new)
            L = extend_factor(self.L, side, kernel.covariance(X_new))
        except np.linalg.LinAlgError:
            # Points that nearly coincide: the whole is factored anew, with jitter.
            return ExactPosterior(kernel, X, z)
        return ExactPosterior(kernel, X, z, L)

    def whitened(self, k: Array) -> Array:
        return self._inverse @ k if len(self.X) <= _INVERTED else solve_lower(self.L, k)

    def unwhitened(self, v: Array) -> Array:
        if len(self.X) <= _INVERTED:
            return np.asarray(self._inverse.T @ v)
        return solve_lower(self.L, v, transposed=True)

    @cached_property
    def _inverse(self) -> Array:
        """L⁻¹, n³/3 flops."""
        inverse, _ = lapack.dtrtri(self.L, lower=1)
        return np.ascontiguousarray(inverse)


GpPosterior = ExactPosterior[Stationary]


@dataclass(frozen=True)
class FittedSurface:
    """The data of a fitted response surface that views show."""

    trials: int = 0  # how many it has seen
    points: list[list[float]] = field(default_factory=list)  # unit vectors, n × width
    responses: list[float] = field(default_factory=list)  # n
    numbers: list[int] = field(default_factory=list)  # of the trials, n
    lengths: list[float] = field(default_factory=list)  # one for every entry of the unit vector
    noise: float = 0.0  # variance of the standardized noise
    mean: float = 0.0  # with scale, median and spread: a `core.gp.warping.ScoreWarp`
    scale: float = 1.0
    maximize: bool = True  # whether larger scores are better
    incumbent: list[float] = field(default_factory=list)  # unit vector of the best trial
    next: list[float] = field(default_factory=list)  # unit vector of the next trial


@dataclass(frozen=True)
class Surrogate(FittedSurface):
    """The data from which a view evaluates the Gaussian process anywhere; responses are scores."""

    kernel: str = "matern52"  # se, matern32 or matern52
    amplitude: float = 1.0  # variance of the standardized function
    acquisition: str = "ei"  # ei, pi or mean
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

    def score_predictions(
        self, mean: Array, sd: Array, limits: Limits = UNLIMITED
    ) -> PredictedScores:
        """The scores to be observed where the posterior has this mean and deviation."""
        # The mean and the deviation that standardize are those of n scores: as of a further draw
        # from a normal distribution, Student's t with n − 1 degrees and the variance of the mean.
        n = max(len(self.responses), 2)
        variance = (sd**2 + self.noise + 1.0 / n) * n / (n - 1)
        sd = t_widening(n - 1) * np.sqrt(variance)
        return predicted_scores(self.score_warp, mean, sd, limits)


def response_to_beat(regression: Posterior) -> tuple[float, int]:
    """The best observed response, and which (Brofos's y_best)."""
    # Not the largest posterior mean: where scores come in steps it settles below the highest.
    k = int(np.argmax(regression.z))
    return float(regression.z[k]), k
