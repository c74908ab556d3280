"""Texts as documents, and texts beside labels."""

from __future__ import annotations

import contextlib
import csv
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from core.datasets.preparation import output_names, preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.splitting import cross_validation_folds, hold_out
from core.datasets.summary import summarize
from core.datasets.texts import ngrams
from core.errors import UnusableError

WORDS = ["anchor", "harbour", "sailor", "butter", "onion", "recipe", "planet", "rocket", "comet"]


def sentences(count: int, seed: int = 0) -> list[str]:
    generator = np.random.default_rng(seed)
    return [
        f"In text {i}, the {' and the '.join(generator.choice(WORDS, 7))} were seen."
        for i in range(count)
    ]


def write(path: Path, columns: dict[str, list], header: bool = True) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        if header:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return str(path)


def sentence_for(file: str, test_file: str = "", **choices: object) -> str:
    with pytest.raises(UnusableError) as caught:
        read_dataset(file, DataOptions(**choices), test_file=test_file)
    assert "\n" not in caught.value.sentence
    return caught.value.sentence


@pytest.fixture
def posts(tmp_path: Path) -> str:
    label = ["ab"[i % 2] for i in range(60)]
    given = {"label": label, "number": list(range(60)), "body": sentences(60)}
    return write(tmp_path / "posts.csv", given)


@pytest.mark.parametrize(
    "columns",
    [
        {"text": sentences(40)},
        {"id": list(range(40)), "text": sentences(40)},
        {"text": sentences(40), "day": [f"2024-01-{1 + i % 28:02}" for i in range(40)]},
        {"source": ["web"] * 40, "text": sentences(40)},
    ],
)
def test_texts_alone_are_documents_without_being_asked_for(tmp_path: Path, columns: dict) -> None:
    dataset = read_dataset(write(tmp_path / "texts.csv", columns))
    assert (dataset.task, dataset.target_name, dataset.classes) == ("topics", "", ())
    assert dataset.feature_names == ["text"]
    assert dataset.table["text"].tolist() == columns["text"]
    assert dataset.target.tolist() == [0.0] * 40
    aside = [column.name for column in dataset.columns if column.role == "ignore"]
    assert aside == [name for name in columns if name != "text"]


@pytest.mark.parametrize(
    "more",
    [
        {"grade": [i % 7 for i in range(40)]},
        {"weight": [0.5 * i for i in range(40)]},
        {"kind": ["ab"[i % 2] for i in range(40)]},
        {"label": [f"t{i}" for i in range(40)]},
    ],
)
def test_where_something_could_be_predicted_topics_must_be_asked_for(
    tmp_path: Path, more: dict
) -> None:
    path = write(tmp_path / "texts.csv", {"text": sentences(40), **more})
    with contextlib.suppress(UnusableError):  # some have no feature but texts
        assert read_dataset(path).task != "topics"
    assert read_dataset(path, DataOptions(task="topics")).feature_names == ["text"]


def test_of_several_columns_of_texts_the_longest_is_taken_or_the_one_asked_for(
    tmp_path: Path,
) -> None:
    body = [" ".join(pair) for pair in zip(sentences(40, 1), sentences(40, 2), strict=True)]
    path = write(tmp_path / "mails.csv", {"subject": sentences(40), "body": body})
    assert read_dataset(path).feature_names == ["body"]
    assert read_dataset(path, DataOptions(task="topics", target="subject")).feature_names == [
        "subject"
    ]


def test_a_label_beside_the_texts_is_left_out_and_a_group_keeps_them_together(posts: str) -> None:
    dataset = read_dataset(posts, DataOptions(task="topics", roles={"label": "group"}))
    roles = {column.name: column.role for column in dataset.columns}
    assert roles == {"label": "group", "number": "ignore", "body": "feature"}
    assert len(np.unique(dataset.row_groups)) == 2
    assert list(dataset.left_out) == ["label", "number"]
    assert read_dataset(posts, DataOptions(target="label")).task == "binary"


