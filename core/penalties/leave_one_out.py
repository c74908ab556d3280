"""The scale of the penalties that predicts rows best when each is left out (approximately).

| symbol | code | meaning |
| --- | --- | --- |
| C_j | ``C`` | penalties, C_j = e^t times where the search began |
| t | ``t`` | what all log penalties are moved by |
| f(t) | ``value`` | the leave-one-out log loss at the weights fitted there, less the log prior |
| V | | Σ_i var(x_i) / c_i, the prior variance of the linear predictor; e⁻ᵗ times that at t = 0 |

For classes the Laplace evidence holds the weights back too far on wide tables and on separable
ones. The ratios between groups are the evidence's (MacKay 1992); t minimizes f. Where the table is
too large, five folds are left out instead of each row.

The prior on log V is Student's t with 3 degrees of freedom and scale 1/√3 above log 2, and flat
below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.losses.linear.logistic_loss import LogisticLoss, MultinomialLoss
from core.optimize.descent import solve_penalized
from core.optimize.newton import Newton
from core.penalties import evidence
from core.penalties.group_penalty import Grouping, log_penalty
from core.penalties.leave_one_out_loss import (
    LARGEST,
    CrossValidatedLoss,
    LocalModel,
    has_one_factor,
    is_of_classes,
    leave_one_out_loss,
)
from core.penalties.penalty_problem import (
    EvidenceOptions,
    LearnerStep,
    LooOptions,
    PenaltyProblem,
    one_blas_thread,
)

FIRST_STEP = 1.5
_LONGEST_STEP = 4.0
# Nearer in t than this the log loss of two models hardly differs.
NEAR = 0.35
# Nats of all rows together, below which a difference is sampling error.
_NEGLIGIBLE = 0.2
_ACCURACY = 3e-2  # nats that the last step of a fit promises; leaving out takes another one
_EXACT = 1e-6  # tolerance of the final fit, as a share of the loss
LOWEST, HIGHEST = -14.0, 16.0  # log C
SWITCHED_OFF = HIGHEST - 2.0  # from here on a group's weights are zero to all purposes
_MODEL_ROWS = 8000  # of a local model at most; with K classes a K²-th of them
_MODEL_STEP, _MODEL_REACH = 0.5, 3.0  # between the t where a local model is evaluated, and how far
_USUAL = math.log(2.0)  # log V up to which the prior is flat


@dataclass(frozen=True)
class SearchPoint:
    """One point of the search: t, f(t), the weights there, and a model of f around it."""

    t: float
    value: float
    w: np.ndarray
    model: LocalModel | None


class ScaleSearch:
    """Searches the t of the lowest f: `next_t` proposes one, `evaluate` fits there.

    loss: of classes of table rows; C (k,) and w (n,): where the search begins.
    """

    def __init__(self, loss: Any, grouped: Grouping, C: np.ndarray, w: np.ndarray) -> None:
        self.loss, self.grouped, self.C, self.w = loss, grouped, C, w
        self.newton, self.fits, self.iterations = Newton(loss), 0, 0
        self.folds = None if has_one_factor(loss) else CrossValidatedLoss(loss)
        if self.folds is not None:  # strong penalties are fitted soonest, and weaker ones from them
            variance = log_prior_variance(loss, grouped.per_parameter(C))
            self.C = C = C * math.exp(variance - _USUAL - FIRST_STEP)
        self._K = loss.K if isinstance(loss, MultinomialLoss) else 1
        self.evaluated: list[SearchPoint] = []
        # Groups that the evidence has switched off stay so, wherever the others go.
        logs = np.log(C[~grouped.is_empty & (np.log(C) < SWITCHED_OFF)])
        # The range ends where all the others are at the same end of theirs.
        strongest, weakest = logs.max(initial=LOWEST), logs.min(initial=HIGHEST)
        self.bounds = LOWEST - float(strongest), HIGHEST - float(weakest)
        self._log_variance = log_prior_variance(loss, grouped.per_parameter(C))
        self.evaluate(0.0)

    @property
    def best_point(self) -> SearchPoint:
        """The point of the lowest f."""
        return min(self.evaluated, key=lambda point: point.value)

    def evaluate(self, t: float) -> None:
        """Fit at t, and leave every row out there."""
        penalties = self.grouped.per_parameter(self.C * math.exp(t))
        if self.folds is None:
            w = self._fit_weights(penalties, self._starting_weights(t, penalties), _ACCURACY, 1.0)
            loo_loss = leave_one_out_loss(self.loss, w, penalties)
        else:
            w = self.w
            loo_loss = self.folds.leave_folds_out(w, penalties)
        model = loo_loss.model.thinned(_MODEL_ROWS // self._K**2) if loo_loss.model else None
        value = loo_loss.value + float(negative_log_prior(self._log_variance - t))
        self.evaluated.append(SearchPoint(t, value, w if loo_loss.w is None else loo_loss.w, model))

    def final_weights(self) -> np.ndarray:
        """The weights at the best point, fitted exactly, shape (n,)."""
        penalties = self.grouped.per_parameter(self.C * math.exp(self.best_point.t))
        return self._fit_weights(penalties, self.best_point.w, _EXACT, None)

    def _fit_weights(
        self, penalties: np.ndarray, w: np.ndarray, tolerance: float, scale: float | None
    ) -> np.ndarray:
        solution = solve_penalized(
            self.loss, penalties, w, tolerance=tolerance, scale=scale, newton=self.newton
        )
        self.fits += solution.fits
        self.iterations += solution.iterations
        return solution.point.w

    def _starting_weights(self, t: float, penalties: np.ndarray) -> np.ndarray:
        """Where the fit at t starts: the nearest point's weights, or what its model predicts."""
        if not self.evaluated:
            return self.w
        near = min(self.evaluated, key=lambda point: abs(point.t - t))
        guess = near.model.weights(t - near.t) if near.model else None
        if guess is None:
            return near.w
        near_value, guess_value = (
            self.loss.point_at(w).value + 0.5 * penalties @ (w * w) for w in (near.w, guess)
        )
        return guess if guess_value < near_value else near.w

    def next_t(self) -> float | None:
        """Where to look next; None where the minimum is known closely enough."""
        ordered = sorted(self.evaluated, key=lambda point: point.t)
        index = ordered.index(self.best_point)
        if 0 < index < len(ordered) - 1:
            return _bracket_minimum(ordered[index - 1], ordered[index], ordered[index + 1])
        neighbour = ordered[1 if index == 0 else index - 1] if len(ordered) > 1 else None
        best = ordered[index]
        # A small table's fit gives a model of f around itself; otherwise steps grow until f rises.
        if best.model is not None:
            t = self._predicted(best.model, best, neighbour)
            if t is None or abs(t - best.t) >= NEAR:
                return t
        if neighbour is None:
            return self._first_move()
        return self._expanded(neighbour, best)

    def _predicted(
        self, model: LocalModel, best: SearchPoint, neighbour: SearchPoint | None
    ) -> float | None:
        """The nearest minimum of the best point's model; None where it is confirmed already."""
        predicted = _Predicted(model, self._log_variance - best.t)
        t = best.t + predicted.nearest_minimum()
        if neighbour is not None and (neighbour.t - best.t) * (t - neighbour.t) > -NEAR:
            t = 0.5 * (best.t + neighbour.t)  # it is worse there than was predicted
        t = min(max(t, self.bounds[0]), self.bounds[1])
        if neighbour is None or abs(t - best.t) >= NEAR:
            return t
        back = predicted(neighbour.t - best.t) - predicted(0.0)
        actual_rise = neighbour.value - best.value
        return None if abs(back - actual_rise) < max(0.5 * actual_rise, _NEGLIGIBLE) else t

    def _expanded(self, before: SearchPoint, end: SearchPoint) -> float | None:
        """A longer step beyond the end that is the best so far; None where little was gained."""
        sign = math.copysign(1.0, end.t - before.t)
        bound = self.bounds[1 if sign > 0 else 0]
        if abs(end.t - bound) < NEAR or before.value - end.value < 1e-5 * abs(end.value):
            return None
        step = min(2.0 * abs(end.t - before.t), _LONGEST_STEP, abs(bound - end.t))
        return end.t + sign * step

    def _first_move(self) -> float:
        """Where to look after the start: MM's update of one penalty, or beside the evidence's."""
        low, high = self.bounds
        if self.folds is not None:
            return max(-FIRST_STEP, low)
        update = log_penalty(self.grouped, 0.0, 1.0).penalties_at(self.best_point.w)
        moves = np.log(update / self.C)[~self.grouped.is_empty]
        t = float(moves[0]) if len(moves) == 1 else FIRST_STEP
        t = math.copysign(max(abs(t), NEAR), t)
        return min(max(t, low), high)


