"""Direct minimization of Foo's objective by L-BFGS, the paper's baseline (Foo 2009, section 4).

f(w) = loss(w) + Σ_j (n_j/2 + α) log(½‖w_j‖² + β), from the solution at C = 1. f is not convex, and
the paper found this prone to poor local minima; it is offered for comparison.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| f | ``objective`` | | falls at every step |
| C | ``C`` | (k,) | (n_j/2 + α)/(½‖w_j‖² + β) at w; 1 at step 0 |
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.optimize.blas_threads import one_blas_thread
from core.optimize.lbfgs import minimize_steps
from core.optimize.loss import Loss
from core.optimize.newton import Newton
from core.penalties.group_penalty import LogPenalty
from core.penalties.learner_options import DirectOptions
from core.penalties.penalty_problem import PenaltyProblem
from core.penalties.remarks import collapse_remark, noise_floor_remark, rare_group_remark
from core.penalties.starting_point import first_point
from core.penalties.step import LearnerStep


@one_blas_thread
def direct_steps(
    problem: PenaltyProblem, options: DirectOptions = DirectOptions()
) -> Iterator[LearnerStep]:
    """The iterates of L-BFGS on f, from C = 1; UnusableError: β ≤ 0 or n_j/2 + α ≤ 0."""
    penalty = problem.log_penalty(options)
    loss = problem.loss
    grouped = penalty.grouping
    ones = np.ones(grouped.group_count)
    start = first_point(loss, grouped.per_parameter(ones), Newton(loss))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        penalties = grouped.per_parameter(penalty.penalties_at(w))
        return value + penalty.value_at(w), gradient + penalties * w

    last = np.inf
    for number, iterate in enumerate(minimize_steps(objective, start.point.w)):
        C = penalty.penalties_at(iterate.x) if number else ones
        settled = last - iterate.value < 1e-9 * max(1.0, abs(iterate.value))
        is_last = settled or number >= options.max_steps
        off = penalty.switched_off(C)
        yield LearnerStep(
            number=number,
            w=iterate.x,
            C=C,
            objective=iterate.value,
            loss=iterate.value - penalty.value_at(iterate.x),
            norms=np.sqrt(grouped.squares(iterate.x)),
            switched_off=off,
            iterations=1,
            fits=start.fits + iterate.evaluations,
            remarks=_remarks(loss, iterate.x, penalty, off) if is_last else (),
        )
        if is_last:
            return
        last = iterate.value


def _remarks(loss: Loss, w: np.ndarray, penalty: LogPenalty, off: np.ndarray) -> tuple[str, ...]:
    return collapse_remark(loss, w, off) + rare_group_remark(penalty) + noise_floor_remark(loss, w)
