"""Against CONTRAfold-SE: its published rounding rebuilt in a small recursion of another make.

The published program adds probabilities in single precision with a cubic log(1 + exp(x)) and drops
what is smaller by exp(−11.86). The recursion here does that, or not, at wish: with it, it must give
what the program printed; without it, what the product gives.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from core.losses.rna import log_partition, pair_probabilities
from core.losses.rna.parameters import MOTIFS, NAMES

LETTERS = "ACGU"
# Upper ends of the pieces, and coefficients from the cube down, as published.
PIECES = np.array(
    [
        [0.6615367791, -0.0065591595, 0.1276442762, 0.4996554598, 0.6931542306],
        [1.6320158198, -0.0155157557, 0.1446775699, 0.4882939746, 0.6958092989],
        [2.4912588184, -0.0128909247, 0.1301028251, 0.5150398748, 0.6795585882],
        [3.3792499610, -0.0072142647, 0.0877540853, 0.6208708362, 0.5909675829],
        [4.4261691294, -0.0031455354, 0.0467229449, 0.7592532310, 0.4348794399],
        [5.7890710412, -0.0010110698, 0.0185943421, 0.8831730747, 0.2523695427],
        [7.8162726752, -0.0001962780, 0.0046084408, 0.9634431978, 0.0983148903],
        [11.8624794162, -0.0000113994, 0.0003734731, 0.9959107193, 0.0149855051],
    ]
)


@njit(cache=True, error_model="numpy")
def plus(x, y, pieces):  # type: ignore[no-untyped-def]
    """log(exp x + exp y): by the pieces, or exactly where none are given."""
    if x < y:
        x, y = y, x
    if y == -np.inf:
        return x
    gap = x - y
    if len(pieces) == 0:
        return x + np.log1p(np.exp(-gap))
    if not gap < pieces[-1, 0]:
        return x
    k = 0
    while gap >= pieces[k, 0]:
        k += 1
    cubic = ((pieces[k, 1] * gap + pieces[k, 2]) * gap + pieces[k, 3]) * gap + pieces[k, 4]
    return cubic + y


@njit(cache=True, error_model="numpy")
def inside(
    s, shortest, pieces, none, pair, close, stack, branch, hairpin, loop, one, square, rates
):  # type: ignore[no-untyped-def]
    """log Z; intervals i, j hold the letters i + 1 … j; ``none`` is −inf in the right precision."""
    n = len(s) - 2
    C = np.full((n + 1, n + 1), none)
    M1, M = C.copy(), C.copy()
    for i in range(n, -1, -1):
        for j in range(i, n + 1):
            two = none
            for k in range(i + 1, j):
                two = plus(two, M1[i, k] + M[k, j], pieces)
            if i > 0 and j < n and pair[s[i], s[j + 1]] > -np.inf:
                total = none
                outer = close[s[i], s[j + 1], s[i + 1], s[j]]
                if j - i >= shortest:
                    total = plus(total, hairpin[min(j - i, 30)] + outer, pieces)
                for p in range(i, min(i + 30, j) + 1):
                    for q in range(j, max(p + 2, p - i + j - 30) - 1, -1):
                        inner = pair[s[p + 1], s[q]]
                        if inner == -np.inf:
                            continue
                        left, right = p - i, j - q
                        if left == 0 and right == 0:
                            score = inner + stack[s[i], s[j + 1], s[i + 1], s[j]]
                        else:
                            score = loop[left, right] + inner + outer
                            score += close[s[q], s[p + 1], s[q + 1], s[p]]
                        if left == 0 and right == 1:
                            score += one[s[j]]
                        if left == 1 and right == 0:
                            score += one[s[i + 1]]
                        if left == 1 and right == 1:
                            score += square[s[i + 1], s[j]]
                        total = plus(total, score + C[p + 1, q - 1], pieces)
                multi = two + branch[s[i], s[j + 1], s[i + 1], s[j]] + rates[2] + rates[0]
                C[i, j] = plus(total, multi, pieces)
            if i > 0 and i + 2 <= j and j < n:
                total = none
                if pair[s[i + 1], s[j]] > -np.inf:
                    outer = branch[s[j], s[i + 1], s[j + 1], s[i]] + rates[2]
                    total = C[i + 1, j - 1] + outer + pair[s[i + 1], s[j]]
                M1[i, j] = plus(total, M1[i + 1, j] + rates[1], pieces)
                M[i, j] = plus(plus(two, M[i, j - 1] + rates[1], pieces), M1[i, j], pieces)
    F = np.full(n + 1, none)
    F[0] = rates[3] - rates[3]
    for j in range(1, n + 1):
        total = F[j - 1] + rates[3]
        for k in range(0, j - 1):
            score = pair[s[k + 1], s[j]]
            if score > -np.inf:
                score += rates[4] + branch[s[j], s[k + 1], s[j + 1], s[k]]
                total = plus(total, F[k] + C[k + 1, j - 1] + score, pieces)
        F[j] = total
    return F[n]


def table(width: int, score: Callable[..., float]) -> np.ndarray:
    """A score for every combination of letters, 0 where one is N (or the end)."""
    shape = (5,) * width
    values = np.zeros(shape)
    for place in np.ndindex(*(4,) * width):
        values[place] = score(*(LETTERS[code] for code in place))
    return values


def lookups(w: np.ndarray) -> list[np.ndarray]:
    """The tables that the recursion reads, from parameters by name."""
    value = dict(zip(NAMES, w, strict=True))

    def either(prefix: str, *spellings: str) -> float:
        return next(value[prefix + s] for s in spellings if prefix + s in value)

    def steps(name: str, length: int, last: int) -> float:
        whole = [value.get(f"{name}_at_least_{k}", 0.0) for k in range(min(length, last) + 1)]
        return float(sum(whole))

    def lengths(left: int, right: int) -> float:
        if min(left, right) == 0:
            return steps("bulge_length", left + right, 30)
        sizes = f"internal_explicit_{min(left, right)}_{max(left, right)}"
        total = steps("internal_length", left + right, 30) + value.get(sizes, 0.0)
        total += steps("internal_asymmetry", abs(left - right), 28)
        return total + (steps("internal_symmetric_length", left, 15) if left == right else 0.0)

    pairing = np.full((5, 5), -np.inf)
    for a, b in ("AU", "UA", "CG", "GC", "GU", "UG"):
        score = either("base_pair_", a + b, b + a)
        pairing[LETTERS.index(a), LETTERS.index(b)] = score
    helix = table(2, lambda a, b: value[f"helix_closing_{a}{b}"])[:, :, None, None]
    loop = np.zeros((31, 31))
    for left, right in np.ndindex(31, 31):
        if 0 < left + right <= 30:
            loop[left, right] = lengths(left, right)
    return [
        pairing,
        helix + table(4, lambda *s: value["terminal_mismatch_" + "".join(s)]),
        table(4, lambda *s: either("helix_stacking_", "".join(s), "".join(s[::-1]))),
        helix
        + table(3, lambda *s: value["dangle_left_" + "".join(s)])[:, :, :, None]
        + table(3, lambda *s: value["dangle_right_" + "".join(s)])[:, :, None, :],
        np.array([steps("hairpin_length", length, 30) for length in range(31)]),
        loop,
        table(1, lambda a: value[f"bulge_0x1_nucleotides_{a}"]),
        table(2, lambda a, b: either("internal_1x1_nucleotides_", a + b, b + a)),
        np.array([value[n] for n in NAMES if n.startswith(("multi", "external"))]),
    ]


def reference(w: np.ndarray, letters: str, shortest: int, published: bool) -> float:
    """log Z by the recursion above."""
    kind: Any = np.float32 if published else np.float64
    pieces = PIECES if published else PIECES[:0]
    codes = [(LETTERS + "N").index(letter) for letter in letters]
    tables = [np.ascontiguousarray(one, dtype=kind) for one in lookups(w)]
    s = np.array([4, *codes, 4])
    return float(inside(s, shortest, pieces.astype(kind), kind(-np.inf), *tables))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def published(shared_data: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Parameter sets by name, and letters by molecule."""
    table = rows(shared_data / "rna_oracle" / "parameters.csv")
    sets = {name: np.array([float(row[name]) for row in table]) for name in ("trained", "random1")}
    molecules = rows(shared_data / "rna_s151rfam.csv")
    return sets, {row["id"]: row["sequence"].upper().replace("T", "U") for row in molecules}


