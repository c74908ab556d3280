"""Penalties by the implicit gradient of a holdout loss (Do 2008, algorithm 1).

Minimizes ℓ_H(w*(d)) over d, w*(d) = argmin ℓ_T(w) + ½ Σ_i exp(d_π(i)) w_i². One pair (T, H) is the
paper's; several pairs (folds) are summed. A prior d_j ~ N(0, s²), where it is wanted, adds
½ Σ_j d_j²/s².

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| d | ``d`` | (k,) | log C, within [−10, 12] |
| s | ``deviation`` | | standard deviation of the prior on d; infinite for none, as in the paper |
| w* | ``w`` | (n,) | minimizer on T at C = exp(d), one a pair |
| x | ``x`` | (n,) | (diag c + ∇²ℓ_T)⁻¹ ∇ℓ_H(w*), one a pair |
| ∂ℓ_H/∂d_j | | (k,) | −Σ_{i in j} w_i exp(d_j) x_i |

The last step is the refit on all training rows with the learned C, unscaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, minres

from core.optimize.descent import solve_penalized
from core.optimize.lbfgs import Bounds, Iterate, minimize_steps
from core.optimize.loss import LinearMap, LossPoint
from core.optimize.newton import Newton, conjugate_gradients, penalized_matrix, penalized_product
from core.penalties.group_penalty import Grouping
from core.penalties.penalty_problem import (
    GradientOptions,
    LearnerStep,
    Pairs,
    PenaltyProblem,
    one_blas_thread,
)
from core.wording import count_text

_MAX_PRODUCTS = 2000  # products for a linear system that conjugate gradients did not solve
_MAX_OWN_SEARCHES = 8  # of one pair alone, from where all of them ended
_OFF = 0.01  # share of the largest norm below which a group's weights count for nothing


class HoldoutLoss:
    """ℓ_H(w*(d)) and its gradient, each evaluation starting from the last one's w* and x.

    `pairs`: (ℓ_T, ℓ_H) with the same parameters; w: where the first fit starts, None for ℓ_T's own
    start; `unsolved`: gradients whose linear system was not solved as closely as needed.
    """

    def __init__(self, pairs: Pairs, grouped: Grouping, w: np.ndarray | None = None) -> None:
        self.pairs, self.grouped = pairs, grouped
        self.newtons = [Newton(fit) for fit, _ in pairs]
        self.w = [fit.initial_weights() if w is None else w for fit, _ in pairs]
        self.x: list[np.ndarray | None] = [None for _ in pairs]
        # Expensive losses far from quadratic are solved as closely as the outer steps need.
        expensive = any(newton.memory is not None for newton in self.newtons)
        self.tolerance, self.closest = (1e-6, 1e-7) if expensive else (1e-8, 1e-12)
        self.accuracy = 1e-2 if expensive else 1e-4  # of the implicit systems
        self.finest = self.closest if expensive else 1e-10  # of the refit
        self.iterations = self.fits = self.unsolved = 0

    def __call__(self, d: np.ndarray) -> tuple[float, np.ndarray]:
        """The holdout loss and its gradient, shape (k,), at d."""
        total, gradient = 0.0, np.zeros(self.grouped.group_count)
        C = np.exp(d)
        penalties = self.grouped.per_parameter(C)
        for k, (fit, holdout) in enumerate(self.pairs):
            solution = solve_penalized(
                fit, penalties, self.w[k], tolerance=self.tolerance, newton=self.newtons[k]
            )
            self.w[k] = solution.point.w
            self.iterations += solution.iterations
            self.fits += 1
            holdout_point = holdout.point_at(solution.point.w)
            x = self._implicit(k, solution.point, penalties, holdout_point.gradient)
            self.x[k] = x
            total += holdout_point.value
            gradient -= C * self.grouped.group_sums(solution.point.w * x)
        return total, gradient

    def _implicit(
        self, k: int, point: LossPoint, penalties: np.ndarray, slope: np.ndarray
    ) -> np.ndarray:
        """The solution of (diag c + ∇²ℓ_T) x = ∇ℓ_H, by a factor or conjugate gradients."""
        # The Hessian is the exact one: a majorizer of it would give another gradient.
        fit, newton = self.pairs[k][0], self.newtons[k]
        if newton.dense:
            return _solve_symmetric(penalized_matrix(fit, point.dense_hessian(), penalties), slope)
        apply = newton.recorded(penalized_product(fit, point.product, penalties), penalties)
        precondition, last = newton.precondition(point, penalties), self.x[k]
        solution = conjugate_gradients(apply, slope, precondition, self.accuracy, start=last)
        self.iterations += solution.iterations
        if solution.x is not None and solution.converged:
            return solution.x
        start = last if solution.x is None else solution.x
        return self._by_minres(apply, slope, precondition, start)

    def _by_minres(
        self, apply: LinearMap, slope: np.ndarray, precondition: LinearMap, start: np.ndarray | None
    ) -> np.ndarray:
        """The same where conjugate gradients did not arrive, also for an indefinite Hessian."""
        steps: list[None] = []
        shape = (len(slope), len(slope))
        x, _ = minres(
            LinearOperator(shape, apply, dtype=np.float64),
            slope,
            x0=start,
            rtol=0.1 * self.accuracy,
            maxiter=_MAX_PRODUCTS,
            M=LinearOperator(shape, precondition, dtype=np.float64),
            callback=lambda _: steps.append(None),
        )
        self.iterations += len(steps)
        residual = slope - apply(x)
        if residual @ precondition(residual) > self.accuracy**2 * (slope @ precondition(slope)):
            self.unsolved += 1
        return np.asarray(x)


def _solve_symmetric(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x with A x = b for a symmetric A, by Cholesky where it is positive definite."""
    factor, failed = lapack.dpotrf(A, lower=1)
    if failed:
        return np.asarray(np.linalg.solve(A, b))
    return np.asarray(lapack.dpotrs(factor, b, lower=1)[0])


