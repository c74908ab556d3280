"""The evidence update of penalties (MacKay 1992, "Bayesian interpolation"; discussed in Foo 2009).

Maximizes the Laplace evidence: −log p(data | C) ≈ loss(w) + ½ Σ_j C_j ‖w_j‖² − ½ Σ_j n_j log C_j
+ ½ log |H + diag c|, up to a constant, at the w that minimizes loss + ½ Σ C_j ‖w_j‖².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties |
| γ_j | ``parameters`` | (k,) | n_j − C_j tr_j (H + diag c)⁻¹, the effective number of parameters |
| σ² | ``variance`` | | noise variance of a linear model, R/(m − Σ γ − intercept) |
| A | | (n, n) | H + diag(c) |
| M = L Lᵀ | ``near`` | (n, n) | a preconditioner near A |
| z | ``signs`` | (r, n) | random signs |

Each step updates C_j towards γ_j/‖w_j‖² (and σ²), takes one Newton step on w, and computes γ there.
The evidence of a linear model of moderate size is known exactly (marginal.py): its maximum is found
at once with one penalty, with several by L-BFGS over log σ² C. A linear model's C is reported on
the scale of ½ C ‖w‖² beside (m/2) log R: its ridge penalty is (R/m) C.

γ and log |A| are exact from the Cholesky factor where the Hessian is formed. Otherwise they come
from probes (Hutchinson): with u = L⁻ᵀz and v = A⁻¹ L z the mean of u ∘ v is the diagonal of A⁻¹,
and that of u ∘ u the known one of M⁻¹; the difference has little variance where M is near A. The
Lanczos matrix T of L⁻¹ A L⁻ᵀ started at z gives log |A| = log |M| + mean of ‖z‖² e₁ᵀ log(T) e₁.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import eigh_tridiagonal

from core.losses.linear.eigenbasis_loss import EigenbasisLoss, FixedNoise
from core.losses.linear.linear_loss import LinearLoss
from core.optimize.cholesky import cholesky, inverse_diagonal, log_determinant
from core.optimize.descent import StepTolerance, first_point, newton_step
from core.optimize.lbfgs import Bounds, minimize_steps
from core.optimize.loss import LinearMap, Loss, LossPoint
from core.optimize.newton import Newton, Preconditioner, penalized_matrix, penalized_product
from core.penalties.group_penalty import Grouping, without_error
from core.penalties.marginal import (
    GroupedMarginal,
    MarginalLikelihood,
    WeightMap,
    best_single,
    diagonalized,
)
from core.penalties.penalty_problem import (
    EvidenceOptions,
    LearnerStep,
    PenaltyProblem,
    one_blas_thread,
)
from core.penalties.unit_share import counting_units

_LANCZOS_STEPS = 100
# Relative residual at which a probe is solved well enough; its quadrature errs by the square. Where
# C still moves far, a multiple of what log C moved by; at C = 1 γ only says where to go first.
_CLOSE, _ROUGH, _ROUGHEST, _CLOSE_A_MOVE = 3e-3, 3e-2, 0.3, 0.05


@dataclass(frozen=True)
class EffectiveParameters:
    """γ, shape (k,), and log |A| at a point."""

    parameters: np.ndarray
    log_determinant: float


def effective_parameters(
    newton: Newton,
    point: LossPoint,
    C: np.ndarray,
    grouped: Grouping,
    signs: np.ndarray,
    close: float = _CLOSE,
) -> EffectiveParameters:
    """γ and log |A| at a point near the minimizer at C (k,); `close`: where a probe ends.

    `signs`: random −1 and +1, shape (r, n), for losses whose Hessian is not formed.
    """
    penalties = grouped.per_parameter(C)
    curvatures = point.majorizer_diagonal()
    if curvatures is not None:
        A = curvatures + penalties
        diagonal, logs = 1.0 / A, float(np.log(A).sum()) + newton.loss.log_determinant_apart
    elif newton.dense:
        L = cholesky(penalized_matrix(newton.loss, point.majorizer_dense(), penalties))
        diagonal, logs = inverse_diagonal(L), log_determinant(L)
    else:
        diagonal, logs = _probe_diagonal(newton, point, penalties, signs, close)
    # Directions that the examples do not span have no curvature and no coordinate: they add
    # nothing to γ, and log C_j each to log |A|.
    spanned = np.bincount(grouped.groups + 1, minlength=grouped.group_count + 1)[1:]
    gamma = np.clip(spanned - C * grouped.group_sums(diagonal), 0.0, spanned)
    return EffectiveParameters(gamma, logs + float((grouped.sizes - spanned) @ np.log(C)))


def _probe_diagonal(
    newton: Newton, point: LossPoint, penalties: np.ndarray, signs: np.ndarray, close: float
) -> tuple[np.ndarray, float]:
    near = newton.preconditioner(point, penalties)
    # Single precision serves: the probes' own scatter is far larger than its rounding.
    product = penalized_product(newton.loss, point.rough_product(), penalties)

    def counted(V: np.ndarray) -> np.ndarray:
        newton.products += len(V)
        return product(V) if newton.loss.takes_several else np.array([product(v) for v in V])

    solutions, logarithms = _lanczos(counted, near, signs, close)
    u = near.upper_inverse(signs)
    excess = (u * (near.upper_inverse(solutions) - u)).mean(axis=0)
    logs = near.log_determinant() + float(logarithms.mean())
    return near.inverse_diagonal() + excess, logs


def _lanczos(
    apply: LinearMap, near: Preconditioner, Z: np.ndarray, close: float = _CLOSE
) -> tuple[np.ndarray, np.ndarray]:
    """For each row z of (r, n): the x with L⁻¹ A L⁻ᵀ x = z, and ‖z‖² e₁ᵀ log(T) e₁ on the way."""
    # The conjugate gradients of all rows go side by side, so that A is read once for them.
    X, active = np.zeros_like(Z), np.arange(len(Z))
    R, D, first = Z.copy(), Z.copy(), np.einsum("ij,ij->i", Z, Z)
    rr = first
    steps, ratios = ([list[float]() for _ in Z] for _ in range(2))
    for _ in range(_LANCZOS_STEPS):
        products = near.lower_inverse(apply(near.upper_inverse(D)))
        curvatures = np.einsum("ij,ij->i", D, products)
        upward = curvatures > 0.0
        if not upward.all():
            active, R, D, rr = active[upward], R[upward], D[upward], rr[upward]
            products, curvatures = products[upward], curvatures[upward]
        step = rr / curvatures
        X[active] += step[:, None] * D
        R = R - step[:, None] * products
        rr, last = np.einsum("ij,ij->i", R, R), rr
        for k, probe in enumerate(active):
            steps[probe].append(float(step[k]))
            ratios[probe].append(float(rr[k] / last[k]))
        far = rr >= close**2 * first[active]
        if not far.any():
            break
        ratio = (rr / last)[far]
        active, R, rr = active[far], R[far], rr[far]
        D = R + ratio[:, None] * D[far]
    return X, first * np.array([_log_corner(*pair) for pair in zip(steps, ratios, strict=True)])


def _log_corner(steps: list[float], ratios: list[float]) -> float:
    """e₁ᵀ log(T) e₁ of the Lanczos matrix that conjugate gradients imply (Golub and Meurant)."""
    if not steps:  # not a single one had positive curvature: as for T = 1
        return 0.0
    a, b = 1.0 / np.array(steps), np.array(ratios[: len(steps) - 1])
    main = a.copy()
    main[1:] += b * a[:-1]
    values, vectors = eigh_tridiagonal(main, np.sqrt(b) * a[:-1])
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-300)))


# A group whose γ vanishes has a C without bound; it is held within these multiples of the data's
# own curvature.
_LOWEST, _HIGHEST = 1e-14, 1e8
# Below this share of its parameters a group is shown as switched off.
_MIN_DETERMINED_SHARE = 0.01
_FORCING = 1e-2  # relative accuracy of conjugate gradients
# What is left of m after γ is too uncertain below this share of m where γ comes from probes.
_UNCERTAIN = 0.1
# No log ρ moves further in one line search.
_LONGEST = 3.0
# An update after which −log evidence is larger by this share is taken back, the first ones apart;
# below the least share of an update the learner ends.
_WORSE, _UNTESTED, _MIN_UPDATE_SHARE = 0.02, 2, 1.0 / 64
# Probes: so many for small groups; each parameter of a group is a draw of its own, so that large
# groups need fewer.
_PROBES, _MIN_PROBES = 8, 2
_ENOUGH_DRAWS = 8000


@dataclass
class _State:
    """The learner's variables; ``path`` holds the last log C, each with what it was updated to.

    ``inner`` is the problem's loss, or that in its eigenbasis, from which ``back`` leads to
    parameters; ``loss`` is ``inner`` with the noise variance held, where there is one.
    """

    inner: Loss
    back: WeightMap
    grouped: Grouping
    signs: np.ndarray
    loss: Loss
    newton: Newton
    point: LossPoint
    C: np.ndarray
    effective: EffectiveParameters
    path: deque[tuple[np.ndarray, np.ndarray]] = field(default_factory=lambda: deque(maxlen=3))
    share: float = 1.0  # of every update of log C that is taken

    @property
    def objective(self) -> float:
        """−log evidence up to a constant."""
        squares = float(self.C @ self.grouped.squares(self.point.w))
        logs = float(self.grouped.sizes @ np.log(self.C))
        return self.point.value + 0.5 * (squares - logs + self.effective.log_determinant)


@one_blas_thread
@counting_units
def evidence_steps(
    problem: PenaltyProblem, options: EvidenceOptions = EvidenceOptions()
) -> Iterator[LearnerStep]:
    """The steps of the evidence update: one of C, one Newton step and one of γ each."""
    inner, grouped, back = diagonalized(problem.loss, problem.grouping)
    size = _probe_count(grouped), inner.size
    signs = np.random.default_rng(problem.seed).choice([-1.0, 1.0], size=size)
    start = first_point(inner, grouped.per_parameter(np.ones(grouped.group_count)), Newton(inner))
    state, fits = _first_state(inner, start.point, grouped, signs, back), start.fits
    yield _make_step(state, 0, start.iterations, fits)
    if isinstance(inner, EigenbasisLoss):
        ridge, best = best_single(inner)
        _set_penalties(state, np.array([ridge]), best)
        yield _make_step(state, 1, 1, fits + 1, is_last=True)
    elif isinstance(inner, LinearLoss) and GroupedMarginal.can_serve(inner, grouped):
        for number, (evaluations, is_last) in enumerate(_line_searches(state, inner, options), 1):
            yield _make_step(state, number, 1, fits + evaluations, is_last=is_last)
    else:
        yield from _in_turns(state, fits, options)


def _in_turns(state: _State, fits: int, options: EvidenceOptions) -> Iterator[LearnerStep]:
    for number in range(1, options.max_steps + 1):
        last, before = state.objective, replace(state)
        iterations = _advance(state, first=number == 1)
        # Taken back and made smaller: an update that frees many groups may separate the classes.
        if number > _UNTESTED and state.objective > last + _WORSE * max(1.0, abs(last)):
            state = replace(before, share=0.25 * before.share, path=deque(maxlen=3))
            if state.share < _MIN_UPDATE_SHARE or number == options.max_steps:
                yield _make_step(state, number, iterations, fits + number, is_last=True)
                return
            continue
        state.share = min(1.0, 2.0 * state.share)
        gained = abs(last - state.objective) / max(1.0, abs(last))
        settled = _residual(state) < options.tolerance and gained < 1e-2 * options.tolerance
        is_last = settled or number == options.max_steps
        yield _make_step(state, number, iterations, fits + number, is_last=is_last)
        if is_last:
            return


def _probe_count(grouped: Grouping) -> int:
    smallest = int(grouped.sizes[~grouped.is_empty].min())
    return min(_PROBES, max(_MIN_PROBES, _ENOUGH_DRAWS // smallest))


def _first_state(
    inner: Loss, point: LossPoint, grouped: Grouping, signs: np.ndarray, back: WeightMap
) -> _State:
    loss, C = inner, np.ones(grouped.group_count)
    if isinstance(inner, LinearLoss | EigenbasisLoss):
        loss = FixedNoise(inner, inner.noise_variance(point.w))
        point = loss.point_at(point.w)
    newton = Newton(loss, traces=True)
    effective = effective_parameters(newton, point, C, grouped, signs, _ROUGHEST)
    return _State(inner, back, grouped, signs, loss, newton, point, C, effective)


def _line_searches(
    state: _State, inner: LinearLoss, options: EvidenceOptions
) -> Iterator[tuple[int, bool]]:
    """Line searches of L-BFGS over log ρ on the exact marginal likelihood; they move the state.

    Yields the evaluations so far, and whether this is the last step.
    """
    # Turns of C, σ² and w take a hundred steps and more where groups compete with the noise.
    marginal, start, unit = _starting_ridges(inner, state.grouped)
    likelihood: MarginalLikelihood | None = None

    def negative_evidence(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal likelihood
        likelihood = marginal(unit * np.exp(x))
        return likelihood.value, likelihood.slope

    min_determined = np.maximum(_MIN_DETERMINED_SHARE * _most_determined(state), 1e-9)
    box = Bounds(math.log(_LOWEST), math.log(_HIGHEST), _LONGEST)
    last, evaluations = np.inf, 0
    searches = minimize_steps(negative_evidence, np.log(start / unit), box)
    for number, iterate in enumerate(searches, 1):
        assert likelihood is not None  # the accepted point is the last evaluated one
        _set_penalties(state, unit * np.exp(iterate.x), likelihood)
        evaluations = iterate.evaluations
        gained = (last - iterate.value) / max(1.0, abs(iterate.value))
        # Twice the slope is C‖w‖² − γ: as a share of γ, what MacKay's update would change.
        moving = 2.0 * np.abs(likelihood.slope) / np.maximum(likelihood.parameters, min_determined)
        settled = moving.max() < options.tolerance and gained < 1e-3 * options.tolerance
        if settled or number == options.max_steps:
            break
        yield evaluations, False
        last = iterate.value
    yield evaluations, True


def _starting_ridges(
    inner: LinearLoss, grouped: Grouping
) -> tuple[GroupedMarginal, np.ndarray, np.ndarray]:
    """The marginal likelihood, the better of two ρ to start at, and a unit for each ρ."""
    marginal = GroupedMarginal(inner, grouped)
    sums = np.maximum(grouped.group_sums(inner.column_squares()), np.finfo(float).tiny)
    shared = np.where(grouped.is_empty, 1.0, sums / inner.examples)
    # Noise and groups with equal shares in y's variance, or the best single penalty.
    single = np.full(grouped.group_count, best_single(EigenbasisLoss(inner))[0])
    start = min((shared, single), key=lambda ridge: marginal(ridge).value)
    return marginal, start, np.where(grouped.is_empty, 1.0, sums / np.maximum(grouped.sizes, 1))


def _set_penalties(state: _State, ridge: np.ndarray, likelihood: MarginalLikelihood) -> None:
    inner, grouped, w = state.inner, state.grouped, likelihood.w
    assert isinstance(inner, LinearLoss | EigenbasisLoss)
    if isinstance(inner, LinearLoss) and inner.has_intercept:
        w = np.append(w, inner.intercept_at(w))
    state.C = np.where(grouped.is_empty, 1.0, ridge / likelihood.variance)
    state.loss = FixedNoise(inner, likelihood.variance)
    state.point = state.loss.point_at(w)
    # |A| = |K| |D| / σ²ⁿ, and m/σ² of the intercept.
    logs = likelihood.log_determinant + float(grouped.sizes @ np.log(state.C))
    logs += math.log(inner.examples / likelihood.variance) if inner.has_intercept else 0.0
    state.effective = EffectiveParameters(likelihood.parameters, logs)


def _advance(state: _State, *, first: bool) -> int:
    """C and σ² updated, one Newton step, γ computed there; the inner iterations it took."""
    grouped, last_C = state.grouped, state.C
    if isinstance(state.inner, LinearLoss) and first:
        variance, state.C = _equal_shares(state.inner, grouped)
        _hold_variance(state, variance)
    else:
        if isinstance(state.inner, LinearLoss):
            _hold_variance(state, _variance(state.inner, state))
        state.C = _updated(state)
    penalties = grouped.per_parameter(state.C)
    step = newton_step(state.newton, state.point, penalties, accuracy=StepTolerance(_FORCING))
    state.point = step.point or state.point
    close = _CLOSE_A_MOVE * float(np.abs(np.log(state.C / last_C)).max())
    close = min(max(close, _CLOSE), _ROUGH)
    state.effective = effective_parameters(
        state.newton, state.point, state.C, grouped, state.signs, close
    )
    return step.iterations


def _hold_variance(state: _State, variance: float) -> None:
    assert isinstance(state.inner, LinearLoss)
    state.loss = FixedNoise(state.inner, variance)
    state.newton = Newton(state.loss, traces=True)
    state.point = state.loss.point_at(state.point.w)


def _equal_shares(inner: LinearLoss, grouped: Grouping) -> tuple[float, np.ndarray]:
    """σ² and C where noise and every group have an equal share in the target's variance."""
    # Unlike C = 1 this start depends neither on the target's unit nor on the number of columns.
    total = inner.total / (np.count_nonzero(~grouped.is_empty) + 1)
    floor = max(inner.noise.floor, np.finfo(float).tiny)
    C = grouped.group_sums(inner.column_squares()) / max(total, floor)
    return max(total, floor) / inner.examples, np.where(grouped.is_empty, 1.0, C)


