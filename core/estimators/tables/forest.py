"""Random forests."""

from __future__ import annotations

from typing import Any

from core.estimators.class_weights import weights_of
from core.estimators.facts import ENOUGH_ROWS, Facts, Suggestion
from core.estimators.model import Model
from core.estimators.recipe import Recipe, building, on_standard_target, scripting
from core.space import Axis, Setting

_MOST_GROWN = 1e6  # rows × columns: about two seconds a fit, seven minutes a run


def space(task: str) -> tuple[Axis, ...]:
    """The axes of trees that are grown side by side; scikit-learn's defaults are the same."""
    usual = 1.0 if task == "regression" else "sqrt"
    tried = "Columns tried at every split (a share, or a root)"
    return (
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_features", tried, "choice", choices=("sqrt", 0.3, 0.6, 1.0), default=usual),
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


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = arguments_of(setting, seed)
    if task == "regression":  # trees take differences whose squares are below 2e-16 for none
        return on_standard_target(Recipe("sklearn.ensemble", "RandomForestRegressor", arguments))
    return Recipe("sklearn.ensemble", "RandomForestClassifier", arguments)


def _suggests(facts: Facts) -> Suggestion | None:
    if facts.rows < ENOUGH_ROWS or facts.rows * facts.inputs > _MOST_GROWN:
        return None
    why = "a random forest copes with so many classes in less time than gradient boosting."
    return Suggestion(2, f"{facts.sentence}: {why}")


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
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
    suggests=_suggests,
)
