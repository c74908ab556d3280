"""How close 50 trials come to the best score: our gp sampler beside GPSampler, TPE and random.

Simple regret is the distance of the best score of a run from the best there is: known for the four
test functions; for the two real tasks the best that any run of any sampler found. Every sampler
gets the same seeds; one BLAS thread.

    python tests/benchmarks/bench_regret.py [SEEDS] [SAMPLER …]
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import optuna
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.samplers import RandomSampler as OptunaRandomSampler
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from core.samplers.bayes import GpSampler, HybridSampler, VariableSampler
from core.samplers.search_space import distributions
from core.space import Axis, Setting

TRIALS = 50
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
SEEDS = 20


@dataclass(frozen=True)
class Problem:
    """Something to minimize: its axes, its function, and its smallest value where that is known."""

    name: str
    space: tuple[Axis, ...]
    function: Callable[[Setting], float]
    smallest: float | None


def numbers(count: int, low: float, high: float) -> tuple[Axis, ...]:
    """Real axes x0, x1 … of one range."""
    return tuple(Axis(f"x{k}", f"x{k}", "float", low, high) for k in range(count))


def branin(setting: Setting) -> float:
    """The Branin function."""
    x, y = setting["x"], setting["y"]
    bend = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return float(bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


def hartmann(A: list[list[float]], P: list[list[float]]) -> Callable[[Setting], float]:
    """A Hartmann function from its tables; P in units of 10⁻⁴."""
    weights, slopes, centres = np.array([1.0, 1.2, 3.0, 3.2]), np.array(A), 1e-4 * np.array(P)

    def function(setting: Setting) -> float:
        x = np.array(list(setting.values()))
        return -float(weights @ np.exp(-np.sum(slopes * (x - centres) ** 2, axis=1)))

    return function


def ackley(setting: Setting) -> float:
    """The Ackley function."""
    x = np.array(list(setting.values()))
    bowl = -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2)))
    return float(bowl - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e)


def svm(setting: Setting) -> float:
    """Error of a support vector machine on scikit-learn's breast cancer data, 3 folds."""
    X, y = CANCER
    model = make_pipeline(StandardScaler(), SVC(C=setting["C"], gamma=setting["gamma"]))
    return 1.0 - float(cross_val_score(model, X, y, cv=3).mean())


def svr(setting: Setting) -> float:
    """Unexplained variance of support vector regression on scikit-learn's diabetes data."""
    X, y = DIABETES
    model = make_pipeline(StandardScaler(), SVR(**setting))
    y = (y - y.mean()) / y.std()
    return 1.0 - float(cross_val_score(model, X, y, cv=3, scoring="r2").mean())


HARTMANN3 = hartmann(
    [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]],
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
)
HARTMANN6 = hartmann(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ],
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ],
)
PENALTY = Axis("C", "C", "float", 1e-3, 1e3, log=True)
WIDTH = Axis("gamma", "gamma", "float", 1e-5, 1e1, log=True)
PROBLEMS = (
    Problem(
        "Branin",
        (Axis("x", "x", "float", -5, 10), Axis("y", "y", "float", 0, 15)),
        branin,
        0.39788735772973816,
    ),
    Problem("Hartmann-3", numbers(3, 0, 1), HARTMANN3, -3.86278214782076),
    Problem("Hartmann-6", numbers(6, 0, 1), HARTMANN6, -3.32236801141551),
    Problem("Ackley-5", numbers(5, -32.768, 32.768), ackley, 0.0),
    Problem("SVM, cancer", (PENALTY, WIDTH), svm, None),
    Problem(
        "SVR, diabetes",
        (PENALTY, WIDTH, Axis("epsilon", "epsilon", "float", 1e-3, 1.0, log=True)),
        svr,
        None,
    ),
)
SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    "gp": lambda seed: GpSampler(seed=seed),
    "hybrid": lambda seed: HybridSampler(seed=seed),
    "variable": lambda seed: VariableSampler(seed=seed),
    "GPSampler": lambda seed: GPSampler(seed=seed),
    "TPE": lambda seed: TPESampler(seed=seed),
    "random": lambda seed: OptunaRandomSampler(seed=seed),
}


def best_of_run(problem: Problem, sampler: BaseSampler) -> float:
    """The smallest value that one run found."""
    study = optuna.create_study(sampler=sampler)
    space = distributions(problem.space)
    for _ in range(TRIALS):
        trial = study.ask(space)
        study.tell(trial, problem.function(trial.params))
    return study.best_value


def main() -> None:
    """Prints the median simple regret of every sampler on every problem."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    names = sys.argv[2:] or list(SAMPLERS)
    print(f"median simple regret after {TRIALS} trials, {seeds} seeds")
    print(f"{'':>14}" + "".join(f"{name:>12}" for name in names))
    seconds = dict.fromkeys(names, 0.0)
    for problem in PROBLEMS:
        best = {}
        for name in names:
            start = time.perf_counter()
            best[name] = [best_of_run(problem, SAMPLERS[name](seed)) for seed in range(seeds)]
            seconds[name] += time.perf_counter() - start
        smallest = problem.smallest
        if smallest is None:
            smallest = min(min(values) for values in best.values())
        row = [float(np.median(values)) - smallest for values in best.values()]
        print(f"{problem.name:>14}" + "".join(f"{regret:>12.3g}" for regret in row), flush=True)
    print(f"{'seconds':>14}" + "".join(f"{seconds[name]:>12.0f}" for name in names))


if __name__ == "__main__":
    main()
