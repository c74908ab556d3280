"""Structures of maximum expected accuracy against all structures, and the curve's area by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.losses.rna.decode import GAMMAS, maximum_expected_accuracy
from core.losses.rna.pair_scores import accuracy_curve, pair_counts, roc_area


def nested(first: int, last: int) -> Iterator[list[tuple[int, int]]]:
    """All sets of nested pairs among the bases first … last − 1."""
    if first >= last:
        yield []
        return
    yield from nested(first + 1, last)
    for partner in range(first + 1, last):
        for inside in nested(first + 1, partner):
            for behind in nested(partner + 1, last):
                yield [(first, partner), *inside, *behind]


def posteriors(bases: int, seed: int) -> np.ndarray:
    """Pair probabilities whose sums at a base are at most one."""
    rng = np.random.default_rng(seed)
    P = np.triu(rng.uniform(size=(bases, bases)) ** 4, 1)
    return P / max(1.0, float((P.sum(axis=0) + P.sum(axis=1)).max()))


def accuracy(P: np.ndarray, pairs: list[tuple[int, int]], gamma: float) -> float:
    unpaired = 1.0 - P.sum(axis=0) - P.sum(axis=1)
    alone = set(range(len(P))) - {base for pair in pairs for base in pair}
    return 2 * gamma * sum(P[i, j] for i, j in pairs) + sum(unpaired[i] for i in alone)


def pairs_of(structure: str) -> list[tuple[int, int]]:
    opened: list[int] = []
    pairs = []
    for place, sign in enumerate(structure):
        if sign == "(":
            opened.append(place)
        elif sign == ")":
            pairs.append((opened.pop(), place))
    assert not opened
    return pairs


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gamma", [GAMMAS[0], 0.5, 1.0, 4.0, GAMMAS[-1]])
def test_no_structure_is_better(seed: int, gamma: float) -> None:
    P = posteriors(8, seed)
    best = max(accuracy(P, pairs, gamma) for pairs in nested(0, 8))
    found = pairs_of(maximum_expected_accuracy(P, gamma))
    assert accuracy(P, found, gamma) == pytest.approx(best, rel=1e-12)


def test_ties_fall_the_same_way() -> None:
    P = np.zeros((4, 4))
    P[0, 2] = P[1, 3] = 0.25
    assert {maximum_expected_accuracy(P, 4.0) for _ in range(5)} == {".(.)"}
    assert maximum_expected_accuracy(np.zeros((3, 3)), 4.0) == "..."


def test_larger_gamma_calls_more_pairs() -> None:
    P = posteriors(40, 1)
    called = [maximum_expected_accuracy(P, gamma).count("(") for gamma in GAMMAS]
    assert called == sorted(called)
    assert called[0] < called[-1]


def test_counts_of_pairs_by_hand() -> None:
    P = np.zeros((8, 8))
    P[0, 7], P[1, 6], P[2, 5] = 0.9, 0.6, 0.05
    *counts, own = pair_counts(P, "((....))", 20.0).tolist()
    assert own == [2, 3, 2]
    at = {float(gamma): row for gamma, row in zip(GAMMAS, counts, strict=True)}
    assert at[0.03125] == [0, 0, 2]
    # 2 γ p exceeds what the two bases score unpaired: 0.8 for the second pair, 1.9 for the third.
    assert at[1.0] == [2, 2, 2]
    assert at[16.0] == [2, 2, 2]
    assert at[32.0] == [2, 3, 2]


def test_the_area_by_hand() -> None:
    pairs = np.zeros((16, 3), dtype=int)
    pairs[:, 2] = 100
    assert roc_area(pairs) == 0.0
    pairs[3, :2] = 40, 50  # specificity 0.8, sensitivity 0.4
    pairs[9, :2] = 60, 120  # 0.5, 0.6
    assert accuracy_curve(pairs) == [(GAMMAS[3], 0.4, 0.8), (GAMMAS[9], 0.6, 0.5)]
    assert roc_area(pairs) == pytest.approx(0.5 * 0.8 + 0.3 * 0.5 + 0.2 * 0.4 / 2)
    pairs[:, :2] = 100
    assert roc_area(pairs) == pytest.approx(1.0)
