"""The score of one given structure: how often it uses every term, and its derivations.

A multi-branch loop of b branches with u unpaired bases after the last is derived in
(u + b − 2)!/(u! (b − 2)!) ways; a structure's probability is the sum of its derivations'.
"""

from __future__ import annotations

import math

import numpy as np

from core.datasets.molecules import Pair, bracket_pairs, neighbours
from core.losses.rna.logspace import loop_terms
from core.losses.rna.terms import (
    BRANCH,
    CLOSE,
    HAIRPIN,
    LONGEST,
    PAIR,
    RATES,
    STACK,
    TERMS,
    letter_codes,
)


def structure_uses(letters: str, structure: str) -> tuple[np.ndarray, float]:
    """Uses of every term, shape (TERMS,), and the logarithm of the number of derivations."""
    codes, uses, derivations = letter_codes(letters), np.zeros(TERMS), 0.0
    pairs = [(i + 1, j + 1) for i, j in bracket_pairs(structure)]
    inside = neighbours(pairs)
    within = {pair for inner in inside.values() for pair in inner}
    outer = [pair for pair in pairs if pair not in within]
    for pair in outer:
        uses[BRANCH + _seen_from_outside(codes, pair)] += 1
    uses[RATES + 4] += len(outer)
    uses[RATES + 3] += len(letters) - sum(j - i + 1 for i, j in outer)
    for (i, j), inner in inside.items():
        uses[PAIR + 5 * codes[i] + codes[j]] += 1
        letters_inside = _letters_index(codes[i], codes[j], codes[i + 1], codes[j - 1])
        if not inner:
            uses[CLOSE + letters_inside] += 1
            uses[HAIRPIN + min(j - i - 1, LONGEST)] += 1
        elif len(inner) == 1:
            _count_loop(uses, codes, (i, j), inner[0])
        else:
            uses[BRANCH + letters_inside] += 1
            uses[RATES] += 1
            for pair in inner:
                uses[BRANCH + _seen_from_outside(codes, pair)] += 1
            uses[RATES + 1] += j - i - 1 - sum(last - first + 1 for first, last in inner)
            uses[RATES + 2] += len(inner)
            after = j - 1 - max(last for _, last in inner)
            derivations += math.log(math.comb(after + len(inner) - 2, len(inner) - 2))
    return uses, derivations


def _count_loop(uses: np.ndarray, codes: np.ndarray, outer: Pair, inner: Pair) -> None:
    """Counts the terms of a stacked pair, a bulge or an internal loop."""
    (i, j), (p, q) = outer, inner
    left, right = p - i - 1, j - q - 1
    letters_inside = _letters_index(codes[i], codes[j], codes[i + 1], codes[j - 1])
    if left == right == 0:
        uses[STACK + letters_inside] += 1
        return
    uses[CLOSE + letters_inside] += 1
    uses[CLOSE + _seen_from_outside(codes, inner)] += 1
    for term in loop_terms(codes, i, j, p, q):
        uses[term] += 1


def _seen_from_outside(codes: np.ndarray, pair: Pair) -> int:
    i, j = pair
    return _letters_index(codes[j], codes[i], codes[j + 1], codes[i - 1])


def _letters_index(a: int, b: int, c: int, d: int) -> int:
    return int(125 * a + 25 * b + 5 * c + d)
