"""Multilayer perceptrons with one or two hidden layers."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting


def _search_space(task: str) -> tuple[Axis, ...]:
    step = "Learning rate"
    return (
        Axis("first_layer", "Neurons in the first layer", "int", 4, 256, log=True, default=100),
        Axis("second_layer", "Neurons in the second layer, 0: none", "int", 0, 128, default=0),
        Axis("alpha", "Penalty on large weights", "float", 1e-6, 1.0, log=True, default=1e-4),
        Axis("learning_rate_init", step, "float", 1e-4, 1e-1, log=True, default=1e-3),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    sizes = (int(setting["first_layer"]), int(setting["second_layer"]))
    arguments = {
        "hidden_layer_sizes": sizes if sizes[1] else sizes[:1],
        "alpha": float(setting["alpha"]),
        "learning_rate_init": float(setting["learning_rate_init"]),
        "random_state": seed,
    }
    if Task(task).has_numbers:
        return on_standard_target(Recipe("sklearn.neural_network", "MLPRegressor", arguments))
    return Recipe("sklearn.neural_network", "MLPClassifier", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return (
        {"first_layer": 100, "alpha": 0.1, "learning_rate_init": 3e-3},
        {"first_layer": 64, "second_layer": 32, "alpha": 1e-2, "learning_rate_init": 3e-3},
    )


MLP = Model(
    name="mlp",
    title="Multilayer perceptron",
    noun="a multilayer perceptron",
    good_for="A small neural network. It finds smooth, curved relations when there are some "
    "thousand rows.",
    cost="Slow, and its scores vary from start to start.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=7,
    warns=row_count_warning(300, 20_000),
)
