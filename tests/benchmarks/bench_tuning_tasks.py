"""How close 40 trials come to the best score on tuning tasks of real models, sampler by sampler.

A task is a model of the registry with its own search space, a dataset of 300 to 500 rows and a
score from two folds (R², −log loss or accuracy). The score is tabulated once on a regular grid over
the unit cube of the space (whole numbers at their own places, choices each with a grid of its own)
by real fits; boosting and forests are fitted with most trees once, and the table's entries for
fewer trees are the scores of the first trees. Between the grid's places the score is interpolated
linearly, so that every sampler sees the same continuous function, an evaluation costs nothing, and
the largest score there is known: it is the largest entry of the table. Simple regret is its
distance from the best score of a run.

With --fits each setting that a sampler asks for is fitted instead, nothing is interpolated, and
the regret is against the best score that any run found.

Printed for each task: the sampler's median regret over the seeds, its quartiles, and the standard
error of the median by 1,000 bootstrap draws. Every sampler gets the same seeds, and as first trial
the default setting with --default. One BLAS thread. GPSampler needs torch and is left out without
it.

    python tests/benchmarks/bench_tuning_tasks.py FOLDER [--tasks NAME …] [--samplers NAME …]
        [--seeds 20] [--trials 40] [--fits] [--default]

FOLDER keeps the tables, some 15 minutes of one core in all. The tasks in KEPT_OUT were looked at
only after every choice in the samplers had been made.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import importlib.util
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.samplers import RandomSampler as OptunaRandomSampler
from scipy.interpolate import RegularGridInterpolator
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_moons,
)
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from core.estimators.registry import MODELS
from core.samplers.bayes import GpSampler, HybridSampler
from core.samplers.search_space import distributions
from core.space import Axis, Setting

SIZES = {"boosting": "max_iter", "forest": "n_estimators"}  # fewer trees are the first of many
Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Task:
    """A model to tune on a dataset.

    Attributes:
        name: of the table's file, too.
        model: of the registry.
        kind: regression, binary or multiclass.
        metric: r2, log loss or accuracy.
        data: gives X and y.
        levels: how many places of the grid each number has, in the order of the space.
        folds: how many folds are scored, of two.
    """

    name: str
    model: str
    kind: str
    metric: str
    data: Callable[[], Data]
    levels: tuple[int, ...]
    folds: int = 2

    @property
    def space(self) -> tuple[Axis, ...]:
        """The model's own search space."""
        return MODELS[self.model].space_of(self.kind)


def cancer() -> Data:
    """400 rows of scikit-learn's breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:400], y[:400]


def digits() -> Data:
    """500 of scikit-learn's digits."""
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


def clusters() -> Data:
    """500 rows of three classes in two clusters each, one label in twenty wrong."""
    return make_classification(
        500,
        12,
        n_informative=6,
        n_redundant=2,
        n_classes=3,
        n_clusters_per_class=2,
        flip_y=0.05,
        random_state=0,
    )


BOOSTED, NETWORK = (9, 12, 6, 6), (6, 4, 4, 9)
TASKS = (
    Task(
        "boosting, Friedman 1",
        *("boosting", "regression", "r2"),
        lambda: make_friedman1(400, noise=0.3, random_state=0),
        BOOSTED,
    ),
    Task("boosting, cancer", "boosting", "binary", "log loss", cancer, BOOSTED),
    Task(
        "forest, diabetes",
        *("forest", "regression", "r2"),
        lambda: load_diabetes(return_X_y=True),
        (16, 0, 16),
    ),
    Task("forest, digits", "forest", "multiclass", "log loss", digits, (16, 0, 16)),
    Task("svm, clusters", "svm", "multiclass", "accuracy", clusters, (21, 21)),
    Task(
        "svm, diabetes",
        *("svm", "regression", "r2"),
        lambda: load_diabetes(return_X_y=True),
        (13, 13, 9),
    ),
    Task("mlp, cancer", "mlp", "binary", "log loss", cancer, NETWORK, 1),
    Task(
        "mlp, Friedman 1",
        *("mlp", "regression", "r2"),
        lambda: make_friedman1(400, noise=0.3, random_state=0),
        NETWORK,
        1,
    ),
)
KEPT_OUT = (
    Task(
        "boosting, Friedman 3",
        *("boosting", "regression", "r2"),
        lambda: make_friedman3(400, noise=0.1, random_state=1),
        BOOSTED,
    ),
    Task(
        "mlp, Friedman 2",
        *("mlp", "regression", "r2"),
        lambda: make_friedman2(400, noise=20.0, random_state=2),
        NETWORK,
        1,
    ),
    Task(
        "svm, moons",
        *("svm", "binary", "accuracy"),
        lambda: make_moons(400, noise=0.35, random_state=3),
        (21, 21),
    ),
)
SAMPLERS: dict[str, Callable[[tuple[Axis, ...], int], BaseSampler]] = {
    "gp": lambda space, seed: GpSampler(space, seed=seed),
    "hybrid": lambda space, seed: HybridSampler(space, seed=seed),
    "tpe": lambda space, seed: TPESampler(seed=seed),
    "GPSampler": lambda space, seed: GPSampler(seed=seed),
    "random": lambda space, seed: OptunaRandomSampler(seed=seed),
}


