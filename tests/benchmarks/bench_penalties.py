"""Penalty learning against scikit-learn's searches: times as ratios, and test accuracy.

One process, one BLAS thread, CPU seconds. Ours is one run of a learner on the prepared arrays, the
building of the loss included; theirs is GridSearchCV(LogisticRegression()) or LogisticRegressionCV
over C = 2^k, k = −10 … 10, 5 folds, and RidgeCV over the same grid. Small runs of ours are repeated
and the median is taken.

    python tests/benchmarks/bench_penalties.py [--data DIR] [--seeds N] [--quick] [NAME …]
        [--files PATH[:TARGET] …]
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import own_files

from core.losses import build_loss, parameter_groups
from core.losses.fitted_estimator import as_estimator
from core.penalties.penalty_problem import PenaltyProblem
from core.penalties.recommendation import recommend_update
from core.reproduction.papers import FOO_SPEED
from core.tuning.strategies.registry import STRATEGIES

GRID = 2.0 ** np.arange(-10, 11)
FILES = {
    "heart": "heart_scale.libsvm",
    "australian": "australian_scale.libsvm",
    "breast-cancer": "breast-cancer_scale.libsvm",
    "diabetes": "diabetes_scale.libsvm",
    "ionosphere": "ionosphere_scale.libsvm",
    "splice": "splice.libsvm",
    "svmguide1": "svmguide1.libsvm",
    "a1a": "a1a.libsvm",
    "mushrooms": "mushrooms.libsvm",
    "iris": "iris.scale.libsvm",
    "wine": "wine.scale.libsvm",
    "glass": "glass.scale.libsvm",
    "segment": "segment.scale.libsvm",
    "dna": "dna.scale.libsvm",
    "satimage": "satimage.scale.libsvm",
    "letter": "letter.scale.libsvm",
    "mnist": "mnist_first6000.libsvm.gz",
}
QUICK_ROWS = 1500


@dataclass(frozen=True)
class Comparison:
    """One file: seconds of each side, and test accuracies over the seeds."""

    name: str
    shape: str
    mm: float
    recommended: str
    recommended_seconds: float
    grid: float
    cv: float
    ours: list[float]
    theirs: list[float]


def cpu_seconds(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The median CPU seconds of a call, and its last result."""
    taken, result = [], None
    for _ in range(repeats):
        begin = time.process_time()
        result = work()
        taken.append(time.process_time() - begin)
    return statistics.median(taken), result


def learn(name: str, X: np.ndarray, y: np.ndarray, kind: str) -> tuple[Any, Any]:
    """The loss and the last step of a learner with one penalty."""
    loss = build_loss(kind, X, y)
    step = None
    for step in STRATEGIES[name].make(PenaltyProblem(loss, parameter_groups(loss))):  # noqa: B007
        pass
    return loss, step


