"""The log loss of rows left out fold by fold, where a table is too large for leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.losses.linear.logistic import LogisticLoss
from core.losses.linear.multinomial import MultinomialLoss
from core.optimize.descent import solve
from core.optimize.newton import Newton
from core.penalties.left_out import LeftOut

FOLDS = 5
_ACCURACY = 0.3  # nats that the last step of a fit promises


class Folds:
    """Fits without each fold, every one beginning where the last one of its fold ended.

    Args:
        loss: of two or more classes of table rows.

    Attributes:
        fits, iterations: Newton steps and inner iterations so far.
    """

    def __init__(self, loss: LogisticLoss | MultinomialLoss) -> None:
        fold_of = _fold_of(loss.codes)
        self._parts = [(loss.part(fold_of != k), loss.part(fold_of == k)) for k in range(FOLDS)]
        self._newtons = [Newton(training) for training, _ in self._parts]
        self._weights: list[Any] = [None] * FOLDS
        self.fits = self.iterations = 0

    def left_out(self, w: np.ndarray, penalties: np.ndarray) -> LeftOut:
        """Σ_i −log p(y_i | x_i, the model fitted without the fold of row i), and the mean weights.

        Args:
            w: where the first fits begin, shape (n,).
            penalties: c, shape (n,).
        """
        total = 0.0
        for k, (training, rest) in enumerate(self._parts):
            start, newton = self._weights[k], self._newtons[k]
            start = w if start is None else start
            found = solve(training, penalties, start, tolerance=_ACCURACY, scale=1.0, newton=newton)
            self._weights[k] = found.point.w
            self.fits += found.fits
            self.iterations += found.iterations
            total += rest.at(found.point.w).value
        return LeftOut(total, np.mean(self._weights, axis=0), None)


def _fold_of(codes: np.ndarray) -> np.ndarray:
    """The fold of every row, shape (m,): each class is dealt out evenly, in random order."""
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold_of = np.empty(len(codes), dtype=int)
    fold_of[order] = np.arange(len(codes)) % FOLDS
    return fold_of
