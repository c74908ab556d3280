"""L-BFGS within bounds, as a generator: one iterate at a time, so that each can be shown.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| x | ``x`` | (k,) | the variables, low ≤ x ≤ high |
| g | ``gradient`` | (k,) | the gradient at x |
| s, y | | (k,) | changes of x and g, the last ten pairs |

A variable on a bound whose gradient points outwards stays there; steps are projected into the
bounds and shortened until the value falls enough (Bertsekas 1982).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from core.optimize.armijo import backtrack
from core.optimize.two_loop import last_scale, pair_of, two_loop

_PAIRS = 10
_SHORTEST = 1e-10
_FACTOR = 0.4
# A last step that gained so many times what is worth trying was not near the end.
_UNSETTLED = 100.0
# A share of ‖y‖² that sᵀy must exceed: with less the curvature is rounding.
_CURVED = 1e-10

_Pairs = deque[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Iterate:
    """One point on the way to the minimum."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    residual: float  # ‖P(x − g) − x‖∞, 0 at a minimum within the bounds
    evaluations: int  # of the function, in all


@dataclass(frozen=True)
class Bounds:
    """The bounds of every variable, and how far one step may move a variable."""

    low: float = -np.inf
    high: float = np.inf
    longest: float = np.inf

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point within the bounds."""
        return np.clip(x, self.low, self.high)

    def free_variables(self, iterate: Iterate) -> np.ndarray:
        """The variables that do not stay on a bound, boolean, shape (k,)."""
        below = (iterate.x <= self.low) & (iterate.gradient > 0.0)
        return ~(below | ((iterate.x >= self.high) & (iterate.gradient < 0.0)))


def minimize_steps(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    box: Bounds = Bounds(),
    worth: float = 0.0,
) -> Iterator[Iterate]:
    """Iterates of falling value, the start first; ends where none falls any more.

    Args:
        function: x -> (value, gradient).
        x, box: the start, moved into the bounds; the bounds.
        worth: a step that promises a smaller share of the value is not tried.
    """
    evaluations = 0

    def evaluate(x: np.ndarray) -> tuple[float, Iterate]:
        nonlocal evaluations
        value, gradient = function(x)
        evaluations += 1
        residual = float(np.abs(box.project(x - gradient) - x).max(initial=0.0))
        return value, Iterate(x, value, gradient.copy(), residual, evaluations)

    _, iterate = evaluate(box.project(x))
    pairs: _Pairs = deque(maxlen=_PAIRS)
    gained = np.inf
    while True:
        yield iterate
        after = _line_search(evaluate, iterate, _direction(iterate, pairs, box), box, worth)
        if after is None and pairs and gained >= _UNSETTLED * worth:
            pairs.clear()  # the collected curvature misleads: once more along the gradient
            after = _line_search(evaluate, iterate, _direction(iterate, pairs, box), box, worth)
        if after is None:
            return
        gained = (iterate.value - after.value) / max(1.0, abs(after.value))
        s, y = after.x - iterate.x, after.gradient - iterate.gradient
        if float(s @ y) > _CURVED * float(y @ y):
            pairs.append((s, y))
        iterate = after


def _line_search(
    evaluate: Callable[[np.ndarray], tuple[float, Iterate]],
    iterate: Iterate,
    direction: np.ndarray,
    box: Bounds,
    worth: float,
) -> Iterate | None:
    """The first of ever shorter projected steps that lowers the value enough, or None."""
    furthest = float(np.abs(direction).max(initial=0.0))
    shortest = _SHORTEST * (1.0 + float(np.abs(iterate.x).max(initial=0.0)))
    min_decrease = worth * max(1.0, abs(iterate.value))

    def step_to(size: float) -> tuple[np.ndarray, float] | None:
        x = box.project(iterate.x + size * direction)
        promised = float(iterate.gradient @ (x - iterate.x))
        return None if size * furthest <= shortest or -promised < min_decrease else (x, promised)

    first = min(1.0, box.longest / furthest) if furthest > 0.0 else 0.0
    accepted_step = backtrack(step_to, evaluate, iterate.value, first=first, factor=_FACTOR)
    return None if accepted_step is None else accepted_step[1]


def _direction(iterate: Iterate, pairs: _Pairs, box: Bounds) -> np.ndarray:
    """−B g on the free variables, 0 on those that stay on a bound."""
    free = box.free_variables(iterate)
    slope = np.where(free, iterate.gradient, 0.0)
    if not pairs:
        return -slope / max(float(np.linalg.norm(slope)), 1e-300)
    masked = [(s * free, y * free) for s, y in pairs]
    curved = [pair_of(s, y) for s, y in masked if float(s @ y) > _CURVED * float(y @ y)]
    direction = -np.where(free, two_loop(slope, curved, last_scale(curved)), 0.0)
    return direction if float(direction @ iterate.gradient) < 0.0 else -slope
