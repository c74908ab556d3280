"""The matrix of examples behind a loss: products, weighted Gram matrices, an intercept at the end.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m | ``rows`` | | examples |
| p | ``columns`` | | columns that vary; constant ones are left out |
| q | ``width`` | | p + 1 with an intercept, p without |
| A | | (m, q) | the varying columns of X, then a column of ones if there is an intercept |
| v | ``v`` | (q,) or (K, q) | a vector, or one vector a class |
| s | ``weights`` | (m,) | nonnegative weights of the examples |

A is never formed: its last column is handled beside X, and a sparse X stays sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

# A block of rows and its scaled copy stay in the processor's second-level cache.
_BLOCK_ENTRIES = 1 << 18
# Below this a single-precision copy costs more than it saves; above it, too much memory.
_SINGLE = (300_000, 500_000_000)


@dataclass(frozen=True)
class Design:
    """The varying columns of X with an implied column of ones.

    Attributes:
        X: dense float64 (m, p), or CSR float64 (m, p).
        kept: the positions of its columns in the matrix that was given, shape (p,).
        given: how many columns the matrix that was given had.
        intercept: whether there is an intercept.
    """

    X: Any
    kept: np.ndarray
    given: int
    intercept: bool

    @property
    def rows(self) -> int:
        """How many examples there are (m)."""
        return int(self.X.shape[0])

    @property
    def columns(self) -> int:
        """How many columns vary (p)."""
        return int(self.X.shape[1])

    @property
    def width(self) -> int:
        """Parameters of one score (q)."""
        return self.columns + int(self.intercept)

    @property
    def is_sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return _is_sparse(self.X)

    @property
    def entries(self) -> int:
        """Stored entries of X: what one product with it costs."""
        return int(self.X.nnz) if self.is_sparse else int(self.X.size)

    @cached_property
    def single(self) -> Design:
        """The same in single precision where products become faster by it; else itself.

        For directions and preconditioners only, whose errors a line search and the next gradient
        mend.
        """
        if self.is_sparse or not _SINGLE[0] <= self.entries <= _SINGLE[1]:
            return self
        return Design(self.X.astype(np.float32), self.kept, self.given, self.intercept)

    @cached_property
    def _squared(self) -> Any:
        """X ∘ X of a sparse X, which shares the places of its entries."""
        X = self.X
        return sparse.csr_matrix((np.square(X.data), X.indices, X.indptr), shape=X.shape)

    def scores(self, v: np.ndarray) -> np.ndarray:
        """A v, shape (m,); for several vectors (K, q), shape (K, m)."""
        p = self.columns
        if v.ndim == 1:
            z = self.X @ v[:p]
            return z + v[p] if self.intercept else z
        z = (self.X @ v[:, :p].T).T if self.is_sparse else v[:, :p] @ self.X.T
        if self.intercept:
            z += v[:, p:]
        return z

    def back(self, r: np.ndarray) -> np.ndarray:
        """The transpose's product Aᵀ r, shape (q,); for several vectors (K, m), shape (K, q)."""
        out = np.empty((*r.shape[:-1], self.width))
        p = self.columns
        out[..., :p] = (self.X.T @ r.T).T if self.is_sparse else r @ self.X
        if self.intercept:
            out[..., p] = r.sum(axis=-1)
        return out

    def through(self, v: np.ndarray, act: Callable[[np.ndarray, slice], np.ndarray]) -> np.ndarray:
        """Aᵀ act(A v), for v (q,) or (K, q), with the examples read once.

        Args:
            v: one vector or several.
            act: from the scores of some rows, (b,) or (K, b), which it may change, and their slice
                to what is multiplied with Aᵀ, of the same shape.
        """
        if self.is_sparse:
            return self.back(act(self.scores(v), slice(0, self.rows)))
        p, out = self.columns, np.zeros((*v.shape[:-1], self.width))
        for rows in self._row_blocks():
            part = self.X[rows]
            z = part @ v[:p] if v.ndim == 1 else v[:, :p] @ part.T
            if self.intercept:
                z += v[..., p:]
            r = act(z, rows)
            out[..., :p] += r @ part
            if self.intercept:
                out[..., p] += r.sum(axis=-1)
        return out

    def _row_blocks(self) -> Iterator[slice]:
        """Slices of rows of which a block and its scores stay in the processor's cache."""
        block = max(64, _BLOCK_ENTRIES // max(self.columns, 1))
        for first in range(0, self.rows, block):
            yield slice(first, min(first + block, self.rows))

    def gram(self, weights: np.ndarray, step: int = 1) -> np.ndarray:
        """The weighted Gram matrix Aᵀ diag(s) A, shape (q, q), in m q² operations.

        Args:
            weights: s, shape (m,).
            step: take every ``step``-th row only, and scale the sum up to all of them.
        """
        X, s = (self.X[::step], weights[::step]) if step > 1 else (self.X, weights)
        roots = np.sqrt(s, dtype=X.dtype)
        syrk = blas.ssyrk if X.dtype == np.float32 else blas.dsyrk
        rows, q, p = X.shape[0], self.width, self.columns
        block = max(64, _BLOCK_ENTRIES // max(q, 1))
        total = np.zeros((q, q), dtype=X.dtype, order="F")
        scaled = np.empty((min(block, rows), q), dtype=X.dtype)
        for first in range(0, rows, block):
            part = X[first : first + block]
            part = part.toarray() if self.is_sparse else part
            root = roots[first : first + block]
            now = scaled[: len(root)]
            np.multiply(part, root[:, None], out=now[:, :p])
            if self.intercept:
                now[:, p] = root
            total = syrk(float(step), now.T, beta=1.0, c=total, overwrite_c=1)
        return _mirrored(total.astype(np.float64))

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of Aᵀ diag(s) A, shape (q,); for several weights (K, m), shape (K, q)."""
        out = np.empty((*weights.shape[:-1], self.width))
        p = self.columns
        if self.is_sparse:
            out[..., :p] = (self._squared.T @ weights.T).T
        else:
            out[..., :p] = 0.0
            for rows in self._row_blocks():
                out[..., :p] += weights[..., rows] @ np.square(self.X[rows])
        if self.intercept:
            out[..., p] = weights.sum(axis=-1)
        return out

    def on(self, X: Any) -> Design:
        """The same columns of another matrix with the same ``given`` columns."""
        X = _as_float(X)
        if X.shape[1] != self.given:
            raise ValueError(f"{X.shape[1]} columns where {self.given} were expected")
        return Design(_take(X, self.kept), self.kept, self.given, self.intercept)

    def every(self, step: int) -> Design:
        """Every ``step``-th row only."""
        X = self.X[::step] if self.is_sparse else np.ascontiguousarray(self.X[::step])
        return Design(X, self.kept, self.given, self.intercept)

    def part(self, rows: np.ndarray) -> Design:
        """The rows of a boolean mask, or of indices."""
        return Design(self.X[rows], self.kept, self.given, self.intercept)

    def widened(self, v: np.ndarray) -> np.ndarray:
        """Coefficients (…, q) spread over the given columns, zero for constant ones: (…, given)."""
        out = np.zeros((*v.shape[:-1], self.given))
        out[..., self.kept] = v[..., : self.columns]
        return out


def design_of(X: Any, fit_intercept: bool) -> Design:
    """The Design of a matrix: constant columns leave it.

    Without an intercept a constant column other than zero would act as one, so that only columns
    of zeros leave.
    """
    X = _as_float(X)
    kept = _varying(X, fit_intercept)
    return Design(_take(X, kept), kept, int(X.shape[1]), bool(fit_intercept))


def total_weight(rows: int | np.ndarray, weights: np.ndarray | None) -> float:
    """How many rows count: their weights' sum, or their number where weights are None.

    Args:
        rows: how many there are, or a boolean mask of those to sum over.
        weights: s, shape (m,), or None.
    """
    if weights is None:
        return int(np.sum(rows))
    return float(weights.sum() if isinstance(rows, int) else weights[rows].sum())


def _is_sparse(X: Any) -> bool:
    return bool(sparse.issparse(X))


def _as_float(X: Any) -> Any:
    if _is_sparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    return np.asarray(X, dtype=np.float64)


def _take(X: Any, kept: np.ndarray) -> Any:
    if len(kept) == X.shape[1]:
        return X
    return X[:, kept] if _is_sparse(X) else np.ascontiguousarray(X[:, kept])


def _varying(X: Any, fit_intercept: bool) -> np.ndarray:
    if _is_sparse(X):
        high, low = X.max(axis=0).toarray().ravel(), X.min(axis=0).toarray().ravel()
        varies = high != low
        return np.flatnonzero(varies if fit_intercept else varies | (high != 0))
    first = X[0] if fit_intercept else np.zeros(X.shape[1])
    # Nearly every column differs within a few rows; only the others are read to their end.
    varies = (X[:32] != first).any(axis=0)
    rest = np.flatnonzero(~varies)
    if len(rest):
        varies[rest] = (X[:, rest] != first[rest]).any(axis=0)
    return np.flatnonzero(varies)


def _mirrored(upper: np.ndarray) -> np.ndarray:
    """The full symmetric matrix of an upper triangle."""
    full = upper + upper.T
    full.flat[:: len(full) + 1] *= 0.5
    return full
