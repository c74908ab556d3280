"""Multinomial logistic regression: −log p, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | ``design`` | (m, q) | examples, an implied column of ones last if there is an intercept |
| K | ``K`` | | classes; all K weight vectors are kept |
| W | ``w`` raveled | (K, q) | one row of coefficients a class, the intercept last |
| Z | | (K, m) | scores W Aᵀ |
| P | | (K, m) | probabilities, the softmax of Z over the classes |
| Y | | (K, m) | 1 where the example is of the class |

loss = Σ log Σ_k exp(z_k) − z_y, gradient = (P − Y) A,
Hessian product with V = (P ∘ (V Aᵀ − 1 Σ_k P_k ∘ (V Aᵀ)_k)) A
(Foo 2009, section 4, "Multinomial logistic regression").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.losses.design import Design, design_of
from core.losses.labels import codes_of, two_or_more

# Multiplications that separate blocks of the Hessian may cost as a preconditioner.
_DEAREST_BLOCKS = 2e9


class MultinomialLoss:
    """Σ log Σ_k exp(w_kᵀx) − w_yᵀx over the examples.

    Args:
        design: the examples.
        codes: the class of every example, 0 … K − 1, shape (m,).
        classes: the K labels.
    """

    def __init__(self, design: Design, codes: np.ndarray, classes: np.ndarray) -> None:
        self.design, self.codes, self.classes = design, codes, classes
        self._rows = np.arange(len(codes))
        self._at: np.ndarray | None = None
        self._state: tuple[float, np.ndarray] = (0.0, np.empty((0, 0)))

    @property
    def K(self) -> int:  # noqa: N802 (the paper's letter)
        """How many classes there are."""
        return len(self.classes)

    @property
    def examples(self) -> int:
        """How many examples there are (m)."""
        return self.design.rows

    @property
    def size(self) -> int:
        """How many parameters there are, K q."""
        return self.K * self.design.width

    @property
    def dense_cost(self) -> float:
        """Multiplications of one dense Hessian."""
        return 0.5 * self.examples * self.size * (self.size + self.design.width)

    @property
    def product_cost(self) -> float:
        """Multiplications of one Hessian product."""
        return 2.0 * self.K * self.design.entries

    @property
    def gauge(self) -> np.ndarray | None:
        """Unpenalized parameters whose common shift changes nothing: the intercepts."""
        q = self.design.width
        return np.arange(q - 1, self.size, q) if self.design.intercept else None

    def start(self) -> np.ndarray:
        """Zeros, and intercepts that give the classes their shares."""
        W = np.zeros((self.K, self.design.width))
        if self.design.intercept:
            shares = np.log(np.bincount(self.codes, minlength=self.K) + 0.5)
            W[:, -1] = shares - shares.mean()
        return W.ravel()

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient at w."""
        value, P = self._evaluate(w)
        residual = P.copy()
        residual[self.codes, self._rows] -= 1.0
        return value, self.design.back(residual).ravel()

    def hessian_product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The exact Hessian at w times v, shape (K q,); several v as rows, shape (r, K q)."""
        P = self._evaluate(w)[1]
        if v.ndim == 2:
            return np.array([_product(self.design, P, row) for row in v])
        return _product(self.design, P, v)

    def rough_product(self, w: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The Hessian product at w in single precision, for directions that are checked."""
        design = self.design.single
        P = self._evaluate(w)[1].astype(design.X.dtype)
        return lambda v: _product(design, P, v.astype(P.dtype))

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """The dense Hessian (K q, K q), or None above 4,000 parameters."""
        if self.size > 4000:
            return None
        P, K, q = self._evaluate(w)[1], self.K, self.design.width
        H = np.zeros((K, q, K, q))
        for k in range(K):
            # The sum over classes of a block row vanishes, so that every block off the diagonal
            # is minus a Gram matrix and the diagonal is what balances them.
            for other in range(k):
                block = self.design.gram(P[k] * P[other])
                H[k, :, other] = H[other, :, k] = -block
                H[k, :, k] += block
                H[other, :, other] += block
        return H.reshape(self.size, self.size)

    def hessian_diagonal(self, w: np.ndarray) -> np.ndarray:
        """The diagonal of the Hessian at w, shape (K q,)."""
        P = self._evaluate(w)[1]
        return self.design.squares(P * (1.0 - P)).ravel()

    def hessian_blocks(self, w: np.ndarray, step: int) -> np.ndarray:
        """The classes' diagonal blocks from every ``step``-th example, shape (K, q, q).

        Where K of them would cost too much, their mean alone, shape (1, q, q).
        """
        P, single = self._evaluate(w)[1], self.design.single
        if self.K * self.design.width**2 * (self.examples // step) > _DEAREST_BLOCKS:
            return single.gram((P * (1.0 - P)).mean(axis=0), step)[None]
        return np.array([single.gram(row * (1.0 - row), step) for row in P])

    def on(self, X: Any, y: Any) -> MultinomialLoss:
        """The same columns and classes, on other rows."""
        return MultinomialLoss(self.design.on(X), codes_of(y, self.classes), self.classes)

    def every(self, step: int) -> MultinomialLoss:
        """The loss of every ``step``-th example."""
        return MultinomialLoss(self.design.every(step), self.codes[::step], self.classes)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef_ (K, given columns) and intercept_ (K,) as scikit-learn has them."""
        W = w.reshape(self.K, -1)
        intercept = W[:, -1].copy() if self.design.intercept else np.zeros(self.K)
        return self.design.widened(W), intercept

    def _evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and P; kept for the next question about the same w."""
        if self._at is not None and np.array_equal(w, self._at):
            return self._state
        Z = self.design.scores(w.reshape(self.K, -1))
        Z -= Z.max(axis=0)
        of_own_class = Z[self.codes, self._rows].sum()
        P = np.exp(Z, out=Z)
        total = P.sum(axis=0)
        value = float(np.log(total).sum() - of_own_class)
        P /= total
        self._at, self._state = w.copy(), (value, P)
        return self._state


def _product(design: Design, P: np.ndarray, v: np.ndarray) -> np.ndarray:
    T = design.scores(v.reshape(len(P), -1))
    T *= P
    T -= P * T.sum(axis=0)
    return design.back(T).ravel()


def build_multinomial(X: Any, y: Any, fit_intercept: bool = True) -> MultinomialLoss:
    """The loss of a matrix and labels of two or more classes.

    Raises:
        UnusableError: the labels are all the same.
    """
    classes, codes = two_or_more(y)
    return MultinomialLoss(design_of(X, fit_intercept), codes, classes)
