"""One step downhill, and the penalized problem at fixed penalties solved with such steps.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| c | ``penalties`` | (n,) | a penalty for every parameter |
| g | ``slope`` | (n,) | gradient of the loss plus c ∘ w |
| λ² | | | −gᵀs, the square of the Newton decrement: twice the decrease that a step promises |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Bends, Newton

# From this share of the objective on Newton's steps are not cut short any more.
_NEAR = 1e-7
# Nearer the minimum nobody could tell the models apart, and each digit is dear.
_NEAREST = 1e-8
_MOST_APPROACH = 1000
# A step that promises more than this share of the objective and gains nothing is a stalled one.
STALLED = 1e-8
# What rounding may add to a sum of m logarithms, relative to its size.
ROUNDING = 4e-15


@dataclass(frozen=True)
class Solution:
    """A minimizer of loss + ½ Σ c_i w_i².

    Attributes:
        point: where it is.
        iterations: inner iterations in all.
        fits: Newton steps taken.
    """

    point: LossAt
    iterations: int
    fits: int


def line_search(
    loss: Loss,
    point: LossAt,
    direction: np.ndarray,
    slope: np.ndarray,
    penalty: Callable[[np.ndarray], float],
) -> LossAt | None:
    """The first of the steps 1, ½, ¼ … that lowers loss + penalty enough (Armijo, 1e-4).

    None where none does: the point is the minimum up to rounding, or the direction is bad.
    """
    promised = float(slope @ direction)
    if not promised < 0.0:
        return None
    now = point.value + penalty(point.w)
    size = 1.0
    for _ in range(30):
        tried = loss.at(point.w + size * direction)
        if tried.value + penalty(tried.w) <= now + 1e-4 * size * promised:
            return tried
        size *= 0.5
        if -size * promised < ROUNDING * abs(now):
            return None
    return None


def solve(
    loss: Loss,
    penalties: np.ndarray,
    w: np.ndarray,
    *,
    tolerance: float = 1e-9,
    scale: float | None = None,
    most: int = 100,
    newton: Newton | None = None,
) -> Solution:
    """Minimizes loss(w) + ½ Σ c_i w_i² by Newton steps, by L-BFGS where they stall.

    Args:
        loss: the loss.
        penalties: c ≥ 0, shape (n,).
        w: where to start.
        tolerance: stop when a step promises a decrease of less than this share of the scale.
        scale: of the loss; None for 1 + |loss| where the step starts.
        most: Newton steps at most.
        newton: to go on with the same preconditioner.
    """
    newton = newton or Newton(loss)
    point, iterations = loss.at(w), 0

    def penalty(v: np.ndarray) -> float:
        return 0.5 * float(penalties @ (v * v))

    if newton.memory is not None:
        tolerance = max(tolerance, _NEAREST)
        limit = max(tolerance, _NEAR) * (scale or 1.0)
        point, iterations = approached(newton, penalties, point, limit, relative=scale is None)
        if tolerance >= _NEAR:
            return Solution(point, iterations, 1)
    forcing = 0.1
    for fits in range(1, most + 1):
        limit = tolerance * (scale or 1.0 + abs(point.value))
        slope = point.gradient + penalties * point.w
        bends = loss_bends(point)
        direction, inner = newton.direction(point, slope, penalties, bends, forcing, 0.1 * limit)
        iterations += inner
        promised = -0.5 * float(slope @ direction)
        reached = line_search(loss, point, direction, slope, penalty)
        if reached is None and promised > limit:
            point, taken = by_lbfgs(loss, penalties, point)
            return Solution(point, iterations + taken, fits + taken)
        point = reached or point
        if reached is None or promised <= limit:
            break
        forcing = min(0.1, max(1e-6, (promised / (1.0 + abs(point.value))) ** 0.5))
    return Solution(point, iterations, fits)


def approached(
    newton: Newton, penalties: np.ndarray, point: LossAt, limit: float, *, relative: bool
) -> tuple[LossAt, int]:
    """A point near the minimum by L-BFGS with the remembered curvature, and its iterations.

    For losses whose curvature changes so fast that Newton steps from afar are mostly cut short:
    a gradient then gains as much as a step with all its products.

    Args:
        newton: of the loss, with a memory.
        penalties: c, shape (n,).
        point: where to start.
        limit: it stops when a step promises less; a share of 1 + |loss| if relative.
        relative: see limit.
    """
    loss, memory = newton.loss, newton.memory
    assert memory is not None  # callers ask only where there is one

    def penalty(v: np.ndarray) -> float:
        return 0.5 * float(penalties @ (v * v))

    for iteration in range(1, _MOST_APPROACH + 1):
        slope = point.gradient + penalties * point.w
        steepness = float(np.sqrt(slope @ slope))
        direction = -memory.solver(penalties, bend=steepness)(slope)
        promised = -0.5 * float(slope @ direction)
        if memory and promised <= limit * (1.0 + abs(point.value) if relative else 1.0):
            return point, iteration
        reached = line_search(loss, point, direction, slope, penalty)
        if reached is None:
            return point, iteration
        memory.add(reached.w - point.w, reached.gradient - point.gradient)
        point = reached
    return point, _MOST_APPROACH


def loss_bends(point: LossAt) -> Bends | None:
    """What the loss's own curvature lacks beside its majorizer, if it lacks anything."""
    correction = point.correction()
    if correction is None or not correction[1] > 0.0:
        return None
    return Bends(correction[0][:, None], np.array([correction[1]]))


def by_lbfgs(loss: Loss, penalties: np.ndarray, point: LossAt) -> tuple[LossAt, int]:
    """Lowers loss + ½ Σ c_i w_i² from a point where Newton stalls; the iterations it took."""

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        return value + 0.5 * float(penalties @ (w * w)), gradient + penalties * w

    found = minimize(
        objective, point.w, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-8}
    )
    return loss.at(found.x), int(found.nit)
