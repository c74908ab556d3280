"""What the grammar cannot make is dropped and counted; what cannot be read is refused."""

from __future__ import annotations

import pytest

from core.datasets.molecules import KINDS, bracket_pairs, understood
from core.errors import UnusableError

CANONICAL, SHORT, CROSSING, LONG = KINDS


def letters_for(structure: str) -> str:
    """G and C where brackets open and close, A elsewhere."""
    return "".join(
        "G" if s in "([{<" or s.isupper() else "A" if s in "." else "C" for s in structure
    )


@pytest.mark.parametrize(
    ("structure", "kept", "dropped"),
    [
        ("((....))", "((....))", {}),
        ("((..))", "(....)", {SHORT: 1}),
        ("(((...[[[...)))...]]]", "......(((.........)))", {CROSSING: 3}),
        ("((....[[[...))...]]]", "......(((........)))", {CROSSING: 2}),
        ("<<<<...AAA>>>>....aaa", "((((......))))" + "." * 7, {CROSSING: 3}),
        # The helix inside has two pairs, the one around three: the two go.
        ("(((" + "." * 31 + "((...)))))", "(((" + "." * 38 + ")))", {LONG: 2}),
        ("((" + "." * 31 + "(((...)))))", ".." + "." * 31 + "(((...)))..", {LONG: 2}),
        ("(" + "." * 30 + "((...)))", "(" + "." * 30 + "((...)))", {}),
        # Inside a branching pair, the helix ends where it branches.
        ("(" + "." * 31 + "((...)(...)))", "(" + "." * 32 + "(...)(...).)", {LONG: 1}),
    ],
)
def test_pairs_that_the_grammar_cannot_make(
    structure: str, kept: str, dropped: dict[str, int]
) -> None:
    found = understood(letters_for(structure), structure, 3)
    assert found.structure == kept
    assert found.dropped == {**dict.fromkeys(KINDS, 0), **dropped}


def test_shortest_hairpin_is_asked_for() -> None:
    assert understood("GGC", ".()", 0).structure == ".()"
    assert understood("GGAC", ".(.)", 1).structure == ".(.)"
    assert understood("GGAC", ".(.)", 2).structure == "...."


def test_bases_that_do_not_pair() -> None:
    found = understood("gtAuuuaaN", "((.....))", 3)
    assert found.letters == "GUAUUUAAN"
    assert found.structure == ".(.....)."
    assert found.dropped[CANONICAL] == 1


def test_signs_of_unpaired_bases() -> None:
    assert understood("GAAAAAAC", "(.,:-_~)").structure == "(......)"


@pytest.mark.parametrize(
    ("letters", "structure", "said"),
    [
        ("GGRAACC", "((...))", "letter 3"),
        ("", "", "empty"),
        ("GGAAACC", "((...)", "7 letters and the structure 6"),
        ("GGAAACC", "((...).", "character 1 of the structure"),
        ("GGAAACC", "(...)).", "character 6 of the structure"),
        ("GGAAACC", "[(...))", "character 7 of the structure"),
        ("GGAAACC", "A.....b", "character 7 of the structure"),
        ("GGAAACC", "((.5.))", "character 4 of the structure"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    letters: str, structure: str, said: str
) -> None:
    with pytest.raises(UnusableError, match="file.csv, line 4: .*" + said) as raised:
        understood(letters, structure, 3, "file.csv, line 4")
    assert raised.value.cure


def test_pairs_come_in_order_of_their_first_base() -> None:
    assert bracket_pairs("(([.)]..)") == [(0, 8), (1, 4), (2, 5)]
