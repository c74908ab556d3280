"""Logistic regression with two classes: −log p, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | ``design`` | (m, q) | examples, an implied column of ones last if there is an intercept |
| y | ``sign`` | (m,) | −1 for the first class, +1 for the second |
| w | ``w`` | (q,) | coefficients, the intercept last |
| z | | (m,) | the margins y ∘ A w |
| u | | (m,) | σ(−z), the probability of the wrong class |
| s | ``weights`` | (m,) | how many times an example counts; None for once |

loss = Σ s log(1 + exp(−z)), gradient = −Aᵀ(s ∘ y ∘ u), Hessian = Aᵀ diag(s u (1 − u)) A
(Foo 2009, section 4, "Logistic regression").
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from core.losses.class_labels import codes_of, two_or_more
from core.losses.linear.design import DesignMatrix, design_of, total_weight
from core.optimize.loss import HessianCosts, LinearMap, Loss, LossPoint


class LabelledLoss(Loss):
    """A loss of the classes of examples, coded 0 … K − 1, each counted s times."""

    takes_several = True

    def __init__(
        self,
        design: DesignMatrix,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> None:
        self.design, self.codes, self.classes, self.weights = design, codes, classes, weights
        self.examples, self.size = total_weight(design.row_count, weights), design.width

    def for_data(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Self:
        """The same columns and classes, on other rows."""
        codes = codes_of(y, self.classes)
        return type(self)(self.design.for_matrix(X), codes, self.classes, weights)

    def subset(self, rows: np.ndarray) -> Self:
        """The loss of the examples of a boolean mask, or of indices."""
        weights = None if self.weights is None else self.weights[rows]
        return type(self)(self.design.subset(rows), self.codes[rows], self.classes, weights)

    def every_nth_row(self, step: int) -> Self:
        """The loss of every ``step``-th example."""
        weights = None if self.weights is None else self.weights[::step]
        design, codes = self.design.every_nth_row(step), self.codes[::step]
        return type(self)(design, codes, self.classes, weights)


class LogisticLoss(LabelledLoss):
    """Σ log(1 + exp(−y wᵀx)) over the examples."""

    def __init__(
        self,
        design: DesignMatrix,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> None:
        super().__init__(design, codes, classes, weights)
        self.sign = 2.0 * codes - 1.0
        # Of a weighted Gram matrix, and of two products with the examples.
        dense, product = float(design.row_count) * self.size**2, 2.0 * design.entries
        self.hessian_costs = HessianCosts(dense, product)

    def initial_weights(self) -> np.ndarray:
        """Zeros, and the intercept that gives the classes their shares."""
        w = np.zeros(self.size)
        if self.design.intercept:
            second = float(total_weight(self.sign > 0, self.weights))
            w[-1] = np.log((second + 0.5) / (self.examples - second + 0.5))
        return w

    def _point_at(self, w: np.ndarray) -> LogisticAt:
        return LogisticAt(self, w)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef_ (1, n_features) and intercept_ (1,) as scikit-learn has them."""
        coef = self.design.to_all_columns(w)[None]
        return coef, w[-1:].copy() if self.design.intercept else np.zeros(1)


class LogisticAt(LossPoint):
    """The loss at w, with the examples' weights u (1 − u)."""

    def __init__(self, loss: LogisticLoss, w: np.ndarray) -> None:
        self._design, self._weights = loss.design, np.empty(loss.design.row_count)
        values = []

        def residuals(z: np.ndarray, rows: slice) -> np.ndarray:
            sign, s = loss.sign[rows], None if loss.weights is None else loss.weights[rows]
            z *= sign
            small = np.exp(-np.abs(z))
            values.append(_loss_sum(z, small, s))
            # σ(−z) = small/(1 + small) for z ≥ 0 and 1/(1 + small) for z < 0.
            larger = 1.0 / (1.0 + small)
            smaller = small * larger
            self._weights[rows] = larger * smaller
            residual = -sign * np.where(z >= 0.0, smaller, larger)
            if s is not None:
                residual *= s
                self._weights[rows] *= s
            return residual

        gradient = loss.design.through(w, residuals)
        super().__init__(w, math.fsum(values), gradient)

    def product(self, v: np.ndarray) -> np.ndarray:
        """H v, shape (q,); several v as rows, shape (r, q)."""
        weights = self._weights
        return self._design.through(v, lambda z, rows: z * weights[rows])

    def dense_hessian(self) -> np.ndarray | None:
        """H (q, q), or None above 4,000 parameters."""
        return self._hessian.copy() if len(self.w) <= 4000 else None

    @cached_property
    def _hessian(self) -> np.ndarray:
        """H, which a step and what is learned from it both need."""
        return self._design.weighted_gram(self._weights)

    def diagonal(self) -> np.ndarray:
        """The diagonal of H, shape (q,)."""
        return self._design.squares(self._weights)

    def rough_product(self) -> LinearMap:
        """The product with H in single precision, for directions that are checked."""
        design = self._design.single_precision
        kind = design.X.dtype
        weights = self._weights.astype(kind)
        return lambda v: design.through(v.astype(kind), lambda z, rows: z * weights[rows])

    def sampled_blocks(self, step: int) -> np.ndarray:
        """H estimated from every ``step``-th example, as one block, shape (1, q, q)."""
        return self._design.single_precision.weighted_gram(self._weights, step)[None]


def _loss_sum(z: np.ndarray, small: np.ndarray, weights: np.ndarray | None) -> float:
    """Σ s log(1 + exp(−z)), by exp(−|z|)."""
    if weights is None:
        return float(np.log1p(small).sum() - np.minimum(z, 0.0).sum())
    return float(weights @ np.log1p(small) - weights @ np.minimum(z, 0.0))


def build_logistic(
    X: Any, y: Any, fit_intercept: bool = True, weights: np.ndarray | None = None
) -> LogisticLoss:
    """The loss of a matrix and labels of two classes; UnusableError where they are not two."""
    classes, codes = two_or_more(y, exactly_two=True)
    return LogisticLoss(design_of(X, fit_intercept), codes, classes, weights)
