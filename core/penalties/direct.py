"""Direct minimization of Foo's objective by L-BFGS, the paper's baseline (Foo 2009, section 4).

f(w) = loss(w) + Σ_j (n_j/2 + α) log(½‖w_j‖² + β), from the solution at C = 1. f is not convex, and
the paper found this prone to poor local minima; it is offered for comparison.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| f | ``objective`` | | falls at every step |
| C | ``C`` | (k,) | (n_j/2 + α)/(½‖w_j‖² + β) at w; 1 at step 0 |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from core.optimize.blas_threads import one_blas_thread
from core.optimize.lbfgs import minimize_steps
from core.optimize.loss import Loss
from core.optimize.newton import Newton
from core.penalties.group_penalty import grouping, log_penalty
from core.penalties.mm import prior
from core.penalties.remarks import collapse, floor
from core.penalties.start import first_point
from core.penalties.step import Step


@one_blas_thread
def run(
    loss: Loss,
    groups: np.ndarray,
    options: Mapping[str, Any],
    seed: int = 0,
    *,
    holdout: object = None,
    group_count: int | None = None,
    counted: np.ndarray | None = None,
) -> Iterator[Step]:
    """The iterates of L-BFGS on f, from the solution at C = 1.

    Args:
        loss: −log p(data | w).
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: alpha, beta, preset, max_steps.
        seed: unused, nothing is random.
        holdout: unused.
        group_count: k, where the last groups may be empty.
        counted: the parameters that n_j counts, boolean, shape (n,); None for all. What never
            comes in the data (a word with a label that it never has) is penalized, not counted.

    Raises:
        UnusableError: β ≤ 0 or n_j/2 + α ≤ 0.
    """
    penalty = log_penalty(grouping(groups, group_count, counted), *prior(options))
    grouped, most = penalty.grouping, int(options.get("max_steps", 500))
    start = first_point(loss, np.where(np.asarray(groups) < 0, 0.0, 1.0), Newton(loss))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        return value + penalty.value(w), gradient + grouped.spread(penalty.update(w)) * w

    last = np.inf
    for number, at in enumerate(minimize_steps(objective, start.point.w)):
        C = penalty.update(at.x) if number else np.ones(grouped.count)
        done = number >= most or last - at.value < 1e-9 * max(1.0, abs(at.value))
        off = penalty.switched_off(C)
        yield Step(
            number=number,
            w=at.x,
            C=C,
            objective=at.value,
            loss=at.value - penalty.value(at.x),
            norms=np.sqrt(grouped.squares(at.x)),
            switched_off=off,
            iterations=1,
            fits=start.fits + at.evaluations,
            remarks=collapse(loss, at.x, off) + floor(loss, at.x) if done else (),
        )
        if done:
            return
        last = at.value
