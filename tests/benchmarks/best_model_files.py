"""The tables of bench_best_model.py: files, made ones, and their splits written to files.

A table is taken from the folder of datasets (those that its MANIFEST.csv calls regression, binary
or multiclass, as CSV where there is one, each once, a second file of test rows joined to it; those
of mixed/MANIFEST.csv, whose second file stays what it is), from scikit-learn, from a formula, or
from a path. Everybody is given the same two files of a split: a share of the rows to learn from,
the others (at most `MAX_FRESH_ROWS`) without their target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
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
from core.tuning.problem_setup import read_data

# No choice of the program may rest on these: not a default, not a threshold, not a weight.
HELD_OUT = ("segment", "abalone", "dna", "svmguide1", "mg", "splice", "wine")
LEAKS = {"wage": ["logwage"], "lymph": ["deathdate"]}  # nobody is given what tells the target
TASKS = ("regression", "binary", "multiclass")
TRAINING_SHARE, MAX_FRESH_ROWS = 0.7, 5000


@dataclass(frozen=True)
class Pool:
    """All rows of a table.

    Attributes:
        task: regression, binary or multiclass.
        frame: of a CSV file, its target among the columns; None for a LIBSVM file.
        matrix: of a LIBSVM file, CSR; None for a CSV file.
        y: the target, numbers or text, shape (rows,).
        target: the target's column; "" for a LIBSVM file.
        train_count: how many rows train; None for a share of them.
        is_fixed: whether these are the first ones and all others fresh.
    """

    task: str
    frame: pd.DataFrame | None
    matrix: Any
    y: np.ndarray
    target: str
    train_count: int | None = None
    is_fixed: bool = False

    @property
    def suffix(self) -> str:
        """The ending of its files."""
        return ".libsvm" if self.frame is None else ".csv"

    def write(self, rows: np.ndarray, path: Path, has_target: bool) -> None:
        """Write some of the rows to a file, with their target or without (zero in LIBSVM)."""
        if self.frame is not None:
            frame = self.frame if has_target else self.frame.drop(columns=self.target)
            frame.iloc[rows].to_csv(path, index=False)
            return
        y = self.y[rows].astype(float) * has_target
        is_integer = self.task != "regression" and bool((y == np.round(y)).all())
        y = y.astype(int) if is_integer else y
        dump_svmlight_file(self.matrix[rows], y, str(path), zero_based=False)

    def split(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows to train on and fresh ones; every class on both sides where it can be."""
        count = self.train_count or round(TRAINING_SHARE * len(self.y))
        rows = np.arange(len(self.y))
        if self.is_fixed:
            return rows[:count], rows[count:]
        labels = None if self.task == "regression" else self.y.astype(str)
        if labels is not None:
            class_sizes = np.unique(labels, return_counts=True)[1]
            if class_sizes.min() < 2 or len(self.y) - count < len(class_sizes):
                labels = None
        train, fresh = train_test_split(rows, train_size=count, random_state=seed, stratify=labels)
        return np.sort(train), np.sort(fresh[:MAX_FRESH_ROWS])


Source = tuple[str, Callable[[], Pool]]  # a table's name, and what reads it


@dataclass(frozen=True)
class Split:
    """One split of a table: two files, and the target of their rows, numbers or texts."""

    file: str
    number: int
    task: str
    target: str
    train: Path
    fresh: Path
    y_train: np.ndarray
    y_fresh: np.ndarray


def write_split(name: str, pool: Pool, number: int, folder: Path) -> Split:
    """Write a split of a table into a folder."""
    parts = pool.split(number)
    train, fresh = (folder / f"{name}-{number}-{part}{pool.suffix}" for part in ("train", "fresh"))
    pool.write(parts[0], train, has_target=True)
    pool.write(parts[1], fresh, has_target=False)
    y = pool.y.astype(float if pool.task == "regression" else str)
    return Split(name, number, pool.task, pool.target, train, fresh, y[parts[0]], y[parts[1]])


# Where tables come from ------------------------------------------------------------------------


def sources(folder: Path) -> Iterator[Source]:
    """The tables of a folder of datasets, of scikit-learn, and made ones."""
    manifest = folder / "MANIFEST.csv"
    if not manifest.exists():
        print(f"there is no MANIFEST.csv in {folder}: its datasets are left out")
    for row in pd.read_csv(manifest).itertuples() if manifest.exists() else ():
        if row.task in TASKS:
            yield row.name, partial(_of_listed, folder, row.task, row.files.split("; "))
    manifest = folder / "mixed" / "MANIFEST.csv"
    for row in pd.read_csv(manifest).itertuples() if manifest.exists() else ():
        paths = [folder / file for file in row.files.split("; ")]
        yield row.name, partial(_of_two_files, row.name, paths, row.target, row.task)
    if (faces := folder / "lfw_people_min70_r04.csv.gz").exists():
        yield "faces", partial(of_file, faces, "label", "multiclass")
    yield "mixed", _mixed
    for name, arguments in ARRAYS.items():
        yield name, partial(_of_arrays, *arguments)


def own_source(text: str) -> Source:
    """The table that a person names as PATH or PATH:target."""
    path, target = Path(divided(text)[0]), divided(text)[1]
    name = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    return name, partial(of_file, path, target)


