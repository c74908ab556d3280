"""The tasks of bench_regret.py: real models on real tables, and the functions of BBOB."""

from __future__ import annotations

import contextlib
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from optuna import Trial
from sklearn import datasets, ensemble, linear_model, model_selection, neighbors, svm, tree
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Table = tuple[np.ndarray, np.ndarray]
MAX_ROWS = 600
BUNDLED = {
    "cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "diabetes": datasets.load_diabetes,
}


@dataclass(frozen=True)
class Task:
    """A function of a trial to be minimized."""

    name: str
    loss: Callable[[Trial], float]
    kept_out: bool = False  # reported only: nothing is decided by it


@cache
def table(name: str, folder: Path) -> Table:
    """Rows in a fixed random order, at most `MAX_ROWS`; the target is the last column of a file."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    else:
        frame = pd.read_csv(folder / f"{name}.csv").dropna()
        target = "target" if "target" in frame else frame.columns[-1]
        y = frame.pop(target).to_numpy()
        X = pd.get_dummies(frame).to_numpy(dtype=float)
    rows = np.random.default_rng(0).permutation(len(X))[:MAX_ROWS]
    return X[rows], y[rows]


def svm_space(trial: Trial, *, regression: bool = False) -> Any:
    kernel = trial.suggest_categorical("kernel", ["linear", "rbf", "poly"])
    setting: dict[str, Any] = {"C": trial.suggest_float("C", 1e-3, 1e3, log=True)}
    if kernel != "linear":
        setting["gamma"] = trial.suggest_float("gamma", 1e-5, 10.0, log=True)
    if kernel == "poly":
        setting["degree"] = trial.suggest_int("degree", 2, 5)
    if regression:
        setting["epsilon"] = trial.suggest_float("epsilon", 1e-3, 3.0, log=True)
    learner = svm.SVR if regression else svm.SVC
    return make_pipeline(StandardScaler(), learner(kernel=kernel, max_iter=4000, **setting))


def tree_space(trial: Trial, *, regression: bool = False) -> Any:
    losses = ["squared_error", "friedman_mse"] if regression else ["gini", "entropy"]
    setting = {
        "criterion": losses[0] if regression else trial.suggest_categorical("criterion", losses),
        "max_depth": trial.suggest_int("max_depth", 1, 20),
        "min_samples_split": trial.suggest_int("min_samples_split", 2, 40),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 30),
        "max_features": trial.suggest_float("max_features", 0.1, 1.0),
    }
    learner = tree.DecisionTreeRegressor if regression else tree.DecisionTreeClassifier
    return learner(random_state=0, **setting)


def extra_trees_space(trial: Trial) -> Any:
    return ensemble.ExtraTreesClassifier(
        n_estimators=15,
        max_features=trial.suggest_float("max_features", 0.1, 1.0),
        max_depth=trial.suggest_int("max_depth", 2, 20),
        min_samples_leaf=trial.suggest_int("min_samples_leaf", 1, 20),
        bootstrap=trial.suggest_categorical("bootstrap", [False, True]),
        random_state=0,
    )


def boosting_space(trial: Trial) -> Any:
    return ensemble.GradientBoostingRegressor(
        learning_rate=trial.suggest_float("learning_rate", 0.01, 1.0, log=True),
        n_estimators=trial.suggest_int("n_estimators", 5, 40, log=True),
        max_depth=trial.suggest_int("max_depth", 1, 6),
        min_samples_leaf=trial.suggest_int("min_samples_leaf", 1, 30),
        subsample=trial.suggest_float("subsample", 0.3, 1.0),
        random_state=0,
    )


def perceptron_space(trial: Trial) -> Any:
    layers = [trial.suggest_int("first_layer", 4, 32, log=True)]
    if trial.suggest_int("layers", 1, 2) == 2:
        layers.append(trial.suggest_int("second_layer", 4, 32, log=True))
    network = MLPClassifier(
        layers,
        activation=trial.suggest_categorical("activation", ["relu", "tanh", "logistic"]),
        alpha=trial.suggest_float("alpha", 1e-6, 1.0, log=True),
        learning_rate_init=trial.suggest_float("learning_rate_init", 1e-4, 0.3, log=True),
        max_iter=12,
        random_state=0,
    )
    return make_pipeline(StandardScaler(), network)


def neighbours_space(trial: Trial) -> Any:
    learner = neighbors.KNeighborsClassifier(
        trial.suggest_int("n_neighbors", 1, 50, log=True),
        weights=trial.suggest_categorical("weights", ["uniform", "distance"]),
        p=trial.suggest_categorical("p", [1, 2]),
    )
    is_scaled = trial.suggest_categorical("scaled", [True, False])
    return make_pipeline(StandardScaler(), learner) if is_scaled else learner


def logistic_space(trial: Trial) -> Any:
    learner = linear_model.LogisticRegression(
        C=trial.suggest_float("C", 1e-4, 1e3, log=True),
        l1_ratio=trial.suggest_categorical("l1_ratio", [0.0, 1.0]),
        class_weight=trial.suggest_categorical("class_weight", [None, "balanced"]),
        solver="liblinear",
        intercept_scaling=trial.suggest_float("intercept_scaling", 0.1, 10.0, log=True),
    )
    return make_pipeline(StandardScaler(), learner)


MODELS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "svm": (svm_space, {}),
    "svr": (svm_space, {"regression": True}),
    "tree": (tree_space, {}),
    "regression tree": (tree_space, {"regression": True}),
    "extra trees": (extra_trees_space, {}),
    "boosting": (boosting_space, {}),
    "perceptron": (perceptron_space, {}),
    "neighbours": (neighbours_space, {}),
    "logistic": (logistic_space, {}),
}
REAL = (
    ("svm", "cancer", False),
    ("svm", "glass", False),
    ("svr", "mpg", False),
    ("tree", "australian", False),
    ("regression tree", "bodyfat", False),
    ("extra trees", "heart", False),
    ("boosting", "housing", False),
    ("perceptron", "heart", False),
    ("neighbours", "digits", False),
    ("logistic", "australian", False),
    ("svm", "segment", True),
    ("boosting", "abalone", True),
)


class KeptScores:
    """Scores of settings, each evaluated once and kept in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.scores: dict[str, float] = dict(map(json.loads, lines))

    def score(self, key: str, evaluate: Callable[[], float]) -> float:
        if key not in self.scores:
            self.scores[key] = evaluate()
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, self.scores[key]]) + "\n")
        return self.scores[key]


