"""Approximate leave-one-out: the log loss of every unit under the model fitted without it.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | | (n, n) | H + diag(c) at the minimizer ŵ of loss + ½ Σ c_i w_i² |
| q | | | scores of a unit: those of its rows, K each, or one with two classes |
| z_i | ``Z`` | (q,) | scores of unit i at ŵ |
| g_i, S_i | ``g``, ``S`` | (q,), (q, q) | gradient and Hessian of unit i's loss in its scores |
| G_i | ``G`` | (q, q) | x_i A⁻¹ x_iᵀ, the variance of unit i's scores |
| R_i | ``R`` | (q, n) | x_i V, where V Vᵀ = A⁻¹ |
| s_i | ``counts`` | (m,) | how many times row i counts; one, unless rows have weights |

One Newton step from ŵ without unit i moves its scores to z_i + G_i (I − S_i G_i)⁻¹ g_i (Beirami et
al. 2017; Rad and Maleki 2020, theorem 1; for least squares it is exact, Allen's PRESS). One factor
of A serves all units.

A row that counts s times and is a unit by itself is left out once at a time: s_i multiplies its
loss, and in the formula g_i and S_i count a_i = min(s_i, 1) times; in a larger unit a_i = s_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.optimize.cholesky import cholesky, solve_factored, solve_lower
from core.optimize.descent import line_search, quadratic_penalty, solve_penalized
from core.optimize.loss import LossPoint
from core.optimize.newton import Newton, penalized_matrix
from core.penalties.class_scores import (
    class_gradients,
    class_losses,
    score_spread,
    score_variances,
    thinning,
)
from core.penalties.row_space import LARGEST, ClassLoss, class_count, spanned_columns
from core.penalties.shared_curvature import SharedCurvature

# Entries of the scores' factors R of the rows that are left out: one number needs no more of them.
_ENTRIES = 1 << 21
# Entries of a block of units and their scores' factors that are held at once.
_BLOCK = 1 << 22
# A fit is close where one more Newton step moves no score by more, for S, and with it every move of
# a row left out, is off by as large a share; so many steps get there.
# The variance without the unit, G_i (I − S_i G_i)⁻¹, is hundreds where weights are hardly held
# back, and an error of g_i counts as many times.
_CLOSE, _MAX_STEPS = 1e-4, 50
# The loss of a fit that was not close: no other is worse.
_REFUSED = 1e12
# Scores of a unit, and its share of all rows, up to which one Newton step leaves it out.
_LARGEST_UNIT, _LARGEST_SHARE = 200, 0.1
_EXACT_ENTRIES = 60_000  # rows times parameters up to which R is formed of all: it costs no more


def has_one_factor(loss: ClassLoss) -> bool:
    """Whether the loss is small enough in its parameters, which its rows limit."""
    return class_count(loss) * spanned_columns(loss) <= LARGEST


def shares_curvature(loss: ClassLoss, penalties: np.ndarray, units: np.ndarray | None) -> bool:
    """Whether rows are left out by the curvature that they share: where exactly is dear."""
    K = class_count(loss)
    if units is not None or loss.design.row_count * len(penalties) <= _EXACT_ENTRIES:
        return False
    by_class = penalties.reshape(K, -1)
    return bool((by_class == by_class[0]).all())


@dataclass(frozen=True)
class LeaveOneOutLoss:
    """The result of leaving units out in turn at one fit."""

    value: float  # Σ_i −log p(y_i | x_i, the model without unit i), scaled up to all rows
    spread: float  # the standard deviation of the scores over rows
    w: np.ndarray  # the weights there, shape (n,)
    model: SharedCurvature | None  # at other penalties


def leave_one_out_loss(
    loss: ClassLoss, w: np.ndarray, penalties: np.ndarray, units: np.ndarray | None = None
) -> LeaveOneOutLoss:
    """Every unit left out in turn, at penalties c (n,), 0 for intercepts.

    w: near the minimizer of loss + ½ Σ c_i w_i², shape (n,); units: the unit of every row, from 0
    without gaps, shape (m,); None where each row is one.
    """
    point, factor, is_close = _close_point(loss, w, penalties)
    if not is_close:
        return LeaveOneOutLoss(_REFUSED, 0.0, point.w, None)
    w = point.w - solve_factored(factor, point.gradient + penalties * point.w)
    n, design = len(factor), loss.design
    V = solve_lower(factor, np.eye(n)).T.reshape(-1, design.width, n)
    Z, counts = design.scores(w.reshape(len(V), -1)).T, loss.row_weights
    blocks = list(_unit_blocks(loss, units, n))
    scale = loss.examples / float(sum(counts[rows].sum() for rows in blocks))
    losses = class_losses(Z, loss.codes)
    added = 0.0
    for rows in blocks:
        times = np.minimum(counts[rows], 1.0) if units is None else counts[rows]
        factors = (design.dense_rows(rows.ravel()) @ V).transpose(1, 0, 2)
        R = factors.reshape(len(rows), -1, n)
        left_out = _losses_without_own(Z[rows], loss.codes[rows], times, R)
        added += float(((left_out - losses[rows]) * counts[rows]).sum()) * scale
    return LeaveOneOutLoss(float(losses @ counts) + added, score_spread(Z, counts), w, None)


def _losses_without_own(
    Z: np.ndarray, codes: np.ndarray, times: np.ndarray, R: np.ndarray
) -> np.ndarray:
    """The losses (U, s) of rows of units with scores Z (U, s, K), each unit left out; a (U, s)."""
    S = score_variances(Z) * times[..., None, None]
    g = (class_gradients(Z, codes) * times[..., None]).reshape(len(Z), -1)
    if g.shape[1] == 1:
        G = np.square(R[:, 0]).sum(axis=1, keepdims=True)
        moves = G * g / np.maximum(1.0 - G * S[:, 0, 0], 1e-6)
    else:
        G = R @ R.transpose(0, 2, 1)
        inner = np.linalg.solve(np.eye(g.shape[1]) - _block_diagonal(S) @ G, g[..., None])
        moves = G @ inner
    return class_losses(Z + moves.reshape(Z.shape), codes)


def _close_point(
    loss: ClassLoss, w: np.ndarray, penalties: np.ndarray
) -> tuple[LossPoint, np.ndarray, bool]:
    """A point whose Newton step moves no row's score by more than `_CLOSE`, and A's factor there.

    The last is whether there is one.
    """
    point, penalty = loss.point_at(w), quadratic_penalty(penalties)
    for _ in range(_MAX_STEPS):
        factor = cholesky(penalized_matrix(loss, point.dense_hessian(), penalties))
        slope = point.gradient + penalties * point.w
        step = -solve_factored(factor, slope)
        moves = loss.design.scores(step.reshape(class_count(loss), -1))
        if np.abs(moves).max() <= _CLOSE:
            return point, factor, True
        next_point = line_search(loss, point, step, slope, penalty)
        if next_point is None:
            break
        point = next_point
    return point, factor, False


def _block_diagonal(S: np.ndarray) -> np.ndarray:
    """The S of units, shape (U, q, q), from those of their rows, (U, s, K, K)."""
    U, s, K, _ = S.shape
    return (S[:, :, :, None] * np.eye(s)[:, None, :, None]).reshape(U, s * K, s * K)


def _unit_blocks(loss: ClassLoss, units: np.ndarray | None, n: int) -> Iterator[np.ndarray]:
    """The rows of units to leave out, in blocks of units with equally many, shape (U, s)."""
    m, K = loss.design.row_count, class_count(loss)
    codes = np.arange(m) if units is None else units
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts, step = np.cumsum(sizes) - sizes, thinning(m, _ENTRIES // (n * K))
    for size in np.unique(sizes):
        rows = order[starts[sizes == size][::step, None] + np.arange(size)]
        block = max(1, _BLOCK // (n * K * size))
        for first in range(0, len(rows), block):
            yield rows[first : first + block]


FOLDS = 5
_ACCURACY = 0.3  # nats that the last step of a fit promises


class CrossValidatedLoss:
    """Fits without each fold of table rows, each from the last fit without the same fold.

    `fits`, `iterations`: Newton steps and inner iterations so far.
    """

    def __init__(self, loss: ClassLoss, units: np.ndarray | None = None) -> None:
        fold_of = _fold_of(loss.codes) if units is None else _fold_of_units(loss.codes, units)
        folds = range(int(fold_of.max()) + 1)
        self._folds = [(loss.subset(fold_of != k), loss.subset(fold_of == k)) for k in folds]
        self._newtons = [Newton(training) for training, _ in self._folds]
        self._weights: list[Any] = [None for _ in folds]
        self.fits = self.iterations = 0

    def leave_folds_out(self, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
        """Σ_i −log p(y_i | x_i, the model without the fold of row i), and the mean weights.

        w: where the first fits begin, shape (n,); penalties: c, shape (n,).
        """
        total, scores, counts = 0.0, list[np.ndarray](), list[np.ndarray]()
        for k, (training, held_out) in enumerate(self._folds):
            start = w if self._weights[k] is None else self._weights[k]
            solution = solve_penalized(
                training, penalties, start, tolerance=_ACCURACY, scale=1.0, newton=self._newtons[k]
            )
            self._weights[k] = solution.point.w
            self.fits += solution.fits
            self.iterations += solution.iterations
            total += held_out.point_at(solution.point.w).value
            W = solution.point.w.reshape(class_count(held_out), -1)
            scores.append(held_out.design.scores(W).T)
            counts.append(held_out.row_weights)
        spread = score_spread(np.concatenate(scores), np.concatenate(counts))
        return LeaveOneOutLoss(total, spread, np.mean(self._weights, axis=0), None)


def needs_folds(loss: ClassLoss, units: np.ndarray | None) -> bool:
    """Whether folds are left out: of a large table, or of units that are large."""
    if units is None:
        return spanned_columns(loss) > LARGEST
    if not has_one_factor(loss):
        return True
    largest = int(np.bincount(units).max())
    is_large = largest > _LARGEST_SHARE * len(units)
    return is_large or largest * class_count(loss) > _LARGEST_UNIT


def _fold_of(codes: np.ndarray) -> np.ndarray:
    """The fold of every row, shape (m,): each class is dealt out evenly, in random order."""
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold_of = np.empty(len(codes), dtype=int)
    fold_of[order] = np.arange(len(codes)) % FOLDS
    return fold_of


def _fold_of_units(codes: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The same where no unit is divided, each dealt out by the class of most of its rows."""
    counts = np.zeros((int(units.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (units, codes), 1.0)
    return _fold_of(counts.argmax(axis=1))[units]