def _of_listed(folder: Path, task: str, files: list[str]) -> Pool:
    tables = [file for file in files if file.endswith(".csv")]
    test_files = [file for file in files if ".t.libsvm" in file]
    if tables or not test_files:
        return of_file(folder / (tables or files)[0], task=task)
    return _of_matrices(task, [folder / files[0], folder / test_files[0]])


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


def _of_two_files(name: str, paths: list[Path], target: str, task: str) -> Pool:
    frames = [pd.read_csv(path, dtype=str, na_filter=False) for path in paths]  # as they are
    frames = [frame[frame[target] != ""].drop(columns=LEAKS.get(name, [])) for frame in frames]
    if task == "classification":
        task = "binary" if frames[0][target].nunique() == 2 else "multiclass"
    pool = _of_frame(task, pd.concat(frames, ignore_index=True), target, len(frames[0]))
    return replace(pool, is_fixed=True)


def _of_matrices(task: str, paths: list[Path]) -> Pool:
    arrays = load_svmlight_files([str(path) for path in paths])
    X, y = sparse.vstack(arrays[0::2]).tocsr(), np.concatenate(arrays[1::2])
    return Pool(task, None, X, y, "", arrays[0].shape[0] if len(paths) > 1 else None)


def _of_frame(task: str, frame: pd.DataFrame, target: str, train_count: int | None = None) -> Pool:
    return Pool(task, frame, None, frame[target].to_numpy(), target, train_count)


def _of_arrays(task: str, make: Callable[[], Any], train_count: int | None) -> Pool:
    X, y = make()
    if task != "regression":
        y = np.array([f"c{int(label)}" for label in y])
    return _of_frame(task, _number_frame(X).assign(y=y), "y", train_count)


def _number_frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(np.round(X, 4), columns=[f"x{column + 1}" for column in range(X.shape[1])])


# Made tables: each has its own seed, and 2,000 fresh rows unless it is wide ----------------------


def _wide() -> tuple[np.ndarray, np.ndarray]:
    # 400 rows to train on, 5,000 columns, of which ten count.
    rng = np.random.default_rng(4)
    X = rng.standard_normal((1000, 5000))
    signal = X[:, :10] @ np.where(np.arange(10) % 2, 1.0, -1.0)
    return X, signal + rng.logistic(size=1000) > 0


def _mixed() -> Pool:
    # Two columns of categories, numbers with holes, a target that depends on both together.
    rng = np.random.default_rng(5)
    rows = 2800
    town, sort = rng.integers(0, 12, rows), rng.integers(0, 4, rows)
    X = rng.standard_normal((rows, 5))
    signal = rng.normal(0.0, 1.0, 12)[town] + X[:, 0] * rng.normal(0.0, 1.5, 4)[sort] + X[:, 1]
    y = np.where(signal + 0.5 * rng.logistic(size=rows) > 0, "yes", "no")
    X[rng.random(X.shape) < 0.08] = np.nan
    words = {"town": [f"town {t}" for t in town], "sort": [f"sort {s}" for s in sort]}
    return _of_frame("binary", _number_frame(np.round(X, 3)).assign(**words, y=y), "y", 800)


def _waves() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    X = rng.uniform(-1.0, 1.0, (3000, 4))
    return X, np.sin(4 * X[:, 0] * X[:, 1]) + np.cos(3 * X[:, 2]) + 0.1 * rng.standard_normal(3000)


def _steps() -> tuple[np.ndarray, np.ndarray]:
    # Trees are at home here: corners, and noise with heavy tails.
    rng = np.random.default_rng(9)
    X = rng.uniform(0.0, 1.0, (5000, 8))
    y = 3.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.3) + np.floor(4 * X[:, 2])
    return X, y + 0.3 * rng.standard_t(3, 5000)


SHIPPED = {"return_X_y": True}
CLUSTERS = {"n_classes": 4, "n_clusters_per_class": 3, "n_informative": 6, "n_redundant": 4}
CLUSTERS["random_state"] = 3
LINES = {"n_features": 100, "n_informative": 10, "noise": 80.0, "random_state": 7}
NOISE = {"noise": 1.0, "random_state": 6}
RINGS = {"noise": 0.12, "factor": 0.55, "random_state": 1}
ARRAYS: dict[str, tuple[str, Callable[[], Any], int | None]] = {  # task, X and y, training rows
    "digits": ("multiclass", partial(datasets.load_digits, **SHIPPED), None),
    "tumours": ("binary", partial(datasets.load_breast_cancer, **SHIPPED), None),
    "progression": ("regression", partial(datasets.load_diabetes, **SHIPPED, scaled=False), None),
    "rings": ("binary", partial(datasets.make_circles, 2500, **RINGS), 500),
    "moons": ("binary", partial(datasets.make_moons, 2300, noise=0.3, random_state=2), 300),
    "hypercube": ("multiclass", partial(datasets.make_classification, 3000, **CLUSTERS), 1000),
    "wide": ("binary", _wide, 400),
    "friedman": ("regression", partial(datasets.make_friedman1, 2500, **NOISE), 500),
    "sparse-lines": ("regression", partial(datasets.make_regression, 2200, **LINES), 200),
    "waves": ("regression", _waves, 1000),
    "steps": ("regression", _steps, 3000),
}
