"""The sheets of an Excel workbook, by a pass through its XML that stores no cell.

Source: ECMA-376, Office Open XML, part 1, chapter 18.
"""

from __future__ import annotations

import posixpath
import zipfile
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import Merged, ScanFinished, SheetExtent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)

MAX_CELLS = 10_000_000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a workbook, hidden ones last; raises UnusableError if damaged."""
    with open_archive(path) as archive:
        book = _main_part(archive, path.name)
        links = _part_links(archive, book, path.name)
        targets = {link_id: target for link_id, target, kind in links if kind == "worksheet"}
        sheets: list[tuple[bool, str, str]] = []

        def on_start(tag: str, attributes: dict[str, str]) -> None:
            if local_name(tag) != "sheet":
                return
            values = {local_name(name): value for name, value in attributes.items()}
            if values.get("id") in targets:
                hidden = values.get("state", "visible") != "visible"
                sheets.append((hidden, values.get("name", ""), targets[values["id"]]))

        parse_part(archive, book, path.name, on_start)
    sheets.sort(key=lambda sheet: sheet[0])
    part_of_sheet = {name: part_name for _, name, part_name in sheets}

    def scan_sheet(extent: SheetExtent, enough: bool) -> None:
        with open_archive(path) as archive:
            reader = _Cells(extent, enough)
            parse_part(
                archive,
                part_of_sheet[extent.name],
                path.name,
                reader.start_element,
                reader.end_element,
                reader.note_text,
            )
        extent.merged = reader.merged

    return Workbook(tuple(part_of_sheet), scan_sheet, "openpyxl", MAX_CELLS)


def _main_part(archive: zipfile.ZipFile, name: str) -> str:
    links = _part_links(archive, "", name)
    main_part = next((target for _, target, kind in links if kind == "officeDocument"), "")
    if not main_part:
        raise damaged_file_error(name, "it names no workbook")
    return main_part


def _part_links(archive: zipfile.ZipFile, part_name: str, name: str) -> list[tuple[str, str, str]]:
    """Id, target and kind of every internal link of a part."""
    folder, file = posixpath.split(part_name)
    links = []

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        if local_name(tag) != "Relationship" or attributes.get("TargetMode") == "External":
            return
        target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
        kind = attributes.get("Type", "").rpartition("/")[2]
        links.append((attributes.get("Id", ""), target.lstrip("/"), kind))

    parse_part(archive, posixpath.join(folder, "_rels", f"{file}.rels"), name, on_start)
    return links


@dataclass
class _Cells:
    """Handles the XML of a sheet; records every cell.

    A cell is `c` in a `row`; its value is in `v`, or in `is` for texts; its formula in `f`.
    """

    extent: SheetExtent
    enough: bool

    def __post_init__(self) -> None:
        self.merged: list[Merged] = []
        self._row = self._column = -1
        self._reads = self._filled = self._formula = False

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        tag = local_name(tag)
        if tag == "c":
            address = attributes.get("r", "")
            self._column = self._column_of(address) if address else self._column + 1
            self._filled = self._formula = False
        elif tag in ("v", "t"):
            self._reads = True
        elif tag == "f":
            self._formula = True
        elif tag == "row":
            self._row = self._parse_row(attributes["r"]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
        elif tag == "mergeCell":
            self._add_merged(attributes.get("ref", ""))

    def note_text(self, text: str) -> None:
        """Handle text inside of an element."""
        self._filled = self._filled or self._reads

    def end_element(self, tag: str) -> None:
        """Handle the end of an element."""
        tag = local_name(tag)
        if tag in ("v", "t"):
            self._reads = False
        elif tag == "c" and self._filled:
            self.extent.add_cells(self._row, self._column)
            if self.enough:
                raise ScanFinished
        elif tag == "c" and self._formula:
            self.extent.lost[self._column] = self.extent.lost.get(self._column, 0) + 1

    def _add_merged(self, range_: str) -> None:
        first, _, last = range_.partition(":")
        corners = [self._parse_address(address) for address in (first, last or first)]
        self.merged.append((*corners[0], *corners[1]))

    def _parse_address(self, address: str) -> tuple[int, int]:
        digits = address.lstrip("$" + _LETTERS + _LETTERS.lower()).lstrip("$")
        return self._parse_row(digits) - 1, self._column_of(address)

    def _parse_row(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 7):
            raise damaged_file_error(self.extent.where, f"“{digits[:20]}” is no row")
        return int(digits)

    def _column_of(self, address: str) -> int:
        """The column, from 0, of an address such as AB12."""
        letters = address.rstrip("0123456789").replace("$", "").upper()
        column = 0
        for letter in letters:
            value = _LETTERS.find(letter)
            if value < 0 or len(letters) > 3:
                why = f"“{address[:20]}” is no place of a sheet"
                raise damaged_file_error(self.extent.where, why)
            column = 26 * column + value + 1
        return column - 1
