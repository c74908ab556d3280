"""Learning the hyperparameters: the marginal likelihood, its gradient, priors, and the search.

Notation:
    θ       (log ℓ_1 … log ℓ_D, log a, log σ²), one length for every axis: the one-hot entries of a
            choice share theirs, shape (D + 2,)
    K       a R + σ² I, shape (n, n)
    G       ααᵀ − K⁻¹
    f(θ)    −½ zᵀα − ½ log|K| + log prior(θ), without constants

∂f/∂θ = ½ tr(G ∂K/∂θ) + ∂ log prior (Rasmussen & Williams 2006, eq. 5.9).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from core.gp.kernels import Array, Indices, correlation_and_slope, squared_distances
from core.gp.regression import Hyperparameters, factorize, solve_lower

LENGTHS = (0.01, 30.0)
AMPLITUDES = (0.05, 50.0)
NOISES = (1e-8, 1.0)

# Weak normal priors on the logarithms: (mean, standard deviation). Without them three points give
# infinite lengths and no noise. The mean length grows with √D, as distances in the cube do.
LENGTH_PRIOR = (np.log(0.5), 1.0)
AMPLITUDE_PRIOR = (0.0, 1.0)
NOISE_PRIOR = (np.log(1e-5), 3.0)


class Likelihood:
    """f(θ) and its gradient for given points and responses.

    Args:
        kernel: se, matern32 or matern52.
        X: points, shape (n, width).
        z: standardized responses, shape (n,).
        axis_of: for every entry of the unit vector its axis, 0 … D − 1, shape (width,).
    """

    def __init__(self, kernel: str, X: Array, z: Array, axis_of: Indices) -> None:
        self.kernel, self.X, self.z, self.axis_of = kernel, X, z, np.asarray(axis_of, dtype=int)
        self.axes = int(self.axis_of.max()) + 1
        length_mean = LENGTH_PRIOR[0] + 0.5 * np.log(self.axes)
        self.prior_mean = np.array(
            [length_mean] * self.axes + [AMPLITUDE_PRIOR[0], NOISE_PRIOR[0]], dtype=float
        )
        self.prior_sd = np.array(
            [LENGTH_PRIOR[1]] * self.axes + [AMPLITUDE_PRIOR[1], NOISE_PRIOR[1]], dtype=float
        )

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The box in which θ is searched."""
        box = [LENGTHS] * self.axes + [AMPLITUDES, NOISES]
        return [(float(np.log(low)), float(np.log(high))) for low, high in box]

    def hyperparameters(self, theta: Array) -> Hyperparameters:
        """θ in natural units, one length for every entry of the unit vector."""
        lengths = np.exp(theta[: self.axes])[self.axis_of]
        return Hyperparameters(lengths, float(np.exp(theta[-2])), float(np.exp(theta[-1])))

    def theta(self, hyper: Hyperparameters) -> Array:
        """The θ of hyperparameters."""
        first = [int(np.flatnonzero(self.axis_of == axis)[0]) for axis in range(self.axes)]
        return np.log([*hyper.lengths[first], hyper.amplitude, hyper.noise])

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """f(θ) and ∂f/∂θ; −∞ and zeros where K is not positive definite. About n³ flops.

        With W = a G ∘ R′, Σ_ij W_ij (x_i − x_j)² = 2 (Σ_i x_i² (W1)_i − xᵀWx) for every entry x of
        the points, so no n × n matrix of differences is formed. K⁻¹ comes as its lower half;
        sums over the symmetric matrix are taken as both halves less the diagonal.
        """
        hyper = self.hyperparameters(theta)
        n = len(self.X)
        s = squared_distances(self.X, self.X, hyper.lengths)
        s.flat[:: n + 1] = 0.0
        R, slope = correlation_and_slope(self.kernel, s)
        K = hyper.amplitude * R
        K.flat[:: n + 1] += hyper.noise
        try:
            L = factorize(K.T)  # symmetric: the transpose is K in LAPACK's memory order
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros_like(theta)
        alpha = solve_lower(L, solve_lower(L, self.z), transposed=True)
        fit = float(self.z @ alpha)
        value = -0.5 * fit - float(np.log(np.diagonal(L)).sum())
        inverse, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
        trace = float(alpha @ alpha - np.trace(inverse))
        gradient = np.empty_like(theta)
        gradient[: self.axes] = self._by_lengths(inverse, slope, alpha, hyper)
        gradient[-2] = 0.5 * (fit - n - hyper.noise * trace)
        gradient[-1] = 0.5 * hyper.noise * trace
        off = (theta - self.prior_mean) / self.prior_sd
        return value - 0.5 * float(off @ off), gradient - off / self.prior_sd

    def _by_lengths(
        self, inverse: Array, slope: Array, alpha: Array, hyper: Hyperparameters
    ) -> Array:
        """½ tr(G ∂K/∂log ℓ) for every axis, shape (D,); `inverse` is K⁻¹'s lower half."""
        W = slope.T * inverse  # the strict upper half of inverse is zero
        both = W @ self.X + W.T @ self.X - np.diagonal(W)[:, None] * self.X
        ones = W.sum(axis=1) + W.sum(axis=0) - np.diagonal(W)
        # ααᵀ ∘ R′ has rank one times R′: the same sums with R′ weighted on both sides.
        weighted = alpha[:, None] * (slope @ (alpha[:, None] * self.X))
        rank_ones = alpha * (slope @ alpha)
        X = self.X
        moments = (X**2 * (rank_ones - ones)[:, None] - X * (weighted - both)).sum(axis=0)
        by_entry = -2.0 * hyper.amplitude * moments / hyper.lengths**2
        return np.bincount(self.axis_of, weights=by_entry, minlength=self.axes).astype(float)


def learn(likelihood: Likelihood, starts: list[Array], *, rounds: int = 50) -> Array:
    """θ* = argmax f(θ) within its bounds: L-BFGS-B from every start, the best kept; shape (D + 2,).

    Args:
        likelihood: f.
        starts: where to begin, each of shape (D + 2,); clipped into the bounds.
        rounds: L-BFGS iterations from each start at most.
    """
    low, high = np.array(likelihood.bounds).T
    best_value, best = -np.inf, np.clip(starts[0], low, high)

    def falling(theta: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(theta)
        return (-value, -gradient) if np.isfinite(value) else (1e25, gradient)

    for start in starts:
        found = minimize(
            falling,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=likelihood.bounds,
            options={"maxiter": rounds, "ftol": 1e-5, "gtol": 1e-2},
        )
        if -found.fun > best_value:
            best_value, best = -float(found.fun), found.x
    return best
