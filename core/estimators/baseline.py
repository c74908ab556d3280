"""Baselines of every task: predictions from the frequencies of the target alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from core.datasets.molecules import bracket_pairs
from core.datasets.task import Task
from core.losses.class_labels import label_codes


def baseline_pipeline(task: str, preparation: Any) -> Pipeline:
    """The unfitted baseline of a task, behind the preparation of the other models."""
    estimators = {
        Task.REGRESSION: DummyRegressor(),
        Task.SEQUENCE: MostFrequentLabel(),
        Task.STRUCTURE: NoPairs(),
        Task.TOPICS: WordShares(),
    }
    model = estimators.get(Task(task), DummyClassifier(strategy="prior"))
    return Pipeline([("prepare", preparation), ("model", model)])


class MostFrequentLabel(ClassifierMixin, BaseEstimator):
    """The most frequent training label of a token's value in the most informative column.

    Unseen values get `prior_`; probabilities are shares, smoothed by one token of `prior_`.

    Attributes:
        classes_: the K labels, sorted.
        column_: index of the column, with the sorted `values_`.
        shares_: of every label by value, shape (values, K); prior_: of all tokens, (K,).
    """

    decoding = "posterior"

    def fit(self, X: pd.DataFrame, y: Any) -> MostFrequentLabel:
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        overall = np.bincount(codes)
        self.prior_ = overall / overall.sum()
        # The first column names the sequence; where it is the only one there is no other.
        columns = range(1, X.shape[1]) or range(1)
        tables = [_label_counts(X.iloc[:, column], codes, len(overall)) for column in columns]
        # Each token left out: a column of numbers that never come twice would tell every label.
        correct = [_correct_count(counts, codes, value_codes) for _, counts, value_codes in tables]
        best = int(np.argmax(correct))
        self.column_, (self.values_, counts, _) = columns[best], tables[best]
        self.shares_ = (counts + self.prior_) / (counts.sum(axis=1, keepdims=True) + 1.0)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        values = X.iloc[:, self.column_].astype(str).to_numpy(dtype=str)
        index = np.minimum(np.searchsorted(self.values_, values), len(self.values_) - 1)
        is_seen = (self.values_[index] == values)[:, None]
        return np.where(is_seen, self.shares_[index], self.prior_)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """−log p(label) of every token in nats; an unknown label has p = 1e-15."""
        codes, shares = label_codes(y, self.classes_), self.predict_proba(X)
        probability = np.take_along_axis(shares, np.maximum(codes, 0)[:, None], axis=1)[:, 0]
        return -np.log(np.maximum(np.where(codes < 0, 0.0, probability), 1e-15))


def _label_counts(
    column: pd.Series, codes: np.ndarray, K: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Values, their label counts, and every token's value code.
    values, value_codes = np.unique(column.astype(str).to_numpy(dtype=str), return_inverse=True)
    flat = np.bincount(value_codes * K + codes, minlength=len(values) * K)
    return values, flat.reshape(len(values), K), value_codes


def _correct_count(counts: np.ndarray, codes: np.ndarray, value_codes: np.ndarray) -> int:
    """Tokens with the most frequent label of the other tokens of their value."""
    label_counts = counts[value_codes, codes]
    other_counts = counts.copy()
    best, first = np.argmax(counts, axis=1), counts.max(axis=1)
    other_counts[np.arange(len(counts)), best] = 0
    second = other_counts.max(axis=1)
    rival = np.where(best[value_codes] == codes, second[value_codes], first[value_codes])
    return int(((label_counts - 1) > rival).sum())


CommonestLabel = MostFrequentLabel  # in the models of earlier versions


class NoPairs(BaseEstimator):
    """Predicts no base pairs; every structure of a molecule is equally likely."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> NoPairs:
        self.fitted_ = True
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        from core.estimators.structured.rna_folder import letters_of  # imports numba: a second

        return np.array(["." * len(letters) for letters in letters_of(X)], dtype=object)

    def pair_counts(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """True positive, called (none) and true pairs at every γ."""
        from core.losses.rna.decode import GAMMAS

        counts = np.zeros((len(X), len(GAMMAS) + 1, 3), dtype=np.int64)
        counts[:, :, 2] = np.array([len(bracket_pairs(truth)) for truth in y])[:, None]
        return counts

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        from core.estimators.structured.rna_folder import letters_of
        from core.losses.rna.parameters import NAMES
        from core.losses.rna.rna_loss import build_rna

        # Weights of zero: every structure that the grammar makes is equally likely.
        return build_rna(letters_of(X), list(y)).log_losses(np.zeros(len(NAMES)))


class WordShares(BaseEstimator):
    """The unigram model with add-one smoothing, `log_shares_` of shape (V,)."""

    def fit(self, X: Any, y: Any = None) -> WordShares:
        counts = np.asarray(sparse.csr_matrix(X).sum(axis=0)).ravel() + 1.0
        self.log_shares_ = np.log(counts / counts.sum())
        return self

    def completion(self, X: Any) -> np.ndarray:
        """Log p(second half) of documents and its number of words, shape (D, 2)."""
        from core.estimators.lda.fitted_topics import HALVING_SEED, split_halves

        _, held = split_halves(X, HALVING_SEED)
        return np.stack([held @ self.log_shares_, np.asarray(held.sum(axis=1)).ravel()], axis=1)
