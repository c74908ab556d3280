"""A workbook as it was given: its XML byte by byte, with cells of answers behind a sheet's rows.

ECMA-376, Office Open XML, part 1, chapter 18; OASIS Open Document Format 1.3, part 3, chapter 9.
"""

import io
import re
import shutil
import tempfile
import zipfile
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import IO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from core.datasets.files import xml_sheets
from core.datasets.files.sheet_table import SheetFile, column_letters
from core.datasets.files.workbook import CONTENT, damaged_file_error, open_archive
from core.errors import UnusableError
from core.export.destination import OutputForm
from core.export.own_table.answer_rows import (
    Answers,
    Cell,
    ReadTable,
    answer_text,
    check_row_count,
    is_empty,
)
from core.export.own_table.text_lines import formulas_sentence
from core.export.spreadsheet_cells import is_formula

MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 2**20, 2**14, 32_767  # of a sheet, in spreadsheet programs
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:[.,]\d{1,14})?")
_DECIMALS = 15  # styles of numbers: with 0, 1, … 14 digits behind the sign
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML
_SHEET_START = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet '
    b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
)
_PIECE = 2**18  # bytes unpacked at a time
HELD = "formulas, merged cells, links or comments"
# What says or takes the addresses of rows, which others would have once they are sorted.
_BOUND = re.compile(
    rb"<(?:\w+:)?(?:f|mergeCell|hyperlink|legacyDrawing)[\s/>]"
    rb"""|\stable:(?:formula=|number-rows-spanned=["'](?!1["']))"""
)
_MAX_BOUND = 40  # bytes of a match
_ROW_NUMBER = re.compile(rb"""(<(?:\w+:)?(?:row|c)\s(?:[^<>]*?\s)?r\s*=\s*["'][A-Z$]*)\d+""")
_SPANS = re.compile(rb"""\sspans\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(frozen=True)
class SheetTable(ReadTable):
    """The table of a sheet."""

    file: SheetFile

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        """Whether a file of this form may be the workbook itself, with cells added."""
        if form.ending == self.file.path.suffix.lower():
            is_same = self.file.kind in ("xlsx", "ods")
            return is_same and not (answers.is_sorted and self._is_bound())
        if form.ending != ".xlsx" or self.file.kind != "xlsx":
            return False
        with open_archive(self.file.path) as archive:  # a workbook with macros is another type
            if b"spreadsheetml.sheet.main+xml" not in archive.read("[Content_Types].xml"):
                return False
        return not (answers.is_sorted and self._is_bound())

    @property
    def _part_name(self) -> str:
        return self.file.sheet_extent.part_name or CONTENT

    def _is_bound(self) -> bool:
        with open_archive(self.file.path) as archive, archive.open(self._part_name) as stream:
            end = b""
            while piece := stream.read(_PIECE):
                if _BOUND.search(end + piece):
                    return True
                end = piece[-_MAX_BOUND:]
        return False

    def write_file(self, path: Path, form: OutputForm, answers: Answers) -> list[str]:
        """Write the workbook with answers; UnusableError also where the sheet is full."""
        extent = self.file.sheet_extent
        # Behind every cell of the sheet, also behind those that are no part of the table.
        start = max(extent.width, *(column + 1 for column in extent.lost), 0)
        if start + len(answers.columns) > MAX_COLUMNS:
            cure = "end the name in .csv or .parquet"
            raise UnusableError("the sheet has no room for columns", where=extent.where, cure=cure)
        raw = self.raw_table
        row_numbers = [raw.line_of(row) for row in range(len(raw.table))]
        names = answers.names_beside(self.names) if self.has_header else None
        kind = _XlsxRows if self.file.kind == "xlsx" else _OdsRows
        rows = kind(self.file.sheet_name, start, row_numbers, answers, names, bool(raw.units))
        with open_archive(self.file.path) as archive:
            rows.find_edits(archive, self._part_name, self.file.path.name)
        check_row_count(answers, len(row_numbers), self.file.path.name)
        _copy_archive(self.file.path, self._part_name, rows, path)
        if names is None:
            return [f"The sheet has no header; behind it stand: {', '.join(answers.columns)}."]
        return []


@dataclass
class _Edit:
    # Bytes of a part that are replaced by others, or kept but for their spans.
    start: int
    end: int
    content: bytes = b""
    keeps: bool = False


@dataclass
class _RowSpan:
    # A stored row of the table, or several equal ones in one.
    start: int
    end: int
    number: int  # of its first row in the sheet
    row: int  # of the table, from 0


@dataclass
class _SheetRows:
    sheet: str
    start: int  # the column of the first answer, from 0
    row_numbers: Sequence[int]  # of the table's rows in the sheet, from 1
    answers: Answers
    names: list[str] | None  # above the answers; None for none
    has_units: bool  # in a row between the names and the table
    edits: list[_Edit] = field(default_factory=list)
    spans: list[_RowSpan] = field(default_factory=list)  # of rows with answers
    written_count: int = 0  # rows with answers

    def __post_init__(self) -> None:
        self._parser = expat.ParserCreate()
        # These end where the next thing begins.
        self._open_edit: _Edit | None = None
        self._open_span: _RowSpan | None = None
        self._row_start = 0  # of the current row, in bytes
        self._answer_rows = self.answers.rows()
        self._header: list[_Edit] = []  # put the names into a row above the table
        self._row = self._column = 0  # the current row, from 1; the current cell's column, from 0
        self._insert_at = -1  # where answers go in the current row; -1 for its end
        self._is_filled = False  # whether the current row has a cell

    def find_edits(self, archive: zipfile.ZipFile, part_name: str, name: str) -> None:
        """Find all changes of a part; raises UnusableError if it is damaged."""
        parser = self._parser
        parser.StartElementHandler = self._note_start
        parser.EndElementHandler = self._note_end
        parser.DefaultHandler = lambda _: self._close_edit()
        parser.CharacterDataHandler = lambda _: self._close_edit()
        try:
            with archive.open(part_name) as stream:
                while piece := stream.read(_PIECE):
                    parser.Parse(piece, False)
                parser.Parse(b"", True)
        except (expat.ExpatError, LookupError) as error:
            raise damaged_file_error(name, str(error)) from None
        self.edits.sort(key=lambda edit: edit.start)

    def _note_start(self, tag: str, attributes: dict[str, str]) -> None:
        self._close_edit()
        self._start_element(tag, attributes)

    def _note_end(self, tag: str) -> None:
        self._close_edit()
        self._end_element(tag)

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        raise NotImplementedError

    def _end_element(self, tag: str) -> None:
        raise NotImplementedError

    def _begin_edit(self, *, keeps: bool = False) -> None:
        self._open_edit = _Edit(self._parser.CurrentByteIndex, -1, keeps=keeps)

    def _close_edit(self) -> None:
        if self._open_edit is not None:
            self._open_edit.end = self._parser.CurrentByteIndex
            self.edits.append(self._open_edit)
            self._open_edit = None
        if self._open_span is not None:
            self._open_span.end = self._parser.CurrentByteIndex
            self.spans.append(self._open_span)
            self._open_span = None

    def _end_row(self, repeats: int, tag: str) -> None:
        table_rows, end = self.row_numbers, self._parser.CurrentByteIndex
        start = self._insert_at if self._insert_at >= 0 else end
        # The names go into the last filled row above the table.
        is_above = not self.written_count and len(table_rows) and self._row < table_rows[0]
        if is_above and self._is_filled and self.names is not None:
            self._header.append(_Edit(start, end, self._row_cells(self.names, tag)))
        edit: _Edit | None = None
        for _ in range(repeats):
            if self.written_count < len(table_rows) and table_rows[self.written_count] == self._row:
                row = next(self._answer_rows, None)
                if row is not None and edit is None:  # equal rows are stored once: equal answers
                    edit = _Edit(start, end, self._row_cells(row, tag))
                    span = (self._row_start, -1, self._row, self.written_count)
                    self._open_span = _RowSpan(*span)
                self.written_count += row is not None
            self._row += 1
        if edit is not None:
            self.edits += [*self._header[-1 - self.has_units :][:1], edit]
            self._header = []

    def _row_cells(self, row: Sequence[Cell], tag: str) -> bytes:
        raise NotImplementedError


class _XlsxRows(_SheetRows):
    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if local == "dimension":  # it says where the last column is, and may be absent
            self._begin_edit()
        elif local == "row":
            # Rows and cells may lack their address: then they follow the one before.
            self._row = int(attributes["r"]) if "r" in attributes else self._row or 1
            self._column, self._insert_at, self._is_filled = -1, -1, False
            self._row_start = self._parser.CurrentByteIndex
            # The spans say where the row ends, which is no longer true; programs do without them.
            if "spans" in attributes:
                self._begin_edit(keeps=True)
        elif local == "c":
            address = attributes.get("r", "")
            letters = address.rstrip("0123456789").replace("$", "")
            self._column = xml_sheets.column_of(letters) if address else self._column + 1
            if self._column >= self.start and self._insert_at < 0:
                self._insert_at = self._parser.CurrentByteIndex
        elif local in ("v", "t"):
            self._is_filled = True

    def _end_element(self, tag: str) -> None:
        if tag.rpartition(":")[2] == "row":
            self._end_row(1, tag)

    def _row_cells(self, row: Sequence[Cell], tag: str) -> bytes:
        prefix = tag.removesuffix("row")
        cells = (
            sheet_cell(cell, f"{column_letters(self.start + index)}{self._row}", prefix)
            for index, cell in enumerate(row)
            if not is_empty(cell)
        )
        return "".join(cells).encode("utf-8", "replace")


class _OdsRows(_SheetRows):
    def __post_init__(self) -> None:
        super().__post_init__()
        self._inside = self._seen = False
        self._repeats = 1
        self._width = 0  # columns of the current row that stay

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "table:table":
            self._inside = attributes.get("table:name") == self.sheet and not self._seen
            self._seen = self._seen or self._inside
            self._row = 1
        elif not self._inside:
            return
        elif tag == "table:table-row":
            self._repeats = int(attributes.get("table:number-rows-repeated", "1"))
            self._column, self._insert_at, self._is_filled = 0, -1, False
            self._row_start = self._parser.CurrentByteIndex
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            # Equal neighbours are stored as one cell with a count.
            columns = int(attributes.get("table:number-columns-repeated", "1"))
            self._is_filled = self._is_filled or "office:value-type" in attributes
            if self._column + columns > self.start and self._insert_at < 0:
                self._insert_at, self._width = self._parser.CurrentByteIndex, self._column
            self._column += columns

    def _end_element(self, tag: str) -> None:
        if tag == "table:table":
            self._inside = False
        elif tag == "table:table-row" and self._inside:
            self._width = self._width if self._insert_at >= 0 else self._column
            self._end_row(self._repeats, tag)

    def _row_cells(self, row: Sequence[Cell], tag: str) -> bytes:
        gap, empty = self.start - self._width, ""
        if gap > 0:
            empty = f'<table:table-cell table:number-columns-repeated="{gap}"/>'
        return f"{empty}{''.join(map(_ods_cell, row))}".encode("utf-8", "replace")


def _ods_cell(cell: Cell) -> str:
    if is_empty(cell):
        return "<table:table-cell/>"
    text = escape(sheet_text(answer_text(cell)))
    kind = 'office:value-type="string"'
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        kind = f'office:value-type="float" office:value={quoteattr(repr(cell))}'
    return f"<table:table-cell {kind}><text:p>{text}</text:p></table:table-cell>"


def _copy_archive(source_path: Path, part_name: str, rows: _SheetRows, path: Path) -> None:
    with zipfile.ZipFile(source_path) as archive, zipfile.ZipFile(path, "w") as copy:
        for entry in archive.infolist():
            with (
                archive.open(entry) as source,
                copy.open(_entry_like(entry), "w", force_zip64=entry.file_size > 2**30) as target,
            ):
                # The other parts stay as they are, in pieces: media may be larger than memory.
                if entry.filename != part_name:
                    shutil.copyfileobj(source, target, _PIECE)
                elif rows.answers.is_sorted:
                    _copy_sorted(source, rows, target)
                else:
                    _copy_edited(source, rows.edits, target)
                    shutil.copyfileobj(source, target, _PIECE)


def _copy_sorted(source: IO[bytes], rows: _SheetRows, target: IO[bytes]) -> None:
    spans, starts = rows.spans, [edit.start for edit in rows.edits]
    order = rows.answers.order()
    ranks = np.empty(len(order), dtype=int)
    ranks[order] = np.arange(len(order))

    with tempfile.TemporaryFile() as sheet:
        shutil.copyfileobj(source, sheet, _PIECE)

        def copy(start: int, end: int, target: IO[bytes]) -> None:
            sheet.seek(start)
            edits = rows.edits[bisect_left(starts, start) : bisect_left(starts, end)]
            _copy_edited(sheet, edits, target, start, end)

        position = 0
        for slot, span in zip(spans, sorted(spans, key=lambda span: ranks[span.row]), strict=True):
            copy(position, slot.start, target)
            row = io.BytesIO()
            copy(span.start, span.end, row)
            target.write(_ROW_NUMBER.sub(rb"\g<1>%d" % slot.number, row.getvalue()))
            position = slot.end
        copy(position, sheet.seek(0, io.SEEK_END), target)


def _entry_like(entry: zipfile.ZipInfo) -> zipfile.ZipInfo:
    like = zipfile.ZipInfo(entry.filename, entry.date_time)
    like.compress_type = (
        entry.compress_type if entry.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
    )
    like.external_attr = entry.external_attr
    return like


def _copy_edited(
    source: IO[bytes], edits: Sequence[_Edit], target: IO[bytes], position: int = 0, end: int = 0
) -> None:
    # Up to `end`, or the end of the last edit, from `position`, where the source stands.
    for edit in (*edits, _Edit(end, end)):
        while position < edit.start and (piece := source.read(min(_PIECE, edit.start - position))):
            target.write(piece)
            position += len(piece)
        dropped = source.read(edit.end - position) if edit.end > position else b""
        position += len(dropped)
        target.write(_SPANS.sub(b"", dropped) if edit.keeps else edit.content)


# A new workbook ---------------------------------------------------------------------------


def write_workbook(
    path: Path,
    names: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    name: str,
    number_columns: Collection[int] = (),
) -> list[str]:
    """Write an Excel workbook of one sheet; UnusableError where the table does not fit in it."""
    # In number columns, a text that is a number becomes one that shows as many digits as it had;
    # every other text stays a text, which no spreadsheet calculates.
    formulas = 0
    # All but the sheet; its styles 0, 1 … 14 show a number with as many digits behind the sign.
    path.write_bytes((files("resources") / "workbook.zip").read_bytes())
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream,
    ):
        sheet = io.BufferedWriter(stream)
        sheet.write(_SHEET_START)
        for number, row in enumerate(chain([names], rows), 1):
            if number > MAX_ROWS or len(row) > MAX_COLUMNS:
                fault = f"a sheet holds {MAX_ROWS:,} rows of {MAX_COLUMNS:,} columns at most"
                raise UnusableError(fault, where=name, cure="end the name in .csv or .parquet")
            formulas += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
            indices = number_columns if number > 1 else ()
            cells = (_sheet_cell(c, is_number=i in indices) for i, c in enumerate(row))
            sheet.write(f'<row r="{number}">{"".join(cells)}</row>'.encode())
        sheet.write(b"</sheetData></worksheet>")
        sheet.flush()
        # The archive closes its entry, so the buffer must not.
        sheet.detach()
    return [formulas_sentence(formulas)] if formulas else []


def columns_of_numbers(rows: Iterable[Sequence[Cell]], width: int) -> set[int]:
    """The indices of columns in whose rows every text is a number, and no code such as 007."""
    indices = set(range(width))
    for row in rows:
        filled = [index for index in indices if not is_empty(row[index])]
        indices -= {p for p in filled if not _NUMBER.fullmatch(str(row[p]).strip())}
    return indices


def _sheet_cell(cell: Cell, *, is_number: bool) -> str:
    if is_empty(cell):
        return "<c/>"
    if isinstance(cell, str) and is_number and _NUMBER.fullmatch(cell):
        digits = cell.replace(",", ".")
        decimals = len(digits.partition(".")[2])
        if decimals < _DECIMALS and len(digits.lstrip("-0.").replace(".", "")) <= 15:
            return f'<c s="{decimals}"><v>{digits}</v></c>'
    return sheet_cell(cell)


def sheet_cell(cell: Cell, address: str = "", prefix: str = "") -> str:
    """The XML of a cell of a sheet; a text stays a text, whatever it begins with."""
    where = f' r="{address}"' if address else ""
    if isinstance(cell, bool):
        return f'<{prefix}c{where} t="b"><{prefix}v>{int(cell)}</{prefix}v></{prefix}c>'
    if isinstance(cell, (int, float)) and abs(cell) < 10**15:  # beyond, digits would be lost
        return f"<{prefix}c{where}><{prefix}v>{cell!r}</{prefix}v></{prefix}c>"
    text = escape(sheet_text(answer_text(cell)))
    inner = f'<{prefix}t xml:space="preserve">{text}</{prefix}t>'
    return f'<{prefix}c{where} t="inlineStr"><{prefix}is>{inner}</{prefix}is></{prefix}c>'


def sheet_text(text: str) -> str:
    """A text as a sheet can hold it."""
    # Spreadsheet programs call a whole file damaged for one such letter.
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)[:MAX_LETTERS]
