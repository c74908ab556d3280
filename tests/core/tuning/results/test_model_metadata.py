"""What is kept beside a model, of its rows too: read back equal, and never believed unseen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.tuning.results.model_metadata import (
    FILE_NAME,
    LearnedPenalties,
    model_metadata,
    read_metadata,
)
from core.tuning.results.training_columns import date_text
from core.tuning.results.training_rows import read_training_rows, training_rows_of


@pytest.fixture
def metadata():
    penalties = {"age": np.float64(0.5), "ward": float("inf")}
    return model_metadata(
        read_dataset("sample:clinic"),
        np.arange(10),
        np.arange(10, 15),
        output_names=["age", "ward=a"],
        penalties=LearnedPenalties(penalties, np.array([0, 1]), np.float64(2.0)),
    )


def test_survives_the_disk_and_fields_of_newer_versions(tmp_path, metadata) -> None:
    plain = {**json.loads(metadata.as_json()), "of_tomorrow": 1}
    for text in (metadata.as_json(), json.dumps(plain)):
        (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
        assert read_metadata(tmp_path) == metadata
    assert metadata.target == "came_back"
    assert metadata.group_names == ["age", "ward"]
    assert metadata.test_rows == [10, 11, 12, 13, 14]
    assert metadata.versions["numpy"] == np.__version__


def test_a_run_without_a_model_has_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_metadata(tmp_path)


DEEP = b"[" * 100_000
DAMAGE = [
    b"",
    b'{"dataset": "iris", "sour',
    b"\xff\xfe\x00",
    DEEP,
    b"[]",
    b"{}",
    b"1" * 10_000,
    "all",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_one_sentence_that_names_it(tmp_path: Path, metadata, damage) -> None:
    if damage == "all":  # a type that no such field has
        damage = json.dumps({**json.loads(metadata.as_json()), "train_rows": damage}).encode()
    (tmp_path / FILE_NAME).write_bytes(damage)
    with pytest.raises(UnusableError, match="empty, cut off or damaged") as refusal:
        read_metadata(tmp_path)
    assert refusal.value.where == str(tmp_path / FILE_NAME)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    count = 40
    table = pd.DataFrame(
        {
            "age": [20 + (7 * at) % count for at in range(count)],
            "size": [f"{0.5 * at} kg" if at % 4 else None for at in range(count)],
            "town": ["a", "b", "a", "c"] * (count // 4),
            "smokes": [0, 1, 1, 1] * (count // 4),
            "day": [f"2024-03-{1 + at % 28:02d}" for at in range(count)],
            "y": [1.5 * at for at in range(count)],
        }
    )
    path = tmp_path_factory.mktemp("rows") / "data.csv"
    table.to_csv(path, index=False)
    return read_dataset(str(path))


def test_ranges_categories_and_typical_values_are_those_of_the_rows(dataset):
    told = training_rows_of(dataset, np.arange(10, 30))
    by_name = {column.name: column for column in told.columns}
    assert told.rows == 20
    age, size, town, smokes = (by_name[name] for name in ("age", "size", "town", "smokes"))
    assert (age.kind, age.whole) == ("number", True)
    ages = sorted(20 + (7 * at) % 40 for at in range(10, 30))
    assert (age.low, age.high, age.typical) == (ages[0], ages[-1], ages[9])
    present = [0.5 * at for at in range(10, 30) if at % 4]
    assert (size.low, size.high) == (min(present), max(present))
    assert size.typical == np.median(present)
    assert (size.title, age.title) == ("size, kg", "age")
    assert (town.kind, town.choices, town.typical) == ("choice", ("a", "b", "c"), "a")
    assert (smokes.kind, smokes.numeric, smokes.choices) == ("choice", True, (1.0, 0.0))
    day = by_name["day"]
    assert day.kind == "date"
    assert day.typical == "2024-03-18"  # the lower middle of days 1, 2 and 11 to 28
    assert [date_text(end) for end in (day.low, day.high)] == ["2024-03-01", "2024-03-28"]
    assert (date_text(-1e300), date_text(1e300)) == ("0001-01-01", "9999-12-31")


def test_it_is_read_back_from_its_text_for_the_same_columns_alone(dataset):
    told, names = training_rows_of(dataset), dataset.feature_names
    text = told.as_json()
    assert read_training_rows(text, names) == read_training_rows(json.loads(text), names) == told
    assert read_training_rows(text, names[::-1]) is None
    endless = text.replace('"high": 59.0', '"high": Infinity')
    assert endless != text
    assert read_training_rows(endless, names) is None


STRANGE = [
    *({"kind": "code"}, {"low": "20"}, {"low": 99.0}, {"high": None}, {"typical": [1]}),
    *({"choices": [None]}, {"choices": 3}, {"whole": "yes"}, {"name": 5}, {"numeric": False}),
]


@pytest.mark.parametrize("change", STRANGE, ids=str)
def test_what_a_stranger_wrote_into_it_is_not_believed(dataset, change):
    plain = training_rows_of(dataset).as_dict()
    plain["columns"][0] |= change
    assert read_training_rows(plain, dataset.feature_names) is None


@pytest.mark.parametrize(
    "told", [None, "", "[]", "{", 7, {"form": 2}, {"form": 1}, "[" * 9000, {"form": 1, "rows": "1"}]
)
def test_anything_else_is_nothing(told):
    assert read_training_rows(told, ["age"]) is None
