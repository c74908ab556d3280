"""The scale of the penalties that predicts units best when each is left out (approximately).

| symbol | code | meaning |
| --- | --- | --- |
| C_j | ``C`` | penalties, C_j = e^t times where the search began |
| t | ``t`` | what all log penalties are moved by |
| f(t) | ``value`` | the leave-one-out log loss at the weights fitted there, plus 1½ spreads |
| | ``share`` | what a row of a unit counts beside a single one, by which the loss is multiplied |
| | ``spread`` | the standard deviation over rows of the scores that are fitted there |

For classes the Laplace evidence holds the weights back too far on wide tables and on separable
ones. The ratios between groups are the evidence's (MacKay 1992); t minimizes f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from core.errors import UnusableError
from core.optimize.descent import solve_penalized
from core.optimize.newton import Newton
from core.penalties import evidence
from core.penalties.group_penalty import Grouping, log_penalty
from core.penalties.leave_one_out_loss import (
    CrossValidatedLoss,
    LeaveOneOutLoss,
    has_one_factor,
    leave_one_out_loss,
    needs_folds,
    shares_curvature,
)
from core.penalties.leverages import ColumnInverse
from core.penalties.penalty_problem import (
    EvidenceOptions,
    LearnerStep,
    LooOptions,
    PenaltyProblem,
    one_blas_thread,
)
from core.penalties.row_space import LARGEST, ClassLoss, class_count, spanned_problem
from core.penalties.shared_curvature import SharedCurvature, shared_curvature
from core.penalties.unit_share import effective_share

FIRST_STEP = 1.5
_FIRST_MOVE = 1.0  # of t at least, where nothing is known of f's slope
_LONGEST_STEP = 2.0
# Nearer in t than this the log loss of two models hardly differs.
NEAR = 0.35
# Share of f that nobody notices: less than this is not searched for.
_SLIGHT = 2e-3
# Nats that a step gains at least: where columns say nothing f falls ever more slowly.
_LITTLE = 0.05
# Nats that the last step of a fit promises. The curvature that rows share makes one step more;
# leaving out exactly goes on by dense steps, of which conjugate gradients save all but the last.
_SHARED_ACCURACY, _ACCURACY, _DENSE_ACCURACY = 0.03, 1e-8, 1.0
# Up to this `loss_error` C serves as well as that of the exact loss: it was .03 at most on tables
# made at random, .06 to .3 where classes were nearly separable.
_SHARED_ERROR = 0.04
_EXACT = 1e-6  # tolerance of the final fit, as a share of the loss
LOWEST, HIGHEST = -14.0, 16.0  # log C
SWITCHED_OFF = HIGHEST - 2.0  # from here on a group's weights are zero to all purposes
_MODEL_STEP = 0.5  # between the t where a local model is evaluated
# Of the least leave-one-out loss alone the test log loss was .0239 above that of the best penalty,
# of five folds' .0203, of f .0139, on average over 334 tables: ten generated families, and small
# parts of 16 files, by which it was chosen.
_SPREAD_COST = 1.5
_FIRST_VARIANCE = 9.0  # of the scores a priori, where folds begin


@dataclass(frozen=True)
class SearchPoint:
    """One point of the search: t, f(t), the weights there, and a model of f around it."""

    t: float
    value: float
    w: np.ndarray
    model: SharedCurvature | None


class ScaleSearch:
    """Searches the t of the lowest f: `next_t` proposes one, `evaluate` fits there.

    loss: of classes of table rows; C (k,) and w (n,): where the search begins; units: the unit of
    every row, shape (m,), None where each is one.
    """

    def __init__(
        self,
        loss: ClassLoss,
        grouped: Grouping,
        C: np.ndarray,
        w: np.ndarray,
        units: np.ndarray | None = None,
    ) -> None:
        self.loss, self.grouped, self.C, self.units = loss, grouped, C, units
        self.share = 1.0
        has_folds = needs_folds(loss, units)
        self.is_held_back = has_folds  # whether the penalties are more likely too strong
        is_single = grouped.group_count - int(grouped.is_empty.sum()) == 1
        if has_folds or is_single:  # strong penalties are fitted soonest, weaker ones from them
            self.C = C = C * (_prior_variance(loss, grouped.per_parameter(C)) / _FIRST_VARIANCE)
        # Everything is fitted where the rows span a wide table's columns.
        self.problem = spanned_problem(loss, grouped.per_parameter(C))
        self.w = self.problem.weights_of(w)
        self.newton, self.fits, self.iterations = Newton(self.problem.loss), 0, 0
        self.folds = CrossValidatedLoss(self.problem.loss, units) if has_folds else None
        self.evaluated: list[SearchPoint] = []
        self.is_shared = not has_folds and shares_curvature(
            self.problem.loss, self.problem.penalties, units
        )
        self.columns: ColumnInverse | None = None  # of the first fit, where rows share curvature
        # Groups that the evidence has switched off stay so, wherever the others go.
        logs = np.log(C[~grouped.is_empty & (np.log(C) < SWITCHED_OFF)])
        # The range ends where all the others are at the same end of theirs.
        strongest, weakest = logs.max(initial=LOWEST), logs.min(initial=HIGHEST)
        self.bounds = LOWEST - float(strongest), HIGHEST - float(weakest)
        self.evaluate(0.0)

    @property
    def best_point(self) -> SearchPoint:
        """The point of the lowest f."""
        return min(self.evaluated, key=lambda point: point.value)

    def evaluate(self, t: float) -> None:
        """Fit at t, and leave every unit out there."""
        penalties = self.problem.penalties * math.exp(t)
        if self.folds is None:
            accuracy = _DENSE_ACCURACY if self.newton.dense else _ACCURACY
            accuracy = _SHARED_ACCURACY if self.is_shared else accuracy
            w = self._fit_weights(penalties, self._starting_weights(t), accuracy, 1.0)
            left_out = self._leave_out(w, penalties)
        else:
            left_out = self.folds.leave_folds_out(self.w, penalties)
        if not self.evaluated:
            w = self.problem.parameters_of(left_out.w)
            self.share = effective_share(self.loss, w, self.units)
        value = _objective(left_out.value, left_out.spread, self.share)
        self.evaluated.append(SearchPoint(t, value, left_out.w, left_out.model))

    def _leave_out(self, w: np.ndarray, penalties: np.ndarray) -> LeaveOneOutLoss:
        loss, design = self.problem.loss, self.problem.loss.design
        if not self.is_shared:
            return leave_one_out_loss(loss, w, penalties, self.units)
        shared = shared_curvature(loss, w, penalties, self.columns)
        # Fewer rows would each be much of a direction, and all change with their weights.
        if design.row_count >= 2 * design.column_count:
            self.columns = shared.columns
        value, spread = shared.predicted(0.0)
        value += loss.point_at(w).value - shared.fitted_loss
        return LeaveOneOutLoss(value, spread, shared.weights(0.0), shared)

    def confirm(self) -> bool:
        """Whether rows share their curvature at the best point; else all goes on from there.

        Those of several classes do only where no class is nearly separable.
        """
        best, loss = self.best_point, self.problem.loss
        if not self.is_shared or class_count(loss) == 1:
            return True
        assert best.model is not None
        penalties = self.problem.penalties * math.exp(best.t)
        if best.model.loss_error(loss, penalties) <= _SHARED_ERROR:
            return True
        self.is_shared, self.columns = False, None
        if not has_one_factor(loss):
            self.folds = CrossValidatedLoss(loss)
        stronger = [point for point in self.evaluated if point.t > best.t]
        self.evaluated, self.w, self.is_held_back = [], best.w, True
        self.evaluate(best.t)
        # How much worse stronger penalties are, their model tells.
        change = self.best_point.value - best.value
        for point in stronger:
            self.evaluated.append(replace(point, value=point.value + change, model=None))
        return False

    def final_weights(self) -> np.ndarray:
        """The weights of the spanned problem at the final t, fitted exactly."""
        penalties = self.problem.penalties * math.exp(self.final_t)
        return self._fit_weights(penalties, self.best_point.w, _EXACT, None)

    def _fit_weights(
        self, penalties: np.ndarray, w: np.ndarray, tolerance: float, scale: float | None
    ) -> np.ndarray:
        solution = solve_penalized(
            self.problem.loss, penalties, w, tolerance=tolerance, scale=scale, newton=self.newton
        )
        self.fits += solution.fits
        self.iterations += solution.iterations
        return solution.point.w

    def _starting_weights(self, t: float) -> np.ndarray:
        """Where the fit at t starts: the nearest point's weights, or what its model predicts."""
        if not self.evaluated:
            return self.w
        near = min(self.evaluated, key=lambda point: abs(point.t - t))
        return near.w if near.model is None else near.model.weights(t - near.t)

    @property
    def final_t(self) -> float:
        """The minimum of the parabola through the best point and those beside it."""
        best, (before, after) = self.best_point, self._neighbours()
        if before is None or after is None:
            return best.t
        return best.t + _vertex_move(before, best, after)

    def _neighbours(self) -> tuple[SearchPoint | None, SearchPoint | None]:
        """The points next to the best one on either side."""
        ordered = [None, *sorted(self.evaluated, key=lambda point: point.t), None]
        index = ordered.index(self.best_point)
        return ordered[index - 1], ordered[index + 1]

    def next_t(self) -> float | None:
        """Where to look next; None where the minimum is known closely enough."""
        best, (before, after) = self.best_point, self._neighbours()
        if before is not None and after is not None:
            if min(before.value, after.value) - best.value < _SLIGHT * best.value:
                return None
            return _next_within(before, best, after)
        neighbour = before or after
        if best.model is not None:
            return self._predicted(best.model, best, neighbour)
        # Without a model of f around the best point steps grow until f rises.
        return self._first_move() if neighbour is None else self._expanded(neighbour, best)

    def _predicted(
        self, model: SharedCurvature, best: SearchPoint, neighbour: SearchPoint | None
    ) -> float | None:
        """The nearest minimum of the best point's model; None where it is as good as there."""
        predicted = cache(lambda move: _objective(*model.predicted(move), self.share))
        move = _nearest_minimum(predicted, model)
        if predicted(0.0) - predicted(move) < max(_LITTLE, _SLIGHT * best.value):
            # The first point is held back much, and a model of shared curvature errs far from it.
            return max(best.t - FIRST_STEP, self.bounds[0]) if neighbour is None else None
        t = min(max(best.t + move, self.bounds[0]), self.bounds[1])
        if neighbour is not None and (neighbour.t - best.t) * (t - neighbour.t) > -NEAR:
            t = 0.5 * (best.t + neighbour.t)  # it is worse there than was predicted
        return t if abs(t - best.t) >= NEAR else None

    def _expanded(self, before: SearchPoint, end: SearchPoint) -> float | None:
        """A longer step beyond the end that is the best so far; None where little was gained."""
        sign = math.copysign(1.0, end.t - before.t)
        bound = self.bounds[1 if sign > 0 else 0]
        if abs(end.t - bound) < NEAR or before.value - end.value < _LITTLE:
            return None
        step = max(2.0 * abs(end.t - before.t), FIRST_STEP)
        step = min(step, _LONGEST_STEP, abs(bound - end.t))
        return end.t + sign * step

    def _first_move(self) -> float:
        """Where to look after the start: MM's update of one penalty, or beside the evidence's."""
        low, high = self.bounds
        if self.is_held_back:
            return max(self.best_point.t - FIRST_STEP, low)
        update = log_penalty(self.grouped, 0.0, 1.0).penalties_at(
            self.problem.parameters_of(self.best_point.w)
        )
        moves = np.log(update / self.C)[~self.grouped.is_empty]
        t = float(moves[0]) if len(moves) == 1 else FIRST_STEP
        t = math.copysign(max(abs(t), _FIRST_MOVE), t)
        return min(max(t, low), high)


