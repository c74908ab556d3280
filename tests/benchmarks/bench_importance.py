"""Which columns matter, beside scikit-learn's permutation_importance on the same fitted model.

Theirs shuffles every row of every column, without an interval. Ours takes as many rows as fit into
its seconds (the column "rows"), with intervals, and says how far it is on the way. With --files
the rows are those that a run on these files holds out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import own_files
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.metrics import get_scorer

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from core.tuning.why.column_importance import importance
from core.tuning.why.tested_model import fit_tested_model

THEIRS = {
    "accuracy": "accuracy",
    "auc": "roc_auc",
    "balanced_accuracy": "balanced_accuracy",
    "r2": "r2",
}


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


def made(folder: Path, rows: int, width: int) -> DataPlan:
    """Files of 3,000 rows to train on and so many to test on."""
    train, test = folder / "train.csv", folder / "test.csv"
    write(train, 3000, width, 0)
    write(test, rows, width, 1)
    return DataPlan(str(train), test_file=str(test))


def named(given: str) -> DataPlan:
    """A person's own file, rows of it held out."""
    path, target = own_files.divided(given)
    return DataPlan(path, target=target)


def rows_of(data: DataPlan, models: list[str], metrics: list[str]) -> list[tuple[str, str]]:
    """(model, metric) of the file's task; r2, and linear for logistic, where it predicts numbers.

    Raises:
        UnusableError: the file is no table to predict a column of.
    """
    dataset = read_data(data)
    own_files.refuse_other_tasks(dataset, data.file)
    if dataset.task == "regression":
        return [("linear" if model == "logistic" else model, "r2") for model in models]
    kept = [metric for metric in metrics if dataset.task == "binary" or metric != "auc"]
    return [(model, metric) for model in models for metric in kept]


def measure(folder: Path, data: DataPlan, model: str, metric: str, theirs: bool) -> str:
    """One line of the table."""
    plan = Plan(data, model, "random", trials=2, folds=2, metric=metric, refit=False)
    dataset = read_data(data)
    run = RunFolder.create(plan, root=folder)
    for _ in tune(plan, dataset, folder=run):
        pass
    run.close()
    judged = fit_tested_model(run, dataset)
    begun = time.perf_counter()
    parts, first = [], 0.0
    for part in importance(judged):
        parts.append(part)
        first = first or time.perf_counter() - begun
    ours = time.perf_counter() - begun
    line = f"{model:10} {metric:18} {parts[-1]['rows']:8,} {ours:7.1f} {first:7.1f} {len(parts):5}"
    if theirs:
        (part,) = judged.folds
        labels = np.asarray(part.y)
        if metric != "r2" and part.pipeline.classes_.dtype.kind not in "iu":
            labels = np.asarray(judged.dataset.classes)[part.y]
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
    own_files.add_to(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, own_files.refusing(parser):
        if given.files:
            tables = {own_files.name_of(file): named(file) for file in given.files}
        else:
            title = f"{given.rows:,} test rows of {given.columns} columns"
            tables = {title: made(Path(place), given.rows, given.columns)}
        for title, data in tables.items():
            print(title)
            print("model      metric                 rows   ours s first s  told  theirs s")
            for model, metric in rows_of(data, given.models, given.metrics):
                print(measure(Path(place), data, model, metric, given.theirs), flush=True)


if __name__ == "__main__":
    main()
