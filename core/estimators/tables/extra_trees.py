"""Extremely randomized trees (Geurts et al. 2006)."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.estimators.tables.forest import arguments_of, forest_space
from core.space import Setting


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = arguments_of(setting, seed)
    if Task(task).has_numbers:  # trees take differences whose squares are below 2e-16 for none
        return on_standard_target(Recipe("sklearn.ensemble", "ExtraTreesRegressor", arguments))
    return Recipe("sklearn.ensemble", "ExtraTreesClassifier", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"n_estimators": 250, "max_features": 0.6},
        {"n_estimators": 200, "max_features": 1.0, "min_samples_leaf": 2},
    )


EXTRA_TREES = Model(
    name="extra-trees",
    title="Extra trees",
    noun="extra trees",
    good_for="Like a random forest with splits drawn at random: often as accurate on numbers, and "
    "smoother where they are noisy.",
    cost="Quicker than a random forest of as many trees; the model file is larger.",
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
)
