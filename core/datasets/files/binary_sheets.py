"""The sheets of binary Excel workbooks (.xls, .xlsb), by a pass through their records.

An .xls is a file system whose stream "Workbook" is a row of records; stated sizes are checked.
Sources: Microsoft, [MS-CFB]: Compound File Binary File Format, section 2; [MS-XLS] and [MS-XLSB]:
Excel Binary File Formats, sections 2.1.4 and 2.4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from core.datasets.files.file_bytes import file_faults
from core.datasets.files.workbook import (
    SheetExtent,
    damaged_file_error,
    forms_of_styles,
    open_archive,
    other_document_error,
    password_error,
    scanned_sheets,
)
from core.datasets.files.xml_sheets import part_links

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of .xls
_HEADER, _ENTRY, _MINI_STREAM = 512, 128, 4096  # bytes; a smaller stream is in the mini stream
_END, _FREE = 0xFFFFFFFE, 0xFFFFFFFF
_ROWS, _COLUMNS = 2**16, 2**8  # of a sheet of .xls
# The numbers of the records of .xls, and how long they are at least.
_EOF, _PASSWORD, _SHEET, _STRINGS, _DIMENSIONS, _MERGED = 0x0A, 0x2F, 0x85, 0xFC, 0x200, 0xE5
_CONTINUED, _SHARED, _MULTIPLE = 0x3C, 0xFD, 0xBD  # the last: several cells of a row
_COLUMN, _FORMAT, _STYLE, _FORMULA = 0x7D, 0x41E, 0xE0, 0x06
_CELLS = frozenset((_FORMULA, 0x203, 0x204, 0x205, 0x27E, _SHARED, 0xD6))
_NUMBERS = frozenset((_FORMULA, 0x203, 0x27E))
_MIN_BYTES = {_SHEET: 8, _STRINGS: 8, _SHARED: 10, _MULTIPLE: 12, _MERGED: 2, _DIMENSIONS: 10}
_MIN_BYTES |= {_COLUMN: 10, _FORMAT: 5, _STYLE: 4} | dict.fromkeys(_CELLS - {_SHARED}, 6)
# The parts of an .xlsb, and the same of its records.
_BOOK, _PARTS = "xl/workbook.bin", ("xl/workbook.bin", "xl/sharedStrings.bin", "xl/styles.bin")
_B_ROW, _B_SHEET, _B_MERGED, _B_SHARED, _B_TEXT, _B_COLUMN = 0x00, 0x9C, 0xB0, 0x07, 0x13, 0x3C
_B_FORMAT, _B_STYLE, _B_STYLES_BEGIN, _B_STYLES_END = 0x2C, 0x2F, 0x269, 0x26A
_B_CELLS = frozenset(range(0x02, 0x0C))  # with a value, that of a formula included
_B_NUMBERS = frozenset((0x02, 0x05, 0x09))
_B_MIN_BYTES = {_B_ROW: 4, _B_SHEET: 12, _B_MERGED: 16, _B_TEXT: 5, _B_COLUMN: 18}
_B_MIN_BYTES |= {_B_FORMAT: 6, _B_STYLE: 4} | dict.fromkeys(_B_CELLS, 9)
_HALF, _WORD, _unpack = struct.Struct("<H"), struct.Struct("<I"), struct.unpack_from
Records = Iterator[tuple[int, int, int]]  # a record's number, where its content begins and ends


def read_xlsb(path: Path) -> list[SheetExtent]:
    """The sheets of an .xlsb, not yet looked at."""
    with open_archive(path) as archive:
        links, names = part_links(archive, _BOOK, path.name), set(archive.namelist())
        book, texts, styles = (archive.read(p) if p in names else b"" for p in _PARTS)
    lengths = [
        _WORD.unpack_from(texts, start + 1)[0]
        for kind, start, _ in _xlsb_records(texts, path.name)
        if kind == _B_TEXT
    ]
    codes, ids, is_style = dict[int, str](), list[int](), False
    for kind, start, end in _xlsb_records(styles, path.name):
        is_style = kind == _B_STYLES_BEGIN or (is_style and kind != _B_STYLES_END)
        if kind == _B_FORMAT:
            codes[_HALF.unpack_from(styles, start)[0]] = _wide_text(styles[:end], start + 2)[0]
        elif kind == _B_STYLE and is_style:
            ids.append(_HALF.unpack_from(styles, start + 2)[0])

    def scan(extent: SheetExtent) -> None:
        with open_archive(path) as archive:
            _scan_xlsb(archive.read(extent.part_name), extent)

    sheets, forms = list[SheetExtent](), forms_of_styles(ids, codes)
    parts = {link_id: part_name for link_id, part_name, kind in links if kind == "worksheet"}
    for kind, start, end in _xlsb_records(book, path.name):
        if kind == _B_SHEET:
            link, place = _wide_text(book[:end], start + 8)
            if part_name := parts.get(link):
                name, is_hidden = _wide_text(book[:end], place)[0], book[start] != 0
                sheet = SheetExtent(name, path.name, is_hidden, scan, part_name, lengths, forms)
                sheets.append(sheet)
    return sheets


def _scan_xlsb(content: bytes, extent: SheetExtent) -> None:
    row, word = -1, _WORD.unpack_from
    for kind, start, end in _xlsb_records(content, extent.where):
        if kind in _B_CELLS:
            column, letters = word(content, start)[0], end - start
            if kind == _B_SHARED and letters >= 12:
                letters = extent.shared_letters(word(content, start + 8)[0])
            elif kind in _B_NUMBERS:
                # Three bytes are the style, the fourth holds flags.
                extent.add_numbers(column, word(content, start + 4)[0] & 0xFFFFFF)
            extent.add_cells(row, column, letters=letters)
        elif kind == _B_ROW:
            row = word(content, start)[0]
        elif kind == _B_MERGED:
            top, bottom, left, right = _unpack("<4I", content, start)
            extent.merged.append((top, left, bottom, right))
        elif kind == _B_COLUMN and content[start + 16] & 1:
            extent.hide_columns(*_unpack("<2I", content, start))


def _xlsb_records(content: bytes, where: str) -> Records:
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
            if length >= _B_MIN_BYTES.get(kind, 0):
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


def read_xls(path: Path) -> list[SheetExtent]:
    """The sheets of an .xls, in order."""
    with file_faults(path.name):
        content = path.read_bytes()
    book = _CompoundFile(content, path.name).workbook_stream()
    pieces: list[bytes] = []  # of the shared texts
    codes, ids = dict[int, str](), list[int]()
    sheets: list[tuple[int, str, bool]] = []
    last = 0
    for kind, start, end in _xls_records(book, 0, path.name):
        if kind == _PASSWORD:
            raise password_error(path.name)
        if kind == _STRINGS:
            # Memory would be taken for as many texts as are stated.
            if _WORD.unpack_from(book, start + 4)[0] > len(book):
                raise damaged_file_error(path.name, "it states more texts than it has")
            pieces = [book[start + 8 : end]]
        elif kind == _CONTINUED and last in (_STRINGS, _CONTINUED) and pieces:
            pieces.append(book[start:end])
        elif kind == _FORMAT:
            codes[_HALF.unpack_from(book, start)[0]] = _text(book[start + 2 : end], _HALF)
        elif kind == _STYLE:
            ids.append(_HALF.unpack_from(book, start + 2)[0])
        elif kind == _SHEET and book[start + 5] == 0:  # others are charts and macros
            is_hidden, is_old = book[start + 4] & 0x3F != 0, book[4:6] != b"\x00\x06"
            name = _text(book[start + 6 : end], struct.Struct("<B"), is_old).replace("\0", "")
            sheets.append((_WORD.unpack_from(book, start)[0], name, is_hidden))
        last = kind
    lengths, forms = _text_lengths(pieces), forms_of_styles(ids, codes)
    extents = []
    for place, name, is_hidden in sheets:
        extent = SheetExtent(name, path.name, is_hidden, lengths=lengths, forms=forms)
        extent.max_rows, extent.max_columns = _ROWS, _COLUMNS
        _scan_xls(book, place, extent)
        extents.append(extent)
    return scanned_sheets(extents)


def _scan_xls(book: bytes, position: int, extent: SheetExtent) -> None:
    half = _HALF.unpack_from
    for kind, start, end in _xls_records(book, position, extent.where):
        if kind in _CELLS:
            row, column, style = _unpack("<3H", book, start)
            letters = end - start
            if kind == _SHARED:
                letters = extent.shared_letters(_WORD.unpack_from(book, start + 6)[0])
            elif kind in _NUMBERS and book[start + 12 : start + 14] != b"\xff\xff":
                extent.add_numbers(column, style)  # the result of a formula may be a text
            extent.add_cells(row, column, letters=letters)
        elif kind == _MULTIPLE:
            (row, column), last = _unpack("<2H", book, start), half(book, end - 2)[0]
            # A record of several cells states its last column behind them.
            extent.add_cells(row, column, 1, last - column + 1)
            for i in range(min(last - column + 1, (end - start - 6) // 6)):
                extent.add_numbers(column + i, half(book, start + 4 + 6 * i)[0])
        elif kind == _MERGED:
            for i in range(min(half(book, start)[0], (end - start - 2) // 8)):
                top, bottom, left, right = _unpack("<4H", book, start + 2 + 8 * i)
                extent.merged.append((top, left, bottom, right))
        elif kind == _COLUMN and book[start + 8] & 1:
            extent.hide_columns(*_unpack("<2H", book, start))
        elif kind == _DIMENSIONS:
            form = "<2I2H" if end - start >= 14 else "<4H"  # before Excel 97
            top, bottom, left, right = _unpack(form, book, start)
            if bottom > _ROWS or right > _COLUMNS or top > bottom or left > right:
                raise damaged_file_error(extent.where, "it states more cells than a sheet has")


def _xls_records(book: bytes, position: int, where: str) -> Records:
    while position + 4 <= len(book):
        kind, length = _unpack("<2H", book, position)
        position += 4
        if kind == _EOF:
            return
        if position + length > len(book):
            raise damaged_file_error(where, "a record is cut short")
        if length >= _MIN_BYTES.get(kind, 0):
            yield kind, position, position + length
        position += length


def _text(content: bytes, count_form: struct.Struct, is_old: bool = False) -> str:
    """A text behind its length; before Excel 97 one byte a letter, else a byte tells the size."""
    count, start = count_form.unpack_from(content)[0], count_form.size
    if is_old:
        return content[start : start + count].decode("cp1252", "replace")
    width = 1 + (content[start] & 1)
    letters = content[start + 1 : start + 1 + width * count]
    return letters.decode("utf-16-le", "replace") if width == 2 else letters.decode("latin-1")


def _text_lengths(pieces: Sequence[bytes]) -> list[int]:
    """Letters of every shared text; in a continuing record a byte tells their size anew."""
    lengths: list[int] = []
    piece = position = 0
    while piece < len(pieces):
        content = pieces[piece]
        if position + 3 > len(content):
            piece, position = piece + 1, max(position - len(content), 0)
            continue
        count, flags = _unpack("<HB", content, position)
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
            # A text may be cut by the end of a record, and its rest have letters of another size.
            taken = min(count, max(len(pieces[piece]) - position, 0) // width)
            count, position = count - taken, position + taken * width
            if count:
                piece, position = piece + 1, 1
                if piece == len(pieces) or not pieces[piece]:
                    return lengths
                flags = pieces[piece][0]
        position += skipped
    return lengths


class _CompoundFile:
    def __init__(self, content: bytes, name: str) -> None:
        self._name = name
        if len(content) < _HEADER:
            raise damaged_file_error(name, "it is cut short")
        shift, mini_shift = _unpack("<2H", content, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise damaged_file_error(name, "its sectors have an odd size")
        self._size = 1 << shift
        self._content = content[self._size :] + bytes(-len(content) % self._size)
        n_directory, n_fat, start, _, _, mini_start, n_mini, difat_start, n_difat = _unpack(
            "<9I", content, 40
        )
        # Sizes are those that a stranger wrote: none is used before it is compared with the file.
        if max(n_directory, n_fat, n_mini, n_difat) > len(content):
            raise damaged_file_error(name, "it states more sectors than it has")
        sectors = list(_unpack("<109I", content, 76))
        for _ in range(len(self._content) // self._size + 1):
            if difat_start in (_END, _FREE):
                break
            *more, difat_start = _numbers(self._sector(difat_start))
            sectors += more
        else:
            raise damaged_file_error(name, "its list of sectors runs in a circle")
        fat = (self._sector(sector) for sector in sectors if sector != _FREE)
        self._fat = _numbers(b"".join(fat))
        self._directory = self._chain(start)
        self._mini_fat = _numbers(self._chain(mini_start))

    def workbook_stream(self) -> bytes:
        streams: dict[str, tuple[int, int]] = {}
        for i in range(0, len(self._directory) - _ENTRY + 1, _ENTRY):
            entry = self._directory[i : i + _ENTRY]
            name = entry[:64].decode("utf-16-le", "replace").partition("\0")[0]
            start, size, high = _unpack("<3I", entry, 116)
            # In files of small sectors writers leave anything in the high half of a size.
            streams.setdefault(name, (start, size | (high << 32 if self._size > 512 else 0)))
        root_start, root_size = next(iter(streams.values()), (_END, 0))
        if "EncryptedPackage" in streams:
            raise password_error(self._name)
        stream = streams.get("Workbook") or streams.get("Book")
        if stream is None:
            raise other_document_error(self._name)
        start, size = stream
        if max(size, root_size) > len(self._content):
            raise damaged_file_error(self._name, "it states more bytes than it has")
        mini_stream = self._chain(root_start)
        if size >= _MINI_STREAM:
            return self._chain(start)[:size]
        sectors = self._sectors(start, self._mini_fat)
        return b"".join(mini_stream[64 * i : 64 * i + 64] for i in sectors)[:size]

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


def _numbers(content: bytes) -> list[int]:
    return np.frombuffer(content, "<u4").tolist()
