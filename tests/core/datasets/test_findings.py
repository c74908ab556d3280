"""What is found in the data, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.dataset import Dataset, Source
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.datasets.understanding import from_table


def dataset_of(table: pd.DataFrame, **choices: object) -> Dataset:
    return from_table(table, "made", Source("", "sample"), **choices)


def telling(dataset: Dataset) -> list[str]:
    return [f.column for f in dataset.findings if "alone tells" in f.sentence]


@pytest.fixture
def noise() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("rows", [300, 12_000])
def test_columns_that_give_the_target_away(rows: int) -> None:
    rng = np.random.default_rng(1)
    target = rng.choice(["no", "maybe", "yes"], rows)
    code = pd.Series(target).map({"no": 0.0, "maybe": 1.0, "yes": 2.0})
    table = pd.DataFrame(
        {
            "above": code + rng.uniform(0, 0.4, rows),
            "word": np.char.add(target, rng.choice([" then", " now"], rows)),
            "nearly": np.where(np.arange(rows) == 7, 1 - code, code) + rng.uniform(0, 0.4, rows),
            "other": rng.normal(size=rows),
            "y": target,
        }
    )
    dataset = dataset_of(table)
    assert telling(dataset) == ["above", "word"]
    assert all(f.serious for f in dataset.findings if f.column in ("above", "word"))
    assert dataset.findings[0].serious


def test_a_linear_copy_gives_an_amount_away(noise: pd.DataFrame) -> None:
    target = np.random.default_rng(2).normal(size=300)
    table = noise.assign(copy=-3 * target + 7, close=target + 0.01 * noise["a"], y=target)
    assert telling(dataset_of(table)) == ["copy"]


def test_no_false_alarm_on_the_samples() -> None:
    assert [telling(sample.read()) for sample in SAMPLES.values()] == [[] for _ in SAMPLES]


def test_rare_classes(noise: pd.DataFrame) -> None:
    labels = ["common"] * 290 + ["rare"] * 9 + ["single"]
    dataset = dataset_of(noise.assign(y=labels))
    [finding] = [f for f in dataset.findings if "Rare classes" in f.sentence]
    assert "“rare” has 9 rows" in finding.sentence
    assert "“single” has 1 row;" in finding.sentence
    assert finding.serious


def test_lost_columns_and_gaps(noise: pd.DataFrame) -> None:
    noise.loc[:200, "a"] = np.nan
    noise["nothing"] = np.nan
    noise["same"] = 4
    dataset = dataset_of(noise.assign(y=np.arange(300) % 2))
    sentences = {f.column: f.sentence for f in dataset.findings}
    assert sentences["nothing"] == "“nothing” is left out: every value is missing."
    assert sentences["same"] == "“same” is left out: the same value in every row."
    assert sentences["a"] == "“a” is missing in 201 of 300 rows."


def test_only_a_counting_column_is_better_than_none() -> None:
    table = pd.DataFrame({"x": np.arange(40), "y": np.arange(40) * 2.5})
    dataset = dataset_of(table)
    assert dataset.feature_names == ["x"]
    assert dataset.columns[0].note


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    sample = SAMPLES[name]
    dataset, again = sample.read(), sample.read()
    assert dataset.task == sample.task
    assert dataset.target_name == sample.target
    assert dataset.source.fingerprint == again.source.fingerprint
    assert dataset.source.format == "sample"
    assert dataset.rows >= 60
    assert sample.title
    assert sample.sentence.endswith((".", "?"))


def test_the_groups_of_the_generated_sample_are_useful_and_useless() -> None:
    """The truth is recoverable: each useful column correlates with the class, noise does not."""
    dataset = SAMPLES["groups"].read()
    ill = (dataset.target == "yes").astype(float)
    strength = dataset.table.corrwith(pd.Series(ill)).abs()
    useful = strength[[c for c in strength.index if c.startswith(("blood_", "lifestyle_"))]]
    useless = strength.drop(useful.index)
    assert useful.mean() > 4 * useless.mean()
    assert set(summarize(dataset)["prefixes"]) == {
        "blood",
        "lifestyle",
        "noisea",
        "gene",
        "weather",
        "stars",
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_summary_of_samples_is_plain_data(name: str) -> None:
    dataset = SAMPLES[name].read()
    summary = summarize(dataset)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["rows"] == dataset.rows
    features = [name for name in dataset.feature_names if name != dataset.sequence_name]
    assert summary["features"] == len(features)
    assert sum(c["count"] for c in summary["classes"]) == (dataset.rows if dataset.classes else 0)
    preview = summary["preview"]
    aside = [c.name for c in dataset.columns if c.role in ("group", "ignore")]
    assert preview["columns"] == [
        *(*dataset.feature_names, *aside),
        *([dataset.target_name] if dataset.target_name else []),
    ]
    assert len(preview["rows"]) == 50
    assert {len(row) for row in preview["rows"]} == {len(preview["columns"])}
    members = [column for group in summary["prefixes"].values() for column in group]
    assert sorted(members) == sorted(features)


def test_the_preview_has_the_values_of_columns_that_are_left_out(tmp_path: Path) -> None:
    from core.datasets.reading import read_dataset

    lines = [f"P{i:03},{i % 9},,{'yn'[i % 2]}" for i in range(60)]
    lines[0] = "P000,0,,"  # a row without a target is set aside, here too
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(["patient,age,note,ill", *lines]))
    preview = summarize(read_dataset(str(path)))["preview"]
    assert preview["columns"] == ["age", "patient", "note", "ill"]
    assert preview["rows"][0] == ["1", "P001", "", "n"]
    assert preview["rows"][49] == ["5", "P050", "", "y"]


def test_summary_of_a_wide_sparse_file(tmp_path: Path) -> None:
    from core.datasets.reading import read_dataset

    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{i % 2} {i + 1}:1.5 5000:2\n" for i in range(60)))
    summary = summarize(read_dataset(str(path)))
    assert len(summary["columns"]) == 300
    assert summary["more_columns"] == 5001 - 300
    assert summary["columns"][-1]["role"] == "target"
    assert summary["preview"]["rows"][3][3] == "1.5"
    assert json.loads(json.dumps(summary)) == summary


def test_a_wide_file_is_summarized_without_looking_through_its_columns_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.datasets.dataset import Dataset
    from core.datasets.reading import read_dataset

    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{i % 2} {1 + 7 * i}:1 2000:2\n" for i in range(60)))
    asked, name_of = [], Dataset.sequence_name.fget
    monkeypatch.setattr(
        Dataset, "sequence_name", property(lambda dataset: asked.append(1) or name_of(dataset))
    )
    assert summarize(read_dataset(str(path)))["features"] == 2000
    assert len(asked) < 10
