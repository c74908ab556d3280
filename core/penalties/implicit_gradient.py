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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, minres

from core.optimize.blas_threads import one_blas_thread
from core.optimize.descent import solve
from core.optimize.lbfgs import Iterate, minimize_steps
from core.optimize.loss import Loss, LossAt
from core.optimize.newton import Newton, conjugate_gradients, dense_exact, exact
from core.penalties.group_penalty import Grouping, grouping
from core.penalties.step import Step

LOWEST, HIGHEST = -10.0, 12.0
PRIOR_SD = 1.0  # two thirds of the penalties between 1/3 and 3, nearly all between 1/7 and 7
Pairs = Sequence[tuple[Loss, Loss]]
_HARDEST = 2000  # products for a linear system that conjugate gradients did not solve


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
        self.newtons = [Newton(fit, traces=True) for fit, _ in pairs]
        self.w = [fit.start() if w is None else w for fit, _ in pairs]
        self.x: list[np.ndarray | None] = [None for _ in pairs]
        # Losses that are dear and far from quadratic are solved as closely as the outer steps need.
        dear = any(newton.memory is not None for newton in self.newtons)
        self.tolerance, self.closest = (1e-6, 1e-7) if dear else (1e-8, 1e-12)
        self.accuracy = 1e-2 if dear else 1e-4  # of the implicit systems
        self.finest = self.closest if dear else 1e-10  # of the refit
        self.iterations = 0
        self.fits = 0
        self.unsolved = 0

    def __call__(self, d: np.ndarray) -> tuple[float, np.ndarray]:
        """The holdout loss and its gradient, shape (k,), at d."""
        total, gradient = 0.0, np.zeros(self.grouped.count)
        C = np.exp(d)
        penalties = self.grouped.spread(C)
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
        apply = newton.remembered(exact(fit, point, penalties), penalties)
        near, last = newton.likeness(point, penalties), self.x[number]
        found = conjugate_gradients(apply, slope, near, self.accuracy, start=last)
        self.iterations += found.iterations
        if found.x is not None and found.converged:
            return found.x
        return self._hard(apply, slope, near, last if found.x is None else found.x)

    def _hard(
        self,
        apply: Callable[[np.ndarray], np.ndarray],
        slope: np.ndarray,
        near: Callable[[np.ndarray], np.ndarray],
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
            maxiter=_HARDEST,
            M=LinearOperator(shape, near, dtype=np.float64),
            callback=lambda _: steps.append(None),
        )
        self.iterations += len(steps)
        residual = slope - apply(x)
        if residual @ near(residual) > self.accuracy**2 * (slope @ near(slope)):
            self.unsolved += 1
        return np.asarray(x)


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The x with A x = b for a symmetric A, by Cholesky where it is positive definite."""
    factor, failed = lapack.dpotrf(A, lower=1)
    if failed:
        return np.asarray(np.linalg.solve(A, b))
    return np.asarray(lapack.dpotrs(factor, b, lower=1)[0])


@one_blas_thread
def run(
    loss: Loss,
    groups: np.ndarray,
    options: Mapping[str, Any],
    seed: int = 0,
    *,
    holdout: Pairs | None = None,
    group_count: int | None = None,
    counted: object = None,
) -> Iterator[Step]:
    """The line searches of the outer problem, then the refit on ``loss``.

    Args:
        loss: ℓ of all training rows, for the refit.
        groups: the group of every parameter, shape (n,), −1 for an unpenalized one.
        options: start, steps, low, high, prior, prior_sd. A prior that is not said to be weak is
            none; what automatic means is settled by whoever knows the data.
        seed: unused here; it chose the rows of the pairs.
        holdout: pairs (ℓ_T, ℓ_H) with the parameters of ``loss`` (made with its ``on``).
        group_count: k, where the last groups may be empty.
        counted: unused, nothing is counted.
    """
    if not holdout:
        raise ValueError("the implicit gradient needs at least one pair of losses")
    grouped = grouping(groups, group_count)
    low, high = float(options.get("low", LOWEST)), float(options.get("high", HIGHEST))
    most = int(options.get("steps", 30))
    weak = options.get("prior") == "weak"
    deviation = float(options.get("prior_sd", PRIOR_SD)) if weak else np.inf
    outer = HoldoutLoss(holdout, grouped)
    start = np.full(grouped.count, float(options.get("start", 0.0)))
    iterations, last, number = 0, np.inf, 0
    # Below a tenth of the change that ends it, the inner problems' errors would be followed.
    objective = with_prior(outer, deviation)
    searches = minimize_steps(objective, start, low, high, longest=2.0, worth=1e-5)
    for number, at in enumerate(searches):
        spent = outer.iterations - iterations
        yield _step(number, without_prior(at, deviation), outer, (low, high), spent)
        iterations = outer.iterations
        change = abs(last - at.value) / max(1.0, abs(at.value))
        if number >= most or change < 1e-4:
            break
        # The inner problems are solved more closely as the outer one closes in.
        outer.tolerance = min(outer.tolerance, max(outer.closest, 1e-6 * change**2))
        last = at.value
    yield _refit(loss, without_prior(at, deviation), outer, (low, high), number + 1)


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


def _step(
    number: int, at: Iterate, outer: HoldoutLoss, bounds: tuple[float, float], iterations: int
) -> Step:
    w, fit = outer.w[0], outer.pairs[0][0]
    return Step(
        number=number,
        w=w.copy(),
        C=np.exp(at.x),
        objective=at.value,
        loss=fit.at(w).value,
        norms=np.sqrt(outer.grouped.squares(w)),
        switched_off=at.x >= bounds[1],
        iterations=iterations,
        fits=outer.fits,
        gradient_norm=at.residual,
        at_bound=(at.x <= bounds[0]) | (at.x >= bounds[1]),
    )


def _refit(
    loss: Loss, at: Iterate, outer: HoldoutLoss, bounds: tuple[float, float], number: int
) -> Step:
    solution = solve(loss, outer.grouped.spread(np.exp(at.x)), outer.w[0], tolerance=outer.finest)
    at_bound = (at.x <= bounds[0]) | (at.x >= bounds[1])
    return Step(
        number=number,
        w=solution.point.w,
        C=np.exp(at.x),
        objective=at.value,
        loss=solution.point.value,
        norms=np.sqrt(outer.grouped.squares(solution.point.w)),
        switched_off=at.x >= bounds[1],
        iterations=solution.iterations,
        fits=outer.fits + 1,
        gradient_norm=at.residual,
        at_bound=at_bound,
        remarks=_bound_remark(at_bound) + _unsolved_remark(outer.unsolved),
    )


def _bound_remark(at_bound: np.ndarray) -> tuple[str, ...]:
    count = int(at_bound.sum())
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
