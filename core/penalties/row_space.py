"""A penalized problem with more columns than rows, in the space that its rows span.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| X | | (m, p) | the columns, without the intercept |
| c | ``penalties`` | (n,) | penalties, the same for each class |
| K | | (m, m) | X diag(c)⁻¹ Xᵀ = R Rᵀ, of rank r |
| β | | (r,) | the weights there, of a class |

loss(Xw) + ½ Σ c_i w_i² has its minimum where w = diag(c)⁻¹ Xᵀ α for some α, and there it is
loss(Rβ) + ½ ‖β‖² with β = Rᵀ α (Hastie and Tibshirani 2004, "Efficient quadratic regularization for
expression arrays", section 2). At eᵗ c the same R serves, with the penalty eᵗ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from core.losses.linear.design import DesignMatrix
from core.losses.linear.logistic_loss import LogisticLoss, MultinomialLoss

ClassLoss = LogisticLoss | MultinomialLoss
# Parameters of all classes, without the intercepts, up to which a dense matrix of them is formed.
LARGEST = 2000


def class_count(loss: ClassLoss) -> int:
    """How many scores a row has: one with two classes."""
    return loss.K if isinstance(loss, MultinomialLoss) else 1


def spanned_columns(loss: ClassLoss) -> int:
    """How many columns a score needs: no more than there are rows."""
    return min(loss.design.column_count, loss.design.row_count)


@dataclass(frozen=True)
class SpannedProblem:
    """A loss with penalties c, to be multiplied by eᵗ, and the way to its weights and back."""

    loss: ClassLoss
    penalties: np.ndarray  # shape (n,)

    def parameters_of(self, w: np.ndarray) -> np.ndarray:
        """The parameters of the original loss from those of this one."""
        return w

    def weights_of(self, w: np.ndarray) -> np.ndarray:
        """The weights with the same scores from original parameters in the rows' span."""
        return w


@dataclass(frozen=True)
class RowSpace(SpannedProblem):
    """The problem in r columns instead of p."""

    original: ClassLoss
    column_penalties: np.ndarray  # shape (p,)
    pivots: np.ndarray  # rows on which α stands, shape (r,)

    def parameters_of(self, w: np.ndarray) -> np.ndarray:
        """The parameters w = diag(c)⁻¹ Xᵀ α, shape (n,)."""
        W, r = w.reshape(class_count(self.loss), -1), len(self.pivots)
        # Rᵀ α = β, where α is zero outside the pivots and R is triangular there.
        alpha = solve_triangular(self.loss.design.X[self.pivots], W[:, :r].T, lower=True, trans="T")
        weights = (self.original.design.X[self.pivots].T @ alpha).T / self.column_penalties
        return np.concatenate([weights, W[:, r:]], axis=1).ravel()

    def weights_of(self, w: np.ndarray) -> np.ndarray:
        """The weights β with R β = X w, from w of the form above."""
        design, K = self.original.design, class_count(self.loss)
        W = w.reshape(K, -1)
        Z = design.subset(self.pivots).scores(W) - W[:, design.column_count :]
        beta = solve_triangular(self.loss.design.X[self.pivots], Z.T, lower=True).T
        return np.concatenate([beta, W[:, design.column_count :]], axis=1).ravel()


def spanned_problem(loss: ClassLoss, penalties: np.ndarray) -> SpannedProblem:
    """The problem at penalties c, shape (n,), with as many columns as few rows span at most."""
    design, K = loss.design, class_count(loss)
    p = design.column_count
    by_class = penalties.reshape(K, -1)[:, :p]
    is_wide = design.row_count <= min(LARGEST, p - 1)
    if not (is_wide and ((by_class == by_class[0]) & (by_class > 0.0)).all()):
        return SpannedProblem(loss, penalties)
    c, X = by_class[0], design.X
    # A sparse product: (m, p) would fill the memory.
    kernel = (X.multiply(1.0 / c).tocsr() @ X.T).toarray() if design.is_sparse else (X / c) @ X.T
    factor, order, rank, _ = lapack.dpstrf(kernel, lower=1)
    pivots = order[:rank] - 1
    R = np.zeros((design.row_count, rank))
    R[order - 1] = np.tril(factor)[:, :rank]
    inner = DesignMatrix(R, np.arange(rank), rank, design.intercept)
    inner_loss = type(loss)(inner, loss.codes, loss.classes, loss.weights)
    ones = np.tile(np.append(np.ones(rank), np.zeros(int(design.intercept))), K)
    return RowSpace(inner_loss, ones, loss, c, pivots)
