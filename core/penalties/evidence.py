"""The evidence update of penalties (MacKay 1992, "Bayesian interpolation"; discussed in Foo 2009).

Maximizes the Laplace evidence: −log p(data | C) ≈ loss(w) + ½ Σ_j C_j ‖w_j‖² − ½ Σ_j n_j log C_j
+ ½ log |H + diag c|, up to a constant, at the w that minimizes loss + ½ Σ C_j ‖w_j‖².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties |
| γ_j | ``parameters`` | (k,) | n_j − C_j tr_j (H + diag c)⁻¹, the effective number of parameters |
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace

import numpy as np

from core.losses.linear.eigenbasis import EigenbasisLoss, in_eigenbasis
from core.losses.linear.fixed_noise import FixedNoise
from core.losses.linear.linear import LinearLoss
from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import Accuracy, newton_step
from core.optimize.lbfgs import Box, minimize_steps
from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Newton
from core.penalties.effective import Effective, effective
from core.penalties.eigenbasis import diagonalized
from core.penalties.group_penalty import Grouping
from core.penalties.marginal import GroupedMarginal, Marginal, best_single
from core.penalties.problem import PenaltyProblem
from core.penalties.remarks import without_error
from core.penalties.start import first_point
from core.penalties.step import Step

# A group whose γ vanishes has a C without bound; it is held within these multiples of the data's
# own curvature.
_LOWEST, _HIGHEST = 1e-14, 1e8
# Below this share of its parameters a group is shown as switched off.
_LEAST_SHARE = 0.01
_FORCING = 1e-2  # relative accuracy of conjugate gradients
# What is left of m after γ is too uncertain below this share of m where γ comes from probes.
_UNCERTAIN = 0.1
# No log ρ moves further in one line search.
_LONGEST = 3.0
# An update after which −log evidence is larger by this share is taken back, the first ones apart;
# below the least share of an update the learner ends.
_WORSE, _UNTESTED, _LEAST_STEP = 0.02, 2, 1.0 / 64
# Products a probe at C = 1: its γ only says where to go first.
_FIRST_ROUNDS = 30
# Probes: so many for small groups; each parameter of a group is a draw of its own, so that large
# groups need fewer.
_PROBES, _FEWEST_PROBES = 8, 2
_ENOUGH_DRAWS = 8000


@dataclass(frozen=True)
class EvidenceOptions:
    """Options of the evidence: the most steps, and the change of log C that ends it."""

    max_steps: int = 100
    tolerance: float = 1e-3


@dataclass
class _State:
    """Where the learner stands; ``path`` is the last log C and where the update sent them.

    ``inner`` is the loss that was given, or the same in its eigenbasis; ``loss`` is that with the
    noise variance held, where there is one. ``back`` leads from the eigenbasis to parameters.
    """

    inner: Loss
    back: Callable[[np.ndarray], np.ndarray]
    grouped: Grouping
    signs: np.ndarray
    loss: Loss
    newton: Newton
    point: LossAt
    C: np.ndarray
    known: Effective
    path: deque[tuple[np.ndarray, np.ndarray]] = field(default_factory=lambda: deque(maxlen=3))
    share: float = 1.0  # of every update of log C that is taken

    @property
    def objective(self) -> float:
        """−log evidence up to a constant."""
        squares = self.grouped.squares(self.point.w)
        logs = float(self.grouped.sizes @ np.log(self.C))
        return self.point.value + 0.5 * (
            float(self.C @ squares) - logs + self.known.log_determinant
        )


@one_blas_thread
def run(problem: PenaltyProblem, options: EvidenceOptions = EvidenceOptions()) -> Iterator[Step]:
    """The steps of the evidence update: one of C, one Newton step and one of γ each.

    The seed is that of the random signs that estimate γ where the Hessian is too large to be
    formed.
    """
    inner, grouped, back = diagonalized(problem.loss, problem.grouping)
    signs = np.random.default_rng(problem.seed).choice(
        [-1.0, 1.0], size=(_probes(grouped), inner.size)
    )
    start = first_point(inner, grouped.per_parameter(np.ones(grouped.count)), Newton(inner))
    state, fits = _first(inner, start.point, grouped, signs, back), start.fits
    yield _report(state, 0, start.iterations, fits)
    if isinstance(inner, EigenbasisLoss):
        ridge, best = best_single(inner)
        _take(state, np.array([ridge]), best)
        yield _report(state, 1, 1, fits + 1, done=True)
    elif isinstance(inner, LinearLoss) and GroupedMarginal.serves(inner, grouped):
        for number, (evaluations, done) in enumerate(_searched(state, inner, options), 1):
            yield _report(state, number, 1, fits + evaluations, done=done)
    else:
        yield from _in_turns(state, fits, options)


def _in_turns(state: _State, fits: int, options: EvidenceOptions) -> Iterator[Step]:
    """Updates of C, σ² and w in turns until log C and the evidence stand still.

    With more parameters than examples in many groups γ is uncertain, and an update may free a group
    altogether. One after which the evidence is clearly less is taken back and made smaller.
    """
    for number in range(1, options.max_steps + 1):
        last, before = state.objective, replace(state)
        iterations = _advance(state, first=number == 1)
        if number > _UNTESTED and state.objective > last + _WORSE * max(1.0, abs(last)):
            _go_back(state, before)
            if state.share < _LEAST_STEP or number == options.max_steps:
                yield _report(state, number, iterations, fits + number, done=True)
                return
            continue
        state.share = min(1.0, 2.0 * state.share)
        gained = abs(last - state.objective) / max(1.0, abs(last))
        settled = _residual(state) < options.tolerance and gained < 1e-3 * options.tolerance
        done = settled or number == options.max_steps
        yield _report(state, number, iterations, fits + number, done=done)
        if done:
            return


def _go_back(state: _State, before: _State) -> None:
    """The state as it was, with shorter updates from there."""
    for one in fields(before):
        setattr(state, one.name, getattr(before, one.name))
    state.share = 0.25 * before.share
    state.path.clear()


def _probes(grouped: Grouping) -> int:
    smallest = int(grouped.sizes[~grouped.empty].min())
    return min(_PROBES, max(_FEWEST_PROBES, _ENOUGH_DRAWS // smallest))


def _first(
    inner: Loss,
    point: LossAt,
    grouped: Grouping,
    signs: np.ndarray,
    back: Callable[[np.ndarray], np.ndarray],
) -> _State:
    """The state at the start, where C = 1 stands beside the loss as it was given."""
    loss, C = inner, np.ones(grouped.count)
    if isinstance(inner, LinearLoss | EigenbasisLoss):
        loss = FixedNoise(inner, inner.noise_variance(point.w))
        point = loss.at(point.w)
    newton = Newton(loss, traces=True)
    known = effective(newton, point, C, grouped, signs, _FIRST_ROUNDS)
    return _State(inner, back, grouped, signs, loss, newton, point, C, known)


def _searched(
    state: _State, inner: LinearLoss, options: EvidenceOptions
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

    least = _LEAST_SHARE * _most_determined(state)
    box = Box(math.log(_LOWEST), math.log(_HIGHEST), _LONGEST)
    last, evaluations = np.inf, 0
    searches = minimize_steps(cost, np.log(start / unit), box)
    for number, iterate in enumerate(searches, 1):
        assert at is not None  # the accepted point is the last evaluated one
        _take(state, unit * np.exp(iterate.x), at)
        evaluations = iterate.evaluations
        gained = (last - iterate.value) / max(1.0, abs(iterate.value))
        moving = 2.0 * np.abs(at.slope) / np.maximum(at.parameters, np.maximum(least, 1e-9))
        settled = moving.max() < options.tolerance and gained < 1e-3 * options.tolerance
        if settled or number == options.max_steps:
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
    of_columns = inner.design.squares(inner.counts)
    of_columns[: inner.design.columns] -= inner.examples * inner.means**2
    sums = np.maximum(grouped.sums(of_columns), np.finfo(float).tiny)
    shared = np.where(grouped.empty, 1.0, sums / inner.examples)
    single = np.full(grouped.count, best_single(in_eigenbasis(inner))[0])
    start = min((shared, single), key=lambda ridge: marginal(ridge).value)
    return marginal, start, np.where(grouped.empty, 1.0, sums / np.maximum(grouped.sizes, 1))


def _take(state: _State, ridge: np.ndarray, at: Marginal) -> None:
    """The state at penalties ρ = σ² C."""
    inner, grouped, w = state.inner, state.grouped, at.w
    assert isinstance(inner, LinearLoss | EigenbasisLoss)
    if isinstance(inner, LinearLoss) and inner.has_intercept:
        w = np.append(w, inner.intercept_at(w))
    state.C = np.where(grouped.empty, 1.0, ridge / at.variance)
    state.loss = FixedNoise(inner, at.variance)
    state.point = state.loss.at(w)
    # |A| = |K| |D| / σ²ⁿ, and m/σ² of the intercept.
    logs = float(grouped.sizes @ np.log(state.C))
    apart = math.log(inner.examples / at.variance) if inner.has_intercept else 0.0
    state.known = Effective(at.parameters, at.log_determinant + logs + apart)


def _advance(state: _State, *, first: bool) -> int:
    """C and σ² updated, one Newton step, γ computed there; the inner iterations it took."""
    if isinstance(state.inner, LinearLoss) and first:
        variance, state.C = _shared(state.inner, state.grouped)
        _hold(state, variance)
    else:
        if isinstance(state.inner, LinearLoss):
            _hold(state, _variance(state.inner, state))
        state.C = _updated(state)
    penalties = state.grouped.per_parameter(state.C)
    step = newton_step(state.newton, state.point, penalties, accuracy=Accuracy(_FORCING))
    state.point = step.point or state.point
    state.known = effective(state.newton, state.point, state.C, state.grouped, state.signs)
    return step.iterations


def _hold(state: _State, variance: float) -> None:
    """The linear loss at another noise variance, which is then held for a step."""
    assert isinstance(state.inner, LinearLoss)
    state.loss = FixedNoise(state.inner, variance)
    state.newton = Newton(state.loss, traces=True)
    state.point = state.loss.at(state.point.w)


def _shared(inner: LinearLoss, grouped: Grouping) -> tuple[float, np.ndarray]:
    """σ² and C where noise and every group have an equal share in the target's variance.

    Unlike C = 1 this start depends neither on the target's unit nor on the number of columns.
    """
    total = inner.total / (np.count_nonzero(~grouped.empty) + 1)
    columns = inner.design.squares(inner.counts)[: inner.design.columns]
    columns -= inner.examples * inner.means**2
    columns = np.append(columns, np.zeros(inner.size - len(columns)))
    floor = max(inner.noise.floor, np.finfo(float).tiny)
    C = grouped.sums(columns) / max(total, floor)
    return max(total, floor) / inner.examples, np.where(grouped.empty, 1.0, C)


def _updated(state: _State) -> np.ndarray:
    """The next C: where the update and its last two predecessors are heading."""
    C = _update(state)
    if state.share < 1.0:
        return np.asarray(state.C * (C / state.C) ** state.share)
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
    """Groups of which the data determine next to nothing: their C grows without end."""
    return state.known.parameters < _LEAST_SHARE * _most_determined(state)


def _most_determined(state: _State) -> np.ndarray:
    """How many parameters of every group the data could determine at most, shape (k,)."""
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
    steady = not state.newton.dense and left < _UNCERTAIN * m
    variance = (rss + state.loss.variance * taken) / m if steady else rss / left
    return max(variance, state.loss.lowest)


def _remarks(state: _State) -> tuple[str, ...]:
    determined = float(state.known.parameters.sum())
    held = isinstance(state.loss, FixedNoise) and state.loss.variance <= state.loss.lowest
    remarks = without_error(state.inner) if held else ()
    if determined < _LEAST_SHARE * min(float(_most_determined(state).sum()), state.loss.examples):
        remarks += (
            "The data determine next to none of the weights: the columns say little or nothing"
            " about the target, as far as a linear model can use them.",
        )
    return remarks


def _report(state: _State, number: int, iterations: int, fits: int, *, done: bool = False) -> Step:
    scale, value, w = 1.0, state.point.value, state.point.w
    if isinstance(state.inner, LinearLoss | EigenbasisLoss):
        assert isinstance(state.loss, FixedNoise)
        scale = state.loss.variance / state.inner.noise_variance(w)
        value = state.inner.at(w).value
    return Step(
        number=number,
        w=state.back(w).copy(),
        C=state.C * scale,
        objective=state.objective,
        loss=value,
        norms=np.sqrt(state.grouped.squares(w)),
        switched_off=_switched_off(state) | state.grouped.empty,
        iterations=iterations,
        fits=fits,
        parameters=state.known.parameters.copy(),
        remarks=_remarks(state) if done else (),
    )
