"""The same work on anyone's files: reading them, and learning penalties of their linear models."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from own_files import dataset_of, divided, is_table, name_of, refuse_other_tasks
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegressionCV, RidgeCV

from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.learning.holdout import holdout_pairs
from core.tuning.learning.learning_run import training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem
from core.tuning.problem_setup import build_problem
from core.tuning.strategies.registry import STRATEGIES
from limits.penalties import GRID
from limits.work import TIMES, Work, seconds

PASSES, GRAMS = 12, 3
BY_PASSES = ("mm",)  # beside passes; the others need the Hessian, and stand beside Gram matrices
DENSE_COLUMNS = 4000  # most columns with a Gram matrix

dataset = cache(dataset_of)


@cache
def problem(given: str, strategy: str) -> Problem:
    """The file's linear model and the rows that it is trained on."""
    path, target = divided(given)
    model = "linear" if dataset(given).task == "regression" else "logistic"
    return build_problem(Plan(DataPlan(path, target=target), model, strategy), dataset(given))


@cache
def training(given: str, strategy: str) -> Any:
    """The loss on those rows, prepared as a run prepares them."""
    return training_of(problem(given, strategy))


def reading(given: str) -> float:
    """Seconds of reading and understanding the file."""
    return seconds(lambda: dataset_of(given), 3)


def reading_by_peer(given: str) -> float:
    """Seconds of pandas, or of scikit-learn's reader of LIBSVM files."""
    path = divided(given)[0]
    read: Callable[[str], Any] = pd.read_csv if is_table(given) else load_svmlight_file
    return seconds(lambda: read(path), 3)


def learning(given: str, strategy: str) -> float:
    """Seconds of a learner from the prepared loss to its last step; compiled before."""
    own = training(given, strategy)
    pairs = holdout_pairs(problem(given, strategy), own) or ()

    def once() -> None:
        for _ in STRATEGIES[strategy].make(PenaltyProblem(own.loss, own.groups, holdout=pairs)):
            pass

    once()
    return seconds(once, 3)


def passes(given: str, strategy: str) -> float:
    """Seconds of twelve products of the prepared examples with a vector."""
    X = training(given, strategy).loss.design.X
    v = np.ones(X.shape[1])
    return PASSES * seconds(lambda: X @ v, 9)


def grams(given: str, strategy: str) -> float:
    """Seconds of three XᵀX of the prepared examples."""
    X = training(given, strategy).loss.design.X
    return GRAMS * seconds(lambda: X.T @ X, 5)


def searching(given: str, strategy: str) -> float:
    """Seconds of scikit-learn's own search of one penalty on the same examples."""
    X, y = training(given, strategy).loss.design.X, problem(given, strategy).training_data[1]
    if dataset(given).task == "regression":
        return seconds(lambda: RidgeCV(1.0 / GRID, cv=5).fit(X, y), 1)
    search = LogisticRegressionCV(Cs=GRID, cv=5, scoring="neg_log_loss", max_iter=300)
    return seconds(lambda: search.fit(X, y), 1)


def work_on(files: list[str]) -> list[Work]:
    """The rows of these files.

    Raises:
        UnusableError: a file cannot be read, or is no table to predict a column of.
    """
    return [work for given in files for work in _rows_of(given)]


def _rows_of(given: str) -> list[Work]:
    name = name_of(given)[:28]
    peer = "pandas.read_csv" if is_table(given) else "load_svmlight_file"
    found = [
        Work(f"{name}: reading", 1.3, partial(reading, given), partial(reading_by_peer, given),
             peer, TIMES)
    ]  # fmt: skip
    refuse_other_tasks(dataset(given), given)
    numbers = dataset(given).task == "regression"
    learners = ("mm", "evidence", "gradient") if numbers else ("mm", "evidence", "loo", "gradient")
    for strategy in learners:
        learn = partial(learning, given, strategy)
        wide = training(given, "mm").loss.design.X.shape[1] > DENSE_COLUMNS
        if strategy in BY_PASSES or wide:
            least, called = partial(passes, given, strategy), f"{PASSES} passes"
        else:
            least, called = partial(grams, given, strategy), f"{GRAMS} Gram matrices"
        found.append(Work(f"{name}: {strategy}", math.inf, learn, least, called, TIMES))
        found.append(
            Work(f"{name}: {strategy}, beside a search", 0.5, learn,
                 partial(searching, given, strategy), "RidgeCV" if numbers else
                 "LogisticRegressionCV", TIMES)
        )  # fmt: skip
    return found
