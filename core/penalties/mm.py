"""Majorization-minimization of the objective with the penalties integrated out (Foo 2009).

Minimizes f(w) = loss(w) + Σ_j (n_j/2 + α) log(½‖w_j‖² + β) (eq. 6). The logarithms are concave:
their tangents at the last w lie above them, so that lowering
loss(w) + ½ Σ_j C_j ‖w_j‖² with C_j = (n_j/2 + α)/(½‖w_j‖² + β) lowers f (algorithm 2).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| t | ``number`` | | step; C = 1 at step 0 |
| C | ``C`` | (k,) | penalties at step t |
| f | ``f`` | | falls at every step from 1 on |

Each step updates C and takes one Newton step. Once C hardly moves, the step takes into account
that C moves with w, which changes no fixed point and makes the last steps converge quadratically.
The paper's majorizer as printed leaves α out; n_j/2 + α is used throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import Accuracy, newton_step
from core.optimize.loss import Correction, Loss, LossAt
from core.optimize.newton import Newton
from core.penalties.eigenbasis import diagonalized
from core.penalties.group_penalty import GammaPrior, LogPenalty
from core.penalties.problem import PenaltyProblem
from core.penalties.remarks import bounded, collapse, floor, mostly_off, nothing_to_prune
from core.penalties.start import first_point
from core.penalties.step import Step

# Groups beyond this many are too many for their correction to be worth its solves.
_MOST_CORRECTED = 40


@dataclass(frozen=True)
class MmOptions(GammaPrior):
    """Options of MM: the prior's, the most steps, and the change of log C that ends it."""

    max_steps: int = 100
    tolerance: float = 1e-3


@dataclass(frozen=True)
class _Iterate:
    """Step t: w and the loss there, C, f, how far log C moved, the share that f fell, and costs."""

    number: int
    point: LossAt
    C: np.ndarray
    f: float
    moved: float
    gained: float
    iterations: int
    fits: int

    def done(self, options: MmOptions) -> bool:
        """Whether nothing moves any more, or the steps are spent."""
        settled = self.moved < options.tolerance and self.gained < 1e-5 * options.tolerance
        return self.number >= options.max_steps or settled


@one_blas_thread
def run(problem: PenaltyProblem, options: MmOptions = MmOptions()) -> Iterator[Step]:
    """The steps of MM on a loss: one update of C and one Newton step each (algorithm 2).

    Raises:
        UnusableError: β ≤ 0 or n_j/2 + α ≤ 0.
    """
    penalty = problem.log_penalty(options)
    loss, grouped, back = diagonalized(problem.loss, penalty.grouping)
    newton, penalty = Newton(loss), replace(penalty, grouping=grouped)
    at = _start(newton, penalty)
    yield _report(at, newton, penalty, back, done=False)
    done = False
    while not done:
        at = _update(at, newton, penalty)
        done = at.done(options)
        yield _report(at, newton, penalty, back, done)


def _start(newton: Newton, penalty: LogPenalty) -> _Iterate:
    """Near the solution at C = 1."""
    C = np.ones(penalty.grouping.count)
    found = first_point(newton.loss, penalty.grouping.per_parameter(C), newton)
    f = found.point.value + penalty.value(found.point.w)
    return _Iterate(0, found.point, C, f, np.inf, np.inf, found.iterations, found.fits)


def _update(at: _Iterate, newton: Newton, penalty: LogPenalty) -> _Iterate:
    """C from w, then one Newton step that lowers the majorizer at C, and with it f."""
    C = penalty.update(at.point.w)
    changes = np.abs(np.log(C / at.C))
    moved = float(changes[~penalty.grouping.empty].max(initial=0.0))
    step = newton_step(
        newton,
        at.point,
        penalty.grouping.per_parameter(C),
        _corrections(at.point, C, penalty, moved),
        Accuracy(min(0.1, max(1e-4, 0.1 * moved)), 1e-9 * (1.0 + abs(at.point.value))),
        penalty.value,
    )
    point = step.point or at.point
    f = point.value + penalty.value(point.w)
    gained = (at.f - f) / max(1.0, abs(f))
    return _Iterate(at.number + 1, point, C, f, moved, gained, step.iterations, at.fits + 1)


def _corrections(
    point: LossAt, C: np.ndarray, penalty: LogPenalty, moved: float
) -> list[Correction | None]:
    """First the curvature that f really has, if C is near its place; then the majorizer's."""
    if moved > 1.0 or penalty.grouping.count > _MOST_CORRECTED:
        return [None]
    # The Hessian of a log(½‖w_j‖² + β) is C − (C²/a) w_j w_jᵀ.
    U, D = penalty.grouping.columns(point.w), C**2 / penalty.powers
    own = point.correction()
    if own is not None:
        U, D = np.column_stack((U, own.U)), np.concatenate((D, own.D))
    return [Correction(U, D), None]


def _report(
    at: _Iterate,
    newton: Newton,
    penalty: LogPenalty,
    back: Callable[[np.ndarray], np.ndarray],
    done: bool,
) -> Step:
    off = penalty.switched_off(at.C)
    return Step(
        number=at.number,
        w=back(at.point.w).copy(),
        C=at.C.copy(),
        objective=at.f,
        loss=at.point.value,
        norms=np.sqrt(penalty.grouping.squares(at.point.w)),
        switched_off=off,
        iterations=at.iterations,
        fits=at.fits,
        remarks=_remarks(at, newton.loss, penalty, off) if done else (),
    )


def _remarks(at: _Iterate, loss: Loss, penalty: LogPenalty, off: np.ndarray) -> tuple[str, ...]:
    said = collapse(loss, at.point.w, off) + mostly_off(penalty, off)
    said += nothing_to_prune(penalty) + bounded(penalty)
    return said + floor(loss, at.point.w)
