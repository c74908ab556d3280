"""Letters and brackets of molecules: notations, and the pairs that the grammar cannot make."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.molecules import (
    CROSSING,
    LONG_LOOP,
    NOT_CANONICAL,
    SHORT_HAIRPIN,
    bracket_pairs,
    dot_bracket,
    largest_nesting,
    normalize_structure,
    parse_molecule,
    plain_letters,
)
from core.errors import UnusableError


def dropped(letters: str, structure: str) -> dict[str, int]:
    return {kind: n for kind, n in parse_molecule(letters, structure).dropped.items() if n}


def test_letters_in_lower_case_with_t_and_n() -> None:
    assert plain_letters("acgtnACGTUN") == "ACGUNACGUUN"


def test_letters_for_several_bases_are_read_as_unknown() -> None:
    assert plain_letters("RYSWKMBDHVryswkmbdhvAT") == "N" * 20 + "AU"
    known = parse_molecule("RGAAAACY", "((....))")
    assert (known.letters, known.structure) == ("NGAAAACN", ".(....).")
    assert dropped("RGAAAACY", "((....))") == {NOT_CANONICAL: 1}


@pytest.mark.parametrize(("letters", "place"), [("ACXG", 3), ("é", 1), ("AC-", 3), ("A C", 2)])
def test_an_unknown_letter_is_told_by_its_place(letters: str, place: int) -> None:
    with pytest.raises(UnusableError, match=f"letter {place} of the sequence"):
        plain_letters(letters)


def test_notations_of_unpaired_bases_and_brackets() -> None:
    assert bracket_pairs("<<_,-:~.>>") == [(0, 9), (1, 8)]
    assert normalize_structure("<[{(....)}]>") == "((((....))))"
    assert bracket_pairs("AA..((aa..))") == [(0, 7), (1, 6), (4, 11), (5, 10)]


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ("(..", "character 1 of the structure, “(”, is never closed"),
        ("..)", "character 3 of the structure, “)”, closes what was not opened"),
        ("(..]", "character 4 of the structure, “]”, closes what was not opened"),
        ("(.?)", "character 3 of the structure is “?”"),
    ],
)
def test_brackets_without_a_partner_are_told_by_their_place(structure: str, words: str) -> None:
    with pytest.raises(UnusableError, match=re.escape(words)):
        bracket_pairs(structure)


def test_pairs_of_bases_that_do_not_pair_are_dropped() -> None:
    assert dropped("GGAAAAAAC", "((.....))") == {NOT_CANONICAL: 1}
    assert parse_molecule("GGAAAAAAC", "((.....))").structure == "(.......)"
    assert dropped("NGAAAAACN", "((.....))") == {NOT_CANONICAL: 1}
    assert dropped("GUACAAAGUGU", "((((...))))") == {}


def test_hairpins_under_three_bases_are_dropped_from_inside() -> None:
    assert dropped("GGGAACCC", "(((..)))") == {SHORT_HAIRPIN: 1}
    assert parse_molecule("GGGAACCC", "(((..)))").structure == "((....))"
    assert parse_molecule("GGGAACCC", "(((..)))", shortest_hairpin=2).structure == "(((..)))"


def test_shortest_hairpin_is_asked_for() -> None:
    assert parse_molecule("GGC", ".()", 0).structure == ".()"
    assert parse_molecule("GGAC", ".(.)", 1).structure == ".(.)"
    assert parse_molecule("GGAC", ".(.)", 2).structure == "...."


def test_the_larger_of_two_crossing_helices_is_kept() -> None:
    letters = "GG" + "AAA" + "GGG" + "AAA" + "CC" + "AAA" + "CCC"
    kept = parse_molecule(letters, "((...[[[...))...]]]")
    assert kept.dropped[CROSSING] == 2
    assert kept.structure == ".....(((........)))"


def test_of_a_loop_too_long_the_side_with_fewer_pairs_is_dropped() -> None:
    inner = "GGG" + "AAAA" + "CCC"
    letters = "GG" + "A" * 16 + inner + "A" * 15 + "CC"
    structure = "((" + "." * 16 + "(((....)))" + "." * 15 + "))"
    kept = parse_molecule(letters, structure)
    assert kept.dropped[LONG_LOOP] == 2
    assert kept.structure == "." * 18 + "(((....)))" + "." * 17
    assert dropped(letters.replace("A" * 16, "A" * 15), structure.replace("." * 16, "." * 15)) == {}


def test_a_branching_loop_may_be_long() -> None:
    hairpin = "(...)"
    structure = "(" + "." * 20 + hairpin + "." * 20 + hairpin + ")"
    letters = "G" + "A" * 20 + "GAAAC" + "A" * 20 + "GAAAC" + "C"
    assert dropped(letters, structure) == {}


pairings = st.integers(0, 12).flatmap(lambda n: st.permutations(range(2 * n)))


@settings(deadline=None)
@given(pairings)
def test_the_kept_set_nests_and_none_larger_does(order: list[int]) -> None:
    pairs = sorted((min(a, b), max(a, b)) for a, b in zip(order[::2], order[1::2], strict=True))[:8]
    kept = largest_nesting(pairs)
    assert set(kept) <= set(pairs)
    assert not crossing(kept)
    larger = itertools.combinations(pairs, len(kept) + 1)
    assert all(crossing(list(some)) for some in larger)


def crossing(pairs: list[tuple[int, int]]) -> bool:
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(pairs, 2))


@settings(deadline=None)
@given(pairings)
def test_normalized_keeps_every_pair(order: list[int]) -> None:
    size = len(order)
    signs = ["."] * size
    for k, (a, b) in enumerate(zip(order[::2], order[1::2], strict=True)):
        signs[min(a, b)], signs[max(a, b)] = chr(65 + k), chr(97 + k)
    structure = "".join(signs)
    assert bracket_pairs(normalize_structure(structure)) == bracket_pairs(structure)
    assert normalize_structure(normalize_structure(structure)) == normalize_structure(structure)


@settings(deadline=None)
@given(st.text("ACGUNacgtun", min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_what_is_understood_is_what_the_grammar_makes(letters: str, random: object) -> None:
    free = list(range(len(letters)))
    random.shuffle(free)  # type: ignore[attr-defined]
    pairs = [(min(p), max(p)) for p in zip(free[::2], free[1::2], strict=False)][: len(free) // 4]
    signs = ["."] * len(letters)
    for k, (i, j) in enumerate(pairs):
        signs[i], signs[j] = chr(65 + k), chr(97 + k)
    found = parse_molecule(letters, "".join(signs))
    kept = bracket_pairs(found.structure)
    assert found.structure == dot_bracket(kept, len(letters))
    assert len(kept) + sum(found.dropped.values()) == len(pairs)
    for i, j in kept:
        assert {found.letters[i], found.letters[j]} in ({"A", "U"}, {"C", "G"}, {"G", "U"})
        assert j - i > 3
    again = parse_molecule(found.letters, found.structure)
    assert again.structure == found.structure
    assert not any(again.dropped.values())
