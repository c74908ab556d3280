"""Workbooks of every kind, written for the tests of sheets."""

from __future__ import annotations

import datetime
import itertools
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

openpyxl = pytest.importorskip("openpyxl")
Rows = Sequence[Sequence[Any]]
ROWS = [[i % 7, round(i * 1.5, 2), "ab"[i % 2]] for i in range(40)]
SMALL = [["p", "q", "r"], *ROWS]
# Formats of Excel, as an OpenDocument file says them by the type of a value.
ODS_TYPES = {
    "0.0%": {"valuetype": "percentage"},
    '"$"#,##0.00': {"valuetype": "currency", "currency": "USD"},
    "#,##0.00\\ [$€-407]": {"valuetype": "currency", "currency": "EUR"},
}
FIVE_DIGITS = "00000"


def save_book(path: Path, rows: Rows, formats: Sequence[str] = (), merged: Sequence[str] = ()):
    """A workbook by the file's ending: a sheet with formats of its columns and merged ranges."""
    write = {".xlsx": xlsx, ".xls": xls, ".ods": ods, ".xlsb": xlsb}[path.suffix]
    pytest.importorskip({".xls": "xlwt", ".ods": "odf"}.get(path.suffix, "openpyxl"))
    return write(path, rows, formats, merged)


def corners(merged: str) -> tuple[int, int, int, int]:
    """Top, left, bottom and right of a range such as A1:B2, from 0."""
    left, top, right, bottom = openpyxl.utils.cell.range_boundaries(merged)
    return top - 1, left - 1, bottom - 1, right - 1


