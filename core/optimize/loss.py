"""What every loss gives to a penalty learner: its sizes, and value and derivatives at w.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m | ``examples`` | | training examples |
| n | ``size`` | | parameters, unpenalized ones (the intercepts) included |
| w | ``w`` | (n,) | parameters |
| v | ``v`` | (n,) | a direction |
| H | ``product``, ``dense_hessian`` | (n, n) | the exact Hessian at w |
| B | ``majorizer_…`` | (n, n) | the Hessian of a quadratic above the loss that touches it at w |
| U, D | ``correction`` | (n, r), (r,) | H = B − U diag(D) Uᵀ |
| π(i) | ``groups`` | (n,) int | the group of parameter i; −1 for an unpenalized one |
| C | ``C`` | (k,) | penalties, one a group |
| c | ``penalties`` | (n,) | C_π(i), 0 for an unpenalized parameter |

B is definite where a concave part (the logarithm of a noise variance) makes H indefinite; for
convex losses the two are the same. Derivatives of a minimizer need H.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.awake_timer import check_time

if TYPE_CHECKING:  # it brings SciPy, and the window shows the learners' options without that
    from core.optimize.kronecker import KroneckerCurvature

LinearMap = Callable[[np.ndarray], np.ndarray]  # v -> a matrix times v


@dataclass(frozen=True)
class HessianCosts:
    """Multiplications of one dense Hessian, and of one product with it."""

    dense: float
    product: float


@dataclass(frozen=True)
class Correction:
    """U (n, r) and D (r,) of the curvature U diag(D) Uᵀ that a majorizer has too much."""

    U: np.ndarray
    D: np.ndarray


class LossPoint(ABC):
    """A loss at one w: its value, gradient (n,) and curvature; what it cannot give is None."""

    def __init__(self, w: np.ndarray, value: float, gradient: np.ndarray) -> None:
        self.w, self.value, self.gradient = w, value, gradient

    @abstractmethod
    def product(self, v: np.ndarray) -> np.ndarray:
        """H v, exact, shape (n,); the losses of tables take several v as rows, (r, n)."""

    @abstractmethod
    def dense_hessian(self) -> np.ndarray | None:
        """H, exact, shape (n, n); None where it is too large to be formed."""

    def diagonal(self) -> np.ndarray | None:
        """The diagonal of B, or a positive estimate of it, shape (n,), for preconditioners."""
        return None

    def majorizer_product(self, v: np.ndarray) -> np.ndarray:
        """B v, for shapes as in `product`."""
        return self.product(v)

    def majorizer_dense(self) -> np.ndarray | None:
        """B, shape (n, n); None where it is too large to be formed."""
        return self.dense_hessian()

    def majorizer_diagonal(self) -> np.ndarray | None:
        """The diagonal of a B that has nothing else, shape (n,); None for other losses."""
        return None

    def rough_product(self) -> LinearMap:
        """The product with B in single precision where that is faster, for steps and probes."""
        return self.majorizer_product

    def correction(self) -> Correction | None:
        """What H lacks beside B, D > 0; None where H is B."""
        return None

    def sampled_curvature(self, step: int) -> KroneckerCurvature | None:
        """What is near H from every ``step``-th example, of a loss with several scores."""
        return None

    def sampled_hessian(self, step: int) -> np.ndarray | None:
        """H from every ``step``-th example, (n, n)."""
        return None


class Loss(ABC):
    """A sum over examples of −log p(example | w), twice differentiable in w."""

    examples: float  # m; where the examples have weights, the sum of these
    size: int  # n
    hessian_costs: HessianCosts | None = None  # None where they are not known
    gauge_indices: np.ndarray | None = None  # unpenalized, a common shift of them changes nothing
    far_from_quadratic: bool = False  # Newton steps are mostly cut short, no diagonal is near H
    is_diagonal: bool = False  # whether B is at every w
    takes_several: bool = False  # whether products take several v as rows, (r, n)
    floor_share: float = 0.0  # of the target's variance, which a noise variance is kept above
    _last: LossPoint | None = None

    @property
    def score_size(self) -> int:
        """Parameters of one score, fewer than n where every class has a score."""
        return self.size

    @property
    def log_determinant_apart(self) -> float:
        """The log determinant of H for unpenalized parameters without a coordinate of their own."""
        return 0.0

    def initial_weights(self) -> np.ndarray:
        """A sensible first w, shape (n,): zeros, intercepts at their closed form."""
        return np.zeros(self.size)

    def point_at(self, w: np.ndarray) -> LossPoint:
        """The evaluation at w, cached until it is asked for another w."""
        if self._last is None or not np.array_equal(w, self._last.w):
            check_time()
            self._last = self._point_at(np.array(w, dtype=np.float64))
        return self._last

    @abstractmethod
    def _point_at(self, w: np.ndarray) -> LossPoint:
        """The evaluation at a w that nothing else changes."""

    def every_nth_row(self, step: int) -> Loss | None:
        """The loss of every ``step``-th example; None where it cannot be thinned."""
        return None

    def reweighted(self, factor: float) -> Loss:
        """The loss with every example counted so many times as here; losses of tables have it."""
        raise NotImplementedError

    def explained_share(self, w: np.ndarray) -> float | None:
        """The share of the target's variance that w explains; None without such a target."""
        return None

    def is_at_floor(self, w: np.ndarray) -> bool:
        """Whether a noise variance is held up by its floor."""
        return False

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient, shape (n,), at w."""
        point = self.point_at(w)
        return point.value, point.gradient.copy()