def read(folder: Path, name: str, rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """A file's dense features and labels, thinned to so many rows."""
    X, y = load_svmlight_file(str(folder / FILES[name]))
    if rows is not None and len(y) > rows:
        keep = np.random.default_rng(0).permutation(len(y))[:rows]
        X, y = X[keep], y[keep]
    return X.toarray(), y


def prepared(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Train and test part, 30 % held out, standardized."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def grid_search(X: np.ndarray, y: np.ndarray) -> GridSearchCV:
    """scikit-learn's grid search with the default solver."""
    return GridSearchCV(LogisticRegression(), {"C": GRID}, cv=5).fit(X, y)


def logistic_cv(X: np.ndarray, y: np.ndarray) -> LogisticRegressionCV:
    """scikit-learn's warm-started path search."""
    extra = (
        {"use_legacy_attributes": False}
        if "use_legacy_attributes" in LogisticRegressionCV().get_params()
        else {}
    )
    return LogisticRegressionCV(Cs=GRID, cv=5, scoring="accuracy", **extra).fit(X, y)


def compare(name: str, X: np.ndarray, y: np.ndarray, seeds: int) -> Comparison:
    """Times at the first seed, accuracies over all."""
    kind = "logistic" if len(np.unique(y)) == 2 else "multinomial"
    ours, theirs, times = [], [], {}
    for seed in range(seeds):
        A, A_test, b, b_test = prepared(X, y, seed)
        loss = build_loss(kind, A, b)
        size = int((parameter_groups(loss) >= 0).sum())
        chosen = recommend_update(size, len(b), len(np.unique(y))).strategy
        repeats = 7 if A.size < 2e5 else 3
        seconds, (loss, step) = cpu_seconds(lambda: learn(chosen, A, b, kind), repeats)  # noqa: B023
        ours.append(as_estimator(loss, step.w).score(A_test, b_test))
        grid, search = cpu_seconds(lambda: grid_search(A, b))  # noqa: B023
        theirs.append(search.score(A_test, b_test))
        if seed == 0:
            mm, _ = cpu_seconds(lambda: learn("mm", A, b, kind), repeats)  # noqa: B023
            cv, _ = cpu_seconds(lambda: logistic_cv(A, b))  # noqa: B023
            times = {
                "shape": f"{A.shape[0]} × {A.shape[1]}, {len(np.unique(y))}",
                "mm": mm,
                "recommended": chosen,
                "recommended_seconds": seconds,
                "grid": grid,
                "cv": cv,
            }
    return Comparison(name=name, ours=ours, theirs=theirs, **times)


def report(row: Comparison) -> None:
    """One line of the table."""
    difference = 100 * (np.mean(row.ours) - np.mean(row.theirs))
    print(
        f"{row.name:14s} {row.shape:16s} {1e3 * row.mm:9.2f} ms"
        f" {row.grid / row.mm:8.1f} {row.cv / row.mm:8.1f}"
        f"   {row.recommended:9s}{row.grid / row.recommended_seconds:8.1f}"
        f" {100 * np.mean(row.ours):7.2f} {100 * np.mean(row.theirs):7.2f} {difference:+6.2f}",
        flush=True,
    )


def files(folder: Path, names: list[str], seeds: int, quick: bool, own: list[str]) -> None:
    """The table over the files that the folder holds, or over a person's own."""
    print(
        "file           rows × columns, K       mm     grid/mm    cv/mm   recommended"
        "  grid/it  ours %  grid %  points"
    )
    rows = []
    for name in own or names:
        if own:
            X, y, numbers = own_files.arrays(name)
            name = own_files.name_of(name)
            if numbers:
                print(f"{name:14s} has numbers to predict; bench_recommended.py compares those")
                continue
        elif not (folder / FILES[name]).exists():
            print(f"{name:14s} not in {folder}")
            continue
        else:
            X, y = read(folder, name, QUICK_ROWS if quick else None)
        big = X.size > 1e6 or len(np.unique(y)) > 20
        rows.append(compare(name, X, y, 1 if big else seeds))
        report(rows[-1])
    if not rows:
        return
    print(
        f"median of grid/mm {statistics.median(r.grid / r.mm for r in rows):.0f} (aim 100),"
        f" of cv/mm {statistics.median(r.cv / r.mm for r in rows):.0f} (aim 40); mean difference in"
        f" accuracy {100 * np.mean([np.mean(r.ours) - np.mean(r.theirs) for r in rows]):+.2f}"
        " points (aim −0.5 or better)"
    )
    for classes, paper in (("two classes", FOO_SPEED["table 2"]), ("more", FOO_SPEED["table 3a"])):
        ratios = [r.grid / r.mm for r in rows if (r.shape.endswith(", 2")) == (classes[0] == "t")]
        if ratios:
            print(
                f"grid/mm, {classes}: {min(ratios):.0f} to {max(ratios):.0f}; Foo 2009:"
                f" {paper[0]:g} to {paper[1]:g}"
            )


def generated(classes: int, quick: bool) -> None:
    """20,000 × 200 with known coefficients."""
    rows, columns = (5000, 100) if quick else (20000, 200)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    scores = X @ (0.15 * rng.standard_normal((columns, classes)))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    kind = "logistic" if classes == 2 else "multinomial"
    mm, _ = cpu_seconds(lambda: learn("mm", X, y, kind), 3)
    grid, _ = cpu_seconds(lambda: grid_search(X, y))
    cv, _ = cpu_seconds(lambda: logistic_cv(X, y))
    aim = {2: "40", 5: "12"}[classes]
    print(
        f"generated {rows} × {columns}, {classes} classes: mm {1e3 * mm:.0f} ms,"
        f" grid/mm {grid / mm:.1f} (aim {aim}), cv/mm {cv / mm:.1f}",
        flush=True,
    )


def linear() -> None:
    """A linear model beside one XᵀX and RidgeCV."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20000, 200))
    y = X @ rng.standard_normal(200) + rng.standard_normal(20000)
    square, _ = cpu_seconds(lambda: X.T @ X, 5)
    mm, _ = cpu_seconds(lambda: learn("mm", X, y, "linear"), 5)
    ridge, _ = cpu_seconds(lambda: RidgeCV(GRID, cv=5).fit(X, y))
    quick_ridge, _ = cpu_seconds(lambda: RidgeCV(GRID).fit(X, y))
    print(
        f"linear 20000 × 200: mm {1e3 * mm:.1f} ms, mm/XᵀX {mm / square:.2f} (aim 3 or less),"
        f" RidgeCV(leave one out)/mm {quick_ridge / mm:.0f}, RidgeCV(5 folds)/mm {ridge / mm:.0f}"
        " (aim 10)",
        flush=True,
    )


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="files to compare (all by default)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="at most 1,500 rows of each file")
    own_files.add_to(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    if not given.files:
        linear()
        for classes in (2, 5):
            generated(classes, given.quick)
    with own_files.refusing(parser):
        files(given.data, given.names or list(FILES), given.seeds, given.quick, given.files)


if __name__ == "__main__":
    main()
