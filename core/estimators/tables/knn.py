"""k nearest neighbours: rows get what the most similar training rows have."""

from __future__ import annotations

from typing import Any

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, script_from_recipe
from core.space import Axis, Setting

_MAX_ROWS = 50_000  # above some twenty columns every row is compared with every other


def _search_space(task: str) -> tuple[Axis, ...]:
    weights, distance = ("uniform", "distance"), "Distance (1: city block, 2: straight line)"
    return (
        Axis("n_neighbors", "Number of neighbours", "int", 1, 50, log=True, default=5),
        Axis("weights", "Weights of the neighbours", "choice", choices=weights, default="uniform"),
        Axis("p", distance, "choice", choices=(1, 2), default=2),
    )


def _axis_maxima(rows: int) -> dict[str, float]:
    return {"n_neighbors": rows}


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments: dict[str, Any] = {
        "n_neighbors": int(setting["n_neighbors"]),
        "weights": setting["weights"],
        "p": int(setting["p"]),
        "n_jobs": 1,
    }
    kind = "Regressor" if Task(task).has_numbers else "Classifier"
    return Recipe("sklearn.neighbors", f"KNeighbors{kind}", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"n_neighbors": 10, "weights": "distance"},
        {"n_neighbors": 3, "weights": "distance", "p": 1},
        {"n_neighbors": 25, "weights": "distance"},
    )


KNN = Model(
    name="knn",
    title="k nearest neighbours",
    noun="a vote of nearest neighbours",
    good_for="Predicts what the most similar rows have. Good on tables of few columns that all "
    "matter.",
    cost="Nothing to fit, but each prediction looks for its neighbours among all training rows, "
    "which the model file holds.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=3,
    growth=2.0,
    warns=row_count_warning(most=_MAX_ROWS),
    most=_axis_maxima,
)
