"""Sheets of workbooks: which is read, where its table is, and what is said of it."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from recorded_calls import agree
from sheet_books import ROWS, SMALL, save_book, xlsx

from core.datasets.dataset import Dataset
from core.datasets.files.registry import open_table
from core.datasets.reading import read_dataset


@pytest.fixture
def read(tmp_path: Path):
    """Reads a workbook of sheets, which is written first."""

    def of_sheets(*arguments: Any, **options: Any) -> Dataset:
        return read_dataset(str(xlsx(tmp_path / "a.xlsx", *arguments, **options)))

    return of_sheets


def names_of(dataset: Dataset) -> list[str]:
    return [column.name for column in dataset.columns]


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


def test_title_lines_and_blank_rows_and_columns_stand_around(read) -> None:
    rows = [["Yields of 2024"], [], [None, None, "p", "q", "r"]]
    rows += [[None, None, *row] for row in ROWS[:20]]
    rows += [[], *([None, None, *row] for row in ROWS[20:]), [], []]
    dataset = read(rows)
    assert dataset.feature_names == ["p", "q"]
    assert dataset.table["q"].tolist() == [row[1] for row in ROWS]


def test_the_line_of_a_row_is_the_row_of_the_sheet(tmp_path: Path) -> None:
    rows = [["Title"], [], ["p", "q", "r"], *ROWS, [], [1, 2, "last"]]
    raw = open_table(str(xlsx(tmp_path / "a.xlsx", rows))).read({})
    assert raw.table["r"].iloc[40] == "last"
    assert (raw.line_of(0), raw.line_of(40)) == (4, 45)


def test_the_first_sheet_with_data_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    other = [["u", "v", "w"], *([b, a, c] for a, b, c in ROWS[:9])]
    path = xlsx(tmp_path / "a.xlsx", {"Notes": [], "First": SMALL, "Second": other})
    dataset = read_dataset(str(path))
    assert names_of(dataset) == ["p", "q", "r"]
    assert dataset.source.sheets == ("First", "Second")
    assert "“First” was read" in sentences(dataset)
    assert "a.xlsx#Second" in sentences(dataset)
    second = read_dataset(f"{path}#Second")
    assert names_of(second) == ["u", "v", "w"]
    assert "sheets hold data" not in sentences(second)
    # A sheet of the same workbook may be the test file.
    xlsx(path, {"Train": SMALL, "Test": SMALL[:10]})
    assert read_dataset(str(path), test_file=f"{path}#Test").test.rows == 9


def hide(name: str):
    def change(book) -> None:
        book[name].sheet_state = "hidden"
        book.active = next(i for i, sheet in enumerate(book) if sheet.title != name)

    return change


def test_a_hidden_sheet_comes_last(read) -> None:
    dataset = read({"Lists": SMALL, "Data": SMALL}, change=hide("Lists"))
    assert dataset.source.sheets == ("Data", "Lists")


NOTE = [["Measured in 2023."], ["Ask Anna."], [], ["Licence: none"]]


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    "note", [NOTE[:1], NOTE, [["Author", "Anna"], ["Date", "2024-01-05"], ["Version", 3]]]
)
def test_a_note_is_no_table(read, note: list[list[object]], hidden: bool) -> None:
    """Even a hidden table comes before a note that shows."""
    change = hide("Data") if hidden else lambda book: None
    dataset = read({"Read me": note, "Data": SMALL}, change=change)
    assert names_of(dataset) == SMALL[0]
    assert dataset.source.sheets == ("Read me", "Data")
    assert "“Data” was read, not “Read me”" in sentences(dataset)
    assert "a.xlsx#Read me" in sentences(dataset)
    is_hidden = "The sheet “Data”, which was read, is hidden in the workbook."
    assert (is_hidden in sentences(dataset)) == hidden


def test_many_texts_in_one_column_are_a_table(tmp_path: Path) -> None:
    texts = [[f"The {i % 7} reasons of a long story, told {i} times."] for i in range(120)]
    path = xlsx(tmp_path / "a.xlsx", {"Texts": [["text"], *texts], "Data": SMALL})
    assert open_table(str(path)).sheet_name == "Texts"


def test_hidden_rows_and_columns_are_read_and_said(read) -> None:
    def change(book) -> None:
        book["Data"].column_dimensions["B"].hidden = True
        book["Data"].row_dimensions[3].hidden = True

    dataset = read(SMALL, change=change)
    assert dataset.rows == 40
    assert "Column “q” is hidden" in sentences(dataset)


def test_a_sheet_that_is_not_there(tmp_path: Path, refusal) -> None:
    path = xlsx(tmp_path / "a.xlsx", {"First": SMALL, "Empty": [], "Second": SMALL})
    wanted = "“Frist” is not in the workbook; choose one of “First”, “Second”"
    assert wanted in refusal(f"{path}#Frist")
    assert "“Empty” is empty" in refusal(f"{path}#Empty")
    assert "no sheet holds anything" in refusal(xlsx(tmp_path / "b.xlsx", {"Empty": []}))


def test_a_sheet_of_empty_texts_is_refused(tmp_path: Path, refusal) -> None:
    pytest.importorskip("odf")
    path = tmp_path / "a.ods"
    pd.DataFrame([[""], [None]]).to_excel(path, header=False, index=False)
    assert "no sheet holds anything" in refusal(path)


def test_a_file_whose_name_holds_the_sign_of_a_sheet(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx#1.xlsx", {"First": SMALL})
    for file in (str(path), f"{path}#First"):
        assert read_dataset(file).rows == 40


def test_cells_of_errors_are_missing(read) -> None:
    rows = [list(row) for row in SMALL]
    for place, error in enumerate(("#N/A", "#DIV/0!", "#VALUE!", "#REF!"), 3):
        rows[place][1] = error
    column = read(rows).columns[1]
    assert (column.kind, column.missing) == ("number", 4)


@pytest.mark.parametrize("sign", [".", ","])
def test_numbers_that_are_stored_as_text_are_numbers(read, sign: str) -> None:
    rows = [SMALL[0], *([a, f"{b + 0.25}".replace(".", sign), c] for a, b, c in ROWS)]
    rows[5][1] = 4.25  # one is a number already
    expected = [row[1] + 0.25 for row in ROWS]
    expected[4] = 4.25
    np.testing.assert_allclose(read(rows).table["q"], expected)


def test_below_the_head_come_words_and_values_of_columns_that_begin_with_blanks(read) -> None:
    many: list[list[Any]] = [[i % 7, i / 2, None, None, "ab"[i % 2]] for i in range(900)]
    many[700][1] = "broken"
    many[701][0] = datetime.datetime(2024, 1, 5)  # as in a text: a date among numbers is none
    for i in range(600, 900):
        many[i][2] = datetime.datetime(2024, 1, 1 + i % 28)
        many[i][3] = i % 3 == 0
    dataset = read([["p", "q", "when", "flag", "r"], *many])
    kinds = [(column.kind, column.missing) for column in dataset.columns[:4]]
    assert kinds == [("number", 1), ("number", 1), ("date", 600), ("yes/no", 600)]
    assert np.isnan(dataset.table["q"].iloc[700])
    assert "“broken”" in sentences(dataset)
    assert "“2024-01-05”" in sentences(dataset)


@pytest.mark.parametrize("ending", ["xlsx", "ods", "xls", "xlsb"])
def test_cells_merged_over_rows_count_in_each_of_them(tmp_path: Path, ending: str) -> None:
    rows = [["site", "q", "r"]]
    rows += [[f"s{i // 8}" if i % 8 == 0 else None, *row[1:]] for i, row in enumerate(ROWS)]
    ranges = [f"A{top}:A{top + 7}" for top in range(2, 42, 8)]
    dataset = read_dataset(str(save_book(tmp_path / f"a.{ending}", rows, merged=ranges)))
    assert dataset.table["site"].tolist() == [f"s{i // 8}" for i in range(40)]
    assert "5 merged cells in “site”" in sentences(dataset)
    assert sorted(dataset.source.merged) == [("site", 8 * i, 8 * i + 7) for i in range(5)]


def test_cells_merged_over_columns_are_refused(tmp_path: Path, refusal) -> None:
    path = xlsx(tmp_path / "a.xlsx", SMALL, merged=["A5:B5"])
    assert "the cells A5:B5 are merged" in refusal(path)


@pytest.mark.parametrize(
    ("head", "ranges", "names"),
    [
        (
            [["site", "soil", "", "yield"], ["", "pH", "clay", ""]],
            ("A1:A2", "B1:C1", "D1:D2"),
            ["site", "soil: pH", "soil: clay", "yield"],
        ),
        (  # below a title, with groups alone above the names
            [["All of it"], ["", "soil", "", ""], ["site", "pH", "clay", "yield"]],
            ("A1:D1", "B2:C2"),
            ["site", "soil: pH", "soil: clay", "yield"],
        ),
        (  # two groups with the same names in them
            [["before", "", "after", ""], ["a", "b", "a", "b"]],
            ("A1:B1", "C1:D1"),
            ["before: a", "before: b", "after: a", "after: b"],
        ),
        ([["site", "size", "", "yield"]], ("B1:C1",), ["site", "size", "size (2)", "yield"]),
    ],
)
def test_a_header_merged_over_rows_is_joined_and_said(read, head, ranges, names):
    rows = [["abc"[i % 3], i / 2, i % 5, i * 1.5] for i in range(40)]
    dataset = read([*head, *rows], merged=ranges)
    assert names_of(dataset) == names
    assert dataset.rows == 40
    assert ("The header has 2 rows" if len(head) > 1 else "“size (2)”") in sentences(dataset)


def test_merged_cells_below_the_table_are_no_part_of_it(read) -> None:
    dataset = read(SMALL, merged=["A50:A52", "A60:C60"])
    assert dataset.rows == 40
    assert not dataset.source.merged


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            [[None, "q", 2024, "r"], *([i, b, a, c] for i, (a, b, c) in enumerate(ROWS))],
            ["Unnamed: 0", "q", "2024", "r"],
        ),
        ([["p ", " q", "r"], *ROWS], ["p", "q", "r"]),  # blanks around are no part of names
        (ROWS, ["column 1", "column 2", "column 3"]),
        ([SMALL[0], *([] for _ in range(1000)), *ROWS], SMALL[0]),
    ],
    ids=["blanks and years", "padded", "none", "far above the cells"],
)
def test_headers(read, rows: list, names: list[str]) -> None:
    def change(book) -> None:  # formats below the table are none of its cells
        for row in (1200, 5000, 1_048_576):
            book["Data"].cell(row, 2).number_format = "0%"

    dataset = read(rows, change=change)
    assert names_of(dataset) == names
    assert dataset.rows == 40
    agree(dataset)


def test_sequences_and_molecules_come_from_sheets_too(read) -> None:
    words = [".", "none", "go"] * 20
    tokens = [[f"s{i // 4}", word, "ab"[i % 2]] for i, word in enumerate(words)]
    dataset = read([["sequence", "word", "y"], *tokens])
    assert dataset.task == "sequence"
    assert set(dataset.table["word"]) == {".", "none", "go"}
    folded = [["sequence", "structure"], *([["GGGAAACCC", "(((...)))"]] * 20)]
    assert read(folded).task == "structure"
