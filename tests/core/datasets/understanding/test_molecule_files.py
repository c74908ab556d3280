"""Files of molecules: recognized by their header, understood, and refused by line."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.prepared_columns import output_names, output_sources
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.splits.splitting import cross_validation_folds, hold_out
from core.datasets.summary import summarize
from core.datasets.understanding.unusable_input import FixableInputError
from core.errors import UnusableError

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str, name: str = "rna.csv") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return make


GOOD = (
    "id,sequence,structure\none,GGGAAACCC,(((...)))\ntwo,ggaaaucc,((....))\nthree,ANNNTA,......\n"
)


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def test_a_header_of_sequence_and_structure_makes_molecules(write: Write) -> None:
    dataset = read_dataset(write(GOOD))
    assert dataset.task == "structure"
    assert dataset.feature_names == list(dataset.table.columns) == ["sequence"]
    assert dataset.table["sequence"].tolist() == ["GGGAAACCC", "ggaaaucc", "ANNNTA"]
    assert dataset.target.tolist() == ["(((...)))", "((....))", "......"]
    assert dataset.classes == ()
    assert dataset.row_groups is None
    assert dataset.row_names.tolist() == ["one", "two", "three"]
    assert {c.name: c.role for c in dataset.columns} == {
        "id": "ignore",
        "sequence": "sequence",
        "structure": "target",
    }


def test_other_columns_are_left_out_or_keep_molecules_together(write: Write) -> None:
    text = "sequence,structure,family\n" + "GGGAAACCC,(((...))),a\nGGAAAACC,((....)),b\n" * 4
    dataset = read_dataset(write(text), DataOptions(roles={"family": "group"}))
    assert dataset.row_names is None
    train, test = hold_out(dataset, 0.4, 0)
    assert not set(dataset.row_groups[train]) & set(dataset.row_groups[test])
    assert "8 of 8 molecules have the same letters as another" in sentences(dataset)
    with pytest.raises(UnusableError, match="folded by their letters alone"):
        read_dataset(write(text), DataOptions(roles={"family": "feature"}))


def test_a_column_of_structures_under_another_name_wants_a_word(write: Write) -> None:
    text = GOOD.replace("sequence,structure", "bases,fold")
    with pytest.raises(UnusableError):
        read_dataset(write(text), DataOptions(task="regression"))
    dataset = read_dataset(write(text), DataOptions(task="structure"))
    assert (dataset.sequence_name, dataset.target_name) == ("bases", "fold")


def test_a_structure_that_is_no_brackets_is_an_ordinary_table(write: Write) -> None:
    rows = "".join(f"A{k % 7}CG,{'house' if k % 2 else 'tower'},{k % 5}\n" for k in range(60))
    dataset = read_dataset(write("sequence,structure,label\n" + rows))
    assert dataset.task == "multiclass"


@pytest.mark.parametrize(
    ("row", "where", "what"),
    [
        ("x,GGXAAACC,((....))", "line 4, column sequence", "letter 3 of the sequence is “X”"),
        ("x,,((....))", "line 4, column sequence", "the sequence is empty"),
        ("x,GGAAAACC,", "line 4, column structure", "the structure is empty"),
        ("x,GGAAAACC,((...))", "line 4, column structure", "7 characters and the sequence 8"),
        ("x,GGAAAACC,((....).", "line 4, column structure", "character 1 of the structure, “(”"),
        ("x,GGAAAACC,((.?..))", "line 4, column structure", "character 4 of the structure is “?”"),
    ],
)
def test_what_cannot_be_understood_is_told_by_line(
    write: Write, row: str, where: str, what: str
) -> None:
    lines = GOOD.splitlines()
    text = "\n".join([*lines[:3], row, *lines[3:]]) + "\n"
    with pytest.raises(UnusableError) as refused:
        read_dataset(write(text))
    assert refused.value.where == f"rna.csv, {where}"
    assert what in refused.value.what


def test_letters_for_several_bases_are_counted_and_said(write: Write) -> None:
    text = GOOD + "r,RGAAAACY,((....))\ny,GGAWAACC,((....))\n"
    found = sentences(read_dataset(write(text)))
    assert (
        "3 letters stand for several bases (such as R or Y), in 2 of 5 molecules, and are" in found
    )
    with_test = read_dataset(write(GOOD), test_file=write(text, "more.csv"))
    assert "In the test file, 3 letters stand for" in with_test.test.findings[-1].sentence


def test_pairs_that_cannot_be_made_stay_in_the_target_and_are_counted(write: Write) -> None:
    text = GOOD + "four,GGGAAACCA,<<<...>>>\nfive,GGAAGGGAAACCAACCC,((..[[[...))..]]]\n"
    dataset = read_dataset(write(text))
    assert dataset.target[3] == "(((...)))"
    assert dataset.target[4] == "[[..(((...]]..)))"
    found = sentences(dataset)
    assert "3 of 13 base pairs cannot be made" in found
    assert "1 join bases that do not pair" in found
    assert "2 cross others" in found
    structured = summarize(dataset)["structured"]
    assert structured["pairs"] == 13
    assert sum(structured["dropped"].values()) == 3


def test_structures_without_pairs_are_told(write: Write) -> None:
    text = "sequence,structure\n" + "ACGUA,.....\n" * 5
    finding = next(f for f in read_dataset(write(text)).findings if f.serious)
    assert "no base is paired" in finding.sentence.lower()


def test_a_second_file_is_read_alike(write: Write) -> None:
    other = write("sequence,structure\nGGGGAAAACCCC,<<<<....>>>>\n", "test.csv")
    dataset = read_dataset(write(GOOD), test_file=other)
    assert dataset.test.target.tolist() == ["((((....))))"]
    assert dataset.test.row_names is None
    bad = write("sequence,structure\n\nGGGG,....\nGGQG,....\n", "bad.csv")
    with pytest.raises(UnusableError, match=r"bad\.csv, line 4, column sequence"):
        read_dataset(write(GOOD), test_file=bad)


def test_molecules_are_split_plainly_and_a_few_are_refused(write: Write) -> None:
    with pytest.raises(UnusableError, match="3 molecules cannot be split"):
        hold_out(read_dataset(write(GOOD)), 0.3, 0)
    dataset = read_dataset("sample:molecules")
    train, test = hold_out(dataset, 0.3, 1)
    assert sorted([*train, *test]) == list(range(60))
    parts = cross_validation_folds(dataset, train, 3, 1)
    assert sorted(np.concatenate([score for _, score in parts])) == sorted(train)
    with pytest.raises(UnusableError, match="2 molecules to train on cannot make 3 folds"):
        cross_validation_folds(dataset, train[:2], 3, 1)


def test_letters_are_handed_on_as_they_are(write: Write) -> None:
    dataset = read_dataset(write(GOOD))
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.table)
    assert fitted.transform(dataset.table).equals(dataset.table)
    assert output_names(fitted) == output_sources(fitted) == ["sequence"]


def test_the_summary_counts_molecules_and_pairs(write: Write) -> None:
    summary = summarize(read_dataset(write(GOOD)))
    assert summary["structured"]["items"] == "3 molecules of 6 to 9 bases"
    assert summary["structured"]["pairs"] == 5
    assert summary["features"] == 0
    assert summary["preview"]["columns"] == ["sequence", "id", "structure"]


def test_the_sample_has_canonical_pairs_only() -> None:
    summary = summarize(read_dataset("sample:molecules"))
    assert summary["structured"]["dropped"] == {}
    assert summary["structured"]["pairs"] > 500
    assert (summary["structured"]["shortest"], summary["structured"]["longest"]) == (30, 80)


def test_the_real_molecules(shared_data: Path) -> None:
    dataset = read_dataset(str(shared_data / "rna_s151rfam.csv"))
    summary = summarize(dataset)["structured"]
    assert summary["items"] == "151 molecules of 23 to 568 bases"
    assert summary["pairs"] == 4977
    assert summary["dropped"]["bases that do not pair"] == 49
    assert summary["dropped"]["hairpin too short"] == 8
    assert dataset.row_names[0] == "RF00001_A"


def test_other_letters_are_read_as_n_where_a_person_wants_it(write: Write) -> None:
    text = GOOD + "four,GGXaaacc*,(((...)))\n"
    with pytest.raises(FixableInputError, match="letter 3 of the sequence is “X”") as refused:
        read_dataset(write(text))
    assert refused.value.offer.fields == {"other_letters": True}
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.sentence, again.offer) == (refused.value.sentence, refused.value.offer)
    dataset = read_dataset(
        write(text), DataOptions(other_letters=True), test_file=write(text, "b.csv")
    )
    assert dataset.table["sequence"].tolist()[-1] == "GGNaaaccN"
    said = "2 letters are none of the bases (such as “X”), in 1 of 4 molecules, and are read as N."
    assert said in sentences(dataset)
    assert dataset.test.table["sequence"].tolist()[-1] == "GGNaaaccN"
    assert f"In the test file, {said}" in sentences(dataset.test)
    with pytest.raises(UnusableError, match="the sequence is empty"):
        read_dataset(write(GOOD + "four,,\n"), DataOptions(other_letters=True))
