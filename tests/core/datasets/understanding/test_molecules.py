"""Molecules: letters, brackets and files of them."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.dataset import Dataset
from core.datasets.finding import FixableInputError
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
from core.datasets.preparation import output_names, output_sources, preparation
from core.datasets.reading import read_dataset
from core.datasets.splitting import cross_validation_folds, hold_out
from core.datasets.summary import summarize
from core.errors import UnusableError

A16, DOTS16 = "A" * 16, "." * 16
LONG, BRANCH = "A" * 20, "." * 20


@pytest.mark.parametrize(
    ("letters", "structure", "kept", "dropped"),
    [
        ("GGAAAAAAC", "((.....))", "(.......)", {NOT_CANONICAL: 1}),
        ("NGAAAAACN", "((.....))", ".(.....).", {NOT_CANONICAL: 1}),
        ("RGAAAACY", "((....))", ".(....).", {NOT_CANONICAL: 1}),
        ("GUACAAAGUGU", "((((...))))", "((((...))))", {}),
        ("GGGAACCC", "(((..)))", "((....))", {SHORT_HAIRPIN: 1}),
        # the larger of two helices that cross
        ("GGAAAGGGAAACCAAACCC", "((...[[[...))...]]]", ".....(((........)))", {CROSSING: 2}),
        # of a loop too long, the side with fewer pairs
        (
            f"GG{A16}GGGAAAACCC{A16[1:]}CC",
            f"(({DOTS16}(((....))){DOTS16[1:]}))",
            f"..{DOTS16}(((....))){DOTS16[1:]}..",
            {LONG_LOOP: 2},
        ),
        (
            f"GG{A16[1:]}GGGAAAACCC{A16[1:]}CC",
            f"(({DOTS16[1:]}(((....))){DOTS16[1:]}))",
            f"(({DOTS16[1:]}(((....))){DOTS16[1:]}))",
            {},
        ),
        # a loop that branches may be long
        (
            f"G{LONG}GAAAC{LONG}GAAACC",
            f"({BRANCH}(...){BRANCH}(...))",
            f"({BRANCH}(...){BRANCH}(...))",
            {},
        ),
    ],
)
def test_pairs_that_cannot_be_are_dropped(letters, structure, kept, dropped):
    parsed = parse_molecule(letters, structure)
    assert parsed.structure == kept
    assert {kind: count for kind, count in parsed.dropped.items() if count} == dropped


@pytest.mark.parametrize(
    ("letters", "structure", "shortest", "kept"),
    [
        ("GGGAACCC", "(((..)))", 2, "(((..)))"),
        ("GGC", ".()", 0, ".()"),
        ("GGAC", ".(.)", 2, "...."),
    ],
)
def test_shortest_hairpin_is_asked_for(letters, structure, shortest, kept):
    assert parse_molecule(letters, structure, shortest).structure == kept


def test_plain_letters():
    assert plain_letters("acgtnACGTUN") == "ACGUNACGUUN"
    assert plain_letters("RYSWKMBDHVryswkmbdhvAT") == "N" * 20 + "AU"


@pytest.mark.parametrize(("letters", "place"), [("ACXG", 3), ("é", 1), ("AC-", 3), ("A C", 2)])
def test_an_unknown_letter_is_told_by_its_place(letters, place):
    with pytest.raises(UnusableError, match=f"letter {place} of the sequence"):
        plain_letters(letters)


def test_notations_of_unpaired_bases_and_brackets():
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
def test_brackets_without_a_partner_are_told_by_their_place(structure, words):
    with pytest.raises(UnusableError, match=re.escape(words)):
        bracket_pairs(structure)


pairings = st.integers(0, 12).flatmap(lambda n: st.permutations(range(2 * n)))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(pairings)
def test_the_kept_set_nests_and_none_larger_does(order):
    pairs = sorted((min(a, b), max(a, b)) for a, b in zip(order[::2], order[1::2], strict=True))[:8]
    kept = largest_nesting(pairs)
    assert set(kept) <= set(pairs)
    assert not crossing(kept)
    larger = itertools.combinations(pairs, len(kept) + 1)
    assert all(crossing(list(some)) for some in larger)


def crossing(pairs: list[tuple[int, int]]) -> bool:
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(pairs, 2))


def lettered(pairs: list[tuple[int, int]], size: int) -> str:
    """A structure in which every pair has a letter of its own."""
    signs = ["."] * size
    for k, pair in enumerate(pairs):
        signs[min(pair)], signs[max(pair)] = chr(65 + k), chr(97 + k)
    return "".join(signs)


@settings(deadline=None, max_examples=40)
@given(pairings)
def test_normalized_keeps_every_pair(order):
    structure = lettered(list(zip(order[::2], order[1::2], strict=True)), len(order))
    assert bracket_pairs(normalize_structure(structure)) == bracket_pairs(structure)
    assert normalize_structure(normalize_structure(structure)) == normalize_structure(structure)


@settings(deadline=None, max_examples=40)
@given(st.text("ACGUNacgtun", min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_what_is_understood_is_what_the_grammar_makes(letters, random):
    free = list(range(len(letters)))
    random.shuffle(free)
    pairs = list(zip(free[::2], free[1::2], strict=False))[: len(free) // 4]
    found = parse_molecule(letters, lettered(pairs, len(letters)))
    kept = bracket_pairs(found.structure)
    assert found.structure == dot_bracket(kept, len(letters))
    assert len(kept) + sum(found.dropped.values()) == len(pairs)
    for i, j in kept:
        assert {found.letters[i], found.letters[j]} in ({"A", "U"}, {"C", "G"}, {"G", "U"})
        assert j - i > 3
    again = parse_molecule(found.letters, found.structure)
    assert again.structure == found.structure
    assert not any(again.dropped.values())


GOOD = (
    "id,sequence,structure\none,GGGAAACCC,(((...)))\ntwo,ggaaaucc,((....))\nthree,ANNNTA,......\n"
)


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def test_a_header_of_sequence_and_structure_makes_molecules(read):
    dataset = read(GOOD)
    assert dataset.task == "structure"
    assert dataset.feature_names == list(dataset.table.columns) == ["sequence"]
    assert dataset.table["sequence"].tolist() == ["GGGAAACCC", "ggaaaucc", "ANNNTA"]
    assert dataset.target.tolist() == ["(((...)))", "((....))", "......"]
    assert dataset.classes == ()
    assert dataset.row_groups is None
    assert dataset.row_names.tolist() == ["one", "two", "three"]
    assert [column.role for column in dataset.columns] == ["ignore", "sequence", "target"]
    # Letters are handed on as they are.
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.table)
    assert fitted.transform(dataset.table).equals(dataset.table)
    assert output_names(fitted) == output_sources(fitted) == ["sequence"]
    summary = summarize(dataset)
    assert summary["structured"]["items"] == "3 molecules of 6 to 9 bases"
    assert summary["structured"]["pairs"] == 5
    assert summary["features"] == 0
    assert summary["preview"]["columns"] == ["sequence", "id", "structure"]
    with pytest.raises(UnusableError, match="3 molecules cannot be split"):
        hold_out(dataset, 0.3, 0)


def test_other_columns_are_left_out_or_keep_molecules_together(read):
    text = "sequence,structure,family\n" + "GGGAAACCC,(((...))),a\nGGAAAACC,((....)),b\n" * 4
    dataset = read(text, roles={"family": "group"})
    assert dataset.row_names is None
    train, test = hold_out(dataset, 0.4, 0)
    assert not set(dataset.row_groups[train]) & set(dataset.row_groups[test])
    assert "8 of 8 molecules have the same letters as another" in sentences(dataset)
    with pytest.raises(UnusableError, match="folded by their letters alone"):
        read(text, roles={"family": "feature"})


def test_a_column_of_structures_under_another_name_wants_a_word(read):
    text = GOOD.replace("sequence,structure", "bases,fold")
    with pytest.raises(UnusableError):
        read(text, task="regression")
    dataset = read(text, task="structure")
    assert (dataset.sequence_name, dataset.target_name) == ("bases", "fold")
    rows = "".join(f"A{k % 7}CG,{'house' if k % 2 else 'tower'},{k % 5}\n" for k in range(60))
    assert read("sequence,structure,label\n" + rows).task == "multiclass"  # no brackets


@pytest.mark.parametrize(
    ("row", "column", "what"),
    [
        ("x,GGXAAACC,((....))", "sequence", "letter 3 of the sequence is “X”"),
        ("x,,((....))", "sequence", "the sequence is empty"),
        ("x,GGAAAACC,", "structure", "the structure is empty"),
        ("x,GGAAAACC,((...))", "structure", "7 characters and the sequence 8"),
        ("x,GGAAAACC,((....).", "structure", "character 1 of the structure, “(”"),
        ("x,GGAAAACC,((.?..))", "structure", "character 4 of the structure is “?”"),
    ],
)
def test_what_cannot_be_understood_is_told_by_line(read, write, row, column, what):
    lines = GOOD.splitlines()
    faulty = "\n".join([*lines[:3], "", row, *lines[3:]]) + "\n"
    for name, text in (("table.csv", faulty), ("test.csv", GOOD)):
        with pytest.raises(UnusableError) as refused:
            read(text, test_file="" if text == faulty else write(faulty, name))
        assert refused.value.where == f"{name}, line 5, column {column}"
        assert what in refused.value.what


def test_letters_for_several_bases_are_counted_and_said(read, write):
    text = GOOD + "r,RGAAAACY,((....))\ny,GGAWAACC,((....))\n"
    said = "3 letters stand for several bases (such as R or Y), in 2 of 5 molecules, and are"
    assert said in sentences(read(text))
    dataset = read(GOOD, test_file=write(text, "more.csv"))
    assert "In the test file, 3 letters stand for" in dataset.test.findings[-1].sentence


def test_pairs_that_cannot_be_made_stay_in_the_target_and_are_counted(read):
    dataset = read(GOOD + "four,GGGAAACCA,<<<...>>>\nfive,GGAAGGGAAACCAACCC,((..[[[...))..]]]\n")
    assert dataset.target[3:].tolist() == ["(((...)))", "[[..(((...]]..)))"]
    for said in ("3 of 13 base pairs cannot be made", "1 join bases that do not pair"):
        assert said in sentences(dataset)
    assert "2 cross others" in sentences(dataset)
    structured = summarize(dataset)["structured"]
    assert structured["pairs"] == 13
    assert sum(structured["dropped"].values()) == 3
    unpaired = read("sequence,structure\n" + "ACGUA,.....\n" * 5)
    assert [f.sentence for f in unpaired.findings if f.serious and "no base" in f.sentence.lower()]


def test_a_second_file_is_read_alike(read, write):
    other = write("sequence,structure\nGGGGAAAACCCC,<<<<....>>>>\n", "test.csv")
    dataset = read(GOOD, test_file=other)
    assert dataset.test.target.tolist() == ["((((....))))"]
    assert dataset.test.row_names is None


def test_the_sample_is_split_plainly_and_has_canonical_pairs_only():
    dataset = read_dataset("sample:molecules")
    train, test = hold_out(dataset, 0.3, 1)
    assert sorted([*train, *test]) == list(range(60))
    parts = cross_validation_folds(dataset, train, 3, 1)
    assert sorted(np.concatenate([score for _, score in parts])) == sorted(train)
    with pytest.raises(UnusableError, match="2 molecules to train on cannot make 3 folds"):
        cross_validation_folds(dataset, train[:2], 3, 1)
    structured = summarize(dataset)["structured"]
    assert structured["dropped"] == {}
    assert structured["pairs"] > 500
    assert (structured["shortest"], structured["longest"]) == (30, 80)


def test_the_real_molecules(shared_data):
    dataset = read_dataset(str(shared_data / "rna_s151rfam.csv"))
    summary = summarize(dataset)["structured"]
    assert summary["items"] == "151 molecules of 23 to 568 bases"
    assert summary["pairs"] == 4977
    assert summary["dropped"]["bases that do not pair"] == 49
    assert summary["dropped"]["hairpin too short"] == 8
    assert dataset.row_names[0] == "RF00001_A"


def test_other_letters_are_read_as_n_where_a_person_wants_it(read, write):
    text = GOOD + "four,GGXaaacc*,(((...)))\n"
    with pytest.raises(FixableInputError, match="letter 3 of the sequence is “X”") as refused:
        read(text)
    assert refused.value.offer.fields == {"other_letters": True}
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.sentence, again.offer) == (refused.value.sentence, refused.value.offer)
    dataset = read(text, test_file=write(text, "b.csv"), other_letters=True)
    said = "2 letters are none of the bases (such as “X”), in 1 of 4 molecules, and are read as N."
    for part, words in ((dataset, said), (dataset.test, f"In the test file, {said}")):
        assert part.table["sequence"].tolist()[-1] == "GGNaaaccN"
        assert words in sentences(part)
    with pytest.raises(UnusableError, match="the sequence is empty"):
        read(GOOD + "four,,\n", other_letters=True)
