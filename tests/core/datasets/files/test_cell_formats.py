"""Cells of sheets mean what they show: units, percent signs, codes, times; and what is hidden."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.files.filling import number_text, with_fills
from core.datasets.files.registry import open_table
from core.datasets.files.workbook import currency_form, number_form
from core.datasets.raw_table import formats_of, kinds_like
from core.datasets.reading import read_dataset

openpyxl = pytest.importorskip("openpyxl")
RATES = [round((37 * i % 101) / 1000, 3) for i in range(60)]
CODES = [(i % 9) * 47 for i in range(60)]
COSTS = [(i * 7 % 50) / 4 for i in range(60)]
NAMES = ["rate", "code", "cost", "euros", "weight", "y"]
ROWS = [
    [rate, code, cost, 2 * cost, cost / 2, "ab"[code % 2]]
    for rate, code, cost in zip(RATES, CODES, COSTS, strict=True)
]
FORMATS = ("0.0%", "00000", '"$"#,##0.00', "#,##0.00\\ [$€-407]", '0.00" kg"')
KINDS = ["number, %", "category", "number, $", "number, €", "number, kg", "category"]
Change = Callable[..., None]


def xlsx(path: Path, rows: list[list[object]] = ROWS, change: Change = lambda book: None) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Data"
    for row in rows:
        book.active.append(row)
    change(book)
    book.save(path)
    return path


def formatted(*formats: str) -> Change:
    def change(book) -> None:
        for column, code in enumerate(formats, 1):
            for row in range(2, book["Data"].max_row + 1):
                book["Data"].cell(row, column).number_format = code

    return change


def xls(path: Path) -> Path:
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    sheet, formats = book.add_sheet("Data"), (*FORMATS, "General")
    styles = [xlwt.easyxf(num_format_str=code) for code in formats]
    for i, row in enumerate([NAMES, *ROWS]):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell, *([styles[j]] if i else []))
    book.save(str(path))
    return path


def ods(path: Path) -> Path:
    pytest.importorskip("odf")
    from odf import number, style, table, text
    from odf.opendocument import OpenDocumentSpreadsheet

    book, sheet = OpenDocumentSpreadsheet(), table.Table(name="Data")
    for name, digits, decimals, unit in (("five", 5, 0, ""), ("mass", 1, 2, " kg")):
        form = number.NumberStyle(name=f"n-{name}")
        form.addElement(number.Number(minintegerdigits=digits, decimalplaces=decimals))
        if unit:
            form.addElement(number.Text(text=unit))
        book.automaticstyles.addElement(form)
        cells = style.Style(name=name, family="table-cell", datastylename=f"n-{name}")
        book.automaticstyles.addElement(cells)
    for usual in ({}, {"defaultcellstylename": "five"}, {"numbercolumnsrepeated": 4}):
        sheet.addElement(table.TableColumn(**usual))
    kinds = [{"valuetype": "percentage"}, {"valuetype": "float"}]
    kinds += [{"valuetype": "currency", "currency": sign} for sign in ("USD", "EUR")]
    kinds += [{"valuetype": "float", "stylename": "mass"}]
    for row in [NAMES, *ROWS]:
        line = table.TableRow()
        for j, value in enumerate(row):
            told = {"valuetype": "string"}
            if not isinstance(value, str):
                told = {**kinds[j], "value": value}
            cell = table.TableCell(**told)
            cell.addElement(text.P(text=str(value)))
            line.addElement(cell)
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(path))
    return path


def kinds_of(dataset: Dataset) -> list[str]:
    return [column.kind_text for column in dataset.columns]


def sentences(dataset: Dataset) -> str:
    return " ".join(finding.sentence for finding in dataset.findings)


@pytest.mark.parametrize("ending", ["xlsx", "xls", "ods"])
def test_cells_are_what_a_text_of_the_same_sheet_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    if ending == "xlsx":
        xlsx(path, [NAMES, *ROWS], formatted(*FORMATS))
    else:
        {"xls": xls, "ods": ods}[ending](path)
    shown = [
        [f"{r * 100:.1f}%", f"{c:05d}", f"${x}", f"{e} €", f"{w} kg", y]
        for r, c, x, e, w, y in ROWS
    ]
    text = tmp_path / "a.csv"
    pd.DataFrame(shown, columns=NAMES).to_csv(text, index=False)
    dataset, expected = read_dataset(str(path)), read_dataset(str(text))
    assert kinds_of(dataset) == kinds_of(expected) == KINDS
    pd.testing.assert_frame_equal(dataset.table, expected.table)
    for train, test in ((path, text), (text, path)):
        again = read_dataset(str(train), test_file=str(test)).test
        pd.testing.assert_frame_equal(again.table, expected.table)
    source = dataset.source
    table = with_fills(pd.read_excel(path, **source.reading), source.merged, source.shown)
    assert table["rate"].tolist()[:2] == ["0%", "3.7%"]
    assert table["code"].tolist()[:2] == ["00000", "00047"]


@pytest.mark.parametrize(
    ("code", "form"),
    [
        *(("0%", "%"), ("0.0 %", "%"), ('0"%"', "0%"), ("00000", "00000"), ("00", "00")),
        *(("000-00-0000", "000-00-0000"), ("#,##0.00 €", "0€"), ("[$CHF] #,##0", "CHF 0")),
        *(('"$"#,##0_);[Red]("$"#,##0)', "$0"), ('_("$"* #,##0.00_);_(* "-"_)', "$0")),
        *(("[$-409]#,##0.00", ""), ("[$£-809]#,##0", "£0"), ('General" kg"', "0 kg")),
        *(("General", ""), ("0", ""), ("#,##0.00", ""), ("0.00E+00", ""), ("@", ""), ("", "")),
        *(("yyyy-mm-dd", ""), ("[h]:mm", ""), ("mm:ss.0", ""), ("# ?/?", ""), ('0.0,"k"', "")),
        *(('0.0,,"M"', ""), ('0"x10"', ""), ('"', ""), ("[", ""), ("\\", "")),
    ],
)
def test_what_a_format_adds_to_a_number(code: str, form: str) -> None:
    assert number_form(code) == form


def test_numbers_show_with_all_their_digits() -> None:
    assert [number_text(i / 1000, "%") for i in (7, 29, 570, 1000)] == [
        "0.7%",
        "2.9%",
        "57%",
        "100%",
    ]
    assert number_text(1 / 3, "%").startswith("33.333333333333")
    assert number_text(78051120, "000-00-0000") == "078-05-1120"
    assert [number_text(x, "00000") for x in (421, 123456, -5, 1.5)] == [
        "00421",
        "123456",
        "-5",
        "1.5",
    ]
    assert number_text(1e307, "%") == "inf%"  # which is no number
    assert number_text(123456789012345680, "0") == "123456789012345680"
    assert [number_text(1e-7, "$0"), currency_form("SEK")] == ["$1e-07", "0 SEK"]


def test_a_sheet_is_read_as_stored_where_the_training_rows_had_no_unit(tmp_path: Path) -> None:
    plain = xlsx(tmp_path / "a.xlsx", [NAMES, *ROWS])
    path = xlsx(tmp_path / "b.xlsx", [NAMES, *ROWS], formatted(*FORMATS))
    train = read_dataset(str(plain), test_file=str(path))
    pd.testing.assert_frame_equal(train.test.table, train.table)
    columns = [Column(name, "feature", "number") for name in NAMES[:5]]
    rows = open_table(str(path)).read(kinds_like(formats_of(columns, train.source))).table
    assert rows["rate"].tolist() == RATES


def test_several_units_in_a_column_are_no_unit_and_that_is_said(tmp_path: Path) -> None:
    def change(book) -> None:
        formatted('"$"0.00')(book)
        for row in range(2, 20):
            book["Data"].cell(row, 1).number_format = '"€"0.00'
            book["Data"].cell(row, 2).number_format = "0%"

    rows = [["cost", "rate", "y"], *([x, r, y] for r, _, x, _, _, y in ROWS)]
    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", rows, change)))
    assert [column.unit for column in dataset.columns] == ["", "", ""]
    assert dataset.table["rate"].tolist() == RATES
    assert "“cost” show as “€0”, “$0”" in sentences(dataset)


PLAIN = [["p", "q", "y"], *([i / 4, i % 7, "ab"[i % 2]] for i in range(60))]


def _with_note(book, cells: list[list[object]]) -> None:
    note = book.create_sheet("Read me", 0)
    for row in cells:
        note.append(row)


@pytest.mark.parametrize(
    "note",
    [
        [["Measured in 2023."]],
        [["Measured in 2023."], ["Ask Anna."], [], ["Licence: none"]],
        [["Author", "Anna"], ["Date", "2024-01-05"], ["Contact", "a@b.c"], ["Version", 3]],
    ],
)
def test_a_note_is_no_table(tmp_path: Path, note: list[list[object]]) -> None:
    path = xlsx(tmp_path / "a.xlsx", PLAIN, lambda book: _with_note(book, note))
    dataset = read_dataset(str(path))
    assert [column.name for column in dataset.columns] == PLAIN[0]
    assert "“Data” was read, not “Read me”" in sentences(dataset)
    assert "a.xlsx#Read me" in sentences(dataset)
    assert dataset.source.sheets == ("Read me", "Data")
    assert read_dataset(f"{path}#Data").source.reading["sheet_name"] == "Data"


def test_many_texts_in_one_column_are_a_table(tmp_path: Path) -> None:
    texts = [
        ["text"],
        *([f"The {i % 7} reasons of a long story, told {i} times."] for i in range(120)),
    ]
    path = xlsx(tmp_path / "a.xlsx", PLAIN, lambda book: _with_note(book, texts))
    assert open_table(str(path)).sheet_name == "Read me"


def test_what_is_hidden_is_read_and_said(tmp_path: Path) -> None:
    def change(book) -> None:
        book["Data"].column_dimensions["B"].hidden = True
        book["Data"].row_dimensions[3].hidden = True
        book.create_sheet("Empty")
        book["Data"].sheet_state = "hidden"
        book.active = 1

    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", PLAIN, change)))
    assert dataset.rows == 60
    assert "Column “q” is hidden" in sentences(dataset)
    assert "The sheet “Data”, which was read, is hidden" in sentences(dataset)


def test_a_hidden_table_comes_before_a_note_that_shows(tmp_path: Path) -> None:
    def change(book) -> None:
        _with_note(book, [["Measured in 2023."], ["Ask Anna."]])
        book["Data"].sheet_state = "hidden"
        book.active = 0

    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", PLAIN, change)))
    assert [column.name for column in dataset.columns] == PLAIN[0]
    assert "The sheet “Data”, which was read, is hidden in the workbook." in sentences(dataset)
    assert "“Data” was read, not “Read me”" in sentences(dataset)


def test_blank_rows_below_the_names_and_formats_below_the_table(tmp_path: Path) -> None:
    def change(book) -> None:
        for row in (1200, 5000, 1_048_576):
            book["Data"].cell(row, 2).number_format = "0%"

    rows = [PLAIN[0], *([] for _ in range(1000)), *PLAIN[1:]]
    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", rows, change)))
    assert dataset.table["p"].tolist() == [row[0] for row in PLAIN[1:]]


@pytest.mark.parametrize("rows", [[["p", "q"], *[["=A1", "=2"]] * 9], [["=1", "=2"]] * 9])
def test_formulas_without_values_are_refused_with_the_reason(
    tmp_path: Path, refusal, rows: list[list[object]]
) -> None:
    said = refusal(xlsx(tmp_path / "a.xlsx", rows))
    assert "formulas have no values in the file; open it in a spreadsheet program" in said


def test_times_are_times_and_durations_hours(tmp_path: Path) -> None:
    rows = [["time", "long", "short", "y"]]
    for i in range(60):
        clock = datetime.time(i % 24, (7 * i) % 60)
        rows.append([clock, datetime.timedelta(hours=i, minutes=30), i / 100, "ab"[i % 2]])
    path = xlsx(tmp_path / "a.xlsx", rows, formatted("hh:mm", "[h]:mm", "[mm]:ss"))
    dataset = read_dataset(str(path))
    assert kinds_of(dataset) == ["date", "number, h", "number, h", "category"]
    np.testing.assert_allclose(dataset.table["long"], [i + 0.5 for i in range(60)])
    np.testing.assert_allclose(dataset.table["short"], [24 * i / 100 for i in range(60)], atol=1e-6)
    # A longer duration of an OpenDocument file tells what the shorter ones are.
    cells = pd.Series(["PT26H30M00S", datetime.time(14, 30), None], dtype=object)
    assert with_fills(pd.DataFrame({"t": cells}))["t"].tolist()[:2] == ["26.5 h", "14.5 h"]


def test_an_opendocument_file_tells_times_and_durations_by_their_styles(tmp_path: Path) -> None:
    """As a sheet of Excel: [hh]:mm counts on behind 24 hours; the bare value is a duration."""
    pytest.importorskip("odf")
    from odf import number, style, table, text
    from odf.opendocument import OpenDocumentSpreadsheet

    book, sheet = OpenDocumentSpreadsheet(), table.Table(name="Data")
    for name, truncates in (("clock", "true"), ("long", "false")):
        form = number.TimeStyle(name=f"n-{name}", truncateonoverflow=truncates)
        form.addElement(number.Hours(style="long"))
        book.automaticstyles.addElement(form)
        cells = style.Style(name=name, family="table-cell", datastylename=f"n-{name}")
        book.automaticstyles.addElement(cells)
    named = ["clock", "long", None, "elsewhere", None]
    rows = [["time", "long", "bare", "named", "y"]]
    rows += [[*[f"PT{i % 24:02d}H{i:02d}M00S"] * 4, "ab"[i % 2]] for i in range(60)]
    for row in rows:
        line = table.TableRow()
        for value, name in zip(row, named, strict=True):
            kind = {"valuetype": "string"}
            if value.startswith("PT"):
                kind = {"valuetype": "time", "timevalue": value, "stylename": name}
            cell = table.TableCell(**{key: each for key, each in kind.items() if each})
            cell.addElement(text.P(text=value))
            line.addElement(cell)
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.save(str(tmp_path / "a.ods"))
    dataset = read_dataset(str(tmp_path / "a.ods"))
    assert kinds_of(dataset) == ["date", "number, h", "number, h", "date", "category"]
    for name in ("long", "bare"):
        np.testing.assert_allclose(dataset.table[name], [i % 24 + i / 60 for i in range(60)])
    source = dataset.source
    again = with_fills(pd.read_excel(source.path, **source.reading), source.merged, source.shown)
    assert again["long"].tolist()[:3] == ["0 h", "1.01666666667 h", "2.03333333333 h"]
    assert again["time"].tolist()[1] == "01:01:00"


@pytest.mark.parametrize("epoch", ["1900", "1904"])
def test_dates_count_from_either_epoch_and_go_beyond_2262(tmp_path: Path, epoch: str) -> None:
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    days = [datetime.datetime(1950 + 10 * i, 3, 1 + i % 28) for i in range(60)]

    def change(book) -> None:
        book.epoch = CALENDAR_MAC_1904 if epoch == "1904" else book.epoch
        for row, day in enumerate(days, 2):
            book["Data"].cell(row, 1).value = day

    rows = [["when", "q", "y"], *([None, q, y] for _, q, y in PLAIN[1:])]
    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", rows, change)))
    assert kinds_of(dataset)[0] == "date"
    assert dataset.table["when"].tolist() == [day.date().isoformat() for day in days]
