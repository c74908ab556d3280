"""Majorization-minimization of the objective with the penalties integrated out (Foo 2009).

Minimizes f(w) = loss(w) + Σ_j (n_j/2 + α) log(½‖w_j‖² + β) (eq. 6). The logarithms are concave:
their tangents at the last w lie above them, so that lowering
loss(w) + ½ Σ_j C_j ‖w_j‖² with C_j = (n_j/2 + α)/(½‖w_j‖² + β) lowers f (algorithm 2).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| t | ``number`` | | step; C = 1 at step 0 |
| C | ``C`` | (k,) | penalties at step t |
| f | ``objective`` | | falls at every step from 1 on |

Each step updates C and takes one Newton step. Once C hardly moves, the step takes into account
that C moves with w, which changes no fixed point and makes the last steps converge quadratically.
The paper's majorizer as printed leaves α out; n_j/2 + α is used throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import STALLED, by_lbfgs, line_search, loss_bends
from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Bends, Newton
from core.penalties.group_penalty import LogPenalty, grouping, log_penalty
from core.penalties.remarks import collapse, floor, mostly_off, nothing_to_prune
from core.penalties.rotation import easiest
from core.penalties.start import first_point
from core.penalties.step import Step

# Groups beyond this many are too many for their bends to be worth their solves.
_MOST_BENDS = 40


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
    """The steps of MM on a loss: one Newton step and one update of C each.

    Args:
        loss: −log p(data | w).
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: alpha, beta, preset, max_steps, tolerance.
        seed: unused, nothing is random.
        holdout: unused, no validation data is needed.
        group_count: k, where the last groups may be empty.
        counted: the parameters that n_j counts, boolean, shape (n,); None for all. What never
            comes in the data (a word with a label that it never has) is penalized, not counted.

    Raises:
        UnusableError: β ≤ 0 or n_j/2 + α ≤ 0.
    """
    alpha, beta = prior(options)
    penalty = log_penalty(grouping(groups, group_count, counted), alpha, beta)
    inner, grouped, back = easiest(loss, penalty.grouping)
    yield from _steps(inner, replace(penalty, grouping=grouped), back, options)


def prior(options: Mapping[str, Any]) -> tuple[float, float]:
    """α and β; a preset stands in for the one of them that is at its default."""
    alpha, beta = float(options.get("alpha", 0.0)), float(options.get("beta", 1.0))
    preset = options.get("preset", "paper")
    if preset == "authors" and alpha == 0.0:
        alpha = 0.5
    if preset == "sparse" and beta == 1.0:
        beta = 1e-4
    return alpha, beta


def _steps(
    loss: Loss,
    penalty: LogPenalty,
    back: Callable[[np.ndarray], np.ndarray],
    options: Mapping[str, Any],
) -> Iterator[Step]:
    most, tolerance = int(options.get("max_steps", 100)), float(options.get("tolerance", 1e-3))
    newton, grouped = Newton(loss), penalty.grouping
    C = np.ones(grouped.count)
    start = first_point(loss, grouped.spread(C), newton)
    point, fits = start.point, start.fits
    f = point.value + penalty.value(point.w)
    yield _step(0, point, C, f, penalty, back, start.iterations, fits, ())
    moved = np.inf
    for number in range(1, most + 1):
        C, last_C = penalty.update(point.w), C
        moved = float(np.max(np.abs(np.log(C / last_C)), where=~grouped.empty, initial=0.0))
        reached, iterations = _descend(newton, point, C, penalty, moved)
        gained = 0.0
        if reached is not None:
            point, last = reached, f
            f = point.value + penalty.value(point.w)
            gained = (last - f) / max(1.0, abs(f))
        fits += 1
        # Where no step lowers f any more, w stays and C stands still at the next.
        done = number == most or (moved < tolerance and gained < 1e-5 * tolerance)
        remarks = _remarks(loss, penalty, C, point.w) if done else ()
        yield _step(number, point, C, f, penalty, back, iterations, fits, remarks)
        if done:
            return


def _descend(
    newton: Newton, point: LossAt, C: np.ndarray, penalty: LogPenalty, moved: float
) -> tuple[LossAt | None, int]:
    """One Newton step that lowers f; with C(w) moving along once C hardly moves."""
    penalties = penalty.grouping.spread(C)
    slope = point.gradient + penalties * point.w
    forcing, enough = min(0.1, max(1e-4, 0.1 * moved)), 1e-9 * (1.0 + abs(point.value))
    iterations = 0
    for bends in _bend_choices(point, C, penalty, moved):
        direction, taken = newton.direction(point, slope, penalties, bends, forcing, enough)
        iterations += taken
        reached = line_search(newton.loss, point, direction, slope, penalty.value)
        if reached is not None:
            return reached, iterations
    if -0.5 * float(slope @ direction) > STALLED * (1.0 + abs(point.value)):
        reached, taken = by_lbfgs(newton.loss, penalties, point)
        before = point.value + penalty.value(point.w)
        if reached.value + penalty.value(reached.w) < before:
            return reached, iterations + taken
    return None, iterations


def _bend_choices(
    point: LossAt, C: np.ndarray, penalty: LogPenalty, moved: float
) -> list[Bends | None]:
    """First the curvature that f really has, if C is near its place; then the majorizer's."""
    if moved > 1.0 or penalty.grouping.count > _MOST_BENDS:
        return [None]
    # The Hessian of a log(½‖w_j‖² + β) is C − (C²/a) w_j w_jᵀ.
    U, D = penalty.grouping.columns(point.w), C**2 / penalty.powers
    own = loss_bends(point)
    if own is not None:
        U, D = np.column_stack((U, own.U)), np.concatenate((D, own.D))
    return [Bends(U, D), None]


def _remarks(loss: Loss, penalty: LogPenalty, C: np.ndarray, w: np.ndarray) -> tuple[str, ...]:
    off = penalty.switched_off(C)
    said = collapse(loss, w, off) + mostly_off(penalty, off)
    return said + nothing_to_prune(penalty) + floor(loss, w)


def _step(
    number: int,
    point: LossAt,
    C: np.ndarray,
    f: float,
    penalty: LogPenalty,
    back: Callable[[np.ndarray], np.ndarray],
    iterations: int,
    fits: int,
    remarks: tuple[str, ...],
) -> Step:
    return Step(
        number=number,
        w=back(point.w).copy(),
        C=C.copy(),
        objective=f,
        loss=point.value,
        norms=np.sqrt(penalty.grouping.squares(point.w)),
        switched_off=penalty.switched_off(C),
        iterations=iterations,
        fits=fits,
        remarks=remarks,
    )
