"""Backtracking: ever shorter steps until the function falls enough (Armijo 1966)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

# The share of the decrease that the slope promises which must come.
SUFFICIENT = 1e-4
T = TypeVar("T")


def backtrack(
    step_to: Callable[[float], tuple[np.ndarray, float] | None],
    evaluate: Callable[[np.ndarray], tuple[float, T]],
    value: float,
    *,
    first: float = 1.0,
    factor: float = 0.5,
) -> tuple[float, T] | None:
    """The evaluation of the first step that lowers the function enough; None if none does.

    Args:
        step_to: size of a step -> (the point there, gᵀ times the way to it); None to give up.
        evaluate: point -> (the function there, anything that goes with it).
        value, first, factor: the function at the start; the sizes are first, first · factor, …
    """
    size = first
    while (ahead := step_to(size)) is not None:
        x, promised = ahead
        evaluation = evaluate(x)
        if promised < 0.0 and evaluation[0] <= value + SUFFICIENT * promised:
            return evaluation
        size *= factor
    return None
