"""Which words count: the most frequent that are no stop words, not everywhere, and not in one text.

The rules are those of McInerney 2017, section 4.1. What the paper leaves open is settled here: what
a word is (`words`), whose stop words are left out (`stop_words`); equally common words are taken in
the order of the alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from core.datasets.texts.stop_words import (
    AUTO,
    BY_FREQUENCY,
    check_choice,
    guess_language,
    stop_words,
)
from core.datasets.texts.words import normalized_text
from core.errors import UnusableError

MAX_WORDS = 100_000  # of a vocabulary
_FREQUENT = 0.5  # share of the documents beyond which a word has no meaning of its own
_FEW = 0.05  # share of all words that may be so frequent; beyond, these are no stop words


@dataclass(frozen=True)
class WordRules:
    """What makes a word worth counting.

    Attributes:
        size: how many words are kept, the most frequent.
        max_document_share: share of the documents that a word may be in.
        min_documents: documents that it must be in.
        stop_words: words that are left out; None for those of the language.
        language: whose stop words are left out: one of stop_words.CHOICES.
    """

    size: int = 1000
    max_document_share: float = 0.95
    min_documents: int = 2
    stop_words: frozenset[str] | None = None
    language: str = "en"

    def excluded_words(self) -> frozenset[str]:
        """The words that are left out, whatever the documents are."""
        return stop_words(self.language) if self.stop_words is None else self.stop_words


PAPER_RULES = WordRules()
USUAL_RULES = WordRules(language=AUTO)


def chosen_rules(size: int, language: str) -> WordRules:
    """The rules that a person chose.

    Raises:
        UnusableError: no such language, or a size that makes no vocabulary.
    """
    if not 2 <= size <= MAX_WORDS:
        raise UnusableError(
            f"a vocabulary of {size:,} words makes no topics",
            where="option vocabulary",
            cure=f"give a number of words from 2 to {MAX_WORDS:,}",
        )
    return WordRules(size=size, language=check_choice(language))


def language_of(counts: sparse.csr_matrix, words: Sequence[str]) -> str:
    """The language of documents, told from their words; BY_FREQUENCY where it is not known."""
    totals = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    return guess_language(dict(zip(words, totals.tolist(), strict=True)))


def common_words(
    counts: sparse.csr_matrix,
    words: Sequence[str] = (),
    rules: WordRules = PAPER_RULES,
    where: str = "",
) -> np.ndarray:
    """The columns of the words that the rules keep, in the order of the columns.

    Args:
        counts: how often every word comes in every document, shape (D, words).
        words: their names; where there are none, no stop words are known.
        rules: what is kept.
        where: the file or column, for the error.

    Raises:
        UnusableError: no word is kept.
    """
    documents, width = counts.shape
    spread = np.bincount(counts.indices[counts.data > 0], minlength=width)
    total = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    is_counted = (spread >= rules.min_documents) & (spread <= rules.max_document_share * documents)
    if words:
        language = language_of(counts, words) if rules.language == AUTO else rules.language
        stops = replace(rules, language=language).excluded_words()
        is_counted &= np.array([normalized_text(word) not in stops for word in words])
        if language == BY_FREQUENCY and rules.stop_words is None:
            frequent = is_counted & (spread > _FREQUENT * documents)
            if frequent.sum() <= _FEW * is_counted.sum():
                is_counted &= ~frequent
    columns = np.flatnonzero(is_counted)
    if not len(columns):
        used = int(np.count_nonzero(spread))
        raise UnusableError(
            f"no word is left of {used:,}: all are stop words, in only"
            f" {counted_documents(rules.min_documents - 1)}, or in over "
            f"{rules.max_document_share:.0%} of the documents",
            where=where,
            cure="give more or longer texts",
        )
    names = np.array(words)[columns] if words else columns
    most_frequent = np.lexsort((names, -total[columns]))[: rules.size]
    return np.sort(columns[most_frequent])


def counted_documents(count: int) -> str:
    """So many documents, in words."""
    return "1 document" if count == 1 else f"{count:,} documents"


def numbered_words(width: int) -> tuple[str, ...]:
    """So many names for words that have none: "word 1", "word 2" and so on."""
    return tuple(f"word {j}" for j in range(1, width + 1))
