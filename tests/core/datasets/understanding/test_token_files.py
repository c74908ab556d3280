"""Files of tokens: recognized by runs of equal ids, kept in order, and refused by line."""

from __future__ import annotations

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

HEAD = "sequence,word,tag\n"
SENTENCES = ("the/D dog/N barks/V ./.", "a/D cat/N sleeps/V", "no/D ?/.", "None/N -/. NA/N")


def rows_of(*sentences: str) -> str:
    return "".join(
        f"{number},{token.rpartition('/')[0]},{token.rpartition('/')[2]}\n"
        for number, sentence in enumerate(sentences, 1)
        for token in sentence.split()
    )


GOOD = HEAD + rows_of(*SENTENCES)
MANY = HEAD + rows_of(*SENTENCES * 4)


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def test_runs_of_equal_ids_and_labels_make_sequences(read):
    dataset = read(GOOD)
    assert dataset.task == "sequence"
    assert dataset.feature_names == list(dataset.table.columns) == ["sequence", "word"]
    assert dataset.row_groups.tolist() == [*"1111222", *"33", *"444"]
    assert dataset.classes == (".", "D", "N", "V")
    assert dataset.target[:4].tolist() == ["D", "N", "V", "."]
    assert (dataset.sequence_name, dataset.target_name) == ("sequence", "tag")
    # Signs that mean missing elsewhere are words, and an empty cell is a missing feature.
    words = dataset.table["word"].tolist()
    assert [words[at] for at in (3, 8, 9, 10, 11)] == [".", "?", "None", "-", "NA"]
    assert next(c for c in dataset.columns if c.name == "word").missing == 0
    holed = read(GOOD.replace("1,dog,N", "1,,N")).table["word"]
    assert np.flatnonzero(holed.isna()).tolist() == [1]
    # Words and ids are handed on as they are.
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.table, dataset.target)
    assert fitted.transform(dataset.table).equals(dataset.table)
    assert output_names(fitted) == output_sources(fitted) == ["sequence", "word"]


@pytest.mark.parametrize("name", ["sentence_id", "Sentence", "seq", "sequence_id", "sent id"])
def test_other_names_of_the_sequence_wherever_it_stands(read, write, name):
    assert read(GOOD.replace("sequence", name, 1)).task == "sequence"
    table = pd.read_csv(write(GOOD), keep_default_na=False)
    dataset = read(table.rename(columns={"sequence": name})[["word", name, "tag"]])
    assert dataset.feature_names == list(dataset.table.columns) == [name, "word"]


def test_labels_that_look_like_numbers_are_text(read):
    text = GOOD.translate(str.maketrans({"D": "1", "V": "2"})).replace(",N\n", ",03\n")
    assert read(text.replace(",.\n", ",4\n")).classes == ("03", "1", "2", "4")


def test_every_word_is_a_category_however_many(read):
    rows = "".join(
        f"s{k // 5},word number {k} of a long text with many words,x{k},{k % 7},{k % 3}\n"
        for k in range(200)
    )
    dataset = read("sequence,word,code,length,tag\n" + rows)
    kinds = {c.name: c.kind for c in dataset.columns if c.role == "feature"}
    assert kinds == {"word": "category", "code": "category", "length": "number"}


def test_a_person_decides_otherwise(read):
    as_rows = read(MANY, task="multiclass")
    assert as_rows.task == "multiclass"
    assert as_rows.columns[0].role == "group"
    assert len(np.unique(as_rows.row_groups)) == 16
    as_feature = read(MANY, roles={"sequence": "feature"})
    assert as_feature.task == "multiclass"
    assert as_feature.row_groups is None
    other = MANY.replace("sequence", "text")
    assert read(other).task == "multiclass"
    assert read(other, roles={"text": "sequence"}).task == "sequence"
    assert read(other, task="sequence").sequence_name == "text"


def test_kinds_and_roles_of_features(read):
    rows = "".join(f"{k // 4},{'ab'[k % 2]},{k % 9},{'xyz'[k % 3]}\n" for k in range(80))
    text = "sequence,word,length,tag\n" + rows
    dataset = read(text, kinds={"length": "category"}, roles={"word": "ignore"})
    assert dataset.feature_names == ["sequence", "length"]
    assert not pd.api.types.is_numeric_dtype(dataset.table["length"].dtype)
    with pytest.raises(UnusableError, match="column word: its values join all sequences"):
        read(text, roles={"word": "group"})
    with pytest.raises(UnusableError, match="2 columns have the role sequence"):
        read(text, roles={"word": "sequence", "sequence": "sequence"})


