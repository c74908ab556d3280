"""Seconds of a deep latent Gaussian model on pictures: the first compilation, an epoch, later fits.

The pictures are drawn (1,288 rows of 1,850 columns in 7 classes) unless --data gives the folder
with lfw_people_min70_r04.csv.gz. An epoch is what a longer fit takes more than one of one epoch;
settings of other sizes must not be compiled again. With --learn the default setting is trained in
full beside logistic regression: accuracy and log probability of held-out labels.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.dlgm_training import TRACED
from core.estimators.dlgm.predictive import log_likelihood

SIZES = ((10, 0), (100, 50), (200, 200))


def drawn(rows: int = 1288, columns: int = 1850) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 40 causes, their class that of the nearest of seven centres."""
    rng = np.random.default_rng(0)
    y = rng.integers(7, size=rows)
    causes = rng.normal(size=(7, 40))[y] + rng.normal(size=(rows, 40))
    X = causes @ rng.normal(size=(40, columns)) + 2.0 * rng.normal(size=(rows, columns))
    return 1.0 / (1.0 + np.exp(-X / 8.0)), y


def faces(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Labeled Faces in the Wild, seven persons."""
    table = pd.read_csv(folder / "lfw_people_min70_r04.csv.gz")
    return table.drop(columns="label").to_numpy(float), table["label"].to_numpy()


def seconds(model: DlgmClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Of a fit."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def time_fits(X: np.ndarray, y: np.ndarray, epochs: int) -> None:
    """Print what fits take."""
    first = seconds(DlgmClassifier(epochs=1, random_state=0), X, y)
    print(f"first fit, 1 epoch, with import and compilation {first:8.2f} s")
    for n1, n2 in SIZES:
        one, more = (
            seconds(DlgmClassifier(n1, n2, epochs=count, random_state=0), X, y)
            for count in (1, 1 + epochs)
        )
        epoch = (more - one) / epochs
        print(f"N1 {n1:>3} N2 {n2:>3}   1 epoch {one:6.2f} s   an epoch more {epoch:6.3f} s")
    print(f"compilations: {sum(TRACED.values())}")


def learn(X: np.ndarray, y: np.ndarray) -> None:
    """Print what the default setting and logistic regression say of held-out rows."""
    a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    for n2 in (0, 50):
        model = DlgmClassifier(n2=n2, random_state=0)
        taken = seconds(model, a, ya)
        start = time.perf_counter()
        held, own = log_likelihood(model, b, yb) / len(b), log_likelihood(model, a, ya) / len(a)
        told = time.perf_counter() - start
        print(
            f"dlgm N1 100 N2 {n2:>2}: accuracy {model.score(b, yb):.3f}, nats a row {held:.3f} "
            f"(training {own:.3f}), fit {taken:.1f} s, predictions of {len(X)} rows {told:.1f} s"
        )
    mean, scale = a.mean(axis=0), a.std(axis=0)
    plain = LogisticRegression(C=0.01, max_iter=300).fit((a - mean) / scale, ya)
    logs = plain.predict_log_proba((b - mean) / scale)
    held = logs[np.arange(len(b)), np.searchsorted(plain.classes_, yb)].mean()
    score = plain.score((b - mean) / scale, yb)
    print(f"logistic regression: accuracy {score:.3f}, nats a row {held:.3f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the faces")
    parser.add_argument("--epochs", type=int, default=3, help="that an epoch's time is a mean of")
    parser.add_argument("--learn", action="store_true", help="train in full, too")
    chosen = parser.parse_args()
    X, y = faces(chosen.data) if chosen.data else drawn()
    print(f"{X.shape[0]:,} rows, {X.shape[1]:,} columns, {len(np.unique(y))} classes")
    time_fits(X, y, chosen.epochs)
    if chosen.learn:
        learn(X, y)


if __name__ == "__main__":
    main()
