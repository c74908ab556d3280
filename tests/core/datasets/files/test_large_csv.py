"""Files so large that pandas reads them by several threads: the same table, the same refusals."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.files import file_bytes
from core.datasets.reading import read_dataset
from core.errors import UnusableError

ROWS = 60_000


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
    assert file.stat().st_size > 5 * 2**20  # below, pandas takes one thread
    return file


def test_every_cell_is_the_one_that_was_written(path: Path, table: pd.DataFrame) -> None:
    read = read_dataset(str(path))
    pd.testing.assert_frame_equal(read.table, table.drop(columns="y"), check_dtype=False)
    assert read.target.tolist() == table["y"].tolist()
    assert read.source.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_reading_is_one_call_of_pandas(path: Path) -> None:
    read = read_dataset(str(path))
    again = pd.read_csv(path, **read.source.read_csv)
    pd.testing.assert_frame_equal(again[list(read.table)], read.table)


def test_a_cell_with_line_ends_in_the_middle_is_kept(table: pd.DataFrame, tmp_path: Path) -> None:
    odd = table.copy()
    odd.loc[ROWS // 2, "said"] = "first line\nsecond line"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    read = read_dataset(str(tmp_path / "odd.csv"))
    assert read.table["said"].tolist() == odd["said"].tolist()


@pytest.mark.parametrize("cell", ["007", "1e5", "True", "", "2020-01-01", "a"])
def test_cells_of_texts_stay_as_they_are_written(
    table: pd.DataFrame, tmp_path: Path, cell: str
) -> None:
    """Also where many rows in turn hold nothing but what looks like numbers or truth values."""
    odd = table.copy()
    odd["said"] = np.where(odd.index < ROWS // 3, odd["said"], cell)
    odd.to_csv(tmp_path / "odd.csv", index=False)
    read = read_dataset(str(tmp_path / "odd.csv"))
    assert read.table["said"].fillna("").tolist() == odd["said"].tolist()
    again = pd.read_csv(tmp_path / "odd.csv", **read.source.read_csv)
    pd.testing.assert_frame_equal(again[list(read.table)], read.table)


def test_words_far_down_count_as_missing(path: Path, tmp_path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[50_000] = "broken" + lines[50_000][lines[50_000].index(",") :]
    (tmp_path / "stray.csv").write_text("\n".join(lines))
    read = read_dataset(str(tmp_path / "stray.csv"))
    assert np.flatnonzero(read.table["x0"].isna()).tolist() == [49_999]
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


def test_a_line_without_end_is_refused_before_it_is_parsed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_bytes, "LONGEST_LINE", 2**20)
    monkeypatch.setattr(pd, "read_csv", lambda *_, **__: pytest.fail("was parsed"))
    with (tmp_path / "endless.csv").open("wb") as file:
        file.write(path.read_bytes() + b"1" * (9 * 2**20))
    with pytest.raises(UnusableError, match=f"line {ROWS + 2}: the line is longer"):
        read_dataset(str(tmp_path / "endless.csv"))


def test_a_compressed_one_is_the_same(path: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "table.csv.gz", index=False)
    plain, packed = read_dataset(str(path)), read_dataset(str(tmp_path / "table.csv.gz"))
    pd.testing.assert_frame_equal(packed.table, plain.table)
    raw = (tmp_path / "table.csv.gz").read_bytes()
    assert packed.source.fingerprint == hashlib.sha256(raw).hexdigest()
