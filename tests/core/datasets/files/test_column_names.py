"""Names of columns: each one once, in one Unicode form, and what was repeated is said."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from core.datasets.files.column_names import unique_names


def test_a_repeated_name_is_numbered_and_said():
    names, findings = unique_names(["id", "a", "price", "b", "c", "d", "price"], "t.csv")
    assert names == ["id", "a", "price", "b", "c", "d", "price (2)"]
    assert [finding.sentence for finding in findings] == [
        "Two columns are called “price” (columns 3 and 7): the second one is read as “price (2)”."
    ]
    assert findings[0].column == "price"


def test_a_number_that_another_column_has_already_is_passed_over():
    names, findings = unique_names(["x", "x (2)", "x", "x"], "t.csv")
    assert names == ["x", "x (2)", "x (3)", "x (4)"]
    assert "3 columns are called “x” (columns 1, 3 and 4)" in findings[0].sentence
    assert "“x (3)” and “x (4)”" in findings[0].sentence


def test_blanks_letters_of_two_signs_and_empty_names():
    decomposed = unicodedata.normalize("NFD", "Größe")
    names, findings = unique_names([" Größe ", decomposed, "", "\u00a0"], "t.csv")
    assert names == ["Größe", "Größe (2)", "Unnamed: 2", "Unnamed: 3"]
    assert len(findings) == 1


def test_thousands_of_equal_names_are_few_sentences():
    names, findings = unique_names(["a"] * 3000 + [f"b{i % 1000}" for i in range(3000)], "t.csv")
    assert len(set(names)) == 6000
    assert len(findings) <= 6
    assert max(len(finding.sentence) for finding in findings) < 300


@given(st.lists(st.sampled_from(["", "a", "a (2)", "a (3)", " a", "b", "b (2)"]), max_size=12))
def test_the_names_differ_and_first_ones_keep_theirs(given_names):
    names, findings = unique_names(given_names, "t.csv")
    assert len(set(names)) == len(names) == len(given_names)
    bare = [name.strip() for name in given_names]
    for i, name in enumerate(bare):
        if name and name not in bare[:i]:
            assert names[i] == name
    assert bool(findings) == (len({n for n in bare if n}) < len([n for n in bare if n]))
