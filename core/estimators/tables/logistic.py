"""Logistic regression with an L2 penalty, for two or more classes."""

from __future__ import annotations

from typing import Any

from core.estimators.class_weights import weights_of
from core.estimators.model import Model
from core.estimators.recipe import Recipe, building, scripting
from core.estimators.tables.linear import suggesting
from core.space import Axis, Setting


def _space(task: str) -> tuple[Axis, ...]:
    low, high = 2.0**-10, 2.0**10  # the grid of Foo 2009, in scikit-learn's C = 1/penalty
    return (Axis("C", "Trust in the data", "float", low, high, True, default=1.0),)


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    # scikit-learn's own 100 iterations are too few for columns that are not standardized.
    arguments: dict[str, Any] = {"C": float(setting["C"]), "max_iter": 1000, "random_state": seed}
    arguments |= weights_of(setting)
    return Recipe("sklearn.linear_model", "LogisticRegression", arguments)


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"C": 0.05}, {"C": 20.0})


LOGISTIC = Model(
    name="logistic",
    title="Logistic regression",
    noun="logistic regression",
    good_for="Tells classes apart by a weighted sum of the columns. Every weight can be read, "
    "and the probabilities are usually trustworthy.",
    cost="Fits in under a second on most tables.",
    tasks=("binary", "multiclass"),
    space=_space,
    build=building(_recipe),
    loss={"binary": "logistic", "multiclass": "multinomial"},
    takes_sparse=True,
    scaled=True,
    script=scripting(_recipe),
    starts=_starts,
    complexity=1,
    class_weights=True,
    suggests=suggesting("logistic regression"),
)
