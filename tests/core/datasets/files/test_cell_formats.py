"""Cells of sheets mean what they show: units, percent signs, codes, times, and formulas."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recorded_calls import agree, recorded_table
from sheet_books import ROWS as NUMBERS
from sheet_books import changed, save_book, xlsb, xlsx

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.files.filling import number_text, with_fills
from core.datasets.files.registry import open_table
from core.datasets.files.workbook import currency_form, number_form
from core.datasets.raw_table import formats_of, kinds_like
from core.datasets.reading import read_dataset

RATES = [round((37 * i % 101) / 1000, 3) for i in range(60)]
CODES = [(i % 9) * 47 for i in range(60)]
COSTS = [(i * 7 % 50) / 4 for i in range(60)]
NAMES = ["rate", "code", "cost", "euros", "weight", "y"]
ROWS = [
    [rate, code, cost, 2 * cost, cost / 2, "ab"[code % 2]]
    for rate, code, cost in zip(RATES, CODES, COSTS, strict=True)
]
FORMATS = ("0.0%", "00000", '"$"#,##0.00', "#,##0.00\\ [$€-407]", '0.00" kg"', "")
KINDS = ["number, %", "category", "number, $", "number, €", "number, kg", "category"]
SHEETS = ("xlsx", "xls", "xlsb", "ods")


def kinds_of(dataset: Dataset) -> list[str]:
    return [column.kind_text for column in dataset.columns]


@pytest.mark.parametrize("ending", SHEETS)
def test_cells_are_what_a_text_of_the_same_sheet_says(tmp_path: Path, ending: str) -> None:
    path = save_book(tmp_path / f"a.{ending}", [NAMES, *ROWS], FORMATS)
    shown = [
        [f"{r * 100:.1f}%", f"{c:05d}", f"${x}", f"{e} €", f"{w} kg", y]
        for r, c, x, e, w, y in ROWS
    ]
    text = tmp_path / "a.csv"
    pd.DataFrame(shown, columns=NAMES).to_csv(text, index=False)
    dataset, expected = read_dataset(str(path)), read_dataset(str(text))
    assert kinds_of(dataset) == kinds_of(expected) == KINDS
    assert dataset.table["rate"].tolist()[:3] == [0.0, 3.7, 7.4]
    assert dataset.table["code"].tolist()[:2] == ["00000", "00047"]
    pd.testing.assert_frame_equal(dataset.table, expected.table)
    for train, test in ((path, text), (text, path)):
        again = read_dataset(str(train), test_file=str(test)).test
        pd.testing.assert_frame_equal(again.table, expected.table)
    agree(dataset)


@pytest.mark.parametrize("ending", SHEETS)
def test_cells_are_what_was_written(tmp_path: Path, ending: str) -> None:
    rows = [["name", "size", "flag"], *([f"n{i % 7}", i / 4, i % 3 == 0] for i in range(40))]
    raw = open_table(str(save_book(tmp_path / f"a.{ending}", rows))).read({})
    assert list(raw.table.columns) == rows[0]
    assert [list(row) for row in raw.table.itertuples(index=False)] == [
        [name, size, str(flag)] for name, size, flag in rows[1:]
    ]
    assert raw.line_of(3) == 5


def test_dates_and_the_sheet_of_xls(tmp_path: Path) -> None:
    days = [datetime.date(2024, 1, 1 + i % 28) for i in range(40)]
    rows = [["when", "q"], *([day, i % 7] for i, day in enumerate(days))]
    dataset = read_dataset(f"{save_book(tmp_path / 'a.xls', rows, ('YYYY-MM-DD', ''))}#Dáta")
    assert (dataset.source.sheets, dataset.source.format) == (("Dáta",), "xls")
    assert dataset.table["when"].tolist() == [day.isoformat() for day in days]


def test_a_hidden_column_of_xlsb(tmp_path: Path) -> None:
    dataset = read_dataset(str(xlsb(tmp_path / "a.xlsb", [NAMES, *ROWS], hidden=2)))
    assert any("Column “cost” is hidden" in finding.sentence for finding in dataset.findings)


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


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        *((0.007, "%", "0.7%"), (0.029, "%", "2.9%"), (0.57, "%", "57%"), (1, "%", "100%")),
        *((421, "00000", "00421"), (123456, "00000", "123456"), (-5, "00000", "-5")),
        *((1.5, "00000", "1.5"), (78051120, "000-00-0000", "078-05-1120"), (1e-7, "$0", "$1e-07")),
        *((1e307, "%", "inf%"), (123456789012345680, "0", "123456789012345680")),
        *((1 / 3, "%", "33.3333333333333%"),),
    ],
)
def test_numbers_show_with_all_their_digits(number: float, form: str, text: str) -> None:
    assert number_text(number, form) == text


def test_a_currency_without_a_sign_shows_its_code() -> None:
    assert (currency_form("SEK"), currency_form("EUR")) == ("0 SEK", "€0")


def test_a_sheet_is_read_as_stored_where_the_training_rows_had_no_unit(tmp_path: Path) -> None:
    plain = xlsx(tmp_path / "a.xlsx", [NAMES, *ROWS])
    path = xlsx(tmp_path / "b.xlsx", [NAMES, *ROWS], FORMATS)
    train = read_dataset(str(plain), test_file=str(path))
    pd.testing.assert_frame_equal(train.test.table, train.table)
    columns = [Column(name, "feature", "number") for name in NAMES[:5]]
    rows = open_table(str(path)).read(kinds_like(formats_of(columns, train.source))).table
    assert rows["rate"].tolist() == RATES


def test_several_units_in_a_column_are_no_unit_and_that_is_said(tmp_path: Path) -> None:
    def change(book) -> None:
        for row in range(2, 20):
            book["Data"].cell(row, 1).number_format = '"€"0.00'
            book["Data"].cell(row, 2).number_format = "0%"

    rows = [["cost", "rate", "y"], *([x, r, y] for r, _, x, _, _, y in ROWS)]
    path = xlsx(tmp_path / "a.xlsx", rows, ('"$"0.00',), change=change)
    dataset = read_dataset(str(path))
    assert [column.unit for column in dataset.columns] == ["", "", ""]
    assert dataset.table["rate"].tolist() == RATES
    assert any("“cost” show as “€0”, “$0”" in finding.sentence for finding in dataset.findings)


def test_formulas_count_as_their_stored_values(tmp_path: Path) -> None:
    formulas = [f"A{i}*2" for i in range(2, 42)]
    rows = [["p", "q", "r"]]
    rows += [[p, f"={formula}", r] for formula, (p, _, r) in zip(formulas, NUMBERS, strict=True)]
    path = xlsx(tmp_path / "a.xlsx", rows)
    expected = np.array([2.0 * row[0] for row in NUMBERS])

    def store(xml: bytes) -> bytes:
        for formula, value in zip(formulas, expected, strict=True):
            if formula != "A5*2":  # one is left without
                told = f"<f>{formula}</f><v />".encode()
                xml = xml.replace(told, b"<f>A0*2</f><v>%d</v>" % value)
        return xml

    dataset = read_dataset(str(changed(path, "xl/worksheets/sheet1.xml", store)))
    expected[3] = np.nan
    np.testing.assert_array_equal(dataset.table["q"], expected)
    said = next(f for f in dataset.findings if "formula" in f.sentence)
    assert "In column “q”, 1 formula has no value in the file" in said.sentence
    assert said.serious


@pytest.mark.parametrize("rows", [[["p", "q"], *[["=A1", "=2"]] * 9], [["=1", "=2"]] * 9])
def test_formulas_without_values_are_refused_with_the_reason(tmp_path, refusal, rows):
    said = refusal(xlsx(tmp_path / "a.xlsx", rows))
    assert "formulas have no values in the file; open it in a spreadsheet program" in said


def test_times_are_times_and_durations_hours(tmp_path: Path) -> None:
    rows = [["time", "long", "short", "y"]]
    for i in range(60):
        clock = datetime.time(i % 24, (7 * i) % 60)
        rows.append([clock, datetime.timedelta(hours=i, minutes=30), i / 100, "ab"[i % 2]])
    path = xlsx(tmp_path / "a.xlsx", rows, ("hh:mm", "[h]:mm", "[mm]:ss"))
    dataset = read_dataset(str(path))
    assert kinds_of(dataset) == ["date", "number, h", "number, h", "category"]
    np.testing.assert_allclose(dataset.table["long"], [i + 0.5 for i in range(60)])
    np.testing.assert_allclose(dataset.table["short"], [24 * i / 100 for i in range(60)], atol=1e-6)
    # A longer duration of an OpenDocument file tells what the shorter ones are.
    cells = pd.Series(["PT26H30M00S", datetime.time(14, 30), None], dtype=object)
    assert with_fills(pd.DataFrame({"t": cells}))["t"].tolist()[:2] == ["26.5 h", "14.5 h"]


def test_an_opendocument_file_tells_times_and_durations_by_their_styles(tmp_path: Path) -> None:
    """As a sheet of Excel: [hh]:mm counts on behind 24 hours; the bare value is a duration."""
    times = [datetime.timedelta(hours=i % 24, minutes=i) for i in range(60)]
    rows = [["time", "long", "bare", "named", "y"]]
    rows += [[*[time] * 4, "ab"[i % 2]] for i, time in enumerate(times)]
    forms = ("hh:mm", "[h]:mm", "", "elsewhere", "")
    dataset = read_dataset(str(save_book(tmp_path / "a.ods", rows, forms)))
    assert kinds_of(dataset) == ["date", "number, h", "number, h", "date", "category"]
    for name in ("long", "bare"):
        hours = [time / datetime.timedelta(hours=1) for time in times]
        np.testing.assert_allclose(dataset.table[name], hours)
    again = recorded_table(dataset.source)
    np.testing.assert_allclose(again["long"], hours)
    assert again["time"].tolist()[1] == "01:01:00"


@pytest.mark.parametrize("epoch", ["1900", "1904"])
def test_dates_count_from_either_epoch_and_go_beyond_2262(tmp_path: Path, epoch: str) -> None:
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    days = [datetime.datetime(1950 + 10 * i, 3, 1 + i % 28) for i in range(60)]

    def change(book) -> None:
        book.epoch = CALENDAR_MAC_1904 if epoch == "1904" else book.epoch
        for row, day in enumerate(days, 2):
            book["Data"].cell(row, 1).value = day

    rows = [["when", "q", "y"], *([None, i % 7, "ab"[i % 2]] for i in range(60))]
    dataset = read_dataset(str(xlsx(tmp_path / "a.xlsx", rows, change=change)))
    assert kinds_of(dataset)[0] == "date"
    assert dataset.table["when"].tolist() == [day.date().isoformat() for day in days]
