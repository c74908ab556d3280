"""Linear and logistic regression with L1 and L2 penalties (elastic net)."""

from __future__ import annotations

from typing import Any

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting

# ElasticNet's alpha where the target has standard deviation 1: in its own unit a range would differ
# between grams and kilograms. Every weight is 0 from alpha = 1 / l1_ratio on.
STANDARD = "standard_alpha"


def _search_space(task: str) -> tuple[Axis, ...]:
    share = "Share of the penalty that switches columns off"
    if Task(task).has_numbers:
        return (
            # scikit-learn's default of 1 is of no unit; here it would nearly always give the mean.
            Axis(STANDARD, "Penalty on large weights", "float", 1e-4, 10.0, True, default=0.1),
            Axis("l1_ratio", share, "float", 0.0, 1.0, default=0.5, least=0, most=1),
        )
    low, high = 2.0**-10, 2.0**10
    return (
        Axis("C", "Trust in the data", "float", low, high, True, default=1.0),
        Axis("l1_ratio", share, "float", 0.0, 1.0, default=0.0, least=0, most=1),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments: dict[str, Any] = {"l1_ratio": float(setting["l1_ratio"]), "random_state": seed}
    if Task(task).has_numbers:
        if "alpha" in setting:  # of runs of earlier versions, in the target's own unit
            arguments |= {"alpha": float(setting["alpha"])}
            return Recipe("sklearn.linear_model", "ElasticNet", arguments)
        arguments |= {"alpha": float(setting[STANDARD])}
        return on_standard_target(Recipe("sklearn.linear_model", "ElasticNet", arguments))
    # saga is the one solver of the mixed penalty. Its weights are good to three digits long
    # before scikit-learn's tolerance of 1e-4 is met, which is what a score can tell apart.
    arguments |= {"C": float(setting["C"]), "solver": "saga", "tol": 1e-3, "max_iter": 200}
    arguments |= weights_of(setting)
    return Recipe("sklearn.linear_model", "LogisticRegression", arguments)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    if Task(task).has_numbers:
        return ({STANDARD: 0.01}, {STANDARD: 0.05, "l1_ratio": 0.95})
    return ({"C": 0.1, "l1_ratio": 1.0}, {"C": 0.5, "l1_ratio": 0.5})


ELASTIC_NET = Model(
    name="elastic-net",
    title="Elastic net",
    noun="an elastic net",
    good_for="A linear model that can switch columns off. Choose it when many columns may be "
    "useless.",
    cost="A few times slower than plain linear or logistic regression.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=True,
    scaled=True,
    categories="levels",
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=1,
    class_weights=True,
)
