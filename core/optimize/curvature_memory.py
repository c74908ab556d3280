"""L-BFGS pairs of a loss alone, kept to solve with its curvature under any penalties.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| s | | (n,) | a difference of parameters, or a direction |
| y | | (n,) | the difference of the loss's gradient along it, or H s; the penalty's part left out |
| c | ``penalties`` | (n,) | a penalty for every parameter |
| θ | ``curvature`` | | yᵀy / sᵀy of the last pair |

The two-loop recursion of L-BFGS with pairs (s, y + c ∘ s) and H₀ = 1/(θ + c): pairs stay valid when
the penalties change, and as loss and penalty are convex every pair may be kept.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from core.optimize.loss import LinearMap
from core.optimize.two_loop import Pair, pair_of, two_loop

_PAIRS, _PAIRS_OF_MANY = 60, 20
_MANY = 5000  # parameters, beyond which so many pairs would cost more than they save
_MIN_CURVATURE_SHARE = 1e-10  # a share of ‖s‖ ‖y‖ below which rounding made the curvature


class CurvatureMemory:
    """The last pairs of steps and gradient differences of one loss with ``size`` parameters."""

    def __init__(self, size: int) -> None:
        max_pairs = _PAIRS if size <= _MANY else _PAIRS_OF_MANY
        self._pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=max_pairs)
        self._curvature = 0.0
        self._penalties = np.zeros(0)  # of the pairs below
        self._penalized: deque[Pair] = deque(maxlen=max_pairs)

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def add_pair(self, s: np.ndarray, y: np.ndarray) -> None:
        """Keep a pair; one without measurable curvature is left out."""
        product = float(s @ y)
        if product > _MIN_CURVATURE_SHARE * float(np.sqrt((s @ s) * (y @ y))):
            self._pairs.append((s, y))
            self._curvature = float(y @ y) / product
            if len(self._penalties):
                self._penalized.append(self._with_penalty(s, y))

    def approximate_inverse(self, penalties: np.ndarray, curvature: float = 1.0) -> LinearMap:
        """The product with about (H + diag c)⁻¹, positive definite; θ serves while no pair is."""
        first = 1.0 / ((self._curvature or curvature) + penalties)
        if not np.array_equal(penalties, self._penalties):  # they stay for many steps
            self._penalties = penalties.copy()
            self._penalized.clear()
            self._penalized.extend(self._with_penalty(s, y) for s, y in self._pairs)
        pairs = tuple(self._penalized)
        return lambda b: two_loop(b, pairs, first)

    def _with_penalty(self, s: np.ndarray, y: np.ndarray) -> Pair:
        return pair_of(s, y + self._penalties * s)
