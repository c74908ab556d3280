"""Gradient boosting of small trees on binned columns."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.facts import ENOUGH_ROWS, ModelingFacts, Suggestion
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting

_MAX_BOOSTED_SIZE = 2e6  # rows × columns × trees a step: two seconds a fit, seven minutes a run


def _search_space(task: str) -> tuple[Axis, ...]:
    return (
        Axis("learning_rate", "Learning rate", "float", 0.01, 1.0, log=True, default=0.1),
        Axis("max_iter", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_leaf_nodes", "Leaves of a tree", "int", 2, 127, True, default=31, least=2),
        Axis("min_samples_leaf", "Rows in the smallest leaf", "int", 1, 100, True, default=20),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "learning_rate": float(setting["learning_rate"]),
        "max_iter": int(setting["max_iter"]),
        "max_leaf_nodes": int(setting["max_leaf_nodes"]),
        "min_samples_leaf": int(setting["min_samples_leaf"]),
        "random_state": seed,
    }
    arguments |= weights_of(setting)
    if Task(task).has_numbers:  # gradients are kept in single precision, whose numbers end at 1e38
        name = "HistGradientBoostingRegressor"
        return on_standard_target(Recipe("sklearn.ensemble", name, arguments))
    return Recipe("sklearn.ensemble", "HistGradientBoostingClassifier", arguments)


def _suggests(facts: ModelingFacts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs * facts.outputs > _MAX_BOOSTED_SIZE:
        return None
    boosted = "enough for gradient boosting, often the most accurate on tables like this."
    return Suggestion(3, f"{facts.sentence}: {boosted}")


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
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
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=False,
    scaled=False,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=6,
    dearer=("max_iter",),
    class_weights=True,
    suggests=_suggests,
    warns=row_count_warning(fewest=300),
)
