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
from core.datasets.files.spreadsheets.workbook import SheetExtent, Workbook, scanned_workbook
from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error
from core.errors import UnusableError

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER, _ENTRY, _MINI_STREAM = 512, 128, 4096  # bytes; a smaller stream is in the mini stream
_END, _FREE = 0xFFFFFFFE, 0xFFFFFFFF
_ROWS, _COLUMNS = 2**16, 2**8  # of a sheet
_EOF, _PASSWORD, _SHEET, _STRINGS, _DIMENSIONS, _MERGED = 0x0A, 0x2F, 0x85, 0xFC, 0x200, 0xE5
_CONTINUED, _SHARED, _MULTIPLE = 0x3C, 0xFD, 0xBD  # the last: several cells of a row
_CELLS = frozenset((0x06, 0x203, 0x204, 0x205, 0x27E, 0xFD, 0xD6))


def read_sheets(path: Path) -> Workbook:
    """The sheets of a workbook, hidden ones last; raises UnusableError if damaged or too large."""
    with file_faults(path.name):
        content = path.read_bytes()
    book = _CompoundFile(content, path.name).workbook_stream()
    sheets = sorted(_sheets(book, path.name), key=lambda sheet: sheet[0])
    lengths = _text_lengths(book, path.name)
    extents = []
    for _, name, position in sheets:
        extent = SheetExtent(name, f"{path.name}, sheet {name}")
        _scan_cells(book, position, extent, lengths)
        extents.append(extent)
    return scanned_workbook(extents)


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
        self._max_sectors = len(self._content) // self._size
        fats, start, _, _, mini_start, n_mini, difat_start, n_difat = struct.unpack_from(
            "<8I", content, 44
        )
        if max(fats, n_mini, n_difat, struct.unpack_from("<I", content, 40)[0]) > len(content):
            raise damaged_file_error(name, "it states more sectors than it has")
        sectors = list(struct.unpack_from("<109I", content, 76))
        for _ in range(self._max_sectors + 1):
            if difat_start in (_END, _FREE):
                break
            more = np.frombuffer(self._sector(difat_start), "<u4").tolist()
            sectors += more[:-1]
            difat_start = more[-1]
        else:
            raise damaged_file_error(name, "its list of sectors runs in a circle")
        fat = b"".join(self._sector(sector) for sector in sectors if sector != _FREE)
        self._fat = np.frombuffer(fat, "<u4").tolist()
        self._directory = self._chain(start)
        self._mini_fat = np.frombuffer(self._chain(mini_start), "<u4").tolist()

    def workbook_stream(self) -> bytes:
        streams: dict[str, tuple[int, int]] = {}
        for i in range(0, len(self._directory) - _ENTRY + 1, _ENTRY):
            entry = self._directory[i : i + _ENTRY]
            name = entry[:64].decode("utf-16-le", "replace").partition("\0")[0]
            start, size, high = struct.unpack_from("<3I", entry, 116)
            if self._size > 512:
                size |= high << 32
            streams.setdefault(name, (start, size))
        root = next(iter(streams.values()), (_END, 0))
        if "EncryptedPackage" in streams:
            raise _password_error(self._name)
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
        pieces = (mini_stream[64 * sector : 64 * sector + 64] for sector in sectors)
        return b"".join(pieces)[: found[1]]

    def _chain(self, start: int) -> bytes:
        return b"".join(self._sector(sector) for sector in self._sectors(start, self._fat))

    def _sectors(self, start: int, table: list[int]) -> list[int]:
        sectors: list[int] = []
        while start not in (_END, _FREE):
            if start >= len(table) or len(sectors) > len(table):
                raise damaged_file_error(self._name, "a list of sectors leads nowhere")
            sectors.append(start)
            start = table[start]
        return sectors

    def _sector(self, sector: int) -> bytes:
        if sector >= self._max_sectors:
            raise damaged_file_error(self._name, "a sector lies behind its end")
        return self._content[sector * self._size : (sector + 1) * self._size]


