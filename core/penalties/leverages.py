"""Leverages of rows, and solutions, by A = G + s diag(c) at any s, from its factors at three.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| b | ``shares`` | (m,) | weights of the rows x_i, the intercept last, so often as they count |
| G | ``gram`` | (q, q) | Σ b_i x_i x_iᵀ |
| c | ``c`` | (q,) | penalties, 0 for the intercept |
| h_i | | (r,) | x_iᵀ A⁻¹ x_i |
| e_i | | (r,) | x_iᵀ A⁻¹ s diag(c) A⁻¹ x_i = −dh_i / d log s |
| a_i | ``own`` | (r,) | the weight of a row that counts once, or less |
| ℓ_i | | (r,) | x_iᵀ (A − a_i x_i x_iᵀ)⁻¹ x_i = h_i / (1 − a_i h_i) |

Between the three s, and a little beyond, log ℓ and √s A⁻¹ v are Hermite's cubics of log s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import lapack

from core.losses.linear.design import DesignMatrix
from core.optimize.cholesky import cholesky, is_even
from core.penalties.class_scores import thinning
from core.penalties.row_space import ClassLoss

REACH = 2.0  # of log s, from the middle one to the others
_NODES = np.array([-1.0, 0.0, 1.0])
_ENTRIES = 1 << 22  # of the rows of which ℓ is known
_EXACT = 1 << 25  # rows times squared columns up to which nothing is projected
_PROBES = 32
_SMALL = 50  # columns beyond which single precision halves the time


class ColumnInverse:
    """A⁻¹ around a middle s, and the ℓ of some rows."""

    def __init__(self, loss: ClassLoss, weights: np.ndarray, c: np.ndarray, middle: float) -> None:
        """weights: of the rows of a loss, each of one copy, shape (m,); middle: log s.

        `rows`: of which ℓ is known; `design`: they.
        """
        design, counts = loss.design.single_precision, loss.row_weights
        self.c, self.middle = c, middle
        self.rows = slice(None, None, thinning(design.row_count, _ENTRIES // design.column_count))
        self.design = design.subset(self.rows)
        self.own = (np.minimum(counts, 1.0) * weights)[self.rows]
        self._scales, shares = np.exp(middle + REACH * _NODES), counts * weights
        gram = design.weighted_gram(shares)
        if is_even(np.diagonal(gram) + self._scales[1] * c, _SMALL):
            gram = gram.astype(np.float32)
        self._factors = [_factor(gram, s * c) for s in self._scales]
        is_exact = len(self.own) * len(c) ** 2 <= _EXACT
        pairs = self._exact() if is_exact else self._projected(design, shares)
        h, e = np.array(list(pairs)).transpose(1, 0, 2)
        h, without = np.maximum(h, np.finfo(float).tiny), np.maximum(1.0 - self.own * h, 1e-6)
        # Values and derivatives, shape (6, r).
        self._logs = np.vstack((np.log(h / without), -REACH * e / (h * without)))

    def _exact(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The h and e of the rows at each of the three s."""
        X = self.design.dense_rows().astype(self._factors[1].dtype)
        for L, s in zip(self._factors, self._scales, strict=True):
            Y = _solve(L, X)
            yield np.einsum("ij,ij->i", X, Y), np.square(Y) @ (s * self.c)

    def _projected(
        self, design: DesignMatrix, shares: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The same by random projections (Johnson and Lindenstrauss 1984), the same at each s.

        They are those of B = √b X A⁻¹ Xᵀ √b, of I − B and of E = B − B²: a row's share in
        B = B² + E is between 0 and 1 beside that in I − B = (I − B)² + E.
        """
        kind = design.X.dtype
        signs, noise = _random_signs(0, design.row_count), _random_signs(1, len(self.c))
        back = design.transpose_product((signs * np.sqrt(shares)).astype(kind))
        signs, shares = signs[:, self.rows], np.maximum(shares[self.rows], np.finfo(float).tiny)
        for L, s in zip(self._factors, self._scales, strict=True):
            directions = np.vstack((back, noise * np.sqrt(s * self.c)))
            scores = self.design.scores(_solve(L, directions).astype(kind))
            scores *= np.sqrt(shares, dtype=kind)
            hat, both = scores[:_PROBES], np.square(scores[_PROBES:]).sum(axis=0)
            inner, outer = (np.square(v).sum(axis=0) + both for v in (hat, signs - hat))
            total = (inner + outer) * shares
            yield inner / total, both / total

    def leverages(self, logs: np.ndarray) -> np.ndarray:
        """The ℓ of every row, shape (r, k), at each log s (k,)."""
        return np.exp(self._logs.T @ _hermite((logs - self.middle) / REACH).T)

    def solutions(self, B: np.ndarray) -> np.ndarray:
        """√s A⁻¹ v of vectors (k, q) at the three s, and their derivatives: shape (6, k, q)."""
        roots = np.sqrt(self._scales)[:, None, None]
        values = np.array([_solve(L, B) for L in self._factors])
        pulls = self._scales[:, None, None] * self.c * values
        slopes = [_solve(L, pull) for L, pull in zip(self._factors, pulls, strict=True)]
        return np.vstack((roots * values, REACH * roots * (0.5 * values - slopes)))

    def solve(self, solutions: np.ndarray, logs: np.ndarray) -> np.ndarray:
        """A⁻¹ v of vectors (k, q) at a log s for each, (k,), from their `solutions`."""
        weights = _hermite((logs - self.middle) / REACH) * np.exp(-0.5 * logs)[:, None]
        return np.einsum("kn,nkq->kq", weights, solutions)


def _hermite(x: np.ndarray) -> np.ndarray:
    """What values and derivatives at −1, 0, 1 count at each x (k,), on from the ends straight."""
    inner, index = np.clip(x, -1.0, 1.0), np.arange(len(x))
    first = (inner >= 0.0).astype(int)
    z = inner - (first - 1)
    weights = np.zeros((len(x), 6))
    weights[index, first] = 1.0 - z * z * (3.0 - 2.0 * z)
    weights[index, first + 1] = z * z * (3.0 - 2.0 * z)
    weights[index, first + 3] = z * (1.0 - z) ** 2
    weights[index, first + 4] = z * z * (z - 1.0)
    weights[index, 4 + np.sign(x - inner).astype(int)] += x - inner
    return weights


def _random_signs(seed: int, size: int) -> np.ndarray:
    bits = np.random.default_rng(seed).integers(2, size=(_PROBES, size), dtype=np.int8)
    return np.asarray(2 * bits - 1).astype(np.float32)


def _factor(gram: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    A = gram.copy()
    A.flat[:: len(A) + 1] += penalties.astype(A.dtype)
    if A.dtype == np.float32:
        L, status = lapack.spotrf(A.T, lower=1, overwrite_a=1)
        if status == 0:
            return np.asarray(L)
    return cholesky(gram + np.diag(penalties))


def _solve(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A⁻¹ v of vectors (k, q)."""
    potrs = lapack.spotrs if L.dtype == np.float32 else lapack.dpotrs
    return np.asarray(potrs(L, B.T, lower=1)[0].T)
