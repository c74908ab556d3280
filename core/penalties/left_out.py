"""Approximate leave-one-out: the log loss of every row under the model fitted without it.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | | (n, n) | H + diag(c) at the minimizer ŵ of loss + ½ Σ c_i w_i² |
| z_i | ``Z`` | (K,) | scores of row i at ŵ; one number with two classes |
| g_i, S_i | ``g``, ``S`` | (K,), (K, K) | gradient and Hessian of row i's loss in its scores |
| G_i | ``G`` | (K, K) | x_i A⁻¹ x_iᵀ, the variance of row i's scores |

One Newton step from ŵ without row i moves its scores to z_i + G_i (I − S_i G_i)⁻¹ g_i (Beirami et
al. 2017; Rad and Maleki 2020, theorem 1; for least squares it is exact, Allen's PRESS). One factor
of A serves all rows, so that leaving every row out costs about as much as one Newton step.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import softmax

from core.losses.design import Design
from core.losses.logistic import LogisticLoss
from core.losses.multinomial import MultinomialLoss
from core.penalties.newton import dense_exact
from core.penalties.preconditioner import cholesky

# More rows than these tell little more about one number; every so many-th is left out then.
_ENOUGH_ROWS = 3000
# Parameters up to which A is formed, and rows up to which the rows' own matrix is.
LARGEST = 2000
# Entries of a block of rows and its scores' factors that are held at once.
_BLOCK = 1 << 22
# The prior variance that stands for none, where the intercept is one more column of the rows.
_UNPENALIZED = 1e6


def can_leave_out(loss: object) -> TypeGuard[LogisticLoss | MultinomialLoss]:
    """Whether the loss is of classes, and small enough in its parameters or its rows."""
    if isinstance(loss, LogisticLoss):
        return min(loss.size, loss.examples) <= LARGEST
    return isinstance(loss, MultinomialLoss) and loss.size <= LARGEST


def left_out_loss(
    loss: LogisticLoss | MultinomialLoss, w: np.ndarray, penalties: np.ndarray
) -> float:
    """Σ_i −log p(y_i | x_i, the model fitted without row i), scaled up to all rows.

    Args:
        loss: of all rows.
        w: ŵ, the minimizer of loss + ½ Σ c_i w_i², shape (n,).
        penalties: c, shape (n,), 0 for intercepts.
    """
    if isinstance(loss, LogisticLoss):
        return _of_two(loss, w, penalties)
    return _of_several(loss, w, penalties)


def _of_two(loss: LogisticLoss, w: np.ndarray, penalties: np.ndarray) -> float:
    z = loss.design.scores(w)
    p = 1.0 / (1.0 + np.exp(-z))
    S = np.maximum(p * (1.0 - p), 1e-12)
    g = p - 0.5 * (1.0 + loss.sign)
    rows = _some_rows(loss.examples)
    if loss.size <= min(loss.examples, LARGEST):
        L = cholesky(dense_exact(loss, loss.at(w), penalties))
        G = np.concatenate([np.square(part[0]).sum(axis=0) for part in _halves(loss, L, rows, 1)])
    else:
        G, rows = _by_rows(loss.design, S, penalties), np.arange(loss.examples)
    moved = z[rows] + G * g[rows] / np.maximum(1.0 - G * S[rows], 1e-6)
    each = np.logaddexp(0.0, -loss.sign[rows] * moved)
    return float(each.mean()) * loss.examples


def _by_rows(design: Design, S: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """G of every row from the (m, m) matrix of the rows: S⁻¹ − S⁻¹ (S⁻¹ + X C⁻¹ Xᵀ)⁻¹ S⁻¹."""
    p = design.columns
    variances = np.full(len(penalties), _UNPENALIZED)
    np.divide(1.0, penalties, out=variances, where=penalties > 0)
    X = design.X.toarray() if design.is_sparse else design.X
    K = (X * variances[:p]) @ X.T
    if design.intercept:
        K += variances[p]
    roots = np.sqrt(S)
    B = roots[:, None] * K * roots
    B.flat[:: len(B) + 1] += 1.0
    inverse = solve_triangular(cholesky(B), np.eye(len(B)), lower=True)
    return (1.0 - np.square(inverse).sum(axis=0)) / S


def _of_several(loss: MultinomialLoss, w: np.ndarray, penalties: np.ndarray) -> float:
    K, rows = loss.K, _some_rows(loss.examples)
    L = cholesky(dense_exact(loss, loss.at(w), penalties))
    Z = loss.design.scores(w.reshape(K, -1)).T[rows]
    P, codes = softmax(Z, axis=1), loss.codes[rows]
    g, at = P.copy(), np.arange(len(rows))
    g[at, codes] -= 1.0
    S = P[:, :, None] * (np.eye(K) - P[:, None, :])
    G = np.concatenate([np.einsum("kri,lri->ikl", V, V) for V in _halves(loss, L, rows, K)])
    inner = np.linalg.solve(np.eye(K) - S @ G, g[:, :, None])
    moved = Z + (G @ inner)[:, :, 0]
    each = np.logaddexp.reduce(moved, axis=1) - moved[at, codes]
    return float(each.mean()) * loss.examples


def _some_rows(examples: int) -> np.ndarray:
    return np.arange(0, examples, max(1, examples // _ENOUGH_ROWS))


def _halves(
    loss: LogisticLoss | MultinomialLoss, L: np.ndarray, rows: np.ndarray, K: int
) -> list[np.ndarray]:
    """L⁻¹ x_iᵀ for the scores of every row, in blocks (K, n, rows of the block)."""
    design, q = loss.design, loss.design.width
    whitened = solve_triangular(L, np.eye(len(L)), lower=True).reshape(len(L), K, q)
    block, found = max(1, _BLOCK // (len(L) * K)), []
    for first in range(0, len(rows), block):
        X = design.X[rows[first : first + block]]
        X = X.toarray() if design.is_sparse else X
        if design.intercept:
            X = np.column_stack((X, np.ones(len(X))))
        found.append(np.stack([whitened[:, k] @ X.T for k in range(K)]))
    return found
