"""The curves of learning: rows, columns, classes, groups; sentences, and molecules by length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from limits.penalties import learn
from limits.structures import text
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV

from core.losses.crf.crf_loss import build_crf
from core.losses.rna.rna_loss import build_rna
from scale.curve import Curve, Line

Data = tuple[object, np.ndarray]
Call = Callable[[], object]
COLUMNS, WIDE_ROWS, ENTRIES, WIDTH = 20, 2000, 50, 100_000
CLASS_ROWS = 5_000
GRID = np.logspace(-3, 3, 10)


def tall(rows: int) -> Data:
    """Twenty columns and two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS))
    return X, (X @ rng.standard_normal(COLUMNS) + rng.logistic(size=rows) > 0).astype(int)


def wide(columns: int) -> Data:
    """2,000 rows with fifty entries each, at most."""
    rng = np.random.default_rng(0)
    entries = min(ENTRIES, columns)
    indices = np.concatenate(
        [rng.choice(columns, entries, replace=False) for _ in range(WIDE_ROWS)]
    )
    starts = np.arange(0, WIDE_ROWS * entries + 1, entries)
    X = sparse.csr_matrix(
        (rng.standard_normal(len(indices)), indices, starts), shape=(WIDE_ROWS, columns)
    )
    scores = X @ rng.standard_normal(columns)
    return X, (scores + rng.logistic(size=WIDE_ROWS) > 0).astype(int)


def learn_logistic(strategy: str, data: Callable[[int], Data]) -> Callable[[int], Call]:
    """A learner from the arrays to its last step."""

    def make(size: int) -> Call:
        rows = data(size)
        loss = "logistic" if rows[1].max() == 1 else "multinomial"
        return lambda: learn(strategy, loss, rows, 1)

    return make


def learn_groups(strategy: str) -> Callable[[int], Call]:

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


def classes_of(classes: int) -> Data:
    """5,000 rows of fifty columns, with so many classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((CLASS_ROWS, 50))
    scores = X @ rng.standard_normal((50, classes)) + rng.gumbel(size=(CLASS_ROWS, classes))
    return X, scores.argmax(axis=1)


def regression(rows: int) -> Data:
    """200 columns and a target with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 200))
    return X, X @ rng.standard_normal(200) + rng.standard_normal(rows)


def learn_regression(rows: int) -> Call:
    data = regression(rows)
    return lambda: learn("mm", "linear", data, 1)


def gram_matrix(rows: int) -> Call:
    """The products that every exact learner needs at least."""
    X = regression(rows)[0]
    return lambda: X.T @ X


def ridge_searched(rows: int) -> Call:
    """scikit-learn's leave-one-out error at ten penalties."""
    X, y = regression(rows)
    search = RidgeCV(alphas=GRID)
    return lambda: search.fit(X, y)


def crf_gradient(sentences: int) -> Call:
    """A value and gradient over sentences of 15 words with 17 tags."""
    table, tags = text(sentences, 15, 17, 2_400)
    loss = build_crf(table, "sequence", tags, list(range(17)))
    loss.threads = 1
    rng = np.random.default_rng(0)
    loss.value_and_gradient(np.zeros(loss.size))
    # Never twice at the same point: the loss remembers the last one.
    return lambda: loss.value_and_gradient(0.2 * rng.standard_normal(loss.size))


def rna_gradient(bases: int) -> Call:
    """A value and gradient of a random molecule, at weights as large as learned ones."""
    letters = "".join(np.random.default_rng(bases).choice(list("ACGU"), bases))
    loss = build_rna([letters], ["." * bases], threads=1)
    rng = np.random.default_rng(0)
    loss.value_and_gradient(np.zeros(loss.size))
    # Never twice at the same point: the loss remembers the last one.
    return lambda: loss.value_and_gradient(0.2 * rng.standard_normal(loss.size))


CURVES = (
    Curve(
        "rows",
        "Learning one penalty: 20 columns, two classes",
        "rows",
        (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        (
            Line("loo", learn_logistic("loo", tall), 1.0),
            Line("mm", learn_logistic("mm", tall), 1.0),
            Line("evidence", learn_logistic("evidence", tall), 1.0),
            Line("LogisticRegressionCV", cross_validated(tall)),
            Line("GridSearchCV", grid_searched(tall)),
        ),
    ),
    Curve(
        "classes",
        "Learning one penalty: 5,000 rows, 50 columns",
        "classes",
        (2, 5, 10, 20, 50),
        (
            Line("loo", learn_logistic("loo", classes_of)),
            Line("mm", learn_logistic("mm", classes_of)),
            Line("evidence", learn_logistic("evidence", classes_of)),
            Line("LogisticRegressionCV", cross_validated(classes_of)),
        ),
    ),
    Curve(
        "columns",
        "Learning one penalty: 2,000 sparse rows, 50 entries each",
        "columns",
        (10, 100, 1_000, 10_000, 100_000, 1_000_000),
        (
            Line("loo", learn_logistic("loo", wide), 1.0),
            Line("mm", learn_logistic("mm", wide), 1.0),
            Line("evidence", learn_logistic("evidence", wide), 1.0),
            Line("LogisticRegressionCV", cross_validated(wide)),
        ),
        "From 100,000 columns on vectors of that length outweigh the 100,000 entries.",
    ),
    Curve(
        "groups",
        "Learning a penalty for every group: 2,000 sparse rows, 100,000 columns",
        "groups",
        (1, 10, 100, 1_000, 10_000, 100_000),
        (Line("mm", learn_groups("mm"), 0.0), Line("evidence", learn_groups("evidence"), 0.0)),
        "No peer can learn more than one penalty. The evidence rises by its steps, not by the "
        "groups: 2,000 rows settle a hundred penalties in 28 steps, and a thousand in none of the "
        "100 that it may take, each with more conjugate gradients as groups are set free.",
    ),
    Curve(
        "regression",
        "Learning one penalty of a linear regression: 200 columns",
        "rows",
        (1_000, 10_000, 100_000, 1_000_000),
        (
            Line("mm", learn_regression, 1.0),
            Line("XᵀX alone", gram_matrix),
            Line("RidgeCV", ridge_searched),
        ),
    ),
    Curve(
        "sentences",
        "A value and gradient of the CRF: 15 words a sentence, 17 tags",
        "sentences",
        (100, 1_000, 10_000, 30_000),
        (Line("Tunescope", crf_gradient, 1.0),),
    ),
    Curve(
        "molecules",
        "A value and gradient of the RNA model: one molecule",
        "bases",
        (25, 50, 100, 200, 400, 800, 1_600),
        (Line("Tunescope", rna_gradient, 3.0),),
        "Multi-branch loops are cubic in the length, bounded inner loops quadratic: the slope "
        "comes near 3 only beyond the lengths that are common.",
    ),
)
