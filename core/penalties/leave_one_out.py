"""The scale of the penalties that predicts rows best when each is left out (approximately).

For classes the Laplace evidence is off where the rows are fitted closely or hardly at all: on wide
tables it holds the weights back too far, on separable ones as well. Here the ratios between groups
are the evidence's (MacKay 1992), and one number that all log penalties are moved by is the
minimizer of the approximate leave-one-out log loss (core.penalties.left_out), less the log of a
wide prior (core.penalties.scale_search). With one group the evidence is not needed; and where the
table is too large for it, five folds are left out instead of each row (core.penalties.folds).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.errors import UnusableError
from core.optimize.blas_threads import one_blas_thread
from core.penalties import evidence
from core.penalties.left_out import LARGEST, has_one_factor, is_of_classes, left_out
from core.penalties.problem import PenaltyProblem
from core.penalties.scale_search import (
    NEAR,
    SWITCHED_OFF,
    ScaleSearch,
    log_prior_variance,
    negative_log_prior,
)
from core.penalties.step import Step

_SEARCH_STEPS = 30  # of all steps, kept for the search after the evidence
_AT_END = "The penalty ran to the end of its range: leaving rows out in turn set no limit there."


@dataclass(frozen=True)
class LooOptions:
    """The one option: the most steps."""

    max_steps: int = 130


@one_blas_thread
def run(problem: PenaltyProblem, options: LooOptions = LooOptions()) -> Iterator[Step]:
    """The points of the search at which the leave-one-out log loss fell, the last the minimum.

    Raises:
        UnusableError: the loss is not of classes of table rows, or too large for its groups.
    """
    loss, grouped, most = problem.loss, problem.grouping, options.max_steps
    several = grouped.count - int(grouped.empty.sum()) > 1
    if not is_of_classes(loss) or (several and not has_one_factor(loss)):
        raise UnusableError(
            "leaving rows out in turn is worked out for classes, and with several groups for at "
            f"most {LARGEST:,} weights (two classes: or {LARGEST:,} rows)",
            where="strategy loo",
            cure="choose the strategy evidence",
        )
    C, w, fits, number = np.ones(grouped.count), loss.start(), 0, 0
    if several:
        before = evidence.EvidenceOptions(max_steps=max(1, most - _SEARCH_STEPS))
        for step in evidence.run(problem, before):
            penalties = grouped.per_parameter(step.C)
            value = left_out(loss, step.w, penalties).value
            value += negative_log_prior(log_prior_variance(loss, penalties))
            yield replace(step, objective=value, parameters=None, remarks=())
            C, w, fits, number = step.C, step.w, step.fits, step.number + 1
    search = ScaleSearch(loss, grouped, C, w)
    search.fits += fits
    yield _step(search, number)
    yield from _searched(search, number, max(1, most - number - 1))


def _searched(search: ScaleSearch, number: int, most: int) -> Iterator[Step]:
    """A step wherever the search finds a lower f, then the last one."""
    last = number + most
    while number < last and (t := search.next()) is not None:
        before = search.best.t
        search.evaluate(t)
        if search.best.t != before:
            number += 1
            yield _step(search, number)
    yield _step(search, number + 1, done=True)


def _step(search: ScaleSearch, number: int, done: bool = False) -> Step:
    """The best point as a learner's step, the last one fitted to its end."""
    best = search.best
    w = search.fitted() if done else best.w.copy()
    C = search.C * np.exp(best.t)
    at_end = min(abs(best.t - bound) for bound in search.bounds) < NEAR
    return Step(
        number=number,
        w=w,
        C=C,
        objective=best.value,
        loss=search.loss.at(w).value,
        norms=np.sqrt(search.grouped.squares(w)),
        switched_off=(np.log(C) > SWITCHED_OFF) | search.grouped.empty,
        iterations=search.iterations + (search.folds.iterations if search.folds else 0),
        fits=search.fits + (search.folds.fits if search.folds else 0),
        remarks=(_AT_END,) if done and at_end else (),
    )
