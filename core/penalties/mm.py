"""Foo's objective with the penalties integrated out, by majorization or directly (Foo 2009).

Minimizes f(w) = loss(w) + Σ_j (n_j/2 + α) log(½‖w_j‖² + β) (eq. 6). The logarithms are concave:
their tangents at the last w lie above them, so that lowering
loss(w) + ½ Σ_j C_j ‖w_j‖² with C_j = (n_j/2 + α)/(½‖w_j‖² + β) lowers f (algorithm 2).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| t | ``number`` | | step; C = 1 at step 0 |
| C | ``C`` | (k,) | penalties at step t |
| f | ``f`` | | falls at every step from 1 on |

Each step updates C and takes one Newton step. The paper's majorizer as printed leaves α out;
n_j/2 + α is used throughout.

Direct minimization of f by L-BFGS from the solution at C = 1 is the paper's baseline (section 4).
f is not convex, and the paper found this prone to poor local minima: it is for comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.optimize.descent import StepTolerance, first_point, newton_step
from core.optimize.lbfgs import minimize_steps
from core.optimize.loss import Correction, Loss, LossPoint
from core.optimize.newton import Newton
from core.penalties.group_penalty import (
    LogPenalty,
    collapse_remark,
    mostly_off,
    nothing_to_prune,
    rare_group_remark,
    without_error,
)
from core.penalties.marginal import WeightMap, diagonalized
from core.penalties.penalty_problem import (
    DirectOptions,
    LearnerStep,
    MmOptions,
    PenaltyProblem,
    one_blas_thread,
)
from core.penalties.unit_share import counting_units

# Groups beyond this many are too many for their correction to be worth its solves.
_MAX_CORRECTED_GROUPS = 40


@dataclass(frozen=True)
class _Iterate:
    """Step t: w and the loss there, C, f, the change of log C, the share that f fell, and costs."""

    number: int
    point: LossPoint
    C: np.ndarray
    f: float
    log_C_change: float
    f_decrease: float
    iterations: int
    fits: int

    def is_done(self, options: MmOptions) -> bool:
        tolerance = options.tolerance
        settled = self.log_C_change < tolerance and self.f_decrease < 1e-5 * tolerance
        return self.number >= options.max_steps or settled


@one_blas_thread
@counting_units
def mm_steps(problem: PenaltyProblem, options: MmOptions = MmOptions()) -> Iterator[LearnerStep]:
    """The steps of MM, one update of C and one Newton step each (algorithm 2).

    Raises UnusableError: β ≤ 0 or n_j/2 + α ≤ 0.
    """
    penalty = problem.log_penalty(options)
    loss, grouped, back = diagonalized(problem.loss, penalty.grouping, only_wide=True)
    newton, penalty = Newton(loss), replace(penalty, grouping=grouped)
    iterate = _first_iterate(newton, penalty)
    yield _make_step(iterate, loss, penalty, back, is_last=False)
    is_last = False
    while not is_last:
        iterate = _next_iterate(iterate, newton, penalty)
        is_last = iterate.is_done(options)
        yield _make_step(iterate, loss, penalty, back, is_last)


def _first_iterate(newton: Newton, penalty: LogPenalty) -> _Iterate:
    C = np.ones(penalty.grouping.group_count)
    solution = first_point(newton.loss, penalty.grouping.per_parameter(C), newton)
    f = solution.point.value + penalty.value_at(solution.point.w)
    return _Iterate(0, solution.point, C, f, np.inf, np.inf, solution.iterations, solution.fits)


def _next_iterate(iterate: _Iterate, newton: Newton, penalty: LogPenalty) -> _Iterate:
    """C from w, then one Newton step that lowers the majorizer at C, and with it f."""
    C = penalty.penalties_at(iterate.point.w)
    changes = np.abs(np.log(C / iterate.C))
    log_C_change = float(changes[~penalty.grouping.is_empty].max(initial=0.0))
    penalties, start = penalty.grouping.per_parameter(C), iterate.point
    corrections = _corrections(start, C, penalty, log_C_change)
    # While C still moves far, a rough step is as good as an exact one.
    forcing = min(0.1, max(1e-4, 0.1 * log_C_change))
    accuracy = StepTolerance(forcing, 1e-9 * (1.0 + abs(start.value)))
    step = newton_step(newton, start, penalties, corrections, accuracy, penalty.value_at)
    point = step.point or start
    f = point.value + penalty.value_at(point.w)
    f_decrease = (iterate.f - f) / max(1.0, abs(f))
    number, fits = iterate.number + 1, iterate.fits + 1
    return _Iterate(number, point, C, f, log_C_change, f_decrease, step.iterations, fits)


def _corrections(
    point: LossPoint, C: np.ndarray, penalty: LogPenalty, log_C_change: float
) -> list[Correction | None]:
    """First the curvature that f really has, if C is near its place; then the majorizer's."""
    if log_C_change > 1.0 or penalty.grouping.group_count > _MAX_CORRECTED_GROUPS:
        return [None]
    # The Hessian of a log(½‖w_j‖² + β) is C − (C²/a) w_j w_jᵀ.
    U, D = penalty.grouping.columns(point.w), C**2 / penalty.powers
    loss_correction = point.correction()
    if loss_correction is not None:
        U, D = np.column_stack((U, loss_correction.U)), np.concatenate((D, loss_correction.D))
    return [Correction(U, D), None]


def _make_step(
    iterate: _Iterate, loss: Loss, penalty: LogPenalty, back: WeightMap, is_last: bool
) -> LearnerStep:
    w, off = iterate.point.w, penalty.switched_off(iterate.C)
    remarks: tuple[str, ...] = ()
    if is_last:
        remarks = collapse_remark(loss, w, off) + mostly_off(penalty, off)
        remarks += nothing_to_prune(penalty) + rare_group_remark(penalty)
        remarks += without_error(loss) if loss.is_at_floor(w) else ()
    return LearnerStep(
        number=iterate.number,
        w=back(w).copy(),
        C=iterate.C.copy(),
        objective=iterate.f,
        loss=iterate.point.value,
        norms=np.sqrt(penalty.grouping.squares(w)),
        switched_off=off,
        iterations=iterate.iterations,
        fits=iterate.fits,
        remarks=remarks,
    )


@one_blas_thread
@counting_units
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
    for number, accepted in enumerate(minimize_steps(objective, start.point.w)):
        C = penalty.penalties_at(accepted.x) if number else ones
        gained, fits = last - accepted.value, start.fits + accepted.evaluations
        is_last = gained < 1e-9 * max(1.0, abs(accepted.value)) or number >= options.max_steps
        point = loss.point_at(accepted.x)
        iterate = _Iterate(number, point, C, accepted.value, np.inf, gained, 1, fits)
        yield _make_step(iterate, loss, penalty, lambda w: w, is_last)
        if is_last:
            return
        last = accepted.value
