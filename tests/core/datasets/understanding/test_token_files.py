"""Files of tokens: recognized by runs of equal ids, kept in order, and refused by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.dataset import Dataset, DataSource
from core.datasets.finding import UnusableTargetError
from core.datasets.preparation import output_names, output_sources, preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.splitting import cross_validation_folds, hold_out
from core.datasets.summary import summarize
from core.errors import UnusableError

Write = Callable[..., str]


SENTENCES = ("the/D dog/N barks/V ./.", "a/D cat/N sleeps/V", "no/D ?/.", "None/N -/. NA/N")


def rows_of(*sentences: str, first: int = 1) -> str:
    return "".join(
        f"{number},{token.rpartition('/')[0]},{token.rpartition('/')[2]}\n"
        for number, sentence in enumerate(sentences, first)
        for token in sentence.split()
    )


GOOD = "sequence,word,tag\n" + rows_of(*SENTENCES)


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def test_runs_of_equal_ids_and_labels_make_sequences(write: Write) -> None:
    dataset = read_dataset(write(GOOD))
    assert dataset.task == "sequence"
    assert dataset.feature_names == list(dataset.table.columns) == ["sequence", "word"]
    assert dataset.row_groups.tolist() == [*"1111222", *"33", *"444"]
    assert dataset.classes == (".", "D", "N", "V")
    assert dataset.target[:4].tolist() == ["D", "N", "V", "."]
    assert (dataset.sequence_name, dataset.target_name) == ("sequence", "tag")


def test_signs_that_mean_missing_elsewhere_are_words(write: Write) -> None:
    dataset = read_dataset(write(GOOD))
    words = dataset.table["word"].tolist()
    assert [words[at] for at in (3, 8, 9, 10, 11)] == [".", "?", "None", "-", "NA"]
    assert next(c for c in dataset.columns if c.name == "word").missing == 0


def test_an_empty_cell_is_a_missing_feature(write: Write) -> None:
    dataset = read_dataset(write(GOOD.replace("1,dog,N", "1,,N")))
    assert dataset.table["word"].isna().tolist().index(True) == 1


@pytest.mark.parametrize("name", ["sentence_id", "Sentence", "seq", "sequence_id", "sent id"])
def test_other_names_of_the_sequence(write: Write, name: str) -> None:
    assert read_dataset(write(GOOD.replace("sequence", name, 1))).task == "sequence"


def test_the_sequence_comes_first_wherever_it_stands(write: Write) -> None:
    table = pd.read_csv(write(GOOD), keep_default_na=False)[["word", "sequence", "tag"]]
    dataset = read_dataset(write(table.to_csv(index=False)))
    assert dataset.table.columns[0] == "sequence"
    assert dataset.feature_names == list(dataset.table.columns)


def test_labels_that_look_like_numbers_are_text(write: Write) -> None:
    text = GOOD.translate(str.maketrans({"D": "1", "V": "2"})).replace(",N\n", ",03\n")
    text = text.replace(",.\n", ",4\n")
    assert read_dataset(write(text)).classes == ("03", "1", "2", "4")


def test_every_word_is_a_category_however_many(write: Write) -> None:
    rows = "".join(
        f"s{k // 5},word number {k} of a long text with many words,x{k},{k % 7},{k % 3}\n"
        for k in range(200)
    )
    dataset = read_dataset(write("sequence,word,code,length,tag\n" + rows))
    assert {c.name: (c.role, c.kind) for c in dataset.columns[1:4]} == {
        "word": ("feature", "category"),
        "code": ("feature", "category"),
        "length": ("feature", "number"),
    }


def test_a_person_decides_otherwise(write: Write) -> None:
    path = write("sequence,word,tag\n" + rows_of(*SENTENCES * 4))
    as_rows = read_dataset(path, DataOptions(task="multiclass"))
    assert as_rows.task == "multiclass"
    assert as_rows.columns[0].role == "group"
    assert len(np.unique(as_rows.row_groups)) == 16
    as_feature = read_dataset(path, DataOptions(roles={"sequence": "feature"}))
    assert as_feature.task == "multiclass"
    assert as_feature.row_groups is None
    other = path_with(write, "sequence,word,tag", "text,word,tag")
    assert read_dataset(other).task == "multiclass"
    assert read_dataset(other, DataOptions(roles={"text": "sequence"})).task == "sequence"
    assert read_dataset(other, DataOptions(task="sequence")).sequence_name == "text"


def path_with(write: Write, old: str, new: str) -> str:
    text = ("sequence,word,tag\n" + rows_of(*SENTENCES * 4)).replace(old, new)
    return write(text, "other.csv")


def test_kinds_and_roles_of_features(write: Write) -> None:
    rows = "".join(f"{k // 4},{'ab'[k % 2]},{k % 9},{'xyz'[k % 3]}\n" for k in range(80))
    path = write("sequence,word,length,tag\n" + rows)
    dataset = read_dataset(
        path, DataOptions(kinds={"length": "category"}, roles={"word": "ignore"})
    )
    assert dataset.feature_names == ["sequence", "length"]
    assert not pd.api.types.is_numeric_dtype(dataset.table["length"].dtype)
    with pytest.raises(UnusableError, match="column word: its values join all sequences"):
        read_dataset(path, DataOptions(roles={"word": "group"}))
    with pytest.raises(UnusableError, match="2 columns have the role sequence"):
        read_dataset(path, DataOptions(roles={"word": "sequence", "sequence": "sequence"}))


def test_ordinary_tables_stay_ordinary(write: Write) -> None:
    rng = np.random.default_rng(0)
    mixed = pd.DataFrame(
        {"sequence": rng.integers(0, 5, 100), "x": rng.normal(size=100), "y": rng.choice(2, 100)}
    )
    counted = mixed.assign(sequence=np.arange(100))
    amounts = mixed.assign(sequence=np.arange(100) // 5, y=rng.normal(size=100))
    constant = mixed.assign(sequence=1)
    tasks = [
        read_dataset(write(table.to_csv(index=False))).task
        for table in (mixed, counted, amounts, constant)
    ]
    assert tasks == ["binary", "binary", "regression", "binary"]


def test_an_ordinary_table_reads_missing_values_as_before(write: Write) -> None:
    rows = "".join(f"{k % 7},{'?' if k % 9 == 0 else k % 5},{'ab'[k % 2]}\n" for k in range(90))
    dataset = read_dataset(write("sequence,x,y\n" + rows))
    assert dataset.task == "binary"
    assert dataset.table["x"].isna().sum() == 10


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        (
            "3,no,D",
            "1,no,D",
            "line 9, column sequence",
            "“1” comes back, which had ended in line 5",
        ),
        ("2,cat,N", "2,cat,", "line 7, column tag", "the token has no label"),
        ("2,cat,N", ",cat,N", "line 7, column sequence", "the token belongs to no sequence"),
    ],
)
def test_faults_are_told_by_line(write: Write, old: str, new: str, where: str, what: str) -> None:
    with pytest.raises(UnusableError) as refused:
        read_dataset(write(GOOD.replace(old, new)))
    assert refused.value.where == f"table.csv, {where}"
    assert what in refused.value.what


def test_lines_are_those_of_the_file(write: Write) -> None:
    text = GOOD.replace("1,dog,N\n", '1,"dog\nand cat",N\n\n').replace("3,no,D", "1,no,D")
    with pytest.raises(UnusableError, match="line 11, column sequence") as refused:
        read_dataset(write(text))
    assert "ended in line 7" in refused.value.what


def test_one_label_only(write: Write) -> None:
    rows = "".join(f"{k // 4},w{k % 6},N\n" for k in range(40))
    with pytest.raises(UnusableTargetError, match="every token has the same label") as refused:
        read_dataset(write("sequence,word,tag\n" + rows))
    assert refused.value.columns == ("word",)


def test_too_many_labels(write: Write) -> None:
    rows = "".join(f"{k // 4},w{k % 6},t{k}\n" for k in range(40))
    with pytest.raises(UnusableTargetError, match="40 different labels"):
        read_dataset(write("sequence,word,tag\n" + rows), DataOptions(task="sequence"))


def test_a_sequence_is_no_feature_that_tells_its_labels(write: Write) -> None:
    rows = "".join(f"{n // 4},{'xyz'[n % 3]},{'AB'[n // 4 % 2]}\n" for n in range(80))
    dataset = read_dataset(write("sequence,word,tag\n" + rows))
    assert dataset.task == "sequence"
    assert "alone tells the target" not in sentences(dataset)


def test_labels_that_only_the_test_file_has(write: Write) -> None:
    other = write("sequence,word,tag\n" + rows_of("dog/N runs/X", "wow/X !/."), "test.csv")
    dataset = read_dataset(write(GOOD), test_file=other)
    assert dataset.test.target.tolist() == ["N", "X", "X", "."]
    assert dataset.test.classes == dataset.classes
    finding = dataset.test.findings[0]
    assert finding.serious
    assert "“X”, on 2 tokens" in finding.sentence
    assert "cannot be predicted" in finding.sentence
    assert finding.sentence in [f["sentence"] for f in summarize(dataset)["findings"]]


def test_faults_of_the_test_file_are_told_by_its_lines(write: Write) -> None:
    other = write("sequence,word,tag\n" + rows_of("a/D", "b/N") + "1,c,N\n", "test.csv")
    with pytest.raises(UnusableError, match=r"test\.csv, line 4, column sequence"):
        read_dataset(write(GOOD), test_file=other)


def test_a_label_on_one_token_is_a_word_and_no_refusal(write: Write) -> None:
    dataset = read_dataset(write(GOOD.replace("2,cat,N", "2,cat,RARE")))
    assert "“RARE”" in sentences(dataset)
    assert "in one sequence only" in sentences(dataset)
    for seed in range(5):
        assert len(hold_out(dataset, 0.3, seed)[1])


def test_a_few_sequences_are_refused(write: Write) -> None:
    dataset = read_dataset(write("sequence,word,tag\n" + rows_of(*SENTENCES[:3])))
    with pytest.raises(UnusableError, match="3 sequences cannot be split"):
        hold_out(dataset, 0.3, 0)
    with pytest.raises(UnusableError, match="3 sequences to train on cannot make 5 folds"):
        cross_validation_folds(dataset, np.arange(dataset.rows), 5, 0)


def test_sequences_of_one_token_are_told(write: Write) -> None:
    dataset = read_dataset(write(GOOD + "5,alone,N\n6,too,D\n"))
    assert "2 sequences have one token only" in sentences(dataset)
    alone = "".join(f"s{k},w{k % 3},{'ND'[k % 2]}\n" for k in range(12))
    single = read_dataset(write("sequence,word,tag\n" + alone), DataOptions(task="sequence"))
    assert any(f.serious and "Every sequence has one token" in f.sentence for f in single.findings)


def test_words_are_handed_on_as_they_are(write: Write) -> None:
    dataset = read_dataset(write(GOOD))
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.table, dataset.target)
    assert fitted.transform(dataset.table).equals(dataset.table)
    assert output_names(fitted) == output_sources(fitted) == ["sequence", "word"]


def test_the_summary_speaks_of_sequences(write: Write) -> None:
    summary = summarize(read_dataset(write(GOOD)))
    structured = summary["structured"]
    assert structured["items"] == "4 sequences of 2 to 4 tokens"
    assert (structured["count"], structured["rows"], structured["mean"]) == (4, 12, 3.0)
    assert summary["features"] == 1
    assert {c["label"]: c["count"] for c in summary["classes"]} == {".": 3, "D": 3, "N": 4, "V": 2}
    assert summary["preview"]["rows"][0] == ["1", "the", "D"]
    assert "sequence" not in [name for of in summary["prefixes"].values() for name in of]


lengths = st.lists(st.integers(1, 6), min_size=4, max_size=15).filter(lambda n: max(n) > 1)


@settings(deadline=None)
@given(lengths, st.integers(0, 10), st.floats(0.2, 0.6))
def test_splits_keep_sequences_whole(sizes: list[int], seed: int, share: float) -> None:
    names = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.where(np.arange(len(names)) % 2, "a", "b")
    source = DataSource("", "sample")
    table = pd.DataFrame({"sequence": names.astype(str), "word": labels})
    dataset = Dataset(
        "made", source, (), table, None, labels, "sequence", ("a", "b"), names.astype(str)
    )
    train, test = hold_out(dataset, share, seed)
    assert sorted([*train, *test]) == list(range(len(names)))
    assert not set(names[train]) & set(names[test])
    assert len(set(names[test])) == round(len(sizes) * share)


def test_the_real_text(shared_data: Path) -> None:
    dataset = read_dataset(
        str(shared_data / "pos_ewt_train.csv"), test_file=str(shared_data / "pos_ewt_test.csv")
    )
    assert dataset.task == "sequence"
    assert dataset.rows == 8960
    assert len(dataset.classes) == 17
    assert sum(column.missing for column in dataset.columns) == 0
    structured = summarize(dataset)["structured"]
    assert structured["items"] == "600 sequences of 3 to 40 tokens"
    assert structured["test_count"] == 400
