"""Cholesky factors: of a matrix as it is, with a jitter where rounding made it indefinite, grown.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | | (n, n) | symmetric |
| L | | (n, n) | lower triangular with A = L Lᵀ |
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

# The first jitter, as a share of the largest diagonal entry, and the factor to the next.
_ROUNDING = 1e-14
_GROWTH = 100.0
_TRIES = 12
_ALIKE = 1e3


def is_even(diagonal: np.ndarray, small: int) -> bool:
    """Whether single precision serves a matrix larger than that: its scales are not far apart."""
    return len(diagonal) > small and bool(diagonal.max() < _ALIKE * diagonal.min())


def factorize(A: np.ndarray) -> np.ndarray:
    """L of a matrix as it is, or LinAlgError; A in Fortran order is overwritten. n³/3 flops."""
    L, status = lapack.dpotrf(A, lower=1, clean=1, overwrite_a=1)
    if status != 0:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return L


def cholesky(A: np.ndarray) -> np.ndarray:
    """L, its diagonal lifted where rounding made A indefinite; LinAlgError if A is not finite."""
    return jittered_cholesky(A)[0]


def jittered_cholesky(A: np.ndarray, min_jitter: float = _ROUNDING) -> tuple[np.ndarray, float]:
    """L of A + jitter I, and the jitter: 0 where A is positive definite as it is.

    The first jitter is a share of the largest diagonal entry; in Fortran order A's lower half is
    enough. LinAlgError if A is not finite.
    """
    # A is symmetric: its transpose is the same matrix in LAPACK's order, without a copy.
    A = A if A.flags.f_contiguous else A.T
    jitter = 0.0
    for _ in range(_TRIES):
        L, status = lapack.dpotrf(A if jitter == 0.0 else _with_jitter(A, jitter), lower=1)
        if status == 0 and math.isfinite(L[-1, -1]):
            return L, jitter
        jitter = max(_GROWTH * jitter, min_jitter * float(np.abs(np.diagonal(A)).max()) + 1e-300)
    raise np.linalg.LinAlgError("the matrix is not finite, or far from positive definite")


def _with_jitter(A: np.ndarray, jitter: float) -> np.ndarray:
    A = A.copy(order="F")
    A[np.diag_indices_from(A)] += jitter
    return A


def extend_factor(L: np.ndarray, side: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The factor of [[L Lᵀ, S], [Sᵀ, C]]: S and C of shapes (n, m), (m, m); m n² flops.

    It is [[L, 0], [Rᵀ, chol(C − Rᵀ R)]] with R = L⁻¹ S; LinAlgError where that is not definite.
    """
    n, m = side.shape
    R = solve_lower(L, np.asfortranarray(side))
    larger = np.zeros((n + m, n + m), order="F")
    larger[:n, :n] = L
    larger[n:, :n] = R.T
    larger[n:, n:] = factorize(np.asfortranarray(corner - R.T @ R))
    return larger


def solve_lower(L: np.ndarray, B: np.ndarray, *, transposed: bool = False) -> np.ndarray:
    """L⁻¹ B, or L⁻ᵀ B where `transposed`; n² flops a column."""
    solution, _ = lapack.dtrtrs(L, B, lower=1, trans=1 if transposed else 0)
    return solution


def solve_factored(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A⁻¹ B, for B (n,) or (n, r)."""
    return np.asarray(lapack.dpotrs(L, B, lower=1)[0])


def inverse_diagonal(L: np.ndarray) -> np.ndarray:
    """The diagonal of A⁻¹, shape (n,); 2 n³/3 flops."""
    return np.diagonal(lapack.dpotri(L, lower=1)[0])


def log_determinant(L: np.ndarray) -> float:
    """The log determinant log |A|."""
    return 2.0 * float(np.log(np.diagonal(L)).sum())
