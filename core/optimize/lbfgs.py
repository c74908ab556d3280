"""L-BFGS within bounds, as a generator: one iterate at a time, so that each can be shown.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| x | ``x`` | (k,) | the variables, low ≤ x ≤ high |
| g | ``gradient`` | (k,) | the gradient at x |
| s, y | | (k,) | changes of x and g, the last ten pairs |

The two-loop recursion (Nocedal and Wright 2006, algorithm 7.4) on the variables that are free; a
variable on a bound whose gradient points outwards rests. Steps are projected into the bounds and
shortened until the value falls enough (Bertsekas 1982).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

_PAIRS = 10
_SHORTEST = 1e-10
# A last step that gained so many times what is worth trying was not near the end.
_UNSETTLED = 100.0


@dataclass(frozen=True)
class Iterate:
    """One iterate.

    Attributes:
        x: the variables, shape (k,).
        value, gradient: there.
        residual: ‖P(x − g) − x‖∞, which vanishes at a minimum within the bounds.
        evaluations: of the function, in all.
    """

    x: np.ndarray
    value: float
    gradient: np.ndarray
    residual: float
    evaluations: int


def minimize_steps(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    low: float = -np.inf,
    high: float = np.inf,
    longest: float = np.inf,
    worth: float = 0.0,
) -> Iterator[Iterate]:
    """Iterates of falling value, the start first; ends where none falls any more.

    Args:
        function: x -> (value, gradient).
        x: the start, moved into the bounds.
        low, high: the bounds of every variable.
        longest: no variable moves further than this in one step.
        worth: a step that promises a smaller share of the value is not tried.
    """
    x = np.clip(x, low, high)
    value, gradient = function(x)
    at = Iterate(x.copy(), value, gradient.copy(), _residual(x, gradient, low, high), 1)
    pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=_PAIRS)
    gained = np.inf
    while True:
        yield at
        after = _shortened(
            function, at, _direction(at, pairs, low, high), low, high, longest, worth
        )
        if after is None and pairs and gained >= _UNSETTLED * worth:
            pairs.clear()  # the collected curvature misleads: once more along the gradient
            after = _shortened(
                function, at, _direction(at, pairs, low, high), low, high, longest, worth
            )
        if after is None:
            return
        gained = (at.value - after.value) / max(1.0, abs(after.value))
        s, y = after.x - at.x, after.gradient - at.gradient
        if float(s @ y) > 1e-10 * float(y @ y):
            pairs.append((s, y))
        at = after


def _shortened(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    at: Iterate,
    direction: np.ndarray,
    low: float,
    high: float,
    longest: float,
    worth: float,
) -> Iterate | None:
    """The first of ever shorter steps that lowers the value enough (Armijo, 1e-4), or None."""
    furthest = float(np.abs(direction).max(initial=0.0))
    shortest = _SHORTEST * (1.0 + float(np.abs(at.x).max(initial=0.0)))
    size = min(1.0, longest / furthest) if furthest > 0.0 else 0.0
    evaluations = at.evaluations
    while size * furthest > shortest:
        x = np.clip(at.x + size * direction, low, high)
        promised = float(at.gradient @ (x - at.x))
        if -promised < worth * max(1.0, abs(at.value)):
            return None
        value, gradient = function(x)
        evaluations += 1
        if promised < 0.0 and value <= at.value + 1e-4 * promised:
            residual = _residual(x, gradient, low, high)
            return Iterate(x, value, gradient.copy(), residual, evaluations)
        size *= 0.4
    return None


def _residual(x: np.ndarray, gradient: np.ndarray, low: float, high: float) -> float:
    return float(np.abs(np.clip(x - gradient, low, high) - x).max(initial=0.0))


def _direction(
    at: Iterate,
    pairs: deque[tuple[np.ndarray, np.ndarray]],
    low: float,
    high: float,
) -> np.ndarray:
    """−B g on the free variables, 0 on those that rest at a bound."""
    x, gradient = at.x, at.gradient
    free = ~(((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0)))
    q = np.where(free, gradient, 0.0)
    if not pairs:
        return -q / max(float(np.linalg.norm(q)), 1e-300)
    used = [(s * free, y * free) for s, y in pairs]
    used = [(s, y) for s, y in used if float(s @ y) > 1e-10 * float(y @ y)]
    shares = []
    for s, y in reversed(used):
        share = float(s @ q) / float(s @ y)
        q = q - share * y
        shares.append(share)
    if used:
        s, y = used[-1]
        q = q * (float(s @ y) / float(y @ y))
    for (s, y), share in zip(used, reversed(shares), strict=True):
        q = q + s * (share - float(y @ q) / float(s @ y))
    direction = -np.where(free, q, 0.0)
    return direction if float(direction @ gradient) < 0.0 else -np.where(free, gradient, 0.0)
