"""Texts as documents, and texts beside labels."""

from __future__ import annotations

import contextlib
import csv
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from core.datasets.dataset import Dataset
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


def quoted(columns: dict[str, list]) -> str:
    """A file in which every cell is quoted."""
    return pd.DataFrame(columns).to_csv(index=False, quoting=csv.QUOTE_ALL)


def refusal(file: str, test_file: str = "", **choices: object) -> str:
    with pytest.raises(UnusableError) as caught:
        read_dataset(file, DataOptions(**choices), test_file=test_file)
    assert "\n" not in caught.value.sentence
    return caught.value.sentence


@pytest.mark.parametrize(
    "columns",
    [
        {"text": sentences(40)},
        {"id": list(range(40)), "text": sentences(40)},
        {"text": sentences(40), "day": [f"2024-01-{1 + i % 28:02}" for i in range(40)]},
        {"source": ["web"] * 40, "text": sentences(40)},
    ],
)
def test_texts_alone_are_documents_without_being_asked_for(read, columns):
    dataset = read(quoted(columns))
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
def test_where_something_could_be_predicted_topics_must_be_asked_for(read, more):
    text = quoted({"text": sentences(40), **more})
    with contextlib.suppress(UnusableError):  # some have no feature but texts
        assert read(text).task != "topics"
    assert read(text, task="topics").feature_names == ["text"]


def test_of_several_columns_of_texts_the_longest_is_taken_or_the_one_asked_for(read):
    body = [" ".join(pair) for pair in zip(sentences(40, 1), sentences(40, 2), strict=True)]
    mails = quoted({"subject": sentences(40), "body": body})
    assert read(mails).feature_names == ["body"]
    assert read(mails, task="topics", target="subject").feature_names == ["subject"]


POSTS = {"label": [*"ab"] * 30, "number": list(range(60)), "body": sentences(60)}


def test_a_label_beside_the_texts_is_left_out_and_a_group_keeps_them_together(read):
    dataset = read(quoted(POSTS), task="topics", roles={"label": "group"})
    roles = {column.name: column.role for column in dataset.columns}
    assert roles == {"label": "group", "number": "ignore", "body": "feature"}
    assert len(np.unique(dataset.row_groups)) == 2
    assert list(dataset.left_out) == ["label", "number"]
    assert read(quoted(POSTS), target="label").task == "binary"


def test_texts_without_a_header_and_over_several_lines(read):
    texts = [text.replace(", ", ",\n") for text in sentences(30)]
    dataset = read(quoted({"": texts}).removeprefix('""\n'))
    assert dataset.task == "topics"
    assert dataset.table.iloc[:, 0].tolist() == texts
    again = pd.read_csv(dataset.source.path, **dataset.source.read_csv)
    assert again.equals(dataset.table)


def test_empty_texts_stay_as_documents_without_words(read):
    texts = sentences(30)
    texts[3] = texts[17] = ""
    dataset = read(quoted({"id": list(range(30)), "text": texts}))
    assert dataset.rows == 30
    assert np.flatnonzero(dataset.documents.token_counts == 0).tolist() == [3, 17]
    assert summarize(dataset)["structured"]["empty"] == 2


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return SAMPLES["texts"].read()


def test_the_summary_counts_words_as_scikit_learn_does(sample):
    summary = summarize(sample)
    told = summary["structured"]
    counter = CountVectorizer(
        stop_words="english", token_pattern=r"[a-z]{3,}", min_df=2, max_df=0.95, max_features=1000
    )
    counts = counter.fit_transform(sample.table["text"])
    totals = np.asarray(counts.sum(axis=0)).ravel()
    assert told["vocabulary"] == counts.shape[1]
    assert told["mean"] == pytest.approx(counts.sum() / 400, abs=0.05)
    for word, total in told["words"]:
        assert total == totals[counter.vocabulary_[word]]
    assert [n for _, n in told["words"]] == sorted(totals, reverse=True)[: len(told["words"])]
    assert (told["kind"], told["column"], told["count"]) == ("document", "text", 400)
    assert (summary["texts"], summary["target"]) == (["text"], "")
    assert summary["preview"]["columns"] == ["text", "id"]


def test_words_of_one_subject_come_together_in_the_sample(sample):
    counts, words = sample.documents.counts, list(sample.documents.vocabulary)
    there = (counts > 0).astype(float)
    together = (there.T @ there).toarray()
    subjects = ("ship harbour captain wave sailor anchor", "bank price market loan interest profit")
    sea, bank = ([words.index(w) for w in subject.split() if w in words] for subject in subjects)
    within = together[np.ix_(sea, sea)][np.triu_indices(len(sea), 1)].mean()
    assert within > 3 * together[np.ix_(sea, bank)].mean()


def test_documents_are_divided_like_rows(sample):
    train, test = hold_out(sample, 0.3, 0)
    assert (len(train), len(test)) == (280, 120)
    parts = cross_validation_folds(sample, train, 5, 0)
    scored = np.concatenate([score for _, score in parts])
    assert sorted(scored.tolist()) == train.tolist()
    one = replace(sample, table=sample.table.head(1), target=np.zeros(1))
    with pytest.raises(UnusableError, match="1 text cannot be split into training and test texts"):
        hold_out(one, 0.3, 0)


def test_the_vocabulary_is_that_of_the_training_rows_alone(read):
    texts = ["harbour sailor", "harbour anchor", "sailor anchor", *["rocket comet"] * 4]
    dataset = read(quoted({"text": texts}), task="topics")
    fitted = preparation(dataset, scale=False, sparse_ok=True).fit(dataset.features.iloc[:3])
    assert output_names(fitted) == ["anchor", "harbour", "sailor"]
    again = pickle.loads(pickle.dumps(fitted))
    rows = pd.DataFrame({"text": ["Sailor! sailor, rocket", None, "ANCHOR"]})
    assert again.transform(rows).toarray().tolist() == [[0, 0, 2], [0, 0, 0], [1, 0, 0]]


