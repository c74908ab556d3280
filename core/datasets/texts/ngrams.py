"""Words, pairs of words and parts of words of texts, counted with arrays.

Equal to scikit-learn's CountVectorizer with analyzer "word" (words of two or more letters or
digits, pairs) and "char_wb" (3 to 5 letters). Each distinct word is split once, for speed.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | texts |
| | ``keys`` | (grams,) | a word, pair or part as a number of 64 bits |
| | ``first``, ``last`` | (grams,) | the first and last text with it |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

LENGTHS = (3, 4, 5)  # of parts
DIRECTIONS = 100  # dense outputs for models that take no sparse ones
MAX_PARTED_LETTERS = 30_000_000  # letters of a column, beyond which parts of words are not used
LONGEST_NAME = 100  # letters of a word or pair; longer ones are no language
_WORD = re.compile(r"\b\w\w+\b")
_AT_ONCE = 3_000_000  # letters counted at a time
_MAX_WORD_LETTERS = 6_000_000  # of the different words whose parts may be chosen
# A part's key is the sum of its letters' numbers times these, modulo 2^64; odd, without a pattern.
_FACTORS = np.random.default_rng(20261122).integers(2**63, size=5, dtype=np.uint64) * 2 + 1


class _Grams(NamedTuple):
    keys: np.ndarray
    total: np.ndarray
    first: np.ndarray
    last: np.ndarray
    position: np.ndarray

    def in_texts(self, min_texts: int) -> _Grams:
        """Those in at least 1 or 2 texts."""
        is_kept = (self.first != self.last) | (min_texts < 2)
        return _Grams(*(array[is_kept] for array in self))


def counts_parts(values: pd.Series) -> bool:
    """Whether parts of words become columns; those of very long texts would fill the memory."""
    return int(values.str.len().sum()) <= MAX_PARTED_LETTERS


def common_words(texts: Sequence[str], min_texts: int, max_names: int) -> np.ndarray:
    """The most frequent words and pairs in at least `min_texts` (1 or 2) texts, alphabetically."""
    numbers: dict[str, int] = {}
    batches = []
    for start, batch in _portions(texts):
        ids, text = _numbered(map(_find_words, batch), numbers)
        pairs, text_of_pair = _word_pairs(ids, text)
        keys = np.concatenate([ids.astype(np.uint64), pairs])
        where = start + np.concatenate([text, text_of_pair])
        batches.append(_grouped(keys, np.ones(len(keys)), where, where))
    keys, total, first, last, _ = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
    grams = _grouped(keys, total, first, last).in_texts(min_texts)
    words = list(numbers)
    names = [
        words[key] if key < 1 << 32 else f"{words[(key >> 32) - 1]} {words[key & 0xFFFFFFFF]}"
        for key in grams.keys.tolist()
    ]
    return _most_frequent(names, grams.total, max_names)


def common_parts(texts: Sequence[str], min_texts: int, max_names: int) -> np.ndarray:
    """The same for parts of words, of the first six million letters of distinct words."""
    numbers: dict[str, int] = {}
    ids, text = _numbered((text.lower().split() for text in texts), numbers)
    if not len(ids):
        return np.array([], dtype=str)
    words = _grouped(ids.astype(np.uint64), np.ones(len(ids)), text, text)  # in numbers' order
    reach = np.cumsum([len(word) for word in numbers])
    count = max(1, int(np.searchsorted(reach, _MAX_WORD_LETTERS, side="right")))
    blanked = [f" {word} " for word in list(numbers)[:count]]
    letters = "".join(blanked)
    names: list[str] = []
    totals = []
    for length, starts, word_codes in _windows(blanked):
        counts = (array[word_codes] for array in (words.total, words.first, words.last))
        grams = _grouped(_part_keys(letters, starts, length), *counts).in_texts(min_texts)
        names += [letters[start : start + length] for start in starts[grams.position].tolist()]
        totals.append(grams.total)
    return _most_frequent(names, np.concatenate(totals), max_names)


def count_words(texts: Sequence[str], names: Sequence[str]) -> sparse.csr_matrix:
    """Counts of words and pairs in n texts, CSR of shape (n, names)."""
    numbers: dict[str, int] = {}
    of_name = []
    for name in names:
        first, *second = [numbers.setdefault(word, len(numbers)) for word in name.split(" ")]
        of_name.append((first + 1) << 32 | second[0] if second else first)
    name_keys = np.array(of_name, dtype=np.uint64)
    counts = []
    for _, batch in _portions(texts):
        ids, text = _numbered(map(_find_words, batch), numbers, grow=False)
        pairs, text_of_pair = _word_pairs(ids, text)
        is_known = ids >= 0
        keys = np.concatenate([ids[is_known].astype(np.uint64), pairs])
        rows = np.concatenate([text[is_known], text_of_pair])
        counts.append(_count_keys(rows, keys, name_keys, len(batch)))
    return sparse.vstack(counts, format="csr")


def count_parts(texts: Sequence[str], names: Sequence[str]) -> sparse.csr_matrix:
    """Counts of parts of words in n texts, CSR of shape (n, names)."""
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    starts, joined = np.cumsum(lengths) - lengths, "".join(names)
    name_keys = np.empty(len(names), dtype=np.uint64)
    for length in LENGTHS:
        has_length = lengths == length
        name_keys[has_length] = _part_keys(joined, starts[has_length], length)
    counts = []
    for _, batch in _portions(texts):
        numbers: dict[str, int] = {}
        ids, text = _numbered((text.lower().split() for text in batch), numbers)
        blanked = [f" {word} " for word in numbers]
        letters = "".join(blanked)
        windows = list(_windows(blanked))
        keys = np.concatenate([_part_keys(letters, places, size) for size, places, _ in windows])
        word_codes = np.concatenate([codes for _, _, codes in windows])
        in_words = _count_keys(word_codes, keys, name_keys, len(numbers))
        in_texts = sparse.csr_matrix((np.ones(len(ids)), (text, ids)), (len(batch), len(numbers)))
        counts.append(in_texts @ in_words)
    matrix = sparse.vstack(counts, format="csr")
    matrix.sort_indices()
    return matrix


def _find_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _portions(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    start = letters = 0
    for index, text in enumerate(texts):
        if letters and letters + len(text) > _AT_ONCE:
            yield start, texts[start:index]
            start, letters = index, 0
        letters += len(text)
    yield start, texts[start:]


def _numbered(
    texts: Iterable[list[str]], numbers: dict[str, int], *, grow: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """The number of every word and of its text; −1 for an unknown word unless `grow`."""
    ids: list[int] = []
    lengths = []
    for words in texts:
        if grow:
            ids += [numbers.setdefault(word, len(numbers)) for word in words]
        else:
            ids += [numbers.get(word, -1) for word in words]
        lengths.append(len(words))
    return np.array(ids, dtype=np.int64), np.repeat(np.arange(len(lengths)), lengths)


def _word_pairs(ids: np.ndarray, text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The key of every two adjacent known words, and their text."""
    follow = (text[1:] == text[:-1]) & (ids[1:] >= 0) & (ids[:-1] >= 0)
    return ((ids[:-1][follow] + 1) << 32 | ids[1:][follow]).astype(np.uint64), text[1:][follow]


