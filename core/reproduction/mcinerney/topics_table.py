"""Table 2 of McInerney 2017: topics of 20 Newsgroups."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.task import Task
from core.datasets.texts.documents import divide_documents, documents_of_counts
from core.estimators.lda.lda_likelihood import completion_log_densities
from core.estimators.lda.lda_model import LDA
from core.estimators.lda.online_lda import OnlineLda
from core.reproduction.mcinerney.mcinerney_searches import (
    FittedSetting,
    SearchProblem,
    data_mark,
    rounded_densities,
)
from core.space import Setting

COUNTS, WORDS = "20news_train_counts.libsvm.gz", "20news_vocabulary.csv"
TOKENS = "second halves of documents"  # what is predicted
DRAWN_DOCUMENTS, DRAWN_WORDS, DRAWN_TOPICS = 2000, 400, 50


def topics_problem(folder: Path | None, documents: int, passes: int) -> SearchProblem:
    """The problem of table 2, on drawn documents without a folder; 0 documents for all.

    Raises:
        UnusableError: the folder lacks a file.
    """
    mark = data_mark(folder, (COUNTS, WORDS), "the 20 Newsgroups counts")
    where = "" if folder is None else str(folder)
    space, priors = LDA.space(Task.TOPICS), ("alpha", "eta")
    return SearchProblem("topics", where, documents, passes, space, priors, fit_topics, mark)


def fit_topics(
    problem: SearchProblem, setting: Setting, seed: int, validated: bool
) -> FittedSetting:
    """Score f: log p(second half | first half) of validation documents, or of all trained on."""
    X = counts_of(problem.folder, problem.size)
    train, validation, test = divide_documents(X.shape[0], seed)
    rows = train if validated else np.sort(np.concatenate([train, validation]))
    model = OnlineLda(**setting, passes=problem.effort, random_state=seed).fit(X[rows])
    # Over 16 settings this f had a rank correlation of 0.99 with the test documents' likelihood,
    # over 32 the variational bound one of 0.27, the likelihood of training documents one of −0.35.
    score_rows = validation if validated else rows
    f = float(completion_log_densities(model, X[score_rows], seed)[0].sum())
    logs, tokens = completion_log_densities(model, X[test], seed)
    return FittedSetting(f, {TOKENS: rounded_densities(logs)}, int(tokens.sum()))


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
