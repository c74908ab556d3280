"""Linear regression with the noise variance integrated out: (m/2) log ½‖y − Xw‖².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| X, y | | (m, p), (m,) | examples, centred in the formulas; the mean is separate |
| w | ``w`` | (q,) | coefficients, then the intercept if there is one |
| G, b | ``G``, ``b`` | (p, p), (p,) | XᵀX and Xᵀy of centred X and y |
| r | | (m,) | residuals y − Xw − intercept |
| R | ``rss`` | | Σ r² |
| F | ``floor`` | | m times the smallest noise variance that is allowed |
| s | ``weights`` | (m,) | how many times an example counts; None for once |

loss = φ(R) with φ(R) = (m/2) log(R/2) for R ≥ F, and its tangent at F below: where m ≤ n the
residuals can vanish, and the logarithm would have no lower bound. φ is concave, so that
(φ'(R_t)) R majorizes it up to a constant: with σ² = max(R, F)/m each step of a penalty learner is a
ridge regression with penalties σ² C_j (Foo 2009, section 4, "Linear regression"). With weights all
sums over examples are weighted, and m is Σ s.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from core.losses.linear.design import DesignMatrix, design_of, total_weight
from core.optimize.loss import Correction, HessianCosts, Loss, LossPoint

# The noise variance is kept above these fractions of var(y): the first where the parameters are
# as many as the examples and the residuals can vanish, the second only against rounding.
WIDE_FLOOR = 1e-3
TALL_FLOOR = 1e-9
# Under the target's variance where it is constant; its reciprocal is finite.
_TINIEST = 1e-280
# A Gram matrix larger than this is not formed.
_LARGEST_GRAM = 2000


@dataclass(frozen=True)
class ResidualLoss:
    """φ and its derivatives: the loss as a function of the residual sum of squares R."""

    examples: float
    floor: float

    def value_at(self, rss: float) -> float:
        """φ(R)."""
        half_count, floored = 0.5 * self.examples, max(rss, self.floor)
        # Below the floor the loss goes on as its tangent there.
        excess = min(0.0, (rss - floored) / floored)
        return half_count * math.log(0.5 * floored) + half_count * excess

    def slope_at(self, rss: float) -> float:
        """φ'(R) = m / (2 max(R, F))."""
        return 0.5 * self.examples / max(rss, self.floor)

    def curvature_at(self, rss: float) -> float:
        """φ''(R), 0 below the floor."""
        return -0.5 * self.examples / rss**2 if rss > self.floor else 0.0


@dataclass(frozen=True)
class NormalNoise:
    """The same of noise of a given variance σ²: ½ R/σ² + (m/2) log σ²."""

    examples: float
    variance: float

    def value_at(self, rss: float) -> float:
        return 0.5 * rss / self.variance + 0.5 * self.examples * math.log(self.variance)

    def slope_at(self, rss: float) -> float:
        return 0.5 / self.variance

    def curvature_at(self, rss: float) -> float:
        return 0.0


Noise = ResidualLoss | NormalNoise


class LeastSquaresLoss(Loss):
    """A loss of R alone."""

    noise: ResidualLoss
    total: float  # R where nothing is explained

    @abstractmethod
    def rss_and_slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """R(w), and −½ of its gradient, shape (n,)."""

    @abstractmethod
    def point_with(self, w: np.ndarray, noise: Noise) -> ResidualPoint:
        """The evaluation at w with another function of R."""

    def _point_at(self, w: np.ndarray) -> ResidualPoint:
        return self.point_with(w, self.noise)

    def noise_variance(self, w: np.ndarray) -> float:
        """σ² = max(R, F)/m: the ridge penalties are σ² C_j."""
        return max(self.rss_and_slope(w)[0], self.noise.floor) / self.examples

    def explained_share(self, w: np.ndarray) -> float:
        return 1.0 - self.rss_and_slope(w)[0] / max(self.total, np.finfo(float).tiny)

    def is_at_floor(self, w: np.ndarray) -> bool:
        return self.rss_and_slope(w)[0] <= self.noise.floor


