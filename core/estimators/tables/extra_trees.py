"""Extremely randomized trees: a forest whose splits are drawn at random (Geurts et al. 2006)."""

from __future__ import annotations

from core.estimators.model import Model
from core.estimators.recipe import Recipe, building, on_standard_target, scripting
from core.estimators.tables.forest import arguments_of, space
from core.space import Setting


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = arguments_of(setting, seed)
    if task == "regression":  # trees take differences whose squares are below 2e-16 for none
        return on_standard_target(Recipe("sklearn.ensemble", "ExtraTreesRegressor", arguments))
    return Recipe("sklearn.ensemble", "ExtraTreesClassifier", arguments)


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
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
    tasks=("regression", "binary", "multiclass"),
    space=space,
    build=building(_recipe),
    loss={},
    takes_sparse=True,
    scaled=False,
    script=scripting(_recipe),
    starts=_starts,
    complexity=5,
    dearer=("n_estimators",),
    class_weights=True,
)
