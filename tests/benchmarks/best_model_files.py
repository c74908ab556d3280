"""The tables of bench_best_model.py: files, made ones, and their splits written to files.

A table is taken from the folder of datasets (those that its MANIFEST.csv calls regression, binary
or multiclass, as CSV where there is one, each once, a second file of test rows joined to it), from
scikit-learn, from a formula, or from a path. Everybody is given the same two files of a split: a
share of the rows to train on, the others (at most `MOST_TESTED`) to test on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from own_files import divided
from scipy import sparse
from sklearn import datasets
from sklearn.datasets import dump_svmlight_file, load_svmlight_files
from sklearn.model_selection import train_test_split

from core.tuning.plan import DataPlan
from core.tuning.problem import read_data

# No choice of the program may rest on these: not a default, not a threshold, not a weight.
HELD_OUT = ("segment", "abalone", "dna", "svmguide1", "mg", "splice", "wine")
TASKS = ("regression", "binary", "multiclass")
TRAINED, MOST_TESTED = 0.7, 5000


@dataclass(frozen=True)
class Pool:
    """All rows of a table.

    Attributes:
        task: regression, binary or multiclass.
        frame: of a CSV file, its target among the columns; None for a LIBSVM file.
        matrix: of a LIBSVM file, CSR; None for a CSV file.
        y: the target, numbers or text, shape (rows,).
        target: the target's column; "" for a LIBSVM file.
        train: how many rows train; None for a share of them.
    """

    task: str
    frame: pd.DataFrame | None
    matrix: Any
    y: np.ndarray
    target: str
    train: int | None = None

    @property
    def suffix(self) -> str:
        """The ending of its files."""
        return ".libsvm" if self.frame is None else ".csv"

    def write(self, rows: np.ndarray, path: Path) -> None:
        """Write some of the rows to a file."""
        if self.frame is not None:
            self.frame.iloc[rows].to_csv(path, index=False)
            return
        y = self.y[rows]
        whole = self.task != "regression" and bool((y == np.round(y)).all())
        dump_svmlight_file(
            self.matrix[rows], y.astype(int) if whole else y, str(path), zero_based=False
        )

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows to train on and those to test on; every class on both sides where it can be."""
        count = self.train or round(TRAINED * len(self.y))
        labels = None if self.task == "regression" else self.y
        if labels is not None:
            counts = np.unique(labels, return_counts=True)[1]
            if counts.min() < 2 or len(self.y) - count < len(counts):
                labels = None
        every = np.arange(len(self.y))
        train, test = train_test_split(every, train_size=count, random_state=seed, stratify=labels)
        return np.sort(train), np.sort(test[:MOST_TESTED])


@dataclass(frozen=True)
class Source:
    """Where a table comes from: its name, and how it is read."""

    name: str
    read: Callable[[], Pool]


@dataclass(frozen=True)
class Split:
    """One split of a table, as files.

    Attributes:
        nothing: what knowing nothing scores: the most frequent class, or the mean.
    """

    file: str
    number: int
    task: str
    target: str
    train: Path
    test: Path
    nothing: float