def poisson(rows: int, words: int, mean: float = 1.0) -> np.ndarray:
    return np.random.default_rng(rows).poisson(mean, (rows, words)).astype(float)


@pytest.fixture
def counts_file(tmp_path):
    def written(counts: np.ndarray, name: str = "words") -> str:
        path = str(tmp_path / f"{name}.libsvm")
        dump_svmlight_file(sparse.csr_matrix(counts), np.arange(len(counts)) % 3, path)
        return path

    return written


def test_counts_of_a_sparse_file_are_documents_where_a_person_says_so(counts_file):
    counts = poisson(40, 12, 0.6)
    counts[:, 4] = 0
    counts[7, 4] = 5  # in one document only
    file = counts_file(counts)
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
    assert (told["structured"]["column"], told["structured"]["vocabulary"]) == ("", 11)
    assert len(told["preview"]["columns"]) == 12


def test_a_second_file_is_understood_as_the_first(read, write, counts_file):
    first = quoted({"text": sentences(40)})
    second = write(quoted({"text": sentences(9, 1), "more": list(range(9))}), "second.csv")
    test = read(first, test_file=second).test
    assert (test.task, test.rows, test.feature_names) == ("topics", 9, ["text"])
    third = write("a,b\n1,2\n2,1\n", "third.csv")
    assert "no column “text”" in refusal(write(first), third)
    file, wider = counts_file(poisson(20, 9)), counts_file(poisson(6, 11), "wider")
    whole = read_dataset(file, DataOptions(task="topics"), test_file=wider)
    assert whole.matrix.shape == (20, 11)
    assert whole.columns[10].name == "word 11"
    np.testing.assert_array_equal(whole.test.matrix.toarray(), poisson(6, 11))
    assert whole.test.target.tolist() == [0.0] * 6


@pytest.mark.parametrize(
    ("columns", "choices", "words"),
    [
        (
            {"label": [*"ab"] * 20, "text": [""] * 40},
            {"target": "text"},
            "table.csv, column text: all texts are empty; choose a column that holds texts.",
        ),
        # Labels are no texts.
        ({"label": [*"ab"] * 20, "text": [""] * 40}, {}, "table.csv, column text: all texts are"),
        ({"text": [""] * 40}, {}, "every cell below the header is empty"),
        ({"a": [1, 2, 3] * 9, "b": [4, 5, 7] * 9}, {}, "no column holds texts"),
        (POSTS, {"target": "bdoy"}, "did you mean “body”"),
        (POSTS, {"target": "number"}, "column number: the column holds numbers (0)"),
        ({"a": list(range(30))}, {"task": ""}, "there is only one column"),
    ],
)
def test_columns_that_hold_no_texts(write, columns, choices, words):
    assert words in refusal(write(quoted(columns)), **{"task": "topics", **choices})


@pytest.mark.parametrize(("value", "words"), [(-2.0, "a negative count"), (0.5, "no whole number")])
def test_what_is_no_count(counts_file, value, words):
    counts = poisson(20, 6)
    counts[4, 2] = value
    file = counts_file(counts)
    assert not summarize(read_dataset(file))["counts"]
    said = refusal(file, task="topics")
    assert said.startswith(f"words.libsvm, document 5, word 3: {value:g} is {words}; give")


@pytest.fixture
def reviews() -> pd.DataFrame:
    return SAMPLES["reviews"].table()


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
def test_what_stands_beside_texts_is_predicted(read, reviews, columns, target):
    dataset = read(reviews[columns.split()])
    assert (dataset.task == "binary", dataset.target_name) == (target == "buys_again", target)
    assert dataset.has_texts
    [said] = [f for f in dataset.findings if f.column == "review"]
    assert said.sentence == "“review” holds texts: words and parts of words become columns."
    assert not said.serious
    summary = summarize(dataset)
    assert summary["texts"] == ["review"]  # whose topics are offered above the table
    kinds = {column["name"]: (column["role"], column["kind"]) for column in summary["columns"]}
    assert kinds["review"] == ("feature", "text")
    shown = [
        row[summary["preview"]["columns"].index("review")] for row in summary["preview"]["rows"]
    ]
    assert any(text.startswith(("Bought", "A present")) for text in shown)
    topics = read_dataset(dataset.source.path, DataOptions(task="topics", target="review"))
    assert (topics.task, topics.feature_names) == ("topics", ["review"])


def test_the_target_asked_for_stays_what_it_was(read, reviews):
    table = reviews.rename(columns={"buys_again": "label"})[["label", "price", "review"]]
    assert read(table).target_name == "label"
    assert read(table, target="price").target_name == "price"


@pytest.mark.parametrize(
    ("remarks", "kinds", "words"),
    [("", {}, "every value is missing."), (" ", {"remark": "text"}, "")],
)
def test_empty_texts_are_said_and_left_out(read, reviews, remarks, kinds, words):
    table = reviews.assign(remark=[remarks * (1 + i % 7) for i in range(len(reviews))])
    dataset = read(table[["remark", *reviews]], kinds=kinds)
    assert "remark" not in dataset.feature_names
    [said] = [f.sentence for f in dataset.findings if f.column == "remark"]
    assert said.startswith(f"“remark” is left out: {words}")


def test_very_long_texts_are_told_by_words_alone(read, reviews, monkeypatch):
    monkeypatch.setattr(ngrams, "MAX_PARTED_LETTERS", 1000)
    [said] = [f for f in read(reviews).findings if f.column == "review"]
    assert said.sentence.startswith("“review” holds texts: words become columns.")
