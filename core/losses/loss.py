"""What every loss gives to a penalty learner: value, gradient and exact Hessian products at w.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m | ``examples`` | | training examples |
| n | ``size`` | | parameters, unpenalized ones (the intercepts) included |
| w | ``w`` | (n,) | parameters |
| v | ``v`` | (n,) | a direction |
| π(i) | ``groups`` | (n,) int | the group of parameter i; −1 for an unpenalized one |
| C | ``C`` | (k,) | penalties, one a group |
| c | ``penalties`` | (n,) | C_π(i), 0 for an unpenalized parameter |
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Loss(Protocol):
    """A sum over examples of −log p(example | w), twice differentiable in w."""

    @property
    def examples(self) -> int:
        """M, the number of training examples."""

    @property
    def size(self) -> int:
        """N, the number of parameters."""

    def start(self) -> np.ndarray:
        """A sensible first w, shape (n,): zeros, intercepts at their closed form."""

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient, shape (n,), at w."""

    def hessian_product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The exact product of the Hessian at w with v, shape (n,)."""

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """The dense Hessian, shape (n, n), or None where it is too large to be formed."""
