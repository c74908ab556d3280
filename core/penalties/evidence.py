"""The evidence update of penalties (MacKay 1992, "Bayesian interpolation"; discussed in Foo 2009).

Maximizes the Laplace evidence: −log p(data | C) ≈ loss(w) + ½ Σ_j C_j ‖w_j‖² − ½ Σ_j n_j log C_j
+ ½ log |H + diag c|, up to a constant, at the w that minimizes loss + ½ Σ C_j ‖w_j‖².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties |
| γ_j | ``parameters`` | (k,) | n_j − C_j tr_j (H + diag c)⁻¹, what the data settle in group j |
| σ² | ``variance`` | | noise variance of a linear model, R/(m − Σ γ − intercept) |

Each step updates C_j towards γ_j/‖w_j‖² (and σ²), takes one Newton step on w, and computes γ there.
A linear model of moderate size needs no such turns: its evidence is known exactly (marginal.py),
its global maximum is found at once with one penalty, and by L-BFGS over log σ² C with several.
A linear model's C is reported on the scale of ½ C ‖w‖² beside (m/2) log R, as for every learner:
its ridge penalty is (R/m) C.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.losses.linear.fixed_noise import FixedNoise
from core.losses.linear.linear import LinearLoss
from core.losses.linear.rotated import RotatedLinear, rotated
from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import STALLED, by_lbfgs, line_search
from core.optimize.lbfgs import minimize_steps
from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Newton
from core.penalties.effective import Effective, effective
from core.penalties.group_penalty import Grouping, grouping
from core.penalties.marginal import GroupedMarginal, Marginal, best_single
from core.penalties.remarks import without_error
from core.penalties.rotation import easiest
from core.penalties.start import first_point
from core.penalties.step import Step

# A group whose γ vanishes has a C without bound; it is held within these multiples of the data's
# own curvature.
_LOWEST, _HIGHEST = 1e-14, 1e8
# Below this share of its parameters a group is shown as switched off.
_LEAST_SHARE = 0.01
# What is left of m after γ is too uncertain below this share of m where γ comes from probes.
_SHAKY = 0.1
# No log ρ moves further in one line search.
_LONGEST = 3.0
# Probes: so many for small groups; each parameter of a group is a draw of its own, so that large
# groups need fewer.
_PROBES, _FEWEST_PROBES = 8, 2
_ENOUGH_DRAWS = 8000


@dataclass
class _State:
    """Where the learner stands; ``path`` is the last log C and where the update sent them."""

    loss: Loss
    newton: Newton
    point: LossAt
    C: np.ndarray
    known: Effective
    grouped: Grouping
    path: deque[tuple[np.ndarray, np.ndarray]] = field(default_factory=lambda: deque(maxlen=3))

    @property
    def objective(self) -> float:
        """−log evidence up to a constant."""
        squares = self.grouped.squares(self.point.w)
        logs = float(self.grouped.sizes @ np.log(self.C))
        return self.point.value + 0.5 * (
            float(self.C @ squares) - logs + self.known.log_determinant
        )


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
    """The steps of the evidence update: one of C, one Newton step and one of γ each.

    Args:
        loss: −log p(data | w).
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: max_steps, tolerance.
        seed: of the random signs that estimate γ where the Hessian is too large to be formed.
        holdout: unused, no validation data is needed.
        group_count: k, where the last groups may be empty.
        counted: unused, γ counts what the data settle.
    """
    grouped = grouping(groups, group_count)
    inner, grouped, back = easiest(loss, grouped)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(_probes(grouped), inner.size))
    most, tolerance = int(options.get("max_steps", 100)), float(options.get("tolerance", 1e-3))
    C = np.ones(grouped.count)
    start = first_point(inner, grouped.spread(C), Newton(inner))
    state, fits = _first(inner, start.point, C, grouped, signs), start.fits
    yield _step(0, state, inner, back, start.iterations, fits, ())
    if isinstance(inner, RotatedLinear):
        ridge, best = best_single(inner)
        _take(state, inner, np.array([ridge]), best)
        yield _step(1, state, inner, back, 1, fits + 1, _remarks(state, inner))
        return
    if isinstance(inner, LinearLoss) and GroupedMarginal.serves(inner, grouped):
        for number, (evaluations, done) in enumerate(_searched(state, inner, most, tolerance), 1):
            remarks = _remarks(state, inner) if done else ()
            yield _step(number, state, inner, back, 1, fits + evaluations, remarks)
        return
    for number in range(1, most + 1):
        last = state.objective
        iterations = _advance(state, inner, signs, first=number == 1)
        fits += 1
        gained = abs(last - state.objective) / max(1.0, abs(last))
        done = number == most or (_residual(state) < tolerance and gained < 1e-3 * tolerance)
        remarks = _remarks(state, inner) if done else ()
        yield _step(number, state, inner, back, iterations, fits, remarks)
        if done:
            return


def _probes(grouped: Grouping) -> int:
    smallest = int(grouped.sizes[~grouped.empty].min())
    return min(_PROBES, max(_FEWEST_PROBES, _ENOUGH_DRAWS // smallest))


def _first(
    inner: Loss, point: LossAt, C: np.ndarray, grouped: Grouping, signs: np.ndarray
) -> _State:
    """The state at the start, where C = 1 stands beside the loss as it was given."""
    loss = inner
    if isinstance(inner, LinearLoss | RotatedLinear):
        loss = FixedNoise(inner, inner.noise_variance(point.w))
        point = loss.at(point.w)
    newton = Newton(loss, traces=True)
    return _State(loss, newton, point, C, effective(newton, point, C, grouped, signs), grouped)


def _searched(
    state: _State, inner: LinearLoss, most: int, tolerance: float
) -> Iterator[tuple[int, bool]]:
    """Line searches of L-BFGS over log ρ on the exact marginal likelihood.

    Turns of C, σ² and w take a hundred steps and more where groups compete with the noise.

    Yields:
        the evaluations so far, and whether this is the last step; the state has moved.
    """
    marginal, start, unit = _starting_ridges(inner, state.grouped)
    at: Marginal | None = None

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal at
        at = marginal(unit * np.exp(x))
        return at.value, at.slope

    least = _LEAST_SHARE * _settleable(state)
    bounds = math.log(_LOWEST), math.log(_HIGHEST)
    last, evaluations = np.inf, 0
    searches = minimize_steps(cost, np.log(start / unit), *bounds, longest=_LONGEST)
    for number, iterate in enumerate(searches, 1):
        assert at is not None  # the accepted point is the last evaluated one
        _take(state, inner, unit * np.exp(iterate.x), at)
        evaluations = iterate.evaluations
        gained = (last - iterate.value) / max(1.0, abs(iterate.value))
        moving = 2.0 * np.abs(at.slope) / np.maximum(at.parameters, np.maximum(least, 1e-9))
        if number == most or (moving.max() < tolerance and gained < 1e-3 * tolerance):
            break
        yield evaluations, False
        last = iterate.value
    yield evaluations, True


def _starting_ridges(
    inner: LinearLoss, grouped: Grouping
) -> tuple[GroupedMarginal, np.ndarray, np.ndarray]:
    """The marginal likelihood, the better of two ρ to start at, and a unit for each ρ.

    One is the best single penalty; the other gives the noise and every group an equal share in the
    target's variance. Neither depends on the target's unit.
    """
    marginal = GroupedMarginal(inner, grouped)
    of_columns = inner.design.squares(np.ones(inner.examples))
    of_columns[: inner.design.columns] -= inner.examples * inner.means**2
    sums = np.maximum(grouped.sums(of_columns), np.finfo(float).tiny)
    shared = np.where(grouped.empty, 1.0, sums / inner.examples)
    single = np.full(grouped.count, best_single(rotated(inner))[0])
    start = min((shared, single), key=lambda ridge: marginal(ridge).value)
    return marginal, start, np.where(grouped.empty, 1.0, sums / np.maximum(grouped.sizes, 1))


def _take(
    state: _State, inner: LinearLoss | RotatedLinear, ridge: np.ndarray, at: Marginal
) -> None:
    """The state at penalties ρ = σ² C."""
    grouped, w = state.grouped, at.w
    if isinstance(inner, LinearLoss) and inner.has_intercept:
        w = np.append(w, inner.intercept_at(w))
    state.C = np.where(grouped.empty, 1.0, ridge / at.variance)
    state.loss = FixedNoise(inner, at.variance)
    state.point = state.loss.at(w)
    # |A| = |K| |D| / σ²ⁿ, and m/σ² of the intercept.
    logs = float(grouped.sizes @ np.log(state.C))
    apart = math.log(inner.examples / at.variance) if inner.has_intercept else 0.0
    state.known = Effective(at.parameters, at.log_determinant + logs + apart)


def _advance(state: _State, inner: Loss, signs: np.ndarray, *, first: bool) -> int:
    """C and σ² updated, one Newton step, γ computed there; the inner iterations it took."""
    if isinstance(inner, LinearLoss) and first:
        variance, state.C = _shared(inner, state.grouped)
        _hold(state, inner, variance)
    elif isinstance(inner, LinearLoss):
        _hold(state, inner, _variance(inner, state))
        state.C = _updated(state)
    else:
        state.C = _updated(state)
    penalties = state.grouped.spread(state.C)
    point = state.point
    slope = point.gradient + penalties * point.w
    direction, iterations = state.newton.direction(point, slope, penalties, None, 1e-2)
    reached = line_search(
        state.loss, point, direction, slope, lambda w: 0.5 * float(penalties @ (w * w))
    )
    if reached is None and -0.5 * float(slope @ direction) > STALLED * (1.0 + abs(point.value)):
        reached, taken = by_lbfgs(state.loss, penalties, point)
        iterations += taken
    state.point = reached or point
    state.known = effective(state.newton, state.point, state.C, state.grouped, signs)
    return iterations


def _hold(state: _State, inner: LinearLoss | RotatedLinear, variance: float) -> None:
    """The linear loss at another noise variance, which is then held for a step."""
    state.loss = FixedNoise(inner, variance)
    state.newton = Newton(state.loss, traces=True)
    state.point = state.loss.at(state.point.w)


def _shared(inner: LinearLoss, grouped: Grouping) -> tuple[float, np.ndarray]:
    """σ² and C where noise and every group have an equal share in the target's variance.

    Unlike C = 1 this start depends neither on the target's unit nor on the number of columns.
    """
    total = inner.total / (np.count_nonzero(~grouped.empty) + 1)
    columns = inner.design.squares(np.ones(inner.examples))[: inner.design.columns]
    columns -= inner.examples * inner.means**2
    columns = np.append(columns, np.zeros(inner.size - len(columns)))
    floor = max(inner.noise.floor, np.finfo(float).tiny)
    C = grouped.sums(columns) / max(total, floor)
    return max(total, floor) / inner.examples, np.where(grouped.empty, 1.0, C)


def _updated(state: _State) -> np.ndarray:
    """The next C: where the update and its last two predecessors are heading."""
    C = _update(state)
    state.path.append((np.log(state.C), np.log(C)))
    low, high = _bounds(state.loss)
    return np.exp(np.clip(_extrapolated(state.path), math.log(low), math.log(high)))


def _bounds(loss: Loss) -> tuple[float, float]:
    """Of C: beyond them weights are free, or zero, to any practical accuracy."""
    data = loss.examples / loss.variance if isinstance(loss, FixedNoise) else loss.examples
    return _LOWEST * data, _HIGHEST * data


def _residual(state: _State) -> float:
    """How far the update would move log C from here, of the groups that are not switched off."""
    moved = np.abs(np.log(_update(state) / state.C))
    return float(moved[~_switched_off(state)].max(initial=0.0))


def _switched_off(state: _State) -> np.ndarray:
    """Groups of which the data settle next to nothing: their C grows without end."""
    return state.known.parameters < _LEAST_SHARE * _settleable(state)


def _settleable(state: _State) -> np.ndarray:
    """How many parameters of every group the data could settle at most, shape (k,)."""
    return np.minimum(state.grouped.sizes, state.loss.examples)


def _update(state: _State) -> np.ndarray:
    """C_j = γ_j/‖w_j‖², held where the weights or γ have vanished."""
    squares = state.grouped.squares(state.point.w)
    gamma = np.maximum(state.known.parameters, 1e-12)
    with np.errstate(divide="ignore"):
        C = gamma / squares
    C = np.clip(C, *_bounds(state.loss))
    return np.where(state.grouped.empty, 1.0, C)


def _extrapolated(path: deque[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Where the updates of log C are heading (Anderson 1965, from up to three of them).

    The update alone converges slowly where γ changes much with C. Far from the end, or where the
    extrapolation goes further than a factor of e beyond the update, the update itself is taken.
    """
    x, to = path[-1]
    if len(path) < 2 or float(np.abs(to - x).max()) > 1.0:
        return to
    residuals = np.array([b - a for a, b in path])
    differences = np.diff(residuals, axis=0).T
    targets = np.diff(np.array([b for _, b in path]), axis=0).T
    weights = np.linalg.lstsq(differences, residuals[-1], rcond=1e-6)[0]
    heading = to - targets @ weights
    return heading if float(np.abs(heading - to).max()) <= 1.0 else to


