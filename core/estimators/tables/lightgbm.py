"""LightGBM: gradient boosting leaf by leaf (Ke et al. 2017)."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    columns = "Share of the columns that a tree may ask for"
    rows = "Share of the rows for a tree"
    return (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=0.1),
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("num_leaves", "Leaves of a tree", "int", 2, 127, True, default=31, least=2),
        Axis("min_child_samples", "Rows in the smallest leaf", "int", 1, 100, True, default=20),
        Axis("colsample_bytree", columns, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
        Axis("subsample", rows, "float", 0.5, 1.0, default=1.0, least=0.01, most=1),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "learning_rate": float(setting["learning_rate"]),
        "n_estimators": int(setting["n_estimators"]),
        "num_leaves": int(setting["num_leaves"]),
        "min_child_samples": int(setting["min_child_samples"]),
        "colsample_bytree": float(setting["colsample_bytree"]),
        "subsample": float(setting["subsample"]),
        "subsample_freq": 1,  # without it the share of rows counts for nothing
        "random_state": seed,
        "n_jobs": 1,
        # It would else time two ways of adding up, which differ in the last digits.
        "force_col_wise": True,
        "verbosity": -1,
    }
    arguments |= weights_of(setting)
    if Task(task).has_numbers:
        return on_standard_target(Recipe("lightgbm", "LGBMRegressor", arguments))
    return Recipe("lightgbm", "LGBMClassifier", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"n_estimators": 300, "learning_rate": 0.05, "num_leaves": 15, "colsample_bytree": 0.7},
        {"n_estimators": 150, "num_leaves": 6, "min_child_samples": 8},
    )


LIGHTGBM = Model(
    name="lightgbm",
    title="LightGBM",
    noun="LightGBM",
    good_for="Gradient boosting that grows each tree where it helps most. Often among the most "
    "accurate on tables with a thousand rows or more.",
    cost="Quick, also with many rows. Takes several settings to tune.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=False,  # what is kept of it is a model of scikit-learn's that does not either
    scaled=False,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=6,
    dearer=("n_estimators",),
    extra="lightgbm",
    class_weights=True,
    warns=row_count_warning(fewest=300),
)