def xlsx(
    path: Path,
    sheets: Rows | dict[str, Rows],
    formats: Sequence[str] = (),
    merged: Sequence[str] = (),
    change: Callable[[Any], object] = lambda book: None,
) -> Path:
    """Sheets by name, or one; the last of them is formatted, and the book changed in the end."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in (sheets if isinstance(sheets, dict) else {"Data": sheets}).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for column, code in enumerate(formats, 1):
        for row in range(2, sheet.max_row + 1):
            sheet.cell(row, column).number_format = code or "General"
    for cells in merged:
        sheet.merge_cells(cells)
    change(book)
    book.save(path)
    return path


def xls(path: Path, rows: Rows, formats: Sequence[str] = (), merged: Sequence[str] = ()) -> Path:
    """The rows in the second sheet; the first is empty."""
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("Notes")
    sheet = book.add_sheet("Dáta")
    styles = [[xlwt.easyxf(num_format_str=code or "General")] for code in formats]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is not None:
                sheet.write(i, j, cell, *(styles[j] if i and formats else []))
    for top, left, bottom, right in map(corners, merged):
        sheet.merge(top, bottom, left, right)
    book.save(str(path))
    return path


def ods(path: Path, rows: Rows, formats: Sequence[str] = (), merged: Sequence[str] = ()) -> Path:
    """As other programs write it; a format that is none of theirs is a style of another part."""
    from odf import number, style, table, text
    from odf.opendocument import OpenDocumentSpreadsheet

    document, sheet = OpenDocumentSpreadsheet(), table.Table(name="Data")
    styles = {"elsewhere": "elsewhere"}
    for code, form, *parts in (
        (FIVE_DIGITS, number.NumberStyle(name="f0"), number.Number(minintegerdigits=5)),
        ('0.00" kg"', number.NumberStyle(name="f1"), number.Number(), number.Text(text=" kg")),
        ("hh:mm", number.TimeStyle(name="f2"), number.Hours(style="long")),
        ("[h]:mm", number.TimeStyle(name="f3", truncateonoverflow="false"), number.Hours()),
    ):
        for part in parts:
            form.addElement(part)
        document.automaticstyles.addElement(form)
        cells = {"name": f"c{len(styles)}", "family": "table-cell"}
        form_name = form.getAttribute("name")
        document.automaticstyles.addElement(style.Style(**cells, datastylename=form_name))
        styles[code] = cells["name"]
    # Codes have a style of their column, all others one of each cell.
    for is_code, run in itertools.groupby(formats, lambda code: code == FIVE_DIGITS):
        usual = {"defaultcellstylename": styles[FIVE_DIGITS]} if is_code else {}
        sheet.addElement(table.TableColumn(numbercolumnsrepeated=len(list(run)), **usual))
    spans = {
        (top, left): {
            "numberrowsspanned": bottom - top + 1,
            "numbercolumnsspanned": right - left + 1,
        }
        for top, left, bottom, right in map(corners, merged)
    }
    empty = table.CoveredTableCell if spans else table.TableCell
    for i, row in enumerate(rows):
        line = table.TableRow()
        for j, value in enumerate(row):
            code, about = (*formats, *[""] * len(row))[j], {"valuetype": "string"}
            if isinstance(value, datetime.timedelta):
                hours, minutes = divmod(value.total_seconds() // 60, 60)
                about = {"valuetype": "time", "timevalue": f"PT{hours:02.0f}H{minutes:02.0f}M00S"}
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                about = {**ODS_TYPES.get(code, {"valuetype": "float"}), "value": value}
            if code in styles and code != FIVE_DIGITS and about["valuetype"] != "string":
                about["stylename"] = styles[code]
            cell = empty() if value is None else table.TableCell(**about, **spans.get((i, j), {}))
            if value is not None:
                cell.addElement(text.P(text=str(value)))
            line.addElement(cell)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    document.save(str(path))
    return path


def _record(kind: int, content: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    return head + length + content


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(
    path: Path,
    rows: Rows,
    formats: Sequence[str] = (),
    merged: Sequence[str] = (),
    *,
    first: int = 0,
    hidden: int = -1,
) -> Path:
    """One sheet by the records of [MS-XLSB]; rows are `first` apart, a column may be hidden."""
    width = max(map(len, rows))
    sheet = _record(0x81) + _record(0x94, struct.pack("<4I", 0, len(rows) - 1, 0, width - 1))
    if hidden >= 0:
        sheet += _record(0x186) + _record(0x3C, struct.pack("<4IH", hidden, hidden, 0, 0, 1))
        sheet += _record(0x187)
    styles = b"".join(
        _record(0x2C, struct.pack("<H", 200 + i) + _wide(code or "General"))
        for i, code in enumerate(formats)
    )
    ids = [200 + i for i in range(len(formats))] or [0]
    styles += _record(0x272, struct.pack("<I", 1)) + _record(0x2F, bytes(16)) + _record(0x273)
    cells = (_record(0x2F, struct.pack("<2H", 0, each) + bytes(12)) for each in ids)
    styles += _record(0x269, struct.pack("<I", len(ids))) + b"".join(cells) + _record(0x26A)
    sheet += _record(0x91)
    for i, row in enumerate(rows):
        sheet += _record(0x00, struct.pack("<I", i * (first or 1)) + bytes(21))
        for j, cell in enumerate(row):
            place = struct.pack("<II", j, j if formats else 0)
            if isinstance(cell, bool):
                sheet += _record(0x04, place + bytes([cell]))
            elif isinstance(cell, (int, float)):
                sheet += _record(0x05, place + struct.pack("<d", cell))
            elif cell is not None:
                sheet += _record(0x06, place + _wide(str(cell)))
    sheet += _record(0x92)
    for top, left, bottom, right in map(corners, merged):
        sheet += _record(0xB0, struct.pack("<4I", top, bottom, left, right))
    sheet += _record(0x82)
    book = _record(0x83) + _record(0x8F)
    book += _record(0x9C, struct.pack("<II", 0, 1) + _wide("rId1") + _wide("Data"))
    book += _record(0x90) + _record(0x9D, bytes(26)) + _record(0x84)
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary"/></Types>'
    )
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://x/relationships/worksheet" '
        'Target="worksheets/sheet1.bin"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/_rels/workbook.bin.rels", links)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        archive.writestr("xl/styles.bin", _record(0x116) + styles + _record(0x117))
    return path


def changed(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The same archive with one part changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path
