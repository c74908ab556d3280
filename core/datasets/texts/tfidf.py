"""TF-IDF of words and their parts, as scikit-learn's TfidfVectorizer by `WORDS` and `PARTS`.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | texts |
| p | | | words, pairs of words and parts of words that count |
| f | ``counts`` | (n, p) | occurrences of each |
| | ``idf`` | (p,) | 1 + log((1 + n) / (1 + texts that have it)) |

A row is (1 + log f) idf for f > 0, divided by its length, of each block separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.extmath import randomized_svd, svd_flip
from sklearn.utils.validation import check_is_fitted

from core.datasets.texts import MAX_TEXT_COLUMNS, ngrams
from core.datasets.texts.word_counts import FitTransformer

MAX_BLOCK_COLUMNS = MAX_TEXT_COLUMNS // 2  # columns of words, and as many of parts of words
MIN_TEXTS = 2  # with a word; one of a single text is useless for others
WORDS: dict[str, Any] = {"ngram_range": (1, 2), "sublinear_tf": True}
PARTS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 5), "sublinear_tf": True}
_NO_WORD = ""  # the vocabulary of texts without words; never found in a text


class TextTfidf(FitTransformer):
    """TF-IDF of the words, and of the parts of words, of one column.

    Args:
        most: the maximal number of words and pairs, and that of parts; the most frequent count.
        directions: of dense coordinates (truncated SVD, latent semantic analysis); 0 for sparse.

    Attributes:
        components_: shape (directions, p); empty if sparse.
        fewest_: the texts that a word had to be in: 2, or 1 where no word is in two.
    """

    def __init__(
        self, parts: bool = True, most: int = MAX_BLOCK_COLUMNS, directions: int = 0
    ) -> None:
        self.parts = parts
        self.most = most
        self.directions = directions

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        texts = texts_of(X)
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = 1
        for self.fewest_ in (MIN_TEXTS, 1):
            self.words_ = ngrams.common_words(texts, self.fewest_, self.most)
            self.parts_ = np.array([], dtype=str)
            if self.parts:
                self.parts_ = ngrams.common_parts(texts, self.fewest_, self.most)
            if len(self.words_) or len(self.parts_):
                break
        else:
            self.words_ = np.array([_NO_WORD])
        blocks = []
        for name, counts in self._block_counts(texts).items():
            weighing = TfidfTransformer(sublinear_tf=True)
            blocks.append(weighing.fit_transform(counts))
            setattr(self, f"{name}_idf_", weighing.idf_)
        tfidf = sparse.hstack(blocks, format="csr")
        self.components_ = _directions(tfidf, self.directions)
        return self._along_directions(tfidf)

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        blocks = [
            _weighing(getattr(self, f"{name}_idf_")).transform(counts)
            for name, counts in self._block_counts(texts_of(X)).items()
        ]
        return self._along_directions(sparse.hstack(blocks, format="csr"))

    def _block_counts(self, texts: Sequence[str]) -> dict[str, sparse.csr_matrix]:
        count = {"words": ngrams.count_words, "parts": ngrams.count_parts}
        return {name: count[name](texts, words.tolist()) for name, _, words in self._used_blocks()}

    def _along_directions(self, rows: sparse.csr_matrix) -> Any:
        return np.asarray(rows @ self.components_.T) if self.directions else rows

    def output_names(self) -> list[str]:
        """The outputs, such as word “good”, words “not good” or part “goo”."""
        if self.directions:
            return [f"direction {k}" for k in range(1, len(self.components_) + 1)]
        words = [f"words “{w}”" if " " in w else f"word “{w}”" for w in self.words_.tolist()]
        return [*words, *(f"part “{piece}”" for piece in self.parts_.tolist())]

    def as_plain(self) -> Pipeline:
        """The fitted equivalent in scikit-learn's classes."""
        blocks = []
        for name, options, vocabulary in self._used_blocks():
            # In a skops file an array is one entry, a dictionary of 25,000 words 50,000.
            vectorizer = TfidfVectorizer(**options, vocabulary=vocabulary).fit([""])
            vectorizer.idf_ = getattr(self, f"{name}_idf_")
            del vectorizer.vocabulary_
            blocks.append((name, vectorizer))
        plain = self._pipeline(blocks)
        column = str(self.feature_names_in_[0])
        plain[0].fit(pd.DataFrame({column: np.array([""], dtype=object)}))
        if self.directions:
            plain[-1].components_ = self.components_
            plain[-1].n_features_in_ = self.components_.shape[1]
        return plain

    def unfitted_pipeline(self) -> Pipeline:
        """The unfitted equivalent in scikit-learn's classes."""
        options: dict[str, Any] = {"min_df": self.fewest_, "max_features": self.most}
        if self.words_.tolist() == [_NO_WORD]:
            options = {"vocabulary": self.words_}
        blocks = self._used_blocks()
        return self._pipeline([(n, TfidfVectorizer(**kind, **options)) for n, kind, _ in blocks])

    def _used_blocks(self) -> list[tuple[str, dict[str, Any], np.ndarray]]:
        blocks = [("words", WORDS, self.words_), ("parts", PARTS, self.parts_)]
        return [block for block in blocks if len(block[2])]

    def _pipeline(self, blocks: list[tuple[str, Any]]) -> Pipeline:
        steps: list[tuple[str, Any]] = [
            ("fill", SimpleImputer(strategy="constant", fill_value="", keep_empty_features=True)),
            ("flat", FunctionTransformer(np.ravel)),
            ("tfidf", FeatureUnion(blocks)),
        ]
        if self.directions:
            steps.append(("directions", TruncatedSVD(len(self.components_), random_state=0)))
        return Pipeline(steps)


def texts_of(X: Any) -> list[str]:
    """The texts of a table with one column, "" where missing."""
    values = X.iloc[:, 0]
    return values.astype(object).where(values.notna(), "").astype(str).tolist()


def _weighing(idf: np.ndarray) -> TfidfTransformer:
    weighing = TfidfTransformer(sublinear_tf=True)
    weighing.idf_ = idf
    return weighing


def _directions(rows: sparse.csr_matrix, count: int) -> np.ndarray:
    """The first right singular vectors of rows, shape (count or fewer, p)."""
    if not count:
        return np.empty((0, rows.shape[1]))
    component_count = min(count, *rows.shape)
    # The same signs as TruncatedSVD.
    U, _, V = randomized_svd(rows, component_count, n_iter=5, random_state=0, flip_sign=False)
    return np.asarray(svd_flip(U, V, u_based_decision=False)[1])
