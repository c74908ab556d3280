"""How many independent rows the rows of units are worth, for the penalty learners that count rows.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m, U | | | rows, units |
| x_i, r_i | | (p,), (K,) | columns of row i, the derivative of its loss in its scores |
| | ``share`` | | what a row counts: from U/m, where rows of a unit are copies, to 1 |

A sum of m losses knows as much of the weights as m/δ independent rows, where the design effect
δ = Σ_units ‖Σ_{i in unit} x_i r_iᵀ‖² / Σ_i ‖x_i r_iᵀ‖² compares the variance of its gradient with
that of independent rows (Kish 1965; Pauli, Racugno and Ventura 2011, of composite likelihoods).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, cast

import numpy as np
from scipy import sparse

from core.losses.linear.linear_loss import LinearLoss
from core.losses.registry import TableLoss
from core.optimize.loss import Loss
from core.penalties.class_scores import class_gradients
from core.penalties.penalty_problem import LearnerStep, PenaltyProblem

# So often at most the share follows the weights; below this change of its logarithm it stays. On
# generated patients and copies a third pass brought the log loss nearer to that of folds of units
# (1.38, 1.04, 1.00 times), a fourth did not.
_PASSES, _SAME = 2, 0.1

Learner = Callable[..., Iterator[LearnerStep]]


def least_share(loss: Loss, units: np.ndarray | None) -> float:
    """U/m, at most 1; 1 where units (m,) are None."""
    return 1.0 if units is None else min(1.0, (int(units.max()) + 1) / loss.examples)


def effective_share(loss: TableLoss, w: np.ndarray, units: np.ndarray | None) -> float:
    """1/δ at weights w (n,), between U/m and 1."""
    least = least_share(loss, units)
    if units is None or least == 1.0:
        return 1.0
    X, m = loss.design.X, loss.design.row_count
    # The intercept's part is not what penalties are learned from.
    X = X if loss.design.is_sparse else X - X.mean(axis=0)
    of_unit = sparse.csr_array((np.ones(m), (units, np.arange(m))))
    together = apart = 0.0
    for residuals in _residuals(loss, w).T:
        rows = sparse.diags_array(residuals) @ X
        together += _sum_of_squares(of_unit @ rows)
        apart += _sum_of_squares(rows)
    return min(1.0, max(least, apart / max(together, 1e-300)))


def _residuals(loss: TableLoss, w: np.ndarray) -> np.ndarray:
    """The r of every row, times how often it counts, shape (m, K)."""
    Z = loss.design.scores(w.reshape(-1, loss.design.width)).T
    r = Z - loss.y[:, None] if isinstance(loss, LinearLoss) else class_gradients(Z, loss.codes)
    return r if loss.weights is None else r * loss.weights[:, None]


def _sum_of_squares(matrix: Any) -> float:
    values = matrix.data if sparse.issparse(matrix) else matrix
    return float(np.square(values).sum())


def counting_units(learner: Learner) -> Learner:
    """The same learner beside the loss times the share of its units.

    The share is that at the weights of a first run, which says no more than units would; the steps
    are those of the last run, their penalties beside the loss as it is.
    """

    @wraps(learner)
    def steps(problem: PenaltyProblem, *options: Any) -> Iterator[LearnerStep]:
        loss, units = problem.loss, problem.units
        share = least_share(loss, units)
        if units is None or share == 1.0:
            yield from learner(problem, *options)
            return
        for _ in range(_PASSES):
            inner = _reweighted(problem, share)
            (last,) = deque(learner(inner, *options), maxlen=1)
            before, share = share, effective_share(cast(TableLoss, loss), last.w, units)
            if abs(math.log(share / before)) < _SAME:
                break
        remark = (
            f"Rows that belong together are alike: the {len(units):,} training rows count as "
            f"{share * len(units):,.0f}.",
        )
        inner = _reweighted(problem, share)
        for step in learner(inner, *options):
            C = step.C / share
            if isinstance(loss, LinearLoss) and isinstance(inner.loss, LinearLoss):
                # Their least noise differs, and σ² C is what was learned.
                C = C * (inner.loss.noise_variance(step.w) / loss.noise_variance(step.w))
            value, remarks = loss.point_at(step.w).value, remark + step.remarks
            yield replace(step, C=C, loss=value, remarks=remarks)

    return steps


def _reweighted(problem: PenaltyProblem, share: float) -> PenaltyProblem:
    return replace(problem, loss=problem.loss.reweighted(share), units=None)
