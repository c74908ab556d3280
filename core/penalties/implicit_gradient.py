"""Penalties by the implicit gradient of a holdout loss (Do 2008, algorithm 1).

Minimizes ℓ_H(w*(d)) over d, w*(d) = argmin ℓ_T(w) + ½ Σ_i exp(d_π(i)) w_i². One pair (T, H) is the
paper's; several pairs (folds) are summed. A prior d_j ~ N(0, s²), where it is wanted, adds
½ Σ_j d_j²/s²: with few held-out examples a penalty costs what it strays from the usual C = 1.

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, minres

from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import solve
from core.optimize.lbfgs import Box, Iterate, minimize_steps
from core.optimize.loss import LossAt
from core.optimize.newton import Newton, conjugate_gradients, dense_exact, exact
from core.penalties.group_penalty import Grouping
from core.penalties.problem import Pairs, PenaltyProblem
from core.penalties.step import Step

LOWEST, HIGHEST = -10.0, 12.0
PRIOR_SD = 1.0  # two thirds of the penalties between 1/3 and 3, nearly all between 1/7 and 7
_MOST_PRODUCTS = 2000  # products for a linear system that conjugate gradients did not solve


class HoldoutLoss:
    """ℓ_H(w*(d)) and its gradient, each evaluation starting from the last one's w* and x.

    Args:
        pairs: (ℓ_T, ℓ_H) with the same parameters.
        grouped: the groups of these parameters.
        w: where the first minimization starts; None for each ℓ_T's own start.

    Attributes:
        unsolved: gradients whose linear system was not solved as closely as they need.
    """

    def __init__(self, pairs: Pairs, grouped: Grouping, w: np.ndarray | None = None) -> None:
        self.pairs, self.grouped = pairs, grouped
        self.newtons = [Newton(fit) for fit, _ in pairs]
        self.w = [fit.start() if w is None else w for fit, _ in pairs]
        self.x: list[np.ndarray | None] = [None for _ in pairs]
        # Expensive losses far from quadratic are solved as closely as the outer steps need.
        expensive = any(newton.memory is not None for newton in self.newtons)
        self.tolerance, self.closest = (1e-6, 1e-7) if expensive else (1e-8, 1e-12)
        self.accuracy = 1e-2 if expensive else 1e-4  # of the implicit systems
        self.finest = self.closest if expensive else 1e-10  # of the refit
        self.iterations = 0
        self.fits = 0
        self.unsolved = 0

    def __call__(self, d: np.ndarray) -> tuple[float, np.ndarray]:
        """The holdout loss and its gradient, shape (k,), at d."""
        total, gradient = 0.0, np.zeros(self.grouped.count)
        C = np.exp(d)
        penalties = self.grouped.per_parameter(C)
        for number, (fit, held) in enumerate(self.pairs):
            solution = solve(
                fit,
                penalties,
                self.w[number],
                tolerance=self.tolerance,
                newton=self.newtons[number],
            )
            self.w[number] = solution.point.w
            self.iterations += solution.iterations
            self.fits += 1
            held_at = held.at(solution.point.w)
            x = self._implicit(number, solution.point, penalties, held_at.gradient)
            self.x[number] = x
            total += held_at.value
            gradient -= C * self.grouped.sums(solution.point.w * x)
        return total, gradient

    def _implicit(
        self, number: int, point: LossAt, penalties: np.ndarray, slope: np.ndarray
    ) -> np.ndarray:
        """The solution of (diag c + ∇²ℓ_T) x = ∇ℓ_H, by a factor or conjugate gradients.

        The Hessian is the exact one: a majorizer of it would give another gradient.
        """
        fit, newton = self.pairs[number][0], self.newtons[number]
        if newton.dense:
            return _solved(dense_exact(fit, point, penalties), slope)
        apply = newton.recorded(exact(fit, point, penalties), penalties)
        precondition, last = newton.precondition(point, penalties), self.x[number]
        found = conjugate_gradients(apply, slope, precondition, self.accuracy, start=last)
        self.iterations += found.iterations
        if found.x is not None and found.converged:
            return found.x
        return self._by_minres(apply, slope, precondition, last if found.x is None else found.x)

    def _by_minres(
        self,
        apply: Callable[[np.ndarray], np.ndarray],
        slope: np.ndarray,
        precondition: Callable[[np.ndarray], np.ndarray],
        start: np.ndarray | None,
    ) -> np.ndarray:
        """The same where conjugate gradients did not arrive, also for an indefinite Hessian."""
        steps: list[None] = []
        shape = (len(slope), len(slope))
        x, _ = minres(
            LinearOperator(shape, apply, dtype=np.float64),
            slope,
            x0=start,
            rtol=0.1 * self.accuracy,
            maxiter=_MOST_PRODUCTS,
            M=LinearOperator(shape, precondition, dtype=np.float64),
            callback=lambda _: steps.append(None),
        )
        self.iterations += len(steps)
        residual = slope - apply(x)
        if residual @ precondition(residual) > self.accuracy**2 * (slope @ precondition(slope)):
            self.unsolved += 1
        return np.asarray(x)


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x with A x = b for a symmetric A, by Cholesky where it is positive definite."""
    factor, failed = lapack.dpotrf(A, lower=1)
    if failed:
        return np.asarray(np.linalg.solve(A, b))
    return np.asarray(lapack.dpotrs(factor, b, lower=1)[0])


