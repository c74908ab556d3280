"""The sheets of an OpenDocument spreadsheet, by a pass through its XML that keeps no cell.

Source: OASIS Open Document Format 1.3, part 3, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import EnoughSeen, Extent, Merged, Workbook
from core.datasets.files.spreadsheets.zipped_xml import damaged, opened_archive, plain, scan
from core.errors import UnusableError

MOST_CELLS = 400_000  # odfpy keeps a tree of all, some 2,600 bytes a cell
_MOST_BLANKS = 10_000
_CONTENT = "content.xml"
_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _OFFICE, _TEXT = (f"{_NAMES}{part}:1.0 " for part in ("table", "office", "text"))
_SHEET, _ROW = f"{_TABLE}table", f"{_TABLE}table-row"
_CELL, _COVERED = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a spreadsheet, in order.

    Raises:
        UnusableError: it is damaged.
    """
    names: list[str] = []
    depth = 0

    def started(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if plain(tag) == "encryption-data":
            raise UnusableError(
                "the spreadsheet has a password", where=path.name, cure="save it without one"
            )
        if tag == _SHEET:
            depth += 1
            if depth == 1:
                names.append(attributes.get(f"{_TABLE}name", ""))

    def ended(tag: str) -> None:
        nonlocal depth
        depth -= tag == _SHEET

    with opened_archive(path) as archive:
        if "META-INF/manifest.xml" in archive.namelist():
            scan(archive, "META-INF/manifest.xml", path.name, started)
        scan(archive, _CONTENT, path.name, started, ended)

    def scan_sheet(extent: Extent, enough: bool) -> None:
        with opened_archive(path) as archive:
            reader = _Cells(extent, enough)
            scan(archive, _CONTENT, path.name, reader.started, reader.ended)
        extent.merged = reader.merged

    return Workbook(tuple(dict.fromkeys(names)), scan_sheet, "odf", MOST_CELLS)


@dataclass
class _Cells:
    """Takes note of every cell of one sheet while the XML of all passes.

    Rows and cells that are equal to the ones before are not written again: they have a count.
    """

    extent: Extent
    enough: bool

    def __post_init__(self) -> None:
        self.merged: list[Merged] = []
        self._depth = 0
        self._inside = self._seen = False
        self._row = self._column = 0
        self._rows = 1  # of the row that is being read

    def started(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if tag == _SHEET:
            self._depth += 1
            if self._depth == 1:
                named = attributes.get(f"{_TABLE}name", "") == self.extent.name
                self._inside, self._seen = named and not self._seen, self._seen or named
            elif self._inside:
                raise damaged(self.extent.where, "a cell holds a table")
        elif not self._inside:
            return
        elif tag == _ROW:
            self._rows = self._number(attributes.get(f"{_TABLE}number-rows-repeated", "1"))
            self._column = 0
        elif tag in (_CELL, _COVERED):
            self._cell(attributes, covered=tag == _COVERED)
        elif tag == f"{_TEXT}s" and self._number(attributes.get(f"{_TEXT}c", "1")) > _MOST_BLANKS:
            raise damaged(self.extent.where, "a cell is a very long run of blanks")

    def ended(self, tag: str) -> None:
        """An element ends."""
        if tag == _SHEET:
            self._depth -= 1
            self._inside = self._inside and self._depth > 0
        elif tag == _ROW and self._inside:
            self._row += self._rows

    def _cell(self, attributes: dict[str, str], *, covered: bool) -> None:
        columns = self._number(attributes.get(f"{_TABLE}number-columns-repeated", "1"))
        kind = attributes.get(f"{_OFFICE}value-type", "")
        if kind and (not covered or f"{_OFFICE}value" in attributes):
            self.extent.count(self._row, self._column, self._rows, columns)
            if self.enough and self._rows and columns:
                raise EnoughSeen
        elif f"{_TABLE}formula" in attributes and not kind:
            self.extent.lost[self._column] = self.extent.lost.get(self._column, 0) + 1
        down = self._number(attributes.get(f"{_TABLE}number-rows-spanned", "1"))
        across = self._number(attributes.get(f"{_TABLE}number-columns-spanned", "1"))
        if kind and (down > 1 or across > 1):
            last = self._row + max(down, 1) - 1, self._column + max(across, 1) - 1
            self.merged.append((self._row, self._column, *last))
        self._column += columns

    def _number(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise damaged(self.extent.where, f"“{digits[:20]}” is no count")
        return int(digits)
