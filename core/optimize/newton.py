"""Newton directions, and preconditioners of H + diag(c): of some rows, or diagonal (Jacobi).

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| M | | (n, n) | the preconditioner |
| L | | (n, n) | its factor, M = L Lᵀ |
| b | ``b`` | (n,) or (r, n) | a vector, or one a row |
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.optimize.cholesky import (
    cholesky,
    inverse_diagonal,
    log_determinant,
    solve_factored,
    solve_lower,
)
from core.optimize.kronecker import KroneckerCurvature, KroneckerPreconditioner
from core.optimize.loss import Correction, LinearMap, Loss, LossPoint
from core.optimize.two_loop import Pair, pair_of, two_loop


@dataclass(frozen=True)
class DiagonalPreconditioner:
    """M = diag(d)."""

    d: np.ndarray

    def solve(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹ b."""
        return b / self.d

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        """L⁻¹ b, which is L⁻ᵀ b."""
        return b / np.sqrt(self.d)

    upper_inverse = lower_inverse

    def log_determinant(self) -> float:
        return float(np.log(self.d).sum())

    def inverse_diagonal(self) -> np.ndarray:
        return 1.0 / self.d


@dataclass(frozen=True)
class FactorPreconditioner:
    """M by its lower Cholesky factor L."""

    L: np.ndarray

    def solve(self, b: np.ndarray) -> np.ndarray:
        return solve_factored(self.L, b.T).T

    def lower_inverse(self, b: np.ndarray) -> np.ndarray:
        return solve_lower(self.L, b.T).T

    def upper_inverse(self, b: np.ndarray) -> np.ndarray:
        return solve_lower(self.L, b.T, transposed=True).T

    def log_determinant(self) -> float:
        return log_determinant(self.L)

    def inverse_diagonal(self) -> np.ndarray:
        return self._inverse_diagonal.copy()

    @cached_property
    def _inverse_diagonal(self) -> np.ndarray:
        return inverse_diagonal(self.L)


# Their operations are those that conjugate gradients and trace estimates need.
Preconditioner = DiagonalPreconditioner | FactorPreconditioner | KroneckerPreconditioner


def diagonal_preconditioner(point: LossPoint, penalties: np.ndarray) -> DiagonalPreconditioner:
    """diag(c) plus the Hessian's diagonal at a point, from probes where the loss has none."""
    hessian_diagonal = point.diagonal()
    d = (_probed_diagonal(point) if hessian_diagonal is None else hessian_diagonal) + penalties
    return DiagonalPreconditioner(np.maximum(d, 1e-10 * max(float(d.max()), 1e-300)))


def factor_preconditioner(H: np.ndarray, penalties: np.ndarray) -> FactorPreconditioner:
    """A matrix near the Hessian (n, n), with penalties (n,) added."""
    A = H.copy()
    A.flat[:: len(A) + 1] += penalties + 1e-10 * float(np.abs(np.diagonal(H)).max())
    return FactorPreconditioner(cholesky(A))


def _probed_diagonal(point: LossPoint) -> np.ndarray:
    # By random signs (Bekas, Kokiopoulou and Saad 2007).
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(8, len(point.w)))
    estimate = np.mean([z * point.majorizer_product(z) for z in signs], axis=0)
    return np.maximum(estimate, 0.1 * max(float(estimate.mean()), 0.0))


_PAIRS, _PAIRS_OF_MANY = 60, 20
_MANY = 5000  # parameters, beyond which so many pairs would cost more than they save
_MIN_CURVATURE_SHARE = 1e-10  # a share of ‖s‖ ‖y‖ below which rounding made the curvature


