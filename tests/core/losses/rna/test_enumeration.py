"""log Z, gradient and Hessian products against the sum over every structure of small molecules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from core.datasets.molecules import parse_molecule
from core.losses.rna import RnaLoss, log_partition, pair_probabilities
from core.losses.rna.fold import fold_in_logarithms
from core.losses.rna.parameters import NAMES, counts_of, letter_codes, terms_of

Pairs = tuple[tuple[int, int], ...]
COLUMN = {name: place for place, name in enumerate(NAMES)}
CASES = [
    ("GGCGCGCAACU", 0),  # multi-branch loops of three branches with unpaired bases behind
    ("gacgtnacgcu", 0),
    ("AUGCNUAGCAGC", 1),
    ("GGGAAACCCAGUCU", 3),
    ("GCAUAGCUUAGCGU", 2),
    ("NNANN", 0),
    ("A", 0),
]


def structures(letters: str, shortest: int, first: int, last: int) -> Iterator[Pairs]:
    """All sets of nested canonical pairs among the letters first … last − 1."""
    if first >= last:
        yield ()
        return
    yield from structures(letters, shortest, first + 1, last)
    for partner in range(first + shortest + 1, last):
        if letters[first] + letters[partner] in {"AU", "UA", "CG", "GC", "GU", "UG"}:
            for inside in structures(letters, shortest, first + 1, partner):
                for behind in structures(letters, shortest, partner + 1, last):
                    yield ((first, partner), *inside, *behind)


def one_of(prefix: str, *spellings: str) -> str:
    """The parameter that is written in one of several ways."""
    return next(prefix + s for s in spellings if prefix + s in COLUMN)


def features(letters: str, pairs: Pairs) -> tuple[Counter[str], int]:
    """How often a structure counts every parameter, and how many derivations it has."""
    count: Counter[str] = Counter()
    ways = 1

    def at(place: int) -> str:
        return letters[place] if 0 <= place < len(letters) else "N"

    def add(name: str) -> None:
        if "N" not in name.rsplit("_", 1)[1]:
            count[name] += 1

    def mismatch(i: int, j: int, c: int, d: int) -> None:
        add(f"helix_closing_{at(i)}{at(j)}")
        add(f"terminal_mismatch_{at(i)}{at(j)}{at(c)}{at(d)}")

    def dangles(i: int, j: int, c: int, d: int) -> None:
        add(f"helix_closing_{at(i)}{at(j)}")
        add(f"dangle_left_{at(i)}{at(j)}{at(c)}")
        add(f"dangle_right_{at(i)}{at(j)}{at(d)}")

    def at_least(name: str, first: int, length: int, longest: int) -> None:
        for step in range(first, min(length, longest) + 1):
            count[f"{name}_at_least_{step}"] += 1

    def loop(i: int, j: int, p: int, q: int) -> None:
        left, right = p - i - 1, j - q - 1
        if left == right == 0:
            spelled = at(i) + at(j) + at(p) + at(q)
            count[one_of("helix_stacking_", spelled, spelled[::-1])] += 1
            return
        mismatch(i, j, i + 1, j - 1)
        mismatch(q, p, q + 1, p - 1)
        if left == 0 or right == 0:
            at_least("bulge_length", 1, left + right, 30)
            if left + right == 1:
                add(f"bulge_0x1_nucleotides_{at(i + 1 if left else j - 1)}")
            return
        at_least("internal_length", 2, left + right, 30)
        at_least("internal_asymmetry", 1, abs(left - right), 28)
        if left <= 4 and right <= 4:
            count[one_of("internal_explicit_", f"{left}_{right}", f"{right}_{left}")] += 1
        if left == right:
            at_least("internal_symmetric_length", 1, left, 15)
        if left == right == 1 and "N" not in at(p - 1) + at(q + 1):
            x, y = at(p - 1), at(q + 1)
            count[one_of("internal_1x1_nucleotides_", x + y, y + x)] += 1

    def directly_inside(i: int, j: int) -> list[tuple[int, int]]:
        within = [(p, q) for p, q in pairs if i < p and q < j]
        return [(p, q) for p, q in within if not any(r < p and q < s for r, s in within)]

    for i, j in pairs:
        count[one_of("base_pair_", at(i) + at(j), at(j) + at(i))] += 1
        inner = directly_inside(i, j)
        if not inner:
            mismatch(i, j, i + 1, j - 1)
            at_least("hairpin_length", 0, j - i - 1, 30)
        elif len(inner) == 1:
            loop(i, j, *inner[0])
        else:
            dangles(i, j, i + 1, j - 1)
            count["multi_base"] += 1
            count["multi_paired"] += 1 + len(inner)
            for p, q in inner:
                dangles(q, p, q + 1, p - 1)
            count["multi_unpaired"] += j - i - 1 - sum(q - p + 1 for p, q in inner)
            ways *= derivations(len(inner) - 1, j - 1 - max(q for _, q in inner))
    outer = directly_inside(-1, len(letters))
    count["external_paired"] += len(outer)
    for p, q in outer:
        dangles(q, p, q + 1, p - 1)
    count["external_unpaired"] += len(letters) - sum(q - p + 1 for p, q in outer)
    return count, ways


def derivations(branches: int, behind: int) -> int:
    """Ways in which the grammar makes branches with unpaired bases behind the last one."""
    if branches == 1 or behind < 0:
        return int(behind >= 0)
    return derivations(branches - 1, behind) + derivations(branches, behind - 1)


def everything(letters: str, shortest: int) -> tuple[list[Pairs], np.ndarray, np.ndarray]:
    """Every structure, its counts of parameters, and the logarithm of its derivations."""
    plain = letters.upper().replace("T", "U")
    found = list(structures(plain, shortest, 0, len(plain)))
    counts, ways = np.zeros((len(found), len(NAMES))), np.zeros(len(found))
    for row, pairs in enumerate(found):
        count, derived = features(plain, pairs)
        ways[row] = math.log(derived)
        for name, times in count.items():
            counts[row, COLUMN[name]] += times
    return found, counts, ways


@pytest.mark.parametrize(("letters", "shortest"), CASES)
def test_sums_over_all_structures(letters: str, shortest: int) -> None:
    rng = np.random.default_rng(len(letters))
    w, v = rng.normal(size=(2, len(NAMES)))
    found, counts, ways = everything(letters, shortest)
    scores = counts @ w + ways
    log_z = float(np.logaddexp.reduce(scores))
    share = np.exp(scores - log_z)
    mean = share @ counts
    product = (share * ((counts - mean) @ v)) @ (counts - mean)

    assert log_partition(w, letters, shortest) == pytest.approx(log_z, abs=1e-10)
    P = np.zeros((len(letters), len(letters)))
    for pairs, probability in zip(found, share, strict=True):
        for i, j in pairs:
            P[i, j] += probability
    np.testing.assert_allclose(pair_probabilities(w, letters, shortest), P, atol=1e-10)

    row = len(found) // 2
    brackets = ["."] * len(letters)
    for i, j in found[row]:
        brackets[i], brackets[j] = "(", ")"
    loss = RnaLoss([parse_molecule(letters, "".join(brackets), shortest)], shortest)
    value, gradient = loss.value_and_gradient(w)
    assert value == pytest.approx(log_z - scores[row], abs=1e-10)
    np.testing.assert_allclose(gradient, mean - counts[row], atol=1e-10)
    np.testing.assert_allclose(loss.point_at(w).product(v), product, atol=1e-10)

    folded, change = fold_in_logarithms(letter_codes(letters), terms_of(w), terms_of(v), shortest)
    assert folded.log_z == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(counts_of(folded.uses), mean, atol=1e-10)
    np.testing.assert_allclose(counts_of(change), product, atol=1e-10)
    np.testing.assert_allclose(folded.pair_probabilities(), P, atol=1e-10)


def test_the_cases_hold_multi_branch_loops_that_are_derived_in_several_ways() -> None:
    _, counts, ways = everything(*CASES[0])
    assert counts[:, COLUMN["multi_base"]].max() == 1
    assert ways.max() == pytest.approx(math.log(4))


def test_a_base_that_is_not_known_pairs_with_nothing_and_its_neighbours_score_less() -> None:
    w = np.zeros(len(NAMES))
    assert not pair_probabilities(w, "GGGNAACCC")[3].any()
    w[COLUMN["dangle_left_CGA"]] = 5.0  # the base behind the pair G … C of a whole structure
    raised = log_partition(w, "GAAACA") - log_partition(0 * w, "GAAACA")
    assert raised > 1.0
    assert log_partition(w, "GAAACN") == log_partition(0 * w, "GAAACN")
