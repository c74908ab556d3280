"""Table 3 of McInerney 2017: deep latent Gaussian models of faces.

Predicted is log p(x, y), points in units of their deviation: the paper gives no scale, and another
shifts all totals alike.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from core.datasets.task import Task
from core.datasets.texts.documents import divide_documents
from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.dlgm_model import DLGM
from core.estimators.dlgm.predictive import joint_log_densities, log_densities
from core.estimators.optional_parts import optional_module
from core.reproduction.mcinerney.mcinerney_searches import (
    FittedSetting,
    SearchProblem,
    data_mark,
    rounded_densities,
)
from core.space import Setting

FACES = "lfw_people_min70_r04.csv.gz"
BOTH, LABELS = "pictures and persons", "persons alone"  # what is predicted
SHARES = (0.2, 0.2)  # of validation and test
HEIGHT, WIDTH = 50, 37
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
DRAWN_PICTURES, DRAWN_POINTS = 400, 60


def faces_problem(folder: Path | None, points: int, epochs: int) -> SearchProblem:
    """The problem of table 3, on drawn pictures without a folder.

    `points` a side are averaged; 0 for the full 50 × 37.

    Raises:
        UnusableError: the folder lacks the file, or jax is not installed.
    """
    # As everything in a pool: the processes' threads would only take each other's time.
    os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
    optional_module("deep", "jax")
    mark = data_mark(folder, (FACES,), "the faces")
    where = "" if folder is None else str(folder)
    space, priors = DLGM.space(Task.MULTICLASS), ("kappa", "rho")
    return SearchProblem("faces", where, points, epochs, space, priors, fit_faces, mark)


def fit_faces(
    problem: SearchProblem, setting: Setting, seed: int, validated: bool
) -> FittedSetting:
    """Score f: log p(x, y) of validation pictures, or of all trained on."""
    X, y = pictures(problem.folder, problem.size)
    train, validation, test = divide_documents(len(X), seed, SHARES)
    rows = train if validated else np.sort(np.concatenate([train, validation]))
    model = DlgmClassifier(**setting, epochs=problem.effort, random_state=seed)
    model.fit(X[rows], y[rows])
    score_rows = validation if validated else rows
    f = float(joint_log_densities(model, X[score_rows], y[score_rows]).sum())
    test_logs = {
        BOTH: rounded_densities(joint_log_densities(model, X[test], y[test])),
        LABELS: rounded_densities(log_densities(model, X[test], y[test])),
    }
    return FittedSetting(f, test_logs)


@cache
def pictures(folder: str, block: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures, (n, points), each point of deviation 1, and persons, (n,)."""
    if folder:
        table = pd.read_csv(Path(folder) / FACES)
        X, y = table.drop(columns="label").to_numpy(np.float64), table["label"].to_numpy()
        X = coarser(X, block) if block else X
    else:
        X, y = drawn_pictures(DRAWN_PICTURES, DRAWN_POINTS)
    return X / X.std(axis=0), y


def coarser(X: np.ndarray, block: int) -> np.ndarray:
    """Means over blocks of points; incomplete blocks are dropped."""
    high, wide = HEIGHT // block, WIDTH // block
    cropped_X = X.reshape(-1, HEIGHT, WIDTH)[:, : high * block, : wide * block]
    return cropped_X.reshape(-1, high, block, wide, block).mean(axis=(2, 4)).reshape(len(X), -1)


def drawn_pictures(rows: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of ten latent causes around four persons' centres."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=rows)
    causes = 1.5 * rng.normal(size=(4, 10))[y] + rng.normal(size=(rows, 10))
    return causes @ rng.normal(size=(10, points)) + 2.0 * rng.normal(size=(rows, points)), y
