"""The sheets of an OpenDocument spreadsheet, by a pass through its XML that stores no cell.

Source: OASIS Open Document Format 1.3, part 3, chapter 9; the usual prefixes are taken for granted.
"""

from __future__ import annotations

from pathlib import Path

from core.datasets.files.spreadsheets.workbook import SheetExtent, Workbook, scanned_workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    CONTENT,
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)
from core.errors import UnusableError

_MAX_BLANKS = 10_000
_MANIFEST = "META-INF/manifest.xml"
_SHEET = "table:table"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a spreadsheet, in order; raises UnusableError if damaged or too large."""

    def refuse_password(tag: str, attributes: dict[str, str]) -> None:
        if local_name(tag) == "encryption-data":
            fault = "the spreadsheet has a password"
            raise UnusableError(fault, where=path.name, cure="save it without one")

    with open_archive(path) as archive:
        if _MANIFEST in archive.namelist():
            parse_part(archive, _MANIFEST, path.name, refuse_password)
        cells = _Cells(path.name)
        parse_part(
            archive, CONTENT, path.name, cells.start_element, cells.end_element, cells.note_text
        )
    return scanned_workbook(cells.extents)


class _Cells:
    def __init__(self, file: str) -> None:
        self.extents: list[SheetExtent] = []
        self._file = file
        self._is_inside = False
        self._row = self._column = 0
        self._times = 0  # that the current cell counts
        self._rows = 1  # equal rows and cells are stored once, with a count

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("table:table-cell", "table:covered-table-cell"):
            if self._is_inside:
                self._read_cell(attributes)
        elif tag == "table:table-row":
            self._rows = self._parse_count(attributes.get("table:number-rows-repeated", "1"))
            self._column = 0
        elif tag == "text:s" and self._parse_count(attributes.get("text:c", "1")) > _MAX_BLANKS:
            raise damaged_file_error(self._file, "a cell is a very long run of blanks")
        elif tag == _SHEET:
            if self._is_inside:
                raise damaged_file_error(self.extents[-1].where, "a cell holds a table")
            self._is_inside, self._row, self._rows = True, 0, 1
            name = attributes.get("table:name", "")
            self.extents.append(SheetExtent(name, f"{self._file}, sheet {name}"))

    def end_element(self, tag: str) -> None:
        if tag == "table:table-row":
            self._row += self._rows
            self._times = 0
        elif tag == _SHEET:
            self._is_inside = False

    def note_text(self, text: str) -> None:
        if self._times:
            self.extents[-1].add_letters(len(text) * self._times)

    def _read_cell(self, attributes: dict[str, str]) -> None:
        extent, columns = self.extents[-1], 1
        if "table:number-columns-repeated" in attributes:
            columns = self._parse_count(attributes["table:number-columns-repeated"])
        if "office:value-type" in attributes:
            letters = len(attributes.get("office:string-value", ""))
            extent.add_cells(self._row, self._column, self._rows, columns, letters)
            self._times = self._rows * columns
            down = self._parse_count(attributes.get("table:number-rows-spanned", "1"))
            across = self._parse_count(attributes.get("table:number-columns-spanned", "1"))
            if down > 1 or across > 1:
                last = self._row + max(down, 1) - 1, self._column + max(across, 1) - 1
                extent.merged.append((self._row, self._column, *last))
        elif "table:formula" in attributes:
            extent.lost[self._column] = extent.lost.get(self._column, 0) + 1
        self._column += columns

    def _parse_count(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise damaged_file_error(self._file, f"“{digits[:20]}” is no count")
        return int(digits)
