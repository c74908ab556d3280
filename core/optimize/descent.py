"""One Newton step, and the penalized problem at fixed penalties solved with such steps.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| c | ``penalties`` | (n,) | a penalty for every parameter |
| g | ``slope`` | (n,) | gradient of the loss plus c ∘ w |
| λ² | | | −gᵀs, the square of the Newton decrement: twice the decrease that a step promises |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.optimize.armijo import backtrack
from core.optimize.loss import Correction, Loss, LossPoint
from core.optimize.newton import CurvatureMemory, Newton

# From this share of the objective on Newton's steps are not cut short any more.
_NEAR = 1e-7
# Nearer the minimum models hardly differ, and each further digit costs as much as the last.
_NEAREST = 1e-8
_MAX_APPROACH_STEPS = 1000
# A step that promises more than this share of the objective and gains nothing is a stalled one.
_STALLED = 1e-8
# What rounding may add to a sum of m logarithms, relative to its size.
_ROUNDING = 4e-15
_SHORTEST = 2.0**-30

Penalty = Callable[[np.ndarray], float]


@dataclass(frozen=True)
class Solution:
    """A minimizer of loss + ½ Σ c_i w_i²."""

    point: LossPoint
    iterations: int  # inner ones, in all
    fits: int  # Newton steps


@dataclass(frozen=True)
class StepTolerance:
    """How closely a Newton step is computed."""

    forcing: float = 0.1  # relative accuracy of conjugate gradients
    enough: float = 0.0  # they stop, too, when less than this can be gained
    stalled: float | None = None  # L-BFGS follows if more was promised in vain; None: usual share


@dataclass(frozen=True)
class NewtonStepResult:
    """The outcome of a Newton step."""

    point: LossPoint | None  # a lower one
    promised: float  # ½ λ²
    iterations: int  # inner ones
    lbfgs: int = 0  # iterations of L-BFGS, where it took over


def newton_step(
    newton: Newton,
    point: LossPoint,
    penalties: np.ndarray,
    corrections: Sequence[Correction | None] = (None,),
    accuracy: StepTolerance = StepTolerance(),
    penalty: Penalty | None = None,
) -> NewtonStepResult:
    """A Newton step on loss + ½ Σ c_i w_i², shortened until loss + penalty falls.

    `corrections`: what the majorizer has more of curvature than the objective, tried in turn;
    `penalty`: what ½ Σ c_i w_i² majorizes up to a constant at the point; None for itself.
    """
    penalty = penalty or quadratic_penalty(penalties)
    slope = point.gradient + penalties * point.w
    iterations = 0
    for correction in corrections:
        direction, inner_iterations = newton.direction(
            point, slope, penalties, correction, accuracy.forcing, accuracy.enough
        )
        iterations += inner_iterations
        reached = line_search(newton.loss, point, direction, slope, penalty)
        if reached is not None:
            break
    promised = -0.5 * float(slope @ direction)
    usual = _STALLED * (1.0 + abs(point.value))
    stalled = usual if accuracy.stalled is None else accuracy.stalled
    if reached is not None or promised <= stalled:
        return NewtonStepResult(reached, promised, iterations)
    memory = CurvatureMemory(newton.loss.size)
    reached, lbfgs = approach_minimum(newton.loss, memory, penalties, point, stalled, False)
    falls = reached.value + penalty(reached.w) < point.value + penalty(point.w)
    return NewtonStepResult(reached if falls else None, promised, iterations + lbfgs, lbfgs)


def quadratic_penalty(penalties: np.ndarray) -> Penalty:
    """The penalty ½ Σ c_i w_i² as a function of w."""
    return lambda w: 0.5 * float(penalties @ (w * w))


def line_search(
    loss: Loss, point: LossPoint, direction: np.ndarray, slope: np.ndarray, penalty: Penalty
) -> LossPoint | None:
    """The first of the steps 1, ½, ¼ … that lowers loss + penalty enough; None where none does."""
    promised = float(slope @ direction)
    if not promised < 0.0:
        return None
    value = point.value + penalty(point.w)
    rounding = _ROUNDING * abs(value)

    def step_to(size: float) -> tuple[np.ndarray, float] | None:
        if size < 1.0 and (size <= _SHORTEST or -size * promised < rounding):
            return None
        return point.w + size * direction, size * promised

    def evaluate(w: np.ndarray) -> tuple[float, LossPoint]:
        trial_point = loss.point_at(w)
        return trial_point.value + penalty(trial_point.w), trial_point

    accepted_step = backtrack(step_to, evaluate, value)
    return None if accepted_step is None else accepted_step[1]


def solve_penalized(
    loss: Loss,
    penalties: np.ndarray,
    w: np.ndarray,
    *,
    tolerance: float = 1e-9,
    scale: float | None = None,
    max_steps: int = 100,
    newton: Newton | None = None,
) -> Solution:
    """Minimizes loss(w) + ½ Σ c_i w_i² by Newton steps, by L-BFGS where they stall.

    It starts from w, and stops when a step promises a decrease of less than this share of the
    scale, None for 1 + |loss| where the step starts. `newton`: to go on with its preconditioner.
    """
    newton = newton or Newton(loss)
    point, iterations = loss.point_at(w), 0
    if (memory := newton.memory) is not None:
        tolerance = max(tolerance, _NEAREST)
        limit = max(tolerance, _NEAR) * (scale or 1.0)
        point, iterations = approach_minimum(loss, memory, penalties, point, limit, scale is None)
        if tolerance >= _NEAR:
            return Solution(point, iterations, 1)
    forcing = 0.1
    for fits in range(1, max_steps + 1):
        limit = tolerance * (scale or 1.0 + abs(point.value))
        accuracy = StepTolerance(forcing, 0.1 * limit, limit)
        step = newton_step(newton, point, penalties, [point.correction()], accuracy)
        iterations += step.iterations
        point = step.point or point
        if step.lbfgs:
            return Solution(point, iterations, fits + step.lbfgs)
        if step.point is None or step.promised <= limit:
            break
        forcing = min(0.1, max(1e-6, (step.promised / (1.0 + abs(point.value))) ** 0.5))
    return Solution(point, iterations, fits)


def approach_minimum(
    loss: Loss,
    memory: CurvatureMemory,
    penalties: np.ndarray,
    point: LossPoint,
    limit: float,
    is_relative: bool,
) -> tuple[LossPoint, int]:
    """A point near the minimum by L-BFGS with the remembered curvature, and its iterations.

    It stops when a step promises less than the limit, a share of 1 + |loss| if it is relative.
    """
    penalty = quadratic_penalty(penalties)
    for iteration in range(1, _MAX_APPROACH_STEPS + 1):
        slope = point.gradient + penalties * point.w
        steepness = float(np.sqrt(slope @ slope))
        direction = -memory.approximate_inverse(penalties, curvature=steepness)(slope)
        promised = -0.5 * float(slope @ direction)
        if memory and promised <= limit * (1.0 + abs(point.value) if is_relative else 1.0):
            return point, iteration
        reached = line_search(loss, point, direction, slope, penalty)
        if reached is None:
            return point, iteration
        memory.add_pair(reached.w - point.w, reached.gradient - point.gradient)
        point = reached
    return point, _MAX_APPROACH_STEPS


# So many examples for every parameter of a score are enough for all but Newton's last steps.
_ROWS_A_COLUMN = 10
_MIN_ROWS = 1000
# A start this close, as a share of the loss without weights, is all that the steps after it need.
_CLOSE = 1e-3


def first_point(loss: Loss, penalties: np.ndarray, newton: Newton) -> Solution:
    """A point within a thousandth of the minimum of loss + ½ Σ c_i w_i², as the start counts it."""
    w, iterations = loss.initial_weights(), 0
    scale = 1.0 + abs(loss.point_at(w).value)
    step = int(loss.examples // max(_ROWS_A_COLUMN * loss.score_size, _MIN_ROWS))
    # Thinned by less, the sample would cost about as much as the steps on all that it saves.
    if step >= 3:
        sample = loss.every_nth_row(step)
        if sample is not None:
            c = penalties / step
            rough = solve_penalized(sample, c, w, tolerance=_CLOSE, scale=scale / step)
            w, iterations = rough.point.w, rough.iterations
    solution = solve_penalized(loss, penalties, w, tolerance=_CLOSE, scale=scale, newton=newton)
    return Solution(solution.point, solution.iterations + iterations, solution.fits)


TIGHT = 1e-12  # how near its minimum the final model must be, as a share of the loss


def per_weight(C: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """c_i = C_π(i), shape (n,), 0 for intercepts; π (n,) is −1 there, C of shape (k,)."""
    return np.concatenate(([0.0], C))[groups + 1]


def final_fit(loss: Loss, groups: np.ndarray, C: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The minimizer of loss(w) + ½ Σ_j C_j ‖w_j‖², shape (n,), from the weights `start`."""
    return solve_penalized(loss, per_weight(C, groups), start, tolerance=TIGHT).point.w
