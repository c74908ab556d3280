"""The evidence update of penalties (MacKay 1992, "Bayesian interpolation"; discussed in Foo 2009).

Maximizes the Laplace evidence: −log p(data | C) ≈ loss(w) + ½ Σ_j C_j ‖w_j‖² − ½ Σ_j n_j log C_j
+ ½ log |H + diag c|, up to a constant, at the w that minimizes loss + ½ Σ C_j ‖w_j‖².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties |
| γ_j | ``parameters`` | (k,) | n_j − C_j tr_j (H + diag c)⁻¹, what the data settle in group j |
| σ² | ``variance`` | | noise variance of a linear model, R/(m − Σ γ − intercept) |

Each step updates C_j towards γ_j/‖w_j‖² (and σ²), takes one Newton step on w, and computes γ there.
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

from core.losses.fixed_noise import FixedNoise
from core.losses.linear import LinearLoss
from core.losses.loss import Loss
from core.losses.rotated import RotatedLinear
from core.penalties.blas_threads import one_blas_thread
from core.penalties.descent import line_search
from core.penalties.effective import Effective, effective
from core.penalties.group_penalty import Grouping, grouping
from core.penalties.newton import Newton, Point, point_at
from core.penalties.remarks import floor
from core.penalties.rotation import easiest
from core.penalties.start import first_point
from core.penalties.step import Step

# A group whose γ vanishes has a C without bound; beyond this many times the data's own curvature
# its weights are zero to any practical accuracy.
_LOWEST, _HIGHEST = 1e-12, 1e8
# Below this share of its parameters a group is shown as switched off.
_LEAST_SHARE = 0.01
# Probes: so many for small groups; each parameter of a group is a draw of its own, so that large
# groups need fewer.
_PROBES, _FEWEST_PROBES = 8, 2
_ENOUGH_DRAWS = 8000


@dataclass
class _State:
    """Where the learner stands; ``path`` is the last log C and where the update sent them."""

    loss: Loss
    newton: Newton
    point: Point
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
) -> Iterator[Step]:
    """The steps of the evidence update: one of C, one Newton step and one of γ each.

    Args:
        loss: −log p(data | w).
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: max_steps, tolerance.
        seed: of the random signs that estimate γ where the Hessian is too large to be formed.
        holdout: unused, no validation data is needed.
        group_count: k, where the last groups may be empty.
    """
    grouped = grouping(groups, group_count)
    inner, grouped, back = easiest(loss, grouped)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(_probes(grouped), inner.size))
    most, tolerance = int(options.get("max_steps", 100)), float(options.get("tolerance", 1e-3))
    C = np.ones(grouped.count)
    start = first_point(inner, grouped.spread(C), Newton(inner))
    state, fits = _first(inner, start.point, C, grouped, signs), start.fits
    yield _step(0, state, inner, back, start.iterations, fits, ())
    for number in range(1, most + 1):
        last = state.objective
        iterations = _advance(state, inner, signs)
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
    inner: Loss, point: Point, C: np.ndarray, grouped: Grouping, signs: np.ndarray
) -> _State:
    """The state at the start, where C = 1 stands beside the loss as it was given."""
    loss = inner
    if isinstance(inner, LinearLoss | RotatedLinear):
        loss = FixedNoise(inner, inner.noise_variance(point.w))
        point = point_at(loss, point.w)
    newton = Newton(loss, traces=True)
    return _State(loss, newton, point, C, effective(newton, point, C, grouped, signs), grouped)


def _advance(state: _State, inner: Loss, signs: np.ndarray) -> int:
    """C and σ² updated, one Newton step, γ computed there; the inner iterations it took."""
    if isinstance(inner, LinearLoss | RotatedLinear):
        state.loss = FixedNoise(inner, _variance(inner, state))
        state.newton = Newton(state.loss, traces=True)
        state.point = point_at(state.loss, state.point.w)
    state.C = _updated(state)
    penalties = state.grouped.spread(state.C)
    point = state.point
    slope = point.gradient + penalties * point.w
    direction, iterations = state.newton.direction(point, slope, penalties, None, 1e-2)
    reached = line_search(
        state.loss, point, direction, slope, lambda w: 0.5 * float(penalties @ (w * w))
    )
    state.point = reached or point
    state.known = effective(state.newton, state.point, state.C, state.grouped, signs)
    return iterations


def _updated(state: _State) -> np.ndarray:
    """The next C: where the update and its last two predecessors are heading."""
    C = _update(state)
    state.path.append((np.log(state.C), np.log(C)))
    bounds = math.log(_LOWEST), math.log(_HIGHEST * state.loss.examples)
    return np.exp(np.clip(_extrapolated(state.path), *bounds))


def _residual(state: _State) -> float:
    """How far the update would move log C from here, of the groups that are not switched off."""
    moved = np.abs(np.log(_update(state) / state.C))
    return float(moved[~_switched_off(state)].max(initial=0.0))


def _switched_off(state: _State) -> np.ndarray:
    """Groups of which the data settle next to nothing: their C grows without end."""
    return state.known.parameters < _LEAST_SHARE * state.grouped.sizes


def _update(state: _State) -> np.ndarray:
    """C_j = γ_j/‖w_j‖², held where the weights or γ have vanished."""
    squares = state.grouped.squares(state.point.w)
    gamma = np.maximum(state.known.parameters, 1e-12)
    with np.errstate(divide="ignore"):
        C = gamma / squares
    C = np.clip(C, _LOWEST, _HIGHEST * state.loss.examples)
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


def _variance(inner: LinearLoss | RotatedLinear, state: _State) -> float:
    rss, _ = inner.rss_and_slope(state.point.w)
    intercept = int(inner.has_intercept)
    left = inner.examples - float(state.known.parameters.sum()) - intercept
    return max(rss, inner.noise.floor) / max(left, 1.0)


def _remarks(state: _State, inner: Loss) -> tuple[str, ...]:
    settled = float(state.known.parameters.sum())
    said = floor(inner, state.point.w)
    if settled < _LEAST_SHARE * float(state.grouped.sizes.sum()):
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
        value = inner.value_and_gradient(state.point.w)[0]
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