def test_texts_without_a_header_and_over_several_lines(tmp_path: Path) -> None:
    texts = [text.replace(", ", ",\n") for text in sentences(30)]
    dataset = read_dataset(write(tmp_path / "texts.csv", {"": texts}, header=False))
    assert dataset.task == "topics"
    assert dataset.table.iloc[:, 0].tolist() == texts
    again = pd.read_csv(dataset.source.path, **dataset.source.read_csv)
    assert again.equals(dataset.table)


def test_empty_texts_stay_as_documents_without_words(tmp_path: Path) -> None:
    texts = sentences(30)
    texts[3] = texts[17] = ""
    dataset = read_dataset(write(tmp_path / "texts.csv", {"id": list(range(30)), "text": texts}))
    assert dataset.rows == 30
    assert np.flatnonzero(dataset.documents.token_counts == 0).tolist() == [3, 17]
    assert summarize(dataset)["structured"]["empty"] == 2


def test_the_summary_counts_words_as_scikit_learn_does() -> None:
    dataset = SAMPLES["texts"].read()
    summary = summarize(dataset)
    told = summary["structured"]
    counter = CountVectorizer(
        stop_words="english", token_pattern=r"[a-z]{3,}", min_df=2, max_df=0.95, max_features=1000
    )
    counts = counter.fit_transform(dataset.table["text"])
    totals = np.asarray(counts.sum(axis=0)).ravel()
    assert told["vocabulary"] == counts.shape[1]
    assert told["mean"] == pytest.approx(counts.sum() / 400, abs=0.05)
    assert dict(map(tuple, told["words"])) == {
        word: totals[counter.vocabulary_[word]] for word, _ in told["words"]
    }
    assert [n for _, n in told["words"]] == sorted(totals, reverse=True)[: len(told["words"])]
    assert (told["kind"], told["column"], told["count"]) == ("document", "text", 400)
    assert summary["texts"] == ["text"]
    assert summary["target"] == ""
    assert summary["preview"]["columns"] == ["text", "id"]


def test_the_sample_is_what_it_says() -> None:
    dataset = SAMPLES["texts"].read()
    # Words of one subject come together far more often than words of two.
    counts, words = dataset.documents.counts, list(dataset.documents.vocabulary)
    there = (counts > 0).astype(float)
    together = (there.T @ there).toarray()
    subjects = ("ship harbour captain wave sailor anchor", "bank price market loan interest profit")
    sea, bank = ([words.index(w) for w in subject.split() if w in words] for subject in subjects)
    within = together[np.ix_(sea, sea)][np.triu_indices(len(sea), 1)].mean()
    assert within > 3 * together[np.ix_(sea, bank)].mean()


# Preparation ----------------------------------------------------------------------------------


def test_the_vocabulary_is_that_of_the_training_rows_alone(tmp_path: Path) -> None:
    texts = ["harbour sailor", "harbour anchor", "sailor anchor", *["rocket comet"] * 4]
    dataset = read_dataset(
        write(tmp_path / "texts.csv", {"text": texts}), DataOptions(task="topics")
    )
    fitted = preparation(dataset, scale=False, sparse_ok=True).fit(dataset.features.iloc[:3])
    assert output_names(fitted) == ["anchor", "harbour", "sailor"]
    again = pickle.loads(pickle.dumps(fitted))
    rows = pd.DataFrame({"text": ["Sailor! sailor, rocket", None, "ANCHOR"]})
    assert again.transform(rows).toarray().tolist() == [[0, 0, 2], [0, 0, 0], [1, 0, 0]]


def counts_file(path: Path, counts: np.ndarray) -> str:
    dump_svmlight_file(sparse.csr_matrix(counts), np.arange(len(counts)) % 3, str(path))
    return str(path)