class LinearLoss(LeastSquaresLoss):
    """(m/2) log ½‖y − Xw − intercept‖² with a floor under the noise variance.

    ``floor_share`` is the fraction of var(y) that σ² is kept above; None for the usual one.
    """

    classes: np.ndarray | None = None
    takes_several = True

    def __init__(
        self,
        design: DesignMatrix,
        y: np.ndarray,
        floor_share: float | None = None,
        weights: np.ndarray | None = None,
    ) -> None:
        self.design, self.y, self.weights = design, y, weights
        self.examples, self.size = total_weight(design.row_count, weights), design.width
        self.has_intercept = design.intercept
        # Everything is computed from G and b, formed once, where they are not too large.
        self.has_gram = design.column_count <= _LARGEST_GRAM
        square = float(self.size) ** 2  # a dense Hessian is no more than a copy once G is there
        product = square if self.has_gram else 2.0 * design.entries
        self.hessian_costs = HessianCosts(square, product)
        self.y_mean = float(y.mean() if weights is None else weights @ y / self.examples)
        self.y_mean *= float(design.intercept)
        centred = y - self.y_mean
        counted = self._counted(centred)
        self.total = float(centred @ counted)
        sums, self._b = design.column_sums(weights, counted)
        self.means = sums * (float(design.intercept) / (self.examples or 1))
        if floor_share is None:
            floor_share = WIDE_FLOOR if self.examples <= design.width else TALL_FLOOR
        self.floor_share = floor_share
        self.noise = ResidualLoss(self.examples, max(floor_share * self.total, _TINIEST))
        self._gram: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def row_weights(self) -> np.ndarray:
        """How many times every row counts, shape (rows,)."""
        return np.ones(self.design.row_count) if self.weights is None else self.weights

    def _counted(self, of_rows: np.ndarray) -> np.ndarray:
        # Without a multiplication where nothing is weighted.
        return of_rows if self.weights is None else of_rows * self.weights

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Dense rows and targets less their means, times √s: their products are G and b."""
        X = self.design.X.toarray() if self.design.is_sparse else self.design.X
        X, y = X - self.means, self.y - self.y_mean
        if self.weights is None:
            return X, y
        roots = np.sqrt(self.weights)
        return X * roots[:, None], y * roots

    def initial_weights(self) -> np.ndarray:
        w = np.zeros(self.size)
        if self.design.intercept:
            w[-1] = self.y_mean
        return w

    def normal_equations(self) -> tuple[np.ndarray, np.ndarray]:
        """G (p, p) and b (p,) of the centred columns, formed at the first call."""
        if self._gram is None:
            self._gram = self._form_gram()
        return self._gram

    def rss_and_slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        p = self.design.column_count
        if not self.has_gram:
            r = self.y - self.design.scores(w)
            counted = self._counted(r)
            return float(r @ counted), self.design.transpose_product(counted)
        G, b = self.normal_equations()
        inner = b - G @ w[:p]
        # ‖y − Xw‖² = ‖y‖² − (b + (b − G w))ᵀ w, without the examples.
        rss = max(self.total - float((b + inner) @ w[:p]), 0.0)
        if not self.design.intercept:
            return rss, inner
        # Centred columns and the intercept are orthogonal: what is off is the mean residual.
        off = self.y_mean - float(self.means @ w[:p]) - float(w[p])
        slope = np.empty(p + 1)
        slope[:p] = inner + self.examples * off * self.means
        slope[p] = self.examples * off
        return rss + self.examples * off**2, slope

    def point_with(self, w: np.ndarray, noise: Noise) -> LinearAt:
        return LinearAt(self, w, noise)

    def gram_matrix(self) -> np.ndarray | None:
        """AᵀA, shape (q, q), or None above 2,000 columns."""
        if not self.has_gram:
            return None
        G, _ = self.normal_equations()
        p, m = self.design.column_count, self.examples
        square = np.empty((self.size, self.size))
        # G is of centred columns: what the means add comes back.
        np.multiply.outer(m * self.means, self.means, out=square[:p, :p])
        square[:p, :p] += G
        if self.design.intercept:
            square[p, :p] = square[:p, p] = m * self.means
            square[p, p] = m
        return square

    def column_squares(self) -> np.ndarray:
        """The sums of the squares of the centred columns, 0 for the intercept, shape (q,)."""
        p, squares = self.design.column_count, np.zeros(self.size)
        if self.has_gram:
            squares[:p] = np.diagonal(self.normal_equations()[0])
        else:
            squares[:p] = self.design.squares(self.row_weights)[:p] - self.examples * self.means**2
        return squares

    def square_diagonal(self) -> np.ndarray:
        """The diagonal of AᵀA, shape (q,)."""
        ones = np.ones(self.size - self.design.column_count)
        return self.column_squares() + self.examples * np.append(self.means**2, ones)

    def square_product(self, v: np.ndarray) -> np.ndarray:
        """AᵀA v, for v (q,) or each row of (r, q)."""
        if not self.has_gram:
            scores = self._counted(self.design.scores(np.atleast_2d(v)))
            return self.design.transpose_product(scores).reshape(v.shape)
        p, (G, _) = self.design.column_count, self.normal_equations()
        out = np.empty_like(v)
        off = v[..., :p] @ self.means
        if self.design.intercept:
            off = off + v[..., p]
            out[..., p] = self.examples * off
        out[..., :p] = v[..., :p] @ G + self.examples * np.multiply.outer(off, self.means)
        return out

    def noise_variance_of(self, value: float) -> float:
        """The σ² of `noise_variance` where the loss has a value."""
        rss = 2.0 * math.exp(2.0 * value / self.examples)
        return max(rss, self.noise.floor) / self.examples

    def reweighted(self, factor: float) -> LinearLoss:
        return LinearLoss(self.design, self.y, weights=factor * self.row_weights)

    def for_data(self, X: Any, y: Any, weights: np.ndarray | None = None) -> LinearLoss:
        """The same columns, on other rows."""
        y = np.asarray(y, dtype=np.float64)
        return LinearLoss(self.design.for_matrix(X), y, self.floor_share, weights)

    def subset(self, rows: np.ndarray) -> LinearLoss:
        """The loss of the examples of a boolean mask, or of indices."""
        weights = None if self.weights is None else self.weights[rows]
        return LinearLoss(self.design.subset(rows), self.y[rows], self.floor_share, weights)

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef_ (n_features,) and intercept_ () as scikit-learn has them."""
        intercept = w[-1] if self.design.intercept else 0.0
        return self.design.to_all_columns(w), np.asarray(float(intercept))

    def intercept_at(self, coef: np.ndarray) -> float:
        """The best intercept beside coefficients, shape (p,)."""
        return self.y_mean - float(self.means @ coef)

    def _form_gram(self) -> tuple[np.ndarray, np.ndarray]:
        X, m = self.design.X, self.examples
        raw = X.T @ (X if self.weights is None else _scale_rows(X, self.weights))
        raw = raw.toarray() if self.design.is_sparse else raw
        variances = np.diagonal(raw) - m * self.means**2
        if (m * self.means**2 > 1e8 * variances).any() and not self.design.is_sparse:
            X, y = self.centred()  # the difference below would lose half of the digits
            return X.T @ X, X.T @ y
        # In place: a second matrix would take a tenth of the time of the product.
        return blas.dger(-m, self.means, self.means, a=raw.T, overwrite_a=1).T, self._b


