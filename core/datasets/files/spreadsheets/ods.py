"""The sheets of an OpenDocument spreadsheet, by a pass through its XML that stores no cell.

Source: OASIS Open Document Format 1.3, part 3, chapter 9; the usual prefixes are taken for granted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

from core.datasets.files.spreadsheets.number_forms import PERCENT, currency_form, number_form
from core.datasets.files.spreadsheets.workbook import (
    CONTENT,
    SheetExtent,
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
    password_error,
    scanned_sheets,
)

_MAX_BLANKS = 10_000
_MANIFEST = "META-INF/manifest.xml"
_SHEET, _ROW = "table:table", "table:table-row"
_CELLS = ("table:table-cell", "table:covered-table-cell")


def read_sheets(path: Path) -> list[SheetExtent]:
    """The sheets of a spreadsheet, in order; raises UnusableError if damaged or too large."""

    def refuse_password(tag: str, _: dict[str, str]) -> None:
        if local_name(tag) == "encryption-data":
            raise password_error(path.name)

    with open_archive(path) as archive:
        if _MANIFEST in archive.namelist():
            parse_part(archive, _MANIFEST, path.name, refuse_password)
        cells = _Cells(path.name)
        handlers = cells.start_element, cells.end_element, cells.note_text
        parse_part(archive, CONTENT, path.name, *handlers)
    return scanned_sheets(cells.extents)


class _Cells:
    def __init__(self, file: str) -> None:
        self.extents: list[SheetExtent] = []
        self._file = file
        self._is_inside = False
        self._row = self._column = 0
        self._times = 0  # that the current cell counts
        self._rows = 1  # equal rows and cells are stored once, with a count
        self._usual: list[str] = []  # styles of the columns' cells
        # Above the sheets: formats of numbers as Excel writes them, and who uses them.
        self._codes: defaultdict[str, str] = defaultdict(str)
        self._forms: dict[Hashable, str] = {}  # by style of a cell, and by value type
        self._long: set[str] = {""}  # formats and styles that show no time of the day
        self._hidden: set[str] = set()  # styles of sheets
        self._format = self._style = ""

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _CELLS:
            if self._is_inside:
                self._read_cell(attributes)
        elif tag == _ROW:
            self._rows = self._count(attributes, "table:number-rows-repeated")
            self._column = 0
        elif tag == "table:table-column" and self._is_inside:
            self._read_column(attributes)
        elif tag == "text:s" and self._count(attributes, "text:c") > _MAX_BLANKS:
            raise damaged_file_error(self._file, "a cell is a very long run of blanks")
        elif tag == _SHEET:
            if self._is_inside:
                raise damaged_file_error(self.extents[-1].where, "a cell holds a table")
            self._is_inside, self._row, self._rows, self._usual = True, 0, 1, []
            is_hidden = attributes.get("table:style-name") in self._hidden
            name = attributes.get("table:name", "")
            self.extents.append(SheetExtent(name, self._file, is_hidden, forms=self._forms))
        elif not self.extents:
            self._read_style(tag, attributes)

    def end_element(self, tag: str) -> None:
        if tag == _ROW:
            self._row += self._rows
            self._times = 0
        elif tag == _SHEET:
            self._is_inside = False
        elif tag == f"number:{tag[7:-6]}-style":
            self._format = ""

    def note_text(self, text: str) -> None:
        if self._times:
            self.extents[-1].add_letters(len(text) * self._times)
        elif self._format and text.strip():
            self._codes[self._format] += f'"{text}"'

    def _read_style(self, tag: str, attributes: dict[str, str]) -> None:
        name = attributes.get("style:name", "")
        if tag in ("number:number-style", "number:currency-style"):
            self._format = name
        elif attributes.get("number:truncate-on-overflow") == "false":  # [hh]:mm counts on
            self._long.add(name)
        elif tag == "number:number":
            digits = min(self._count(attributes, "number:min-integer-digits"), 20)
            decimals = ".0" if attributes.get("number:decimal-places", "0") != "0" else ""
            self._codes[self._format] += "0" * max(1, digits) + decimals
        elif tag == "style:style":
            form, self._style = attributes.get("style:data-style-name", ""), name
            self._forms[name] = number_form(self._codes.get(form, ""))
            # What a style of another part shows is not known.
            is_known = form or attributes.get("style:parent-style-name", "") in ("", "Default")
            if is_known and form in self._long:
                self._long.add(name)
        elif tag == "style:table-properties" and attributes.get("table:display") == "false":
            self._hidden.add(self._style)

    def _read_column(self, attributes: dict[str, str]) -> None:
        extent, first = self.extents[-1], len(self._usual)
        count = self._count(attributes, "table:number-columns-repeated")
        count = min(count, extent.max_columns - first)
        self._usual += [attributes.get("table:default-cell-style-name", "")] * count
        if attributes.get("table:visibility", "visible") != "visible":
            extent.hide_columns(first, first + count - 1)

    def _read_cell(self, attributes: dict[str, str]) -> None:
        extent, row, column = self.extents[-1], self._row, self._column
        columns = self._count(attributes, "table:number-columns-repeated")
        if "office:value-type" in attributes:
            letters = len(attributes.get("office:string-value", ""))
            extent.add_cells(row, column, self._rows, columns, letters)
            self._times = self._rows * columns
            down = max(self._count(attributes, "table:number-rows-spanned"), 1)
            across = max(self._count(attributes, "table:number-columns-spanned"), 1)
            if down > 1 or across > 1:
                extent.merged.append((row, column, row + down - 1, column + across - 1))
            self._note_form(attributes, range(column, column + columns))
        elif "table:formula" in attributes:
            extent.lost[column] += 1
        self._column += columns

    def _note_form(self, attributes: dict[str, str], columns: range) -> None:
        """Record what a number shows, by its value type where that says it, else by its style."""
        extent, usual = self.extents[-1], "".join(self._usual[self._column : self._column + 1])
        style = attributes.get("table:style-name", usual)
        kind, currency = attributes["office:value-type"], attributes.get("office:currency", "")
        if kind == "time" and style in self._long:
            extent.durations.update(columns)
        elif "office:value" in attributes:
            by_kind = kind == "percentage" or (kind == "currency" and currency)
            form = currency_form(currency) if currency else PERCENT
            if by_kind:
                self._forms.setdefault((kind, currency), form)
            for column in columns:
                extent.add_numbers(column, (kind, currency) if by_kind else style, self._rows)

    def _count(self, attributes: dict[str, str], key: str) -> int:
        digits = attributes.get(key)
        if digits is None:
            return 1
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise damaged_file_error(self._file, f"“{digits[:20]}” is no count")
        return int(digits)