def test_counts_of_a_sparse_file_are_documents_where_a_person_says_so(tmp_path: Path) -> None:
    counts = np.random.default_rng(0).poisson(0.6, (40, 12)).astype(float)
    counts[:, 4] = 0
    counts[7, 4] = 5  # in one document only
    file = counts_file(tmp_path / "words.libsvm", counts)
    assert read_dataset(file).task == "multiclass"
    assert summarize(read_dataset(file))["counts"]
    dataset = read_dataset(file, DataOptions(task="topics"))
    assert (dataset.task, dataset.target_name, dataset.rows) == ("topics", "", 40)
    assert dataset.columns[2].name == "word 3"
    train = np.arange(25)
    fitted = preparation(dataset, scale=False, sparse_ok=True).fit(dataset.features[train])
    spread = (counts[:25] > 0).sum(axis=0)
    kept = np.flatnonzero((spread >= 2) & (spread <= 0.95 * 25))
    assert output_names(fitted) == [f"word {w + 1}" for w in kept]
    found = fitted.transform(dataset.features).toarray()
    np.testing.assert_array_equal(found, counts[:, kept])
    told = summarize(dataset)
    assert told["structured"]["column"] == ""
    assert told["structured"]["vocabulary"] == 11
    assert len(told["preview"]["columns"]) == 12


def test_a_second_file_is_understood_as_the_first(tmp_path: Path) -> None:
    first = write(tmp_path / "first.csv", {"text": sentences(40)})
    second = write(tmp_path / "second.csv", {"text": sentences(9, 1), "more": list(range(9))})
    dataset = read_dataset(first, test_file=second)
    assert (dataset.test.task, dataset.test.rows, dataset.test.feature_names) == (
        "topics",
        9,
        ["text"],
    )
    assert "no column “text”" in sentence_for(
        first, test_file=write(tmp_path / "third.csv", {"a": [1, 2], "b": [2, 1]})
    )
    counts = np.random.default_rng(0).poisson(1.0, (20, 9)).astype(float)
    wide = np.random.default_rng(1).poisson(1.0, (6, 11)).astype(float)
    train = counts_file(tmp_path / "first.libsvm", counts)
    whole = read_dataset(
        train, DataOptions(task="topics"), test_file=counts_file(tmp_path / "second.libsvm", wide)
    )
    assert whole.matrix.shape == (20, 11)
    assert whole.columns[10].name == "word 11"
    np.testing.assert_array_equal(whole.test.matrix.toarray(), wide)
    assert whole.test.target.tolist() == [0.0] * 6


def test_documents_are_divided_like_rows() -> None:
    dataset = SAMPLES["texts"].read()
    train, test = hold_out(dataset, 0.3, 0)
    assert (len(train), len(test)) == (280, 120)
    parts = cross_validation_folds(dataset, train, 5, 0)
    scored = np.concatenate([score for _, score in parts])
    assert sorted(scored.tolist()) == train.tolist()
    one = replace(dataset, table=dataset.table.head(1), target=np.zeros(1))
    with pytest.raises(UnusableError, match="1 text cannot be split into training and test texts"):
        hold_out(one, 0.3, 0)


# Bad input ------------------------------------------------------------------------------------


def test_texts_that_are_empty(tmp_path: Path) -> None:
    path = write(tmp_path / "none.csv", {"label": list("ab") * 20, "text": [""] * 40})
    said = sentence_for(path, task="topics", target="text")
    assert said == "none.csv, column text: all texts are empty; choose a column that holds texts."
    assert sentence_for(path, task="topics") == said  # labels are no texts
    alone = write(tmp_path / "alone.csv", {"text": [""] * 40})
    assert "every cell below the header is empty" in sentence_for(alone, task="topics")


def test_columns_that_hold_no_texts(tmp_path: Path, posts: str) -> None:
    numbers = write(tmp_path / "numbers.csv", {"a": [1, 2, 3] * 9, "b": [4, 5, 7] * 9})
    assert "no column holds texts" in sentence_for(numbers, task="topics")
    assert "did you mean “body”" in sentence_for(posts, task="topics", target="bdoy")
    assert "column number: the column holds numbers (0)" in sentence_for(
        posts, task="topics", target="number"
    )
    assert "there is only one column" in sentence_for(
        write(tmp_path / "one.csv", {"a": list(range(30))})
    )


