"""Gaussian-process regression with given hyperparameters: a factor that is kept and extended.

Notation:
    X       points in the unit cube, shape (n, width)
    z       standardized responses, larger is better, shape (n,)
    a, σ²   amplitude and noise variance; K = a R(X, X) + σ² I
    L       lower Cholesky factor of K
    α       K⁻¹ z
    μ, sd   posterior mean and standard deviation of the noise-free function (Brofos eq. 5 and 6)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from core.gp.kernels import Array, correlation, correlation_and_slope, squared_distances

SMALLEST_VARIANCE = 1e-14  # of the amplitude; below it a standard deviation is rounding


@dataclass(frozen=True)
class Hyperparameters:
    """What the marginal likelihood chooses.

    Attributes:
        lengths: ℓ, one for every entry of the unit vector, shape (width,).
        amplitude: a, the variance of the standardized function.
        noise: σ², the variance of the standardized noise.
    """

    lengths: Array
    amplitude: float
    noise: float


def factorize(K: Array) -> Array:
    """The lower Cholesky factor of K; K may be overwritten. n³/3 flops.

    Raises:
        numpy.linalg.LinAlgError: K is not positive definite.
    """
    L, info = lapack.dpotrf(K, lower=1, clean=1, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError("the kernel matrix is not positive definite")
    return L


def solve_lower(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """L⁻¹ B, or L⁻ᵀ B where `transposed`; n² flops a column."""
    solution, _ = lapack.dtrtrs(L, B, lower=1, trans=1 if transposed else 0)
    return solution


class Regression:
    """The posterior of a Gaussian process at fixed hyperparameters.

    Args:
        kernel: se, matern32 or matern52.
        hyper: lengths, amplitude and noise.
        X: points, shape (n, width), n ≥ 1.
        z: standardized responses, shape (n,).
        L: the Cholesky factor where it is known already.
    """

    def __init__(
        self, kernel: str, hyper: Hyperparameters, X: Array, z: Array, L: Array | None = None
    ) -> None:
        self.kernel, self.hyper, self.X, self.z = kernel, hyper, X, z
        self.L = factorize(self.covariance(X)) if L is None else L
        self.alpha = solve_lower(self.L, solve_lower(self.L, z), transposed=True)

    def covariance(self, X: Array) -> Array:
        """K = a R(X, X) + σ² I, shape (n, n), in the memory order that LAPACK works on in place."""
        s = squared_distances(X, X, self.hyper.lengths)
        np.fill_diagonal(s, 0.0)
        K = np.asfortranarray(self.hyper.amplitude * correlation(self.kernel, s))
        K[np.diag_indices_from(K)] += self.hyper.noise
        return K

    def extended(self, X_new: Array, z: Array) -> Regression:
        """The posterior with m more points, the factor extended in m n² flops, not refactored.

        With K = [[K₁₁, K₁₂], [K₂₁, K₂₂]] and K₁₁ = L₁₁L₁₁ᵀ, the factor of K is
        [[L₁₁, 0], [L₂₁, L₂₂]], L₂₁ᵀ = L₁₁⁻¹K₁₂, L₂₂ = chol(K₂₂ − L₂₁L₂₁ᵀ).

        Args:
            X_new: the new points, shape (m, width).
            z: the responses of the old and the new points, shape (n + m,); all may differ from the
                old ones, because standardization shifts them.
        """
        n, m = len(self.X), len(X_new)
        cross = solve_lower(self.L, self.cross_covariance(X_new))
        L = np.zeros((n + m, n + m), order="F")
        L[:n, :n] = self.L
        L[n:, :n] = cross.T
        L[n:, n:] = factorize(np.asfortranarray(self.covariance(X_new) - cross.T @ cross))
        return Regression(self.kernel, self.hyper, np.vstack([self.X, X_new]), z, L)

    def cross_covariance(self, points: Array) -> Array:
        """Covariances a R(X, points), shape (n, m)."""
        s = squared_distances(self.X, points, self.hyper.lengths)
        return self.hyper.amplitude * correlation(self.kernel, s)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """μ = kᵀα and sd = √(a − ‖L⁻¹k‖²) at points of shape (m, width), each of shape (m,)."""
        k = self.cross_covariance(points)
        v = solve_lower(self.L, k)
        return k.T @ self.alpha, self._deviation(v)

    def _deviation(self, v: Array) -> Array:
        a = self.hyper.amplitude
        return np.sqrt(np.maximum(a - np.einsum("ij,ij->j", v, v), SMALLEST_VARIANCE * a))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """μ, sd and their gradients by the point, shapes (m,), (m,), (m, width), (m, width).

        ∂k_i/∂x = a R′(s_i) 2 (x − X_i)/ℓ²;  ∇μ = Σ α_i ∂k_i;  ∇sd = −(1/sd) Σ (K⁻¹k)_i ∂k_i.
        """
        s = squared_distances(self.X, points, self.hyper.lengths)
        R, slope = correlation_and_slope(self.kernel, s)
        k = self.hyper.amplitude * R
        v = solve_lower(self.L, k)
        sd = self._deviation(v)
        weights = (2.0 * self.hyper.amplitude) * slope
        by_mean = weights * self.alpha[:, None]
        by_sd = weights * solve_lower(self.L, v, transposed=True)
        mean_gradient = self._gather(by_mean, points)
        sd_gradient = -self._gather(by_sd, points) / sd[:, None]
        return k.T @ self.alpha, sd, mean_gradient, sd_gradient

    def _gather(self, weights: Array, points: Array) -> Array:
        """Σ_i w_ij (x_j − X_i)/ℓ², shape (m, width), without the (n, m, width) differences."""
        total = weights.sum(axis=0)[:, None]
        return (points * total - weights.T @ self.X) / self.hyper.lengths**2