def split_of(name: str, pool: Pool, number: int, folder: Path) -> Split:
    """Write a split of a table into a folder."""
    parts = pool.split(number)
    paths = [folder / f"{name}-{number}-{part}{pool.suffix}" for part in ("train", "test")]
    for rows, path in zip(parts, paths, strict=True):
        pool.write(rows, path)
    y, y_test = (pool.y[rows] for rows in parts)
    if pool.task == "regression":
        y, y_test = y.astype(float), y_test.astype(float)
        nothing = 1.0 - np.sum((y_test - y.mean()) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
    else:
        labels, counts = np.unique(y, return_counts=True)
        nothing = np.mean(y_test == labels[counts.argmax()])
    return Split(name, number, pool.task, pool.target, *paths, float(nothing))


# Where tables come from ------------------------------------------------------------------------


def sources(folder: Path) -> Iterator[Source]:
    """The tables of a folder of datasets, of scikit-learn, and made ones."""
    manifest = folder / "MANIFEST.csv"
    if not manifest.exists():
        print(f"there is no MANIFEST.csv in {folder}: its datasets are left out")
    for row in pd.read_csv(manifest).itertuples() if manifest.exists() else ():
        if row.task in TASKS:
            yield Source(row.name, _listed(folder, row.task, row.files.split("; ")))
    if (faces := folder / "lfw_people_min70_r04.csv.gz").exists():
        yield Source("faces", lambda: of_file(faces, "label", "multiclass"))
    yield Source("digits", lambda: _of_arrays("multiclass", *datasets.load_digits(return_X_y=True)))
    yield Source(
        "tumours", lambda: _of_arrays("binary", *datasets.load_breast_cancer(return_X_y=True))
    )
    yield Source(
        "progression",
        lambda: _of_arrays("regression", *datasets.load_diabetes(return_X_y=True, scaled=False)),
    )
    for name, make in MADE.items():
        yield Source(name, make)


def given(text: str) -> Source:
    """The table that a person names as PATH or PATH:target."""
    path, target = Path(divided(text)[0]), divided(text)[1]
    name = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    return Source(name, lambda: of_file(path, target))


def _listed(folder: Path, task: str, files: list[str]) -> Callable[[], Pool]:
    tables = [file for file in files if file.endswith(".csv")]
    tested = [file for file in files if ".t.libsvm" in file]
    if tables or not tested:
        return lambda: of_file(folder / (tables or files)[0], task=task)
    return lambda: _of_matrices(task, [folder / files[0], folder / tested[0]])


def of_file(path: Path, target: str = "", task: str = "") -> Pool:
    """The rows of a file; what it means is read as the program reads it.

    Raises:
        UnusableError: it cannot be read, or is no table to predict a column of.
    """
    dataset = read_data(DataPlan(str(path), target=target, task=task))
    if dataset.task not in TASKS:
        raise ValueError(f"{path.name} is no table of rows, but a file for {dataset.task}")
    if dataset.source.format == "libsvm":
        return _of_matrices(dataset.task, [path])
    frame = pd.read_csv(path, **dataset.source.read_csv)
    frame = frame[frame[dataset.target_name].notna()].reset_index(drop=True)
    return _of_frame(dataset.task, frame, dataset.target_name)


def _of_matrices(task: str, paths: list[Path]) -> Pool:
    read = load_svmlight_files([str(path) for path in paths])
    rows = read[0].shape[0]
    X, y = sparse.vstack(read[0::2]).tocsr(), np.concatenate(read[1::2])
    return Pool(task, None, X, y, "", rows if len(paths) > 1 else None)


def _of_frame(task: str, frame: pd.DataFrame, target: str, train: int | None = None) -> Pool:
    y = frame[target].to_numpy()
    return Pool(task, frame, None, y if task == "regression" else y.astype(str), target, train)


def _of_arrays(task: str, X: np.ndarray, y: np.ndarray, train: int | None = None) -> Pool:
    names = [f"x{at + 1}" for at in range(X.shape[1])]
    if task != "regression":
        y = np.array([f"c{int(label)}" for label in y])
    frame = pd.DataFrame(np.round(X, 4), columns=names).assign(y=y)
    return _of_frame(task, frame, "y", train)


# Made tables: each has its own seed, and 2,000 rows to test on unless it is wide ------------------


def _rings() -> Pool:
    X, y = datasets.make_circles(2500, noise=0.12, factor=0.55, random_state=1)
    return _of_arrays("binary", X, y, 500)


def _moons() -> Pool:
    X, y = datasets.make_moons(2300, noise=0.3, random_state=2)
    return _of_arrays("binary", X, y, 300)


def _hypercube() -> Pool:
    kinds = {"n_classes": 4, "n_clusters_per_class": 3, "n_informative": 6, "n_redundant": 4}
    X, y = datasets.make_classification(3000, 20, **kinds, random_state=3)
    return _of_arrays("multiclass", X, y, 1000)


def _wide() -> Pool:
    # 400 rows to train on, 5,000 columns, of which ten count.
    rng = np.random.default_rng(4)
    X = rng.standard_normal((1000, 5000))
    signal = X[:, :10] @ np.where(np.arange(10) % 2, 1.0, -1.0)
    return _of_arrays("binary", X, signal + rng.logistic(size=1000) > 0, 400)


def _mixed() -> Pool:
    # Two columns of categories, numbers with holes, a target that depends on both together.
    rng = np.random.default_rng(5)
    rows = 2800
    town, sort = rng.integers(0, 12, rows), rng.integers(0, 4, rows)
    X = rng.standard_normal((rows, 5))
    signal = rng.normal(0.0, 1.0, 12)[town] + X[:, 0] * rng.normal(0.0, 1.5, 4)[sort] + X[:, 1]
    y = np.where(signal + 0.5 * rng.logistic(size=rows) > 0, "yes", "no")
    X[rng.random(X.shape) < 0.08] = np.nan
    frame = pd.DataFrame(np.round(X, 3), columns=[f"x{at + 1}" for at in range(5)])
    frame = frame.assign(town=[f"town {t}" for t in town], sort=[f"sort {s}" for s in sort], y=y)
    return _of_frame("binary", frame, "y", 800)


def _friedman() -> Pool:
    X, y = datasets.make_friedman1(2500, 10, noise=1.0, random_state=6)
    return _of_arrays("regression", X, y, 500)


def _sparse_lines() -> Pool:
    X, y = datasets.make_regression(2200, 100, n_informative=10, noise=80.0, random_state=7)
    return _of_arrays("regression", X, y, 200)


def _waves() -> Pool:
    rng = np.random.default_rng(8)
    X = rng.uniform(-1.0, 1.0, (3000, 4))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.cos(3 * X[:, 2]) + 0.1 * rng.standard_normal(3000)
    return _of_arrays("regression", X, y, 1000)


def _steps() -> Pool:
    # Trees are at home here: corners, and noise with heavy tails.
    rng = np.random.default_rng(9)
    X = rng.uniform(0.0, 1.0, (5000, 8))
    y = 3.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.3) + np.floor(4 * X[:, 2])
    return _of_arrays("regression", X, y + 0.3 * rng.standard_t(3, 5000), 3000)


MADE: dict[str, Callable[[], Pool]] = {
    "rings": _rings,
    "moons": _moons,
    "hypercube": _hypercube,
    "wide": _wide,
    "mixed": _mixed,
    "friedman": _friedman,
    "sparse-lines": _sparse_lines,
    "waves": _waves,
    "steps": _steps,
}
