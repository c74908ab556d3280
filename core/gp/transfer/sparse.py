"""A squared exponential process over very many past trials, through some of them.

The past trials are taken to be independent given the values at the inducing points (FITC: Snelson &
Ghahramani 2006); the trials of the present dataset and every point that is asked are conditioned
on each other exactly (the block of the partially independent conditional, PIC: Snelson &
Ghahramani 2007). A further trial of the present dataset then costs O(m²) for m inducing points,
however many past trials there are.

Notation (row vectors k over the rows U, then Y):
    U       inducing points, shape (m, width)
    X       past trials, shape (n, width);  Y  present ones, shape (T, width)
    C       chol k(U, U);  V = C⁻¹k(U, X);  Λ = diag(1 − Σ V²) + σ² I
    A       I + V Λ⁻¹ Vᵀ = E diag(λ) Eᵀ
    P       C⁻ᵀ A⁻¹ V Λ⁻¹, so that k(x, U) P z is the mean given the past, shape (m, n)
    W       diag(√(1 − 1/λ)) Eᵀ C⁻¹, so that ‖W k(U, x)‖² is the variance that the past removes
    F       the rows that whiten [k(U, x); k(Y, x)]: sd² = 1 − ‖F k‖²
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array, correlation_and_slope, squared_distances
from core.gp.regression import SMALLEST_VARIANCE, Hyperparameters, factorize, solve_lower

JITTERS = (1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True)
class SparsePast:
    """What of the past trials is kept: U, P and W of the notation, and the lengths and noise."""

    hyper: Hyperparameters
    U: Array
    P: Array
    W: Array


def sparse_past(hyper: Hyperparameters, U: Array, X: Array) -> SparsePast:
    """The past trials X (n, width) seen through U (m, width); n m² flops, once."""
    C = _jittered_factor(_kernel(hyper, U, U))
    V = solve_lower(C, np.asfortranarray(_kernel(hyper, U, X)))
    own = np.maximum(1.0 - np.einsum("ij,ij->j", V, V), 0.0) + hyper.noise
    weighted = V / own
    eigenvalues, E = np.linalg.eigh(np.eye(len(U)) + weighted @ V.T)
    eigenvalues = np.maximum(eigenvalues, 1.0)
    solved = (E / eigenvalues) @ (E.T @ weighted)
    P = solve_lower(C, np.asfortranarray(solved), transposed=True)
    # Eᵀ C⁻¹ = (C⁻ᵀ E)ᵀ
    turned = solve_lower(C, np.asfortranarray(E), transposed=True).T
    return SparsePast(hyper, U, P, np.sqrt(1.0 - 1.0 / eigenvalues)[:, None] * turned)


def _kernel(hyper: Hyperparameters, X: Array, Y: Array) -> Array:
    return np.asarray(np.exp(-0.5 * squared_distances(X, Y, hyper.lengths)))


def _jittered_factor(K: Array) -> Array:
    for jitter in JITTERS:
        try:
            return factorize(np.asfortranarray(K + jitter * np.eye(len(K))))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the kernel matrix is not positive definite at any jitter")


class SparseRegression:
    """The posterior given the past through inducing points, and the present trials exactly.

    Args:
        past: what is kept of n past trials.
        Y: present trials, shape (T, width), T ≥ 0.
        z: responses of the past and the present trials, shape (n + T,).

    Attributes:
        X: the rows U and Y that evaluation costs, shape (m + T, width).
    """

    def __init__(self, past: SparsePast, Y: Array, z: Array) -> None:
        self.past, self.Y, self.z = past, Y, z
        self.X = np.vstack([past.U, Y])
        n, W = past.P.shape[1], past.W
        by_past = past.P @ z[:n]
        k = _kernel(past.hyper, past.U, Y)
        WY = W @ k
        left = _kernel(past.hyper, Y, Y) - WY.T @ WY
        left[np.diag_indices_from(left)] += past.hyper.noise
        L = _present_factor(left)
        residual = z[n:] - k.T @ by_past
        gamma = solve_lower(L, solve_lower(L, residual), transposed=True) if len(Y) else residual
        self.alpha = np.concatenate([by_past - W.T @ (WY @ gamma), gamma])
        lower = solve_lower(L, np.eye(len(Y))) if len(Y) else np.zeros((0, 0))
        self.F = np.block([[W, np.zeros((len(W), len(Y)))], [-lower @ (WY.T @ W), lower]])

    def extended(self, X_new: Array, z: Array) -> SparseRegression:
        """With further present trials; responses of all, (n + T + new,), may have changed."""
        return SparseRegression(self.past, np.vstack([self.Y, X_new]), z)

    def retold(self, z: Array) -> SparseRegression:
        """The same trials with other responses, shape (n + T,)."""
        return SparseRegression(self.past, self.Y, z)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at points of shape (any, width)."""
        k = _kernel(self.past.hyper, self.X, points)
        return k.T @ self.alpha, _deviation(self.F @ k)

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients, shapes (any,), (any,), then (any, width) twice."""
        lengths = self.past.hyper.lengths
        s = squared_distances(self.X, points, lengths)
        k, slope = correlation_and_slope("se", s)
        v = self.F @ k
        sd = _deviation(v)
        slope *= 2.0
        rising = self._gather(slope * self.alpha[:, None], points)
        widening = -self._gather(slope * (self.F.T @ v), points) / sd[:, None]
        return k.T @ self.alpha, sd, rising, widening

    def _gather(self, weights: Array, points: Array) -> Array:
        """Σ_i w_ij (x_j − X_i)/ℓ², shape (any, width)."""
        total = weights.sum(axis=0)[:, None]
        return np.asarray((points * total - weights.T @ self.X) / self.past.hyper.lengths**2)


def _present_factor(K: Array) -> Array:
    return _jittered_factor(K) if len(K) else np.zeros((0, 0))


def _deviation(v: Array) -> Array:
    left = 1.0 - np.einsum("ij,ij->j", v, v)
    return np.asarray(np.sqrt(np.maximum(left, SMALLEST_VARIANCE)))
