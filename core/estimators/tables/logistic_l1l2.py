"""Logistic regression with four hyperparameters: two penalties, iterations and tolerance."""

from __future__ import annotations

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    # Maxima and the tolerance's range are those of Yogatama and Mann 2014, table 4. The least
    # penalties (1e-6) and the fewest iterations (1) are ours: the paper's text has lost them.
    return (
        Axis("l1", "Penalty that drops columns (L1)", "float", 1e-6, 10.0, True, default=1e-3),
        Axis("l2", "Penalty on large weights (L2)", "float", 1e-6, 10.0, True, default=1e-3),
        Axis("max_iter", "Iterations at most", "int", 1, 500, True, default=100),
        Axis("tol", "Gain below which it stops", "float", 1e-7, 1e-3, True, default=1e-5),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "l1": float(setting["l1"]),
        "l2": float(setting["l2"]),
        "max_iter": int(setting["max_iter"]),
        "tol": float(setting["tol"]),
    }
    return Recipe("core.estimators.tables.l1l2_classifier", "L1L2Classifier", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"l1": 0.03, "l2": 1e-4}, {"l1": 1e-4, "l2": 1e-4, "max_iter": 300})


LOGISTIC_L1L2 = Model(
    name="logistic-l1l2",
    title="Logistic regression with two penalties",
    noun="logistic regression with two penalties",
    good_for="Predicts classes by a weighted sum of the columns. One penalty drops columns that "
    "say little, the other keeps weights small; when to stop is tuned too.",
    cost="Fits in under a second on most tables.",
    tasks=CLASSIFICATION_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=1,
)
