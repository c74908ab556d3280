"""Transformers from documents to word counts, which learn the vocabulary on the fitted rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from core.datasets.texts.documents import count_words, documents_of_counts, documents_of_texts
from core.datasets.texts.vocabulary import WordRules, numbered_words


class FitTransformer(TransformerMixin, BaseEstimator):
    """A transformer that is fitted by `fit_transform`."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table with one column of texts, or to counts (n, words)."""
        self.fit_transform(X)
        return self


class TextCounts(FitTransformer):
    """Counts of words of the training texts, CSR (texts, V); at most `size` words, sorted."""

    def __init__(self, where: str = "", size: int = 1000, language: str = "en") -> None:
        self.where = where
        self.size = size
        self.language = language

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        documents = documents_of_texts(
            X.iloc[:, 0], self.where, WordRules(size=self.size, language=self.language)
        )
        self.vocabulary_ = documents.vocabulary
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = 1
        return documents.counts

    def transform(self, X: Any) -> sparse.csr_matrix:
        check_is_fitted(self)
        return count_words(X.iloc[:, 0], self.vocabulary_)


class CommonCounts(FitTransformer):
    """The columns `kept_`, shape (V,), at most `size`, that the rules keep of word counts, CSR."""

    def __init__(self, where: str = "", size: int = 1000) -> None:
        self.where = where
        self.size = size

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        words = numbered_words(X.shape[1])
        documents = documents_of_counts(X, where=self.where, rules=WordRules(size=self.size))
        column_of_word = {word: column for column, word in enumerate(words)}
        self.vocabulary_ = documents.vocabulary
        self.kept_ = np.array([column_of_word[word] for word in documents.vocabulary])
        self.n_features_in_ = X.shape[1]
        return documents.counts

    def transform(self, X: Any) -> sparse.csr_matrix:
        check_is_fitted(self)
        counts = sparse.csr_matrix(X, dtype=np.float64)[:, self.kept_]
        # Given counts may store zeros, which are no words of a document.
        counts.eliminate_zeros()
        return counts