def _updated(state: _State) -> np.ndarray:
    """The next C: where the update and its last two predecessors are heading."""
    C = _mackay_update(state)
    if state.share < 1.0:
        return np.asarray(state.C * (C / state.C) ** state.share)
    state.path.append((np.log(state.C), np.log(C)))
    low, high = _penalty_bounds(state.loss)
    return np.exp(np.clip(_extrapolated(state.path), math.log(low), math.log(high)))


def _penalty_bounds(loss: Loss) -> tuple[float, float]:
    data = loss.examples / loss.variance if isinstance(loss, FixedNoise) else loss.examples
    return _LOWEST * data, _HIGHEST * data


def _residual(state: _State) -> float:
    """How far the update would move log C from here, of the groups that are not switched off."""
    changes = np.abs(np.log(_mackay_update(state) / state.C))
    return float(changes[~_switched_off(state)].max(initial=0.0))


def _switched_off(state: _State) -> np.ndarray:
    """Groups of which the data determine next to nothing: their C grows without end."""
    return state.effective.parameters < _MIN_DETERMINED_SHARE * _most_determined(state)


def _most_determined(state: _State) -> np.ndarray:
    """How many parameters of every group the data could determine at most, shape (k,)."""
    return np.minimum(state.grouped.sizes, state.loss.examples)


