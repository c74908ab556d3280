"""Learned penalties of linear models, beside passes, products and Gram matrices of the examples."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV

from core.losses import build_loss, parameter_groups
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES
from limits.work import TIMES, Work, seconds

GRID = 2.0 ** np.arange(-10, 11)
Data = tuple[Any, np.ndarray]


@cache
def related(rows: int, columns: int, classes: int, strength: float) -> Data:
    """Correlated columns of different scale; the stronger, the nearer to separable."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
    X *= np.exp(0.5 * rng.standard_normal(columns))
    scores = X @ (strength * rng.standard_normal((columns, classes)))
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


@cache
def scattered() -> Data:
    """20,000 × 100,000 with a million entries, two classes."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 20_000, 10**6), rng.integers(0, 100_000, 10**6)
    X = sparse.csr_matrix((rng.standard_normal(10**6), places), shape=(20_000, 100_000))
    scores = X @ rng.standard_normal(100_000)
    return X, (scores + rng.logistic(size=20_000) > 0).astype(int)


@cache
def numbers() -> Data:
    """20,000 × 200 and a target with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 200))
    return X, X @ rng.standard_normal(200) + rng.standard_normal(20_000)


def learning(
    strategy: str, kind: str, data: Callable[[], Data], groups: int = 1
) -> Callable[[], float]:
    """Seconds of a learner from the arrays to its last step, the loss built too."""

    return lambda: (data(), seconds(lambda: learn(strategy, kind, data(), groups)))[1]


def learn(strategy: str, kind: str, data: Data, groups: int) -> None:
    """Take a learner's steps to the last one."""
    X, y = data
    loss = build_loss(kind, X, y)
    of = parameter_groups(loss)
    if groups > 1:
        of = np.where(of >= 0, np.arange(len(of)) * groups // len(of), of)
    held = ()
    if strategy == "gradient":
        last = np.arange(len(y)) % 5 == 4
        held = ((loss.for_data(X[~last], y[~last]), loss.for_data(X[last], y[last])),)
    for _ in STRATEGIES[strategy].make(PenaltyProblem(loss, of, holdout=held)):
        pass


def passes(data: Callable[[], Data], count: int) -> Callable[[], float]:
    """Seconds of so many passes over the examples: a product with a vector each."""

    def measured() -> float:
        X = data()[0]
        v = np.ones(X.shape[1])
        return count * seconds(lambda: X @ v, 9)

    return measured


def grams(data: Callable[[], Data], count: int) -> Callable[[], float]:
    return lambda: count * seconds(lambda: data()[0].T @ data()[0], 5)


def products(data: Callable[[], Data], classes: int, count: int) -> Callable[[], float]:
    """Seconds of so many products with the Hessian in single precision: V Xᵀ, and back."""

    def measured() -> float:
        X = data()[0].astype(np.float32)
        V = np.ones((classes, X.shape[1]), dtype=np.float32)
        return count * seconds(lambda: (V @ X.T) @ X, 5)

    return measured


def path() -> float:
    """Seconds of scikit-learn's whole path on the weaker signal, in turn with nothing else."""
    X, y = weak()
    search = LogisticRegressionCV(Cs=GRID, cv=5, scoring="neg_log_loss")
    return 0.5 * seconds(lambda: search.fit(X, y), 1)


def wide() -> Data:
    """100,000 × 100, two classes."""
    return related(100_000, 100, 2, 0.6)


def ten() -> Data:
    """20,000 × 200, ten classes."""
    return related(20_000, 200, 10, 0.6)


def weak() -> Data:
    """14,000 × 200, ten classes, a weaker signal."""
    return related(14_000, 200, 10, 0.05)


def five() -> Data:
    """20,000 × 100, two classes."""
    return related(20_000, 100, 2, 0.6)


@cache
def thousand() -> Data:
    """2,000 × 1,000, two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1000))
    scores = X @ (2.0 * rng.standard_normal(1000)) / np.sqrt(1000)
    return X, (scores + rng.logistic(size=2000) > 0).astype(int)


WORK = (
    Work("mm, logistic 1e5 × 100", 0.5, learning("mm", "logistic", wide), passes(wide, 12),
         "12 passes"),
    Work("evidence, logistic 1e5 × 100", 0.6, learning("evidence", "logistic", wide),
         grams(wide, 3), "3 Gram matrices"),
    Work("mm, multinomial 2e4 × 200, 10 classes", 2.0, learning("mm", "multinomial", ten),
         products(ten, 10, 167), "167 products"),
    Work("evidence, multinomial 2e4 × 200, 10 classes", 8.0,
         learning("evidence", "multinomial", ten), products(ten, 10, 167), "167 products"),
    Work("the same, beside mm, ten classes", 3.0, learning("evidence", "multinomial", ten),
         learning("mm", "multinomial", ten), "mm", TIMES),
    Work("evidence, multinomial 14,000 × 200, weaker signal", 1.0,
         learning("evidence", "multinomial", weak), path, "half of LogisticRegressionCV's path",
         TIMES),
    Work("the same, beside mm", 3.0, learning("evidence", "multinomial", weak),
         learning("mm", "multinomial", weak), "mm", TIMES),
    Work("mm, sparse 2e4 × 1e5", 0.7, learning("mm", "logistic", scattered),
         passes(scattered, 24), "12 pairs of passes"),
    Work("evidence, sparse 2e4 × 1e5", 1.5, learning("evidence", "logistic", scattered),
         passes(scattered, 24), "12 pairs of passes"),
    Work("the same, beside mm, sparse", 3.0, learning("evidence", "logistic", scattered),
         learning("mm", "logistic", scattered), "mm", TIMES),
    Work("loo, logistic 2,000 × 1,000", 2.0, learning("loo", "logistic", thousand),
         learning("mm", "logistic", thousand), "mm", TIMES),
    Work("gradient, logistic 2e4 × 100, 5 groups", 0.25,
         learning("gradient", "logistic", five, 5), grams(five, 3), "3 Gram matrices"),
    Work("mm, linear 2e4 × 200", 1.15, learning("mm", "linear", numbers), grams(numbers, 1),
         "1 Gram matrix", TIMES),
)  # fmt: skip
