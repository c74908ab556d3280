"""Logistic regression with two and more classes: −log p, its gradient and exact Hessian products.

Two classes:

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

More classes:

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| A | ``design`` | (m, q) | examples, an implied column of ones last if there is an intercept |
| K | ``K`` | | classes; all K weight vectors are kept |
| W | ``w`` raveled | (K, q) | one row of coefficients a class, the intercept last |
| Z | | (K, m) | scores W Aᵀ |
| P | | (K, m) | probabilities, the softmax of Z over the classes |
| Y | | (K, m) | 1 where the example is of the class |
| s | ``weights`` | (m,) | how many times an example counts; None for once |

loss = Σ s (log Σ_k exp(z_k) − z_y), gradient = (s ∘ (P − Y)) A,
Hessian product with V = (s ∘ P ∘ (V Aᵀ − 1 Σ_k P_k ∘ (V Aᵀ)_k)) A
(Foo 2009, section 4, "Multinomial logistic regression").
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, Self

import numpy as np

from core.losses.class_labels import codes_of, two_or_more
from core.losses.linear.design import DesignMatrix, design_of, total_weight
from core.optimize.kronecker import KroneckerCurvature
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
        self._prepare()

    def _prepare(self) -> None:
        """Sizes and constants of a kind of loss, from its examples."""

    def for_data(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Self:
        codes = codes_of(y, self.classes)
        return type(self)(self.design.for_matrix(X), codes, self.classes, weights)

    def subset(self, rows: np.ndarray | slice) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        return type(self)(self.design.subset(rows), self.codes[rows], self.classes, weights)

    @property
    def row_weights(self) -> np.ndarray:
        """How many times every row counts, shape (rows,)."""
        return np.ones(self.design.row_count) if self.weights is None else self.weights

    def reweighted(self, factor: float) -> Self:
        return type(self)(self.design, self.codes, self.classes, factor * self.row_weights)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef_ (scores, n_features) and intercept_ (scores,) as scikit-learn has them."""
        W = w.reshape(-1, self.design.width)
        intercept = W[:, -1].copy() if self.design.intercept else np.zeros(len(W))
        return self.design.to_all_columns(W), intercept

    def every_nth_row(self, step: int) -> Self:
        return self.subset(slice(None, None, step))


class LabelledAt(LossPoint):
    """A loss at w, with what its kinds of classes have in common."""

    _design: DesignMatrix

    def dense_hessian(self) -> np.ndarray | None:
        return None if len(self.w) > 4000 else self._hessian.copy()

    @cached_property
    def _hessian(self) -> np.ndarray:
        # Kept: a step and what is learned from it both need it.
        return self._form_hessian(self._design, 1)

    def sampled_hessian(self, step: int) -> np.ndarray:
        return self._form_hessian(self._design.single_precision, step)

    @abstractmethod
    def _form_hessian(self, design: DesignMatrix, step: int) -> np.ndarray:
        """From every ``step``-th row of a design."""

    def diagonal(self) -> np.ndarray:
        return self._diagonal

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return self._design.single_precision.squares(self._curvatures()).ravel()

    @abstractmethod
    def _curvatures(self) -> np.ndarray:
        """Of the rows in each score, as often as they count, shape (m,) or (K, m)."""


class LogisticLoss(LabelledLoss):
    """Σ log(1 + exp(−y wᵀx)) over the examples."""

    def _prepare(self) -> None:
        self.sign = 2.0 * self.codes - 1.0
        # Of a weighted Gram matrix, and of two products with the examples.
        rows, product = float(self.design.row_count), 2.0 * self.design.entries
        self.hessian_costs = HessianCosts(rows * self.size**2, product)

    def initial_weights(self) -> np.ndarray:
        w = np.zeros(self.size)
        if self.design.intercept:
            second = float(total_weight(self.sign > 0, self.weights))
            # Half a row more on both sides: a fold without a class must not start at infinity.
            w[-1] = np.log((second + 0.5) / (self.examples - second + 0.5))
        return w

    def _point_at(self, w: np.ndarray) -> LogisticAt:
        return LogisticAt(self, w)


class LogisticAt(LabelledAt):
    """The loss at w, with the examples' weights u (1 − u)."""

    def __init__(self, loss: LogisticLoss, w: np.ndarray) -> None:
        self._design, self._weights = loss.design, np.empty(loss.design.row_count)
        values = []

        def residuals(z: np.ndarray, rows: slice) -> np.ndarray:
            sign, s = loss.sign[rows], None if loss.weights is None else loss.weights[rows]
            z *= sign
            # Of −|z| alone: exp never overflows.
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
        weights = self._weights
        return self._design.through(v, lambda z, rows: z * weights[rows])

    def _form_hessian(self, design: DesignMatrix, step: int) -> np.ndarray:
        return design.weighted_gram(self._weights, step)

    def _curvatures(self) -> np.ndarray:
        return self._weights

    def rough_product(self) -> LinearMap:
        design = self._design.single_precision
        kind = design.X.dtype
        weights = self._weights.astype(kind)
        return lambda v: design.through(v.astype(kind), lambda z, rows: z * weights[rows])


def _loss_sum(z: np.ndarray, small: np.ndarray, weights: np.ndarray | None) -> float:
    # log(1 + exp(−z)) = log(1 + exp(−|z|)) − min(z, 0), which never overflows.
    if weights is None:
        return float(np.log1p(small).sum() - np.minimum(z, 0.0).sum())
    return float(weights @ np.log1p(small) - weights @ np.minimum(z, 0.0))


