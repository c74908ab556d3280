"""Binary workbooks of Excel, .xls and .xlsb: what is read, and what is refused."""

from __future__ import annotations

import contextlib
import datetime
import struct
import zipfile
from pathlib import Path
from random import Random

import pytest

from core.datasets.files import workbook
from core.datasets.files.registry import open_table
from core.datasets.reading import read_dataset
from core.errors import UnusableError

ROWS = [["name", "size", "flag"], *([f"n{i % 7}", i / 4, i % 3 == 0] for i in range(40))]


def xls(path: Path, rows: list[list[object]], *merged: tuple[int, int, int, int]) -> Path:
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("Notes")
    sheet = book.add_sheet("Dáta")
    dates = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if isinstance(cell, datetime.date):
                sheet.write(i, j, cell, dates)
            elif cell is not None:
                sheet.write(i, j, cell)
    for top, bottom, left, right in merged:
        sheet.merge(top, bottom, left, right)
    book.save(str(path))
    return path


def record(kind: int, content: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])
    return head + length + content


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(
    path: Path,
    rows: list[list[object]],
    *,
    first: int = 0,
    merged: tuple[int, ...] = (),
    formats: tuple[str, ...] = (),
    hidden: int = -1,
) -> Path:
    """A binary workbook of one sheet, written by the records of [MS-XLSB]; a format a column."""
    width = max(map(len, rows))
    sheet = record(0x81) + record(0x94, struct.pack("<4I", 0, len(rows) - 1, 0, width - 1))
    if hidden >= 0:
        sheet += record(0x186) + record(0x3C, struct.pack("<4IH", hidden, hidden, 0, 0, 1))
        sheet += record(0x187)
    styles = b"".join(
        record(0x2C, struct.pack("<H", 200 + i) + wide(code)) for i, code in enumerate(formats)
    )
    ids = [200 + i for i in range(len(formats))] or [0]
    styles += record(0x272, struct.pack("<I", 1)) + record(0x2F, bytes(16)) + record(0x273)
    cells = (record(0x2F, struct.pack("<2H", 0, each) + bytes(12)) for each in ids)
    styles += record(0x269, struct.pack("<I", len(ids))) + b"".join(cells) + record(0x26A)
    sheet += record(0x91)
    for i, row in enumerate(rows):
        sheet += record(0x00, struct.pack("<I", i * (first or 1)) + bytes(21))
        for j, cell in enumerate(row):
            place = struct.pack("<II", j, j if formats else 0)
            if isinstance(cell, bool):
                sheet += record(0x04, place + bytes([cell]))
            elif isinstance(cell, (int, float)):
                sheet += record(0x05, place + struct.pack("<d", cell))
            elif cell is not None:
                sheet += record(0x06, place + wide(str(cell)))
    sheet += record(0x92)
    if merged:
        sheet += record(0xB0, struct.pack("<4I", *merged))
    sheet += record(0x82)
    book = record(0x83) + record(0x8F)
    book += record(0x9C, struct.pack("<II", 0, 1) + wide("rId1") + wide("Data"))
    book += record(0x90) + record(0x9D, bytes(26)) + record(0x84)
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
        archive.writestr("xl/styles.bin", record(0x116) + styles + record(0x117))
    return path


@pytest.mark.parametrize("write", [xls, xlsb])
def test_cells_are_what_was_written(tmp_path: Path, write) -> None:
    raw = open_table(str(write(tmp_path / "a.xl", ROWS))).read({})
    assert list(raw.table.columns) == ROWS[0]
    assert raw.table["name"].tolist() == [row[0] for row in ROWS[1:]]
    assert raw.table["size"].tolist() == [row[1] for row in ROWS[1:]]
    assert raw.table["flag"].tolist() == [str(row[2]) for row in ROWS[1:]]
    assert raw.line_of(3) == 5


def test_sheets_dates_and_merged_cells_of_xls(tmp_path: Path) -> None:
    rows: list[list[object]] = [["site", "when", "q"]]
    for i in range(40):
        day = datetime.date(2024, 1, 1 + i % 28)
        rows.append([f"s{i // 8}" if i % 8 == 0 else None, day, i / 2])
    ranges = [(1 + 8 * i, 8 + 8 * i, 0, 0) for i in range(5)]
    dataset = read_dataset(f"{xls(tmp_path / 'a.xls', rows, *ranges)}#Dáta")
    assert dataset.source.sheets == ("Dáta",)
    assert dataset.source.format == "xls"
    assert dataset.table["site"].tolist() == [f"s{i // 8}" for i in range(40)]
    assert dataset.table["when"].iloc[3] == "2024-01-04"
    assert any("5 merged cells in “site”" in f.sentence for f in dataset.findings)


