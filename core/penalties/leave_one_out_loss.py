"""Approximate leave-one-out: the log loss of every row under the model fitted without it.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | | (n, n) | H + diag(c) at the minimizer ŵ of loss + ½ Σ c_i w_i² |
| z_i | ``Z`` | (K,) | scores of row i at ŵ; one number with two classes |
| g_i, S_i | ``g``, ``S`` | (K,), (K, K) | gradient and Hessian of row i's loss in its scores |
| G_i | ``G`` | (K, K) | x_i A⁻¹ x_iᵀ, the variance of row i's scores |
| u_i | ``u`` | (K,) | S_i z_i − g_i, the weighted working response: Newton's scores are G u |
| R_i | ``R`` | (K, n) | x_i V, where Vᵀ A V = 1 and Vᵀ diag(c) V = diag(d) |
| d | ``prior_shares`` | (n,) | the prior's share of the precision along each column of V |
| s_i | ``counts`` | (m,) | how many times row i counts; one, unless rows have weights |

One Newton step from ŵ without row i moves its scores to z_i + G_i (I − S_i G_i)⁻¹ g_i (Beirami et
al. 2017; Rad and Maleki 2020, theorem 1; for least squares it is exact, Allen's PRESS). One factor
of A serves all rows.

A row that counts s times is left out once at a time: s_i multiplies its loss, and in the formula
g_i and S_i count a_i = min(s_i, 1) times.

Where A is small, V diagonalizes H + eᵗ diag(c) for every t: with the Hessian as it is at ŵ, G_i is
R_i diag(1 / (1 + (eᵗ − 1) d)) R_iᵀ there, and the weights follow by the same division.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from core.losses.linear.design import DesignMatrix
from core.losses.linear.logistic_loss import LogisticLoss, MultinomialLoss
from core.optimize.cholesky import cholesky
from core.optimize.descent import solve_penalized
from core.optimize.newton import Newton, dense_exact

# Beyond so many rows only every so many-th is left out: one number needs no more.
_ENOUGH_ROWS = 3000
# Parameters up to which A is formed, and rows up to which the rows' own matrix is.
LARGEST = 2000
# Parameters, or rows, up to which V costs little beside the fits that it saves.
_DECOMPOSED = 300
# Entries of a block of rows and its scores' factors that are held at once.
_BLOCK = 1 << 22
# The prior variance that stands for none, where the intercept is one more column of the rows.
_UNPENALIZED = 1e6

ClassLoss = LogisticLoss | MultinomialLoss


def is_of_classes(loss: object) -> TypeGuard[ClassLoss]:
    """Whether the loss is of classes of table rows."""
    return isinstance(loss, (LogisticLoss, MultinomialLoss))


def has_one_factor(loss: ClassLoss) -> bool:
    """Whether the loss is small enough in its parameters or, with two classes, in its rows."""
    small = min(loss.size, loss.design.row_count) if isinstance(loss, LogisticLoss) else loss.size
    return small <= LARGEST


@dataclass(frozen=True)
class LeaveOneOutLoss:
    """The result of leaving rows out in turn at one fit."""

    value: float  # Σ_i −log p(y_i | x_i, the model without row i), scaled up to all rows
    w: np.ndarray | None  # after one more Newton step, (n,); None by the rows' matrix
    model: LocalModel | None  # of the same at other penalties, where the table is small


@dataclass(frozen=True)
class RowScores:
    """Scores of every row, shape (m, K), S of every row, and the mean variance of the classes."""

    Z: np.ndarray
    S: np.ndarray
    class_variance: float


@dataclass(frozen=True)
class LocalModel:
    """The leave-one-out loss as a function of t, at penalties eᵗ c, with σ H for the Hessian."""

    R: np.ndarray  # shape (m, K, n)
    prior_shares: np.ndarray  # d, shape (n,)
    response: np.ndarray  # Vᵀ H ŵ, shape (n,)
    gradient: np.ndarray  # Vᵀ of the gradient of the loss, shape (n,)
    codes: np.ndarray  # the rows' classes, shape (m,)
    counts: np.ndarray  # s, shape (m,)
    scale: float  # the number of all rows over m
    V: np.ndarray | None  # shape (n, n); None where the rows' matrix was used

    @cached_property
    def row_scores(self) -> RowScores:
        """Scores after a Newton step at t = 0, and what follows from them."""
        Z = self.R @ ((self.response - self.gradient)[:, None])
        if self.R.shape[1] == 1:
            P = expit(Z[:, :, 0])
            S = P * (1.0 - P)
            return RowScores(Z[:, :, 0], S, float(self._weighted_mean(S[:, 0])))
        P = _softmax(Z[:, :, 0])
        same = float(self._weighted_mean((P * P).sum(axis=1)))
        return RowScores(Z[:, :, 0], _multinomial_variances(P), 1.0 - same)

    def loss_at_fit(self) -> float:
        """The leave-one-out loss at t = 0, scaled up to all rows."""
        fit = self.row_scores
        if self.R.shape[1] == 1:
            G = np.square(self.R[:, 0]).sum(axis=1)
            value = float(_binary_loss(fit.Z[:, 0], G, fit.S[:, 0], self.codes, self.counts))
        else:
            value = _multinomial_loss(fit.Z, self.R, fit.S, self.codes, self.counts)
        return value * self.scale

    def losses_at(self, t: np.ndarray) -> np.ndarray:
        """The leave-one-out loss at every t, scaled up to all rows; t and it of shape (T,)."""
        sigma = self._sigma_at(t)
        W, D = self._coordinates(t, 0.5 * (1.0 + sigma)), self._variances(t, sigma)
        if self.R.shape[1] == 1:
            R, S = self.R[:, 0], np.multiply.outer(sigma, self.row_scores.S[:, 0])
            G = D @ np.square(R).T
            return _binary_loss(W @ R.T, G, S, self.codes, self.counts) * self.scale
        codes_and_counts, fit = (self.codes, self.counts), self.row_scores
        losses = [
            _multinomial_loss(self.R @ w, self.R * np.sqrt(d), factor * fit.S, *codes_and_counts)
            for w, d, factor in zip(W, D, sigma, strict=True)
        ]
        return np.array(losses) * self.scale

    def weights(self, t: float) -> np.ndarray | None:
        """Approximately the minimizer at t, shape (n,); None without V."""
        if self.V is None:
            return None
        t_array = np.array([t])
        return self.V @ self._coordinates(t_array, 0.5 * (1.0 + self._sigma_at(t_array)))[0]

    def thinned(self, max_rows: int) -> LocalModel:
        """The same by at most so many of the rows, about."""
        step = max(1, len(self.R) // max_rows)
        if step == 1:
            return self
        codes, counts = self.codes[::step], self.counts[::step]
        scale = self.scale * float(self.counts.sum() / counts.sum())
        return replace(self, R=self.R[::step].copy(), codes=codes, counts=counts, scale=scale)

    def _weighted_mean(self, of_rows: np.ndarray) -> np.ndarray:
        """The mean over rows, as often as each counts, of numbers of shape (…, m)."""
        return np.asarray(of_rows @ self.counts / self.counts.sum())

    def _sigma_at(self, t: np.ndarray) -> np.ndarray:
        """σ: the mean class variance after a Newton step to t over that at the fit, shape (T,)."""
        Z = np.moveaxis(self.R @ self._coordinates(t, np.ones(len(t))).T, -1, 0)
        if Z.shape[-1] == 1:
            P = expit(Z)
            variance = self._weighted_mean((P * (1.0 - P))[:, :, 0])
        else:
            variance = 1.0 - self._weighted_mean(np.square(_softmax(Z)).sum(axis=-1))
        return np.clip(variance / self.row_scores.class_variance, 0.2, 5.0)

    def _coordinates(self, t: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """The weights' coordinates in V after a Newton step to t, shape (T, n)."""
        response = np.multiply.outer(sigma, self.response)
        return self._variances(t, sigma) * (response - self.gradient)

    def _variances(self, t: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """Posterior variances along V, shape (T, n)."""
        data, prior = 1.0 - self.prior_shares, self.prior_shares
        return 1.0 / (np.multiply.outer(sigma, data) + np.multiply.outer(np.exp(t), prior))


def leave_one_out_loss(loss: ClassLoss, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
    """Every row left out in turn, at penalties c (n,), 0 for intercepts.

    w: ŵ, near the minimizer of loss + ½ Σ c_i w_i², shape (n,).
    """
    has_few_rows = loss.design.row_count <= LARGEST
    if isinstance(loss, LogisticLoss) and has_few_rows and loss.size > min(loss.examples, LARGEST):
        return _by_rows(loss, w, penalties)
    return _by_columns(loss, w, penalties)


def _by_columns(loss: ClassLoss, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
    """By A, the (n, n) matrix of the parameters."""
    V, prior_shares = _directions(dense_exact(loss, loss.point_at(w), penalties), penalties)
    response = V.T @ loss.design.transpose_product(_weighted_scores(loss, w)).ravel()
    gradient = V.T @ loss.point_at(w).gradient
    m, counts, codes = loss.design.row_count, _row_counts(loss), loss.codes
    rows = np.arange(0, m, max(1, m // _ENOUGH_ROWS))
    scale = loss.examples / float(counts[rows].sum())
    total, block_count = 0.0, 0
    for block, R in _row_blocks(loss, V, rows):
        of_rows = codes[block], counts[block]
        block_model = LocalModel(R, prior_shares, response, gradient, *of_rows, scale, V)
        total, block_count = total + block_model.loss_at_fit(), block_count + 1
    model = block_model if block_count == 1 and len(V) <= _DECOMPOSED else None
    return LeaveOneOutLoss(total, V @ (response - gradient), model)


def _weighted_scores(loss: ClassLoss, w: np.ndarray) -> np.ndarray:
    """s_i S_i z_i of every row, shape (m,), or (K, m) with several classes."""
    if isinstance(loss, LogisticLoss):
        z, S = _binary_variances(loss, w)
        return _row_counts(loss) * S * z
    Z = loss.design.scores(w.reshape(loss.K, -1))
    P = _softmax(Z.T).T
    return np.asarray(_row_counts(loss) * P * (Z - (P * Z).sum(axis=0)))


def _row_counts(loss: ClassLoss) -> np.ndarray:
    return np.ones(loss.design.row_count) if loss.weights is None else loss.weights


def _binary_variances(loss: LogisticLoss, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z = loss.design.scores(w)
    p = expit(z)
    return z, np.maximum(p * (1.0 - p), 1e-12)


def _directions(A: np.ndarray, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V and d; where A is large V is the inverse factor's transpose, and d is left at 0."""
    inverse = solve_triangular(cholesky(A), np.eye(len(A)), lower=True)
    if len(A) > _DECOMPOSED:
        return inverse.T, np.zeros(len(A))
    shares, E = np.linalg.eigh((inverse * penalties) @ inverse.T)
    return inverse.T @ E, np.clip(shares, 0.0, 1.0)


def _by_rows(loss: LogisticLoss, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
    """By the (m, m) matrix S^½ X C⁻¹ Xᵀ S^½ of the rows, with eigenvalues λ and eigenvectors Q.

    There R = S^−½ Q diag(λ / (λ + 1))^½ and d = 1 / (λ + 1); S and g are those of all s_i copies.
    """
    z, unit_S = _binary_variances(loss, w)
    counts = _row_counts(loss)
    S, g = counts * unit_S, counts * (expit(z) - 0.5 * (1.0 + loss.sign))
    roots = np.sqrt(S)
    B = roots[:, None] * _row_kernel(loss.design, penalties) * roots
    if len(B) <= _DECOMPOSED:
        values, Q = np.linalg.eigh(B)
        values = np.maximum(values, 0.0)
        R, shares = Q * np.sqrt(values / (values + 1.0)) / roots[:, None], 1.0 / (values + 1.0)
        of_rows = loss.codes, counts
        model = LocalModel(R[:, None], shares, R.T @ (S * z), R.T @ g, *of_rows, 1.0, None)
        return LeaveOneOutLoss(model.loss_at_fit(), None, model)
    B.flat[:: len(B) + 1] += 1.0
    inverse = solve_triangular(cholesky(B), np.eye(len(B)), lower=True)
    # G = S^−½ (1 − B⁻¹) S^−½
    G = (1.0 - np.square(inverse).sum(axis=0)) / S
    u = S * z - g
    z = (u - roots * (inverse.T @ (inverse @ (u / roots)))) / S
    return LeaveOneOutLoss(float(_binary_loss(z, G, unit_S, loss.codes, counts)), None, None)


def _row_kernel(design: DesignMatrix, penalties: np.ndarray) -> np.ndarray:
    """X C⁻¹ Xᵀ, shape (m, m), the intercept as one more column."""
    p = design.column_count
    variances = np.full(len(penalties), _UNPENALIZED)
    np.divide(1.0, penalties, out=variances, where=penalties > 0)
    X = design.X
    if design.is_sparse:
        K = (X.multiply(variances[:p]).tocsr() @ X.T).toarray()  # (m, p) would fill the memory
    else:
        K = (X * variances[:p]) @ X.T
    return K + variances[p] if design.intercept else K


def _binary_loss(
    z: np.ndarray, G: np.ndarray, S: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Σ −s log p of each row's class once it is left out; z, G and S of shape (…, m)."""
    G = G * np.minimum(counts, 1.0)
    loo_scores = z + G * (expit(z) - codes) / np.maximum(1.0 - G * S, 1e-6)
    return np.asarray(np.logaddexp(0.0, (1.0 - 2.0 * codes) * loo_scores) @ counts)


def _multinomial_loss(
    Z: np.ndarray, root: np.ndarray, S: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> float:
    """The same by scores (m, K), a square root of G (m, K, n) and S (m, K, K)."""
    G = root @ root.transpose(0, 2, 1) * np.minimum(counts, 1.0)[:, None, None]
    g, rows = _softmax(Z), np.arange(len(Z))
    g[rows, codes] -= 1.0
    inner = np.linalg.solve(np.eye(Z.shape[1]) - S @ G, g[:, :, None])
    loo_scores = Z + (G @ inner)[:, :, 0]
    return float((np.logaddexp.reduce(loo_scores, axis=1) - loo_scores[rows, codes]) @ counts)


def _softmax(Z: np.ndarray) -> np.ndarray:
    P = np.exp(Z - Z.max(axis=-1, keepdims=True))
    return np.asarray(P / P.sum(axis=-1, keepdims=True))


def _multinomial_variances(P: np.ndarray) -> np.ndarray:
    """The S of every row from its probabilities, shape (m, K, K)."""
    return P[:, :, None] * (np.eye(P.shape[1]) - P[:, None, :])


def _row_blocks(
    loss: ClassLoss, V: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of rows, each with its R, shape (rows of the block, K, n)."""
    design, n = loss.design, len(V)
    K = loss.K if isinstance(loss, MultinomialLoss) else 1
    stacked = V.reshape(K, design.width, n)
    block = max(1, _BLOCK // (n * K))
    for first in range(0, len(rows), block):
        block_rows = rows[first : first + block]
        X = design.X[block_rows]
        X = X.toarray() if design.is_sparse else X
        R = np.empty((len(block_rows), K, n))
        for k, class_directions in enumerate(stacked):
            np.matmul(X, class_directions[: design.column_count], out=R[:, k])
        if design.intercept:
            R += stacked[:, -1]
        yield block_rows, R


FOLDS = 5
_ACCURACY = 0.3  # nats that the last step of a fit promises


class CrossValidatedLoss:
    """Fits without each fold of table rows, each from the last fit without the same fold.

    `fits`, `iterations`: Newton steps and inner iterations so far.
    """

    def __init__(self, loss: LogisticLoss | MultinomialLoss) -> None:
        fold_of = _fold_of(loss.codes)
        self._folds = [(loss.subset(fold_of != k), loss.subset(fold_of == k)) for k in range(FOLDS)]
        self._newtons = [Newton(training) for training, _ in self._folds]
        self._weights: list[Any] = [None] * FOLDS
        self.fits = self.iterations = 0

    def leave_folds_out(self, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
        """Σ_i −log p(y_i | x_i, the model without the fold of row i), and the mean weights.

        w: where the first fits begin, shape (n,); penalties: c, shape (n,).
        """
        total = 0.0
        for k, (training, held_out) in enumerate(self._folds):
            start = w if self._weights[k] is None else self._weights[k]
            solution = solve_penalized(
                training, penalties, start, tolerance=_ACCURACY, scale=1.0, newton=self._newtons[k]
            )
            self._weights[k] = solution.point.w
            self.fits += solution.fits
            self.iterations += solution.iterations
            total += held_out.point_at(solution.point.w).value
        return LeaveOneOutLoss(total, np.mean(self._weights, axis=0), None)


def _fold_of(codes: np.ndarray) -> np.ndarray:
    """The fold of every row, shape (m,): each class is dealt out evenly, in random order."""
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold_of = np.empty(len(codes), dtype=int)
    fold_of[order] = np.arange(len(codes)) % FOLDS
    return fold_of
