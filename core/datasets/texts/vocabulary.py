"""Selects the words that count (McInerney 2017, section 4.1), on ties alphabetically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.datasets.texts.stop_words import (
    AUTO,
    BY_FREQUENCY,
    MAX_WORDS,
    check_choice,
    guess_language,
    stop_words,
)
from core.datasets.texts.words import normalized_text
from core.errors import UnusableError
from core.wording import count_text

_FREQUENT = 0.5  # share of documents beyond which a word is taken for a stop word
_FEW = 0.05  # maximal share of words that may be so frequent; beyond, they are no stop words


@dataclass(frozen=True)
class WordRules:
    """The rules on words."""

    size: int = 1000  # maximal number of words
    max_document_share: float = 0.95  # of documents with a word
    min_documents: int = 2  # with a word
    language: str = "en"  # one of stop_words.CHOICES


PAPER_RULES = WordRules()
USUAL_RULES = WordRules(language=AUTO)


def chosen_rules(size: int, language: str) -> WordRules:
    """The rules that a person chose; raises UnusableError for an unknown language or size."""
    if not 2 <= size <= MAX_WORDS:
        fault = f"a vocabulary of {size:,} words makes no topics"
        cure = f"give a number of words from 2 to {MAX_WORDS:,}"
        raise UnusableError(fault, where="option vocabulary", cure=cure)
    return WordRules(size=size, language=check_choice(language))


def common_words(
    counts: sparse.csr_matrix,
    words: Sequence[str] = (),
    rules: WordRules = PAPER_RULES,
    where: str = "",
) -> np.ndarray:
    """The columns kept of counts (D, words), ascending; UnusableError for none."""
    documents, width = counts.shape
    spread = np.bincount(counts.indices[counts.data > 0], minlength=width)
    total = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    is_counted = (spread >= rules.min_documents) & (spread <= rules.max_document_share * documents)
    if words:
        language = rules.language
        if language == AUTO:
            language = guess_language(dict(zip(words, total.tolist(), strict=True)))
        stops = stop_words(language)
        is_counted &= np.array([normalized_text(word) not in stops for word in words])
        if language == BY_FREQUENCY:
            frequent = is_counted & (spread > _FREQUENT * documents)
            # Where many words are frequent, as in texts of one form, they are the subject itself.
            if frequent.sum() <= _FEW * is_counted.sum():
                is_counted &= ~frequent
    columns = np.flatnonzero(is_counted)
    if not len(columns):
        few, share = count_text(rules.min_documents - 1, "document"), rules.max_document_share
        fault = (
            f"no word is left of {np.count_nonzero(spread):,}: all are stop words, in only {few},"
            f" or in over {share:.0%} of the documents"
        )
        raise UnusableError(fault, where=where, cure="give more or longer texts")
    names = np.array(words)[columns] if words else columns
    most_frequent = np.lexsort((names, -total[columns]))[: rules.size]
    return np.sort(columns[most_frequent])


def numbered_words(width: int) -> tuple[str, ...]:
    """So many names "word 1", "word 2" and so on."""
    return tuple(f"word {j}" for j in range(1, width + 1))
