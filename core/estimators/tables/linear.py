"""Linear regression with an L2 penalty (ridge)."""

from __future__ import annotations

from core.estimators.model import Model
from core.estimators.recipe import Recipe, building, scripting
from core.space import Axis, Setting


def _space(task: str) -> tuple[Axis, ...]:
    # At the lower end the penalty is so small that it is ordinary least squares.
    return (Axis("alpha", "Penalty on large weights", "float", 1e-4, 1e4, log=True, default=1.0),)


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {"alpha": float(setting["alpha"]), "random_state": seed}
    return Recipe("sklearn.linear_model", "Ridge", arguments)


LINEAR = Model(
    name="linear",
    title="Linear regression",
    good_for="Predicts a number as a weighted sum of the columns. Every weight can be read.",
    cost="Fits in well under a second, even with many rows.",
    tasks=("regression",),
    space=_space,
    build=building(_recipe),
    loss={"regression": "linear"},
    takes_sparse=True,
    scaled=True,
    script=scripting(_recipe),
)
