"""Logistic regression with an L2 penalty, for two or more classes."""

from __future__ import annotations

from typing import Any

from core.datasets.task import CLASSIFICATION_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.estimators.tables.linear import linear_suggestion
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    low, high = 2.0**-10, 2.0**10  # the grid of Foo 2009, in scikit-learn's C = 1/penalty
    return (Axis("C", "Trust in the data", "float", low, high, True, default=1.0),)


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    # scikit-learn's own 100 iterations are too few for columns that are not standardized.
    arguments: dict[str, Any] = {"C": float(setting["C"]), "max_iter": 1000, "random_state": seed}
    arguments |= weights_of(setting)
    return Recipe("sklearn.linear_model", "LogisticRegression", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"C": 0.05}, {"C": 20.0})


LOGISTIC = Model(
    name="logistic",
    title="Logistic regression",
    noun="logistic regression",
    good_for="Predicts classes by a weighted sum of the columns. Every weight can be read, "
    "and the probabilities are usually trustworthy.",
    cost="Fits in under a second on most tables.",
    tasks=CLASSIFICATION_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={Task.BINARY: "logistic", Task.MULTICLASS: "multinomial"},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=1,
    class_weights=True,
    suggests=linear_suggestion("logistic regression"),
)
