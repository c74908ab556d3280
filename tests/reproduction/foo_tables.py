"""Tables 1, 2 and 3a of Foo 2009 on LIBSVM's datasets.

Columns are not standardized, the intercept is a penalized column of ones (as in the paper); C
stands for ½ C ‖w‖² beside the loss, the inverse of scikit-learn's.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.task import Task
from core.errors import UnusableError
from core.losses.registry import TableLoss, build_loss, parameter_groups
from core.optimize.descent import solve_penalized
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES
from tests.reproduction.kept_work import Checkpoint
from tests.reproduction.tables import SENTENCE, Cells, printed_figures

SEEDS, QUICK_SEEDS, QUICK_ROWS = 10, 2, 1500
FOLDS = 5
GRID = 2.0 ** np.arange(-10, 11)
EXACT = 1e-6  # how near its minimum a solution of the grid must be

PARTS = {  # files that come with a test set of their own
    "splice": ("splice.libsvm", "splice.t.libsvm"),
    "dna": ("dna.scale.libsvm", "dna.scale.t.libsvm"),
    "letter": ("letter.scale.libsvm", "letter.scale.t.libsvm"),
    "mnist": ("mnist_first6000.libsvm.gz", "mnist.t.libsvm.gz"),
    "satimage": ("satimage.scale.libsvm", "satimage.scale.t.libsvm"),
}
ENDINGS = ("_scale.libsvm", ".scale.libsvm", ".libsvm")


@dataclass(frozen=True)
class LabelledExamples:
    X: Any
    y: np.ndarray
    of_classes: bool


Split = tuple[LabelledExamples, LabelledExamples, int]  # training set, test set, seed


@dataclass(frozen=True)
class MethodFit:
    """What a method gives: parameters, penalty and costs."""

    loss: TableLoss
    w: np.ndarray
    C: float
    fits: int
    seconds: float


FitMethod = Callable[[str, LabelledExamples, int], MethodFit]  # (loss, rows, seed)


def table1_rows(folder: Path | None, quick: bool) -> Iterator[Cells]:
    """Linear regression: test MSE and penalties."""
    ratios: list[float] = []
    for name, (ls, grid, mm, grid_C, mm_C) in printed_figures("foo-table1").items():
        if (files := _dataset_files(folder, name)) is None:
            continue
        splits = _run_splits(files, quick, Task.REGRESSION)
        least_squares = [_least_squares(train, test) for train, test, _ in splits]
        mse, method_fits = _measured("linear", files, quick, ("grid", "mm", "evidence"))
        costs = _median_costs(method_fits)
        ratios.append(costs["grid s"] / costs["mm s"])
        yield {
            "dataset": name,
            **{"LR (paper)": ls, "LR": float(np.mean(least_squares))},
            **{"grid (paper)": grid, "grid": mse["grid"]},
            **{"mm (paper)": mm, "mm": mse["mm"], "evidence": mse["evidence"]},
            **{"grid C (paper)": grid_C, "grid C": _median_of(method_fits["grid"], "C")},
            **{"mm C (paper)": mm_C, "mm C": _median_of(method_fits["mm"], "C")},
            **costs,
        }
    yield from _speed_rows(ratios, None)


def table2_rows(folder: Path | None, quick: bool) -> Iterator[Cells]:
    yield from _accuracy_rows("logistic", "foo-table2", folder, quick)


def table3a_rows(folder: Path | None, quick: bool) -> Iterator[Cells]:
    yield from _accuracy_rows("multinomial", "foo-table3a", folder, quick)


def _accuracy_rows(loss: str, table: str, folder: Path | None, quick: bool) -> Iterator[Cells]:
    ratios: list[float] = []
    checkpoint = Checkpoint(f"foo-{loss}{'-quick' if quick else ''}")
    for name, figures in printed_figures(table).items():
        if (files := _dataset_files(folder, name)) is None:
            continue
        key = " ".join([name, *(_file_mark(file) for file in files)])
        if key not in checkpoint:
            accuracies, method_fits = _measured(loss, files, quick, METHODS)
            rounded = {method: round(100 * share, 2) for method, share in accuracies.items()}
            checkpoint.record_result(key, {**rounded, **_median_costs(method_fits)})
        measured = checkpoint[key]
        cells: dict[str, object] = {"dataset": name}
        for method in METHODS:
            if method in PRINTED:
                cells[f"{method} (paper)"] = figures[PRINTED.index(method)]
            cells[method] = measured[method]
        costs = {heading: value for heading, value in measured.items() if heading not in METHODS}
        ratios.append(costs["grid s"] / costs["mm s"])
        yield {**cells, **costs}
    yield from _speed_rows(ratios, printed_figures("foo-speed")[loss])


def _measured(
    loss: str, files: list[Path], quick: bool, methods: Iterable[str]
) -> tuple[dict[str, float], dict[str, list[MethodFit]]]:
    """The mean test MSE, or accuracy, of every method over the runs, and its fits."""
    method_fits: dict[str, list[MethodFit]] = {method: [] for method in methods}
    means: dict[str, list[float]] = {method: [] for method in methods}
    for train, test, seed in _run_splits(files, quick, Task.REGRESSION if loss == "linear" else ""):
        for method, fits in method_fits.items():
            fits.append(METHODS[method](loss, train, seed))
            predicted = _predictions(fits[-1], test.X)
            scores = (predicted - test.y) ** 2 if loss == "linear" else predicted == test.y
            means[method].append(float(np.mean(scores)))
    return {method: float(np.mean(values)) for method, values in means.items()}, method_fits


def _file_mark(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def _speed_rows(ratios: list[float], paper: list[float] | None) -> Iterator[Cells]:
    if ratios:
        theirs = f"; the paper: {paper[0]:g} to {paper[1]:g} times" if paper else ""
        span = f"{min(ratios):.2g} to {max(ratios):.2g}"  # least and most of the datasets
        yield {SENTENCE: f"mm is {span} times as fast as grid{theirs}."}


def _median_costs(method_fits: dict[str, list[MethodFit]]) -> dict[str, float]:
    counts = {f"{method} fits": _median_of(fits, "fits") for method, fits in method_fits.items()}
    seconds = {f"{method} s": _median_of(fits, "seconds") for method, fits in method_fits.items()}
    return counts | seconds


def _median_of(fits: list[MethodFit], field: str) -> float:
    return float(np.median([getattr(fit, field) for fit in fits]))


def _dataset_files(folder: Path | None, name: str) -> list[Path] | None:
    """Training file, test file if any; None where the folder lacks them."""
    if folder is None or not folder.is_dir():
        raise UnusableError(
            "the folder with the datasets is not there",
            where=f"--data {folder}" if folder else "--data",
            cure="give the folder that holds heart_scale.libsvm and the others",
        )
    choices = [PARTS[name]] if name in PARTS else [(name + ending,) for ending in ENDINGS]
    for choice in choices:
        files = [folder / file for file in choice]
        if all(file.is_file() for file in files):
            return files
    return None


def _run_splits(files: list[Path], quick: bool, task: str) -> Iterator[Split]:
    for train, test, seed in splits_of(files, QUICK_SEEDS if quick else SEEDS, task):
        if quick and len(train.y) > QUICK_ROWS:
            train = _split_examples(train, 1 - QUICK_ROWS / len(train.y), seed)[0]
        yield train, test, seed


def splits_of(files: list[Path], seeds: int, task: str = "") -> Iterator[Split]:
    """(training set, test set, seed) of every run; 30 % are held out without a test file."""
    test_file = str(files[1]) if len(files) > 1 else ""
    dataset = read_dataset(str(files[0]), DataOptions(task=task), test_file=test_file)
    of_classes = dataset.task.has_classes
    examples = LabelledExamples(_with_ones(dataset.matrix), dataset.target, of_classes)
    for seed in range(seeds):
        if dataset.test is not None:
            test_X = _with_ones(dataset.test.matrix)
            train, test = examples, LabelledExamples(test_X, dataset.test.target, of_classes)
        else:
            train, test = _split_examples(examples, 0.3, seed)
        yield train, test, seed


def _split_examples(
    rows: LabelledExamples, share: float, seed: int
) -> tuple[LabelledExamples, LabelledExamples]:
    stratify = rows.y if rows.of_classes else None
    arrays = train_test_split(rows.X, rows.y, test_size=share, random_state=seed, stratify=stratify)
    train = LabelledExamples(arrays[0], arrays[2], rows.of_classes)
    return train, LabelledExamples(arrays[1], arrays[3], rows.of_classes)


def _with_ones(matrix: Any) -> Any:
    ones = sparse.csr_matrix(np.ones((matrix.shape[0], 1)))
    X = sparse.csr_matrix(sparse.hstack([matrix, ones]))
    crowded = X.nnz > 0.2 * X.shape[0] * X.shape[1]
    return X.toarray() if crowded else X


def _least_squares(train: LabelledExamples, test: LabelledExamples) -> float:
    dense = [X if isinstance(X, np.ndarray) else X.toarray() for X in (train.X, test.X)]
    w = np.linalg.lstsq(dense[0], train.y, rcond=None)[0]
    return float(np.mean((dense[1] @ w - test.y) ** 2))


def _predictions(fit: MethodFit, X: Any) -> np.ndarray:
    coef, _ = fit.loss.coefficients(fit.w)
    scores = X @ np.atleast_2d(coef).T
    if fit.loss.classes is None:
        return scores[:, 0]
    chosen = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
    return np.asarray(fit.loss.classes)[chosen]


def _fit_by_grid(loss_name: str, rows: LabelledExamples, seed: int) -> MethodFit:
    """C = 2^k, k = −10 … 10, by accuracy or MSE of five folds, warm-started."""
    start = time.perf_counter()
    kind = KFold if loss_name == "linear" else StratifiedKFold
    totals = np.zeros(len(GRID))
    for fit_rows, score_rows in kind(FOLDS, shuffle=True, random_state=seed).split(rows.X, rows.y):
        loss = build_loss(loss_name, rows.X[fit_rows], rows.y[fit_rows], fit_intercept=False)
        w = loss.initial_weights()
        for index in reversed(range(len(GRID))):
            w = solve_penalized(loss, np.full(loss.size, GRID[index]), w, tolerance=EXACT).point.w
            fit = MethodFit(loss, w, GRID[index], 1, 0.0)
            predicted, actual = _predictions(fit, rows.X[score_rows]), rows.y[score_rows]
            right = -((predicted - actual) ** 2) if loss_name == "linear" else predicted == actual
            totals[index] += float(np.sum(right))
    C = float(GRID[np.flatnonzero(totals == totals.max())[-1]])  # of equals, the simplest model
    fit = _fit_at_penalty(loss_name, rows, C)
    return MethodFit(fit.loss, fit.w, C, FOLDS * len(GRID) + 1, time.perf_counter() - start)


def _fit_at_penalty(loss_name: str, rows: LabelledExamples, C: float) -> MethodFit:
    loss = build_loss(loss_name, rows.X, rows.y, fit_intercept=False)
    start = loss.initial_weights()
    w = solve_penalized(loss, np.full(loss.size, C), start, tolerance=EXACT).point.w
    return MethodFit(loss, w, C, 1, 0.0)


def _learner(name: str, held_share: float = 0.0) -> FitMethod:
    """A learner of penalties, by one holdout split where it needs some, then a fit on all rows."""

    def fit_learner(loss_name: str, rows: LabelledExamples, seed: int) -> MethodFit:
        start = time.perf_counter()
        loss = build_loss(loss_name, rows.X, rows.y, fit_intercept=False)
        holdout = None
        if held_share:
            parts = _split_examples(rows, held_share, seed)
            holdout = [tuple(loss.for_data(part.X, part.y) for part in parts)]
        learner = STRATEGIES[name]
        problem = PenaltyProblem(loss, parameter_groups(loss), holdout=holdout, seed=seed)
        steps = learner.make(problem, learner.option_values({}))
        last = deque(steps, maxlen=1)[-1]
        return MethodFit(loss, last.w, float(last.C[0]), last.fits, time.perf_counter() - start)

    return fit_learner


METHODS: dict[str, FitMethod] = {
    "grid": _fit_by_grid,
    "gradient": _learner("gradient", held_share=0.3),
    "direct": _learner("direct"),
    "mm": _learner("mm"),
    "evidence": _learner("evidence"),
    "loo": _learner("loo"),
}
PRINTED = ("grid", "gradient", "direct", "mm")  # in the paper's tables; the others are ours alone
