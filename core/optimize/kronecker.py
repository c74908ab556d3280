"""A curvature S ⊗ G of scores and columns, diagonal in one basis for all penalties of one ratio.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, q | | | scores of a row; columns, that of the intercept last if there is one |
| S | ``S`` | (K, K) | with eigenvectors U and eigenvalues σ |
| G | ``gram`` | (q, q) | the weighted Gram matrix of the columns |
| c | ``penalties`` | (q,) | the same for each score, 0 for the intercept |
| T | ``T`` | (q, q) | Tᵀ G T = diag(λ), Tᵀ diag(c) T = diag(d) |
| λ, d | ``spectrum``, ``d`` | (q,) | d is 1, but 0 for the intercept |
| A | ``A`` | (K, q) | σ_k λ_j + eᵗ d_j: S ⊗ G + eᵗ I ⊗ diag(c) in the basis U ⊗ T |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.optimize.cholesky import is_even

_NULL = 1e-10  # share of the largest σ below which a direction of scores changes nothing
_LEAST_PENALTY = 1e-8  # of a column without one, as a share of the largest curvature
_SMALL = 200  # columns beyond which single precision halves the time


@dataclass(frozen=True)
class ColumnBasis:
    """T, λ and d at penalties c."""

    penalties: np.ndarray
    T: np.ndarray
    spectrum: np.ndarray
    d: np.ndarray


def column_basis(gram: np.ndarray, c: np.ndarray) -> ColumnBasis:
    """The basis for a Gram matrix (q, q) and penalties c (q,); some 9 q³ operations."""
    q, p = len(c), len(c) - int(c[-1] == 0.0)
    means = gram[p:, :p].sum(axis=0) / (gram[p:, p:].sum() or 1.0)
    centred = gram[:p, :p] - np.outer(gram[p:, p:].sum() * means, means)
    least = _LEAST_PENALTY * float(np.diagonal(centred).max(initial=1.0))
    roots = np.sqrt(np.where(c[:p] > 0.0, c[:p], least))
    centred /= roots
    centred /= roots[:, None]
    is_rough = is_even(np.diagonal(centred), _SMALL)
    spectrum, E = np.linalg.eigh(centred.astype(np.float32) if is_rough else centred)
    T = np.eye(q)
    T[:p, :p] = E / roots[:, None]
    T[p:, :p] = -means @ T[:p, :p]
    values = np.append(np.maximum(spectrum.astype(float), 0.0), np.diagonal(gram)[p:])
    return ColumnBasis(c, T, values, (np.arange(q) < p).astype(float))


@dataclass(frozen=True)
class KroneckerCurvature:
    """S and G, of which S ⊗ G is near a Hessian."""

    S: np.ndarray
    gram: np.ndarray
    gauge: float  # the curvature along a common shift of all intercepts


class KroneckerPreconditioner:
    """M = S ⊗ G + I ⊗ diag(c), of which L is the basis times √A."""

    def __init__(
        self, curvature: KroneckerCurvature, penalties: np.ndarray, basis: ColumnBasis | None = None
    ) -> None:
        """At penalties (K q,), of which the scores' mean counts; `basis`: an earlier one."""
        sigma, self._U = np.linalg.eigh(curvature.S)
        c = penalties.reshape(len(sigma), -1).mean(axis=0)
        level = 1.0 if basis is None else float(c.max() / basis.penalties.max())
        if basis is None or not np.allclose(c, level * basis.penalties, rtol=1e-6):
            basis, level = column_basis(curvature.gram, c), 1.0
        A = np.outer(np.maximum(sigma, 0.0), basis.spectrum) + level * basis.d
        A[np.ix_(sigma <= _NULL * sigma[-1], basis.d == 0.0)] = curvature.gauge
        self.basis, self._A, self._roots = basis, A, np.sqrt(A)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹ b."""
        return self.upper_inverse(self.lower_inverse(b))

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b."""
        B = b.reshape(*b.shape[:-1], *self._A.shape)
        return np.asarray((self._U.T @ B @ self.basis.T / self._roots).reshape(b.shape))

    def upper_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻ᵀ b."""
        B = b.reshape(*b.shape[:-1], *self._A.shape)
        return np.asarray((self._U @ (B / self._roots) @ self.basis.T.T).reshape(b.shape))

    def log_determinant(self) -> float:
        """The log determinant log |M|."""
        volume = float(np.linalg.slogdet(self.basis.T)[1])
        return float(np.log(self._A).sum()) - 2.0 * len(self._A) * volume

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal of M⁻¹, shape (n,)."""
        return np.asarray((self._U**2 @ (1.0 / self._A) @ (self.basis.T**2).T).ravel())
