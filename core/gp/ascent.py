"""Climbing a function inside the unit cube from several starts at once.

Every start has its own quasi-Newton matrix, but all points of a round are evaluated in one call:
the function here is a Gaussian process's acquisition, for which ten points cost little more than
one (one triangular solve with ten right-hand sides), and Python's own time is shared.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.gp.kernels import Array
from core.optimize.armijo import SUFFICIENT

Climbed = Callable[[Array], tuple[Array, Array]]


def climb(
    function: Climbed, starts: Array, free: Array, *, rounds: int = 40, tolerance: float = 1e-6
) -> tuple[Array, Array]:
    """x* = argmax f(x) near every start, over the free entries in [0, 1]; projected BFGS.

    Args:
        function: points (m, width) -> values (m,) and gradients (m, width).
        starts: where to begin, shape (m, width).
        free: which entries may move, shape (width,), bool.
        rounds: evaluations of each start at most.
        tolerance: a start rests when a round gains less than this, or its projected slope is
            smaller than ten times this.

    Returns:
        The points, shape (m, width), and their values, shape (m,); never worse than the starts.
    """
    x = starts.copy()
    value, slope = function(x)
    slope = slope * free
    m, width = x.shape
    H = np.tile(np.eye(width), (m, 1, 1))
    fresh = np.ones(m, dtype=bool)
    direction, step = _aim(x, slope, H, fresh), np.ones(m)
    active = np.flatnonzero(np.abs(_projected(x, slope)).max(axis=1) > 10 * tolerance)
    for _ in range(rounds):
        if active.size == 0:
            break
        trial = np.clip(x[active] + step[active, None] * direction[active], 0.0, 1.0)
        moved = trial - x[active]
        value_there, slope_there = function(trial)
        slope_there = slope_there * free
        gain = value_there - value[active]
        good = gain >= SUFFICIENT * np.einsum("ij,ij->i", slope[active], moved)
        good &= np.isfinite(value_there)
        step[active[~good]] *= 0.3
        took = active[good]
        if took.size:
            _update(H, fresh, took, moved[good], slope[took] - slope_there[good])
            x[took], value[took], slope[took] = trial[good], value_there[good], slope_there[good]
            direction[took] = _aim(x[took], slope[took], H[took], fresh[took])
            step[took] = 1.0
        resting = good & (gain < tolerance)
        resting |= ~good & (step[active] < 1e-4)
        resting |= np.abs(_projected(x[active], slope[active])).max(axis=1) <= 10 * tolerance
        active = active[~resting]
    return x, value


def _projected(x: Array, slope: Array) -> Array:
    """The slope without what points out of the cube."""
    outward = ((x <= 0.0) & (slope < 0.0)) | ((x >= 1.0) & (slope > 0.0))
    return np.where(outward, 0.0, slope)


def _aim(x: Array, slope: Array, H: Array, fresh: Array) -> Array:
    """The direction of every start: H times the projected slope, or the slope where that falls.

    A start without curvature yet (fresh) moves a tenth of the cube at most.
    """
    pushed = _projected(x, slope)
    inside = (pushed != 0.0) | (slope == 0.0)
    direction = np.einsum("mij,mj->mi", H, pushed) * inside
    falling = np.einsum("mi,mi->m", direction, pushed) <= 0.0
    direction[falling] = pushed[falling]
    short = fresh | falling
    size = np.abs(direction[short]).max(axis=1, keepdims=True, initial=1e-300)
    direction[short] *= np.minimum(1.0, 0.1 / size)
    return direction


def _update(H: Array, fresh: Array, which: Array, moved: Array, change: Array) -> None:
    """The BFGS update of H (the inverse of −f's Hessian) for the starts `which`, in place."""
    product = np.einsum("mi,mi->m", moved, change)
    curved = product > 1e-10 * np.linalg.norm(moved, axis=1) * np.linalg.norm(change, axis=1)
    which, s, y, sy = which[curved], moved[curved], change[curved], product[curved]
    first = fresh[which]
    scale = sy / np.maximum(np.einsum("mi,mi->m", y, y), 1e-300)
    H[which[first]] *= scale[first][:, None, None]
    fresh[which] = False
    Hy = np.einsum("mij,mj->mi", H[which], y)
    growth = (1.0 + np.einsum("mi,mi->m", y, Hy) / sy)[:, None, None]
    outer = np.einsum("mi,mj->mij", Hy, s)
    H[which] += (growth * np.einsum("mi,mj->mij", s, s) - outer - outer.transpose(0, 2, 1)) / sy[
        :, None, None
    ]