@pytest.mark.parametrize(("value", "words"), [(-2.0, "a negative count"), (0.5, "no whole number")])
def test_what_is_no_count(tmp_path: Path, value: float, words: str) -> None:
    counts = np.random.default_rng(0).poisson(1.0, (20, 6)).astype(float)
    counts[4, 2] = value
    file = counts_file(tmp_path / "words.libsvm", counts)
    assert not summarize(read_dataset(file))["counts"]
    said = sentence_for(file, task="topics")
    assert said.startswith(f"words.libsvm, document 5, word 3: {value:g} is {words}; give")


@pytest.fixture
def reviews() -> pd.DataFrame:
    return SAMPLES["reviews"].table()


def written(path: Path, table: pd.DataFrame) -> str:
    table.to_csv(path / "reviews.csv", index=False)
    return str(path / "reviews.csv")


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ("review buys_again", "buys_again"),
        ("buys_again review", "buys_again"),  # no texts are predicted that nobody asked for
        ("price buys_again review", "buys_again"),
        ("bought price review buys_again", "buys_again"),
        ("review price", "price"),
    ],
)
def test_what_stands_beside_texts_is_predicted(
    tmp_path: Path, reviews: pd.DataFrame, columns: str, target: str
) -> None:
    dataset = read_dataset(written(tmp_path, reviews[columns.split()]))
    assert (dataset.task == "binary", dataset.target_name) == (target == "buys_again", target)
    assert dataset.has_texts
    assert "review" in dataset.feature_names
    [said] = [f for f in dataset.findings if f.column == "review"]
    assert said.sentence == "“review” holds texts: words and parts of words become columns."
    assert not said.serious
    assert summarize(dataset)["texts"] == ["review"]  # whose topics are offered above the table
    topics = read_dataset(dataset.source.path, DataOptions(task="topics", target="review"))
    assert (topics.task, topics.feature_names) == ("topics", ["review"])


def test_the_target_asked_for_stays_what_it_was(tmp_path: Path, reviews: pd.DataFrame) -> None:
    reviews["label"] = reviews.pop("buys_again")
    path = written(tmp_path, reviews[["label", "price", "review"]])
    assert read_dataset(path).target_name == "label"
    assert read_dataset(path, DataOptions(target="price")).target_name == "price"


def test_empty_texts_are_said_and_left_out(tmp_path: Path, reviews: pd.DataFrame) -> None:
    reviews.insert(0, "remark", "")
    dataset = read_dataset(written(tmp_path, reviews))
    assert "remark" not in dataset.feature_names
    assert "“remark” is left out: every value is missing." in [
        finding.sentence for finding in dataset.findings
    ]
    reviews["remark"] = [" " * (1 + i % 7) for i in range(len(reviews))]
    dataset = read_dataset(written(tmp_path, reviews), DataOptions(kinds={"remark": "text"}))
    assert "remark" not in dataset.feature_names
    [said] = [f.sentence for f in dataset.findings if f.column == "remark"]
    assert said.startswith("“remark” is left out: ")


def test_very_long_texts_are_told_by_words_alone(
    tmp_path: Path, reviews: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngrams, "MAX_PARTED_LETTERS", 1000)
    dataset = read_dataset(written(tmp_path, reviews))
    [said] = [f for f in dataset.findings if f.column == "review"]
    assert said.sentence.startswith("“review” holds texts: words become columns.")


def test_the_summary_says_text(tmp_path: Path, reviews: pd.DataFrame) -> None:
    summary = summarize(read_dataset(written(tmp_path, reviews)))
    assert [(c["name"], c["role"], c["kind"]) for c in summary["columns"]] == [
        ("bought", "feature", "category"),
        ("price", "feature", "number"),
        ("review", "feature", "text"),
        ("buys_again", "target", "yes/no"),
    ]
    assert summary["texts"] == ["review"]
    assert any(row[2].startswith(("Bought", "A present")) for row in summary["preview"]["rows"])