class CurvatureMemory:
    """The last pairs of steps and gradient differences of one loss with ``size`` parameters."""

    def __init__(self, size: int) -> None:
        max_pairs = _PAIRS if size <= _MANY else _PAIRS_OF_MANY
        self._pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=max_pairs)
        self._curvature = 0.0
        self._penalties = np.zeros(0)  # of the pairs below
        self._penalized: deque[Pair] = deque(maxlen=max_pairs)

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def add_pair(self, s: np.ndarray, y: np.ndarray) -> None:
        """Keep a pair; one without measurable curvature is left out."""
        product = float(s @ y)
        if product > _MIN_CURVATURE_SHARE * float(np.sqrt((s @ s) * (y @ y))):
            self._pairs.append((s, y))
            self._curvature = float(y @ y) / product
            if len(self._penalties):
                self._penalized.append(self._with_penalty(s, y))

    def approximate_inverse(self, penalties: np.ndarray, curvature: float = 1.0) -> LinearMap:
        """The product with about (H + diag c)⁻¹, positive definite; θ serves while no pair is."""
        first = 1.0 / ((self._curvature or curvature) + penalties)
        if not np.array_equal(penalties, self._penalties):  # they stay for many steps
            self._penalties = penalties.copy()
            self._penalized.clear()
            self._penalized.extend(self._with_penalty(s, y) for s, y in self._pairs)
        pairs = tuple(self._penalized)
        return lambda b: two_loop(b, pairs, first)

    def _with_penalty(self, s: np.ndarray, y: np.ndarray) -> Pair:
        return pair_of(s, y + self._penalties * s)


# Beyond this many parameters conjugate gradients take Cholesky's place, and below it where they
# are likely to cost less: so many products a step, each with an overhead worth so many
# multiplications, and so much slower than those of a matrix product.
_LARGEST_DENSE = 2001  # 2,000 columns and an intercept
_PRODUCTS = 6
_OVERHEAD = 3e6
_SLOWNESS = 2.5
# With the inverse wanted for traces the alternative is so many times dearer.
_TRACE_FACTOR = 12
# A sample that costs no more products than this is formed at once; so many times as many for
# traces.
_CHEAP_SAMPLE = 15
_SAMPLE_FOR_TRACES = 10
_BASIS = 25  # factors that a decomposition of as many columns costs
# Conjugate gradients that have cost more than the Hessian, or a sample, would, so many times, are
# worth them as their preconditioner; beyond this many parameters it takes too much memory.
_PATIENCE = 0.7
_LARGEST_HESSIAN = 3000
_ROWS_A_PARAMETER = 10
# A sample is factored anew where a penalty has changed by more than this share.
_NEAR = 0.25
# The share of the curvature along one direction that a correction may take away.
_MAX_CORRECTED_SHARE = 0.95


@dataclass(frozen=True)
class CgResult:
    """Where conjugate gradients ended."""

    x: np.ndarray | None  # None where a direction of no positive curvature showed
    iterations: int
    converged: bool  # if not, x is still a direction of descent


