"""What is told of a dataset: distributions, and how its file was read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import BINS, MAX_ROWS, Distributions, binned_distribution, distribution
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column, ReadColumn, ReadingReport, reading_report
from core.datasets.raw_table import READINGS, DataOptions
from core.datasets.reading import read_dataset
from core.datasets.summary import rewritten_cells, summarize
from core.errors import UnusableError
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


ROWS = 60
STEPS = np.arange(ROWS)


@pytest.fixture
def table_path(tmp_path: Path) -> str:
    """Semicolons, a decimal comma, days that could be months, codes."""
    path = tmp_path / "table.csv"
    table = pd.DataFrame(
        {
            "amount": [f"{step % 9 + 1},{step % 7}25" for step in STEPS],
            "count": STEPS % 6 + 3,
            "day": [f"{step % 12 + 1:02d}/{step % 11 + 1:02d}/2023" for step in STEPS],
            "code": [f"{step % 4:03d}" for step in STEPS],
            "y": [f"{step % 13},5" for step in STEPS],
        }
    )
    table.to_csv(path, sep=";", index=False)
    return str(path)


def report_of(dataset: Dataset) -> ReadingReport:
    return reading_report(replace(summarize(dataset), rewritten=rewritten_cells(dataset)))


def column(path: str, name: str, reading: str = "") -> ReadColumn:
    choices = DataOptions(target="y", readings={name: reading} if reading else {})
    report = report_of(read_dataset(path, choices))
    return next(each for each in report.columns if each.name == name)


def values(path: str, name: str, reading: str) -> pd.Series:
    dataset = read_dataset(path, DataOptions(target="y", readings={name: reading}))
    assert dataset.table is not None
    return dataset.table[name]


def test_a_sign_that_the_file_decided_can_be_the_other(table_path: str) -> None:
    written = [step % 9 + 1 + (step % 7 * 100 + 25) / 1000 for step in STEPS]
    assert np.allclose(values(table_path, "amount", "comma"), written)
    assert np.allclose(values(table_path, "amount", "point"), np.multiply(written, 1000))
    assert column(table_path, "amount", "point").otherwise == "--reading amount=comma"


def test_numbers_can_be_texts_and_codes_numbers(table_path: str) -> None:
    assert column(table_path, "count").kind == "number"
    assert column(table_path, "count", "text").kind == "category"
    assert column(table_path, "code").kind == "category"
    assert values(table_path, "code", "number").tolist() == (STEPS % 4).tolist()


def test_the_day_or_the_month_comes_first(table_path: str) -> None:
    for reading, other, day in (("day first", "month", 2), ("month first", "day", 1)):
        read = column(table_path, "day", reading)
        assert read.otherwise == f"--reading 'day={other} first'"
        assert f" is {day} " in read.reading or f" is {3 - day} " in read.reading
    assert column(table_path, "day", "day first") != column(table_path, "day", "month first")


def test_cells_that_do_not_come_back_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table = pd.DataFrame(
        {
            "version": ["1.10" if step % 3 == 0 else f"{step % 7}.5" for step in STEPS],
            "price": [f"{step % 7}.50" for step in STEPS],  # always two decimals
            "size": [f"{step % 5 / 4}" if step else "-0.0" for step in STEPS],  # 0.25, 0.5 and 1.0
            "name": ["Ulm " if step % 4 == 0 else "Bern" for step in STEPS],
            "y": STEPS,
        }
    )
    table.to_csv(path, index=False)
    version = column(str(path), "version")
    assert (version.rewritten_cells, version.rewritten_example) == (20, "“1.10” is 1.1")
    assert column(str(path), "version", version.kept.split("=")[1]).rewritten_cells == 0
    assert not any(column(str(path), name).rewritten for name in ("price", "size"))
    assert column(str(path), "name").rewritten_cells == 15
    assert column(str(path), "name").kept == ""


def test_the_sign_of_all_columns_is_changed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    numbers = [f"{step % 9 + 1}.{step % 7}25" for step in STEPS]
    table = pd.DataFrame({"a": numbers, "b": numbers[::-1], "c": STEPS % 5, "y": STEPS})
    table.to_csv(path, sep=";", index=False)
    dataset = read_dataset(str(path), DataOptions(target="y"))
    [change] = report_of(dataset).together
    assert report_of(dataset).columns[0].rewritten_example == f"“{numbers[0]}” is 1025"
    assert change.words == "Read all 2 columns with a decimal point"
    assert change.option == "--reading a=point --reading b=point"
    again = read_dataset(str(path), DataOptions(target="y", readings=change.readings))
    assert again.table is not None
    assert again.table["a"].tolist() == list(map(float, numbers))
    assert again.table["b"].tolist() == list(map(float, numbers[::-1]))
    assert report_of(again).together[0].words.endswith("decimal comma")  # and back


def test_words_are_refused_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    pd.DataFrame({"a": ["x", "1", "y"] * 20, "y": STEPS}).to_csv(path, index=False)
    with pytest.raises(UnusableError, match="is no number"):
        column(str(path), "a", "number")


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_leaves_a_plain_column_readable(table_path: str, reading: str) -> None:
    assert column(table_path, "count", reading).missing == 0


def test_a_sample_is_read_as_a_file_is() -> None:
    columns = {c.name: c.kind for c in read_dataset("sample:clinic").columns}
    assert columns["visit_date"] == "date"
    assert columns["smoker"] == "yes/no"


def test_readings_of_libsvm_and_tokens_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{step % 2} 1:{step} 2:3\n" for step in STEPS))
    with pytest.raises(UnusableError, match="readings alone"):
        read_dataset(str(path), DataOptions(readings={"feature 1": "text"}))
    with pytest.raises(UnusableError, match="read as they are written"):
        read_dataset("sample:molecules", DataOptions(readings={"sequence": "comma"}))


@pytest.mark.parametrize(
    ("kind", "reading", "is_allowed"),
    [
        ("number", "text", False),
        ("category", "comma", False),
        ("number", "day first", False),
        ("category", "text", True),
        ("number", "comma", True),
        ("category", "values", True),
    ],
)
def test_a_kind_and_a_reading_do_not_contradict(
    table_path: str, kind: str, reading: str, is_allowed: bool
) -> None:
    choices = DataOptions(target="y", kinds={"amount": kind}, readings={"amount": reading})
    if is_allowed:
        assert read_dataset(table_path, choices).rows == ROWS
        return
    with pytest.raises(UnusableError, match="leave out the one or the other"):
        read_dataset(table_path, choices)