def _nearest_minimum(f: Callable[[float], float], model: SharedCurvature) -> float:
    """The first minimum downhill from 0, by a parabola where it is not where the model ends."""
    downhill = _MODEL_STEP if f(_MODEL_STEP) < f(-_MODEL_STEP) else -_MODEL_STEP
    move = 0.0
    while f(move + downhill) < f(move):
        move += downhill
        if not model.reaches(move + downhill):
            return move
    before, middle, after = f(move - downhill), f(move), f(move + downhill)
    curvature = before - 2.0 * middle + after
    return move + (0.5 * (before - after) / curvature * downhill if curvature > 0.0 else 0.0)


def _objective(value: float, spread: float, share: float) -> float:
    """The f of a leave-one-out loss, where so many units stand for a row, and of a spread."""
    # Few rows that all come out right say little of the row that will not, which costs about what
    # its score says: the spread is the loss of a row or two more that are wrong.
    return share * value + _SPREAD_COST * spread


def _prior_variance(loss: ClassLoss, penalties: np.ndarray) -> float:
    """The mean over rows of Σ_i x_i² / c_i, a score's variance at penalties c, shape (n,)."""
    p, squares = loss.design.column_count, loss.design.squares(loss.row_weights)
    return float((squares[:p] / penalties[:p]).sum()) / loss.examples


