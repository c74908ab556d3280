"""The scale of the penalties that predicts rows best when each is left out (approximately).

For classes the Laplace evidence holds the weights back too far on wide tables and on separable
ones. The ratios between groups are the evidence's (MacKay 1992); one number that all log penalties
are moved by minimizes the approximate leave-one-out log loss less the log of a wide prior. Where
the table is too large, five folds are left out instead of each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.errors import UnusableError
from core.optimize.blas_threads import one_blas_thread
from core.penalties import evidence
from core.penalties.learner_options import EvidenceOptions, LooOptions
from core.penalties.leave_one_out_loss import (
    LARGEST,
    has_one_factor,
    is_of_classes,
    leave_one_out_loss,
)
from core.penalties.penalty_problem import PenaltyProblem
from core.penalties.scale_search import (
    NEAR,
    SWITCHED_OFF,
    ScaleSearch,
    log_prior_variance,
    negative_log_prior,
)
from core.penalties.step import LearnerStep

_MIN_SEARCH_STEPS = 30  # of all steps, kept for the search after the evidence
_AT_END = "The penalty ran to the end of its range: leaving rows out in turn set no limit there."


@one_blas_thread
def leave_one_out_steps(
    problem: PenaltyProblem, options: LooOptions = LooOptions()
) -> Iterator[LearnerStep]:
    """The search's points at which the leave-one-out log loss fell, the last the minimum.

    Raises UnusableError: the loss is not of classes of table rows, or too large for its groups.
    """
    loss, grouped, max_steps = problem.loss, problem.grouping, options.max_steps
    is_grouped = grouped.group_count - int(grouped.is_empty.sum()) > 1
    if not is_of_classes(loss) or (is_grouped and not has_one_factor(loss)):
        raise UnusableError(
            "leaving rows out in turn is worked out for classes, and with several groups for at "
            f"most {LARGEST:,} weights (two classes: or {LARGEST:,} rows)",
            where="strategy loo",
            cure="choose the strategy evidence",
        )
    C, w, fits, number = np.ones(grouped.group_count), loss.initial_weights(), 0, 0
    if is_grouped:
        before = EvidenceOptions(max_steps=max(1, max_steps - _MIN_SEARCH_STEPS))
        for step in evidence.evidence_steps(problem, before):
            penalties = grouped.per_parameter(step.C)
            value = leave_one_out_loss(loss, step.w, penalties).value
            value += negative_log_prior(log_prior_variance(loss, penalties))
            yield replace(step, objective=value, parameters=None, remarks=())
            C, w, fits, number = step.C, step.w, step.fits, step.number + 1
    search = ScaleSearch(loss, grouped, C, w)
    search.fits += fits
    yield _make_step(search, number)
    yield from _search_steps(search, number, max(1, max_steps - number - 1))


def _search_steps(search: ScaleSearch, number: int, max_steps: int) -> Iterator[LearnerStep]:
    """A step at each lower f of the search, then the last one."""
    last = number + max_steps
    while number < last and (t := search.next_t()) is not None:
        before = search.best_point.t
        search.evaluate(t)
        if search.best_point.t != before:
            number += 1
            yield _make_step(search, number)
    yield _make_step(search, number + 1, is_last=True)


def _make_step(search: ScaleSearch, number: int, is_last: bool = False) -> LearnerStep:
    """The best point as a learner's step, the last one fitted to its end."""
    best = search.best_point
    w = search.final_weights() if is_last else best.w.copy()
    C = search.C * np.exp(best.t)
    at_end = min(abs(best.t - bound) for bound in search.bounds) < NEAR
    return LearnerStep(
        number=number,
        w=w,
        C=C,
        objective=best.value,
        loss=search.loss.point_at(w).value,
        norms=np.sqrt(search.grouped.squares(w)),
        switched_off=(np.log(C) > SWITCHED_OFF) | search.grouped.is_empty,
        iterations=search.iterations + (search.folds.iterations if search.folds else 0),
        fits=search.fits + (search.folds.fits if search.folds else 0),
        remarks=(_AT_END,) if is_last and at_end else (),
    )
