"""CatBoost: ordered gradient boosting of symmetric trees (Prokhorenkova et al. 2018)."""

from __future__ import annotations

from core.estimators.class_weights import weights_of
from core.estimators.model import Model, few_or_many
from core.estimators.recipe import Recipe, building, on_standard_target, scripting
from core.space import Axis, Setting

# Its own default is 1,000 trees with steps by the number of rows; these reach as much in a third of
# the time. The steps are near what it takes for 300 trees on a thousand rows.
_STEPS = {"regression": 0.1, "binary": 0.05, "multiclass": 0.2}


def _space(task: str) -> tuple[Axis, ...]:
    step, columns = _STEPS[task], "Share of the columns tried at every split"
    return (
        Axis("learning_rate", "Size of every step", "float", 0.01, 0.5, log=True, default=step),
        Axis("iterations", "Number of trees", "int", 10, 500, log=True, default=300),
        Axis("depth", "Depth of a tree", "int", 1, 10, default=6, most=16),
        Axis("l2_leaf_reg", "Penalty on large leaves", "float", 0.1, 100.0, log=True, default=3.0),
        Axis("rsm", columns, "float", 0.3, 1.0, default=1.0, least=0.01, most=1),
    )


def _recipe(task: str, setting: Setting, seed: int) -> Recipe:
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
    if task == "regression":
        return on_standard_target(Recipe("catboost", "CatBoostRegressor", arguments))
    coded = {"estimator": Recipe("catboost", "CatBoostClassifier", arguments)}
    coded |= weights_of(setting)
    return Recipe("core.estimators.tables.coded_classifier", "CodedClassifier", coded)


def _starts(task: str, default: Setting) -> tuple[Setting, ...]:
    return ({"iterations": 300, "learning_rate": 0.1, "depth": 4},)


CATBOOST = Model(
    name="catboost",
    title="CatBoost",
    noun="CatBoost",
    good_for="Gradient boosting of symmetric trees. Good at its default setting, also with some "
    "hundred rows.",
    cost="The slowest of the boosting libraries, above all with many classes.",
    tasks=("regression", "binary", "multiclass"),
    space=_space,
    build=building(_recipe),
    loss={},
    takes_sparse=False,  # what is kept of it is a model of scikit-learn's that does not either
    scaled=False,
    script=scripting(_recipe),
    starts=_starts,
    complexity=6,
    dearer=("iterations",),
    extra="catboost",
    class_weights=True,
    warns=few_or_many(fewest=200),
)