class _Predicted:
    """The f that a local model predicts, up to a constant, from log V at the model's point."""

    def __init__(self, model: LocalModel, log_variance: float) -> None:
        self.model, self.log_variance = model, log_variance
        self._values: dict[float, float] = {}

    def __call__(self, move: float) -> float:
        """The predicted f at the point's t plus a move."""
        if move not in self._values:
            self._evaluate([move])
        return self._values[move]

    def nearest_minimum(self) -> float:
        """The first minimum downhill, by a parabola where it is not at the end of the grid."""
        self._evaluate([-_MODEL_STEP, 0.0, _MODEL_STEP])
        downhill = _MODEL_STEP if self(_MODEL_STEP) < self(-_MODEL_STEP) else -_MODEL_STEP
        move = 0.0
        while self(move + downhill) < self(move):
            move += downhill
            if abs(move) >= _MODEL_REACH:
                return move
            if move + downhill not in self._values:
                self._evaluate([move + downhill, move + 2.0 * downhill])
        left, middle, right = self(move - downhill), self(move), self(move + downhill)
        curvature = left - 2.0 * middle + right
        return move + (0.5 * (left - right) / curvature * downhill if curvature > 0.0 else 0.0)

    def _evaluate(self, moves: list[float]) -> None:
        t = np.array(moves)
        values = self.model.losses_at(t) + negative_log_prior(self.log_variance - t)
        self._values.update(zip(moves, values.tolist(), strict=True))


