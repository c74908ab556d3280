"""Documents become counts of words, by transformers that learn which words count.

Whoever scores on documents that were held out must not look at their words before; each of these
learns the vocabulary on the rows that it is fitted on, by the rules of `vocabulary`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from core.datasets.texts.documents import count_words, documents_of_counts, documents_of_texts
from core.datasets.texts.vocabulary import WordRules, numbered_words


class TextCounts(TransformerMixin, BaseEstimator):
    """How often the words of the training texts come in texts.

    Args:
        where: file and column, for errors.
        size: how many words are kept at most.
        language: whose stop words are left out, one of stop_words.CHOICES.

    Attributes:
        vocabulary_: V words, sorted.
        feature_names_in_: the column of texts.
    """

    def __init__(self, where: str = "", size: int = 1000, language: str = "en") -> None:
        self.where = where
        self.size = size
        self.language = language

    def fit(self, X: Any, y: Any = None) -> TextCounts:
        """Learn the vocabulary of texts: a table with one column, n rows."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """The same, and the counts of these texts, CSR of shape (n, V)."""
        documents = documents_of_texts(
            X.iloc[:, 0], self.where, WordRules(size=self.size, language=self.language)
        )
        self.vocabulary_ = documents.vocabulary
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = 1
        return documents.counts

    def transform(self, X: Any) -> sparse.csr_matrix:
        """The counts of further texts, CSR of shape (texts, V)."""
        check_is_fitted(self)
        return count_words(X.iloc[:, 0], self.vocabulary_)


class CommonCounts(TransformerMixin, BaseEstimator):
    """The columns of those words, of all that are counted, which the training documents suggest.

    Args:
        where: the file, for errors.
        size: how many words are kept at most.

    Attributes:
        vocabulary_: V words.
        kept_: their columns, shape (V,).
    """

    def __init__(self, where: str = "", size: int = 1000) -> None:
        self.where = where
        self.size = size

    def fit(self, X: Any, y: Any = None) -> CommonCounts:
        """Choose the words by documents' counts, shape (n, words)."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """The same, and the counts of these documents, CSR of shape (n, V)."""
        words = numbered_words(X.shape[1])
        documents = documents_of_counts(X, where=self.where, rules=WordRules(size=self.size))
        column_of_word = {word: column for column, word in enumerate(words)}
        self.vocabulary_ = documents.vocabulary
        self.kept_ = np.array([column_of_word[word] for word in documents.vocabulary])
        self.n_features_in_ = X.shape[1]
        return documents.counts

    def transform(self, X: Any) -> sparse.csr_matrix:
        """The counts of further documents, CSR of shape (documents, V)."""
        check_is_fitted(self)
        counts = sparse.csr_matrix(X, dtype=np.float64)[:, self.kept_]
        counts.eliminate_zeros()
        return counts
