"""The curves of tables: rows, columns, groups, and reading."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from limits.penalties import learn
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV

from core.datasets.reading import read_dataset
from scale.curve import Curve, Line

Data = tuple[object, np.ndarray]
Call = Callable[[], object]
COLUMNS, WIDE_ROWS, ENTRIES, WIDTH = 20, 2000, 50, 100_000
GRID = np.logspace(-3, 3, 10)


def tall(rows: int) -> Data:
    """Twenty columns and two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS))
    return X, (X @ rng.standard_normal(COLUMNS) + rng.logistic(size=rows) > 0).astype(int)


def wide(columns: int) -> Data:
    """2,000 rows with fifty entries each, at most."""
    rng = np.random.default_rng(0)
    each = min(ENTRIES, columns)
    places = np.concatenate([rng.choice(columns, each, replace=False) for _ in range(WIDE_ROWS)])
    starts = np.arange(0, WIDE_ROWS * each + 1, each)
    X = sparse.csr_matrix(
        (rng.standard_normal(len(places)), places, starts), shape=(WIDE_ROWS, columns)
    )
    scores = X @ rng.standard_normal(columns)
    return X, (scores + rng.logistic(size=WIDE_ROWS) > 0).astype(int)


def learning(strategy: str, data: Callable[[int], Data]) -> Callable[[int], Call]:
    """A learner from the arrays to its last step."""

    def make(size: int) -> Call:
        rows = data(size)
        return lambda: learn(strategy, "logistic", rows, 1)

    return make


def grouped(strategy: str) -> Callable[[int], Call]:

    def make(groups: int) -> Call:
        rows = wide(WIDTH)
        return lambda: learn(strategy, "logistic", rows, groups)

    return make


def cross_validated(data: Callable[[int], Data]) -> Callable[[int], Call]:
    """scikit-learn's path over ten penalties and five folds."""

    def make(size: int) -> Call:
        X, y = data(size)
        search = LogisticRegressionCV(
            Cs=GRID, cv=5, scoring="neg_log_loss", use_legacy_attributes=False, l1_ratios=(0.0,)
        )
        return lambda: search.fit(X, y)

    return make


def grid_searched(data: Callable[[int], Data]) -> Callable[[int], Call]:
    """scikit-learn's grid search over the same."""

    def make(size: int) -> Call:
        X, y = data(size)
        search = GridSearchCV(LogisticRegression(), {"C": GRID}, cv=5, scoring="neg_log_loss")
        return lambda: search.fit(X, y)

    return make


def read_by(read: Callable[[str], object]) -> Callable[[int], Call]:

    def make(rows: int) -> Call:
        path = Path(tempfile.mkdtemp()) / "table.csv"
        X, y = tall(rows)
        frame = pd.DataFrame(np.round(X, 5), columns=[f"x{k}" for k in range(COLUMNS)])
        frame.assign(y=y).to_csv(path, index=False)
        return lambda: read(str(path))

    return make


CURVES = (
    Curve(
        "rows",
        "Learning one penalty: 20 columns, two classes",
        "rows",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        (
            Line("mm", learning("mm", tall), 1.0),
            Line("evidence", learning("evidence", tall), 1.0),
            Line("LogisticRegressionCV", cross_validated(tall)),
            Line("GridSearchCV", grid_searched(tall)),
        ),
    ),
    Curve(
        "reading",
        "Reading a CSV of 21 columns",
        "rows",
        (1_000, 10_000, 100_000, 1_000_000),
        (
            Line("Tunescope", read_by(read_dataset), 1.0),
            Line("pandas.read_csv", read_by(pd.read_csv)),
        ),
        "Tunescope also tells what each column is, and where a cell is wrong.",
    ),
    Curve(
        "columns",
        "Learning one penalty: 2,000 sparse rows, 50 entries each",
        "columns",
        (10, 100, 1_000, 10_000, 100_000, 1_000_000),
        (
            Line("mm", learning("mm", wide), 1.0),
            Line("evidence", learning("evidence", wide), 1.0),
            Line("LogisticRegressionCV", cross_validated(wide)),
        ),
        "From 100,000 columns on vectors of that length outweigh the 100,000 entries.",
    ),
    Curve(
        "groups",
        "Learning a penalty for every group: 2,000 sparse rows, 100,000 columns",
        "groups",
        (1, 10, 100, 1_000, 10_000, 100_000),
        (Line("mm", grouped("mm"), 0.0), Line("evidence", grouped("evidence"), 0.0)),
        "No peer can learn more than one penalty. The evidence rises by its steps, not by the "
        "groups: 2,000 rows settle a hundred penalties in 28 steps, and a thousand in none of the "
        "100 that it may take, each with more conjugate gradients as groups are set free.",
    ),
)
