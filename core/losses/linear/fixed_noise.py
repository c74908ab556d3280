"""A linear loss with its noise variance held: ½ R/σ² + (m/2) log σ², the Gaussian −log p.

| symbol | code | meaning |
| --- | --- | --- |
| R | | residual sum of squares of the linear loss |
| σ² | ``variance`` | the noise variance |
"""

from __future__ import annotations

import math

import numpy as np

from core.losses.linear.eigenbasis_loss import EigenbasisLoss
from core.losses.linear.linear_loss import LinearLoss
from core.optimize.loss import Loss, LossPoint


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
        """The linear loss's start."""
        return self.linear.initial_weights()

    def _point_at(self, w: np.ndarray) -> LossPoint:
        if isinstance(self.linear, EigenbasisLoss):
            return _EigenbasisAt(self.linear, self.variance, w)
        return _LinearAt(self.linear, self.variance, w)


class _QuadraticAt(LossPoint):
    """The value and gradient in both kinds of coordinates; H = AᵀA/σ² is its own majorizer."""

    def __init__(self, linear: LinearLoss | EigenbasisLoss, variance: float, w: np.ndarray) -> None:
        rss, slope = linear.rss_and_slope(w)
        value = 0.5 * rss / variance + 0.5 * linear.examples * math.log(variance)
        super().__init__(w, value, -slope / variance)
        self._variance = variance


class _LinearAt(_QuadraticAt):
    """In the loss's own coordinates."""

    def __init__(self, linear: LinearLoss, variance: float, w: np.ndarray) -> None:
        super().__init__(linear, variance, w)
        self._linear = linear

    def product(self, v: np.ndarray) -> np.ndarray:
        """H v."""
        return self._linear.square_product(v) / self._variance

    def dense_hessian(self) -> np.ndarray | None:
        """H, or None where it is too large to be formed."""
        H = self._linear.gram_matrix()
        return None if H is None else H / self._variance

    def diagonal(self) -> np.ndarray:
        """The diagonal of H."""
        return self._linear.design.squares(self._linear.row_weights) / self._variance


class _EigenbasisAt(_QuadraticAt):
    """In the eigenbasis of XᵀX, where H is diag(λ/σ²)."""

    def __init__(self, linear: EigenbasisLoss, variance: float, w: np.ndarray) -> None:
        super().__init__(linear, variance, w)
        self._diagonal = linear.values / variance

    def product(self, v: np.ndarray) -> np.ndarray:
        """H v."""
        return self._diagonal * v

    def dense_hessian(self) -> np.ndarray:
        """H, shape (r, r)."""
        return np.diag(self._diagonal)

    def diagonal(self) -> np.ndarray:
        """The diagonal of H."""
        return self._diagonal

    def majorizer_diagonal(self) -> np.ndarray:
        """The diagonal of H, which has nothing else."""
        return self._diagonal
