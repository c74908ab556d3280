"""How values are spread, against numpy's histogram and counts by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.dataset import Column
from core.datasets.distributions import (
    BINS,
    MAX_ROWS,
    Distributions,
    binned_distribution,
    distribution,
)
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.records import to_plain


def spread_of(values: pd.Series, kind: str, form: str = ""):
    column = Column(str(values.name), "feature", kind, date_format=form)
    return distribution(values, column, len(values))


def test_numbers_are_counted_as_numpy_counts_them() -> None:
    values = pd.Series(np.random.default_rng(0).gamma(2, 3, 5000), name="x")
    values[::10] = np.nan
    found = spread_of(values, "number")
    known = values.dropna()
    assert list(found.counts) == np.histogram(known, BINS)[0].tolist()
    assert (found.low, found.high) == (known.min(), known.max())
    assert (found.rows, found.of) == (5000, 5000)


def test_a_few_whole_numbers_have_a_bin_each() -> None:
    found = spread_of(pd.Series([3, 1, 1, 5, 3, 3], name="x"), "number")
    assert found.counts == (2, 0, 3, 0, 1)


@pytest.mark.parametrize("values", [[-1.7e308, 0.0, 1.7e308], [np.inf, 1.0, 2.5, -np.inf]])
def test_the_widest_and_infinite_numbers(values: list[float]) -> None:
    found = binned_distribution(np.array(values), "numbers", rows=len(values), of=len(values))
    assert sum(found.counts) == np.isfinite(values).sum()
    assert found.counts[0] == found.counts[-1] == 1


def test_the_most_frequent_values_and_the_others() -> None:
    values = pd.Series([*"aaaabbbccdefghijk", None], name="x")
    found = spread_of(values, "category")
    assert found.labels[:3] == ("a", "b", "c")
    assert found.counts[:3] == (4, 3, 2)
    assert found.other == 3
    assert found.different == 3
    assert spread_of(pd.Series([None, None], name="x", dtype=object), "category") is None


def test_dates_lie_in_their_time() -> None:
    values = pd.Series(["2024-01-01", "2024-01-31", "2024-01-02", None], name="x")
    found = spread_of(values, "date", "%Y-%m-%d")
    assert found.kind == "dates"
    assert found.high - found.low == 30 * 86400
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (2, 1, 3)


def test_of_many_rows_some_stand_for_all() -> None:
    table = pd.DataFrame({"x": np.arange(3 * MAX_ROWS) / 7})
    found = Distributions(table, [Column("x", "feature", "number")])["x"]
    assert (found.rows, found.of) == (MAX_ROWS, 3 * MAX_ROWS)
    assert max(found.counts) - min(found.counts) <= 1


def test_a_summary_tells_of_every_column_also_of_those_left_out(tmp_path: Path) -> None:
    summary = summarize(read_dataset("sample:clinic"))
    by_name = {column["name"]: column for column in summary["columns"]}
    age = by_name["age"]
    assert sum(age["distribution"]["counts"]) + age["missing"] == 600
    assert sum(by_name["came_back"]["distribution"]["counts"]) == 600
    assert json.dumps(to_plain(summary), allow_nan=False)
    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{i % 2} {i + 1}:1.5 5000:2\n" for i in range(60)))
    columns = summarize(read_dataset(str(path)))["columns"]
    assert columns[0]["distribution"]["counts"] == (59, *[0] * 18, 1)
    assert columns[-1]["distribution"]["counts"] == (30, 30)