def _windows(blanked: Sequence[str]) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For every length of parts: their starts in the joined words, and the word of each."""
    lengths = np.array([len(word) for word in blanked], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    for length in LENGTHS:
        counts = np.maximum(lengths - length + 1, 0)
        word_codes = np.repeat(np.arange(len(blanked)), counts)
        offsets = np.cumsum(counts) - counts
        part_starts = (starts - offsets)[word_codes] + np.arange(len(word_codes))
        yield length, part_starts, word_codes


def _part_keys(letters: str, starts: np.ndarray, length: int) -> np.ndarray:
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    keys = np.full(len(starts), length, dtype=np.uint64)
    for offset in range(length):
        keys += codes[starts + offset] * _FACTORS[offset]
    return keys


def _grouped(keys: np.ndarray, total: np.ndarray, first: np.ndarray, last: np.ndarray) -> _Grams:
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(keys)])
    if not len(starts):
        return _Grams(keys, total, first, last, order)
    sums = ((np.add, total), (np.minimum, first), (np.maximum, last))
    total, first, last = (function.reduceat(array[order], starts) for function, array in sums)
    return _Grams(ordered[starts], total, first, last, order[starts])


def _most_frequent(names: list[str], total: np.ndarray, max_names: int) -> np.ndarray:
    is_usable = [len(name) <= LONGEST_NAME and "\0" not in name for name in names]
    order = sorted(np.flatnonzero(is_usable).tolist(), key=names.__getitem__)
    if len(order) > max_names:
        # The very sort and type of scikit-learn, so that an exported script breaks ties alike.
        frequent = (-total[order].astype(np.float64)).argsort()[:max_names]
        order = [order[index] for index in np.sort(frequent).tolist()]
    return np.array([names[index] for index in order], dtype=str)


def _count_keys(
    rows: np.ndarray, keys: np.ndarray, name_keys: np.ndarray, height: int
) -> sparse.csr_matrix:
    shape = (height, len(name_keys))
    if not len(name_keys):
        return sparse.csr_matrix(shape, dtype=np.float64)
    order = np.argsort(name_keys)
    positions = np.minimum(np.searchsorted(name_keys[order], keys), len(name_keys) - 1)
    is_known = name_keys[order][positions] == keys
    columns = order[positions[is_known]]
    return sparse.csr_matrix((np.ones(len(columns)), (rows[is_known], columns)), shape)
