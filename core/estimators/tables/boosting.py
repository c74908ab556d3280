"""Gradient boosting of small trees on binned columns."""

from __future__ import annotations

from core.estimators.class_weights import weights_of
from core.estimators.facts import ENOUGH_ROWS, Facts, Suggestion
from core.estimators.model import Model, few_or_many
from core.estimators.recipe import Recipe, building, on_standard_target, scripting
from core.space import Axis, Setting

_MOST_BOOSTED = 2e6  # rows × columns × trees a step: about two seconds a fit, seven minutes a run


def _space(task: str) -> tuple[Axis, ...]:
    return (
        Axis("learning_rate", "Size of every step", "float", 0.01, 1.0, log=True, default=0.1),
        Axis("max_iter", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_leaf_nodes", "Leaves of a tree", "int", 2, 127, True, default=31, least=2),
        Axis("min_samples_leaf", "Rows in the smallest leaf", "int", 1, 100, True, default=20),
    )


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "learning_rate": float(setting["learning_rate"]),
        "max_iter": int(setting["max_iter"]),
        "max_leaf_nodes": int(setting["max_leaf_nodes"]),
        "min_samples_leaf": int(setting["min_samples_leaf"]),
        "random_state": seed,
    }
    arguments |= weights_of(setting)
    if task == "regression":  # gradients are kept in single precision, whose numbers end at 1e38
        name = "HistGradientBoostingRegressor"
        return on_standard_target(Recipe("sklearn.ensemble", name, arguments))
    return Recipe("sklearn.ensemble", "HistGradientBoostingClassifier", arguments)


def _suggests(facts: Facts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs * facts.outputs > _MOST_BOOSTED:
        return None
    boosted = "enough for gradient boosting, often the most accurate on tables like this."
    return Suggestion(3, f"{facts.sentence}: {boosted}")


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"learning_rate": 0.1, "max_iter": 150, "max_leaf_nodes": 6, "min_samples_leaf": 8},
        {"learning_rate": 0.05, "max_iter": 300, "max_leaf_nodes": 15, "min_samples_leaf": 10},
    )


BOOSTING = Model(
    name="boosting",
    title="Gradient boosting",
    noun="gradient boosting",
    good_for="Often the most accurate on tables with a thousand rows or more.",
    cost="Quick for its size, also with many rows. Takes several settings to tune.",
    tasks=("regression", "binary", "multiclass"),
    space=_space,
    build=building(_recipe),
    loss={},
    takes_sparse=False,
    scaled=False,
    script=scripting(_recipe),
    starts=_starts,
    complexity=6,
    dearer=("max_iter",),
    class_weights=True,
    suggests=_suggests,
    warns=few_or_many(fewest=300),
)
