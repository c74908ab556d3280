"""The sheets of .xlsx and .ods workbooks, by a pass through their XML that stores no cell.

Sources: ECMA-376, Office Open XML, part 1, chapter 18; OASIS Open Document Format 1.3, part 3,
chapter 9, whose usual prefixes are taken for granted.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections import defaultdict
from collections.abc import Hashable
from functools import cache
from pathlib import Path

from core.datasets.files.workbook import (
    CONTENT,
    PERCENT,
    SheetExtent,
    currency_form,
    damaged_file_error,
    forms_of_styles,
    local_name,
    number_form,
    open_archive,
    parse_part,
    password_error,
    scanned_sheets,
)

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
Links = list[tuple[str, str, str]]  # id, target and kind of every internal link of a part


def read_xlsx(path: Path) -> list[SheetExtent]:
    """The sheets of a workbook, not yet looked at."""
    sheets: list[tuple[str, str, bool]] = []

    def note_sheet(tag: str, attributes: dict[str, str]) -> None:
        if local_name(tag) == "sheet":
            values = {local_name(key): value for key, value in attributes.items()}
            is_hidden = values.get("state", "visible") != "visible"
            sheets.append((values.get("id", ""), values.get("name", ""), is_hidden))

    with open_archive(path) as archive:
        links = part_links(archive, "", path.name)
        book = next((target for _, target, kind in links if kind == "officeDocument"), "")
        if not book:
            raise damaged_file_error(path.name, "it names no workbook")
        links = part_links(archive, book, path.name)
        lengths = _text_lengths(archive, links, path.name)
        forms = _forms_of_styles(archive, links, path.name)
        parse_part(archive, book, path.name, note_sheet)

    def scan(extent: SheetExtent) -> None:
        cells = _XlsxCells(extent)
        with open_archive(path) as archive:
            handlers = cells.start_element, cells.end_element, cells.note_text
            parse_part(archive, extent.part_name, path.name, *handlers)

    parts = {link_id: part_name for link_id, part_name, kind in links if kind == "worksheet"}
    return [
        SheetExtent(sheet, path.name, is_hidden, scan, parts[link_id], lengths, forms)
        for link_id, sheet, is_hidden in sheets
        if link_id in parts
    ]


def part_links(archive: zipfile.ZipFile, part_name: str, name: str) -> Links:
    """Id, target and kind of every internal link of a part."""
    folder, file = posixpath.split(part_name)
    links: Links = []

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        if local_name(tag) == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
            kind = attributes.get("Type", "").rpartition("/")[2]
            links.append((attributes.get("Id", ""), target.lstrip("/"), kind))

    parse_part(archive, posixpath.join(folder, "_rels", f"{file}.rels"), name, on_start)
    return links


def _parts(archive: zipfile.ZipFile, links: Links, kind: str) -> list[str]:
    return [target for _, target, each in links if each == kind and target in archive.namelist()]


def _text_lengths(archive: zipfile.ZipFile, links: Links, name: str) -> list[int]:
    lengths: list[int] = []

    def on_start(tag: str, _: dict[str, str]) -> None:
        if local_name(tag) == "si":
            lengths.append(0)

    def on_text(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    for part_name in _parts(archive, links, "sharedStrings"):
        parse_part(archive, part_name, name, on_start, on_text=on_text)
    return lengths


def _forms_of_styles(archive: zipfile.ZipFile, links: Links, name: str) -> dict[Hashable, str]:
    codes, ids, section = dict[int, str](), list[int](), ""

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal section
        tag = local_name(tag)
        if tag in ("cellXfs", "cellStyleXfs", "dxfs"):
            section = tag
        elif tag == "numFmt":
            codes.setdefault(_number(attributes, "numFmtId"), attributes.get("formatCode", ""))
        elif tag == "xf" and section == "cellXfs":
            ids.append(_number(attributes, "numFmtId"))

    for part_name in _parts(archive, links, "styles"):
        parse_part(archive, part_name, name, on_start)
    return forms_of_styles(ids, codes)


def _number(attributes: dict[str, str], key: str) -> int:
    digits = attributes.get(key, "0")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else -1


class _XlsxCells:
    """Records every cell: `c` in a `row`, its value in `v` or `is`, its formula in `f`."""

    def __init__(self, extent: SheetExtent) -> None:
        self._extent = extent
        self._row = self._column = -1  # of the current cell, which may be without an address
        self._reads = self._is_formula = False
        self._text = self._kind = ""
        self._style = 0

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        # Hardly a program writes prefixes, and a call for every tag takes long.
        if ":" in tag:
            tag = local_name(tag)
        if tag == "c":
            self._column += 1
            if address := attributes.get("r"):
                self._row, self._column = self._parse_address(address)
            self._text, self._is_formula = "", False
            self._kind = attributes.get("t", "n")
            self._style = _number(attributes, "s") if self._extent.forms else 0
        elif tag in ("v", "t"):
            self._reads = True
        elif tag == "f":
            self._is_formula = True
        elif tag == "row":
            self._row = _number(attributes, "r") - 1 if "r" in attributes else self._row + 1
            self._column = -1
        elif tag == "mergeCell":
            first, _, last = attributes.get("ref", "").partition(":")
            corners = self._parse_address(first), self._parse_address(last or first)
            self._extent.merged.append((*corners[0], *corners[1]))
        elif tag == "col" and attributes.get("hidden") in ("1", "true"):
            columns = _number(attributes, "min") - 1, _number(attributes, "max") - 1
            self._extent.hide_columns(*columns)

    def note_text(self, text: str) -> None:
        if self._reads:
            self._text += text

    def end_element(self, tag: str) -> None:
        if ":" in tag:
            tag = local_name(tag)
        if tag in ("v", "t"):
            self._reads = False
        elif tag == "c" and self._text:
            letters = len(self._text)
            # A shared text is stored once and copied into every cell, which counts here.
            if self._kind == "s" and self._text.isdecimal() and letters < 9:
                letters = self._extent.shared_letters(int(self._text))
            elif self._kind == "n":
                self._extent.add_numbers(self._column, self._style)
            self._extent.add_cells(self._row, self._column, letters=letters)
        elif tag == "c" and self._is_formula:
            self._extent.lost[self._column] += 1

    def _parse_address(self, address: str) -> tuple[int, int]:
        """Row and column, from 0, of an address such as AB12."""
        match = _ADDRESS.fullmatch(address)
        if match is None:
            why = f"“{address[:20]}” is no cell of a sheet"
            raise damaged_file_error(self._extent.where, why)
        return int(match[2]) - 1, column_of(match[1])


@cache
def column_of(letters: str) -> int:
    """The number of a column, from 0, by its letters."""
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


_MAX_BLANKS = 10_000
_MANIFEST = "META-INF/manifest.xml"
_SHEET, _ROW = "table:table", "table:table-row"
_ODS_CELLS = ("table:table-cell", "table:covered-table-cell")


def read_ods(path: Path) -> list[SheetExtent]:
    """The sheets of a spreadsheet, in order."""

    def refuse_password(tag: str, _: dict[str, str]) -> None:
        if local_name(tag) == "encryption-data":
            raise password_error(path.name)

    with open_archive(path) as archive:
        if _MANIFEST in archive.namelist():
            parse_part(archive, _MANIFEST, path.name, refuse_password)
        cells = _OdsCells(path.name)
        handlers = cells.start_element, cells.end_element, cells.note_text
        parse_part(archive, CONTENT, path.name, *handlers)
    return scanned_sheets(cells.extents)


class _OdsCells:
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
        if tag in _ODS_CELLS:
            if self._is_inside:
                self._read_cell(attributes)
        elif tag == _ROW:
            self._rows = self._count(attributes, "table:number-rows-repeated")
            self._column = 0
        elif tag == "table:table-column" and self._is_inside:
            self._read_column(attributes)
        # Blanks are stored as a count, by which a small file could fill the memory.
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