class ResidualPoint(LossPoint):
    """φ(R) at w: H = B − d s sᵀ with s = −½ of R's gradient and d = −4 φ''(R)."""

    def __init__(self, w: np.ndarray, noise: Noise, rss: float, slope: np.ndarray) -> None:
        self._slope = slope
        self._weight, self._excess = 2.0 * noise.slope_at(rss), -4.0 * noise.curvature_at(rss)
        super().__init__(w, noise.value_at(rss), -self._weight * slope)

    def product(self, v: np.ndarray) -> np.ndarray:
        product = self.majorizer_product(v)
        if not self._excess:
            return product
        return product - self._excess * np.multiply.outer(v @ self._slope, self._slope)

    def dense_hessian(self) -> np.ndarray | None:
        B = self.majorizer_dense()
        if B is None or not self._excess:
            return B
        return B - self._excess * np.outer(self._slope, self._slope)

    def correction(self) -> Correction | None:
        """The rank-one term of H = B − d s sᵀ; None below the noise floor, where d is 0."""
        d = self._excess
        return Correction(self._slope[:, None], np.array([d])) if d > 0.0 else None


class LinearAt(ResidualPoint):
    """The loss at w: B = AᵀA/σ², s = Aᵀ r."""

    def __init__(self, loss: LinearLoss, w: np.ndarray, noise: Noise) -> None:
        self._loss = loss
        super().__init__(w, noise, *loss.rss_and_slope(w))

    def diagonal(self) -> np.ndarray:
        return self._weight * self._loss.square_diagonal()

    def majorizer_product(self, v: np.ndarray) -> np.ndarray:
        return self._weight * self._loss.square_product(v)

    def majorizer_dense(self) -> np.ndarray | None:
        """B, or None above 2,000 columns."""
        square = self._loss.gram_matrix()
        if square is not None:
            square *= self._weight
        return square


def _scale_rows(X: Any, weights: np.ndarray) -> Any:
    return X.multiply(weights[:, None]).tocsr() if sparse.issparse(X) else X * weights[:, None]


def build_linear(
    X: Any, y: Any, fit_intercept: bool = True, weights: np.ndarray | None = None
) -> LinearLoss:
    """The loss of a matrix and a numeric target, each row counted as its weight says."""
    y = np.asarray(y, dtype=np.float64)
    return LinearLoss(design_of(X, fit_intercept), y, weights=weights)
