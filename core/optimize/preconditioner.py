"""Preconditioners of H + diag(c): block-diagonal (block Jacobi) or diagonal (Jacobi).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| M | | (n, n) | the preconditioner |
| L | | (n, n) | its factor, M = L Lᵀ |
| b | ``b`` | (n,) or (r, n) | a vector, or one a row |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular

from core.optimize.cholesky import cholesky, inverse_diagonal, log_determinant, solve_factored
from core.optimize.loss import LossPoint


class Preconditioner(Protocol):
    """The operations with M that conjugate gradients and trace estimates need."""

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹ b."""

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b."""

    def upper_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻ᵀ b."""

    def log_determinant(self) -> float:
        """The log determinant log |M|."""

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal of M⁻¹, shape (n,)."""


@dataclass(frozen=True)
class DiagonalPreconditioner:
    """M = diag(d)."""

    d: np.ndarray

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹ b."""
        return b / self.d

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b."""
        return b / np.sqrt(self.d)

    def upper_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻ᵀ b."""
        return b / np.sqrt(self.d)

    def log_determinant(self) -> float:
        """The log determinant log |M|."""
        return float(np.log(self.d).sum())

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal of M⁻¹."""
        return 1.0 / self.d


@dataclass(frozen=True)
class BlockPreconditioner:
    """M block-diagonal, one lower Cholesky factor (q, q) a block, or one for all of them."""

    factors: list[np.ndarray]
    count: int

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹ b."""
        return self._apply_by_block(b, solve_factored)

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b."""
        return self._apply_by_block(b, lambda L, block: solve_triangular(L, block, lower=True))

    def upper_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻ᵀ b."""
        return self._apply_by_block(b, lambda L, B: solve_triangular(L, B, trans="T", lower=True))

    def log_determinant(self) -> float:
        """The log determinant log |M|."""
        shared = self.count // len(self.factors)
        return float(shared * sum(log_determinant(L) for L in self.factors))

    def inverse_diagonal(self) -> np.ndarray:
        """The diagonal of M⁻¹."""
        return self._inverse_diagonal.copy()

    @cached_property
    def _inverse_diagonal(self) -> np.ndarray:
        diagonals = [inverse_diagonal(L) for L in self.factors]
        return np.concatenate(diagonals * (self.count // len(diagonals)))

    def _apply_by_block(
        self, b: np.ndarray, act: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        blocks = b.reshape(*b.shape[:-1], self.count, -1)
        if len(self.factors) == 1:
            rows = blocks.reshape(-1, blocks.shape[-1])
            return act(self.factors[0], rows.T).T.reshape(b.shape)
        results = [act(L, blocks[..., k, :].T).T for k, L in enumerate(self.factors)]
        return np.stack(results, axis=-2).reshape(b.shape)


def diagonal_preconditioner(point: LossPoint, penalties: np.ndarray) -> DiagonalPreconditioner:
    """diag(c) plus the Hessian's diagonal at a point, from probes where the loss has none."""
    hessian_diagonal = point.diagonal()
    d = (_probed_diagonal(point) if hessian_diagonal is None else hessian_diagonal) + penalties
    return DiagonalPreconditioner(np.maximum(d, 1e-10 * max(float(d.max()), 1e-300)))


def block_preconditioner(blocks: np.ndarray, penalties: np.ndarray) -> BlockPreconditioner:
    """Diagonal blocks (K, q, q), or one for all (1, q, q), with penalties (K q,) added."""
    q = blocks.shape[1]
    rows = penalties.reshape(-1, q)
    if len(blocks) == 1 and (rows == rows[0]).all():
        return BlockPreconditioner([_factor_block(blocks[0], rows[0])], len(rows))
    pairs = zip(np.broadcast_to(blocks, (len(rows), q, q)), rows, strict=True)
    return BlockPreconditioner([_factor_block(*pair) for pair in pairs], len(rows))


def _factor_block(block: np.ndarray, c: np.ndarray) -> np.ndarray:
    A = block.copy()
    A.flat[:: len(A) + 1] += c + 1e-10 * float(np.abs(np.diagonal(block)).max())
    return cholesky(A)


def _probed_diagonal(point: LossPoint) -> np.ndarray:
    """The Hessian's diagonal from eight random signs (Bekas, Kokiopoulou and Saad 2007)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(8, len(point.w)))
    estimate = np.mean([z * point.majorizer_product(z) for z in signs], axis=0)
    return np.maximum(estimate, 0.1 * max(float(estimate.mean()), 0.0))
