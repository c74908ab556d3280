"""Parses molecules: letters and brackets, refused characters and dropped pairs.

Letters for several bases (IUPAC: R, Y, …) are N. Pairs that the grammar cannot make are dropped, in
the order of KINDS; of crossing brackets the largest nested set stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from core.errors import UnusableError

SHORTEST = 3  # unpaired bases of the smallest hairpin in nature
LONGEST_LOOP = 30  # unpaired bases between a pair and the only pair inside it
DOTS = ".,:-_~"
NOT_CANONICAL = "bases that do not pair"
SHORT_HAIRPIN = "hairpin too short"
CROSSING = "crossing pairs"
LONG_LOOP = "loop too long"
KINDS = (NOT_CANONICAL, SHORT_HAIRPIN, CROSSING, LONG_LOOP)
_LAYERS = (*zip("([{<", ")]}>", strict=True), *((chr(65 + k), chr(97 + k)) for k in range(26)))
_CLOSING = dict(_LAYERS)
AMBIGUOUS = "RYSWKMBDHV"
_LETTERS = "acgutnT" + AMBIGUOUS + AMBIGUOUS.lower()
_PLAIN = str.maketrans(_LETTERS, "ACGUUNU" + "N" * 2 * len(AMBIGUOUS))
Pair = tuple[int, int]  # positions from 0, the opening one first
_PAIRING = frozenset(("AU", "UA", "CG", "GC", "GU", "UG"))


@dataclass(frozen=True)
class ParsedMolecule:
    """A molecule as the grammar can make it."""

    letters: str  # in A, C, G, U, N
    structure: str  # dots and round brackets
    dropped: dict[str, int]  # number of pairs, by each of KINDS


def plain_letters(letters: str, where: str = "") -> str:
    """The letters in upper case, with U for T and N for those that stand for several bases."""
    if not letters:
        raise UnusableError("the sequence is empty", where=where, cure="give it letters")
    plain = letters.translate(_PLAIN)
    if plain.strip("ACGUN"):
        position = next(k for k, letter in enumerate(plain) if letter not in "ACGUN")
        fault = f"letter {position + 1} of the sequence is “{letters[position]}”"
        cure = "use A, C, G, U (or T), and N for a base that is not known"
        raise UnusableError(fault, where=where, cure=cure)
    return plain


def ambiguous_letters(letters: str) -> int:
    """The number of letters that stand for several bases and are read as N."""
    return sum(map(letters.upper().count, AMBIGUOUS))


def parse_molecule(
    letters: str, structure: str, shortest_hairpin: int = SHORTEST, where: str = ""
) -> ParsedMolecule:
    """A molecule with the pairs that the grammar can make; UnusableError names `where`.

    `structure`: brackets () [] {} <>, A…a to Z…z, any of . , : - _ ~ for unpaired bases.
    """
    plain = plain_letters(letters, where)
    pairs = bracket_pairs(structure, where, len(plain))
    canonical = [(i, j) for i, j in pairs if plain[i] + plain[j] in _PAIRING]
    wide = [(i, j) for i, j in canonical if j - i > shortest_hairpin]
    nested = largest_nesting(wide)
    short = without_long_loops(nested)
    counts = pairwise(map(len, (pairs, canonical, wide, nested, short)))
    dropped = {kind: a - b for kind, (a, b) in zip(KINDS, counts, strict=True)}
    return ParsedMolecule(plain, dot_bracket(short, len(plain)), dropped)


def bracket_pairs(structure: str, where: str = "", length: int | None = None) -> list[Pair]:
    """Positions (from 0) of paired bases; UnusableError if unbalanced or not of the `length`."""
    open_positions: dict[str, list[int]] = {closing: [] for _, closing in _LAYERS}
    pairs: list[Pair] = []
    cure = "give every opening bracket one that closes it"
    for position, sign in enumerate(structure):
        if sign in DOTS:
            continue
        if sign in _CLOSING:
            open_positions[_CLOSING[sign]].append(position)
        elif open_positions.get(sign):
            pairs.append((open_positions[sign].pop(), position))
        else:
            fault = (
                f"character {position + 1} of the structure, “{sign}”, closes what was not opened"
            )
            if sign not in open_positions:
                fault = f"character {position + 1} of the structure is “{sign}”"
                cure = "use brackets for pairs and dots for unpaired bases"
            raise UnusableError(fault, where=where, cure=cure)
    # The first of them is told, as a person looks from the left.
    if unclosed := [k for positions in open_positions.values() for k in positions]:
        k = min(unclosed)
        fault = f"character {k + 1} of the structure, “{structure[k]}”, is never closed"
        raise UnusableError(fault, where=where, cure=cure)
    if length is not None and len(structure) != length:
        count = f"{len(structure):,} characters and the sequence {length:,} letters"
        cure = "give every letter one character of structure"
        raise UnusableError(f"the structure has {count}", where=where, cure=cure)
    return sorted(pairs)


def dot_bracket(pairs: list[Pair], length: int) -> str:
    """Nested pairs as dots and round brackets."""
    signs = ["."] * length
    for i, j in pairs:
        signs[i], signs[j] = "(", ")"
    return "".join(signs)


def normalize_structure(structure: str, where: str = "", length: int | None = None) -> str:
    """The same pairs in one notation: (), [], {}, <>, letters by the size of nested sets."""
    remaining_pairs = bracket_pairs(structure, where, length)
    signs = ["."] * len(structure)
    for opening, closing in _LAYERS:
        if not remaining_pairs:
            break
        layer = largest_nesting(remaining_pairs)
        for i, j in layer:
            signs[i], signs[j] = opening, closing
        remaining_pairs = [pair for pair in remaining_pairs if pair not in set(layer)]
    return "".join(signs)


def largest_nesting(pairs: list[Pair]) -> list[Pair]:
    """The largest set of pairs that do not cross; ties keep later pairs."""
    if not _has_crossing(pairs):
        return pairs
    ends = sorted(end for pair in pairs for end in pair)
    rank = {end: number for number, end in enumerate(ends)}
    partner = {rank[j]: rank[i] for i, j in pairs}
    # Dynamic programming over intervals (Nussinov), of the ends that pairs have alone.
    size = len(ends)
    max_pairs = [[0] * (size + 1) for _ in range(size + 1)]  # of the ends i … j − 1
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size + 1):
            best, k = max_pairs[i][j - 1], partner.get(j - 1, -1)
            if k >= i:
                best = max(best, max_pairs[i][k] + 1 + max_pairs[k + 1][j - 1])
            max_pairs[i][j] = best
    nested_pairs, spans = [], [(0, size)]
    while spans:
        i, j = spans.pop()
        k = partner.get(j - 1, -1)
        if k >= i and max_pairs[i][k] + 1 + max_pairs[k + 1][j - 1] == max_pairs[i][j]:
            nested_pairs.append((ends[k], ends[j - 1]))
            spans += [(i, k), (k + 1, j - 1)]
        elif j > i:
            spans.append((i, j - 1))
    return sorted(nested_pairs)


def _has_crossing(pairs: list[Pair]) -> bool:
    open_ends: list[int] = []
    for i, j in sorted(pairs):
        while open_ends and open_ends[-1] < i:
            open_ends.pop()
        if open_ends and open_ends[-1] < j:
            return True
        open_ends.append(j)
    return False


def without_long_loops(pairs: list[Pair]) -> list[Pair]:
    """Nested pairs without the fewer of those stacked inwards or outwards of a loop > 30 bases."""
    while True:
        inside = neighbours(pairs)
        outside = {inner: pair for pair, inners in inside.items() for inner in inners}
        for (i, j), inner in inside.items():
            if len(inner) == 1 and inner[0][0] - i - 1 + j - inner[0][1] - 1 > LONGEST_LOOP:
                break
        else:
            return list(inside)
        inwards, outwards = [inner[0]], [(i, j)]
        while len(inside[inwards[-1]]) == 1:
            inwards.append(inside[inwards[-1]][0])
        while (around := outside.get(outwards[-1])) and len(inside[around]) == 1:
            outwards.append(around)
        # The fewer pairs go, since one of both helices must.
        dropped = set(inwards if len(inwards) <= len(outwards) else outwards)
        pairs = [nested_pair for nested_pair in pairs if nested_pair not in dropped]


def neighbours(pairs: list[Pair]) -> dict[Pair, list[Pair]]:
    """The pairs directly inside each of the nested pairs, sorted."""
    inside: dict[Pair, list[Pair]] = {pair: [] for pair in sorted(pairs)}
    around: list[Pair] = []
    for pair in inside:
        while around and around[-1][1] < pair[0]:
            around.pop()
        if around:
            inside[around[-1]].append(pair)
        around.append(pair)
    return inside
