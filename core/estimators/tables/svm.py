"""Support vector machines with the Gaussian (RBF) kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import (
    Recipe,
    build_from_recipe,
    on_standard_target,
    script_from_recipe,
    with_probabilities,
)
from core.space import Axis, Setting

_LOWEST, _HIGHEST = 1e-6, 1e2


def _search_space(task: str) -> tuple[Axis, ...]:
    axes: tuple[Axis, ...] = (
        Axis("C", "Cost of a wrong row", "float", 1e-2, 1e3, log=True, default=1.0),
        # 0.1 is scikit-learn's "scale" at ten standardized columns; `defaults` settles it.
        Axis("gamma", "Detail of the boundary", "float", _LOWEST, _HIGHEST, True, default=0.1),
    )
    if Task(task).has_numbers:
        tube = "Error that is forgiven (in standard deviations)"
        axes += (Axis("epsilon", tube, "float", 1e-3, 1.0, log=True, default=0.1),)
    return axes


def scale_gamma(X: Any) -> float:
    """``gamma="scale"``, 1 / (columns × variance of all entries), within the axis's range."""
    if hasattr(X, "multiply"):  # a sparse matrix, whose variance must not be taken densely
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(np.var(X))
    gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return min(_HIGHEST, max(_LOWEST, gamma))


def _defaults(task: str, X: Any) -> Setting:
    return {"gamma": scale_gamma(X)}


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    shared = {"C": float(setting["C"]), "gamma": float(setting["gamma"])}
    if Task(task).has_numbers:
        shared["epsilon"] = float(setting["epsilon"])
        return on_standard_target(Recipe("sklearn.svm", "SVR", shared))
    # No probabilities: these cost more fits; `_probabilistic` has them.
    return Recipe("sklearn.svm", "SVC", {**shared, "random_state": seed, **weights_of(setting)})


def _probabilistic(task: str, setting: Setting, seed: int) -> Recipe:
    machine = _make_recipe(task, setting, seed)
    return machine if Task(task).has_numbers else with_probabilities(machine, seed)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    gamma = float(default["gamma"])
    wider, finer = max(_LOWEST, gamma / 8), min(_HIGHEST, 4 * gamma)
    return ({"C": 10.0}, {"C": 100.0, "gamma": wider}, {"C": 10.0, "gamma": finer})


SVM = Model(
    name="svm",
    title="Support vector machine",
    noun="a support vector machine",
    good_for="Finds curved boundaries in small and middle-sized tables of numbers.",
    cost="Slow above some 10,000 rows: twice the rows take four times as long.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=4,
    class_weights=True,
    warns=row_count_warning(most=20_000),
    defaults=_defaults,
    growth=2.0,
)
SVM = replace(
    SVM,
    probabilistic=replace(
        SVM,
        build=build_from_recipe(_probabilistic),
        script=script_from_recipe(_probabilistic),
        cost="Slow above some 10,000 rows, and four fits a fold where probabilities are asked for.",
    ),
)