def folds_of(task: Task) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """(training X, training y, test X, test y) of each fold that is scored; scaled where needed."""
    X, y = task.data()
    kind = KFold if task.kind == "regression" else StratifiedKFold
    found = []
    for fit, test in itertools.islice(
        kind(2, shuffle=True, random_state=0).split(X, y), task.folds
    ):
        scale = StandardScaler().fit(X[fit])
        A, B = (
            (scale.transform(X[fit]), scale.transform(X[test]))
            if MODELS[task.model].scaled
            else (X[fit], X[test])
        )
        found.append((A, y[fit], B, y[test]))
    return found


def score_of(task: Task, y: np.ndarray, predicted: np.ndarray) -> float:
    """The score of predictions (class probabilities for the log loss); larger is better."""
    if task.metric == "log loss":
        return -float(log_loss(y, np.clip(predicted, 1e-3, 1.0)))
    return float((r2_score if task.metric == "r2" else accuracy_score)(y, predicted))


def predictions(task: Task, fitted: Any, X: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """What the first so many trees predict; of other models what they predict, once."""
    inner, back = getattr(fitted, "regressor_", fitted), lambda p: p
    if inner is not fitted:
        scaler = fitted.transformer_
        back = lambda p: scaler.inverse_transform(p.reshape(-1, 1)).ravel()  # noqa: E731
    proba = task.metric == "log loss"
    if not sizes:
        return [back(inner.predict_proba(X) if proba else inner.predict(X))]
    if task.model == "boosting":
        staged = (inner.staged_predict_proba if proba else inner.staged_predict)(X)
        wanted = set(sizes)
        return [back(np.array(p)) for k, p in enumerate(staged, start=1) if k in wanted]
    each = np.array(
        [tree.predict_proba(X) if proba else tree.predict(X) for tree in inner.estimators_]
    )
    totals = np.cumsum(each, axis=0)
    return [back(totals[size - 1] / size) for size in sizes]


def scores_of(task: Task, setting: Setting, folds: list[Any], sizes: list[int]) -> np.ndarray:
    """The mean score over the folds, for each number of trees."""
    scores = []
    for A, a, B, b in folds:
        fitted = MODELS[task.model].build(task.kind, setting, 0).fit(A, a)
        scores.append([score_of(task, b, p) for p in predictions(task, fitted, B, sizes)])
    return np.mean(scores, axis=0)


def places(axis: Axis, levels: int) -> list[Any]:
    """Values of an axis evenly over its unit interval, the ends of its range included."""
    if axis.kind == "choice":
        return list(axis.choices)
    low, high = axis.to_unit(axis.low)[0], axis.to_unit(axis.high)[0]
    return list(dict.fromkeys(axis.from_unit([u]) for u in np.linspace(low, high, levels)))


def table_of(task: Task, folder: Path) -> np.ndarray:
    """The scores on the grid, an axis of the array for each axis of the space; from the folder."""
    file = folder / (task.name.replace(", ", "_").replace(" ", "") + ".npy")
    if file.exists():
        return np.load(file)
    start, space = time.perf_counter(), task.space
    grid = [places(axis, levels) for axis, levels in zip(space, task.levels, strict=True)]
    folds = folds_of(task)
    names = [axis.name for axis in space]
    size = names.index(SIZES[task.model]) if task.model in SIZES else None
    sizes = [] if size is None else grid[size]
    table = np.empty([len(values) for values in grid])
    outer = [range(len(v)) if k != size else range(1) for k, v in enumerate(grid)]
    for at in itertools.product(*outer):
        setting = {name: values[k] for name, values, k in zip(names, grid, at, strict=True)}
        if size is None:
            table[at] = scores_of(task, setting, folds, sizes)[0]
        else:
            setting[names[size]] = sizes[-1]
            table[(*at[:size], slice(None), *at[size + 1 :])] = scores_of(
                task, setting, folds, sizes
            )
    folder.mkdir(parents=True, exist_ok=True)
    np.save(file, table)
    print(f"table of {task.name}: {time.perf_counter() - start:.0f} s", flush=True)
    return table


def interpolated(task: Task, table: np.ndarray) -> Callable[[Setting], float]:
    """The score of any setting: linear between the grid's places, exact for a choice."""
    space = task.space
    at: list[np.ndarray] = []
    for axis, levels in zip(space, task.levels, strict=True):
        values = places(axis, levels)
        units = range(len(values)) if axis.kind == "choice" else map(axis.to_unit, values)
        at.append(np.array(list(units), dtype=float).ravel())
    between = RegularGridInterpolator(at, table)

    def score(setting: Setting) -> float:
        point = [
            float(axis.choices.index(setting[axis.name]))
            if axis.kind == "choice"
            else axis.to_unit(setting[axis.name])[0]
            for axis in space
        ]
        return float(between(point)[0])

    return score


def fitted_scores(task: Task) -> Callable[[Setting], float]:
    """The score of any setting, by fits; each setting once."""
    folds = folds_of(task)
    known: dict[tuple[Any, ...], float] = {}

    def score(setting: Setting) -> float:
        key = tuple(setting.values())
        if key not in known:
            known[key] = float(scores_of(task, setting, folds, [])[0])
        return known[key]

    return score


def best_of_run(
    task: Task, score: Callable[[Setting], float], sampler: BaseSampler, trials: int, default: bool
) -> float:
    """The largest score that one run found."""
    study = optuna.create_study(sampler=sampler, direction="maximize")
    space = distributions(task.space)
    if default:
        study.enqueue_trial({axis.name: axis.default for axis in task.space})
    for _ in range(trials):
        trial = study.ask(space)
        study.tell(trial, score(trial.params))
    return study.best_value


def error_of_median(values: np.ndarray) -> float:
    """The standard deviation of the median over 1,000 bootstrap draws."""
    random = np.random.default_rng(0)
    drawn = random.choice(values, size=(1000, len(values)))
    return float(np.median(drawn, axis=1).std())


def measured(
    task: Task, given: argparse.Namespace, seconds: dict[str, float]
) -> Iterator[tuple[str, np.ndarray]]:
    """The regrets of every sampler on one task."""
    table = None if given.fits else table_of(task, given.folder)
    score = fitted_scores(task) if table is None else interpolated(task, table)
    best = {}
    for name in given.samplers:
        start = time.perf_counter()
        runs = (SAMPLERS[name](task.space, seed) for seed in range(given.seeds))
        found = [best_of_run(task, score, one, given.trials, given.default) for one in runs]
        best[name] = np.array(found)
        seconds[name] += time.perf_counter() - start
    largest = max(b.max() for b in best.values()) if table is None else table.max()
    yield from ((name, np.maximum(largest - found, 0.0)) for name, found in best.items())


def main() -> None:
    """Prints a line for every task and sampler."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    every = {task.name: task for task in (*TASKS, *KEPT_OUT)}
    reader = argparse.ArgumentParser()
    reader.add_argument("folder", type=Path)
    reader.add_argument("--tasks", nargs="+", choices=every, default=[t.name for t in TASKS])
    reader.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    reader.add_argument("--seeds", type=int, default=20)
    reader.add_argument("--trials", type=int, default=40)
    reader.add_argument("--fits", action="store_true")
    reader.add_argument("--default", action="store_true")
    given = reader.parse_args()
    if importlib.util.find_spec("torch") is None and "GPSampler" in given.samplers:
        given.samplers.remove("GPSampler")
        print("GPSampler is left out: it needs torch")
    seconds = dict.fromkeys(given.samplers, 0.0)
    print(f"simple regret after {given.trials} trials, {given.seeds} seeds")
    print(f"{'':>24}{'sampler':>12}{'median':>12}{'± error':>10}{'quartiles':>24}")
    for name in given.tasks:
        for sampler, regret in measured(every[name], given, seconds):
            low, middle, high = np.quantile(regret, [0.25, 0.5, 0.75])
            error, spread = error_of_median(regret), f"{low:.3g} to {high:.3g}"
            print(f"{name:>24}{sampler:>12}{middle:>12.3g}{error:>10.2g}{spread:>24}", flush=True)
    print("seconds: " + ", ".join(f"{name} {spent:.0f}" for name, spent in seconds.items()))


if __name__ == "__main__":
    main()
