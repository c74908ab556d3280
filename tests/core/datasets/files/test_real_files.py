"""Tables of many sources and sizes are read as what they are."""

from __future__ import annotations

import csv
import hashlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from core.datasets.dataset import Dataset
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.spreadsheet_cells import is_formula

TABULAR = ("regression", "binary", "multiclass")


def listed(folder: Path) -> list[dict[str, str]]:
    with (folder / "MANIFEST.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["task"] in TABULAR]


def test_every_listed_file(shared_data: Path) -> None:
    looked_at = 0
    for row in listed(shared_data):
        files = [name.strip() for name in row["files"].split(";")]
        train = files[0]
        tests = [name for name in files if ".t." in name]
        test = str(shared_data / tests[0]) if tests else ""
        dataset = read_dataset(str(shared_data / train), test_file=test)
        rows, _, test_rows = row["rows"].partition(" + ")
        assert dataset.task == row["task"], train
        assert dataset.rows == int(rows), train
        if row["name"] != "mnist":  # its pixels 779 and 780 are 0 in both parts
            assert len(dataset.feature_names) == int(row["features"]), train
        assert len(dataset.classes) == int(row["classes"] or 0), train
        if test:
            assert dataset.test.rows == int(test_rows.split()[0]), train
            assert dataset.test.matrix.shape[1] == dataset.matrix.shape[1]
        looked_at += 1
    assert looked_at >= 20


def test_tables_agree_with_their_sparse_twins(shared_data: Path) -> None:
    looked_at = 0
    for row in listed(shared_data):
        tables = [n.strip() for n in row["files"].split(";") if n.strip().endswith(".csv")]
        for name in tables:
            dataset = read_dataset(str(shared_data / name))
            assert dataset.task == row["task"], name
            assert dataset.rows == int(row["rows"]), name
            used = len(dataset.feature_names)
            constant = sum(c.kind == "constant" for c in dataset.columns)
            assert used + constant == int(row["features"]), name
            assert len(dataset.classes) == int(row["classes"] or 0), name
            plain = pd.read_csv(dataset.source.path, **dataset.source.read_csv)
            pd.testing.assert_frame_equal(plain[dataset.feature_names], dataset.table)
            looked_at += 1
    assert looked_at >= 8


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


FORMATS = ("csv", "tsv", "xlsx", "ods", "parquet", "feather", "arff")


def made_table(seed: int) -> pd.DataFrame:
    """Columns of every kind, some with holes; which and in what order is drawn."""
    rng = np.random.default_rng(seed)
    rows = 60
    days = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), "D")
    columns = {
        "weight": rng.normal(size=rows).round(3),
        "count": rng.integers(0, 40, rows),
        "town": rng.choice(["Zürich", "Bern", "Genf", "Sankt Gallen"], rows),
        "country": rng.choice(["NA", "ZA", "BW"], rows),
        "garage": rng.choice(["None", "Attached"], rows, p=[0.3, 0.7]),
        "member": rng.random(rows) < 0.5,
        "gift": rng.choice(["ja", "nein"], rows),
        "day": pd.Series(days),
        "branch": rng.choice(["00421", "57310", "00007", "11200"], rows),
        "price": [f"${amount:,.2f}" for amount in rng.uniform(5, 5000, rows)],
        "load": [f"{amount:.1f} kg" for amount in rng.uniform(1, 9, rows)],
        "remark": rng.choice(["a, b", 'says "yes"', "it's 5 %", "x; y"], rows),
    }
    names = list(columns)
    rng.shuffle(names)
    table = pd.DataFrame({name: columns[name] for name in names[: rng.integers(4, 12)]})
    for name in ("weight", "town"):
        if name in table:
            table[name] = table[name].mask(rng.random(rows) < 0.1)
    return table.assign(outcome=rng.choice(["won", "lost"], rows))


def write(table: pd.DataFrame, path: Path) -> Path:
    dates = [n for n in table if pd.api.types.is_datetime64_any_dtype(table[n])]
    plain = table.assign(**{name: table[name].dt.strftime("%Y-%m-%d") for name in dates})
    match path.suffix:
        case ".csv":
            plain.to_csv(path, index=False)
        case ".tsv":
            plain.to_csv(path, index=False, sep="\t")
        case ".parquet":
            table.to_parquet(path)
        case ".feather":
            table.to_feather(path)
        case ".arff":
            path.write_text(arff_text(plain), encoding="utf-8")
        case _:
            table.to_excel(path, index=False)
    return path


