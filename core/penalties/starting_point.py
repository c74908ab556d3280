"""Where the learners start: near the solution at C = 1, from a part of the examples if many."""

from __future__ import annotations

import numpy as np

from core.optimize.descent import Solution, solve_penalized
from core.optimize.loss import Loss
from core.optimize.newton import Newton

# So many examples for every parameter of a score are enough for all but Newton's last steps.
_ROWS_A_COLUMN = 10
_MIN_ROWS = 1000
# A start this close, as a share of the loss without weights, is all that the steps after it need.
_CLOSE = 1e-3


def first_point(loss: Loss, penalties: np.ndarray, newton: Newton) -> Solution:
    """A point within a thousandth of the minimum of loss + ½ Σ c_i w_i², as the start counts it.

    Many more examples than parameters are thinned first; the last Newton steps are taken on all.
    """
    w, iterations = loss.initial_weights(), 0
    scale = 1.0 + abs(loss.point_at(w).value)
    step = int(loss.examples // max(_ROWS_A_COLUMN * loss.score_size, _MIN_ROWS))
    if step >= 3:
        sample = loss.every_nth_row(step)
        if sample is not None:
            c = penalties / step
            rough = solve_penalized(sample, c, w, tolerance=_CLOSE, scale=scale / step)
            w, iterations = rough.point.w, rough.iterations
    solution = solve_penalized(loss, penalties, w, tolerance=_CLOSE, scale=scale, newton=newton)
    return Solution(solution.point, solution.iterations + iterations, solution.fits)
