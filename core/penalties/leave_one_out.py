"""The scale of the penalties that predicts rows best when each is left out (approximately).

For classes the Laplace evidence is off where the rows are fitted closely or hardly at all: on wide
tables it holds the weights back too far, on separable ones as well. Here the ratios between groups
are the evidence's (MacKay 1992), and one number t that all log penalties are moved by is the
minimizer of the approximate leave-one-out log loss (core.penalties.left_out). With one group the
evidence is not needed.

| symbol | code | meaning |
| --- | --- | --- |
| C_j | ``C`` | penalties, C_j = e^t times where the search began |
| t | ``t`` | what all log penalties are moved by |
| f(t) | ``value`` | the leave-one-out log loss at the weights fitted there |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.losses.loss import Loss
from core.penalties import evidence
from core.penalties.blas_threads import one_blas_thread
from core.penalties.descent import solve
from core.penalties.group_penalty import Grouping, grouping, log_penalty
from core.penalties.left_out import can_leave_out, left_out_loss
from core.penalties.newton import Newton
from core.penalties.step import Step

_FIRST_STEP = 1.5
_LONGEST_STEP = 4.0
# The log loss is so flat at its minimum that nobody could tell models nearer than this apart.
_NEAR = 0.35
_ACCURACY = 1e-4  # of the fits, as a share of the loss
_LOWEST, _HIGHEST = -14.0, 16.0  # log C
_SEARCH_STEPS = 30  # of all steps, kept for the search after the evidence


@dataclass(frozen=True)
class _Tried:
    """One point of the search: t, f(t) and the weights there."""

    t: float
    value: float
    w: np.ndarray


@one_blas_thread
def run(
    loss: Loss,
    groups: np.ndarray,
    options: Mapping[str, Any],
    seed: int = 0,
    *,
    holdout: object = None,
    group_count: int | None = None,
    counted: object = None,
) -> Iterator[Step]:
    """The points of the search at which the leave-one-out log loss fell, the last the minimum.

    Args:
        loss: of two or more classes of table rows.
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: max_steps.
        seed: of the evidence, where there are several groups.
        holdout: unused, every row validates.
        group_count: k, where the last groups may be empty.
        counted: unused, nothing is counted.

    Raises:
        UnusableError: the loss is another one, or too large for it.
    """
    if not can_leave_out(loss):
        raise UnusableError(
            "leaving rows out in turn is worked out for classes, and for tables of at most 2,000 "
            "weights (two classes: or 2,000 rows)",
            where="strategy loo",
            cure="choose the strategy evidence",
        )
    grouped = grouping(groups, group_count)
    start, number = _Start(np.ones(grouped.count), loss.start(), 0), 0
    most = int(options.get("max_steps", 130))
    if grouped.count - int(grouped.empty.sum()) > 1:
        before = {"max_steps": max(1, most - _SEARCH_STEPS)}
        for step in evidence.run(loss, groups, before, seed, group_count=grouped.count):
            value = left_out_loss(loss, step.w, grouped.spread(step.C))
            yield replace(step, objective=value, parameters=None, remarks=())
            start, number = _Start(step.C, step.w, step.fits), step.number + 1
    search = _Search(loss, grouped, start)
    yield search.step(number)
    yield from _searched(search, number, max(1, most - number - 1))


def _searched(search: _Search, number: int, most: int) -> Iterator[Step]:
    """A step wherever the search finds a lower f, then the last one."""
    last = number + most
    while number < last and (t := search.next()) is not None:
        before = search.best.t
        search.evaluate(t)
        if search.best.t != before:
            number += 1
            yield search.step(number)
    yield search.step(number + 1, done=True)


@dataclass(frozen=True)
class _Start:
    """C and w where the search begins, and the fits until then."""

    C: np.ndarray
    w: np.ndarray
    fits: int


class _Search:
    """The search for t: a bracket by growing steps, then parabolas through its three points."""

    def __init__(self, loss: Any, grouped: Grouping, start: _Start) -> None:
        self.loss, self.grouped, self.C, self.fits = loss, grouped, start.C, start.fits
        self.newton, self.iterations = Newton(loss), 0
        self.tried: list[_Tried] = []
        C = start.C
        # Groups that the evidence has switched off stay so, wherever the others go.
        logs = np.log(C[~grouped.empty & (np.log(C) < _HIGHEST)])
        self.bounds = (
            _LOWEST - float(logs.min(initial=0.0)),
            _HIGHEST - float(logs.max(initial=_LOWEST)),
        )
        self._w = start.w
        self.evaluate(0.0)

    @property
    def best(self) -> _Tried:
        """The point of the lowest f."""
        return min(self.tried, key=lambda one: one.value)

    def evaluate(self, t: float) -> None:
        """Fit at t, from the nearest weights known, and leave every row out there."""
        near = min(self.tried, key=lambda one: abs(one.t - t)).w if self.tried else self._w
        penalties = self.grouped.spread(self.C * math.exp(t))
        found = solve(self.loss, penalties, near, tolerance=_ACCURACY, newton=self.newton)
        self.fits += found.fits
        self.iterations += found.iterations
        value = left_out_loss(self.loss, found.point.w, penalties)
        self.tried.append(_Tried(t, value, found.point.w))

    def next(self) -> float | None:
        """Where to look next; None where the minimum is known closely enough."""
        ordered = sorted(self.tried, key=lambda one: one.t)
        at = ordered.index(self.best)
        low, high = self.bounds
        if at == len(ordered) - 1:
            return self._onward(ordered[at - 1] if at else None, ordered[at], high, 1.0)
        if at == 0:
            return self._onward(ordered[1], ordered[0], low, -1.0)
        return _inside(ordered[at - 1], ordered[at], ordered[at + 1])

    def _onward(
        self, before: _Tried | None, end: _Tried, bound: float, sign: float
    ) -> float | None:
        """A longer step beyond the end that is the best so far, unless little is gained."""
        if abs(end.t - bound) < _NEAR:
            return None
        if before is None:
            return self._first()
        if before.value - end.value < 1e-5 * abs(end.value):
            return None
        step = min(2.0 * abs(end.t - before.t), _LONGEST_STEP)
        return min(end.t + step, bound) if sign > 0 else max(end.t - step, bound)

    def _first(self) -> float:
        """Where to look after the start: MM's update of one penalty, or beside the evidence's."""
        low, high = self.bounds
        update = log_penalty(self.grouped, 0.0, 1.0).update(self.best.w)
        moves = np.log(update / self.C)[~self.grouped.empty]
        t = float(moves[0]) if len(moves) == 1 else _FIRST_STEP
        t = math.copysign(max(abs(t), _NEAR), t)
        return min(max(t, low), high)

    def step(self, number: int, done: bool = False) -> Step:
        """The best point as a learner's step."""
        best = self.best
        C = self.C * math.exp(best.t)
        at_end = min(abs(best.t - bound) for bound in self.bounds) < _NEAR
        return Step(
            number=number,
            w=best.w.copy(),
            C=C,
            objective=best.value,
            loss=self.loss.at(best.w).value,
            norms=np.sqrt(self.grouped.squares(best.w)),
            switched_off=(np.log(C) > _HIGHEST - 2.0) | self.grouped.empty,
            iterations=self.iterations,
            fits=self.fits,
            remarks=(_AT_END,) if done and at_end else (),
        )


_AT_END = "The penalty ran to the end of its range: leaving rows out in turn set no limit there."


def _inside(left: _Tried, middle: _Tried, right: _Tried) -> float | None:
    """The minimum of the parabola through a bracket; None where it is near the middle already."""
    a, b = middle.t - left.t, right.t - middle.t
    down, up = left.value - middle.value, right.value - middle.value
    bent = down * b + up * a
    if not bent > 0.0:
        return None
    move = 0.5 * (down * b * b - up * a * a) / bent
    if abs(move) < _NEAR:
        return None if max(a, b) <= 2.0 * _FIRST_STEP else _halfway(left, middle, right)
    return middle.t + float(np.clip(move, -0.7 * a, 0.7 * b))


def _halfway(left: _Tried, middle: _Tried, right: _Tried) -> float:
    """The middle of the longer side of a bracket that is too wide for its parabola."""
    longer = right if right.t - middle.t > middle.t - left.t else left
    return 0.5 * (middle.t + longer.t)