def real_tasks(data: Path, cache_folder: Path) -> list[Task]:
    """The twelve real tasks: the mean loss of three folds, errors of classes or 1 − R²."""

    def task(model: str, name: str, kept_out: bool) -> Task:
        space, options = MODELS[model]
        kept = KeptScores(cache_folder / f"{model}-{name}.jsonl")

        def loss(trial: Trial) -> float:
            learner = space(trial, **options)

            def evaluate() -> float:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    scores = model_selection.cross_val_score(learner, *table(name, data), cv=3)
                return float(1.0 - np.clip(scores, -1.0, None).mean())

            return kept.score(json.dumps(trial.params, sort_keys=True), evaluate)

        return Task(f"{model} on {name}", loss, kept_out)

    return [task(*of) for of in REAL]


def bbob_tasks(dimensions: int, functions: list[int], instance: int = 1) -> list[Task]:
    """Functions of BBOB (Hansen and others 2009), less their minimum: the loss is the regret."""
    import cocoex

    def task(number: int) -> Task:
        options = f"function_indices:{number} dimensions:{dimensions} instance_indices:{instance}"
        problem = cocoex.Suite("bbob", "", options)[0]
        # The library tells a function's minimum only by a file of where it lies.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            problem._best_parameter("print")
            minimum = problem(np.loadtxt("._bbob_problem_best_parameter.txt"))

        def loss(trial: Trial) -> float:
            x = [trial.suggest_float(f"x{k}", -5.0, 5.0) for k in range(dimensions)]
            return float(problem(x) - minimum)

        return Task(f"f{number} in {dimensions} dimensions", loss)

    return [task(number) for number in functions]