class Newton:
    """Newton directions for one loss; with ``traces`` the inverse is wanted for more than steps."""

    def __init__(self, loss: Loss, traces: bool = False) -> None:
        self.loss = loss
        self.dense = is_dense(loss, traces)
        # Their Newton steps from afar are mostly cut short, and no diagonal preconditions them.
        use_memory = loss.far_from_quadratic and not self.dense
        self.memory = CurvatureMemory(loss.size) if use_memory else None
        self.products = 0
        self._sample: np.ndarray | KroneckerCurvature | None = None
        self._sample_value = math.inf
        self._sample_at = 0.0 if self.dense else self._products_of_sample(traces)
        self._hessian_at = math.inf if self.dense else self._products_of_hessian()
        self._has_hessian = False
        self._near: tuple[np.ndarray, Preconditioner] | None = None

    def direction(
        self,
        point: LossPoint,
        slope: np.ndarray,
        penalties: np.ndarray,
        correction: Correction | None = None,
        forcing: float = 0.1,
        enough: float = 0.0,
    ) -> tuple[np.ndarray, int]:
        """The step −(A − U D Uᵀ)⁻¹ g from a point and the inner iterations it took.

        Conjugate gradients stop at relative accuracy ``forcing``, or when less than ``enough`` is
        to be gained.
        """
        if self.dense:
            return _corrected(self.solver_at(point, penalties), slope, correction), 1
        precondition = self.precondition(point, penalties)
        # Single precision is enough where the direction is only roughly solved for.
        multiply = point.rough_product() if forcing >= 1e-4 else point.majorizer_product
        product = penalized_product(self.loss, multiply, penalties)
        apply = self.recorded(product, penalties)
        if correction is not None:
            U, D = correction.U, correction.D
            corrected = conjugate_gradients(
                lambda v: apply(v) - U @ (D * (U.T @ v)), -slope, precondition, forcing, enough
            )
            self.products += corrected.iterations
            # Where A without it is not convex, the correction is left out.
            if corrected.x is not None:
                return corrected.x, corrected.iterations
        plain = conjugate_gradients(apply, -slope, precondition, forcing, enough)
        self.products += plain.iterations
        step = -precondition(slope) if plain.x is None else plain.x
        return step, plain.iterations

    def solver_at(self, point: LossPoint, penalties: np.ndarray) -> LinearMap:
        """The inverse of A at a point as a function of right-hand sides, (n,) or (n, r)."""
        diagonal = point.majorizer_diagonal()
        if diagonal is not None:
            inverse = 1.0 / (diagonal + penalties)
            return lambda b: (inverse * b.T).T
        factor = cholesky(penalized_matrix(self.loss, point.majorizer_dense(), penalties))
        return lambda b: solve_factored(factor, b)

    def precondition(self, point: LossPoint, penalties: np.ndarray) -> LinearMap:
        """The product with M⁻¹ at a point, for conjugate gradients."""
        if self.memory:
            return self.memory.approximate_inverse(penalties)
        return self.preconditioner(point, penalties).solve

    def recorded(self, apply: LinearMap, penalties: np.ndarray) -> LinearMap:
        """The same product with A, each one kept as a pair where there is a memory."""
        memory = self.memory
        if memory is None:
            return apply

        def applied(v: np.ndarray) -> np.ndarray:
            product = apply(v)
            memory.add_pair(v.copy(), product - penalties * v)
            return product

        return applied

    def preconditioner(self, point: LossPoint, penalties: np.ndarray) -> Preconditioner:
        """M near A at a point: from some of the examples, or the diagonal."""
        # The sample of an earlier step serves until the loss has halved.
        wants_hessian = self.products >= self._hessian_at and not self._has_hessian
        if self._sample is None or point.value < 0.5 * self._sample_value or wants_hessian:
            self._sample, self._sample_value = self._fresh_sample(point), point.value
            self._near = None
        if self._sample is None:
            return diagonal_preconditioner(point, penalties)
        if (
            self._near is None
            or not (np.abs(penalties - self._near[0]) <= _NEAR * self._near[0]).all()
        ):
            self._near = penalties.copy(), self._sample_preconditioner(self._sample, penalties)
        return self._near[1]

    def _sample_preconditioner(
        self, sample: np.ndarray | KroneckerCurvature, penalties: np.ndarray
    ) -> Preconditioner:
        if not isinstance(sample, KroneckerCurvature):
            return factor_preconditioner(sample, penalties)
        near = None if self._near is None else self._near[1]
        basis = near.basis if isinstance(near, KroneckerPreconditioner) else None
        return KroneckerPreconditioner(sample, penalties, basis)

    def _products_of_hessian(self) -> float:
        """After how many products the dense Hessian is worth forming as a preconditioner."""
        costs, size = self.loss.hessian_costs, self.loss.size
        if costs is None or size > _LARGEST_HESSIAN:
            return math.inf
        cost = costs.dense / self._thinning() + size**3 / 3
        return _PATIENCE * cost / (_SLOWNESS * costs.product + _OVERHEAD)

    def _thinning(self) -> int:
        return max(1, int(self.loss.examples // (_ROWS_A_PARAMETER * self.loss.size)))

    def _fresh_sample(self, point: LossPoint) -> np.ndarray | KroneckerCurvature | None:
        if self.products >= self._hessian_at:
            H = point.sampled_hessian(self._thinning())
            if H is not None:
                self._has_hessian = True
                return definite(self.loss, H)
            self._hessian_at = math.inf
        if self.loss.score_size > _LARGEST_DENSE or self.products < self._sample_at:
            return None
        step = self._sample_step()
        if self.loss.score_size < self.loss.size:
            return point.sampled_curvature(step)
        self._has_hessian = True
        return point.sampled_hessian(step)

    def _sample_step(self) -> int:
        return max(1, int(self.loss.examples // max(20 * self.loss.score_size, 1000)))

    def _products_of_sample(self, traces: bool) -> float:
        """After how many products a sample is worth forming; 0 where it is cheap."""
        costs, width = self.loss.hessian_costs, self.loss.score_size
        if costs is None or width > _LARGEST_DENSE:
            return 0.0
        rows = self.loss.examples / self._sample_step()
        factors = 1 if width == self.loss.size else _BASIS
        cost = rows * width**2 + factors * width**3 / 3
        products = cost / (_SLOWNESS * costs.product + _OVERHEAD)
        # Near a sample the probes of a trace scatter less, too.
        cheap = _CHEAP_SAMPLE * (_SAMPLE_FOR_TRACES if traces else 1)
        return 0.0 if products <= cheap else products


def is_dense(loss: Loss, traces: bool = False) -> bool:
    """Whether a loss's Hessian is better formed than multiplied with."""
    if loss.is_diagonal:
        return True
    if loss.size > _LARGEST_DENSE:
        return False
    costs = loss.hessian_costs
    if costs is None:
        return loss.point_at(loss.initial_weights()).dense_hessian() is not None
    product = _SLOWNESS * costs.product + _OVERHEAD
    products = _PRODUCTS * (_TRACE_FACTOR if traces else 1)
    return bool(costs.dense + loss.size**3 / 3 <= products * product)


def penalized_product(loss: Loss, product: LinearMap, penalties: np.ndarray) -> LinearMap:
    """A product with a matrix of a loss's point, plus diag(c), its gauge made definite."""
    gauge = loss.gauge_indices

    def add_penalties(v: np.ndarray) -> np.ndarray:
        out = product(v) + penalties * v
        if gauge is not None:
            shift = v[..., gauge].sum(axis=-1, keepdims=True)
            out[..., gauge] += loss.examples / len(gauge) ** 2 * shift
        return out

    return add_penalties


def penalized_matrix(loss: Loss, H: np.ndarray | None, penalties: np.ndarray) -> np.ndarray:
    """The same for a matrix H (n, n) itself; ValueError where it is None, for it is too large."""
    if H is None:
        raise ValueError("a Hessian that is too large to be formed was asked for")
    A = definite(loss, np.array(H))
    A.flat[:: len(A) + 1] += penalties
    return A


def definite(loss: Loss, A: np.ndarray) -> np.ndarray:
    """The same matrix, with curvature added along directions that change nothing."""
    gauge = loss.gauge_indices
    if gauge is not None:
        # The gradient has no part along the gauge, so that any curvature there serves.
        A[np.ix_(gauge, gauge)] += loss.examples / len(gauge) ** 2
    return A


def _corrected(solve: LinearMap, slope: np.ndarray, correction: Correction | None) -> np.ndarray:
    if correction is None:
        return -solve(slope)
    # −(A − U D Uᵀ)⁻¹ g by Woodbury's identity.
    scaled = correction.U * np.sqrt(correction.D)
    solutions = solve(np.column_stack((scaled, -slope)))
    inner, plain = scaled.T @ solutions[:, :-1], solutions[:, -1]
    shares, vectors = np.linalg.eigh(inner)
    # Almost all of the curvature along a direction would go: −A⁻¹ g instead.
    if not shares[-1] < _MAX_CORRECTED_SHARE:
        return plain
    coefficients = vectors @ ((vectors.T @ (scaled.T @ plain)) / (1.0 - shares))
    return plain + solutions[:, :-1] @ coefficients


def conjugate_gradients(
    apply: LinearMap,
    b: np.ndarray,
    precondition: LinearMap,
    accuracy: float,
    enough: float = 0.0,
    start: np.ndarray | None = None,
    max_iterations: int = 250,
) -> CgResult:
    """The x with A x = b; stops when ‖r‖ in the preconditioner's norm has fallen so far."""
    x = np.zeros_like(b) if start is None else start.copy()
    r = b.copy() if start is None else b - apply(x)
    z = precondition(r)
    first = float(b @ precondition(b)) if start is not None else float(r @ z)
    d, rz = z.copy(), float(r @ z)
    goal = max(accuracy**2 * first, 2.0 * enough)
    for iteration in range(1, max_iterations + 1):
        if rz <= goal:
            return CgResult(x, iteration - 1, True)
        Ad = apply(d)
        curvature = float(d @ Ad)
        if not curvature > 0.0:
            return CgResult(None, iteration, False)
        step = rz / curvature
        x += step * d
        r -= step * Ad
        z = precondition(r)
        rz, last = float(r @ z), rz
        d = z + (rz / last) * d
    return CgResult(x, max_iterations, rz <= goal)
