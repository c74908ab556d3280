"""Small problems of every kind that the tests of the learners share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.optimize import minimize

from core.losses import build_loss
from core.optimize.loss import Loss, LossPoint
from core.penalties.penalty_problem import LearnerStep, PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES


def table(
    name: str, rows: int = 120, columns: int = 6, useless: int = 0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Examples of a model with weights of size one; the last ``useless`` columns have none."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    W = rng.standard_normal((columns, 3))
    W[columns - useless :] = 0.0
    if name == "linear":
        return X, X @ W[:, 0] + 0.5 * rng.standard_normal(rows) + 1.0
    if name == "logistic":
        return X, (X @ W[:, 0] + rng.logistic(size=rows) > 0.3).astype(int)
    return X, (X @ W + rng.gumbel(size=(rows, 3))).argmax(axis=1)


def loss_of(name: str, **kwargs: Any) -> Any:
    return build_loss(name, *table(name, **kwargs))


def steps_of(
    learner: str, loss: Loss, groups: np.ndarray, options: Mapping[str, Any] = {}, **given: Any
) -> Iterator[LearnerStep]:
    """The steps of a learner by its name; ``given`` are further fields of the problem."""
    implementation = STRATEGIES[learner].load()
    values = implementation.option_class.from_values(options)
    return implementation.make(PenaltyProblem(loss, groups, **given), values)


def minimized(loss: Loss, penalties: np.ndarray) -> np.ndarray:
    """The minimizer of loss + ½ Σ c w² by SciPy's BFGS, an independent solver."""

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss.value_and_gradient(w)
        return value + 0.5 * penalties @ (w * w), gradient + penalties * w

    found = minimize(
        objective,
        loss.initial_weights(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50},
    )
    return found.x


class Gaussian(Loss):
    """½ ‖y − Xw‖²/σ²: ridge regression, where everything has a closed form."""

    def __init__(self, X: np.ndarray, y: np.ndarray, variance: float = 1.0) -> None:
        self.X, self.y, self.variance = X, y, variance
        self.examples, self.size = X.shape

    def _point_at(self, w: np.ndarray) -> LossPoint:
        return GaussianAt(self, w, self.X.T @ self.X / self.variance)


class GaussianAt(LossPoint):
    """The bare minimum: no diagonal, no blocks, and the Hessian that it is told."""

    def __init__(self, loss: Gaussian, w: np.ndarray, H: np.ndarray | None) -> None:
        self._X, self._variance, self._H = loss.X, loss.variance, H
        r = loss.y - loss.X @ w
        super().__init__(w, 0.5 * float(r @ r) / loss.variance, -loss.X.T @ r / loss.variance)

    def product(self, v: np.ndarray) -> np.ndarray:
        return self._X.T @ (self._X @ v) / self._variance

    def dense_hessian(self) -> np.ndarray | None:
        return self._H


class OnlyProducts(Gaussian):
    """The same for learners that must do with Hessian products."""

    def _point_at(self, w: np.ndarray) -> LossPoint:
        return GaussianAt(self, w, None)


class Stubborn(Gaussian):
    """A loss whose Hessian is wrong: Newton stalls on it."""

    def _point_at(self, w: np.ndarray) -> LossPoint:
        return GaussianAt(self, w, 1e-30 * np.eye(self.size))
