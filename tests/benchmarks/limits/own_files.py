"""The same work on anyone's files: reading them, and learning penalties of their linear models."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from own_files import divided, name_of
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV, RidgeCV

from core.datasets.raw_table import Choices
from core.datasets.reading import read_dataset
from core.penalties.problem import PenaltyProblem
from core.tuning.learning.run import training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem
from core.tuning.strategies.registry import STRATEGIES
from limits.penalties import GRID
from limits.work import TIMES, Work, seconds

LEARNERS = ("mm", "evidence", "loo")
PASSES = 12


@cache
def training(given: str) -> Any:
    """The loss of the file's linear model on its training rows, prepared as a run prepares it."""
    path, target = divided(given)
    dataset = read_dataset(path, Choices(target=target))
    model = "linear" if dataset.task == "regression" else "logistic"
    plan = Plan(DataPlan(path, target=target), model, "evidence")
    return training_of(build_problem(plan, dataset))


def reading(given: str) -> Callable[[], float]:
    """Seconds of reading and understanding the file."""
    path, target = divided(given)
    return lambda: seconds(lambda: read_dataset(path, Choices(target=target)), 3)


def reading_by_peer(given: str) -> Callable[[], float]:
    """Seconds of pandas, or of scikit-learn's reader of LIBSVM files."""
    path, _ = divided(given)
    is_csv = path.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    read = pd.read_csv if is_csv else load_svmlight_file
    return lambda: seconds(lambda: read(path), 3)


def learning(given: str, strategy: str) -> Callable[[], float]:
    """Seconds of a learner from the prepared loss to its last step."""

    def once() -> None:
        own = training(given)
        for _ in STRATEGIES[strategy].make(PenaltyProblem(own.loss, own.groups), {}):
            pass

    return lambda: (training(given), seconds(once, 3))[1]


def passes(given: str) -> Callable[[], float]:
    """Seconds of twelve products of the prepared examples with a vector."""

    def measured() -> float:
        loss = training(given).loss
        X = loss.design.X
        v = np.ones(X.shape[1])
        return PASSES * seconds(lambda: X @ v, 9)

    return measured


def searching(given: str) -> Callable[[], float]:
    """Seconds of scikit-learn's own search of one penalty on the same examples."""

    def measured() -> float:
        loss = training(given).loss
        X, y = loss.design.X, target_of(given)
        if loss.classes is None:
            return seconds(lambda: RidgeCV(1.0 / GRID, cv=5).fit(X, y), 1)
        search = LogisticRegressionCV(Cs=GRID, cv=5, scoring="neg_log_loss", max_iter=300)
        return seconds(lambda: search.fit(X, y), 1)

    return measured


def target_of(given: str) -> Any:
    """The target of the rows that the loss is made of."""
    path, target = divided(given)
    dataset = read_dataset(path, Choices(target=target))
    model = "linear" if dataset.task == "regression" else "logistic"
    problem = build_problem(Plan(DataPlan(path, target=target), model, "evidence"), dataset)
    return problem.train[1]


def work_on(files: list[str]) -> list[Work]:
    """The rows of these files."""
    found: list[Work] = []
    for given in files:
        name = name_of(given)[:28]
        found.append(
            Work(f"{name}: reading", 1.3, reading(given), reading_by_peer(given), "the usual "
                 "reader", TIMES)
        )  # fmt: skip
        numbers = training(given).loss.classes is None
        for strategy in LEARNERS[: 2 if numbers else 3]:
            learn = learning(given, strategy)
            found.append(Work(f"{name}: {strategy}", math.inf, learn, passes(given),
                              f"{PASSES} passes", TIMES))  # fmt: skip
            found.append(Work(f"{name}: {strategy}, beside a search", 0.5, learn, searching(given),
                              "scikit-learn's search", TIMES))  # fmt: skip
    return found
