"""The sheets of an Excel workbook, by a pass through its XML that stores no cell.

Source: ECMA-376, Office Open XML, part 1, chapter 18.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from core.datasets.files.spreadsheets.number_forms import BUILT_IN, forms_of_styles
from core.datasets.files.spreadsheets.workbook import SheetExtent
from core.datasets.files.spreadsheets.zipped_xml import (
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
Links = list[tuple[str, str, str]]  # id, target and kind of every internal link of a part


def read_sheets(path: Path) -> list[SheetExtent]:
    """The sheets of a workbook, not yet looked at; raises UnusableError if damaged."""
    with open_archive(path) as archive:
        book, links = _main_part(archive, path.name)
        lengths = _text_lengths(archive, links, path.name)
        forms = _forms_of_styles(archive, links, path.name)
        sheets = _sheets(archive, book, links, path.name)

    def scan(part_name: str, extent: SheetExtent) -> None:
        cells = _Cells(extent, lengths)
        with open_archive(path) as archive:
            handlers = cells.start_element, cells.end_element, cells.note_text
            parse_part(archive, part_name, path.name, *handlers)

    return [
        SheetExtent(name, path.name, is_hidden, partial(scan, part_name), forms=forms)
        for name, is_hidden, part_name in sheets
    ]


def parts_of_sheets(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """{sheet: the part with its cells}; raises UnusableError if damaged."""
    sheets = _sheets(archive, *_main_part(archive, name), name)
    return {sheet: part_name for sheet, _, part_name in sheets}


def _sheets(
    archive: zipfile.ZipFile, book: str, links: Links, name: str
) -> list[tuple[str, bool, str]]:
    targets = {link_id: target for link_id, target, kind in links if kind == "worksheet"}
    sheets: list[tuple[str, bool, str]] = []

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        values = {local_name(key): value for key, value in attributes.items()}
        if local_name(tag) == "sheet" and values.get("id") in targets:
            is_hidden = values.get("state", "visible") != "visible"
            sheets.append((values.get("name", ""), is_hidden, targets[values["id"]]))

    parse_part(archive, book, name, on_start)
    return sheets


def _text_lengths(archive: zipfile.ZipFile, links: Links, name: str) -> list[int]:
    lengths: list[int] = []

    def on_start(tag: str, _: dict[str, str]) -> None:
        if tag == "si" or local_name(tag) == "si":
            lengths.append(0)

    def on_text(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    for _, part_name, kind in links:
        if kind == "sharedStrings" and part_name in archive.namelist():
            parse_part(archive, part_name, name, on_start, on_text=on_text)
    return lengths


def _forms_of_styles(archive: zipfile.ZipFile, links: Links, name: str) -> dict[Hashable, str]:
    codes, ids, sections = dict(BUILT_IN), list[Hashable](), [""]

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        tag = local_name(tag)
        if tag in ("cellXfs", "cellStyleXfs", "dxfs"):
            sections.append(tag)
        elif tag == "numFmt":
            codes.setdefault(_number(attributes, "numFmtId"), attributes.get("formatCode", ""))
        elif tag == "xf" and sections[-1] == "cellXfs":
            ids.append(_number(attributes, "numFmtId"))

    for _, part_name, kind in links:
        if kind == "styles" and part_name in archive.namelist():
            parse_part(archive, part_name, name, on_start)
    return forms_of_styles(ids, codes)


def _number(attributes: dict[str, str], key: str) -> int:
    digits = attributes.get(key, "0")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else -1


def _main_part(archive: zipfile.ZipFile, name: str) -> tuple[str, Links]:
    links = part_links(archive, "", name)
    book = next((target for _, target, kind in links if kind == "officeDocument"), "")
    if not book:
        raise damaged_file_error(name, "it names no workbook")
    return book, part_links(archive, book, name)


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


@dataclass
class _Cells:
    """Records every cell: `c` in a `row`, its value in `v` or `is`, its formula in `f`."""

    extent: SheetExtent
    lengths: Sequence[int]  # of shared texts

    def __post_init__(self) -> None:
        self._row = self._column = -1  # of the current cell, which may be without an address
        self._reads = self._is_formula = False
        self._text = self._kind = ""
        self._style = 0

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if ":" in tag:
            tag = local_name(tag)
        if tag == "c":
            self._column += 1
            if address := attributes.get("r"):
                self._row, self._column = self._parse_address(address)
            self._text, self._is_formula = "", False
            self._kind = attributes.get("t", "n")
            self._style = _number(attributes, "s") if self.extent.forms else 0
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
            self.extent.merged.append((*corners[0], *corners[1]))
        elif tag == "col" and attributes.get("hidden") in ("1", "true"):
            columns = _number(attributes, "min") - 1, _number(attributes, "max") - 1
            self.extent.hide_columns(*columns)

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
            if self._kind == "s" and self._text.isdecimal() and letters < 9:
                index = int(self._text)
                letters = self.lengths[index] if index < len(self.lengths) else 0
            elif self._kind == "n":
                self.extent.add_numbers(self._column, self._style)
            self.extent.add_cells(self._row, self._column, letters=letters)
        elif tag == "c" and self._is_formula:
            self.extent.lost[self._column] += 1

    def _parse_address(self, address: str) -> tuple[int, int]:
        """Row and column, from 0, of an address such as AB12."""
        match = _ADDRESS.fullmatch(address)
        if match is None:
            why = f"“{address[:20]}” is no cell of a sheet"
            raise damaged_file_error(self.extent.where, why)
        return int(match[2]) - 1, column_of(match[1])


@cache
def column_of(letters: str) -> int:
    """The number of a column, from 0, by its letters."""
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1
