"""Workbooks that are damaged, or made to fill the memory: each is refused in a sentence."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from sheet_books import SMALL, changed, save_book, xls, xlsb, xlsx

from core.datasets.files import workbook
from core.datasets.files.registry import open_table
from core.datasets.reading import read_dataset
from core.errors import UnusableError

ENDINGS = ("xlsx", "ods")
SHEET = "xl/worksheets/sheet1.xml"


def replaced(path: Path, part: str, old: bytes, new: bytes) -> Path:
    return changed(path, part, lambda xml: xml.replace(old, new, 1))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path: Path, refusal, ending: str, encoding: str) -> None:
    path = save_book(tmp_path / f"a.{ending}", SMALL)
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

    def change(xml: bytes) -> bytes:
        text = xml.decode("utf-8")
        text = text[text.index("?>") + 2 :] if text.startswith("<?") else text
        return f'<?xml version="1.0" encoding="{encoding}"?>{bomb}{text}'.encode(encoding)

    for part in ("xl/styles.xml", "xl/workbook.xml") if ending == "xlsx" else ("content.xml",):
        assert "defines XML entities" in refusal(changed(path, part, change))


def test_an_archive_that_fills_the_memory(tmp_path: Path, refusal) -> None:
    path = xlsx(tmp_path / "a.xlsx", SMALL)
    changed(path, "xl/theme/theme1.xml", lambda xml: xml + b" " * (40 << 20))
    assert "unpacked" in refusal(path)


@pytest.mark.parametrize(
    ("address", "words"),
    [("XFD1048576", "1,048,576 rows and 16,384 columns"), ("A1048577", "beyond the last row")],
)
@pytest.mark.parametrize("ending", ["xlsx", "xlsb"])
def test_cells_that_lie_far_apart(tmp_path, refusal, ending, address, words):
    row = int(address.lstrip("XFDA"))
    if ending == "xlsx":
        path = xlsx(tmp_path / "a.xlsx", SMALL)
        far = f'<row r="{row}"><c r="{address}"><v>1</v></c></row></sheetData>'.encode()
        replaced(path, SHEET, b"</sheetData>", far)
    else:
        cells = [["p", "q"], [1, *[None] * 16382, 2]]
        path = xlsb(tmp_path / "a.xlsb", cells, first=row - 1)
    assert words in refusal(path)


@pytest.mark.parametrize("repeat", ["row", "cell"])
def test_repeated_cells_that_fill_the_memory(tmp_path: Path, refusal, repeat: str) -> None:
    tag = f"<table:table-{repeat}"
    which = {"row": "rows", "cell": "columns"}[repeat]
    many = f'{tag} table:number-{which}-repeated="999999999"'
    path = save_book(tmp_path / "a.ods", SMALL)
    assert "beyond the last row or column" in refusal(
        replaced(path, "content.xml", tag.encode(), many.encode())
    )


def test_more_cells_than_can_be_read(tmp_path, refusal, monkeypatch):
    monkeypatch.setattr(workbook, "MAX_GRID_CELLS", 100)
    path = xlsx(tmp_path / "a.xlsx", SMALL)
    assert "more than 100 cells, more than can be read" in refusal(path)
    xlsx(path, [["p", *[None] * 28, "q"], *([i, *[None] * 28, i % 3] for i in range(9))])
    assert "10 rows and 30 columns, more than can be read" in refusal(path)


def test_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    outside = (
        b'<Relationship Id="rId99" TargetMode="External" Target="http://127.0.0.1:9/x.xlsx" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>'
        b"</Relationships>"
    )
    path = xlsx(tmp_path / "a.xlsx", SMALL)
    replaced(path, "xl/_rels/workbook.xml.rels", b"</Relationships>", outside)
    assert read_dataset(str(path)).rows == 40


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8, 0.98])
@pytest.mark.parametrize("ending", ["xls", "xlsb", "xlsx"])
def test_cut_workbooks(tmp_path: Path, refusal, ending: str, share: float) -> None:
    path = save_book(tmp_path / f"a.{ending}", SMALL)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert path.name in refusal(path)


def test_a_cut_sheet(tmp_path: Path, refusal) -> None:
    path = xlsx(tmp_path / "a.xlsx", SMALL)
    changed(path, SHEET, lambda xml: xml[: len(xml) // 2])
    assert "the workbook is damaged" in refusal(path)


def last_cell_of_a_row(content: bytes) -> tuple[bytes, bytes]:
    """The record of the number in row 40, and one in the last column that there may be."""
    place = content.index(struct.pack("<4H", 0x27E, 10, 40, 1))
    return content[place : place + 8], struct.pack("<4H", 0x27E, 10, 40, 65_535)


def dimensions(content: bytes) -> tuple[bytes, bytes]:
    """2³¹ rows: Rust would ask for 65,536 × 2³¹ cells at once."""
    head = struct.pack("<2H", 0x200, 14)
    return head + struct.pack("<2I", 0, 41), head + struct.pack("<2I", 0, 2**31)


@pytest.mark.parametrize(
    ("change", "words"),
    [(dimensions, "it states more cells"), (last_cell_of_a_row, "beyond the last row or column")],
)
def test_statements_of_xls_that_fill_the_memory(tmp_path, refusal, change, words):
    rows = [[letter, number] for _, number, letter in SMALL]
    path = xls(tmp_path / "a.xls", rows)
    content = path.read_bytes()
    old, new = change(content)
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    assert words in refusal(path)


def test_sectors_of_xls_that_run_in_a_circle(tmp_path: Path, refusal) -> None:
    path = xls(tmp_path / "a.xls", SMALL)
    content = bytearray(path.read_bytes())
    fat = struct.unpack_from("<I", content, 76)[0]
    struct.pack_into("<I", content, 512 * (fat + 1), 0)  # sector 0 follows itself
    path.write_bytes(content)
    assert "leads nowhere" in refusal(path)


def test_every_byte_of_xls_may_be_wrong(tmp_path: Path) -> None:
    """A damaged workbook opens or is refused in a sentence, and ends nothing."""
    path, random = xls(tmp_path / "a.xls", SMALL), Random(0)
    content = path.read_bytes()
    for _ in range(60):
        broken = bytearray(content)
        for _ in range(random.choice([1, 3, 20])):
            broken[random.randrange(8, len(broken))] = random.choice(
                [0, 255, random.randrange(256)]
            )
        path.write_bytes(broken)
        with contextlib.suppress(UnusableError):
            open_table(str(path)).read({})


@pytest.mark.parametrize("ending", ["xls", *ENDINGS])
def test_a_text_that_is_stored_once_counts_in_every_cell(tmp_path, refusal, monkeypatch, ending):
    """The reader of the cells copies it: 9 KB of a file would fill the memory."""
    monkeypatch.setattr(workbook, "MAX_LETTERS", 50_000)
    path = save_book(tmp_path / f"a.{ending}", [["w", "n"], *(["z" * 2000, i] for i in range(40))])
    assert "texts of more than 50,000 letters" in refusal(path)


def test_a_row_that_is_stored_once_counts_as_often_as_it_is_repeated(
    tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MAX_LETTERS", 50_000)
    path = save_book(tmp_path / "a.ods", SMALL)
    many = b'<table:table-row table:number-rows-repeated="90000"'
    changed(path, "content.xml", lambda xml: many.join(xml.rsplit(b"<table:table-row", 1)))
    assert "texts of more than 50,000 letters" in refusal(path)


def test_texts_of_xls_are_counted_over_the_ends_of_records(tmp_path: Path) -> None:
    words = [
        "".join(chr(97 + (i * j) % 26) for j in range(i * 37 % 900)) + f"é漢{i}" for i in range(300)
    ]
    rows = [["w", "n"], *([word, i] for i, word in enumerate(words))]
    extent = open_table(str(xls(tmp_path / "a.xls", rows))).sheet_extent  # type: ignore[attr-defined]
    numbers = 300 * 10  # the bytes of each number's record
    assert extent.letters - numbers == sum(map(len, words)) + 2


def test_a_panic_of_the_library_is_a_sentence_alone(tmp_path, refusal, capfd, monkeypatch):
    path = xlsx(tmp_path / "a.xlsx", SMALL, ["", "[h]:mm"])
    replaced(path, SHEET, b"<v>1.5</v>", b"<v>-1e300</v>")
    parse = pd.ExcelFile.__init__

    def parse_beside_another_thread(*given, **options):
        os.write(2, b"Another thread says this.\n")
        parse(*given, **options)

    monkeypatch.setattr(pd.ExcelFile, "__init__", parse_beside_another_thread)
    assert "the workbook is damaged (PanicException: " in refusal(path)
    assert capfd.readouterr() == ("", "Another thread says this.\n")
