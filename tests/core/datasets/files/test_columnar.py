"""Parquet and Feather files: what is read, what is left out, and what is refused."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recorded_calls import agree, recorded_table

from core.datasets.dataset import Dataset
from core.datasets.files import columnar_table
from core.datasets.files.file_parts import ALL, RowLimit
from core.datasets.files.registry import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.own_table.own_table import own_table_of
from core.extras import install_command

ENDINGS = ("parquet", "feather")
COUNT = 40


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_missing_package_is_named_with_its_command(tmp_path, refusal, monkeypatch, ending):
    path = tmp_path / f"a.{ending}"
    path.write_bytes({"parquet": b"PAR1", "feather": b"ARROW1"}[ending] + bytes(99))
    monkeypatch.setattr(columnar_table, "find_spec", lambda module: None)
    assert install_command("columnar") in refusal(path)


pa = pytest.importorskip("pyarrow", reason="Parquet and Feather files need pyarrow")
feather = pytest.importorskip("pyarrow.feather")


Reading = Callable[..., Dataset]


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    """Reads the table, which is first saved in the format of an ending."""

    def saved(table: pd.DataFrame, ending: str = "parquet", **kinds: str) -> Dataset:
        path = tmp_path / f"a.{ending}"
        table.to_parquet(path) if ending == "parquet" else table.to_feather(path)
        return read_dataset(str(path), DataOptions(kinds=kinds))

    return saved


def names_of(dataset: Dataset) -> list[str]:
    return [column.name for column in dataset.columns]


def table_of(**columns: object) -> pd.DataFrame:
    """A table with two usual columns and a target beside the given ones."""
    usual = {"p": [i % 7 for i in range(COUNT)], "q": [i * 1.5 for i in range(COUNT)]}
    return pd.DataFrame({**usual, **columns, "r": ["ab"[i % 2] for i in range(COUNT)]})


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_type_of_a_column(read: Reading, ending: str) -> None:
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 9) for i in range(COUNT)]
    table = table_of(
        category=pd.Categorical(["x", "y", None, "z"] * 10),
        levels=pd.Categorical([3, 1, None, 1] * 10),
        day=days,
        moment=pd.date_range("2024-01-01", periods=COUNT, tz="Europe/Berlin"),
        flag=[True, False] * 20,
        maybe=pd.array([True, None, False, False] * 10, dtype="boolean"),
        whole=pd.array([1, None, 3, 4] * 10, dtype="Int64"),
        price=[decimal.Decimal("1.25"), None, decimal.Decimal("-3.5"), decimal.Decimal(0)] * 10,
        wait=pd.to_timedelta([1, 2, 3, None] * 10, unit="min"),
        small=np.array([1, 2, 3, 4] * 10, dtype="uint8"),
        half=np.array([0.5, 1.5, np.nan, 2.5] * 10, dtype="float32"),
        nothing=[None] * COUNT,
    )
    dataset = read(table, ending)
    kinds = {column.name: (column.kind, column.missing) for column in dataset.columns}
    assert kinds == {
        "p": ("number", 0),
        "q": ("number", 0),
        "category": ("category", 10),
        # Parquet keeps the numbers of a category, not that it is one.
        "levels": ("number" if ending == "parquet" else "category", 10),
        "day": ("date", 0),
        "moment": ("date", 0),
        "flag": ("yes/no", 0),
        "maybe": ("yes/no", 10),
        "whole": ("number", 10),
        "price": ("number", 10),
        "wait": ("number", 10),
        "small": ("number", 0),
        "half": ("number", 10),
        "nothing": ("constant", COUNT),
        "r": ("category", 0),
    }
    assert any("“wait” holds spans of time" in f.sentence for f in dataset.findings)
    first = dataset.table[["price", "wait", "half", "day"]].iloc[0].tolist()
    assert first == [1.25, 60.0, 0.5, "2024-01-01"]


def test_a_column_without_a_type_is_one_of_gaps(read: Reading) -> None:
    assert "nothing" in names_of(read(table_of(nothing=[None] * COUNT)))


def test_a_class_that_is_an_empty_sign_counts_as_missing(read: Reading) -> None:
    classes = ["x"] * 6 + ["z"] * 5 + ["\0"]
    dataset = read(pd.DataFrame({"a": range(12), "y": classes}))
    assert (list(dataset.classes), dataset.set_aside) == (["x", "z"], 1)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_times_beyond_the_years_of_python_are_read_as_they_are(tmp_path: Path, zone) -> None:
    """Numpy writes the years before 1 and after 9999, which ``datetime`` has not."""
    moments = np.tile(
        np.array(["-121335-03-04T05:06:07", "12000-01-01", "2024-07-01"], "M8[s]"), 14
    )
    stored = pa.array(moments[:COUNT], pa.timestamp("s")).cast(pa.timestamp("s", zone))
    path = str(tmp_path / "a.feather")
    feather.write_feather(pa.Table.from_pandas(table_of()).append_column("when", stored), path)
    texts = [str(moment).replace("T", " ").removesuffix(" 00:00:00") for moment in moments[:COUNT]]
    if zone is not None:
        summer = {"UTC": "00:00:00+00:00", "Europe/Berlin": "02:00:00+02:00"}[zone]
        texts = [f"{text} {summer}" if text == "2024-07-01" else text for text in texts]
    choices = DataOptions(target="when", task="multiclass")
    assert read_dataset(path, choices).target.tolist() == texts
    assert read_dataset(path, choices, row_limit=RowLimit(30)).rows == 30
    cells = [row[-1] for row in own_table_of(open_table(path)).rows()]
    assert [str(cell).removesuffix(" 00:00:00") for cell in cells] == texts


@pytest.mark.parametrize("ending", ENDINGS)
def test_nested_columns_are_left_out_and_named(read: Reading, ending: str) -> None:
    nested = {"lists": [[1, 2]] * COUNT, "records": [{"a": 1}] * COUNT, "raw": [b"x"] * COUNT}
    dataset = read(table_of(**nested), ending)
    assert names_of(dataset) == ["p", "q", "r"]
    (said,) = [f for f in dataset.findings if "lists, records or bytes" in f.sentence]
    assert "“lists”, “records”, “raw”" in said.sentence
    agree(dataset)
    with pytest.raises(UnusableError, match="every column holds lists"):
        read(pd.DataFrame({"lists": [[1, 2]] * 9}), ending)


def test_a_named_index_is_a_column_and_another_is_left_out_and_said(read: Reading) -> None:
    age = pd.Index([20 + 3 * i % 50 for i in range(COUNT)], name="age")
    dataset = read(table_of().set_index(age))
    assert dataset.feature_names[0] == "age"
    assert dataset.table["age"].iloc[1] == 23
    dataset = read(table_of().sample(frac=1, random_state=0))
    assert dataset.feature_names == ["p", "q"]
    assert any("an index without a name" in f.sentence for f in dataset.findings)


def test_columns_with_names_of_several_levels(read: Reading) -> None:
    table = table_of()
    table.columns = pd.MultiIndex.from_tuples([("a", "p"), ("a", "q"), ("b", "r")])
    assert names_of(read(table)) == ["('a', 'p')", "('a', 'q')", "('b', 'r')"]


def test_texts_of_digits_stay_text_unless_a_person_says_numbers(read: Reading) -> None:
    table = table_of(code=[f"{i % 9:04d}" for i in range(COUNT)])
    assert read(table).table["code"].iloc[3] == "0003"
    assert read(table, code="number").table["code"].iloc[3] == 3
    assert read(table, p="category").table["p"].iloc[3] == "3"


def test_words_that_a_person_calls_numbers(read: Reading) -> None:
    few = [str(i) for i in range(COUNT - 1)] + ["lost"]
    dataset = read(table_of(code=few), code="number")
    assert any("“lost”" in f.sentence for f in dataset.findings)
    with pytest.raises(UnusableError, match="“x” is no number, and 40 values"):
        read(table_of(code=["x", "y"] * 20), code="number")


@pytest.mark.parametrize(
    ("first", "kind"), [(2**63, "uint64"), (2**53, "Int64"), (decimal.Decimal(2**70), "object")]
)
def test_whole_numbers_that_floats_would_make_alike(read, first, kind):
    values = [first + i // 2 for i in range(COUNT)]
    wide = pd.Series(values, dtype=kind)
    wide[0] = None if kind == "Int64" else wide[0]  # with one missing, pandas has floats
    dataset = read(table_of(wide=wide))
    column = dataset.columns[2]
    assert (column.name, column.distinct) == ("wide", COUNT / 2)
    assert set(column.categories) <= {str(value) for value in values}
    assert recorded_table(dataset.source)["wide"].dropna().isin(map(str, values)).all()


@pytest.mark.parametrize("ending", ENDINGS)
def test_damage_is_said_in_one_sentence(tmp_path, read, refusal, ending):
    read(table_of(), ending)
    path = tmp_path / f"a.{ending}"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "the file is damaged" in refusal(path)
    with pytest.raises(UnusableError, match="there is no row"):
        read(table_of().head(0), ending)


def test_a_name_that_is_no_utf8_is_damage(tmp_path: Path, refusal) -> None:
    path = tmp_path / "a.feather"
    table_of(naïve=[1] * COUNT).to_feather(path)
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xff\xffve"))
    assert "damaged" in refusal(path)


def test_equal_values_that_fill_the_memory_are_drawn_from(tmp_path, monkeypatch):
    from pyarrow import parquet

    monkeypatch.setattr(columnar_table, "_MIN_BYTE_LIMIT", 2**20)
    half = np.arange(300_000) < 150_000
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({f"c{i}": half for i in range(20)}), path)
    assert path.stat().st_size < 100_000
    dataset = read_dataset(str(path))
    assert dataset.sampled is not None
    assert dataset.rows * 20 * 8 < 2**25
    with pytest.raises(UnusableError, match=r"unpacked.*--rows"):
        read_dataset(str(path), row_limit=RowLimit(ALL))


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_names_are_numbered(tmp_path: Path, ending: str) -> None:
    from pyarrow import parquet

    path = tmp_path / f"a.{ending}"
    table = pa.table(table_of(lists=[[1]] * COUNT)).rename_columns(["p", " p", "lists", "r"])
    if ending == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    dataset = read_dataset(str(path))
    assert names_of(dataset) == ["p", "p (2)", "r"]
    assert "Two columns are called “p” (columns 1 and 2)" in dataset.findings[0].sentence
    agree(dataset)
    with pytest.raises(UnusableError, match="rows are drawn from"):
        read_dataset(str(path), row_limit=RowLimit(9))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("odd", ["\0", "x\0"])
def test_a_class_of_one_row_that_ends_with_nul_is_left_out(read, ending, odd):
    table = pd.DataFrame({"a": range(21), "y": ["p", "q"] * 10 + [odd]})
    dataset = read(table, ending)
    assert (dataset.classes, len(dataset.target)) == (("p", "q"), 20)
