"""k nearest neighbours: rows get what the most similar training rows have."""

from __future__ import annotations

from typing import Any

from core.estimators.model import Model, few_or_many
from core.estimators.recipe import Recipe, building, scripting
from core.space import Axis, Setting

_MOST_ROWS = 50_000  # above some twenty columns every row is compared with every other


def _space(task: str) -> tuple[Axis, ...]:
    weights, distance = ("uniform", "distance"), "Distance (1: city block, 2: straight line)"
    return (
        Axis("n_neighbors", "Neighbours asked", "int", 1, 50, log=True, default=5),
        Axis("weights", "What counts more", "choice", choices=weights, default="uniform"),
        Axis("p", distance, "choice", choices=(1, 2), default=2),
    )


def _most(rows: int) -> dict[str, float]:
    return {"n_neighbors": rows}


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments: dict[str, Any] = {
        "n_neighbors": int(setting["n_neighbors"]),
        "weights": setting["weights"],
        "p": int(setting["p"]),
        "n_jobs": 1,
    }
    kind = "Regressor" if task == "regression" else "Classifier"
    return Recipe("sklearn.neighbors", f"KNeighbors{kind}", arguments)


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
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
    tasks=("regression", "binary", "multiclass"),
    space=_space,
    build=building(_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    script=scripting(_recipe),
    starts=_starts,
    complexity=3,
    growth=2.0,
    warns=few_or_many(most=_MOST_ROWS),
    most=_most,
)
