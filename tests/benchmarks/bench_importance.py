"""Which columns matter, beside scikit-learn's permutation_importance on the same fitted model.

Theirs shuffles every row of every column, without an interval. Ours takes as many rows as fit into
its seconds (the column "rows"), with intervals, and says how far it is on the way.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.metrics import get_scorer

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from core.tuning.why.importance import importance
from core.tuning.why.judged import judged_model

THEIRS = {"accuracy": "accuracy", "auc": "roc_auc", "balanced_accuracy": "balanced_accuracy"}


def write(path: Path, rows: int, width: int, seed: int) -> None:
    """Two classes that depend on a third of the columns, half of those linearly."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, width)).round(4)
    third = max(2, width // 3)
    score = X[:, : third // 2].sum(axis=1) + (X[:, third // 2 : third] ** 2 - 1).sum(axis=1)
    table = pd.DataFrame(X, columns=[f"x{at}" for at in range(width)])
    noise = rng.standard_normal(rows) * np.sqrt(third)
    table["y"] = np.where(score + noise > 0, "yes", "no")
    table.to_csv(path, index=False)


def measure(folder: Path, model: str, rows: int, width: int, metric: str, theirs: bool) -> str:
    """One line of the table."""
    train, test = folder / "train.csv", folder / "test.csv"
    if not test.exists():
        write(train, 3000, width, 0)
        write(test, rows, width, 1)
    data = DataPlan(str(train), test_file=str(test))
    plan = Plan(data, model, "random", trials=2, folds=2, metric=metric, refit=False)
    dataset = read_data(data)
    run = RunFolder.create(plan, root=folder)
    for _ in tune(plan, dataset, folder=run):
        pass
    run.close()
    judged = judged_model(run, dataset)
    begun = time.perf_counter()
    parts, first = [], 0.0
    for part in importance(judged):
        parts.append(part)
        first = first or time.perf_counter() - begun
    ours = time.perf_counter() - begun
    line = f"{model:10} {metric:18} {parts[-1]['rows']:8,} {ours:7.1f} {first:7.1f} {len(parts):5}"
    if theirs:
        (part,) = judged.parts
        y = np.asarray(judged.dataset.classes)[part.y]
        labels = {True: np.asarray(part.y), False: y}[part.pipeline.classes_.dtype.kind in "iu"]
        begun = time.perf_counter()
        scorer = get_scorer(THEIRS[metric])
        permutation_importance(part.pipeline, part.X, labels, scoring=scorer, n_repeats=5)
        line += f" {time.perf_counter() - begun:9.1f}"
    return line


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--models", nargs="*", default=["logistic", "boosting", "forest", "knn"])
    parser.add_argument("--metrics", nargs="*", default=["accuracy", "auc"])
    parser.add_argument("--theirs", action="store_true", help="beside scikit-learn, which is slow")
    given = parser.parse_args()
    print(f"{given.rows:,} test rows of {given.columns} columns")
    print("model      metric                 rows   ours s first s  told  theirs s")
    with tempfile.TemporaryDirectory() as place:
        for model in given.models:
            for metric in given.metrics:
                print(
                    measure(Path(place), model, given.rows, given.columns, metric, given.theirs),
                    flush=True,
                )


if __name__ == "__main__":
    main()