def _mackay_update(state: _State) -> np.ndarray:
    """C_j = γ_j/‖w_j‖², held where the weights or γ have vanished."""
    squares = state.grouped.squares(state.point.w)
    gamma = np.maximum(state.effective.parameters, 1e-12)
    with np.errstate(divide="ignore"):
        C = gamma / squares
    C = np.clip(C, *_penalty_bounds(state.loss))
    return np.where(state.grouped.is_empty, 1.0, C)


def _extrapolated(path: deque[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Where the updates of log C are heading (Anderson 1965, from up to three of them)."""
    # Far from the end, or a factor of e beyond the update, an extrapolation leads astray.
    x, to = path[-1]
    if len(path) < 2 or float(np.abs(to - x).max()) > 1.0:
        return to
    # No more differences than unknowns: one more would bend the secant.
    last = list(path)[-len(x) - 1 :]
    residuals = np.array([b - a for a, b in last])
    differences = np.diff(residuals, axis=0).T
    targets = np.diff(np.array([b for _, b in last]), axis=0).T
    weights = np.linalg.lstsq(differences, residuals[-1], rcond=1e-6)[0]
    heading = to - targets @ weights
    return heading if float(np.abs(heading - to).max()) <= 1.0 else to


def _variance(inner: LinearLoss, state: _State) -> float:
    """R over what γ and the intercept leave of m, no less than the floor."""
    assert isinstance(state.loss, FixedNoise)
    rss, m = inner.rss_and_slope(state.point.w)[0], inner.examples
    degrees_used = float(state.effective.parameters.sum()) + int(inner.has_intercept)
    degrees_left = max(m - degrees_used, np.finfo(float).eps * m)
    # The update of expectation–maximization has the same fixed point, and needs no difference.
    steady = not state.newton.dense and degrees_left < _UNCERTAIN * m
    variance = (rss + state.loss.variance * degrees_used) / m if steady else rss / degrees_left
    return max(variance, state.loss.min_variance)


def _remarks(state: _State) -> tuple[str, ...]:
    determined = float(state.effective.parameters.sum())
    at_floor = isinstance(state.loss, FixedNoise) and state.loss.variance <= state.loss.min_variance
    remarks = without_error(state.inner) if at_floor else ()
    highest = min(float(_most_determined(state).sum()), state.loss.examples)
    if determined < _MIN_DETERMINED_SHARE * highest:
        remarks += (
            "The data determine next to none of the weights: the columns say little or nothing"
            " about the target, as far as a linear model can use them.",
        )
    return remarks


def _make_step(
    state: _State, number: int, iterations: int, fits: int, *, is_last: bool = False
) -> LearnerStep:
    scale, value, w = 1.0, state.point.value, state.point.w
    if isinstance(state.inner, LinearLoss | EigenbasisLoss):
        assert isinstance(state.loss, FixedNoise)
        scale = state.loss.variance / state.inner.noise_variance(w)
        value = state.inner.point_at(w).value
    return LearnerStep(
        number=number,
        w=state.back(w).copy(),
        C=state.C * scale,
        objective=state.objective,
        loss=value,
        norms=np.sqrt(state.grouped.squares(w)),
        switched_off=_switched_off(state) | state.grouped.is_empty,
        iterations=iterations,
        fits=fits,
        parameters=state.effective.parameters.copy(),
        remarks=_remarks(state) if is_last else (),
    )
