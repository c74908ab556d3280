"""Tables in memory: what a column's type says is its meaning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tunescope
from core.tuning.plan import DataPlan
from core.tuning.problem import read_data
from tunescope.data_files import with_file

ROWS = 60


@pytest.fixture
def table():
    steps = np.arange(ROWS)
    return pd.DataFrame(
        {
            "code": pd.Series([f"{step % 4 + 5:03d}" for step in steps], dtype="str"),
            "digits": pd.Series([str(10 + step % 5) for step in steps], dtype=object),
            "level": pd.Categorical(steps % 3 + 1),
            "ok": steps % 2 == 0,
            "when": pd.date_range("2024-01-01", periods=ROWS, tz="Europe/Berlin"),
            "zip": 10000 + steps % 7 * 111 + 1,  # a code by its name, a number by its type
            "word": np.array(["null", "a", "N/A", "b"], dtype=object)[steps % 4],
            "y": np.random.default_rng(0).normal(size=ROWS),
        }
    )


KINDS = {
    "code": "category",
    "digits": "category",
    "level": "category",
    "ok": "yes/no",
    "when": "date",
    "zip": "number",
    "word": "category",
    "y": "number",
}


def dataset_of(table, tmp_path, **options):
    return read_data(with_file(DataPlan("", **options), table, tmp_path / "rows.csv"))


def test_types_are_kinds(table):
    report = tunescope.read(table, "y")
    assert {column.name: column.kind for column in report.columns} == KINDS
    assert all(column.missing == 0 for column in report.columns)


def test_values_stay_what_they_are(table, tmp_path):
    read = dataset_of(table, tmp_path, target="y").table
    for name in ("code", "digits", "level", "ok", "word"):
        assert read[name].tolist() == table[name].astype(str).tolist()
    assert (pd.to_datetime(read["when"], utc=True) == table["when"].dt.tz_convert("UTC")).all()
    assert read["zip"].tolist() == table["zip"].tolist()


def test_what_a_person_says_goes_before_types(table, tmp_path):
    plan = DataPlan("", "y", kinds={"digits": "number"}, readings={"word": "missing"})
    columns = {c.name: c for c in read_data(with_file(plan, table, tmp_path / "t.csv")).columns}
    assert columns["digits"].kind == "number"
    assert (columns["word"].missing, columns["word"].distinct) == (30, 2)


def test_missing_values_and_types_with_them(tmp_path):
    table = pd.DataFrame(
        {
            "ok": pd.array([True, None, False] * 20, dtype="boolean"),
            "code": pd.Series(["01", None, "2"] * 20, dtype="str"),
            "count": pd.array([40001, None, 40007] * 20, dtype="Int64"),
            "y": np.arange(60) % 7 / 2,
        }
    )
    columns = {c.name: c for c in dataset_of(table, tmp_path, target="y").columns}
    assert {c.name: c.kind for c in columns.values()} == {
        "ok": "yes/no", "code": "category", "count": "number", "y": "number",
    }  # fmt: skip
    assert {columns[name].missing for name in ("ok", "code", "count")} == {20}


def test_texts_with_units_are_numbers_as_in_every_file():
    table = pd.DataFrame({"weight": [f"{i % 9 + 1}.5 kg" for i in range(60)], "y": range(60)})
    [weight, _] = tunescope.read(table, "y").columns
    assert (weight.kind, weight.unit) == ("number", "kg")


def test_a_target_of_digits_may_be_a_number():
    table = pd.DataFrame({"a": range(60), "y": [f"{i / 7:.3f}" for i in range(60)]})
    assert tunescope.read(table, "y").task == "regression"


def test_a_run_keeps_the_types(table, tmp_path):
    given = {"model": "linear", "strategy": "random", "trials": 1, "evaluation": "test"}
    done = tunescope.tune(table, "y", **given, run=tmp_path / "run")
    assert done.plan.data.readings == {"digits": "text", "zip": "number", "word": "values"}
    assert done.plan.data.kinds == {"level": "category"}
    again = read_data(done.plan.data)  # of the run's own file
    assert {column.name: column.kind for column in again.columns} == KINDS


def test_tokens_in_memory_are_read_as_they_are():
    steps = np.arange(120)
    table = pd.DataFrame(
        {
            "sequence": [f"s{step // 6}" for step in steps],
            "word": np.array(["null", "rain", "?", "falls", "12", "."], dtype=object)[steps % 6],
            "place": 10001 + steps % 6,
            "tag": np.array(["N", "N", "P", "V", "N", "P"])[steps % 6],
        }
    )
    report = tunescope.read(table, "tag")
    assert report.task == "sequence"
    assert {column.name: column.missing for column in report.columns} == dict.fromkeys(table, 0)
