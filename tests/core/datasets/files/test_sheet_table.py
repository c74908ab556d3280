"""Sheets of workbooks: what is read, what is said, and what is refused."""

from __future__ import annotations

import datetime
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.datasets.files import workbook
from core.datasets.files.filling import with_fills
from core.datasets.files.registry import open_table
from core.datasets.reading import read_dataset

openpyxl = pytest.importorskip("openpyxl")
ENDINGS = ("xlsx", "ods")
ROWS = [[i % 7, round(i * 1.5, 2), "ab"[i % 2]] for i in range(40)]
SMALL = [["p", "q", "r"], *ROWS]


def book(path: Path, *sheets: tuple[str, list[list[object]]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def changed(path: Path, part: str, change) -> Path:
    """The same archive with one part changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def need(ending: str) -> None:
    if ending == "ods":
        pytest.importorskip("odf")


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_recorded_call_of_pandas_gives_the_same_table(
    tmp_path: Path, small_table, ending: str
) -> None:
    need(ending)
    path = tmp_path / f"book.{ending}"
    small_table.to_excel(str(path), index=False, startrow=3, startcol=2)
    dataset = read_dataset(str(path))
    again = with_fills(pd.read_excel(path, **dataset.source.reading))
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])
    as_csv = tmp_path / "same.csv"
    again.to_csv(as_csv, index=False)
    there = pd.read_csv(as_csv, **dataset.source.read_csv)
    pd.testing.assert_frame_equal(dataset.table, there[dataset.feature_names])


def test_title_lines_and_blank_rows_and_columns_stand_around(tmp_path: Path) -> None:
    rows = [["Yields of 2024"], [], [None, None, "p", "q", "r"]]
    rows += [[None, None, *row] for row in ROWS[:20]]
    rows += [[], *([None, None, *row] for row in ROWS[20:]), [], []]
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", rows))))
    assert dataset.feature_names == ["p", "q"]
    assert dataset.rows == 40
    assert dataset.table["q"].tolist() == [row[1] for row in ROWS]


def test_the_line_of_a_row_is_the_row_of_the_sheet(tmp_path: Path) -> None:
    rows = [["Title"], [], ["p", "q", "r"], *ROWS, [], [1, 2, "last"]]
    raw = open_table(str(book(tmp_path / "a.xlsx", ("Data", rows)))).read({})
    assert raw.table["r"].iloc[40] == "last"
    assert (raw.line_of(0), raw.line_of(40)) == (4, 45)


def test_the_first_sheet_with_data_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    other = [["u", "v", "w"], *([b, a, c] for a, b, c in ROWS)]
    path = book(tmp_path / "a.xlsx", ("Notes", []), ("First", SMALL), ("Second", other))
    dataset = read_dataset(str(path))
    assert dataset.feature_names == ["p", "q"]
    assert dataset.source.sheets == ("First", "Second")
    assert any("“First” was read" in f.sentence for f in dataset.findings)
    assert any("a.xlsx#Second" in f.sentence for f in dataset.findings)
    second = read_dataset(f"{path}#Second")
    assert second.feature_names == ["u", "v"]
    assert not any("sheets hold data" in f.sentence for f in second.findings)


def test_a_hidden_sheet_comes_last(tmp_path: Path) -> None:
    made = openpyxl.load_workbook(book(tmp_path / "a.xlsx", ("Lists", SMALL), ("Data", SMALL)))
    made["Lists"].sheet_state = "hidden"
    made.active = 1
    made.save(tmp_path / "a.xlsx")
    assert read_dataset(str(tmp_path / "a.xlsx")).source.sheets == ("Data", "Lists")


def test_a_sheet_that_is_not_there(tmp_path: Path, refusal) -> None:
    path = book(tmp_path / "a.xlsx", ("First", SMALL), ("Empty", []), ("Second", SMALL))
    assert "“Frist” is not in the workbook; choose one of “First”, “Second”" in refusal(
        f"{path}#Frist"
    )
    assert "“Empty” is empty" in refusal(f"{path}#Empty")
    assert "no sheet holds anything" in refusal(book(tmp_path / "b.xlsx", ("Empty", [])))


def test_a_file_whose_name_holds_the_sign_of_a_sheet(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx#1.xlsx", ("First", SMALL))
    assert read_dataset(str(path)).rows == 40
    assert read_dataset(f"{path}#First").rows == 40


def test_a_sheet_of_the_same_workbook_is_the_test_file(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("Train", SMALL), ("Test", [SMALL[0], *ROWS[:9]]))
    dataset = read_dataset(str(path), test_file=f"{path}#Test")
    assert dataset.test.rows == 9


def test_cells_of_errors_are_missing(tmp_path: Path) -> None:
    rows = [["p", "q", "r"], *([*row] for row in ROWS)]
    for place, error in enumerate(("#N/A", "#DIV/0!", "#VALUE!", "#REF!"), 3):
        rows[place][1] = error
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", rows))))
    column = next(c for c in dataset.columns if c.name == "q")
    assert (column.kind, column.missing) == ("number", 4)


@pytest.mark.parametrize("sign", [".", ","])
def test_numbers_that_are_stored_as_text_are_numbers(tmp_path: Path, sign: str) -> None:
    rows = [["p", "q", "r"], *([a, f"{b + 0.25}".replace(".", sign), c] for a, b, c in ROWS)]
    rows[5][1] = 4.25  # one is a number already
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", rows))))
    expected = [row[1] + 0.25 for row in ROWS]
    expected[4] = 4.25
    np.testing.assert_allclose(dataset.table["q"], expected)


def test_words_below_the_head_of_a_column_of_numbers(tmp_path: Path) -> None:
    many = [[i % 7, i / 2, "ab"[i % 2]] for i in range(900)]
    many[700][1] = "broken"
    many[701][0] = datetime.datetime(2024, 1, 5)
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", [["p", "q", "r"], *many]))))
    kinds = {column.name: column.kind for column in dataset.columns}
    assert kinds["q"] == "number"
    assert np.isnan(dataset.table["q"].iloc[700])
    assert any("“broken”" in f.sentence for f in dataset.findings)
    assert kinds["p"] == "number"  # as in a text: a date among numbers is none
    assert any("“2024-01-05”" in f.sentence for f in dataset.findings)


def test_a_column_that_begins_with_blanks(tmp_path: Path) -> None:
    many = [[i % 7, i / 2, None, None, "ab"[i % 2]] for i in range(900)]
    for i in range(600, 900):
        many[i][2] = datetime.datetime(2024, 1, 1 + i % 28)
        many[i][3] = i % 3 == 0
    head = ["p", "q", "when", "flag", "r"]
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", [head, *many]))))
    kinds = {column.name: (column.kind, column.missing) for column in dataset.columns}
    assert kinds["when"] == ("date", 600)
    assert kinds["flag"] == ("yes/no", 600)


def test_formulas_count_as_their_stored_values(tmp_path: Path) -> None:
    rows = [["p", "q", "r"], *([a, f"=A{i}*2", c] for i, (a, _, c) in enumerate(ROWS, 2))]
    path = book(tmp_path / "a.xlsx", ("Data", rows))

    def store(xml: bytes) -> bytes:
        for i, row in enumerate(ROWS, 2):
            if i != 5:  # one is left without
                formula = f"<f>A{i}*2</f><v />".encode()
                xml = xml.replace(formula, b"<f>A0*2</f><v>%d</v>" % (2 * row[0]))
        return xml

    changed(path, "xl/worksheets/sheet1.xml", store)
    dataset = read_dataset(str(path))
    values = dataset.table["q"].to_numpy()
    expected = np.array([2.0 * row[0] for row in ROWS])
    expected[3] = np.nan
    np.testing.assert_array_equal(values, expected)
    said = next(f for f in dataset.findings if "formula" in f.sentence)
    assert "In column “q”, 1 formula has no value in the file" in said.sentence
    assert said.serious


def spanned_ods(path: Path, rows: list[list[object]], every: int) -> Path:
    """An OpenDocument spreadsheet whose first column is merged over so many rows at a time."""
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import CoveredTableCell, Table, TableCell, TableRow
    from odf.text import P

    document, sheet = OpenDocumentSpreadsheet(), Table(name="Data")
    for i, row in enumerate(rows):
        line = TableRow()
        for j, value in enumerate(row):
            number = isinstance(value, (int, float))
            told = {"valuetype": "float", "value": value} if number else {"valuetype": "string"}
            if j == 0 and i > 0 and (i - 1) % every:
                line.addElement(CoveredTableCell())
                continue
            if j == 0 and i > 0:
                told |= {"numberrowsspanned": every, "numbercolumnsspanned": 1}
            cell = TableCell(**told)
            cell.addElement(P(text=str(value)))
            line.addElement(cell)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    document.save(str(path))
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_cells_merged_over_rows_count_in_each_of_them(tmp_path: Path, ending: str) -> None:
    need(ending)
    rows = [["site", "q", "r"], *([f"s{i // 8}", b, c] for i, (_, b, c) in enumerate(ROWS))]
    path = tmp_path / f"a.{ending}"
    if ending == "ods":
        spanned_ods(path, rows, 8)
    else:
        made = openpyxl.load_workbook(book(path, ("Data", rows)))
        for top in range(2, 42, 8):
            made["Data"].merge_cells(f"A{top}:A{top + 7}")
        made.save(path)
    dataset = read_dataset(str(path))
    assert dataset.table["site"].tolist() == [row[0] for row in rows[1:]]
    assert any("5 merged cells in “site”" in f.sentence for f in dataset.findings)
    assert len(dataset.source.merged) == 5


def merged(path: Path, rows: list[list[object]], *ranges: str) -> Path:
    made = openpyxl.load_workbook(book(path, ("Data", rows)))
    for range_ in ranges:
        made["Data"].merge_cells(range_)
    made.save(path)
    return path


def test_cells_merged_over_columns_are_refused(tmp_path: Path, refusal) -> None:
    said = refusal(merged(tmp_path / "a.xlsx", SMALL, "A5:B5"))
    assert "the cells A5:B5 are merged" in said


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
def test_a_header_merged_over_rows_is_joined_and_said(
    tmp_path: Path, head: list[list[object]], ranges: tuple[str, ...], names: list[str]
) -> None:
    rows = [["abc"[i % 3], i / 2, i % 5, i * 1.5] for i in range(40)]
    dataset = read_dataset(str(merged(tmp_path / "a.xlsx", [*head, *rows], *ranges)))
    assert [column.name for column in dataset.columns] == names
    assert dataset.rows == 40
    said = [finding.sentence for finding in dataset.findings]
    assert any("The header has 2 rows" in s or "“size (2)”" in s for s in said), said


def test_merged_cells_below_the_table_are_no_part_of_it(tmp_path: Path) -> None:
    dataset = read_dataset(str(merged(tmp_path / "a.xlsx", SMALL, "A50:A52", "A60:C60")))
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
    ],
)
def test_headers_of_blanks_and_years_or_none(tmp_path: Path, rows: list, names: list[str]) -> None:
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", rows))))
    assert [column.name for column in dataset.columns] == names
    assert dataset.rows == 40
    again = with_fills(pd.read_excel(tmp_path / "a.xlsx", **dataset.source.reading))
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


def test_sequences_and_molecules_come_from_sheets_too(tmp_path: Path) -> None:
    tokens = [["sequence", "word", "y"]]
    tokens += [[f"s{i // 4}", word, "ab"[i % 2]] for i, word in enumerate([".", "none", "go"] * 20)]
    dataset = read_dataset(str(book(tmp_path / "a.xlsx", ("Data", tokens))))
    assert dataset.task == "sequence"
    assert set(dataset.table["word"]) == {".", "none", "go"}
    folded = [["sequence", "structure"], *([["GGGAAACCC", "(((...)))"]] * 20)]
    assert read_dataset(str(book(tmp_path / "b.xlsx", ("Data", folded)))).task == "structure"


# Safety -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(
    tmp_path: Path, small_table, refusal, ending: str, encoding: str
) -> None:
    need(ending)
    path = tmp_path / f"a.{ending}"
    small_table.to_excel(str(path), index=False)
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

    def change(xml: bytes) -> bytes:
        text = xml.decode("utf-8")
        text = text[text.index("?>") + 2 :] if text.startswith("<?") else text
        return f'<?xml version="1.0" encoding="{encoding}"?>{bomb}{text}'.encode(encoding)

    for part in ("xl/styles.xml", "xl/workbook.xml") if ending == "xlsx" else ("content.xml",):
        assert "defines XML entities" in refusal(changed(path, part, change))


def test_an_archive_that_fills_the_memory(tmp_path: Path, refusal) -> None:
    path = book(tmp_path / "a.xlsx", ("Data", SMALL))
    changed(path, "xl/theme/theme1.xml", lambda xml: xml + b" " * (40 << 20))
    assert "unpacked" in refusal(path)


def test_cells_that_lie_far_apart(tmp_path: Path, refusal) -> None:
    path = book(tmp_path / "a.xlsx", ("Data", SMALL))
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    changed(path, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b"</sheetData>", far))
    assert "1,048,576 rows and 16,384 columns" in refusal(path)
    beyond = b'<row r="1048577"><c r="A1048577"><v>1</v></c></row></sheetData>'
    book(path, ("Data", SMALL))
    changed(path, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b"</sheetData>", beyond))
    assert "beyond the last row" in refusal(path)


@pytest.mark.parametrize("repeat", ["rows", "columns"])
def test_repeated_cells_that_fill_the_memory(
    tmp_path: Path, small_table, refusal, repeat: str
) -> None:
    need("ods")
    path = tmp_path / "a.ods"
    small_table.to_excel(str(path), index=False)
    tag = b"<table:table-row" if repeat == "rows" else b"<table:table-cell"
    many = b' table:number-%s-repeated="999999999"' % repeat.encode()
    changed(path, "content.xml", lambda xml: xml.replace(tag, tag + many, 1))
    assert "beyond the last row or column" in refusal(path)


def test_more_cells_than_can_be_read(
    tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MAX_GRID_CELLS", 100)
    path = book(tmp_path / "a.xlsx", ("Data", SMALL))
    assert "more than 100 cells, more than can be read" in refusal(path)
    sparse = [["p", *[None] * 28, "q"], *([i, *[None] * 28, i % 3] for i in range(9))]
    book(path, ("Data", sparse))
    assert "10 rows and 30 columns, more than can be read" in refusal(path)


def test_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("Data", SMALL))
    outside = (
        b'<Relationship Id="rId99" TargetMode="External" Target="http://127.0.0.1:9/x.xlsx" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>'
        b"</Relationships>"
    )
    changed(
        path, "xl/_rels/workbook.xml.rels", lambda xml: xml.replace(b"</Relationships>", outside)
    )
    assert read_dataset(str(path)).rows == 40


def test_a_cut_workbook(tmp_path: Path, refusal) -> None:
    path = book(tmp_path / "a.xlsx", ("Data", SMALL))
    path.write_bytes(path.read_bytes()[:-200])
    assert "a.xlsx" in refusal(path)
    book(path, ("Data", SMALL))
    changed(path, "xl/worksheets/sheet1.xml", lambda xml: xml[: len(xml) // 2])
    assert "the workbook is damaged" in refusal(path)


def test_a_text_that_is_stored_once_counts_in_every_cell(
    tmp_path: Path, small_table, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of the cells copies it: 9 KB of a file would fill the memory."""
    monkeypatch.setattr(workbook, "MAX_LETTERS", 100_000)
    pd.DataFrame({"p": ["x" * 3000] * 40, "q": range(40)}).to_excel(tmp_path / "a.xlsx")
    assert "texts of more than 100,000 letters" in refusal(tmp_path / "a.xlsx")
    need("ods")
    path = tmp_path / "a.ods"
    small_table.assign(colour="y" * 2000).to_excel(str(path), index=False)
    assert "texts of more than 100,000 letters" in refusal(path)
    small_table.to_excel(str(path), index=False)
    many = b'<table:table-row table:number-rows-repeated="90000"'
    changed(path, "content.xml", lambda xml: many.join(xml.rsplit(b"<table:table-row", 1)))
    assert "texts of more than 100,000 letters" in refusal(path)


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 4)),
    st.text("ab 0179.,-éß", min_size=1, max_size=6).filter(lambda text: text.strip() != ""),
    st.dates(datetime.date(1950, 1, 1), datetime.date(2090, 1, 1)),
    st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2090, 1, 1)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
)
KINDS = (st.integers(-99, 99), st.sampled_from(["a", "b", "00421"]), st.booleans(), CELLS)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_openpyxl_and_odfpy_read_the_same(data) -> None:
    """Every cell, whatever stands around it, of the same table in both formats."""
    odf = pytest.importorskip("odf.opendocument")
    assert odf
    n_rows = data.draw(st.integers(2, 8))
    columns = [
        data.draw(
            st.lists(
                st.one_of(st.none(), data.draw(st.sampled_from(KINDS))),
                min_size=n_rows,
                max_size=n_rows,
            )
        )
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    names = ["row", *(f"h{i}" for i in range(len(columns)))]
    rows = [names, *([i + 0.5, *cells] for i, cells in enumerate(zip(*columns, strict=True)))]
    with tempfile.TemporaryDirectory() as folder:
        path = book(Path(folder) / "a.xlsx", ("Data", rows))
        sheet = openpyxl.load_workbook(path)["Data"]
        ours = open_table(str(path)).read({}, required_column="row").table
        assert same_cells(
            ours, [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        )
        table = pd.DataFrame(rows[1:], columns=names, dtype=object)
        table.to_excel(str(Path(folder) / "a.ods"), index=False)
        theirs = pd.read_excel(Path(folder) / "a.ods", engine="odf", dtype=object, na_filter=False)
        ours = open_table(str(Path(folder) / "a.ods")).read({}, required_column="row").table
        assert same_cells(ours, theirs.to_numpy().tolist())


def same_cells(ours: pd.DataFrame, theirs: list[list[object]]) -> bool:
    """Whether cells are equal, numbers as numbers and all others by their texts."""
    assert len(ours) == len(theirs)
    assert ours.shape[1] == len(theirs[0])
    for row, other in zip(ours.itertuples(index=False), theirs, strict=True):
        for cell, value in zip(row, other, strict=True):
            expected = value
            if isinstance(value, datetime.date):
                expected = value.isoformat().removesuffix("T00:00:00").replace("T", " ")
            elif isinstance(value, float) and value == int(value):
                expected = int(value)
            if value in (None, "") and not isinstance(value, bool):
                assert pd.isna(cell)
            elif isinstance(cell, str):
                assert cell in (str(expected), str(expected).replace(".", ","))
            else:
                assert cell == value
    return True