def arff_text(table: pd.DataFrame) -> str:
    lines = ["@relation table"]
    for name in table:
        values = table[name]
        is_number = pd.api.types.is_numeric_dtype(values) and values.dtype.kind != "b"
        lines.append(f"@attribute {name} {'numeric' if is_number else 'string'}")
    lines.append("@data")
    for row in table.itertuples(index=False):
        cells = []
        for value in row:
            text = str(value).replace("\\", "\\\\").replace("'", "\\'")
            quoted = f"'{text}'" if isinstance(value, str) else text
            cells.append("?" if pd.isna(value) else quoted)
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def facts(dataset: Dataset) -> list[tuple[str, str, str, str, int]]:
    return [(c.name, c.role, c.kind, c.unit, c.missing) for c in dataset.columns]


@pytest.mark.parametrize("seed", range(8))
def test_the_same_table_in_every_format(seed: int, tmp_path: Path) -> None:
    table = made_table(seed)
    reference = read_dataset(str(write(table, tmp_path / "table.csv")))
    assert reference.table is not None
    for ending in FORMATS[1:]:
        if ending in ("parquet", "feather") and find_spec("pyarrow") is None:
            continue
        dataset = read_dataset(str(write(table, tmp_path / f"table.{ending}")))
        assert facts(dataset) == facts(reference), ending
        assert dataset.target.tolist() == reference.target.tolist()
        assert dataset.table is not None
        for name in reference.table:
            left, right = reference.table[name], dataset.table[name]
            assert left.isna().tolist() == right.isna().tolist(), (ending, name)
            assert left.dropna().tolist() == right.dropna().tolist(), (ending, name)


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


def test_a_cell_with_line_ends_in_the_middle_is_kept(table: pd.DataFrame, tmp_path: Path) -> None:
    odd = table.copy()
    odd.loc[ROWS // 2, "said"] = "first line\nsecond line"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    read = read_dataset(str(tmp_path / "odd.csv"))
    assert read.table["said"].tolist() == odd["said"].tolist()


def test_cells_of_texts_stay_as_they_are_written(table: pd.DataFrame, tmp_path: Path) -> None:
    """Also where many rows in turn hold nothing but what looks like numbers or truth values."""
    odd = table.copy()
    names = []
    for cell in ("007", "1e5", "True", "", "2020-01-01", "a"):
        names.append(f"text {len(names)}")
        odd.insert(0, names[-1], np.where(odd.index < ROWS // 3, odd["said"], cell))
    odd.to_csv(tmp_path / "odd.csv", index=False)
    read = read_dataset(str(tmp_path / "odd.csv"))
    pd.testing.assert_frame_equal(read.table[names].fillna(""), odd[names], check_dtype=False)
    again = pd.read_csv(tmp_path / "odd.csv", **read.source.read_csv)
    pd.testing.assert_frame_equal(again[list(read.table)], read.table)


def test_words_far_down_count_as_missing(path: Path, tmp_path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[41_000] = "broken" + lines[41_000][lines[41_000].index(",") :]
    (tmp_path / "stray.csv").write_text("\n".join(lines))
    read = read_dataset(str(tmp_path / "stray.csv"))
    assert np.flatnonzero(read.table["x0"].isna()).tolist() == [40_999]
    assert any("“broken”" in finding.sentence for finding in read.findings)


@pytest.mark.parametrize(
    ("at", "cells", "said"),
    [
        (40_000, "1,2,3", "line 40001: the row has 3 values where the others have 11"),
        (40_000, "1,\0,2,3,4,5,6,7,8,a,no", "line 40001: there is a NUL byte"),
        (40_000, '1,2,3,4,5,6,7,8,9,"a,no', 'line 40001: a quote (") opens here'),
    ],
)
def test_faults_are_told_with_their_line(
    path: Path, tmp_path: Path, at: int, cells: str, said: str
) -> None:
    lines = path.read_text().splitlines()
    lines[at] = cells
    (tmp_path / "broken.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(UnusableError) as caught:
        read_dataset(str(tmp_path / "broken.csv"))
    assert said in caught.value.sentence


def test_a_compressed_one_is_the_same(path: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "table.csv.gz", index=False)
    plain, packed = read_dataset(str(path)), read_dataset(str(tmp_path / "table.csv.gz"))
    pd.testing.assert_frame_equal(packed.table, plain.table)
    raw = (tmp_path / "table.csv.gz").read_bytes()
    assert packed.source.fingerprint == hashlib.sha256(raw).hexdigest()
