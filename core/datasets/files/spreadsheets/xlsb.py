"""The sheets of a binary Excel workbook (.xlsb), by a pass through its records.

Source: Microsoft, [MS-XLSB]: Excel (.xlsb) Binary File Format, sections 2.1.4 and 2.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import ScanFinished, SheetExtent, Workbook
from core.datasets.files.spreadsheets.xlsx import part_links
from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error, open_archive

_BOOK = "xl/workbook.bin"
_TEXTS = "xl/sharedStrings.bin"
_ROW, _SHEET, _MERGED, _SHARED, _TEXT = 0x00, 0x9C, 0xB0, 0x07, 0x13  # the records' numbers
_CELLS = frozenset(range(0x02, 0x0C))  # with a value, that of a formula included
_ROW_BYTES, _CELL_BYTES, _SHARED_BYTES = 4, 9, 12


def read_sheets(path: Path) -> Workbook:
    """The sheets of a workbook, hidden ones last; raises UnusableError if damaged."""
    with open_archive(path) as archive:
        links = part_links(archive, _BOOK, path.name)
        targets = {link_id: part for link_id, part, kind in links if kind == "worksheet"}
        content = archive.read(_BOOK)
        texts = archive.read(_TEXTS) if _TEXTS in archive.namelist() else b""
    sheets: list[tuple[bool, str, str]] = []
    for kind, start, end in _records(content, path.name):
        if kind == _SHEET and end - start >= 12:
            link, place = _wide_text(content[:end], start + 8)
            name, _ = _wide_text(content[:end], place)
            if link in targets:
                sheets.append((content[start] != 0, name, targets[link]))
    sheets.sort(key=lambda sheet: sheet[0])
    part_of_sheet = {name: part_name for _, name, part_name in sheets}

    lengths = [
        struct.unpack_from("<I", texts, start + 1)[0]
        for kind, start, end in _records(texts, path.name)
        if kind == _TEXT and end - start >= 5
    ]

    def scan_sheet(extent: SheetExtent, is_enough: bool) -> None:
        with open_archive(path) as archive:
            _scan_cells(archive.read(part_of_sheet[extent.name]), extent, lengths, is_enough)

    return Workbook(tuple(part_of_sheet), scan_sheet)


def _scan_cells(
    content: bytes, extent: SheetExtent, lengths: Sequence[int], is_enough: bool
) -> None:
    row, number, add_cells = -1, struct.Struct("<I"), extent.add_cells
    for kind, start, end in _records(content, extent.where):
        if kind in _CELLS and end - start >= _CELL_BYTES:
            letters = end - start
            if kind == _SHARED and letters >= _SHARED_BYTES:
                index = number.unpack_from(content, start + 8)[0]
                letters = lengths[index] if index < len(lengths) else 0
            add_cells(row, number.unpack_from(content, start)[0], letters=letters)
            if is_enough:
                raise ScanFinished
        elif kind == _ROW and end - start >= _ROW_BYTES:
            row = number.unpack_from(content, start)[0]
        elif kind == _MERGED and end - start >= 16:
            top, bottom, left, right = struct.unpack_from("<4I", content, start)
            extent.merged.append((top, left, bottom, right))


def _records(content: bytes, where: str) -> Iterator[tuple[int, int, int]]:
    """The number of every record, and where its content begins and ends."""
    position, size = 0, len(content)
    try:
        while position < size:
            kind = content[position]
            position += 1
            if kind & 0x80:
                kind = (kind & 0x7F) | (content[position] & 0x7F) << 7
                position += 1
            length = 0
            for shift in (0, 7, 14, 21):
                byte = content[position]
                position += 1
                length |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
            if position + length > size:
                raise damaged_file_error(where, "a record is cut short")
            yield kind, position, position + length
            position += length
    except IndexError:
        raise damaged_file_error(where, "a record is cut short") from None


def _wide_text(content: bytes, start: int) -> tuple[str, int]:
    if len(content) < start + 4:
        return "", start
    length = struct.unpack_from("<I", content, start)[0]
    end = start + 4 + 2 * (0 if length == 0xFFFFFFFF else length)
    return content[start + 4 : end].decode("utf-16-le", "replace"), end