def test_ordinary_tables_stay_ordinary(read):
    rng = np.random.default_rng(0)
    mixed = pd.DataFrame(
        {"sequence": rng.integers(0, 5, 100), "x": rng.normal(size=100), "y": rng.choice(2, 100)}
    )
    counted = mixed.assign(sequence=np.arange(100))
    amounts = mixed.assign(sequence=np.arange(100) // 5, y=rng.normal(size=100))
    tasks = [read(table).task for table in (mixed, counted, amounts, mixed.assign(sequence=1))]
    assert tasks == ["binary", "binary", "regression", "binary"]
    # Missing values are read there as everywhere.
    mixed["x"] = mixed["x"].astype(str)
    mixed.loc[::9, "x"] = "?"
    assert read(mixed).table["x"].isna().sum() == 12


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
        # Lines are those of the file, of which a cell may have several.
        (
            "1,dog,N\n1,barks,V\n1,.,.\n2,a,D\n2,cat,N",
            '1,"dog\nand cat",N\n\n1,barks,V\n1,.,.\n2,a,D\n1,cat,N',
            "line 9, column sequence",
            "ended in line 7",
        ),
    ],
)
def test_faults_are_told_by_line(read, write, old, new, where, what):
    faulty = GOOD.replace(old, new)
    for name, arguments in (("table.csv", (faulty,)), ("test.csv", (GOOD,))):
        test_file = "" if name == "table.csv" else write(faulty, name)
        with pytest.raises(UnusableError) as refused:
            read(*arguments, test_file=test_file)
        assert refused.value.where == f"{name}, {where}"
        assert what in refused.value.what


def test_one_label_and_too_many(read):
    with pytest.raises(UnusableTargetError, match="every token has the same label") as refused:
        read(HEAD + "".join(f"{k // 4},w{k % 6},N\n" for k in range(40)))
    assert refused.value.columns == ("word",)
    with pytest.raises(UnusableTargetError, match="40 different labels"):
        read(HEAD + "".join(f"{k // 4},w{k % 6},t{k}\n" for k in range(40)), task="sequence")


def test_a_sequence_is_no_feature_that_tells_its_labels(read):
    rows = "".join(f"{n // 4},{'xyz'[n % 3]},{'AB'[n // 4 % 2]}\n" for n in range(80))
    dataset = read(HEAD + rows)
    assert dataset.task == "sequence"
    assert "alone tells the target" not in sentences(dataset)


def test_labels_that_only_the_test_file_has(read, write):
    other = write(HEAD + rows_of("dog/N runs/X", "wow/X !/."), "test.csv")
    dataset = read(GOOD, test_file=other)
    assert dataset.test.target.tolist() == ["N", "X", "X", "."]
    assert dataset.test.classes == dataset.classes
    finding = dataset.test.findings[0]
    assert finding.serious
    assert "“X”, on 2 tokens" in finding.sentence
    assert "cannot be predicted" in finding.sentence
    assert finding.sentence in [f["sentence"] for f in summarize(dataset)["findings"]]


def test_rare_labels_and_short_sequences_are_told(read):
    dataset = read(GOOD.replace("2,cat,N", "2,cat,RARE") + "5,alone,N\n6,too,D\n")
    assert "“RARE”" in sentences(dataset)
    assert "in one sequence only" in sentences(dataset)
    assert "2 sequences have one token only" in sentences(dataset)
    for seed in range(5):
        assert len(hold_out(dataset, 0.3, seed)[1])
    alone = "".join(f"s{k},w{k % 3},{'ND'[k % 2]}\n" for k in range(12))
    single = read(HEAD + alone, task="sequence")
    assert any(f.serious and "Every sequence has one token" in f.sentence for f in single.findings)


def test_a_few_sequences_are_refused(read):
    dataset = read(HEAD + rows_of(*SENTENCES[:3]))
    with pytest.raises(UnusableError, match="3 sequences cannot be split"):
        hold_out(dataset, 0.3, 0)
    with pytest.raises(UnusableError, match="3 sequences to train on cannot make 5 folds"):
        cross_validation_folds(dataset, np.arange(dataset.rows), 5, 0)


def test_the_summary_speaks_of_sequences(read):
    summary = summarize(read(GOOD))
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
def test_splits_keep_sequences_whole(sizes, seed, share):
    names = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.where(np.arange(len(names)) % 2, "a", "b")
    table = pd.DataFrame({"sequence": names.astype(str), "word": labels})
    about = ("made", DataSource("", "sample"), (), table, None, labels)
    dataset = Dataset(*about, "sequence", ("a", "b"), names.astype(str))
    train, test = hold_out(dataset, share, seed)
    assert sorted([*train, *test]) == list(range(len(names)))
    assert not set(names[train]) & set(names[test])
    assert len(set(names[test])) == round(len(sizes) * share)


def test_the_real_text(shared_data):
    train, test = (str(shared_data / f"pos_ewt_{part}.csv") for part in ("train", "test"))
    dataset = read_dataset(train, test_file=test)
    assert (dataset.task, dataset.rows, len(dataset.classes)) == ("sequence", 8960, 17)
    assert sum(column.missing for column in dataset.columns) == 0
    structured = summarize(dataset)["structured"]
    assert structured["items"] == "600 sequences of 3 to 40 tokens"
    assert structured["test_count"] == 400


def test_a_blank_line_of_another_kind_above_the_names_of_tokens_is_told(tmp_path):
    rows = "1;0.5;A\n1;0.25;B\n2;0.125;A\n2;1;B\n"
    (tmp_path / "mixed.csv").write_bytes(b"\rsequence;n;label\n" + rows.encode())
    with pytest.raises(UnusableError, match=r"mixed\.csv: its lines end in two ways"):
        read_dataset(str(tmp_path / "mixed.csv"), DataOptions(task="sequence"))
    (tmp_path / "plain.csv").write_text("sequence;n;label\n" + rows)
    assert read_dataset(
        str(tmp_path / "plain.csv"), DataOptions(task="sequence")
    ).task.has_sequences