@one_blas_thread
def gradient_steps(
    problem: PenaltyProblem, options: GradientOptions = GradientOptions()
) -> Iterator[LearnerStep]:
    """The line searches of the outer problem, then the refit on all training rows.

    Raises ValueError: the problem has no holdout pairs.
    """
    if not problem.holdout:
        raise ValueError("the implicit gradient needs at least one pair of losses")
    outer, deviation = HoldoutLoss(problem.holdout, problem.grouping), options.deviation
    start = np.full(outer.grouped.group_count, options.start)
    box = Bounds(options.low, options.high, longest=2.0)
    iterations = 0
    for number, iterate in enumerate(_line_searches(outer, start, deviation, box, options.steps)):
        step = _make_step(number, iterate, outer, outer.pairs[0][0].point_at(outer.w[0]), box)
        yield replace(step, iterations=outer.iterations - iterations, fits=outer.fits)
        iterations = outer.iterations
    penalties = outer.grouped.per_parameter(np.exp(iterate.x))
    refit = solve_penalized(problem.loss, penalties, outer.w[0], tolerance=outer.finest)
    step = _make_step(number + 1, iterate, outer, refit.point, box)
    remarks = _remarks(step, outer.unsolved)
    ranges = _own_ranges(outer, iterate.x, deviation, box) if len(outer.pairs) > 1 else None
    yield replace(step, iterations=refit.iterations, fits=outer.fits + 1, remarks=remarks,
                  ranges=ranges)  # fmt: skip


def _line_searches(
    holdout: HoldoutLoss, start: np.ndarray, deviation: float, box: Bounds, max_searches: int
) -> Iterator[Iterate]:
    """Iterates from a start until little changes, with the holdout loss alone as their value."""
    last = np.inf
    # Below a tenth of the change that ends it, the inner problems' errors would be followed.
    searches = minimize_steps(with_prior(holdout, deviation), start, box, 1e-5)
    for number, iterate in enumerate(searches):
        # Without the prior's share.
        yield replace(
            iterate, value=iterate.value - 0.5 * float(iterate.x @ iterate.x) / deviation**2
        )
        change = abs(last - iterate.value) / max(1.0, abs(iterate.value))
        if number >= max_searches or change < 1e-4:
            return
        # The inner problems are solved more closely as the outer one closes in.
        holdout.tolerance = min(holdout.tolerance, max(holdout.closest, 1e-6 * change**2))
        last = iterate.value


def _own_ranges(outer: HoldoutLoss, d: np.ndarray, deviation: float, box: Bounds) -> np.ndarray:
    choices = [d]
    for pair, w in zip(outer.pairs, outer.w, strict=True):
        holdout = HoldoutLoss([pair], outer.grouped, w)
        # Of the prior, too, each pair has its share.
        own_deviation = deviation * math.sqrt(len(outer.pairs))
        *_, last = _line_searches(holdout, d, own_deviation, box, _MAX_OWN_SEARCHES)
        choices.append(last.x)
        outer.fits += holdout.fits
    return np.exp(np.stack([np.min(choices, axis=0), np.max(choices, axis=0)], axis=1))


def with_prior(
    holdout: Callable[[np.ndarray], tuple[float, np.ndarray]], deviation: float
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """ℓ_H(w*(d)) + ½ Σ_j d_j²/s² and its gradient, as a function of d."""

    # With few held-out examples a penalty then costs what it strays from the usual C = 1.
    def objective(d: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = holdout(d)
        return value + 0.5 * float(d @ d) / deviation**2, gradient + d / deviation**2

    return objective


def _make_step(
    number: int, iterate: Iterate, outer: HoldoutLoss, point: LossPoint, box: Bounds
) -> LearnerStep:
    norms = np.sqrt(outer.grouped.squares(point.w))
    return LearnerStep(
        number=number,
        w=point.w.copy(),
        C=np.exp(iterate.x),
        objective=iterate.value,
        loss=point.value,
        norms=norms,
        switched_off=(iterate.x >= box.high) | ((iterate.x > 0.0) & (norms < _OFF * norms.max())),
        gradient_norm=iterate.residual,
        at_bound=(iterate.x <= box.low) | (iterate.x >= box.high),
    )


def _remarks(step: LearnerStep, unsolved: int) -> tuple[str, ...]:
    remarks = []
    assert step.at_bound is not None  # as every step of this learner
    # Those at the upper end are told as switched off.
    if count := int((step.at_bound & ~step.switched_off).sum()):
        remarks.append(
            f"{count_text(count, 'penalty', 'penalties')} ran to the lower end of the allowed "
            "range: the held-out data set no limit there."
        )
    if unsolved:
        remarks.append(
            f"The linear system behind the gradient was not solved accurately "
            f"{count_text(unsolved, 'time')}: the penalties can be short of the best. Groups of "
            "more similar size, or standardized columns, help."
        )
    return tuple(remarks)
