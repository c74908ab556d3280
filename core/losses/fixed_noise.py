"""A linear loss with its noise variance held: ½ R/σ² + (m/2) log σ², the Gaussian −log p.

| symbol | code | meaning |
| --- | --- | --- |
| R | | residual sum of squares of the linear loss |
| σ² | ``variance`` | the noise variance |
"""

from __future__ import annotations

import math

import numpy as np

from core.losses.linear import LinearLoss
from core.losses.rotated import RotatedLinear


class FixedNoise:
    """½ R(w)/σ² + (m/2) log σ².

    Args:
        linear: where R comes from.
        variance: σ².
    """

    def __init__(self, linear: LinearLoss | RotatedLinear, variance: float) -> None:
        self.linear, self.variance = linear, variance
        if isinstance(linear, RotatedLinear):
            diagonal = linear.values / variance
            self.majorizer_diagonal = lambda w: diagonal

    @property
    def examples(self) -> int:
        """How many examples there are (m)."""
        return self.linear.examples

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.linear.size

    @property
    def lowest(self) -> float:
        """The floor under σ²."""
        return self.linear.noise.floor / self.examples

    @property
    def log_determinant_apart(self) -> float:
        """Log |H| of an intercept that has no coordinate of its own, being always the best."""
        turned = isinstance(self.linear, RotatedLinear) and self.linear.has_intercept
        return math.log(self.examples / self.variance) if turned else 0.0

    @property
    def dense_cost(self) -> float:
        """Multiplications of one dense Hessian."""
        return self.linear.dense_cost

    @property
    def product_cost(self) -> float:
        """Multiplications of one Hessian product."""
        return self.linear.product_cost

    def start(self) -> np.ndarray:
        """The linear loss's start."""
        return self.linear.start()

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient at w."""
        rss, slope = self.linear.rss_and_slope(w)
        value = 0.5 * rss / self.variance + 0.5 * self.examples * math.log(self.variance)
        return value, -slope / self.variance

    def hessian_product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """AᵀA v / σ², for v (n,) or rows (r, n)."""
        if isinstance(self.linear, RotatedLinear):
            return self.linear.values * v / self.variance
        return self.linear.square_product(v) / self.variance

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """AᵀA / σ², or None where it is too large to be formed."""
        if isinstance(self.linear, RotatedLinear):
            return np.diag(self.linear.values / self.variance)
        H = self.linear.square()
        return None if H is None else H / self.variance

    def hessian_diagonal(self, w: np.ndarray) -> np.ndarray:
        """The diagonal of the Hessian."""
        if isinstance(self.linear, RotatedLinear):
            return self.linear.values / self.variance
        return self.linear.design.squares(np.ones(self.examples)) / self.variance