def build_logistic(
    X: Any, y: Any, fit_intercept: bool = True, weights: np.ndarray | None = None
) -> LogisticLoss:
    """The loss of a matrix and labels of two classes; UnusableError where they are not two."""
    classes, codes = two_or_more(y, exactly_two=True)
    return LogisticLoss(design_of(X, fit_intercept), codes, classes, weights)


class MultinomialLoss(LabelledLoss):
    """Σ log Σ_k exp(w_kᵀx) − w_yᵀx over the examples, whose classes are codes 0 … K − 1."""

    def _prepare(self) -> None:
        design, self.K = self.design, len(self.classes)
        K, q = self.K, design.width
        self.size, self.rows = K * q, np.arange(len(self.codes))
        # Of K²/2 weighted Gram matrices, and of 2 K products with the examples.
        dense = 0.5 * design.row_count * self.size * (self.size + q)
        self.hessian_costs = HessianCosts(dense, 2.0 * K * design.entries)
        if design.intercept:
            self.gauge_indices = np.arange(q - 1, self.size, q)  # the intercepts

    @property
    def score_size(self) -> int:
        return self.design.width

    def initial_weights(self) -> np.ndarray:
        W = np.zeros((self.K, self.design.width))
        if self.design.intercept:
            counts = np.bincount(self.codes, self.weights, minlength=self.K)
            # Half a row more, as for two classes; the mean goes, for it changes no probability.
            shares = np.log(counts + 0.5)
            W[:, -1] = shares - shares.mean()
        return W.ravel()

    def _point_at(self, w: np.ndarray) -> MultinomialAt:
        return MultinomialAt(self, w)


class MultinomialAt(LabelledAt):
    """The loss at w, with the probabilities P."""

    def __init__(self, loss: MultinomialLoss, w: np.ndarray) -> None:
        self._loss, self._design, self._s = loss, loss.design, loss.weights
        self._P = P = np.empty((loss.K, loss.design.row_count))
        values = []

        def residuals(Z: np.ndarray, rows: slice) -> np.ndarray:
            codes, s = loss.codes[rows], None if self._s is None else self._s[rows]
            # Scores that differ alike for all classes change nothing; exp cannot overflow then.
            Z -= Z.max(axis=0)
            true_scores = Z[codes, loss.rows[: len(codes)]]
            np.exp(Z, out=Z)
            total = Z.sum(axis=0)
            logs = np.log(total) - true_scores
            values.append(float(logs.sum() if s is None else s @ logs))
            Z /= total
            P[:, rows] = Z
            Z[codes, loss.rows[: len(codes)]] -= 1.0
            return Z if s is None else Z * s

        gradient = loss.design.through(w.reshape(loss.K, -1), residuals)
        # fsum: the blocks of rows must not show in the last digits of the value.
        super().__init__(w, math.fsum(values), gradient.ravel())

    def _counted(self, of_rows: np.ndarray) -> np.ndarray:
        # Without a multiplication where nothing is weighted.
        return of_rows if self._s is None else of_rows * self._s

    def product(self, v: np.ndarray) -> np.ndarray:
        return _product(self._design, self._P, self._s, v)

    def _form_hessian(self, design: DesignMatrix, step: int) -> np.ndarray:
        P, K, q = self._P, self._loss.K, design.width
        H = np.zeros((K, q, K, q))
        for k in range(K):
            # The sum over classes of a block row vanishes, so that every block off the diagonal
            # is minus a Gram matrix and the diagonal is what balances them.
            for j in range(k):
                block = design.weighted_gram(self._counted(P[k] * P[j]), step)
                H[k, :, j] = H[j, :, k] = -block
                H[k, :, k] += block
                H[j, :, j] += block
        return H.reshape(K * q, K * q)

    def _curvatures(self) -> np.ndarray:
        return self._counted(self._P * (1.0 - self._P))

    def rough_product(self) -> LinearMap:
        design = self._design.single_precision
        P = self._P.astype(design.X.dtype)
        s = None if self._s is None else self._s.astype(P.dtype)
        return lambda v: _product(design, P, s, v.astype(P.dtype))

    def sampled_curvature(self, step: int) -> KroneckerCurvature:
        P, weights = self._P[:, ::step], self._counted(self._P)[:, ::step]
        S = np.diag(weights.sum(axis=1)) - P @ weights.T
        traces = self._counted((self._P * (1.0 - self._P)).sum(axis=0))
        gram = self._design.single_precision.weighted_gram(traces, step)
        S /= max(float(np.trace(S)), np.finfo(float).tiny)  # 0 where all is certain
        return KroneckerCurvature(S, gram, self._loss.examples / self._loss.K)


def _product(A: DesignMatrix, P: np.ndarray, s: np.ndarray | None, v: np.ndarray) -> np.ndarray:
    def weight_scores(T: np.ndarray, rows: slice) -> np.ndarray:
        # The scores of all classes and directions (r, K q) lie side by side.
        share = P[:, rows]
        products = T.reshape(-1, *share.shape)
        products *= share
        products -= share * products.sum(axis=1, keepdims=True)
        if s is not None:
            products *= s[rows]
        return T

    return A.through(v.reshape(-1, A.width), weight_scores).reshape(v.shape)


def build_multinomial(
    X: Any, y: Any, fit_intercept: bool = True, weights: np.ndarray | None = None
) -> MultinomialLoss:
    """The loss of a matrix and labels; UnusableError where the labels are all the same."""
    classes, codes = two_or_more(y)
    return MultinomialLoss(design_of(X, fit_intercept), codes, classes, weights)