def _variance(inner: LinearLoss, state: _State) -> float:
    """R over what γ and the intercept leave of m, no less than the floor."""
    assert isinstance(state.loss, FixedNoise)
    rss, m = inner.rss_and_slope(state.point.w)[0], inner.examples
    taken = float(state.known.parameters.sum()) + int(inner.has_intercept)
    left = max(m - taken, np.finfo(float).eps * m)
    # The update of expectation–maximization has the same fixed point, and needs no difference.
    steady = not state.newton.dense and left < _SHAKY * m
    variance = (rss + state.loss.variance * taken) / m if steady else rss / left
    return max(variance, state.loss.lowest)


def _remarks(state: _State, inner: Loss) -> tuple[str, ...]:
    settled = float(state.known.parameters.sum())
    held = isinstance(state.loss, FixedNoise) and state.loss.variance <= state.loss.lowest
    said = without_error(inner) if held else ()
    if settled < _LEAST_SHARE * min(float(_settleable(state).sum()), state.loss.examples):
        said += (
            "The data settle next to none of the weights: the columns say little or nothing about"
            " the target, as far as a linear model can use them.",
        )
    return said


def _step(
    number: int,
    state: _State,
    inner: Loss,
    back: Callable[[np.ndarray], np.ndarray],
    iterations: int,
    fits: int,
    remarks: tuple[str, ...],
) -> Step:
    scale, value = 1.0, state.point.value
    if isinstance(inner, LinearLoss | RotatedLinear):
        assert isinstance(state.loss, FixedNoise)
        scale = state.loss.variance / inner.noise_variance(state.point.w)
        value = inner.at(state.point.w).value
    gamma = state.known.parameters
    return Step(
        number=number,
        w=back(state.point.w).copy(),
        C=state.C * scale,
        objective=state.objective,
        loss=value,
        norms=np.sqrt(state.grouped.squares(state.point.w)),
        switched_off=_switched_off(state) | state.grouped.empty,
        iterations=iterations,
        fits=fits,
        parameters=gamma.copy(),
        remarks=remarks,
    )
