"""What is told of training rows: by hand for every kind of column, and read back strictly."""

import json

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.tuning.results.training_rows import date_text, read_training_rows, training_rows_of


@pytest.fixture
def dataset(tmp_path):
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
    table.to_csv(tmp_path / "data.csv", index=False)
    return read_dataset(str(tmp_path / "data.csv"))


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
    told = training_rows_of(dataset)
    names = dataset.feature_names
    assert read_training_rows(told.as_json(), names) == told
    assert read_training_rows(json.loads(told.as_json()), names) == told
    assert read_training_rows(told.as_json(), names[::-1]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "code"},
        {"low": "20"},
        {"low": 99.0},
        {"high": None},
        {"typical": [1]},
        {"choices": [None]},
        {"choices": 3},
        {"whole": "yes"},
        {"name": 5},
        {"numeric": False},
    ],
)
def test_what_a_stranger_wrote_into_it_is_not_believed(dataset, change):
    plain = training_rows_of(dataset).as_dict()
    names = dataset.feature_names
    plain["columns"][0] |= change
    assert read_training_rows(plain, names) is None


@pytest.mark.parametrize(
    "told", [None, "", "[]", "{", 7, {"form": 2}, {"form": 1}, "[" * 9000, {"form": 1, "rows": "1"}]
)
def test_anything_else_is_nothing(told):
    assert read_training_rows(told, ["age"]) is None


def test_infinite_numbers_are_not_believed(dataset):
    text = training_rows_of(dataset).as_json().replace('"high": 59.0', '"high": Infinity')
    assert "Infinity" in text
    assert read_training_rows(text, dataset.feature_names) is None
