"""Models of curved boundaries: vector machines, neighbours, networks and naive Bayes."""

from typing import Any

import numpy as np

from core.datasets.task import CLASSIFICATION_TASKS, Task
from core.estimators.model import Axes, Model, row_count_warning
from core.estimators.recipe import Recipe, on_standard_target, standardize_numbers, weights_of
from core.space import Axis, Setting

_MIN_GAMMA, _MAX_GAMMA = 1e-6, 1e2
# Above some twenty columns a tree of neighbours saves nothing: every row is compared with every
# other one.
_MAX_COMPARED_ROWS = 50_000


def _machine_space(task: str) -> Axes:
    axes: Axes = (
        Axis("C", "Cost of a wrong row", "float", 1e-2, 1e3, log=True, default=1.0),
        # 0.1 is scikit-learn's "scale" at ten standardized columns; `defaults` settles it.
        Axis("gamma", "Detail of the boundary", "float", _MIN_GAMMA, _MAX_GAMMA, True, default=0.1),
    )
    if Task(task).has_numbers:
        tube = "Error that is forgiven (in standard deviations)"
        axes += (Axis("epsilon", tube, "float", 1e-3, 1.0, log=True, default=0.1),)
    return axes


def scale_gamma(X: Any) -> float:
    """``gamma="scale"``, 1 / (columns × variance of all entries), within the axis's range."""
    # A sparse matrix, less its mean, would be dense.
    if hasattr(X, "multiply"):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(np.var(X))
    gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return min(_MAX_GAMMA, max(_MIN_GAMMA, gamma))


def _machine_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    shared = {"C": float(setting["C"]), "gamma": float(setting["gamma"])}
    if Task(task).has_numbers:
        shared["epsilon"] = float(setting["epsilon"])
        return on_standard_target(Recipe("sklearn.svm", "SVR", shared))
    # No probabilities: these cost more fits; the model with calibration has them.
    return Recipe("sklearn.svm", "SVC", {**shared, "random_state": seed, **weights_of(setting)})


def _machine_starts(task: str, default: Setting) -> tuple[Setting, ...]:
    gamma = float(default["gamma"])
    wider, finer = max(_MIN_GAMMA, gamma / 8), min(_MAX_GAMMA, 4 * gamma)
    return ({"C": 10.0}, {"C": 100.0, "gamma": wider}, {"C": 10.0, "gamma": finer})


SVM = Model.of_recipe(
    _machine_recipe,
    _machine_space,
    name="svm",
    title="Support vector machine",
    noun="a support vector machine",
    good_for="Smooth curves and curved boundaries; best below some 10,000 rows.",
    cost="Slow above some 10,000 rows: twice the rows take four times as long.",
    takes_sparse=True,
    scaled=True,
    starts=_machine_starts,
    complexity=4,
    class_weights=True,
    warns=row_count_warning(most=20_000),
    defaults=lambda task, X: {"gamma": scale_gamma(X)},
    growth=2.0,
).with_calibration(
    cost="Slow above some 10,000 rows, and four fits a fold where probabilities are asked for."
)

_DISTANCE = "Distance (1: city block, 2: straight line)"
_VOTES = ("uniform", "distance")
KNN = Model.of_sklearn(
    ("sklearn.neighbors.KNeighborsClassifier", "sklearn.neighbors.KNeighborsRegressor"),
    (
        Axis("n_neighbors", "Number of neighbours", "int", 1, 50, log=True, default=5),
        Axis("weights", "Weights of the neighbours", "choice", choices=_VOTES, default="uniform"),
        Axis("p", _DISTANCE, "choice", choices=(1, 2), default=2),
    ),
    # Trials run side by side: threads of one would only get in the way of the others.
    lambda seed: {"n_jobs": 1},
    name="knn",
    title="k nearest neighbours",
    noun="a vote of nearest neighbours",
    good_for="Asks the rows most alike; good where the columns are few and all matter.",
    cost="Nothing to fit, but each prediction looks for its neighbours among all training rows, "
    "which the model file holds.",
    takes_sparse=True,
    scaled=True,
    starts=(
        {"n_neighbors": 10, "weights": "distance"},
        {"n_neighbors": 3, "weights": "distance", "p": 1},
        {"n_neighbors": 25, "weights": "distance"},
    ),
    complexity=3,
    growth=2.0,
    warns=row_count_warning(most=_MAX_COMPARED_ROWS),
    most=lambda rows: {"n_neighbors": rows},
)


def _perceptron_recipe(task: str, setting: Setting, seed: int) -> Recipe:
    sizes = (int(setting["first_layer"]), int(setting["second_layer"]))
    arguments = {
        "hidden_layer_sizes": sizes if sizes[1] else sizes[:1],
        "alpha": float(setting["alpha"]),
        "learning_rate_init": float(setting["learning_rate_init"]),
        "random_state": seed,
    }
    kind = "Regressor" if Task(task).has_numbers else "Classifier"
    return standardize_numbers(task, Recipe("sklearn.neural_network", f"MLP{kind}", arguments))


MLP = Model.of_recipe(
    _perceptron_recipe,
    (
        Axis("first_layer", "Neurons in the first layer", "int", 4, 256, log=True, default=100),
        Axis("second_layer", "Neurons in the second layer, 0: none", "int", 0, 128, default=0),
        Axis("alpha", "Penalty on large weights", "float", 1e-6, 1.0, log=True, default=1e-4),
        Axis("learning_rate_init", "Learning rate", "float", 1e-4, 1e-1, log=True, default=1e-3),
    ),
    name="mlp",
    title="Multilayer perceptron",
    noun="a multilayer perceptron",
    good_for="A small neural network; finds smooth curves in some thousand rows.",
    cost="Slow, and its scores vary from start to start.",
    takes_sparse=True,
    scaled=True,
    starts=(
        {"first_layer": 100, "alpha": 0.1, "learning_rate_init": 3e-3},
        {"first_layer": 64, "second_layer": 32, "alpha": 1e-2, "learning_rate_init": 3e-3},
    ),
    complexity=7,
    warns=row_count_warning(300, 20_000),
)

_WIDENING = "Widening of every distribution (share of the largest variance)"
NAIVE_BAYES = Model.of_sklearn(
    "sklearn.naive_bayes.GaussianNB",
    (Axis("var_smoothing", _WIDENING, "float", 1e-12, 1.0, log=True, default=1e-9),),
    name="naive-bayes",
    title="Naive Bayes (Gaussian)",
    noun="naive Bayes",
    good_for="Takes each column by itself, as normally distributed; good with few rows.",
    cost="A fit takes milliseconds. Its probabilities are too sure where columns tell the same.",
    tasks=CLASSIFICATION_TASKS,
    takes_sparse=False,  # a class has a mean and a variance of every column, none of them 0
    scaled=True,  # or the widening would be a share of the largest column's variance alone
    complexity=2,
)
