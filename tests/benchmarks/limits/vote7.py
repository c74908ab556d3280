"""The vote of seven: its fit and its predictions, beside passes over the rows and one kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.estimators.vote7.classifier import Vote7Classifier
from limits.work import Work, seconds

POOL = 1000  # rows of the polynomial machine's kernel matrix
EPOCHS = 25  # of all online members together
PIECES = 15  # of a column, in the two members that cut columns


def table(n: int, p: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of normal numbers, and the class with the largest of some noisy scores."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal((p, classes)) + rng.standard_normal((n, classes))
    return X, scores.argmax(axis=1)


def fitting(n: int, p: int, classes: int) -> Callable[[], float]:

    def measured() -> float:
        X, y = table(n, p, classes)
        Vote7Classifier(random_state=0).fit(X, y)
        return seconds(lambda: Vote7Classifier(random_state=0).fit(X, y), 5)

    return measured


def predicting(n: int, p: int, classes: int) -> Callable[[], float]:

    def measured() -> float:
        X, y = table(n, p, classes)
        vote = Vote7Classifier(random_state=0).fit(X, y)
        vote.predict(X)
        return seconds(lambda: vote.predict(X), 5)

    return measured


def passes(n: int, p: int, classes: int, how_many: int, rows: int) -> Callable[[], float]:
    """Seconds of so many products of the rows with weights, and of so many rows' kernel values."""

    def measured() -> float:
        X, _ = table(n, p, classes)
        W = np.ones((p, 1 if classes == 2 else classes))
        pool = X[:POOL]

        def once() -> None:
            for _ in range(how_many):
                X @ W
            X[:rows] @ pool.T

        once()
        return seconds(once, 5)

    return measured


SHAPES = ((5000, 30, 2), (5000, 30, 10), (1000, 20, 2))
WORK = tuple(
    work
    for n, p, classes in SHAPES
    for work in (
        Work(f"vote7 fit, {n:,} × {p}, {classes} classes", 0.15, fitting(n, p, classes),
             passes(n, p, classes, EPOCHS, POOL), f"{EPOCHS} passes, a pool's kernel"),
        Work(f"vote7 predict, {n:,} × {p}, {classes} classes", 0.1, predicting(n, p, classes),
             passes(n, p, classes, PIECES, n), f"{PIECES} passes, kernel with the pool"),
    )
)  # fmt: skip
