"""Structures of maximum expected accuracy, from probabilities of base pairs.

They maximize Σ over pairs of 2 γ p_ij + Σ over unpaired bases of p_i, the probability that base i
is unpaired (Do, Woods & Batzoglou 2006, section 2.5): the larger γ, the more pairs are called.
"""

from __future__ import annotations

import numpy as np

from core.losses.compiled import compiled

GAMMAS = 2.0 ** np.arange(-5, 11)  # from few pairs, most of them right, to many


@compiled
def best_pairs(probabilities, unpaired, gamma, best, choice):  # type: ignore[no-untyped-def]
    """The partner of every base in the best structure, −1 where unpaired; shape (n,).

    Args:
        probabilities, unpaired, gamma: of pairs (n, n), above the diagonal; of bases (n,); γ.
        best: room, zeros, shape (n + 1, n + 1): the best score of the bases i … j − 1.
        choice: room, filled with −1, the same shape: what i pairs with there.
    """
    n = unpaired.size
    for i in range(n - 1, -1, -1):
        row, chosen, below = best[i], choice[i], best[i + 1]
        for j in range(i + 1, n + 1):
            row[j] = unpaired[i] + below[j]
        for k in range(i + 1, n):
            gain = 2.0 * gamma * probabilities[i, k]
            # A pair of two bases that score more unpaired is in no best structure.
            if gain > unpaired[i] + unpaired[k]:
                gain += below[k]
                behind = best[k + 1]
                for j in range(k + 1, n + 1):
                    score = gain + behind[j]
                    if score > row[j]:
                        row[j] = score
                        chosen[j] = k
    partner = np.full(n, -1)
    spans = np.zeros((n + 1, 2), dtype=np.int64)
    spans[0, 1] = n
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i, j = spans[waiting, 0], spans[waiting, 1]
        while i < j and choice[i, j] < 0:
            i += 1
        if i < j:
            k = choice[i, j]
            partner[i], partner[k] = k, i
            spans[waiting, 0], spans[waiting, 1] = i + 1, k
            spans[waiting + 1, 0], spans[waiting + 1, 1] = k + 1, j
            waiting += 2
    return partner


def best_partners(probabilities: np.ndarray, gamma: float) -> np.ndarray:
    """The partner of every base in the structure of maximum expected accuracy, −1 if unpaired.

    Of structures that score the same, the one is taken that leaves the first base unpaired, or
    else pairs it with the nearest; then likewise for the next base. Probabilities are (n, n).
    """
    upper = np.ascontiguousarray(np.triu(probabilities, 1))
    unpaired = np.maximum(1.0 - upper.sum(axis=0) - upper.sum(axis=1), 0.0)
    wide = len(unpaired) + 1
    choice = np.full((wide, wide), -1, dtype=np.int32)
    return best_pairs(upper, unpaired, float(gamma), np.zeros((wide, wide)), choice)


def maximum_expected_accuracy(probabilities: np.ndarray, gamma: float) -> str:
    """The structure of maximum expected accuracy, in dots and brackets."""
    partners = best_partners(probabilities, gamma)
    return "".join("." if j < 0 else "(" if j > i else ")" for i, j in enumerate(partners))