def log_prior_variance(loss: LogisticLoss | MultinomialLoss, penalties: np.ndarray) -> float:
    """The prior variance's logarithm log V at penalties c, shape (n,)."""
    X, K = loss.design.X, loss.K if isinstance(loss, MultinomialLoss) else 1
    squares = X.multiply(X) if loss.design.is_sparse else np.square(X)
    if loss.weights is None:
        variances = np.asarray(squares.mean(axis=0) - np.square(X.mean(axis=0))).ravel()
    else:
        shares = loss.weights / loss.examples
        variances = np.asarray(squares.T @ shares - np.square(X.T @ shares)).ravel()
    class_penalties = penalties.reshape(K, -1)[:, : len(variances)]
    return math.log(float((variances / class_penalties).sum()) / K + 1e-300)


def negative_log_prior(log_variance: float | np.ndarray) -> Any:
    """−log of the prior density at log V, less its least value."""
    # Without it a few rows of many columns are fitted too closely: by the least f the test log loss
    # was .0123 above that of the best penalty, with the prior .0090, on average over 132 generated
    # tables and 156 splits of files, by which it was chosen.
    return 2.0 * np.log1p(np.square(np.maximum(log_variance - _USUAL, 0.0)))


def _bracket_minimum(left: SearchPoint, middle: SearchPoint, right: SearchPoint) -> float | None:
    """The minimum of the parabola through a bracket; None where it is near the middle already."""
    a, b = middle.t - left.t, right.t - middle.t
    down, up = left.value - middle.value, right.value - middle.value
    curvature = down * b + up * a
    if not curvature > 0.0:
        return None
    move = 0.5 * (down * b * b - up * a * a) / curvature
    if abs(move) < NEAR:
        narrow = FIRST_STEP if middle.model is None else 2.0 * FIRST_STEP
        # A bracket too wide for its parabola is halved on its longer side.
        longer = right if b > a else left
        return None if max(a, b) <= narrow else 0.5 * (middle.t + longer.t)
    return middle.t + float(np.clip(move, -0.7 * a, 0.7 * b))


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
