"""The sheets of an OpenDocument spreadsheet, by a pass through its XML that stores no cell.

Source: OASIS Open Document Format 1.3, part 3, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import Merged, ScanFinished, SheetExtent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)
from core.errors import UnusableError

MAX_CELLS = 400_000  # odfpy's tree takes some 2,600 bytes per cell
_MAX_BLANKS = 10_000
_CONTENT = "content.xml"
_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _OFFICE, _TEXT = (f"{_NAMES}{namespace}:1.0 " for namespace in ("table", "office", "text"))
_SHEET, _ROW, _BLANKS = f"{_TABLE}table", f"{_TABLE}table-row", f"{_TEXT}s"
_CELL, _COVERED = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a spreadsheet, in order; raises UnusableError if damaged."""
    names: list[str] = []
    depth = 0

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if local_name(tag) == "encryption-data":
            fault = "the spreadsheet has a password"
            raise UnusableError(fault, where=path.name, cure="save it without one")
        if tag == _SHEET:
            depth += 1
            if depth == 1:
                names.append(attributes.get(f"{_TABLE}name", ""))

    def on_end(tag: str) -> None:
        nonlocal depth
        depth -= tag == _SHEET

    with open_archive(path) as archive:
        if "META-INF/manifest.xml" in archive.namelist():
            parse_part(archive, "META-INF/manifest.xml", path.name, on_start)
        parse_part(archive, _CONTENT, path.name, on_start, on_end)

    def scan_sheet(extent: SheetExtent, enough: bool) -> None:
        with open_archive(path) as archive:
            reader = _Cells(extent, enough)
            parse_part(archive, _CONTENT, path.name, reader.start_element, reader.end_element)
        extent.merged = reader.merged

    return Workbook(tuple(dict.fromkeys(names)), scan_sheet, "odf", MAX_CELLS)


@dataclass
class _Cells:
    """Handles the XML; records every cell of one sheet."""

    extent: SheetExtent
    enough: bool

    def __post_init__(self) -> None:
        self.merged: list[Merged] = []
        self._depth = 0
        self._inside = self._seen = False
        self._row = self._column = 0
        self._rows = 1  # equal rows and cells are stored once, with a count

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        if tag == _SHEET:
            self._depth += 1
            if self._depth == 1:
                named = attributes.get(f"{_TABLE}name", "") == self.extent.name
                self._inside, self._seen = named and not self._seen, self._seen or named
            elif self._inside:
                raise damaged_file_error(self.extent.where, "a cell holds a table")
        elif not self._inside:
            return
        elif tag == _ROW:
            self._rows = self._parse_count(attributes.get(f"{_TABLE}number-rows-repeated", "1"))
            self._column = 0
        elif tag in (_CELL, _COVERED):
            self._read_cell(attributes, covered=tag == _COVERED)
        elif tag == _BLANKS and self._parse_count(attributes.get(f"{_TEXT}c", "1")) > _MAX_BLANKS:
            raise damaged_file_error(self.extent.where, "a cell is a very long run of blanks")

    def end_element(self, tag: str) -> None:
        """Handle the end of an element."""
        if tag == _SHEET:
            self._depth -= 1
            self._inside = self._inside and self._depth > 0
        elif tag == _ROW and self._inside:
            self._row += self._rows

    def _read_cell(self, attributes: dict[str, str], *, covered: bool) -> None:
        columns = self._parse_count(attributes.get(f"{_TABLE}number-columns-repeated", "1"))
        kind = attributes.get(f"{_OFFICE}value-type", "")
        if kind and (not covered or f"{_OFFICE}value" in attributes):
            self.extent.add_cells(self._row, self._column, self._rows, columns)
            if self.enough and self._rows and columns:
                raise ScanFinished
        elif f"{_TABLE}formula" in attributes and not kind:
            self.extent.lost[self._column] = self.extent.lost.get(self._column, 0) + 1
        down = self._parse_count(attributes.get(f"{_TABLE}number-rows-spanned", "1"))
        across = self._parse_count(attributes.get(f"{_TABLE}number-columns-spanned", "1"))
        if kind and (down > 1 or across > 1):
            last = self._row + max(down, 1) - 1, self._column + max(across, 1) - 1
            self.merged.append((self._row, self._column, *last))
        self._column += columns

    def _parse_count(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise damaged_file_error(self.extent.where, f"“{digits[:20]}” is no count")
        return int(digits)
