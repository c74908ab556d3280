"""A molecule under given parameters: log Z, expected uses of terms, probabilities of base pairs.

The recursions run on weights scaled by exp(−c) a base. If a table leaves the safe range, c is
corrected by what was filled until then; if that does not help (extreme parameters), the same is
computed with logarithms, slower and always in range. The safe range is 1e±150 for every sum, and
1e±100 for the weights, of which those of loops' lengths may be smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.losses.rna.inside_outside import DEEP, SAFE, SPAN, inside_recursion, outside_recursion
from core.losses.rna.logspace import log_inside, log_outside
from core.losses.rna.parameters import (
    LENGTHS,
    LOOPS,
    RATES,
    TERMS,
    letter_codes,
    terms_of,
    weights_of,
)

FIRST_C = 0.4  # log Z a base of many molecules, within the range that 500 bases allow
_SAFE_WEIGHT = 1e100
_TRIES = 6  # of c, each dearer than a tenth of the same in logarithms


@dataclass
class RecursionTables:
    """The room that the recursions of one molecule work in, filled for the last parameters."""

    inner: np.ndarray  # P, M1, M2, M, shape (4, n + 2, n + 2)
    outer: np.ndarray  # dP, dG, dM1, dM2, dM, shape (5, n + 2, n + 2)
    loose: np.ndarray  # G and D, each with its transpose, (4, n + 2 + DEEP, n + 2 + SPAN)
    ends: np.ndarray  # F and B, shape (2, n + 2)


@dataclass
class FoldResult:
    """Log Z, expected uses and tables of one molecule."""

    log_z: float
    uses: np.ndarray  # expected ones of terms, shape (TERMS,)
    c: float  # the scale of the weights; NaN where logarithms were needed
    tables: RecursionTables | None = None  # the scaled ones; None where logarithms were needed
    paired: np.ndarray | None = None  # pair probabilities from logarithms, (n + 2, n + 2)

    def pair_probabilities(self) -> np.ndarray:
        """The probability of every pair, shape (n, n), above the diagonal."""
        if self.tables is not None:
            return self.tables.inner[0, 1:-1, 1:-1] * self.tables.outer[0, 1:-1, 1:-1]
        assert self.paired is not None
        return self.paired[1:-1, 1:-1]


def room_size(bases: int) -> int:
    """How many numbers the tables of a molecule hold."""
    wide = bases + 2
    return 9 * wide * wide + 4 * (wide + DEEP) * (wide + SPAN) + 2 * wide


def room_for(bases: int, room: np.ndarray | None = None) -> RecursionTables:
    """Tables for a molecule, all zeros, laid in ``room`` where there is one."""
    wide, size = bases + 2, room_size(bases)
    if room is None:
        room = np.empty(size)
    room[:size] = 0.0
    square, loose, ends = np.split(room[:size], [9 * wide * wide, size - 2 * wide])
    tables = square.reshape(9, wide, wide)
    margins = loose.reshape(4, wide + DEEP, wide + SPAN)
    return RecursionTables(tables[:4], tables[4:], margins, ends.reshape(2, wide))


def fold_molecule(
    codes: np.ndarray,
    terms: np.ndarray,
    shortest: int,
    c: float = FIRST_C,
    room: np.ndarray | None = None,
) -> FoldResult:
    """Log Z, expected uses and pair probabilities of a molecule.

    Args:
        codes, terms: of `letter_codes`, shape (n + 2,), and `terms_of`, shape (TERMS,).
        shortest: the fewest bases in a hairpin loop.
        c, room: a guess of (log Z)/n; memory to work in, `room_size` numbers.
    """
    low, high = -math.inf, math.inf
    for _ in range(_TRIES):
        outcome = _fold_scaled(codes, terms, shortest, c, room_for(codes.size - 2, room))
        if isinstance(outcome, FoldResult):
            return outcome
        if math.isnan(outcome):
            break
        low, high = (c, high) if outcome > c else (low, c)
        c = outcome if low < outcome < high else (low + high) / 2.0
    return fold_in_logarithms(codes, terms, np.zeros(TERMS), shortest)[0]


def _fold_scaled(
    codes: np.ndarray, terms: np.ndarray, shortest: int, c: float, tables: RecursionTables
) -> FoldResult | float:
    """The result of the scaled recursions; or a better c; or NaN where none would help."""
    bases = codes.size - 2
    weights, hairpin = weights_of(terms, bases, c)
    checked_weights = np.concatenate([weights[:LOOPS], weights[RATES : RATES + 5]])
    largest_weight = max(checked_weights.max(), weights[LENGTHS:RATES].max())
    if not (largest_weight < _SAFE_WEIGHT and checked_weights.min() > 1.0 / _SAFE_WEIGHT):
        return math.nan
    inputs = codes, weights, hairpin, shortest
    inner, outer, loose = tuple(tables.inner), tuple(tables.outer), tuple(tables.loose)
    z = inside_recursion(inputs, inner, loose[:2], tables.ends[0])
    if z < 0.0:
        return c - z
    if z == 0.0:
        return FIRST_C if c > FIRST_C else c + math.log(1.0 / SAFE) / bases
    if not (1.0 / SAFE < z < SAFE):  # or it is no number
        return c + math.log(z) / bases if z < math.inf else math.nan
    uses = np.zeros(TERMS)
    loops = loose[:2], loose[2:]
    largest = outside_recursion(inputs, inner, outer, loops, tables.ends, uses)
    ranges = (table.max() for table in (tables.inner, tables.outer, tables.loose, tables.ends))
    if not all(top < SAFE for top in (*ranges, largest)):
        return math.nan
    return FoldResult(math.log(z) + c * bases, uses, c, tables)


def log_partition(w: np.ndarray, letters: str, shortest_hairpin: int = 0) -> float:
    """Log Z of the 708 parameters for letters A, C, G, U (or T) and N; ValueError for others."""
    return fold_molecule(letter_codes(letters), terms_of(w), shortest_hairpin).log_z


def pair_probabilities(w: np.ndarray, letters: str, shortest_hairpin: int = 0) -> np.ndarray:
    """The probability of every pair, shape (n, n), above the diagonal."""
    return fold_molecule(letter_codes(letters), terms_of(w), shortest_hairpin).pair_probabilities()


def fold_in_logarithms(
    codes: np.ndarray, terms: np.ndarray, along: np.ndarray, shortest: int
) -> tuple[FoldResult, np.ndarray]:
    """As `fold_molecule` in logarithms, and the change of the uses along S v, shape (TERMS,)."""
    wide = codes.size
    tables, change = np.full((4, wide, wide), -np.inf), np.zeros((4, wide, wide))
    F, dF = np.zeros((2, wide - 1))
    inputs = codes, terms, along, shortest
    log_inside(inputs, tables, change, F, dF)
    q, uses = np.zeros((2, *tables.shape)), np.zeros((2, TERMS))
    log_outside(inputs, tables, change, F, dF, q, uses)
    return FoldResult(float(F[-1]), uses[0], math.nan, None, q[0, 0]), uses[1]
