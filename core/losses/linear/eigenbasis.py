"""A linear loss in the eigenbasis of XᵀX: one decomposition serves every step of one penalty.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| λ, V | ``values``, ``V`` | (r,), (p, r) | eigenvalues and eigenvectors of centred XᵀX |
| v | ``w`` | (r,) | Vᵀ w |
| c | ``projected`` | (r,) | Vᵀ Xᵀ y / √λ |
| ‖y‖² − ‖c‖² | ``rest`` | | what no weights explain |
| R | | | Σ (c − √λ v)² + ‖y‖² − ‖c‖², the residual sum of squares |

Where the examples are fewer than the columns the decomposition is that of X Xᵀ.
"""

from __future__ import annotations

import numpy as np

from core.losses.linear.linear import LinearLoss, rank_one
from core.optimize.loss import Correction, Costs, Loss, LossAt


def in_eigenbasis(loss: LinearLoss) -> EigenbasisLoss:
    """The same loss in the eigenbasis of XᵀX, where its majorizer is diagonal."""
    return EigenbasisLoss(loss, *_decomposed(loss))


class EigenbasisLoss(Loss):
    """A LinearLoss in coordinates v = Vᵀw, where XᵀX is diag(λ); the intercept is always the best.

    R(v) = rest + Σ (c − √λ v)², c = Vᵀb/√λ, rest = ‖y‖² − ‖c‖²; ‖v‖ = ‖w‖ for w in the span of the
    examples, where every minimizer with one penalty for all coefficients lies.

    Args:
        whole: the loss in its own coordinates.
        values: λ, shape (r,).
        V: (p, r) with orthonormal columns.
        projected: Vᵀ b, shape (r,).
    """

    is_diagonal = True

    def __init__(
        self, whole: LinearLoss, values: np.ndarray, V: np.ndarray, projected: np.ndarray
    ) -> None:
        self.whole, self.values, self._V = whole, values, V
        self._roots = np.sqrt(values)
        self.projected = projected / self._roots
        self.rest = max(whole.total - float(self.projected @ self.projected), 0.0)
        self.noise, self.floor_share = whole.noise, whole.floor_share

    @property
    def examples(self) -> float:
        """How many examples count (m)."""
        return self.whole.examples

    @property
    def size(self) -> int:
        """How many eigenvalues are above rounding (r)."""
        return len(self.values)

    @property
    def costs(self) -> Costs:
        """A product is one multiplication a coordinate."""
        return Costs(float(self.size) ** 2, float(self.size))

    def start(self) -> np.ndarray:
        """Zeros."""
        return np.zeros(self.size)

    def rss_and_slope(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """R(v), and −½ of its gradient, shape (r,)."""
        residual = self.projected - self._roots * v
        return self.rest + float(residual @ residual), self._roots * residual

    def _at(self, w: np.ndarray) -> EigenbasisAt:
        return EigenbasisAt(self, w)

    @property
    def has_intercept(self) -> bool:
        """Whether an intercept stands beside the coefficients."""
        return self.whole.design.intercept

    def noise_variance(self, w: np.ndarray) -> float:
        """σ² = max(R, F)/m."""
        return max(self.rss_and_slope(w)[0], self.noise.floor) / self.examples

    def explained(self, w: np.ndarray) -> float:
        """The share of the target's variance that is explained, 1 − R/‖y − ȳ‖²."""
        return 1.0 - self.rss_and_slope(w)[0] / max(self.whole.total, np.finfo(float).tiny)

    def at_floor(self, w: np.ndarray) -> bool:
        """Whether the noise variance is held up by its floor."""
        return self.rss_and_slope(w)[0] <= self.noise.floor

    def coefficients_of(self, v: np.ndarray) -> np.ndarray:
        """The parameters of the whole loss, the best intercept last."""
        coef = self._V @ v
        if not self.whole.design.intercept:
            return coef
        return np.append(coef, self.whole.intercept_at(coef))


class EigenbasisAt(LossAt):
    """The loss at v: B = diag(λ/σ²), H = B − d s sᵀ with s = −½ of R's gradient."""

    def __init__(self, loss: EigenbasisLoss, w: np.ndarray) -> None:
        noise = loss.noise
        rss, self._slope = loss.rss_and_slope(w)
        super().__init__(w, noise.value(rss))
        self._weight, self._excess = 2.0 * noise.slope(rss), -4.0 * noise.curvature(rss)
        self._diagonal = self._weight * loss.values

    @property
    def gradient(self) -> np.ndarray:
        """The gradient."""
        return -self._weight * self._slope

    def product(self, v: np.ndarray) -> np.ndarray:
        """H v."""
        excess = self._excess * np.multiply.outer(v @ self._slope, self._slope)
        return self._diagonal * v - excess

    def dense(self) -> np.ndarray:
        """H, shape (r, r)."""
        return np.diag(self._diagonal) - self._excess * np.outer(self._slope, self._slope)

    def diagonal(self) -> np.ndarray:
        """The diagonal λ/σ² of B."""
        return self._diagonal

    def majorizer_product(self, v: np.ndarray) -> np.ndarray:
        """B v."""
        return self._diagonal * v

    def majorizer_dense(self) -> np.ndarray:
        """B, shape (r, r)."""
        return np.diag(self._diagonal)

    def majorizer_diagonal(self) -> np.ndarray:
        """The diagonal λ/σ² of B, which has nothing else."""
        return self._diagonal

    def correction(self) -> Correction | None:
        """The rank-one part of H = B − d s sᵀ; None below the noise floor, where d is 0."""
        return rank_one(self._slope, self._excess)


def _decomposed(whole: LinearLoss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues (r,) of G above rounding, their vectors (p, r), and Vᵀ b (r,)."""
    if whole.design.rows >= whole.design.columns or whole.design.is_sparse:
        G, b = whole.gram()
        values, V = np.linalg.eigh(G)
        sound = values > 1e-13 * max(float(values[-1]), np.finfo(float).tiny)
        V = V[:, sound]
        return values[sound], V, V.T @ b
    X, y = whole.centred()
    values, U = np.linalg.eigh(X @ X.T)
    sound = values > 1e-13 * max(float(values[-1]), np.finfo(float).tiny)
    values, U = values[sound], U[:, sound]
    roots = np.sqrt(values)
    return values, (X.T @ U) / roots, roots * (U.T @ y)
