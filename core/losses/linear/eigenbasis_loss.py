"""A linear loss in the eigenbasis of XᵀX: one decomposition serves every step of one penalty.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| λ, V | ``values``, ``V`` | (r,), (p, r) | eigenvalues and eigenvectors of centred XᵀX |
| v | ``w`` | (r,) | Vᵀ w |
| c | ``projected`` | (r,) | Vᵀ Xᵀ y / √λ |
| ‖y‖² − ‖c‖² | ``min_rss`` | | what no weights explain |
| R | | | Σ (c − √λ v)² + ‖y‖² − ‖c‖², the residual sum of squares |

Where the examples are fewer than the columns the decomposition is that of X Xᵀ.

`FixedNoise` holds the noise variance σ² of a linear loss in either basis: the Gaussian −log p,
½ R/σ² + (m/2) log σ².
"""

from __future__ import annotations

import math

import numpy as np

from core.losses.linear.linear_loss import (
    LeastSquaresLoss,
    LinearLoss,
    Noise,
    NormalNoise,
    ResidualPoint,
)
from core.optimize.loss import HessianCosts, Loss, LossPoint


class EigenbasisLoss(LeastSquaresLoss):
    """A LinearLoss in coordinates v = Vᵀw, where XᵀX is diag(λ); the intercept is always the best.

    ‖v‖ = ‖w‖ for w in the span of the examples, where every minimizer with one penalty lies.
    """

    is_diagonal = True

    def __init__(self, linear_loss: LinearLoss) -> None:
        self.linear_loss = linear_loss
        self.values, self._V, projected = _decomposed(linear_loss)
        self.total = linear_loss.total
        self._roots = np.sqrt(self.values)
        self.projected = projected / self._roots
        # Rounding may leave a model that explains everything below zero.
        self.min_rss = max(self.total - float(self.projected @ self.projected), 0.0)
        self.noise, self.floor_share = linear_loss.noise, linear_loss.floor_share
        self.examples, self.size = linear_loss.examples, len(self.values)
        self.hessian_costs = HessianCosts(float(self.size) ** 2, float(self.size))
        self.has_intercept = linear_loss.design.intercept

    def rss_and_slope(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """R(v), and −½ of its gradient, shape (r,)."""
        residual = self.projected - self._roots * v
        return self.min_rss + float(residual @ residual), self._roots * residual

    def point_with(self, w: np.ndarray, noise: Noise) -> EigenbasisAt:
        return EigenbasisAt(self, w, noise)

    def coefficients_of(self, v: np.ndarray) -> np.ndarray:
        """The parameters of the linear loss, the best intercept last."""
        coef = self._V @ v
        if not self.has_intercept:
            return coef
        return np.append(coef, self.linear_loss.intercept_at(coef))


class EigenbasisAt(ResidualPoint):
    """The loss at v, where B = diag(λ/σ²)."""

    def __init__(self, loss: EigenbasisLoss, w: np.ndarray, noise: Noise) -> None:
        super().__init__(w, noise, *loss.rss_and_slope(w))
        self._diagonal = self._weight * loss.values

    def diagonal(self) -> np.ndarray:
        return self._diagonal

    def majorizer_product(self, v: np.ndarray) -> np.ndarray:
        return self._diagonal * v

    def majorizer_dense(self) -> np.ndarray:
        return np.diag(self._diagonal)

    def majorizer_diagonal(self) -> np.ndarray:
        return self._diagonal


def _above_rounding(values: np.ndarray) -> np.ndarray:
    return values > 1e-13 * max(float(values[-1]), np.finfo(float).tiny)


def _decomposed(loss: LinearLoss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues (r,) of G above rounding, their vectors (p, r), and Vᵀ b (r,)."""
    # The smaller of XᵀX and X Xᵀ; sparse rows less their means would be dense.
    if loss.design.row_count >= loss.design.column_count or loss.design.is_sparse:
        G, b = loss.normal_equations()
        values, V = np.linalg.eigh(G)
        sound = _above_rounding(values)
        V = V[:, sound]
        return values[sound], V, V.T @ b
    X, y = loss.centred()
    values, U = np.linalg.eigh(X @ X.T)
    sound = _above_rounding(values)
    values, U = values[sound], U[:, sound]
    roots = np.sqrt(values)
    return values, (X.T @ U) / roots, roots * (U.T @ y)


class FixedNoise(Loss):
    """The loss ½ R(w)/σ² + (m/2) log σ², R from a linear loss."""

    def __init__(self, linear: LinearLoss | EigenbasisLoss, variance: float) -> None:
        self.linear, self.variance = linear, variance
        self.is_diagonal, self.hessian_costs = linear.is_diagonal, linear.hessian_costs
        self.examples, self.size = linear.examples, linear.size
        self.min_variance = linear.noise.floor / linear.examples

    @property
    def log_determinant_apart(self) -> float:
        """Log (m/σ²) of the intercept, where it has no coordinate of its own."""
        apart = isinstance(self.linear, EigenbasisLoss) and self.linear.has_intercept
        return math.log(self.examples / self.variance) if apart else 0.0

    def initial_weights(self) -> np.ndarray:
        return self.linear.initial_weights()

    def _point_at(self, w: np.ndarray) -> LossPoint:
        return self.linear.point_with(w, NormalNoise(self.examples, self.variance))