def test_merged_cells_of_xlsb(tmp_path: Path) -> None:
    rows = [["site", "q", "r"], *([None if i else "s0", i / 2, "ab"[i % 2]] for i in range(40))]
    dataset = read_dataset(str(xlsb(tmp_path / "a.xlsb", rows, merged=(1, 40, 0, 0))))
    assert dataset.source.merged == (("site", 0, 39),)


def test_formats_and_hidden_columns_of_xlsb(tmp_path: Path) -> None:
    rows = [["rate", "code", "cost", "y"]]
    rows += [[i * 37 % 101 / 1000, i % 9 * 47, i * 7 % 50 / 4, "ab"[i % 2]] for i in range(60)]
    formats = ("0.0%", "00000", '"$"#,##0.00', "General")
    dataset = read_dataset(str(xlsb(tmp_path / "a.xlsb", rows, formats=formats, hidden=2)))
    kinds = [column.kind_text for column in dataset.columns]
    assert kinds == ["number, %", "category", "number, $", "category"]
    assert dataset.table["rate"].tolist()[:3] == [0.0, 3.7, 7.4]
    assert dataset.table["code"].tolist()[:2] == ["00000", "00047"]
    assert any("Column “cost” is hidden" in finding.sentence for finding in dataset.findings)


def test_cells_of_xlsb_that_lie_far_apart(tmp_path: Path, refusal) -> None:
    far = [["p", "q"], [1, *[None] * 16382, 2]]
    path = xlsb(tmp_path / "a.xlsb", far, first=1_048_575)
    assert "1,048,576 rows and 16,384 columns" in refusal(path)
    assert "beyond the last row" in refusal(xlsb(path, far, first=1_048_576))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # DIMENSIONS of 2³¹ rows: Rust would ask for 65,536 × 2³¹ cells at once.
        (
            struct.pack("<2HII", 0x200, 14, 0, 41),
            struct.pack("<2HII", 0x200, 14, 0, 2**31),
            "it states more cells",
        ),
        # the number of row 40, its last column
        (struct.pack("<5H", 0x203, 14, 40, 1, 17), None, "beyond the last row or column"),
    ],
)
def test_statements_of_xls_that_fill_the_memory(
    tmp_path: Path, refusal, old: bytes, new: bytes | None, words: str
) -> None:
    content = xls(tmp_path / "a.xls", ROWS).read_bytes()
    if new is None:
        place = content.index(struct.pack("<4H", 0x27E, 10, 40, 1))
        old, new = content[place : place + 8], struct.pack("<4H", 0x27E, 10, 40, 65_535)
    assert content.count(old) == 1
    (tmp_path / "a.xls").write_bytes(content.replace(old, new))
    assert words in refusal(tmp_path / "a.xls")


def test_sectors_of_xls_that_run_in_a_circle(tmp_path: Path, refusal) -> None:
    content = bytearray(xls(tmp_path / "a.xls", ROWS).read_bytes())
    fat = struct.unpack_from("<I", content, 76)[0]
    struct.pack_into("<I", content, 512 * (fat + 1), 0)  # sector 0 follows itself
    (tmp_path / "a.xls").write_bytes(content)
    assert "leads nowhere" in refusal(tmp_path / "a.xls")


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("write", [xls, xlsb])
def test_cut_binary_workbooks(tmp_path: Path, refusal, write, share: float) -> None:
    path = write(tmp_path / "a.xl", ROWS)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "a.xl" in refusal(path)


def test_every_byte_of_xls_may_be_wrong(tmp_path: Path) -> None:
    """A damaged workbook opens or is refused in a sentence, and ends nothing."""
    content, random = xls(tmp_path / "a.xls", ROWS).read_bytes(), Random(0)
    for _ in range(60):
        broken = bytearray(content)
        for _ in range(random.choice([1, 3, 20])):
            broken[random.randrange(8, len(broken))] = random.choice(
                [0, 255, random.randrange(256)]
            )
        (tmp_path / "b.xls").write_bytes(broken)
        with contextlib.suppress(UnusableError):
            open_table(str(tmp_path / "b.xls")).read({})


def test_shared_texts_count_in_every_cell(
    tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [
        "".join(chr(97 + (i * j) % 26) for j in range(i * 37 % 900)) + f"é漢{i}" for i in range(300)
    ]
    rows: list[list[object]] = [["w", "n"], *([word, i] for i, word in enumerate(words))]
    path = xls(tmp_path / "a.xls", rows)
    extent = open_table(str(path)).sheet_extent  # type: ignore[attr-defined]
    numbers = 300 * 10  # the bytes of each number's record
    assert extent.letters - numbers == sum(map(len, words)) + 2
    monkeypatch.setattr(workbook, "MAX_LETTERS", 50_000)
    xls(path, [["w", "n"], *(["z" * 400, i] for i in range(300))])
    assert "texts of more than 50,000 letters" in refusal(path)
