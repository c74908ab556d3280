"""Where the learners start: near the solution at C = 1, from a part of the examples if many."""

from __future__ import annotations

import numpy as np

from core.optimize.descent import Solution, solve
from core.optimize.loss import Loss
from core.optimize.newton import Newton

# So many examples for every parameter of a score are enough for all but Newton's last steps.
_ROWS_A_COLUMN = 10
_FEWEST_ROWS = 1000
# A start this close, as a share of the loss without weights, is all that the steps after it need.
_CLOSE = 1e-3


def first_point(loss: Loss, penalties: np.ndarray, newton: Newton) -> Solution:
    """A point within a thousandth of the minimum of loss + ½ Σ c_i w_i², as the start counts it.

    The examples are thinned first where there are many more than parameters; the last Newton steps
    are taken on all of them.
    """
    w, iterations = loss.start(), 0
    scale = 1.0 + abs(loss.at(w).value)
    step = int(loss.examples // max(_ROWS_A_COLUMN * loss.score_size, _FEWEST_ROWS))
    if step >= 3:
        part = loss.every(step)
        if part is not None:
            rough = solve(part, penalties / step, w, tolerance=_CLOSE, scale=scale / step)
            w, iterations = rough.point.w, rough.iterations
    found = solve(loss, penalties, w, tolerance=_CLOSE, scale=scale, newton=newton)
    return Solution(found.point, found.iterations + iterations, found.fits)
