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
from dataclasses import dataclass

import numpy as np

from core.optimize.blas_threads import one_blas_thread
from core.optimize.lbfgs import minimize_steps
from core.optimize.loss import Loss
from core.optimize.newton import Newton
from core.penalties.group_penalty import GammaPrior, LogPenalty
from core.penalties.problem import PenaltyProblem
from core.penalties.remarks import bounded, collapse, floor
from core.penalties.start import first_point
from core.penalties.step import Step


@dataclass(frozen=True)
class DirectOptions(GammaPrior):
    """Options of direct minimization: the prior's, and the most steps."""

    max_steps: int = 500


@one_blas_thread
def run(problem: PenaltyProblem, options: DirectOptions = DirectOptions()) -> Iterator[Step]:
    """The iterates of L-BFGS on f, from the solution at C = 1.

    Raises:
        UnusableError: β ≤ 0 or n_j/2 + α ≤ 0.
    """
    penalty = problem.log_penalty(options)
    loss = problem.loss
    grouped = penalty.grouping
    ones = np.ones(grouped.count)
    start = first_point(loss, grouped.per_parameter(ones), Newton(loss))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        return value + penalty.value(w), gradient + grouped.per_parameter(penalty.update(w)) * w

    last = np.inf
    for number, at in enumerate(minimize_steps(objective, start.point.w)):
        C = penalty.update(at.x) if number else ones
        done = number >= options.max_steps or last - at.value < 1e-9 * max(1.0, abs(at.value))
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
            remarks=_remarks(loss, at.x, penalty, off) if done else (),
        )
        if done:
            return
        last = at.value


def _remarks(loss: Loss, w: np.ndarray, penalty: LogPenalty, off: np.ndarray) -> tuple[str, ...]:
    return collapse(loss, w, off) + bounded(penalty) + floor(loss, w)
