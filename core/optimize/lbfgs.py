"""L-BFGS within bounds, as a generator: one iterate at a time, so that each can be shown.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| x | ``x`` | (k,) | the variables, low ≤ x ≤ high |
| g | ``gradient`` | (k,) | the gradient at x |
| s, y | | (k,) | changes of x and g, the last ten pairs |

The two-loop recursion on the variables that are free; a variable on a bound whose gradient points
outwards stays there. Steps are projected into the bounds and shortened until the value falls enough
(Bertsekas 1982).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from core.optimize.armijo import backtracked
from core.optimize.two_loop import last_scale, pair_of, two_loop

_PAIRS = 10
_SHORTEST = 1e-10
_FACTOR = 0.4
# A last step that gained so many times what is worth trying was not near the end.
_UNSETTLED = 100.0
# A share of ‖y‖² that sᵀy must exceed: with less the curvature is rounding.
_CURVED = 1e-10


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


@dataclass(frozen=True)
class Box:
    """The bounds of every variable, and how far one step may move a variable."""

    low: float = -np.inf
    high: float = np.inf
    longest: float = np.inf

    def clip(self, x: np.ndarray) -> np.ndarray:
        """The nearest point within the bounds."""
        return np.clip(x, self.low, self.high)

    def free(self, at: Iterate) -> np.ndarray:
        """The variables that do not stay on a bound, boolean, shape (k,)."""
        below = (at.x <= self.low) & (at.gradient > 0.0)
        return ~(below | ((at.x >= self.high) & (at.gradient < 0.0)))


def minimize_steps(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    box: Box = Box(),
    worth: float = 0.0,
) -> Iterator[Iterate]:
    """Iterates of falling value, the start first; ends where none falls any more.

    Args:
        function: x -> (value, gradient).
        x: the start, moved into the bounds.
        box: the bounds.
        worth: a step that promises a smaller share of the value is not tried.
    """
    evaluations = 0

    def evaluate(x: np.ndarray) -> tuple[float, Iterate]:
        nonlocal evaluations
        value, gradient = function(x)
        evaluations += 1
        residual = float(np.abs(box.clip(x - gradient) - x).max(initial=0.0))
        return value, Iterate(x, value, gradient.copy(), residual, evaluations)

    _, at = evaluate(box.clip(x))
    pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=_PAIRS)
    gained = np.inf
    while True:
        yield at
        after = _step(evaluate, at, _direction(at, pairs, box), box, worth)
        if after is None and pairs and gained >= _UNSETTLED * worth:
            pairs.clear()  # the collected curvature misleads: once more along the gradient
            after = _step(evaluate, at, _direction(at, pairs, box), box, worth)
        if after is None:
            return
        gained = (at.value - after.value) / max(1.0, abs(after.value))
        s, y = after.x - at.x, after.gradient - at.gradient
        if float(s @ y) > _CURVED * float(y @ y):
            pairs.append((s, y))
        at = after


def _step(
    evaluate: Callable[[np.ndarray], tuple[float, Iterate]],
    at: Iterate,
    direction: np.ndarray,
    box: Box,
    worth: float,
) -> Iterate | None:
    """The first of ever shorter projected steps that lowers the value enough, or None."""
    furthest = float(np.abs(direction).max(initial=0.0))
    shortest = _SHORTEST * (1.0 + float(np.abs(at.x).max(initial=0.0)))
    least = worth * max(1.0, abs(at.value))

    def along(size: float) -> tuple[np.ndarray, float] | None:
        x = box.clip(at.x + size * direction)
        promised = float(at.gradient @ (x - at.x))
        return None if size * furthest <= shortest or -promised < least else (x, promised)

    first = min(1.0, box.longest / furthest) if furthest > 0.0 else 0.0
    found = backtracked(along, evaluate, at.value, first=first, factor=_FACTOR)
    return None if found is None else found[1]


def _direction(at: Iterate, pairs: deque[tuple[np.ndarray, np.ndarray]], box: Box) -> np.ndarray:
    """−B g on the free variables, 0 on those that stay on a bound."""
    free = box.free(at)
    slope = np.where(free, at.gradient, 0.0)
    if not pairs:
        return -slope / max(float(np.linalg.norm(slope)), 1e-300)
    masked = [(s * free, y * free) for s, y in pairs]
    used = [pair_of(s, y) for s, y in masked if float(s @ y) > _CURVED * float(y @ y)]
    direction = -np.where(free, two_loop(slope, used, last_scale(used)), 0.0)
    return direction if float(direction @ at.gradient) < 0.0 else -slope
