"""What models with one L2 penalty on all weights share: its axis, its recipe, and warm fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.estimators.recipe import Recipe, RecipeFactory
from core.space import Axis, Setting


def penalty_space(task: str) -> tuple[Axis, ...]:
    """C of ½ C ‖w‖² beside the loss, over the grid of Foo 2009."""
    low, high = 2.0**-10, 2.0**10
    return (Axis("C", "Penalty on large weights (λ)", "float", low, high, True, default=1.0),)


def penalty_recipe(module: str, name: str) -> RecipeFactory:
    """The recipe of an estimator whose only setting is C."""

    def make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
        return Recipe(module, name, {"C": float(setting["C"])})

    return make_recipe


def warm_fit(
    memory: dict[str, Any], make_loss: Callable[[], Any], C: float, tolerance: float
) -> Any:
    """The minimizer w of loss(w) + ½ C ‖w‖², started where the last fit on the same rows ended.

    Args:
        memory: kept between fits on the same rows; the loss and w are put there.
        make_loss: builds the loss, once.
        C: the penalty.
        tolerance: share of the loss within which w must be of the minimum.
    """
    import numpy as np

    from core.optimize.descent import solve_penalized

    if "loss" not in memory:
        memory["loss"] = make_loss()
    loss = memory["loss"]
    start = memory.get("w", loss.initial_weights())
    memory["w"] = solve_penalized(loss, np.full(loss.size, C), start, tolerance=tolerance).point.w
    return memory["w"]
