"""The log loss of rows left out fold by fold, where a table is too large for leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.losses.linear.logistic_loss import LogisticLoss
from core.losses.linear.multinomial_loss import MultinomialLoss
from core.optimize.descent import solve_penalized
from core.optimize.newton import Newton
from core.penalties.leave_one_out_loss import LeaveOneOutLoss

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
