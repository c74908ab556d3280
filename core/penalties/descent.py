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

from core.losses.loss import Loss
from core.penalties.newton import Bends, Newton, Point, point_at

# From this share of the objective on Newton's steps are not cut short any more.
_NEAR = 1e-6
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

    point: Point
    iterations: int
    fits: int


def line_search(
    loss: Loss,
    point: Point,
    direction: np.ndarray,
    slope: np.ndarray,
    penalty: Callable[[np.ndarray], float],
) -> Point | None:
    """The first of the steps 1, ½, ¼ … that lowers loss + penalty enough (Armijo, 1e-4).

    None where none does: the point is the minimum up to rounding, or the direction is bad.
    """
    promised = float(slope @ direction)
    if not promised < 0.0:
        return None
    now = point.value + penalty(point.w)
    size = 1.0
    for _ in range(30):
        w = point.w + size * direction
        value, gradient = loss.value_and_gradient(w)
        if value + penalty(w) <= now + 1e-4 * size * promised:
            return Point(w, value, gradient)
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
    point, iterations = point_at(loss, w), 0

    def penalty(v: np.ndarray) -> float:
        return 0.5 * float(penalties @ (v * v))

    if getattr(loss, "winding", False) and not newton.dense:
        point, iterations = approached(loss, penalties, point, tolerance)
        if tolerance >= _NEAR:
            return Solution(point, iterations, 1)
    forcing = 0.1
    for fits in range(1, most + 1):
        limit = tolerance * (scale or 1.0 + abs(point.value))
        slope = point.gradient + penalties * point.w
        bends = loss_bends(loss, point.w)
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
    loss: Loss, penalties: np.ndarray, point: Point, tolerance: float
) -> tuple[Point, int]:
    """A point near the minimum by L-BFGS, and its iterations.

    For losses whose curvature changes so fast that Newton steps from afar are mostly cut short:
    a gradient then gains as much as a step with all its products. Stops where a step lowers the
    objective by less than a tenth of the tolerance, or of where Newton's last steps are surer.
    """
    # The Hessian's diagonal far from the minimum says little about the one there; penalties do.
    scale = 1.0 / np.sqrt(1.0 + penalties)

    def objective(u: np.ndarray) -> tuple[float, np.ndarray]:
        w = scale * u
        value, gradient = loss.value_and_gradient(w)
        return value + 0.5 * float(penalties @ (w * w)), scale * (gradient + penalties * w)

    options = {"maxiter": 1000, "maxcor": 20, "ftol": 0.1 * max(tolerance, _NEAR), "gtol": 1e-9}
    found = minimize(objective, point.w / scale, jac=True, method="L-BFGS-B", options=options)
    return point_at(loss, scale * found.x), int(found.nfev)


def loss_bends(loss: Loss, w: np.ndarray) -> Bends | None:
    """What the loss's own curvature lacks beside its majorizer, if it has one."""
    bends = getattr(loss, "bends", None)
    if bends is None:
        return None
    direction, weight = bends(w)
    return Bends(direction[:, None], np.array([weight])) if weight > 0.0 else None


def by_lbfgs(loss: Loss, penalties: np.ndarray, point: Point) -> tuple[Point, int]:
    """Lowers loss + ½ Σ c_i w_i² from a point where Newton stalls; the iterations it took."""

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        return value + 0.5 * float(penalties @ (w * w)), gradient + penalties * w

    found = minimize(
        objective, point.w, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-8}
    )
    return point_at(loss, found.x), int(found.nit)