def _vertex_move(before: SearchPoint, middle: SearchPoint, after: SearchPoint) -> float:
    """From the middle of a bracket to the minimum of the parabola through it, less than its end."""
    a, b = middle.t - before.t, after.t - middle.t
    down, up = before.value - middle.value, after.value - middle.value
    curvature = down * b + up * a
    if not curvature > 0.0:
        return 0.0
    return float(np.clip(0.5 * (down * b * b - up * a * a) / curvature, -0.7 * a, 0.7 * b))


def _next_within(before: SearchPoint, middle: SearchPoint, after: SearchPoint) -> float | None:
    """The parabola's minimum; None where it is near the middle already."""
    move, a, b = _vertex_move(before, middle, after), middle.t - before.t, after.t - middle.t
    if abs(move) >= NEAR:
        return middle.t + move
    narrow = FIRST_STEP if middle.model is None else 2.0 * FIRST_STEP
    # A bracket too wide for its parabola is halved on its longer side.
    longer = after if b > a else before
    return None if max(a, b) <= narrow else 0.5 * (middle.t + longer.t)


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
    # A single unit cannot be left out: its rows are.
    units = None if problem.units is None or not problem.units.any() else problem.units
    is_grouped = grouped.group_count - int(grouped.is_empty.sum()) > 1
    if not isinstance(loss, ClassLoss) or (is_grouped and not has_one_factor(loss)):
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
            spanned = spanned_problem(loss, penalties)
            start, share = spanned.weights_of(step.w), effective_share(loss, step.w, units)
            left_out = leave_one_out_loss(spanned.loss, start, spanned.penalties, units)
            value = _objective(left_out.value, left_out.spread, share)
            yield replace(step, objective=value, parameters=None, remarks=())
            C, w, fits, number = step.C, step.w, step.fits, step.number + 1
    search = ScaleSearch(loss, grouped, C, w, units)
    search.fits += fits
    yield _make_step(search, number)
    yield from _search_steps(search, number, max(1, max_steps - number - 1))


