"""Tables of many sources, sizes and formats are read as what they are."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recorded_calls import agree, recorded_table
from sklearn.datasets import load_svmlight_file

from core.datasets.reading import read_dataset
from core.export.spreadsheet_cells import is_formula

TABULAR = ("regression", "binary", "multiclass")


def listed(folder: Path) -> list[dict[str, str]]:
    with (folder / "MANIFEST.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["task"] in TABULAR]


@pytest.mark.slow
def test_every_listed_file_and_its_table(shared_data: Path) -> None:
    tables = 0
    for row in listed(shared_data):
        files = [name.strip() for name in row["files"].split(";")]
        test = next((name for name in files if ".t." in name), "")
        rows, _, test_rows = row["rows"].partition(" + ")
        told = (row["task"], int(rows), int(row["classes"] or 0))
        for name in dict.fromkeys([files[0], *(name for name in files if name.endswith(".csv"))]):
            second = test if name == files[0] else ""
            test_file = str(shared_data / second) if second else ""
            dataset = read_dataset(str(shared_data / name), test_file=test_file)
            assert (dataset.task, dataset.rows, len(dataset.classes)) == told, name
            constant = sum(column.kind == "constant" for column in dataset.columns)
            if row["name"] != "mnist":  # its pixels 779 and 780 are 0 in both parts
                assert len(dataset.feature_names) + constant == int(row["features"]), name
            if second:
                assert dataset.test.rows == int(test_rows.split()[0]), name
                assert dataset.test.matrix.shape[1] == dataset.matrix.shape[1]
            if name.endswith(".csv"):
                plain = recorded_table(dataset.source)[dataset.feature_names]
                pd.testing.assert_frame_equal(plain, dataset.table)
                tables += 1
    assert tables >= 8


@pytest.mark.parametrize(
    "name", ["20news_train_counts.libsvm.gz", "a1a.t.libsvm.gz", "glass.scale.libsvm"]
)
def test_the_same_as_scikit_learn(shared_data: Path, name: str) -> None:
    path = str(shared_data / name)
    dataset = read_dataset(path)
    matrix, target = load_svmlight_file(path)
    assert (matrix != dataset.matrix).nnz == 0
    np.testing.assert_array_equal(target, dataset.target)


def test_pictures_of_faces(shared_data: Path) -> None:
    dataset = read_dataset(str(shared_data / "lfw_people_min70_r04.csv.gz"))
    assert (dataset.rows, len(dataset.feature_names), len(dataset.classes)) == (1288, 1850, 7)


def test_a_date_beyond_the_years_of_nanoseconds_is_a_date(tmp_path: Path) -> None:
    days = ["9999-12-31" if i % 20 == 0 else f"2021-0{i % 9 + 1}-1{i % 10}" for i in range(60)]
    path = tmp_path / "far.csv"
    table = pd.DataFrame({"valid_to": days, "y": ["ab"[i * 7 % 3 % 2] for i in range(60)]})
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    assert dataset.columns[0].kind == "date"
    assert dataset.distributions["valid_to"].high == 253402214400  # the seconds since 1970


def test_a_mark_in_some_rows_is_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    marks = ["x" if i % 3 else "" for i in range(90)]
    table = pd.DataFrame({"newsletter": marks, "age": range(20, 110), "y": [0, 1] * 45})
    table.to_csv(path, index=False)
    column = read_dataset(str(path)).columns[0]
    assert (column.role, column.kind, column.missing) == ("feature", "category", 30)


def test_amounts_and_telephone_numbers_are_no_formulas() -> None:
    for text in ("-1,932.16 €", "-$27,635.59", "+49 170 1000", "-5 kg"):
        assert not is_formula(text)
    for text in ("=1+1", "+SUM(A1:A9)", "-2+3+cmd|' /C calc'!A0", "@SUM(1)"):
        assert is_formula(text)


ROWS = 42_000


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Numbers with gaps, whole numbers, and texts with line ends and delimiters in quotes."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.normal(size=(ROWS, 8)).round(9)).add_prefix("x")
    made.loc[made.index % 7 == 3, "x1"] = np.nan
    made["count"] = rng.integers(0, 10**6, ROWS)
    made["said"] = rng.choice(["plain", "with, comma", 'with "quotes"', "ä ö"], ROWS)
    made["y"] = rng.choice(["no", "yes"], ROWS)
    return made


@pytest.fixture(scope="module")
def path(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("large") / "table.csv"
    table.to_csv(file, index=False)
    assert file.stat().st_size > 2**22  # below, types are not inferred
    return file


def test_every_cell_is_the_one_that_was_written(path: Path, table: pd.DataFrame) -> None:
    read = read_dataset(str(path))
    pd.testing.assert_frame_equal(read.table, table.drop(columns="y"), check_dtype=False)
    assert read.target.tolist() == table["y"].tolist()
    assert read.source.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_cells_of_texts_stay_as_they_are_written(table: pd.DataFrame, tmp_path: Path) -> None:
    """Also where many rows in turn hold nothing but what looks like numbers or truth values."""
    odd = table.copy()
    odd.loc[ROWS // 2, "said"] = "first line\nsecond line"
    names = ["said"]
    for cell in ("007", "1e5", "True", "", "2020-01-01", "a"):
        names.append(f"text {len(names)}")
        odd.insert(0, names[-1], np.where(odd.index < ROWS // 3, odd["said"], cell))
    odd.to_csv(tmp_path / "odd.csv", index=False)
    read = read_dataset(str(tmp_path / "odd.csv"))
    pd.testing.assert_frame_equal(read.table[names].fillna(""), odd[names], check_dtype=False)
    agree(read)


def changed(path: Path, place: int, change: Callable[[str], str]) -> str:
    """A copy of a file, a line of it changed."""
    lines = path.read_text().splitlines()
    lines[place] = change(lines[place])
    copy = path.with_name("changed.csv")
    copy.write_text("\n".join(lines) + "\n")
    return str(copy)


def test_words_far_down_count_as_missing(path: Path) -> None:
    read = read_dataset(changed(path, 41_000, lambda line: "broken" + line[line.index(",") :]))
    assert np.flatnonzero(read.table["x0"].isna()).tolist() == [40_999]
    assert any("“broken”" in finding.sentence for finding in read.findings)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("1,2,3", "the row has 3 values where the others have 11"),
        ("1,\0,2,3,4,5,6,7,8,a,no", "there is a NUL byte"),
        ('1,2,3,4,5,6,7,8,9,"a,no', 'a quote (") opens here'),
    ],
)
def test_faults_are_told_with_their_line(path: Path, refusal, cells: str, said: str) -> None:
    assert f"line 40001: {said}" in refusal(changed(path, 40_000, lambda line: cells))


def test_a_compressed_one_is_the_same(path: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "table.csv.gz", index=False)
    plain, packed = read_dataset(str(path)), read_dataset(str(tmp_path / "table.csv.gz"))
    pd.testing.assert_frame_equal(packed.table, plain.table)
    raw = (tmp_path / "table.csv.gz").read_bytes()
    assert packed.source.fingerprint == hashlib.sha256(raw).hexdigest()


NEEDED = {"xlsx": "openpyxl", "ods": "odf", "parquet": "pyarrow", "feather": "pyarrow"}


def save(table: pd.DataFrame, path: Path) -> str:
    plain = table.assign(when=table["when"].dt.strftime("%Y-%m-%d"))
    match path.suffix:
        case ".csv" | ".tsv":
            plain.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
        case ".parquet":
            table.to_parquet(path)
        case ".feather":
            table.to_feather(path)
        case ".arff":
            path.write_text(arff_text(plain), encoding="utf-8")
        case _:
            # Titles and blank columns may stand around the cells of a sheet.
            table.to_excel(str(path), index=False, startrow=3, startcol=2)
    return str(path)


def arff_text(table: pd.DataFrame) -> str:
    lines = ["@relation table"]
    for name, kind in table.dtypes.items():
        lines.append(f"@attribute {name} {'numeric' if kind.kind in 'if' else 'string'}")
    lines.append("@data")
    for row in table.itertuples(index=False):
        quoted = (repr(cell) if isinstance(cell, str) else str(cell) for cell in row)
        lines.append(",".join("?" if cell in ("nan", "None") else cell for cell in quoted))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "ods", "parquet", "feather", "arff"])
def test_a_table_is_the_same_in_every_format(small_table, tmp_path: Path, ending: str) -> None:
    pytest.importorskip(NEEDED.get(ending, "pandas"))
    reference = read_dataset(save(small_table, tmp_path / "reference.csv"))
    dataset = read_dataset(save(small_table, tmp_path / f"table.{ending}"))
    facts, expected = (
        [(c.name, c.role, c.kind, c.unit, c.missing) for c in each.columns]
        for each in (dataset, reference)
    )
    assert facts == expected
    assert dataset.target.tolist() == reference.target.tolist()
    pd.testing.assert_frame_equal(dataset.table, reference.table, check_dtype=False)
    agree(dataset)
