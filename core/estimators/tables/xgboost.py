"""XGBoost: gradient boosting of trees with penalized leaves (Chen and Guestrin 2016)."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    columns, leaf = "Share of the columns that a tree may ask for", "Weight in the smallest leaf"
    rows = "Share of the rows for a tree"
    return (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=0.3),
        Axis("n_estimators", "Number of trees", "int", 10, 500, log=True, default=100),
        Axis("max_depth", "Depth of a tree", "int", 1, 12, default=6),
        Axis("min_child_weight", leaf, "float", 0.1, 100.0, log=True, default=1.0),
        Axis("reg_lambda", "Penalty on large leaves", "float", 1e-3, 100.0, log=True, default=1.0),
        Axis("colsample_bytree", columns, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
        Axis("subsample", rows, "float", 0.5, 1.0, default=1.0, least=0.01, most=1),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "learning_rate": float(setting["learning_rate"]),
        "n_estimators": int(setting["n_estimators"]),
        "max_depth": int(setting["max_depth"]),
        "min_child_weight": float(setting["min_child_weight"]),
        "reg_lambda": float(setting["reg_lambda"]),
        "colsample_bytree": float(setting["colsample_bytree"]),
        "subsample": float(setting["subsample"]),
        "random_state": seed,
        "n_jobs": 1,
        "verbosity": 0,
    }
    if Task(task).has_numbers:
        doubled = {"estimator": Recipe("xgboost", "XGBRegressor", arguments)}
        module = "core.estimators.tables.double_regressor"
        return on_standard_target(Recipe(module, "DoubleRegressor", doubled))
    coded = {"estimator": Recipe("xgboost", "XGBClassifier", arguments), **weights_of(setting)}
    return Recipe("core.estimators.tables.coded_classifier", "CodedClassifier", coded)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"n_estimators": 300, "learning_rate": 0.05, "max_depth": 4, "colsample_bytree": 0.7},
        {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 3},
    )


XGBOOST = Model(
    name="xgboost",
    title="XGBoost",
    noun="XGBoost",
    good_for="Gradient boosting with a penalty on its leaves. Often among the most accurate on "
    "tables with a thousand rows or more.",
    cost="Quick, also with many rows. Its default takes large steps: tuning gains more than with "
    "others.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=False,  # it would take every 0 of a sparse table for missing
    scaled=False,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=6,
    dearer=("n_estimators",),
    extra="xgboost",
    class_weights=True,
    warns=row_count_warning(fewest=300),
)