def _search_steps(search: ScaleSearch, number: int, max_steps: int) -> Iterator[LearnerStep]:
    last = number + max_steps
    while number < last:
        t = search.next_t()
        if t is None and not search.confirm():
            t = search.next_t()
        if t is None:
            break
        before = search.best_point.t
        search.evaluate(t)
        if search.best_point.t != before:
            number += 1
            yield _make_step(search, number)
    yield _make_step(search, number + 1, is_last=True)


def _make_step(search: ScaleSearch, number: int, is_last: bool = False) -> LearnerStep:
    best = search.best_point
    t, inner_w = (search.final_t, search.final_weights()) if is_last else (best.t, best.w)
    w = search.problem.parameters_of(inner_w).copy()
    C = search.C * np.exp(t)
    at_end = min(abs(t - bound) for bound in search.bounds) < NEAR
    return LearnerStep(
        number=number,
        w=w,
        C=C,
        objective=best.value,
        loss=search.problem.loss.point_at(inner_w).value,
        norms=np.sqrt(search.grouped.squares(w)),
        switched_off=(np.log(C) > SWITCHED_OFF) | search.grouped.is_empty,
        iterations=search.iterations + (search.folds.iterations if search.folds else 0),
        fits=search.fits + (search.folds.fits if search.folds else 0),
        remarks=_unit_remarks(search) + ((_AT_END,) if at_end else ()) if is_last else (),
    )


def _unit_remarks(search: ScaleSearch) -> tuple[str, ...]:
    if search.units is None:
        return ()
    manner = "left out as a whole" if search.folds is None else "kept whole by the folds"
    return (
        f"The {len(search.units):,} training rows come in {int(search.units.max()) + 1:,} groups "
        f"that belong together: each was {manner}.",
    )