def test_parameters_are_those_of_the_table_in_its_order(shared_data: Path) -> None:
    table = rows(shared_data / "rna_oracle" / "parameters.csv")
    assert [row["name"] for row in table] == NAMES
    assert (len(NAMES), len(set(MOTIFS))) == (708, 15)


def test_what_the_program_printed(
    shared_data: Path, published: tuple[dict[str, np.ndarray], dict[str, str]]
) -> None:
    sets, letters = published
    printed = rows(shared_data / "rna_oracle" / "log_partition.csv")
    assert len(printed) == 52
    for row in printed:
        w, molecule = sets[row["parameters"]], letters[row["id"]]
        expected = float(row["log_partition"])
        close = pytest.approx(expected, abs=2e-4, rel=1e-5)
        close.abs = 2e-4 + 1e-5 * abs(expected)  # type: ignore[attr-defined]
        assert reference(w, molecule, 0, published=True) == close
        exact = reference(w, molecule, 0, published=False)
        assert log_partition(w, molecule, 0) == pytest.approx(exact, rel=1e-9)
        if row["parameters"] == "random1":
            assert log_partition(w, molecule, 0) == close


def test_pair_probabilities_that_the_program_printed(
    shared_data: Path, published: tuple[dict[str, np.ndarray], dict[str, str]]
) -> None:
    sets, letters = published
    printed: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for row in rows(shared_data / "rna_oracle" / "pair_posteriors.csv"):
        place = (int(row["i"]) - 1, int(row["j"]) - 1)
        of_one = printed.setdefault((row["id"], row["parameters"]), {})
        of_one[place] = float(row["probability"])
    assert len(printed) == 12
    for (molecule, name), known in printed.items():
        expected = np.zeros((len(letters[molecule]),) * 2)
        for place, probability in known.items():
            expected[place] = probability
        found = pair_probabilities(sets[name], letters[molecule], 0)
        np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize(("size", "spread"), [(30, 1.0), (90, 0.3), (200, 5.0), (150, 50.0)])
def test_the_same_log_partition_on_generated_molecules(size: int, spread: float) -> None:
    rng = np.random.default_rng(size)
    letters = "".join(rng.choice(list("ACGUN"), size, p=[0.24, 0.24, 0.24, 0.24, 0.04]))
    w = rng.uniform(-spread, spread, len(NAMES))
    exact = reference(w, letters, 3, published=False)
    assert log_partition(w, letters, 3) == pytest.approx(exact, rel=1e-9)
    # What the published program drops is little, but not nothing.
    assert reference(w, letters, 3, published=True) == pytest.approx(exact, rel=1e-3)
