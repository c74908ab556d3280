"""CatBoost: gradient boosting of symmetric trees (Prokhorenkova et al. 2018)."""

from __future__ import annotations

from core.datasets.task import TABLE_TASKS, Task
from core.estimators.class_weights import weights_of
from core.estimators.model import Model, row_count_warning
from core.estimators.recipe import Recipe, build_from_recipe, on_standard_target, script_from_recipe
from core.space import Axis, Setting

# Its own default is 1,000 trees with steps by the number of rows; these reach as much in a third of
# the time. The steps are near what it takes for 300 trees on a thousand rows.
_STEPS = {Task.REGRESSION: 0.1, Task.BINARY: 0.05, Task.MULTICLASS: 0.2}


def _search_space(task: str) -> tuple[Axis, ...]:
    step, columns = _STEPS[Task(task)], "Share of the columns tried at every split"
    return (
        Axis("learning_rate", "Learning rate", "float", 0.01, 0.5, log=True, default=step),
        Axis("iterations", "Number of trees", "int", 10, 500, log=True, default=300),
        Axis("depth", "Depth of a tree", "int", 1, 10, default=6, most=16),
        Axis("l2_leaf_reg", "Penalty on large leaves", "float", 0.1, 100.0, log=True, default=3.0),
        Axis("rsm", columns, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
    )


def _make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    arguments = {
        "learning_rate": float(setting["learning_rate"]),
        "iterations": int(setting["iterations"]),
        "depth": int(setting["depth"]),
        "l2_leaf_reg": float(setting["l2_leaf_reg"]),
        "rsm": float(setting["rsm"]),
        "random_seed": seed,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    if Task(task).has_numbers:
        return on_standard_target(Recipe("catboost", "CatBoostRegressor", arguments))
    coded = {"estimator": Recipe("catboost", "CatBoostClassifier", arguments)}
    coded |= weights_of(setting)
    return Recipe("core.estimators.tables.coded_classifier", "CodedClassifier", coded)


def _starting_settings(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"iterations": 300, "learning_rate": 0.1, "depth": 4},)


CATBOOST = Model(
    name="catboost",
    title="CatBoost",
    noun="CatBoost",
    good_for="Gradient boosting of symmetric trees. Good at its default setting, also with some "
    "hundred rows.",
    cost="The slowest of the boosting libraries, above all with many classes.",
    tasks=TABLE_TASKS,
    space=_search_space,
    build=build_from_recipe(_make_recipe),
    loss={},
    takes_sparse=False,  # what is kept of it is a model of scikit-learn's that does not either
    scaled=False,
    script=script_from_recipe(_make_recipe),
    starts=_starting_settings,
    complexity=6,
    dearer=("iterations",),
    extra="catboost",
    class_weights=True,
    warns=row_count_warning(fewest=200),
)
