"""Documents as word counts, made from texts or from counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.texts.stop_words import guess_language
from core.datasets.texts.vocabulary import PAPER_RULES, WordRules, common_words, numbered_words
from core.datasets.texts.words import words_of
from core.errors import UnusableError
from core.wording import count_text

MIN_SHARED_FRACTION = 0.1  # of the documents must have two words
_LANGUAGE_TEXTS = 2000  # by which the language is detected


@dataclass(frozen=True)
class Documents:
    """The count of every word of a vocabulary in every document."""

    vocabulary: tuple[str, ...]  # V words
    counts: sparse.csr_matrix  # (D, V), whole numbers as floats, no explicit zeros

    @property
    def token_counts(self) -> np.ndarray:
        """The number of vocabulary tokens of every document, shape (D,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()


def documents_of_texts(
    texts: Iterable[Any], where: str = "", rules: WordRules = PAPER_RULES
) -> Documents:
    """The documents of texts; a missing text is empty. `where` is the column, for errors."""
    from sklearn.feature_extraction.text import CountVectorizer

    cells, fault = [_cell_text(text) for text in texts], ""
    if not any(text.strip() for text in cells):
        fault = "all texts are empty" if cells else "there are no texts"
    counter = CountVectorizer(analyzer=words_of, dtype=np.float64)
    try:
        counts = sparse.csr_matrix(counter.fit_transform(cells))
    except ValueError:  # empty vocabulary
        fault = fault or "no text has a word of three or more letters"
        cure = "choose a column that holds texts"
        raise UnusableError(fault, where=where, cure=cure) from None
    words = tuple(counter.get_feature_names_out().tolist())
    return _narrowed(counts, words, common_words(counts, words, rules, where))


def language_of_texts(texts: Iterable[Any]) -> str:
    """The language, detected from the words of the first 2,000 texts."""
    word_counts: Counter[str] = Counter()
    for text in itertools.islice(texts, _LANGUAGE_TEXTS):
        word_counts.update(words_of(_cell_text(text)))
    return guess_language(word_counts)


def documents_of_counts(
    counts: Any, words: Sequence[str] = (), where: str = "", rules: WordRules = PAPER_RULES
) -> Documents:
    """Documents of counts (D, words) with the words kept; UnusableError for others."""
    table = sparse.csr_matrix(counts, dtype=np.float64)
    if words and len(words) != table.shape[1]:
        fault = f"there are {len(words):,} words for {table.shape[1]:,} columns of counts"
        raise UnusableError(fault, where=where, cure="name every column once")
    # A file may name a word twice in a line, or with 0: a vocabulary counts what is stored.
    table.sum_duplicates()
    table.eliminate_zeros()
    _refuse_strange_counts(table, words, where)
    columns = common_words(table, words, rules, where)
    return _narrowed(table, words or numbered_words(table.shape[1]), columns)


def count_words(texts: Iterable[Any], vocabulary: Sequence[str]) -> sparse.csr_matrix:
    """The counts of a vocabulary in further texts, CSR of shape (texts, V)."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer=words_of, vocabulary=list(vocabulary), dtype=np.float64)
    return sparse.csr_matrix(counter.transform([_cell_text(text) for text in texts]))


def refuse_lonely_words(documents: Documents, where: str = "") -> None:
    """Raise UnusableError unless words co-occur, which topics are learned from and scored by."""
    count = len(documents.token_counts)
    several = int((documents.token_counts >= 2).sum())
    if several < max(2, MIN_SHARED_FRACTION * count):
        has = "has" if several == 1 else "have"
        count_text = f"only {several:,} of {count:,} texts {has}" if several else "no text has"
        fault = f"{count_text} two words that count, and topics are of words that come together"
        raise UnusableError(fault, where=where, cure="give longer texts")


def refuse_too_few(training: int, minibatch: int, where: str = "") -> None:
    """Raise UnusableError unless a whole minibatch of documents trains."""
    if training < minibatch:
        documents = count_text(training, "document")
        fault = f"a minibatch of {minibatch:,} is more than there is to train on, {documents}"
        raise UnusableError(fault, where=where, cure="give more documents")


def _narrowed(counts: sparse.csr_matrix, words: Sequence[str], columns: np.ndarray) -> Documents:
    narrow = sparse.csr_matrix(counts[:, columns])
    narrow.sort_indices()
    return Documents(tuple(words[j] for j in columns), narrow)


def _cell_text(text: Any) -> str:
    if isinstance(text, str):
        return text
    return "" if pd.isna(text) else str(text)


def _refuse_strange_counts(counts: sparse.csr_matrix, words: Sequence[str], where: str) -> None:
    with np.errstate(invalid="ignore"):
        strange = ~np.isfinite(counts.data) | (counts.data < 0) | (counts.data % 1 != 0)
    if not strange.any():
        return
    index = int(np.argmax(strange))
    row = int(np.searchsorted(counts.indptr, index, side="right"))
    value, column = counts.data[index], int(counts.indices[index])
    fault = "a negative count" if value < 0 else "no whole number"
    name = f"word “{words[column]}”" if words else f"word {column + 1}"
    where = ", ".join(phrase for phrase in (where, f"document {row}", name) if phrase)
    cure = "give how often the word comes, 0 or a whole number"
    raise UnusableError(f"{value:g} is {fault}", where=where, cure=cure)
