"""Climbing a function inside the unit cube from several starts at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.gp.kernels import Array
from core.optimize.armijo import SUFFICIENT

ObjectiveFunction = Callable[[Array], tuple[Array, Array]]


def maximize_from_starts(
    function: ObjectiveFunction,
    starts: Array,
    free: Array,
    *,
    rounds: int = 40,
    tolerance: float = 1e-6,
) -> tuple[Array, Array]:
    """x* = argmax f(x) near every start (m, width), over `free` entries in [0, 1]; projected BFGS.

    `function`: points (m, width) -> values (m,) and gradients (m, width). A start rests after
    `rounds` evaluations, when a round gains less than `tolerance`, or when its projected slope is
    smaller than ten times that. Returns points and values, never worse than the starts.
    """
    x = starts.copy()
    value, slope = function(x)
    slope = slope * free
    m, width = x.shape
    H = np.tile(np.eye(width), (m, 1, 1))
    fresh = np.ones(m, dtype=bool)
    direction, step = _ascent_direction(x, slope, H, fresh), np.ones(m)
    active = np.flatnonzero(np.abs(_projected(x, slope)).max(axis=1) > 10 * tolerance)
    for _ in range(rounds):
        if active.size == 0:
            break
        trial = np.clip(x[active] + step[active, None] * direction[active], 0.0, 1.0)
        shift = trial - x[active]
        new_value, new_slope = function(trial)
        new_slope = new_slope * free
        gain = new_value - value[active]
        good = gain >= SUFFICIENT * np.einsum("ij,ij->i", slope[active], shift)
        good &= np.isfinite(new_value)
        step[active[~good]] *= 0.3
        rows = active[good]
        if rows.size:
            _bfgs_update(H, fresh, rows, shift[good], slope[rows] - new_slope[good])
            x[rows], value[rows], slope[rows] = trial[good], new_value[good], new_slope[good]
            direction[rows] = _ascent_direction(x[rows], slope[rows], H[rows], fresh[rows])
            step[rows] = 1.0
        resting = good & (gain < tolerance)
        resting |= ~good & (step[active] < 1e-4)
        resting |= np.abs(_projected(x[active], slope[active])).max(axis=1) <= 10 * tolerance
        active = active[~resting]
    return x, value


def _projected(x: Array, slope: Array) -> Array:
    """The slope without what points out of the cube."""
    outward = ((x <= 0.0) & (slope < 0.0)) | ((x >= 1.0) & (slope > 0.0))
    return np.where(outward, 0.0, slope)


def _ascent_direction(x: Array, slope: Array, H: Array, fresh: Array) -> Array:
    """H times the projected slope, or the slope where that falls."""
    inward = _projected(x, slope)
    inside = (inward != 0.0) | (slope == 0.0)
    direction = np.einsum("mij,mj->mi", H, inward) * inside
    falling = np.einsum("mi,mi->m", direction, inward) <= 0.0
    direction[falling] = inward[falling]
    short = fresh | falling  # without curvature a tenth of the cube at most
    size = np.abs(direction[short]).max(axis=1, keepdims=True, initial=1e-300)
    direction[short] *= np.minimum(1.0, 0.1 / size)
    return direction


def _bfgs_update(H: Array, fresh: Array, which: Array, shift: Array, change: Array) -> None:
    """The BFGS update of H (the inverse of −f's Hessian) for the starts `which`, in place."""
    product = np.einsum("mi,mi->m", shift, change)
    curved = product > 1e-10 * np.linalg.norm(shift, axis=1) * np.linalg.norm(change, axis=1)
    which, s, y, sy = which[curved], shift[curved], change[curved], product[curved]
    first = fresh[which]
    scale = sy / np.maximum(np.einsum("mi,mi->m", y, y), 1e-300)
    H[which[first]] *= scale[first][:, None, None]
    fresh[which] = False
    Hy = np.einsum("mij,mj->mi", H[which], y)
    growth = (1.0 + np.einsum("mi,mi->m", y, Hy) / sy)[:, None, None]
    outer = np.einsum("mi,mj->mij", Hy, s)
    update = growth * np.einsum("mi,mj->mij", s, s) - outer - outer.transpose(0, 2, 1)
    H[which] += update / sy[:, None, None]