@dataclass(frozen=True)
class GradientOptions:
    """Options of the outer problem.

    Attributes:
        start: every d_j at the start.
        steps: line searches at most.
        low, high: the bounds of d.
        prior: weak for the prior on d; anything else is none (what automatic means is settled by
            whoever knows the data).
        prior_sd: s.
    """

    start: float = 0.0
    steps: int = 30
    low: float = LOWEST
    high: float = HIGHEST
    prior: str = "none"
    prior_sd: float = PRIOR_SD

    @property
    def deviation(self) -> float:
        """S, infinite without a prior."""
        return self.prior_sd if self.prior == "weak" else np.inf


@one_blas_thread
def run(problem: PenaltyProblem, options: GradientOptions = GradientOptions()) -> Iterator[Step]:
    """The line searches of the outer problem, then the refit on all training rows.

    Raises:
        ValueError: the problem has no holdout pairs.
    """
    if not problem.holdout:
        raise ValueError("the implicit gradient needs at least one pair of losses")
    outer, deviation = HoldoutLoss(problem.holdout, problem.grouping), options.deviation
    start = np.full(outer.grouped.count, options.start)
    box = Box(options.low, options.high, longest=2.0)
    iterations, last = 0, np.inf
    # Below a tenth of the change that ends it, the inner problems' errors would be followed.
    for number, at in enumerate(minimize_steps(with_prior(outer, deviation), start, box, 1e-5)):
        shown = without_prior(at, deviation)
        step = _step(number, shown, outer, outer.pairs[0][0].at(outer.w[0]), box)
        yield replace(step, iterations=outer.iterations - iterations, fits=outer.fits)
        iterations = outer.iterations
        change = abs(last - at.value) / max(1.0, abs(at.value))
        if number >= options.steps or change < 1e-4:
            break
        # The inner problems are solved more closely as the outer one closes in.
        outer.tolerance = min(outer.tolerance, max(outer.closest, 1e-6 * change**2))
        last = at.value
    penalties = outer.grouped.per_parameter(np.exp(at.x))
    refit = solve(problem.loss, penalties, outer.w[0], tolerance=outer.finest)
    step = _step(number + 1, shown, outer, refit.point, box)
    remarks = _bound_remark(step.at_bound) + _unsolved_remark(outer.unsolved)
    yield replace(step, iterations=refit.iterations, fits=outer.fits + 1, remarks=remarks)


def with_prior(
    holdout: Callable[[np.ndarray], tuple[float, np.ndarray]], deviation: float
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """ℓ_H(w*(d)) + ½ Σ_j d_j²/s² and its gradient, as a function of d."""

    def objective(d: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = holdout(d)
        return value + 0.5 * float(d @ d) / deviation**2, gradient + d / deviation**2

    return objective


def without_prior(at: Iterate, deviation: float) -> Iterate:
    """The iterate with the holdout loss alone as its value."""
    return replace(at, value=at.value - 0.5 * float(at.x @ at.x) / deviation**2)


def _step(number: int, at: Iterate, outer: HoldoutLoss, point: LossAt, box: Box) -> Step:
    """The penalties of an iterate, with the weights at a point."""
    return Step(
        number=number,
        w=point.w.copy(),
        C=np.exp(at.x),
        objective=at.value,
        loss=point.value,
        norms=np.sqrt(outer.grouped.squares(point.w)),
        switched_off=at.x >= box.high,
        gradient_norm=at.residual,
        at_bound=(at.x <= box.low) | (at.x >= box.high),
    )


def _bound_remark(at_bound: np.ndarray | None) -> tuple[str, ...]:
    count = int(np.sum(at_bound)) if at_bound is not None else 0
    if not count:
        return ()
    which = "One penalty" if count == 1 else f"{count} penalties"
    return (f"{which} ran to the end of the allowed range: the held-out data set no limit there.",)


def _unsolved_remark(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    times = "once" if count == 1 else f"{count} times"
    return (
        f"The linear system behind the gradient was not solved accurately {times}: the penalties"
        " can be short of the best. Groups of more alike size, or standardized columns, help.",
    )
