"""Kernels of a Gaussian process, their correlation functions and slopes.

Notation:
    A, B    points in the unit cube, shapes (n, width) and (m, width)
    ℓ       length scales, shape (width,)
    s       squared scaled distance Σ_j (a_j − b_j)² / ℓ_j², shape (n, m)
    R(s)    correlation, R(0) = 1
    R′(s)   its derivative by s (by s, not by the distance: finite at zero for all three kernels)

The kernel of Brofos (2013, eq. 4), α exp(−½ Σ Δ²/(2γ²)), is R_se with ℓ = √2 γ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int_]
Slopes = Callable[[Array], Array]
"""Weights w, (n, m) or (n, 1) -> Σ_i w_ij ∂k(x_i, y_j)/∂y_j, shape (m, width)."""
KERNELS = ("se", "matern32", "matern52")
BLOCK = 64  # rows worked on at once: small enough for the cache at n = 1000
ENTRIES = 12_000  # worked on at once: for larger arrays the system is asked for memory each time


def squared_distances(A: Array, B: Array, lengths: Array) -> Array:
    """s_ij = Σ_k (a_ik − b_jk)² / ℓ_k², shape (n, m); 2 n m width flops."""
    # |a|² + |b|² − 2aᵀb is one matrix product; around the cube's centre it loses the fewest digits.
    a, b = (A - 0.5) / lengths, (B - 0.5) / lengths
    s = a @ b.T
    s *= -2.0
    s += np.einsum("ij,ij->i", a, a)[:, None]
    s += np.einsum("ij,ij->i", b, b)[None, :]
    # Rounding may leave equal points below zero.
    return np.maximum(s, 0.0, out=s)


def correlation(kernel: str, s: Array) -> Array:
    """R(s): se exp(−s/2); matern32 (1 + u) e⁻ᵘ, u² = 3s; matern52 (1 + u + u²/3) e⁻ᵘ, u² = 5s."""
    return correlation_and_slope(kernel, s)[0]


def correlation_and_slope(kernel: str, s: Array) -> tuple[Array, Array]:
    """R(s) and R′(s), each of the shape of s; ValueError: the kernel is none of `KERNELS`.

    R′: se −½ R; matern32 −(3/2) e⁻ᵘ; matern52 −(5/6) (1 + u) e⁻ᵘ.
    """
    # In place below: these arrays are the largest of a fit, and it makes them again and again.
    if kernel == "se":
        value = np.exp(-0.5 * s)
        return value, -0.5 * value
    if kernel == "matern32":
        u = np.sqrt(3.0 * s)
        decay = np.exp(-u)
        u += 1.0
        u *= decay
        decay *= -1.5
        return u, decay
    if kernel == "matern52":
        u = np.sqrt(5.0 * s)
        decay = np.exp(-u)
        u += 1.0
        u *= decay
        decay *= s
        decay *= 5.0 / 3.0
        decay += u
        u *= -5.0 / 6.0
        return decay, u
    raise ValueError(f"no kernel called {kernel}")


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters that the marginal likelihood learns."""

    lengths: Array  # ℓ, one for every entry of the unit vector, shape (width,)
    amplitude: float  # a, the variance of the standardized function
    noise: float  # σ², the variance of the standardized noise


class Kernel(ABC):
    """A kernel k with noise variance σ², as a posterior uses it."""

    @property
    @abstractmethod
    def prior_variance(self) -> float:
        """k(x, x), without the noise."""

    @abstractmethod
    def length_scales(self) -> Array:
        """The length scales ℓ, shape (width,)."""

    @abstractmethod
    def covariance(self, X: Array) -> Array:
        """k(X, X) + σ² I, shape (n, n), in the memory order of LAPACK."""

    @abstractmethod
    def cross_covariance(self, X: Array, points: Array) -> Array:
        """k(X, points), shape (n, m)."""

    @abstractmethod
    def cross_and_slopes(self, X: Array, points: Array) -> tuple[Array, Slopes]:
        """k(X, points), and its slopes by the points."""

    @abstractmethod
    def noisier(self, jitter: float) -> Self:
        """The same with so much more noise."""

    def reaching(self, X: Array) -> Self:
        """The kernel itself, or one that differs in k(x, x) where X needs it."""
        return self


@dataclass(frozen=True)
class Stationary(Kernel):
    """k(x, y) = a R(s)."""

    name: str  # of R: se, matern32 or matern52
    hyper: Hyperparameters

    @property
    def prior_variance(self) -> float:
        return self.hyper.amplitude

    def length_scales(self) -> Array:
        return self.hyper.lengths

    def covariance(self, X: Array) -> Array:
        """K = a R(X, X) + σ² I, shape (n, n)."""
        K = np.empty((len(X), len(X)), order="F")
        for start in range(0, len(X), BLOCK):
            rows, columns = slice(start, start + BLOCK), slice(0, start + BLOCK)
            R = correlation(self.name, squared_distances(X[rows], X[columns], self.hyper.lengths))
            R *= self.hyper.amplitude
            K[rows, columns], K[columns, rows] = R, R.T
        np.fill_diagonal(K, self.hyper.amplitude + self.hyper.noise)
        return K

    def cross_covariance(self, X: Array, points: Array) -> Array:
        k, step = np.empty((len(X), len(points))), max(1, ENTRIES // max(1, len(points)))
        for start in range(0, len(X), step):
            s = squared_distances(X[start : start + step], points, self.hyper.lengths)
            k[start : start + step] = correlation(self.name, s)
        k *= self.hyper.amplitude
        return k

    def cross_and_slopes(self, X: Array, points: Array) -> tuple[Array, Slopes]:
        """The same and ∂k_i/∂x = a R′(s_i) 2 (x − X_i)/ℓ²."""
        lengths, a = self.hyper.lengths, self.hyper.amplitude
        R, slope = correlation_and_slope(self.name, squared_distances(X, points, lengths))
        slope *= 2.0 * a
        return a * R, lambda weights: gathered(slope * weights, X, points) / lengths**2

    def noisier(self, jitter: float) -> Stationary:
        return replace(self, hyper=replace(self.hyper, noise=self.hyper.noise + jitter))


def gathered(weights: Array, X: Array, points: Array) -> Array:
    """Σ_i w_ij (y_j − x_i), shape (m, width), without the (n, m, width) differences."""
    return np.asarray(points * weights.sum(axis=0)[:, None] - weights.T @ X)
