"""The sheets of an Excel workbook, by a pass through its XML that stores no cell.

Source: ECMA-376, Office Open XML, part 1, chapter 18.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Hashable
from functools import cache
from pathlib import Path

from core.datasets.files.spreadsheets.number_forms import forms_of_styles
from core.datasets.files.spreadsheets.workbook import (
    SheetExtent,
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
Links = list[tuple[str, str, str]]  # id, target and kind of every internal link of a part


def read_sheets(path: Path) -> list[SheetExtent]:
    """The sheets of a workbook, not yet looked at; raises UnusableError if damaged."""
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
        cells = _Cells(extent)
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
    """The parts of a kind that the archive has."""
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


class _Cells:
    """Records every cell: `c` in a `row`, its value in `v` or `is`, its formula in `f`."""

    def __init__(self, extent: SheetExtent) -> None:
        self._extent = extent
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
