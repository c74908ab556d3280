"""The models of McInerney 2017: topics of 20 Newsgroups (table 2) and faces (table 3).

Of faces log p(x, y) is predicted, points in units of their deviation: the paper gives no scale, and
another shifts all totals alike.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.task import Task
from core.datasets.texts.documents import documents_of_counts
from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.dlgm_model import DLGM
from core.estimators.dlgm.network import joint_log_densities, log_densities
from core.estimators.lda.fitted_topics import completion_log_densities
from core.estimators.lda.lda_model import LDA
from core.estimators.lda.online_lda import OnlineLda
from core.estimators.optional_parts import optional_module
from core.space import Setting
from tests.reproduction.mcinerney_searches import (
    FittedSetting,
    SearchProblem,
    data_mark,
    rounded_densities,
)

COUNTS, WORDS = "20news_train_counts.libsvm.gz", "20news_vocabulary.csv"
TOKENS = "second halves of documents"  # what is predicted
DRAWN_DOCUMENTS, DRAWN_WORDS, DRAWN_TOPICS = 2000, 400, 50


def topics_problem(folder: Path | None, documents: int, passes: int) -> SearchProblem:
    """The problem of table 2, on drawn documents without a folder; 0 documents for all."""
    mark = data_mark(folder, (COUNTS, WORDS), "the 20 Newsgroups counts")
    where = "" if folder is None else str(folder)
    topics, *prior_axes = LDA.space(Task.TOPICS)
    space = replace(topics.within(50, 200), log=False), *prior_axes
    priors = ("alpha", "eta")
    return SearchProblem("topics", where, documents, passes, space, priors, fit_topics, mark)


def fit_topics(
    problem: SearchProblem, setting: Setting, seed: int, validated: bool
) -> FittedSetting:
    """Score f: log p(second half | first half) of validation documents, or of all trained on."""
    X = counts_of(problem.folder, problem.size)
    train, validation, test = divide_documents(X.shape[0], seed)
    rows = train if validated else np.sort(np.concatenate([train, validation]))
    model, rng = OnlineLda(**setting, random_state=seed), np.random.default_rng(seed)
    # The paper's starts are random, those of `fit` are not.
    for _ in range(problem.effort):
        model.partial_fit(X[rng.permutation(rows)], documents=len(rows))
    # Over 16 settings this f had a rank correlation of 0.99 with the test documents' likelihood,
    # over 32 the variational bound one of 0.27, the likelihood of training documents one of −0.35.
    score_rows = validation if validated else rows
    f = float(completion_log_densities(model, X[score_rows], seed)[0].sum())
    logs, tokens = completion_log_densities(model, X[test], seed)
    return FittedSetting(f, {TOKENS: rounded_densities(logs)}, int(tokens.sum()))


def divide_documents(
    count: int, seed: int, shares: tuple[float, float] = (0.1, 0.1)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted numbers to train on, to validate and to test: 80-10-10 in McInerney 2017."""
    validation, test = (round(count * share) for share in shares)
    order = np.random.default_rng(seed).permutation(count)
    fit, stop, tested = np.split(order, [count - validation - test, count - test])
    return np.sort(fit), np.sort(stop), np.sort(tested)


@cache
def counts_of(folder: str, documents: int) -> sparse.csr_matrix:
    """Counts of the thousand most frequent words, CSR, (documents, words)."""
    drawn = documents or DRAWN_DOCUMENTS
    X = _newsgroups(Path(folder)) if folder else drawn_documents(drawn, DRAWN_WORDS)
    if documents and documents < X.shape[0]:
        X = X[np.random.default_rng(0).permutation(X.shape[0])[:documents]]
    return X


def _newsgroups(folder: Path) -> sparse.csr_matrix:
    from sklearn.datasets import load_svmlight_file

    counts, _ = load_svmlight_file(str(folder / COUNTS))
    words = pd.read_csv(folder / WORDS, keep_default_na=False)["term"].tolist()
    return documents_of_counts(counts, words, where=str(folder / COUNTS)).counts


def drawn_documents(documents: int, words: int) -> sparse.csr_matrix:
    """Documents of about 58 words from 50 planted topics."""
    rng = np.random.default_rng(0)
    frequent = rng.dirichlet(np.full(words, 0.5)) * 20.0
    beta = rng.gamma(frequent + 1e-9, size=(DRAWN_TOPICS, words)) + 1e-12
    beta /= beta.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(DRAWN_TOPICS, 0.05), documents)
    lengths = np.maximum(2, rng.lognormal(3.6, 0.9, documents).astype(int))
    drawn: list[Any] = [rng.multinomial(n, p @ beta) for n, p in zip(lengths, theta, strict=True)]
    return sparse.csr_matrix(np.stack(drawn).astype(float))


FACES = "lfw_people_min70_r04.csv.gz"
BOTH, LABELS = "pictures and persons", "persons alone"  # what is predicted
SHARES = (0.2, 0.2)  # of validation and test
HEIGHT, WIDTH = 50, 37
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
DRAWN_PICTURES, DRAWN_POINTS = 400, 60


def faces_problem(folder: Path | None, points: int, epochs: int) -> SearchProblem:
    """The problem of table 3, on drawn pictures without a folder.

    `points` a side are averaged; 0 for the full 50 × 37.
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
