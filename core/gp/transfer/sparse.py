"""A squared exponential process over very many earlier trials, through some of them.

These are taken to be independent given the values at the inducing points (FITC: Snelson &
Ghahramani 2006); the trials of the present dataset and every point that is asked are conditioned
on each other exactly (the block of the partially independent conditional, PIC: Snelson &
Ghahramani 2007). A further trial of the present dataset then costs O(m²) for m inducing points,
however many earlier trials there are.

Notation (row vectors k over the rows U, then Y):
    U       inducing points, shape (m, width)
    X       earlier trials, shape (n, width);  Y  present ones, shape (T, width)
    C       chol k(U, U);  V = C⁻¹k(U, X);  Λ = diag(1 − Σ V²) + σ² I
    A       I + V Λ⁻¹ Vᵀ = E diag(λ) Eᵀ
    P       C⁻ᵀ A⁻¹ V Λ⁻¹, so that k(x, U) P z is the mean given the earlier trials, shape (m, n)
    W       diag(√(1 − 1/λ)) Eᵀ C⁻¹, so that ‖W k(U, x)‖² is the variance that they remove
    F       the rows that whiten [k(U, x); k(Y, x)]: sd² = 1 − ‖F k‖²
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array, Stationary
from core.gp.regression import MIN_JITTER, ApproximatePosterior
from core.optimize.cholesky import cholesky, jittered_cholesky, solve_factored, solve_lower

_NUGGET = 1e-10  # on k(U, U), whose points may lie close together


@dataclass(frozen=True)
class SparseEarlier:
    """The earlier trials condensed: U, P and W of the notation, and the kernel."""

    kernel: Stationary
    U: Array
    P: Array
    W: Array


def sparse_earlier(kernel: Stationary, U: Array, X: Array) -> SparseEarlier:
    """The earlier trials X (n, width) seen through U (m, width); n m² flops, once."""
    C = cholesky(kernel.cross_covariance(U, U) + _NUGGET * np.eye(len(U)))
    V = solve_lower(C, np.asfortranarray(kernel.cross_covariance(U, X)))
    unseen = kernel.prior_variance - np.einsum("ij,ij->j", V, V)
    variances = np.maximum(unseen, 0.0) + kernel.hyper.noise
    weighted = V / variances
    eigenvalues, E = np.linalg.eigh(np.eye(len(U)) + weighted @ V.T)
    eigenvalues = np.maximum(eigenvalues, 1.0)
    solved = (E / eigenvalues) @ (E.T @ weighted)
    P = solve_lower(C, np.asfortranarray(solved), transposed=True)
    # Eᵀ C⁻¹ = (C⁻ᵀ E)ᵀ
    whitening = solve_lower(C, np.asfortranarray(E), transposed=True).T
    return SparseEarlier(kernel, U, P, np.sqrt(1.0 - 1.0 / eigenvalues)[:, None] * whitening)


class SparseRegression(ApproximatePosterior[Stationary]):
    """The posterior given earlier trials through inducing points, and present Y (T, width) exactly.

    X are the rows U and Y, shape (m + T, width); z (n + T,): earlier responses first.
    """

    def __init__(self, earlier: SparseEarlier, Y: Array, z: Array) -> None:
        self.earlier, self.Y = earlier, Y
        n, W, kernel = earlier.P.shape[1], earlier.W, earlier.kernel
        by_earlier = earlier.P @ z[:n]
        k = kernel.cross_covariance(earlier.U, Y)
        WY = W @ k
        gamma, inverse = np.zeros(0), np.zeros((0, 0))
        if len(Y):
            L, _ = jittered_cholesky(kernel.covariance(Y) - WY.T @ WY, MIN_JITTER)
            gamma = solve_factored(L, z[n:] - k.T @ by_earlier)
            inverse = solve_lower(L, np.eye(len(Y)))
        corner = np.zeros((len(W), len(Y)))
        F = np.block([[W, corner], [-inverse @ (WY.T @ W), inverse]])
        alpha = np.concatenate([by_earlier - W.T @ (WY @ gamma), gamma])
        super().__init__(kernel, np.vstack([earlier.U, Y]), z, alpha, F)

    def extended(self, X_new: Array, z: Array) -> SparseRegression:
        """With further present trials; responses of all, (n + T + new,), may have changed."""
        return SparseRegression(self.earlier, np.vstack([self.Y, X_new]), z)