def _sheets(book: bytes, name: str) -> Iterator[tuple[bool, str, int]]:
    """Whether each sheet is hidden, its name and where its records begin."""
    is_biff8 = book[4:6] == b"\x00\x06"
    for kind, start, end in _records(book, 0, name):
        if kind == _PASSWORD:
            raise _password_error(name)
        if kind == _STRINGS and struct.unpack_from("<I", book, start + 4)[0] > len(book):
            raise damaged_file_error(name, "it states more texts than it has")
        if kind != _SHEET or end - start < 8 or book[start + 5] != 0:  # 0: no chart, no macros
            continue
        length, text = book[start + 6], book[start + 7 : end]
        if not is_biff8:
            sheet = text[:length].decode("cp1252", "replace")
        elif text[0] & 1:
            sheet = text[1 : 1 + 2 * length].decode("utf-16-le", "replace")
        else:
            sheet = text[1 : 1 + length].decode("latin-1")
        is_hidden = book[start + 4] & 0x3F != 0
        yield is_hidden, sheet.replace("\0", ""), struct.unpack_from("<I", book, start)[0]


def _text_lengths(book: bytes, name: str) -> list[int]:
    """Letters of every shared text; in a continuing record a byte tells their size anew."""
    pieces: list[bytes] = []
    for kind, start, end in _records(book, 0, name):
        if kind == _STRINGS:
            pieces.append(book[start + 8 : end])
        elif pieces and kind == _CONTINUED:
            pieces.append(book[start:end])
        elif pieces:
            break
    lengths: list[int] = []
    piece = position = 0
    while piece < len(pieces):
        if position + 3 > len(pieces[piece]):
            piece, position = piece + 1, 0
            continue
        count, flags = struct.unpack_from("<HB", pieces[piece], position)
        lengths.append(count)
        position += 3
        skipped = 0
        if flags & 8 and position + 2 <= len(pieces[piece]):
            skipped = 4 * int(struct.unpack_from("<H", pieces[piece], position)[0])
            position += 2
        if flags & 4 and position + 4 <= len(pieces[piece]):
            skipped += struct.unpack_from("<I", pieces[piece], position)[0]
            position += 4
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
        while piece < len(pieces) and position >= len(pieces[piece]):
            piece, position = piece + 1, position - len(pieces[piece])
    return lengths


def _scan_cells(book: bytes, position: int, extent: SheetExtent, lengths: Sequence[int]) -> None:
    place, add_cells = struct.Struct("<2H"), extent.add_cells
    for kind, start, end in _records(book, position, extent.where):
        if kind in _CELLS and end - start >= 4:
            row, column = place.unpack_from(book, start)
            _check_column(column, extent)
            letters = end - start
            if kind == _SHARED and letters >= 10:
                index = struct.unpack_from("<I", book, start + 6)[0]
                letters = lengths[index] if index < len(lengths) else 0
            add_cells(row, column, letters=letters)
        elif kind == _MULTIPLE and end - start >= 6:
            row, column = place.unpack_from(book, start)
            _check_column(last := struct.unpack_from("<H", book, end - 2)[0], extent)
            add_cells(row, column, 1, last - column + 1)
        elif kind == _MERGED and end - start >= 2:
            count = struct.unpack_from("<H", book, start)[0]
            for i in range(min(count, (end - start - 2) // 8)):
                top, bottom, left, right = struct.unpack_from("<4H", book, start + 2 + 8 * i)
                extent.merged.append((top, left, bottom, right))
        elif kind == _DIMENSIONS and end - start >= 10:
            form = "<2I2H" if end - start >= 14 else "<4H"  # before Excel 97
            top, bottom, left, right = struct.unpack_from(form, book, start)
            if bottom > _ROWS or right > _COLUMNS or top > bottom or left > right:
                raise damaged_file_error(extent.where, "it states more cells than a sheet has")


def _check_column(column: int, extent: SheetExtent) -> None:
    if column >= _COLUMNS:
        raise damaged_file_error(extent.where, "a cell lies beyond the last column of a sheet")


def _records(book: bytes, position: int, where: str) -> Iterator[tuple[int, int, int]]:
    """The number of every record up to the end's, and where its content begins and ends."""
    while position + 4 <= len(book):
        kind, length = struct.unpack_from("<2H", book, position)
        position += 4
        if kind == _EOF:
            return
        if position + length > len(book):
            raise damaged_file_error(where, "a record is cut short")
        yield kind, position, position + length
        position += length


def _password_error(name: str) -> UnusableError:
    return UnusableError("the workbook has a password", where=name, cure="save it without one")
