"""Titles above the names of columns and a row of units below them, in texts and in sheets."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from core.datasets.dataset import Dataset
from core.datasets.files.table_file import TextFile, open_table
from core.datasets.reading import read_dataset
from core.export.own_table.answer_rows import Answers
from core.export.own_table.output_form import output_form
from core.export.own_table.own_table import own_table_of, write_own_table

BODY = [[f"{i * 1.5}", str(i % 13), "abc"[i % 3]] for i in range(60)]
NAMES, UNITS = ["weight", "speed", "kind"], ["kg", "m/s", ""]


def written(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([float(c) if c.replace(".", "").isdigit() else c for c in row])
        book.save(path)
        return path
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def kinds(dataset: Dataset) -> dict[str, str]:
    return {column.name: column.kind_text for column in dataset.columns}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "above",
    [
        [["Yields", "2024", "Region A"], ["made by", "Anna"]],
        [["Report", "", ""], ["of", "2024-01-05", ""], ["", "", ""]],
        [["All", "of", "it"]],
        [["1", "Title", "here"]],
    ],
)
@pytest.mark.parametrize("units", [[], UNITS, ["(kg)", "[m/s]", ""], ["kg", "m/s", "-"]])
def test_the_names_stand_above_cells_of_one_kind(
    tmp_path: Path, ending: str, above: list[list[str]], units: list[str]
) -> None:
    rows = [*above, NAMES, *([units] if units else []), *BODY]
    dataset = read_dataset(str(written(tmp_path / f"a.{ending}", rows)))
    suffixes = (", kg", ", m/s") if units else ("", "")
    expected = [f"number{suffixes[0]}", f"number{suffixes[1]}", "category"]
    assert kinds(dataset) == dict(zip(NAMES, expected, strict=True))
    assert dataset.rows == len(BODY)
    assert dataset.table["weight"].tolist() == [float(row[0]) for row in BODY]
    assert not any("missing" in finding.sentence for finding in dataset.findings)
    table = open_table(str(tmp_path / f"a.{ending}"))
    filled = [row for row in rows if any(row)] if isinstance(table, TextFile) else rows
    assert table.read({}).line_of(0) == len(filled) - len(BODY) + 1 + (len(rows) - len(filled))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("second", "missing"),
    [
        (["broken", "3", "a"], 1),  # a word among numbers is a stray, and no unit
        (["NA", "NA", "b"], 1),
        (["", "", "c"], 1),
        (["1.5", "2", "kg"], 0),
    ],
)
def test_a_first_row_is_no_row_of_units(
    tmp_path: Path, ending: str, second: list[str], missing: int
) -> None:
    dataset = read_dataset(str(written(tmp_path / f"a.{ending}", [NAMES, second, *BODY])))
    assert list(kinds(dataset)) == NAMES
    assert dataset.rows + dataset.set_aside == len(BODY) + 1
    assert next(c for c in dataset.columns if c.name == "weight").missing == missing


@pytest.mark.parametrize(
    "second", [["", "", "odd", "one", "out"], ["word", "other", "a", "new", "text"]]
)
def test_a_first_row_without_its_numbers_is_a_row(tmp_path: Path, second: list[str]) -> None:
    rows = [[f"{i * 1.5}", str(i % 13), *("abc"[(i + j) % 3] for j in range(3))] for i in range(60)]
    names = ["weight", "speed", "kind", "colour", "size"]
    dataset = read_dataset(str(written(tmp_path / "a.csv", [names, second, *rows])))
    assert [column.name for column in dataset.columns] == names


def test_a_table_of_words_stays(tmp_path: Path) -> None:
    words = [["name", "colour"], *([f"n{i % 9}", ["red", "green"][i % 2]] for i in range(40))]
    assert list(kinds(read_dataset(str(written(tmp_path / "b.csv", words))))) == ["name", "colour"]


def test_new_rows_may_lack_the_units_or_write_them_in_the_cells(tmp_path: Path) -> None:
    train = written(tmp_path / "a.csv", [["Yields", "", ""], NAMES, UNITS, *BODY])
    plain = written(tmp_path / "b.csv", [NAMES, *BODY[:20]])
    signed = [[f"{w} kg", f"{s} m/s", k] for w, s, k in BODY[:20]]
    for new in (plain, written(tmp_path / "c.csv", [NAMES, *signed]), train):
        test = read_dataset(str(train), test_file=str(new)).test
        assert test.table["weight"].tolist()[:20] == [float(row[0]) for row in BODY[:20]]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_answers_stand_behind_the_names_and_the_units_stay(tmp_path: Path, ending: str) -> None:
    rows = [["Yields", "", ""], NAMES, UNITS, *BODY]
    table = open_table(str(written(tmp_path / f"a.{ending}", rows)))
    out, answers = tmp_path / f"b.{ending}", Answers([pd.DataFrame({"answer": range(len(BODY))})])
    write_own_table(out, output_form(out, table), own_table_of(table), answers)
    if ending == "xlsx":
        import openpyxl

        cells = [[cell.value for cell in row] for row in openpyxl.load_workbook(out).active.rows]
        cells = [[*row, *[None] * (4 - len(row))] for row in cells]
    else:
        cells = list(csv.reader(out.read_text().splitlines()))
    assert [row[3] in (None, "") for row in cells[1:4]] == [False, True, False]
    assert [cells[1][3], str(cells[3][3]), cells[2][0]] == ["answer", "0", "kg"]
