"""The sheets of a binary Excel workbook (.xlsb), by a pass through its records.

Source: Microsoft, [MS-XLSB]: Excel (.xlsb) Binary File Format, sections 2.1.4 and 2.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from core.datasets.files.spreadsheets.number_forms import BUILT_IN, forms_of_styles
from core.datasets.files.spreadsheets.workbook import SheetExtent
from core.datasets.files.spreadsheets.xlsx import part_links
from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error, open_archive

_BOOK, _TEXTS, _STYLES = "xl/workbook.bin", "xl/sharedStrings.bin", "xl/styles.bin"
# The records' numbers, and how long they are at least.
_ROW, _SHEET, _MERGED, _SHARED, _TEXT, _COLUMN = 0x00, 0x9C, 0xB0, 0x07, 0x13, 0x3C
_FORMAT, _STYLE, _STYLES_BEGIN, _STYLES_END = 0x2C, 0x2F, 0x269, 0x26A
_MIN_BYTES = {_ROW: 4, _SHEET: 12, _MERGED: 16, _TEXT: 5, _COLUMN: 18, _FORMAT: 6, _STYLE: 4}
_CELLS = frozenset(range(0x02, 0x0C))  # with a value, that of a formula included
_NUMBERS = frozenset((0x02, 0x05, 0x09))
_CELL_BYTES, _SHARED_BYTES = 9, 12
_WORD, _HALF = struct.Struct("<I"), struct.Struct("<2H")


def read_sheets(path: Path) -> list[SheetExtent]:
    """The sheets of a workbook, not yet looked at; raises UnusableError if damaged."""
    with open_archive(path) as archive:
        links = part_links(archive, _BOOK, path.name)
        book, *others = (
            archive.read(part) if part in archive.namelist() else b""
            for part in (_BOOK, _TEXTS, _STYLES)
        )
    texts, styles = others
    lengths = [
        _WORD.unpack_from(texts, start + 1)[0]
        for kind, start, _ in _records(texts, path.name)
        if kind == _TEXT
    ]
    codes, ids, is_style = dict(BUILT_IN), [], False
    for kind, start, end in _records(styles, path.name):
        is_style = kind == _STYLES_BEGIN or (is_style and kind != _STYLES_END)
        if kind == _FORMAT:
            codes[_HALF.unpack_from(styles, start)[0]] = _wide_text(styles[:end], start + 2)[0]
        elif kind == _STYLE and is_style:
            ids.append(_HALF.unpack_from(styles, start)[1])

    def scan(part_name: str, extent: SheetExtent) -> None:
        with open_archive(path) as archive:
            _scan_cells(archive.read(part_name), extent, lengths)

    forms, sheets = forms_of_styles(ids, codes), []
    targets = {link_id: part for link_id, part, kind in links if kind == "worksheet"}
    for kind, start, end in _records(book, path.name):
        if kind == _SHEET:
            link, place = _wide_text(book[:end], start + 8)
            name, _ = _wide_text(book[:end], place)
            if link in targets:
                count, is_hidden = partial(scan, targets[link]), book[start] != 0
                sheets.append(SheetExtent(name, path.name, is_hidden, count, forms=forms))
    return sheets


def _scan_cells(content: bytes, extent: SheetExtent, lengths: Sequence[int]) -> None:
    row, word = -1, _WORD.unpack_from
    for kind, start, end in _records(content, extent.where):
        if kind in _CELLS and end - start >= _CELL_BYTES:
            column, letters = word(content, start)[0], end - start
            if kind == _SHARED and letters >= _SHARED_BYTES:
                index = word(content, start + 8)[0]
                letters = lengths[index] if index < len(lengths) else 0
            elif kind in _NUMBERS:
                extent.add_numbers(column, word(content, start + 4)[0] & 0xFFFFFF)
            extent.add_cells(row, column, letters=letters)
        elif kind == _ROW:
            row = word(content, start)[0]
        elif kind == _MERGED:
            top, bottom, left, right = struct.unpack_from("<4I", content, start)
            extent.merged.append((top, left, bottom, right))
        elif kind == _COLUMN and content[start + 16] & 1:
            extent.hide_columns(*struct.unpack_from("<2I", content, start))


def _records(content: bytes, where: str) -> Iterator[tuple[int, int, int]]:
    """The number of every record, and where its content begins and ends; none that is too short."""
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
            if length >= _MIN_BYTES.get(kind, 0):
                yield kind, position, position + length
            position += length
    except IndexError:
        raise damaged_file_error(where, "a record is cut short") from None


def _wide_text(content: bytes, start: int) -> tuple[str, int]:
    if len(content) < start + 4:
        return "", start
    length = _WORD.unpack_from(content, start)[0]
    end = start + 4 + 2 * (0 if length == 0xFFFFFFFF else length)
    return content[start + 4 : end].decode("utf-16-le", "replace"), end
