"""The recommended penalty learner against grid search, on files, on one-hot tables, on made ones.

For every table and split: the test log loss (classes) or R² (numbers) of the learner that
`recommend_update` names, of scikit-learn's 5-fold GridSearchCV over C = 2^k, k = −10 … 10 (scored
by log loss or R², refitted on all training rows), and of knowing nothing (class shares, mean). All
three see the same standardized arrays. A family of tables passes where the mean shortfall behind
the grid is at most its paired standard error, and where no table ends behind knowing nothing.

With --speed: of whole files, how many times loo's processor seconds the grid search and scikit-
learn's LogisticRegressionCV (the same grid, newton-cholesky) take; of generated tables of two to
ten classes, processor seconds and log losses on fresh rows of loo (the recommended learner), mm,
the evidence and LogisticRegressionCV (11 values × 5).

    python tests/benchmarks/bench_recommended.py [--data DIR] [--splits N] [--families NAME …]
    python tests/benchmarks/bench_recommended.py --speed
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import own_files
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from core.losses import build_loss, parameter_groups
from core.losses.registry import as_estimator
from core.penalties.penalty_problem import PenaltyProblem
from core.penalties.recommendation import recommend_update
from core.tuning.strategies.registry import STRATEGIES

ROOT = Path(__file__).resolve().parents[2]
GRID = 2.0 ** np.arange(-10, 11)
CLASSES = {
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
NUMBERS = {
    name: f"{name}_scale.libsvm" for name in ("abalone", "bodyfat", "housing", "mg", "mpg", "pyrim")
}
MOST_ROWS = 1500  # of a file
SPEED_FILES = 9  # of those above, all of two classes
BINS = 4
# Rows, columns and the share of columns that count.
MADE = (
    (60, 6, 1.0),
    (60, 30, 0.1),
    (60, 60, 1.0),
    (60, 300, 0.02),
    (100, 10, 0.3),
    (100, 100, 0.05),
    (100, 500, 1.0),
    (200, 20, 1.0),
    (200, 200, 0.02),
    (200, 1000, 0.01),
    (400, 40, 0.1),
    (400, 800, 0.01),
    (400, 2000, 1.0),
    (1000, 100, 1.0),
    (1000, 1000, 0.01),
    (1000, 3000, 0.003),
    (2000, 200, 0.05),
    (2000, 2000, 1.0),
    (5000, 500, 0.02),
    (5000, 1000, 1.0),
)


# Rows, columns, classes and the density of a table; dense where it is 1.
SPEED = (
    (300, 20, 3, 1.0),
    (300, 20, 10, 1.0),
    (300, 500, 3, 1.0),
    (300, 1000, 5, 1.0),
    (1000, 100, 2, 1.0),
    (1000, 100, 10, 1.0),
    (2000, 1000, 5, 1.0),
    (5000, 50, 2, 1.0),
    (5000, 50, 5, 1.0),
    (10_000, 100, 10, 1.0),
    (20_000, 20, 10, 1.0),
    (20_000, 100, 3, 1.0),
    (20_000, 300, 2, 1.0),
    (5000, 1000, 5, 0.02),
    (20_000, 1000, 2, 0.01),
)
FRESH_ROWS = 2000


@dataclass(frozen=True)
class Table:
    """A table to compare on; ``numbers`` where the target is one."""

    family: str
    name: str
    X: np.ndarray
    y: np.ndarray
    numbers: bool


@dataclass(frozen=True)
class Row:
    """One split: scores (higher is better) and seconds of either side."""

    learner: str
    ours: float
    grid: float
    nothing: float
    seconds: float
    grid_seconds: float


def files(
    folder: Path, names: dict[str, str], numbers: bool, one_hot: bool, most_rows: int = MOST_ROWS
) -> Iterator[Table]:
    """Files of a folder, or their one-hot versions with every level kept."""
    family = f"{'one-hot' if one_hot else 'files'}, {'numbers' if numbers else 'classes'}"
    for name, file in names.items():
        if not (folder / file).exists():
            print(f"{name} is not in {folder}")
            continue
        X, y = load_svmlight_file(str(folder / file))
        rows = np.random.default_rng(0).permutation(len(y))[:most_rows]
        X, y = X[rows].toarray(), y[rows]
        if one_hot and X.shape[1] > 200:
            continue
        yield Table(family, name, _levels(X) if one_hot else X, y, numbers)


def _levels(X: np.ndarray) -> np.ndarray:
    """Every column as one column a level: few values as they are, many in quantiles."""
    parts = []
    for column in X.T:
        values = np.unique(column)
        if len(values) > 2 * BINS:
            cut = KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf")
            column = cut.fit_transform(column[:, None])[:, 0]
            values = np.unique(column)
        parts.append(column[:, None] == values)
    return np.hstack(parts).astype(float)


def made() -> Iterator[Table]:
    """Generated tables of known shape: every other one with numbers to predict."""
    for at, (rows, columns, share) in enumerate(MADE):
        rng = np.random.default_rng(at)
        tested = rows + 2000
        X = rng.standard_normal((tested, columns))
        count = max(1, round(share * columns))
        w = np.zeros(columns)
        w[rng.permutation(columns)[:count]] = rng.standard_normal(count) * 2.0 / np.sqrt(count)
        signal = X @ w
        truth = "dense" if share == 1.0 else "sparse"
        for numbers in (True, False):
            noise = rng.standard_normal(tested) if numbers else rng.logistic(size=tested)
            y = signal + noise if numbers else (signal + noise > 0).astype(float)
            family = f"made {truth}, {'numbers' if numbers else 'classes'}"
            yield Table(family, f"{rows} × {columns}", X, y, numbers)


def compare(table: Table, seed: int) -> Row:
    test = 2000 if table.family.startswith("made") else 0.3
    stratify = None if table.numbers else table.y
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=test, random_state=seed, stratify=stratify
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    begin = time.process_time()
    name, model = learn(X, y, table.numbers)
    middle = time.process_time()
    peer = searched(X, y, table.numbers)
    end = time.process_time()
    nothing = DummyRegressor() if table.numbers else DummyClassifier(strategy="prior")
    scores = [
        score(fitted, X_test, y_test, table.numbers) for fitted in (model, peer, nothing.fit(X, y))
    ]
    return Row(name, *scores, middle - begin, end - middle)


def learn(X: np.ndarray, y: np.ndarray, numbers: bool) -> tuple[str, Any]:
    classes = 0 if numbers else len(np.unique(y))
    kind = "linear" if numbers else "logistic" if classes == 2 else "multinomial"
    target = 10.0 * (y - y.mean()) / y.std() if numbers else y
    loss = build_loss(kind, X, target)
    groups = parameter_groups(loss)
    name = recommend_update(int((groups >= 0).sum()), len(y), classes).strategy
    step = None
    for step in STRATEGIES[name].make(PenaltyProblem(loss, groups)):  # noqa: B007
        pass
    model = as_estimator(loss, step.w)
    if numbers:
        model.coef_ = model.coef_ * y.std() / 10.0
        model.intercept_ = model.intercept_ * y.std() / 10.0 + y.mean()
    return name, model


def several_classes(rows: int, columns: int, classes: int, density: float) -> tuple[Any, Any]:
    """Standard normal entries, scaled to unit variance, and classes of scores of variance four."""
    rng = np.random.default_rng(0)
    count = rows + FRESH_ROWS
    if density < 1.0:
        X = sparse.random(count, columns, density, "csr", rng=rng, data_rvs=rng.standard_normal)
        X = X / np.sqrt(density)
    else:
        X = rng.standard_normal((count, columns))
    W = 2.0 / np.sqrt(columns) * rng.standard_normal((columns, classes))
    W *= np.sqrt(0.5) if classes == 2 else 1.0
    Z = X @ W
    return X, (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)


def compare_speed() -> None:
    """A line a table: seconds of loo, and those of the others over them; then the log losses."""
    print("rows × columns, classes, density    loo s      mm/loo evidence/loo cv/loo   log losses")
    for rows, columns, classes, density in SPEED:
        X, y = several_classes(rows, columns, classes, density)
        kind = "logistic" if classes == 2 else "multinomial"
        seconds, losses = [], []
        for name in ("loo", "mm", "evidence"):
            for _ in range(2):  # the first one warms up
                begin = time.process_time()
                loss = build_loss(kind, X[:rows], y[:rows])
                *_, last = STRATEGIES[name].make(PenaltyProblem(loss, parameter_groups(loss)))
                taken = time.process_time() - begin
            seconds.append(taken)
            fresh = loss.for_data(X[rows:], y[rows:]).point_at(last.w)
            losses.append(fresh.value / FRESH_ROWS)
        begin = time.process_time()
        peer = LogisticRegressionCV(Cs=11, cv=5, scoring="neg_log_loss").fit(X[:rows], y[:rows])
        seconds.append(time.process_time() - begin)
        losses.append(-score(peer, X[rows:], y[rows:], numbers=False))
        ratios = "".join(f"{taken / seconds[0]:10.2f}" for taken in seconds[1:])
        table = f"{rows:,} × {columns:,}, {classes}, {density:g}"
        print(f"{table:32s}{seconds[0]:9.3f}{ratios}   " + " ".join(f"{x:.4f}" for x in losses))


def compare_file_speed(folder: Path) -> None:
    """A line a file: seconds of loo, and those of the two searches over them."""
    rows = []
    for table in files(folder, dict(list(CLASSES.items())[:SPEED_FILES]), False, False, 10**6):
        X, y = StandardScaler().fit_transform(table.X), table.y
        peer = LogisticRegressionCV(Cs=GRID, cv=5, scoring="neg_log_loss", solver="newton-cholesky")
        own, grid = partial(learn, X, y, False), partial(searched, X, y, False)
        own()  # the first one warms up
        taken = []
        for run in (own, grid, partial(peer.fit, X, y)):
            begin = time.process_time()
            run()
            taken.append(time.process_time() - begin)
        rows.append([seconds / taken[0] for seconds in taken[1:]])
        print(
            f"{table.name:16s}{taken[0]:9.4f} s{rows[-1][0]:10.1f}{rows[-1][1]:10.1f}", flush=True
        )
    print("median          ", *np.median(rows, axis=0).round(1))


def searched(X: np.ndarray, y: np.ndarray, numbers: bool) -> GridSearchCV:
    if numbers:
        return GridSearchCV(Ridge(), {"alpha": 1.0 / GRID}, cv=5).fit(X, y)
    model = LogisticRegression(max_iter=300)
    return GridSearchCV(model, {"C": GRID}, cv=5, scoring="neg_log_loss").fit(X, y)


def score(model: Any, X: np.ndarray, y: np.ndarray, numbers: bool) -> float:
    if numbers:
        return float(r2_score(y, model.predict(X)))
    return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def verdict(family: str, rows: dict[str, list[Row]]) -> bool:
    """A line on a family; whether it passes."""
    gaps = np.array([np.mean([r.ours - r.grid for r in own]) for own in rows.values()])
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else 0.0
    behind = [
        name for name, own in rows.items() if np.mean([r.ours - r.nothing for r in own]) < -1e-3
    ]
    ratio = np.median([np.mean([r.grid_seconds / r.seconds for r in own]) for own in rows.values()])
    passes = gaps.mean() >= -error and not behind
    print(
        f"== {family}: {gaps.mean():+.4f} ± {error:.4f} over {len(gaps)} tables, grid/it"
        f" {ratio:.0f}, behind nothing: {', '.join(behind) or 'none'}: "
        + ("passes" if passes else "FAILS"),
        flush=True,
    )
    return bool(passes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--families", nargs="*", default=["files", "one-hot", "made"])
    parser.add_argument("--speed", action="store_true", help="seconds of several classes alone")
    own_files.add_to(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    if given.speed:
        compare_file_speed(given.data)
        compare_speed()
        return
    print(f"{'table':22s} {'family':22s} learner      ours     grid  nothing  grid/it")
    found: dict[str, dict[str, list[Row]]] = {}
    with own_files.refusing(parser):
        chosen = list(tables(given)) if given.files else tables(given)
    for table in chosen:
        rows = [compare(table, seed) for seed in range(given.splits)]
        found.setdefault(table.family, {})[table.name] = rows
        ours, grid, nothing = (
            np.mean([getattr(r, key) for r in rows]) for key in ("ours", "grid", "nothing")
        )
        ratio = np.mean([r.grid_seconds / r.seconds for r in rows])
        print(
            f"{table.name:22s} {table.family:22s} {rows[0].learner:9s}"
            f" {ours:8.4f} {grid:8.4f} {nothing:8.4f} {ratio:8.1f}",
            flush=True,
        )
    passed = [verdict(family, rows) for family, rows in found.items()]
    sys.exit(not all(passed))


def tables(given: argparse.Namespace) -> Iterator[Table]:
    """A person's own files, or the tables of the families that were asked for."""
    for one in given.files:
        X, y, numbers = own_files.arrays(one)
        yield Table("own files", own_files.name_of(one), X, y, numbers)
    if given.files:
        return
    for kind in given.families:
        if kind == "made":
            yield from made()
            continue
        for names, numbers in ((CLASSES, False), (NUMBERS, True)):
            yield from files(given.data, names, numbers, kind == "one-hot")


if __name__ == "__main__":
    main()
