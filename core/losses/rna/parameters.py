"""The 708 parameters of the grammar, and the terms that it adds up: from one to the other and back.

The names are those of CONTRAfold-SE's parameter files; the order is the one of its table. Lengths
are cumulative: a hairpin loop of four bases takes "at least 0" to "at least 4". The 15 motifs are
those of Foo 2009, table 3b, and Do 2008, figure 3b.

A term is a sum of parameters: the same map serves scores (t = S w), their change along a direction
(S v) and, transposed, expected counts (Sᵀ u).

| term | begin in t | looked up by | sum of |
| --- | --- | --- | --- |
| close | CLOSE | a, b, c, d | helix closing ab, terminal mismatch abcd |
| branch | BRANCH | a, b, c, d | helix closing ab, left dangle abc, right dangle abd |
| stack | STACK | a, b, c, d | helix stacking abcd |
| pair | PAIR | a, b | base pair ab |
| bulge | BULGE | a | bulge of one base, which is a |
| square | SQUARE | a, b | 1×1 internal loop of a and b |
| bulges | BULGES | length | length of a bulge of two bases or more |
| small | SMALL | left, right | lengths of an internal loop of at most 8 bases, but for 1×1 |
| symmetric | SYMMETRIC | left = right | lengths of a symmetric internal loop of 10 bases or more |
| lengths | LENGTHS | left + right | length of any other internal loop |
| asymmetry | ASYMMETRY | 2 + difference | its asymmetry |
| rates | RATES | | closing a multi-branch loop; unpaired, paired in one; the same outside |
| hairpin | HAIRPIN | min(length, 30) | hairpin loop lengths |

a pairs with b; c follows a, d precedes b. Letters are coded A 0, C 1, G 2, U 3; N and "beyond
the end" are 4, and a parameter that would name such a letter scores zero. A weight is
exp(t − c · bases), the bases that the term consumes, with c near (log Z)/bases.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.losses.compiled import compiled

LETTERS = "ACGU"
LONGEST = 30  # bases in a bulge or internal loop, and the longest hairpin told apart
SHORT = 8  # bases in an internal loop up to which each pair of lengths has a term of its own
CLOSE, BRANCH, STACK, PAIR, BULGE, SQUARE, LOOPS = 0, 625, 1250, 1875, 1900, 1905, 1930
BULGES, SMALL, SYMMETRIC, LENGTHS, ASYMMETRY = 1930, 1962, 2026, 2042, 2074
RATES, HAIRPIN, TERMS = 2106, 2111, 2142
UNKNOWN = 4  # the code of N and of "beyond the end"
PAIRS = np.zeros((5, 5), dtype=np.bool_)
for _first, _second in ("AU", "CG", "GU"):
    PAIRS[LETTERS.index(_first), LETTERS.index(_second)] = True
    PAIRS[LETTERS.index(_second), LETTERS.index(_first)] = True


def _strings(length: int) -> list[str]:
    strings = [""]
    for _ in range(length):
        strings = [start + letter for start in strings for letter in LETTERS]
    return strings


def _distinct_strings(strings: list[str], turned: bool) -> list[str]:
    """Those that come first among themselves and their reverse (turned) or sorted form."""
    if turned:
        return [s for s in strings if s <= s[::-1]]
    return [s for s in strings if s == "".join(sorted(s))]


def cumulative_names(name: str, first: int, last: int) -> list[str]:
    """Names of the cumulative parameters of lengths, from the first to the last."""
    return [f"{name}_at_least_{length}" for length in range(first, last + 1)]


_SIZES = [f"internal_explicit_{a}_{b}" for a in range(1, 5) for b in range(a, 5)]
_LAYOUT: dict[str, list[str]] = {
    "base pairings": [f"base_pair_{s}" for s in _distinct_strings(_strings(2), False)],
    "terminal mismatch interactions": [f"terminal_mismatch_{s}" for s in _strings(4)],
    "hairpin loop lengths": cumulative_names("hairpin_length", 0, 30),
    "explicit internal loop sizes": _SIZES,
    "bulge loop lengths": cumulative_names("bulge_length", 1, 30),
    "internal loop lengths": cumulative_names("internal_length", 2, 30),
    "symmetric internal loop lengths": cumulative_names("internal_symmetric_length", 1, 15),
    "internal loop asymmetry": cumulative_names("internal_asymmetry", 1, 28),
    "single base bulge nucleotides": [f"bulge_0x1_nucleotides_{a}" for a in LETTERS],
    "1x1 internal loop nucleotides": [
        f"internal_1x1_nucleotides_{s}" for s in _distinct_strings(_strings(2), False)
    ],
    "helix stacking interactions": [
        f"helix_stacking_{s}" for s in _distinct_strings(_strings(4), True)
    ],
    "helix closing interactions": [f"helix_closing_{s}" for s in _strings(2)],
    "multi-branch loop lengths": ["multi_base", "multi_unpaired", "multi_paired"],
    "single base pair stacking interactions": [
        f"dangle_{side}_{s}" for side in ("left", "right") for s in _strings(3)
    ],
    "external loop lengths": ["external_unpaired", "external_paired"],
}

MOTIFS: list[str] = list(_LAYOUT)
NAMES: list[str] = [name for names in _LAYOUT.values() for name in names]
MOTIF_OF: np.ndarray = np.repeat(np.arange(len(MOTIFS)), [len(names) for names in _LAYOUT.values()])


def letter_codes(letters: str) -> np.ndarray:
    """Codes of letters, UNKNOWN before, behind and for any of several bases; ValueError if none."""
    code_of = dict.fromkeys("NRYSWKMBDHV", UNKNOWN)
    code_of |= {**{letter: code for code, letter in enumerate(LETTERS)}, "T": 3}
    codes = [code_of.get(letter.upper(), -1) for letter in letters]
    if -1 in codes:
        position = codes.index(-1)
        raise ValueError(f"letter {position + 1} is {letters[position]!r}")
    return np.array([UNKNOWN, *codes, UNKNOWN], dtype=np.int64)


def _pair_terms() -> Iterator[tuple[int, list[str]]]:
    """The terms of a pair ab with the letters c and d beside it, and the names they sum."""
    letters = LETTERS + "N"
    for index in range(4 * 125):
        first, second, third, fourth = index // 125, index // 25 % 5, index // 5 % 5, index % 5
        if second == UNKNOWN:
            continue
        a, b, c, d = letters[first], letters[second], letters[third], letters[fourth]
        left = [f"dangle_left_{a}{b}{c}"] if c != "N" else []
        right = [f"dangle_right_{a}{b}{d}"] if d != "N" else []
        mismatch = [f"terminal_mismatch_{a}{b}{c}{d}"] if left and right else []
        yield CLOSE + index, [f"helix_closing_{a}{b}", *mismatch]
        yield BRANCH + index, [f"helix_closing_{a}{b}", *left, *right]
        if mismatch:
            yield STACK + index, ["helix_stacking_" + min(a + b + c + d, d + c + b + a)]
        if index % 25 == 0:
            yield PAIR + 5 * first + second, ["base_pair_" + min(a + b, b + a)]


def _lengths(left: int, right: int) -> list[str]:
    """The names that a loop between two pairs sums for its lengths alone."""
    if left == 0 or right == 0:
        return cumulative_names("bulge_length", 1, left + right)
    names = cumulative_names("internal_length", 2, left + right)
    names += cumulative_names("internal_asymmetry", 1, abs(left - right))
    if max(left, right) <= 4:
        names.append(f"internal_explicit_{min(left, right)}_{max(left, right)}")
    if left == right:
        names += cumulative_names("internal_symmetric_length", 1, left)
    return names


def _loop_terms() -> Iterator[tuple[int, list[str]]]:
    letters = LETTERS + "N"
    for first, a in enumerate(letters):
        bulge_names = [f"bulge_0x1_nucleotides_{a}"] if a != "N" else []
        yield BULGE + first, bulge_names + _lengths(0, 1)
        for second, b in enumerate(letters):
            named = "N" not in (a, b)
            square_names = ["internal_1x1_nucleotides_" + min(a + b, b + a)] if named else []
            yield SQUARE + 5 * first + second, square_names + _lengths(1, 1)
    for length in range(2, LONGEST + 1):
        yield BULGES + length, _lengths(0, length)
    for left in range(1, SHORT):
        for right in range(1, SHORT + 1 - left):
            if left + right > 2:
                yield SMALL + SHORT * left + right, _lengths(left, right)
    for side in range(SHORT // 2 + 1, LONGEST // 2 + 1):
        yield SYMMETRIC + side, _lengths(side, side)
    for length in range(SHORT + 1, LONGEST + 1):
        yield LENGTHS + length, cumulative_names("internal_length", 2, length)
    for difference in range(1, LONGEST - 1):
        yield ASYMMETRY + 2 + difference, cumulative_names("internal_asymmetry", 1, difference)
    for length in range(LONGEST + 1):
        yield HAIRPIN + length, cumulative_names("hairpin_length", 0, length)
    yield RATES, ["multi_base", "multi_paired"]
    outer = ("multi_unpaired", "multi_paired", "external_unpaired", "external_paired")
    yield from ((RATES + 1 + offset, [name]) for offset, name in enumerate(outer))


def _term_links() -> tuple[np.ndarray, np.ndarray]:
    """S as the positions of its ones: rows (terms) and columns (parameters)."""
    column = {name: index for index, name in enumerate(NAMES)}
    terms = [*_pair_terms(), *_loop_terms()]
    rows = [term for term, names in terms for _ in names]
    return np.array(rows), np.array([column[name] for _, names in terms for name in names])


def _consumed() -> tuple[np.ndarray, np.ndarray]:
    """How many bases each term consumes, and whether the recursions use it; shapes (TERMS,)."""
    bases, used = np.zeros(TERMS), np.ones(TERMS, dtype=np.bool_)
    bases[PAIR:BULGE] = bases[SQUARE:LOOPS] = 2
    bases[BULGE:SQUARE] = bases[RATES + 1] = bases[RATES + 3] = 1
    used[LOOPS:RATES] = False
    used[[term for term, _ in _loop_terms()]] = True
    left, right = np.divmod(np.arange(SHORT * SHORT), SHORT)
    bases[BULGES:SMALL] = bases[LENGTHS:ASYMMETRY] = np.arange(32)
    bases[SMALL:SYMMETRIC] = left + right
    bases[SYMMETRIC:LENGTHS] = 2 * np.arange(16)
    bases[HAIRPIN:] = np.arange(LONGEST + 1)
    return bases, used


_ROWS, _COLUMNS = _term_links()
_BASES, _USED = _consumed()


def terms_of(w: np.ndarray) -> np.ndarray:
    """S w: the terms of parameters (or of a direction) w, shape (TERMS,)."""
    return np.bincount(_ROWS, weights=w[_COLUMNS], minlength=TERMS)


def counts_of(uses: np.ndarray) -> np.ndarray:
    """Sᵀ u: how often every parameter was counted where the terms were used u times, (708,)."""
    return np.bincount(_COLUMNS, weights=uses[_ROWS], minlength=len(NAMES))


def weights_of(terms: np.ndarray, bases: int, c: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights exp(t − c · bases) of terms, and of hairpins of 0 … bases letters, perhaps inf."""
    with np.errstate(over="ignore", under="ignore"):
        weights = np.where(_USED, np.exp(terms - c * _BASES), 0.0)
        lengths = np.arange(bases + 1)
        hairpin = np.exp(terms[HAIRPIN + np.minimum(lengths, LONGEST)] - c * lengths)
    return weights, hairpin


@compiled
def term_tables(flat):  # type: ignore[no-untyped-def]
    """Close, branch, stack, pair, bulge, square, loops (BULGES to ASYMMETRY), rates, as tables."""
    return (
        flat[CLOSE:BRANCH].reshape(5, 5, 5, 5),
        flat[BRANCH:STACK].reshape(5, 5, 5, 5),
        flat[STACK:PAIR].reshape(5, 5, 5, 5),
        flat[PAIR:BULGE].reshape(5, 5),
        flat[BULGE:SQUARE],
        flat[SQUARE:LOOPS].reshape(5, 5),
        flat[LOOPS:RATES],
        flat[RATES:HAIRPIN],
    )
