"""Which words count: the commonest that are no stop words, not everywhere, and not in one text.

The rules are those of McInerney 2017, section 4.1. What the paper leaves open is settled here: a
word is three or more letters of any alphabet, in lower case, with no digit or underscore next to
them; stop words are scikit-learn's English ones; equally common words are taken in the order of
the alphabet.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.errors import UnusableError

WORD = r"(?u)\b[^\W\d_]{3,}\b"


@dataclass(frozen=True)
class WordRules:
    """What makes a word worth counting.

    Attributes:
        size: how many words are kept, the commonest.
        most: share of the documents that a word may be in.
        fewest: documents that it must be in.
        stop_words: words that are left out; None for scikit-learn's English ones.
    """

    size: int = 1000
    most: float = 0.95
    fewest: int = 2
    stop_words: frozenset[str] | None = None

    def stops(self) -> frozenset[str]:
        """The words that are left out."""
        if self.stop_words is not None:
            return self.stop_words
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS


PAPER_RULES = WordRules()


def plain(text: str) -> str:
    """The text as its words are looked for: lower case, letters with their accents composed."""
    return unicodedata.normalize("NFC", text.lower())


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
    kept = (spread >= rules.fewest) & (spread <= rules.most * documents)
    stops = rules.stops()
    if words:
        kept &= np.array([plain(word) not in stops for word in words])
    columns = np.flatnonzero(kept)
    if not len(columns):
        used = int(np.count_nonzero(spread))
        raise UnusableError(
            f"no word is left of {used:,}: all are stop words, in only"
            f" {counted_documents(rules.fewest - 1)}, or in over {rules.most:.0%} of the documents",
            where=where,
            cure="give more or longer texts",
        )
    names = np.array(words)[columns] if words else columns
    commonest = np.lexsort((names, -total[columns]))[: rules.size]
    return np.sort(columns[commonest])


def counted_documents(count: int) -> str:
    """So many documents, in words."""
    return "1 document" if count == 1 else f"{count:,} documents"


def numbered_words(width: int) -> tuple[str, ...]:
    """So many names for words that have none: "word 1", "word 2" and so on."""
    return tuple(f"word {j}" for j in range(1, width + 1))
