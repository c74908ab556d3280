"""Logistic regression with two classes: −log p, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | ``design`` | (m, q) | examples, an implied column of ones last if there is an intercept |
| y | ``sign`` | (m,) | −1 for the first class, +1 for the second |
| w | ``w`` | (q,) | coefficients, the intercept last |
| z | | (m,) | the margins y ∘ A w |
| u | | (m,) | σ(−z), the probability of the wrong class |

loss = Σ log(1 + exp(−z)), gradient = −Aᵀ(y ∘ u), Hessian = Aᵀ diag(u (1 − u)) A
(Foo 2009, section 4, "Logistic regression").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.losses.design import Design, design_of
from core.losses.labels import codes_of, two_or_more


class LogisticLoss:
    """Σ log(1 + exp(−y wᵀx)) over the examples.

    Args:
        design: the examples.
        sign: −1 or +1, shape (m,).
        classes: the two labels, the first one coded −1.
    """

    def __init__(self, design: Design, sign: np.ndarray, classes: np.ndarray) -> None:
        self.design, self.sign, self.classes = design, sign, classes
        self._at: np.ndarray | None = None
        self._state: tuple[float, np.ndarray, np.ndarray] = (0.0, sign, sign)

    @property
    def examples(self) -> int:
        """How many examples there are (m)."""
        return self.design.rows

    @property
    def size(self) -> int:
        """How many parameters there are, the intercept included."""
        return self.design.width

    @property
    def dense_cost(self) -> float:
        """Multiplications of one dense Hessian."""
        return float(self.examples) * self.size**2

    @property
    def product_cost(self) -> float:
        """Multiplications of one Hessian product."""
        return 2.0 * self.design.entries

    def start(self) -> np.ndarray:
        """Zeros, and the intercept that gives the classes their shares."""
        w = np.zeros(self.size)
        if self.design.intercept:
            second = float(np.count_nonzero(self.sign > 0))
            w[-1] = np.log((second + 0.5) / (self.examples - second + 0.5))
        return w

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient at w."""
        value, residual, _ = self._evaluate(w)
        return value, self.design.back(residual)

    def hessian_product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The exact Hessian at w times v, shape (q,); several v as rows, shape (r, q)."""
        weights = self._evaluate(w)[2]
        return self.design.back(weights * self.design.scores(v))

    def rough_product(self, w: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The Hessian product at w in single precision, for directions that are checked."""
        design = self.design.single
        kind = design.X.dtype
        weights = self._evaluate(w)[2].astype(kind)
        return lambda v: design.back(weights * design.scores(v.astype(kind)))

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """The dense Hessian (q, q), or None above 4,000 parameters."""
        return self.design.gram(self._evaluate(w)[2]) if self.size <= 4000 else None

    def hessian_diagonal(self, w: np.ndarray) -> np.ndarray:
        """The diagonal of the Hessian at w, shape (q,)."""
        return self.design.squares(self._evaluate(w)[2])

    def hessian_blocks(self, w: np.ndarray, step: int) -> np.ndarray:
        """The Hessian estimated from every ``step``-th example, as one block, shape (1, q, q)."""
        return self.design.single.gram(self._evaluate(w)[2], step)[None]

    def on(self, X: Any, y: Any) -> LogisticLoss:
        """The same columns and classes, on other rows."""
        return LogisticLoss(self.design.on(X), _signs(codes_of(y, self.classes)), self.classes)

    def every(self, step: int) -> LogisticLoss:
        """The loss of every ``step``-th example."""
        return LogisticLoss(self.design.every(step), self.sign[::step], self.classes)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef_ (1, given columns) and intercept_ (1,) as scikit-learn has them."""
        coef = self.design.widened(w)[None]
        return coef, w[-1:].copy() if self.design.intercept else np.zeros(1)

    def _evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, −y ∘ u and u (1 − u); kept for the next question about the same w."""
        if self._at is not None and np.array_equal(w, self._at):
            return self._state
        z = self.design.scores(w)
        z *= self.sign
        small = np.exp(-np.abs(z))
        value = float(np.log1p(small).sum() - np.minimum(z, 0.0).sum())
        # σ(−z) = small/(1 + small) for z ≥ 0 and 1/(1 + small) for z < 0.
        one = 1.0 / (1.0 + small)
        other = small * one
        wrong = np.where(z >= 0.0, other, one)
        self._at, self._state = w.copy(), (value, -self.sign * wrong, one * other)
        return self._state


def build_logistic(X: Any, y: Any, fit_intercept: bool = True) -> LogisticLoss:
    """The loss of a matrix and labels of two classes.

    Raises:
        UnusableError: the labels are not of two classes.
    """
    classes, codes = two_or_more(y, exactly_two=True)
    return LogisticLoss(design_of(X, fit_intercept), _signs(codes), classes)


def _signs(codes: np.ndarray) -> np.ndarray:
    return 2.0 * codes - 1.0
