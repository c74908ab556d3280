"""Files of texts with labels: the texts are features, and what is empty or asked otherwise."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples.registry import SAMPLES
from core.datasets.summary import summarize
from core.datasets.texts import ngrams


@pytest.fixture
def reviews() -> pd.DataFrame:
    return SAMPLES["reviews"].table()


def written(path: Path, table: pd.DataFrame) -> str:
    table.to_csv(path / "reviews.csv", index=False)
    return str(path / "reviews.csv")


@pytest.mark.parametrize(
    "columns",
    [
        ["review", "buys_again"],
        ["buys_again", "review"],  # texts at the end are no target that nobody asked for
        ["price", "buys_again", "review"],
        ["bought", "price", "review", "buys_again"],
    ],
)
def test_a_label_beside_texts_is_predicted(
    tmp_path: Path, reviews: pd.DataFrame, columns: list[str]
) -> None:
    dataset = read_dataset(written(tmp_path, reviews[columns]))
    assert (dataset.task, dataset.target_name) == ("binary", "buys_again")
    assert dataset.has_texts
    assert "review" in dataset.feature_names
    [said] = [f for f in dataset.findings if f.column == "review"]
    assert said.sentence == "“review” holds texts: words and parts of words become columns."
    assert not said.serious
    assert summarize(dataset)["texts"] == ["review"]  # whose topics are offered above the table
    topics = read_dataset(dataset.source.path, DataOptions(task="topics", target="review"))
    assert (topics.task, topics.feature_names) == ("topics", ["review"])


def test_a_number_is_predicted_from_texts(tmp_path: Path, reviews: pd.DataFrame) -> None:
    dataset = read_dataset(written(tmp_path, reviews[["review", "price"]]))
    assert (dataset.task, dataset.target_name, dataset.has_texts) == ("regression", "price", True)


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
