"""The matrix of examples behind a loss: products, weighted Gram matrices, an intercept at the end.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m | ``row_count`` | | examples |
| p | ``column_count`` | | columns that vary; constant ones are left out |
| q | ``width`` | | p + 1 with an intercept, p without |
| A | | (m, q) | the varying columns of X, then a column of ones if there is an intercept |
| v | ``v`` | (q,) or (K, q) | a vector, or one vector a class |
| s | ``weights`` | (m,) | nonnegative weights of the examples |

A is never formed: its last column is handled beside X, and a sparse X stays sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

# A block of rows and its scaled copy stay in the processor's second-level cache.
_BLOCK_ENTRIES = 1 << 18
# Below this a single-precision copy costs more than it saves; above it, too much memory.
_SINGLE = (300_000, 500_000_000)
# Products of sparse rows with so few vectors are faster by themselves.
_FEW = 3
# A multiplication of sparse rows takes so many times one of dense rows.
_SPARSE_SLOWNESS = 100


@dataclass(frozen=True)
class DesignMatrix:
    """The varying columns of X, dense or CSR float64 (m, p), with an implied column of ones."""

    X: Any
    kept_columns: np.ndarray  # their positions in the original matrix, shape (p,)
    n_features: int  # columns of the original matrix
    intercept: bool

    @property
    def row_count(self) -> int:
        """How many examples there are (m)."""
        return int(self.X.shape[0])

    @property
    def column_count(self) -> int:
        """How many columns vary (p)."""
        return int(self.X.shape[1])

    @property
    def width(self) -> int:
        """Parameters of one score (q)."""
        return self.column_count + int(self.intercept)

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.X))

    @property
    def entries(self) -> int:
        """Stored entries of X: what one product with it costs."""
        return int(self.X.nnz) if self.is_sparse else int(self.X.size)

    @cached_property
    def single_precision(self) -> DesignMatrix:
        """In single precision where that is faster, for directions and preconditioners."""
        # A product reads every entry once: half the bytes take half the time.
        if self.is_sparse or not _SINGLE[0] <= self.entries <= _SINGLE[1]:
            return self
        return replace(self, X=self.X.astype(np.float32))

    @cached_property
    def _squared(self) -> Any:
        """X ∘ X of a sparse X."""
        # It shares the positions of the entries: half the memory.
        X = self.X
        return sparse.csr_matrix((np.square(X.data), X.indices, X.indptr), shape=X.shape)

    def dense_rows(self, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """A of some rows, (r, q)."""
        X = self.X[rows]
        X = X.toarray() if self.is_sparse else X
        return np.hstack([X, np.ones((len(X), self.width - X.shape[1]), dtype=X.dtype)])

    def scores(self, v: np.ndarray) -> np.ndarray:
        """A v, shape (m,); for several vectors (K, q), shape (K, m)."""
        p = self.column_count
        if v.ndim == 1:
            z = self.X @ v[:p]
            return z + v[p] if self.intercept else z
        if not self.is_sparse:
            z = v[:, :p] @ self.X.T
        elif len(v) <= _FEW:
            z = np.array([self.X @ direction for direction in v[:, :p]])
        else:
            z = (self.X @ v[:, :p].T).T
        if self.intercept:
            z += v[:, p:]
        return z

    def transpose_product(self, r: np.ndarray) -> np.ndarray:
        """The transpose's product Aᵀ r, shape (q,); for several vectors (K, m), shape (K, q)."""
        out = np.empty((*r.shape[:-1], self.width))
        p = self.column_count
        out[..., :p] = (self.X.T @ r.T).T if self.is_sparse else r @ self.X
        if self.intercept:
            out[..., p] = r.sum(axis=-1)
        return out

    def column_sums(self, s: np.ndarray | None, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ s_i x_i (s is 1 where it is None) and Σ r_i x_i over rows, each of shape (p,)."""
        sums = np.zeros((2, self.column_count))
        # Block by block the examples are read from memory once for both.
        for rows in [slice(None)] if self.is_sparse else self._row_blocks():
            block = self.X[rows]
            sums[0] += np.asarray(block.sum(axis=0)).ravel() if s is None else block.T @ s[rows]
            sums[1] += block.T @ r[rows]
        return sums[0], sums[1]

    def through(self, v: np.ndarray, act: Callable[[np.ndarray, slice], np.ndarray]) -> np.ndarray:
        """Aᵀ act(A v), for v (q,) or (K, q).

        ``act`` takes scores of some rows, (b,) or (K, b), which it may change, and their slice.
        """
        # Block by block the examples are read from memory once for both products.
        if self.is_sparse:
            return self.transpose_product(act(self.scores(v), slice(0, self.row_count)))
        p, out = self.column_count, np.zeros((*v.shape[:-1], self.width))
        for rows in self._row_blocks():
            block = self.X[rows]
            z = block @ v[:p] if v.ndim == 1 else v[:, :p] @ block.T
            if self.intercept:
                z += v[..., p:]
            r = act(z, rows)
            out[..., :p] += r @ block
            if self.intercept:
                out[..., p] += r.sum(axis=-1)
        return out

    def _row_blocks(self) -> Iterator[slice]:
        # A block of rows and its scores stay in the processor's cache.
        block = max(64, _BLOCK_ENTRIES // max(self.column_count, 1))
        for first in range(0, self.row_count, block):
            yield slice(first, min(first + block, self.row_count))

    def weighted_gram(self, weights: np.ndarray, step: int = 1) -> np.ndarray:
        """The weighted Gram matrix Aᵀ diag(s) A, shape (q, q), in m q² operations.

        With a step, of every ``step``-th row only, and scaled up to all of them.
        """
        X, s = (self.X[::step], weights[::step]) if step > 1 else (self.X, weights)
        # Where rows have few entries their products are fewer than those of a dense Gram matrix.
        if self.is_sparse and _SPARSE_SLOWNESS * X.nnz**2 < (X.shape[0] * self.width) ** 2:
            return self._sparse_gram(X, step * s)
        # With √s on both sides the product is symmetric, which halves the work of BLAS.
        roots = np.sqrt(s, dtype=X.dtype)
        syrk = blas.ssyrk if X.dtype == np.float32 else blas.dsyrk
        rows, q, p = X.shape[0], self.width, self.column_count
        block = max(64, _BLOCK_ENTRIES // max(q, 1))
        total = np.zeros((q, q), dtype=X.dtype, order="F")
        scaled = np.empty((min(block, rows), q), dtype=X.dtype)
        for first in range(0, rows, block):
            chunk = X[first : first + block]
            chunk = chunk.toarray() if self.is_sparse else chunk
            root = roots[first : first + block]
            scaled_block = scaled[: len(root)]
            np.multiply(chunk, root[:, None], out=scaled_block[:, :p])
            if self.intercept:
                scaled_block[:, p] = root
            total = syrk(float(step), scaled_block.T, beta=1.0, c=total, overwrite_c=1)
        return _mirrored(total.astype(np.float64))

    def _sparse_gram(self, X: Any, weights: np.ndarray) -> np.ndarray:
        p, total = self.column_count, np.empty((self.width, self.width))
        scaled = X.multiply(weights[:, None]).tocsr()
        total[:p, :p] = (scaled.T @ X).toarray()
        if self.intercept:
            total[p, :p] = total[:p, p] = weights @ X
            total[p, p] = weights.sum()
        return total

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of Aᵀ diag(s) A, shape (q,); for several weights (K, m), shape (K, q)."""
        out = np.empty((*weights.shape[:-1], self.width))
        p = self.column_count
        if self.is_sparse:
            out[..., :p] = (self._squared.T @ weights.T).T
        else:
            out[..., :p] = 0.0
            weights = weights.astype(self.X.dtype, copy=False)
            for rows in self._row_blocks():
                out[..., :p] += weights[..., rows] @ np.square(self.X[rows])
        if self.intercept:
            out[..., p] = weights.sum(axis=-1)
        return out

    def for_matrix(self, X: Any) -> DesignMatrix:
        """The same columns of another matrix with the same ``n_features`` columns."""
        X = _as_float(X)
        if X.shape[1] != self.n_features:
            raise ValueError(f"{X.shape[1]} columns where {self.n_features} were expected")
        return replace(self, X=_take_columns(X, self.kept_columns))

    def subset(self, rows: np.ndarray | slice) -> DesignMatrix:
        return replace(self, X=self.X[rows] if self.is_sparse else self.X[rows].copy())

    def to_all_columns(self, v: np.ndarray) -> np.ndarray:
        """Coefficients (…, q) spread over all columns, zero for constant ones: (…, n_features)."""
        out = np.zeros((*v.shape[:-1], self.n_features))
        out[..., self.kept_columns] = v[..., : self.column_count]
        return out


def design_of(X: Any, fit_intercept: bool) -> DesignMatrix:
    """The DesignMatrix of a matrix without constant columns (columns of 0 without intercept)."""
    X = _as_float(X)
    columns = _varying(X, fit_intercept)
    return DesignMatrix(_take_columns(X, columns), columns, int(X.shape[1]), bool(fit_intercept))


def total_weight(rows: int | np.ndarray, weights: np.ndarray | None) -> float:
    """Σ s of so many rows or of a mask of them, or their number where weights are None."""
    if weights is None:
        return int(np.sum(rows))
    return float(weights.sum() if isinstance(rows, int) else weights[rows].sum())


def _as_float(X: Any) -> Any:
    if sparse.issparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    return np.asarray(X, dtype=np.float64)


def _take_columns(X: Any, columns: np.ndarray) -> Any:
    if len(columns) == X.shape[1]:
        return X
    return X[:, columns] if sparse.issparse(X) else np.ascontiguousarray(X[:, columns])


def _varying(X: Any, fit_intercept: bool) -> np.ndarray:
    if sparse.issparse(X):
        # Columns of stored values alone, which may be equal, are few.
        counts = np.bincount(X.indices[X.data != 0.0], minlength=X.shape[1])
        varies = counts > 0
        if fit_intercept:
            full_columns = np.flatnonzero(counts >= len(X.indptr) - 1)
            full = X[:, full_columns]
            varies[full_columns] = (full.max(axis=0) != full.min(axis=0)).toarray().ravel()
        return np.flatnonzero(varies)
    first = X[0] if fit_intercept else np.zeros(X.shape[1])
    # Nearly every column differs within a few rows; only the others are read to their end.
    varies = (X[:32] != first).any(axis=0)
    constant_columns = np.flatnonzero(~varies)
    if len(constant_columns):
        varies[constant_columns] = (X[:, constant_columns] != first[constant_columns]).any(axis=0)
    return np.flatnonzero(varies)


def _mirrored(upper: np.ndarray) -> np.ndarray:
    full = upper + upper.T
    # The diagonal was added to itself.
    full.flat[:: len(full) + 1] *= 0.5
    return full
