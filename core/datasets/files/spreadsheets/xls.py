"""The sheets of an Excel workbook of before 2007 (.xls), by a pass through its records.

A file system whose stream "Workbook" is a row of records; stated sizes are checked.
Sources: Microsoft, [MS-CFB]: Compound File Binary File Format, section 2; [MS-XLS]: Excel Binary
File Format (.xls), sections 2.1.4 and 2.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from core.datasets.files.file_bytes import file_faults
from core.datasets.files.spreadsheets.number_forms import BUILT_IN, forms_of_styles
from core.datasets.files.spreadsheets.workbook import SheetExtent, scanned_sheets
from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error, password_error
from core.errors import UnusableError

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER, _ENTRY, _MINI_STREAM = 512, 128, 4096  # bytes; a smaller stream is in the mini stream
_END, _FREE = 0xFFFFFFFE, 0xFFFFFFFF
_ROWS, _COLUMNS = 2**16, 2**8  # of a sheet
# The records' numbers, and how long they are at least.
_EOF, _PASSWORD, _SHEET, _STRINGS, _DIMENSIONS, _MERGED = 0x0A, 0x2F, 0x85, 0xFC, 0x200, 0xE5
_CONTINUED, _SHARED, _MULTIPLE = 0x3C, 0xFD, 0xBD  # the last: several cells of a row
_COLUMN, _FORMAT, _STYLE, _FORMULA = 0x7D, 0x41E, 0xE0, 0x06
_CELLS = frozenset((_FORMULA, 0x203, 0x204, 0x205, 0x27E, _SHARED, 0xD6))
_NUMBERS = frozenset((_FORMULA, 0x203, 0x27E))
_MIN_BYTES = {_SHEET: 8, _STRINGS: 8, _SHARED: 10, _MULTIPLE: 12, _MERGED: 2, _DIMENSIONS: 10}
_MIN_BYTES |= {_COLUMN: 10, _FORMAT: 5, _STYLE: 4} | dict.fromkeys(_CELLS - {_SHARED}, 6)


def read_sheets(path: Path) -> list[SheetExtent]:
    """The sheets of a workbook, in order; raises UnusableError if damaged or too large."""
    with file_faults(path.name):
        content = path.read_bytes()
    book = _CompoundFile(content, path.name).workbook_stream()
    pieces: list[bytes] = []  # of the shared texts
    codes, ids, places = dict(BUILT_IN), [], []
    extents: list[SheetExtent] = []
    last = 0
    for kind, start, end in _records(book, 0, path.name):
        if kind == _PASSWORD:
            raise password_error(path.name)
        if kind == _STRINGS:
            if struct.unpack_from("<I", book, start + 4)[0] > len(book):
                raise damaged_file_error(path.name, "it states more texts than it has")
            pieces = [book[start + 8 : end]]
        elif kind == _CONTINUED and last in (_STRINGS, _CONTINUED) and pieces:
            pieces.append(book[start:end])
        elif kind == _FORMAT:
            codes[struct.unpack_from("<H", book, start)[0]] = _text(book[start + 2 : end], "<H")
        elif kind == _STYLE:
            ids.append(struct.unpack_from("<H", book, start + 2)[0])
        elif kind == _SHEET and book[start + 5] == 0:  # others are charts and macros
            is_hidden, old = book[start + 4] & 0x3F != 0, book[4:6] != b"\x00\x06"
            name = _text(book[start + 6 : end], "<B", is_old=old).replace("\0", "")
            extents.append(SheetExtent(name, path.name, is_hidden, None, _ROWS, _COLUMNS))
            places.append(struct.unpack_from("<I", book, start)[0])
        last = kind
    lengths, forms = _text_lengths(pieces), forms_of_styles(ids, codes)
    for extent, place in zip(extents, places, strict=True):
        extent.forms = forms
        _scan_cells(book, place, extent, lengths)
    return scanned_sheets(extents)


class _CompoundFile:
    def __init__(self, content: bytes, name: str) -> None:
        self._name = name
        if len(content) < _HEADER:
            raise damaged_file_error(name, "it is cut short")
        shift, mini_shift = struct.unpack_from("<2H", content, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise damaged_file_error(name, "its sectors have an odd size")
        self._size = 1 << shift
        self._content = content[self._size :] + bytes(-len(content) % self._size)
        fats, start, _, _, mini_start, n_mini, difat_start, n_difat = struct.unpack_from(
            "<8I", content, 44
        )
        if max(fats, n_mini, n_difat, struct.unpack_from("<I", content, 40)[0]) > len(content):
            raise damaged_file_error(name, "it states more sectors than it has")
        sectors = list(struct.unpack_from("<109I", content, 76))
        for _ in range(len(self._content) // self._size + 1):
            if difat_start in (_END, _FREE):
                break
            *more, difat_start = self._numbers(self._sector(difat_start))
            sectors += more
        else:
            raise damaged_file_error(name, "its list of sectors runs in a circle")
        fat = (self._sector(sector) for sector in sectors if sector != _FREE)
        self._fat = self._numbers(b"".join(fat))
        self._directory = self._chain(start)
        self._mini_fat = self._numbers(self._chain(mini_start))

    def workbook_stream(self) -> bytes:
        streams: dict[str, tuple[int, int]] = {}
        for i in range(0, len(self._directory) - _ENTRY + 1, _ENTRY):
            entry = self._directory[i : i + _ENTRY]
            name = entry[:64].decode("utf-16-le", "replace").partition("\0")[0]
            start, size, high = struct.unpack_from("<3I", entry, 116)
            streams.setdefault(name, (start, size | (high << 32 if self._size > 512 else 0)))
        root = next(iter(streams.values()), (_END, 0))
        if "EncryptedPackage" in streams:
            raise password_error(self._name)
        found = streams.get("Workbook") or streams.get("Book")
        if found is None:
            fault = "this is an Office document, but no spreadsheet"
            cure = "save its table as a spreadsheet or CSV file"
            raise UnusableError(fault, where=self._name, cure=cure)
        if max(found[1], root[1]) > len(self._content):
            raise damaged_file_error(self._name, "it states more bytes than it has")
        mini_stream = self._chain(root[0])
        if found[1] >= _MINI_STREAM:
            return self._chain(found[0])[: found[1]]
        sectors = self._sectors(found[0], self._mini_fat)
        return b"".join(mini_stream[64 * i : 64 * i + 64] for i in sectors)[: found[1]]

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, self._sectors(start, self._fat)))

    def _sectors(self, start: int, table: list[int]) -> list[int]:
        sectors: list[int] = []
        while start not in (_END, _FREE):
            if start >= len(table) or len(sectors) > len(table):
                raise damaged_file_error(self._name, "a list of sectors leads nowhere")
            sectors.append(start)
            start = table[start]
        return sectors

    def _sector(self, sector: int) -> bytes:
        if sector >= len(self._content) // self._size:
            raise damaged_file_error(self._name, "a sector lies behind its end")
        return self._content[sector * self._size : (sector + 1) * self._size]

    @staticmethod
    def _numbers(content: bytes) -> list[int]:
        return np.frombuffer(content, "<u4").tolist()


def _text(content: bytes, form: str, *, is_old: bool = False) -> str:
    """A text behind its length; before Excel 97 one byte a letter, else a byte tells the size."""
    count, start = struct.unpack_from(form, content)[0], struct.calcsize(form)
    if is_old:
        return content[start : start + count].decode("cp1252", "replace")
    if content[start] & 1:
        return content[start + 1 : start + 1 + 2 * count].decode("utf-16-le", "replace")
    return content[start + 1 : start + 1 + count].decode("latin-1")


def _text_lengths(pieces: Sequence[bytes]) -> list[int]:
    """Letters of every shared text; in a continuing record a byte tells their size anew."""
    lengths: list[int] = []
    piece = position = 0
    while piece < len(pieces):
        content = pieces[piece]
        if position + 3 > len(content):
            piece, position = piece + 1, max(position - len(content), 0)
            continue
        count, flags = struct.unpack_from("<HB", content, position)
        lengths.append(count)
        position += 3
        skipped = 0
        for flag, digits, size in ((8, 2, 4), (4, 4, 1)):  # runs of fonts, phonetic signs
            if flags & flag:
                number = content[position : position + digits]
                position += len(number)
                skipped += size * int.from_bytes(number, "little")
        while count:
            width = 1 + (flags & 1)
            taken = min(count, max(len(pieces[piece]) - position, 0) // width)
            count, position = count - taken, position + taken * width
            if count:
                piece, position = piece + 1, 1
                if piece == len(pieces) or not pieces[piece]:
                    return lengths
                flags = pieces[piece][0]
        position += skipped
    return lengths


def _scan_cells(book: bytes, position: int, extent: SheetExtent, lengths: Sequence[int]) -> None:
    place, half = struct.Struct("<3H"), struct.Struct("<H")
    for kind, start, end in _records(book, position, extent.where):
        if kind in _CELLS:
            row, column, style = place.unpack_from(book, start)
            letters = end - start
            if kind == _SHARED:
                index = struct.unpack_from("<I", book, start + 6)[0]
                letters = lengths[index] if index < len(lengths) else 0
            elif kind in _NUMBERS and book[start + 12 : start + 14] != b"\xff\xff":
                extent.add_numbers(column, style)  # the result of a formula may be a text
            extent.add_cells(row, column, letters=letters)
        elif kind == _MULTIPLE:
            row, column, _ = place.unpack_from(book, start)
            last = half.unpack_from(book, end - 2)[0]
            extent.add_cells(row, column, 1, last - column + 1)
            for i in range(min(last - column + 1, (end - start - 6) // 6)):
                extent.add_numbers(column + i, half.unpack_from(book, start + 4 + 6 * i)[0])
        elif kind == _MERGED:
            count = half.unpack_from(book, start)[0]
            for i in range(min(count, (end - start - 2) // 8)):
                top, bottom, left, right = struct.unpack_from("<4H", book, start + 2 + 8 * i)
                extent.merged.append((top, left, bottom, right))
        elif kind == _COLUMN and book[start + 8] & 1:
            extent.hide_columns(*struct.unpack_from("<2H", book, start))
        elif kind == _DIMENSIONS:
            form = "<2I2H" if end - start >= 14 else "<4H"  # before Excel 97
            top, bottom, left, right = struct.unpack_from(form, book, start)
            if bottom > _ROWS or right > _COLUMNS or top > bottom or left > right:
                raise damaged_file_error(extent.where, "it states more cells than a sheet has")


def _records(book: bytes, position: int, where: str) -> Iterator[tuple[int, int, int]]:
    """The number of every record up to the end's, and where its content begins and ends."""
    while position + 4 <= len(book):
        kind, length = struct.unpack_from("<2H", book, position)
        position += 4
        if kind == _EOF:
            return
        if position + length > len(book):
            raise damaged_file_error(where, "a record is cut short")
        if length >= _MIN_BYTES.get(kind, 0):
            yield kind, position, position + length
        position += length
