"""Random forests."""

from __future__ import annotations

from typing import Any

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.facts import ENOUGH_ROWS, ModelingFacts, Suggestion
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting

_MAX_FOREST_SIZE = 1e6  # rows × columns: about two seconds a fit, seven minutes a run


def forest_space(task: str) -> tuple[Axis, ...]:
    """The axes of random forests and extra trees, with scikit-learn's defaults."""
    usual = 1.0 if Task(task).has_numbers else "sqrt"
    label = "Columns tried at every split (a share, or a root)"
    return (
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_features", label, "choice", choices=("sqrt", 0.3, 0.6, 1.0), default=usual),
        Axis("min_samples_leaf", "Rows in the smallest leaf", "int", 1, 50, True, default=1),
    )


def arguments_of(setting: Setting, seed: int) -> dict[str, Any]:
    """The arguments of such trees at a setting."""
    arguments = {
        "n_estimators": int(setting["n_estimators"]),
        "max_features": setting["max_features"],
        "min_samples_leaf": int(setting["min_samples_leaf"]),
        "n_jobs": 1,
        "random_state": seed,
    }
    return arguments | weights_of(setting)


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = arguments_of(setting, seed)
    if Task(task).has_numbers:  # trees take differences whose squares are below 2e-16 for none
        return on_standard_target(Recipe("sklearn.ensemble", "RandomForestRegressor", arguments))
    return Recipe("sklearn.ensemble", "RandomForestClassifier", arguments)


def _suggests(facts: ModelingFacts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs > _MAX_FOREST_SIZE:
        return None
    why = "a random forest copes with so many classes in less time than gradient boosting."
    return Suggestion(2, f"{facts.sentence}: {why}")


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"n_estimators": 250, "max_features": 0.3},
        {"n_estimators": 200, "max_features": 0.6, "min_samples_leaf": 3},
    )


FOREST = Model(
    name="forest",
    title="Random forest",
    noun="a random forest",
    good_for="Good on almost any table without much tuning. Unusual values do not disturb it.",
    cost="Time grows with the number of trees and rows; the model file is large.",
    tasks=TABLE_TASKS,
    space=forest_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=False,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=5,
    dearer=("n_estimators",),
    class_weights=True,
    suggests=_suggests,
)
