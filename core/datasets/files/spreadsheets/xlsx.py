"""The sheets of an Excel workbook, by a pass through its XML that stores no cell.

Source: ECMA-376, Office Open XML, part 1, chapter 18.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import ScanFinished, SheetExtent, Workbook
from core.datasets.files.spreadsheets.zipped_xml import (
    damaged_file_error,
    local_name,
    open_archive,
    parse_part,
)

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a workbook, hidden ones last; raises UnusableError if damaged."""
    with open_archive(path) as archive:
        part_of_sheet = parts_of_sheets(archive, path.name)
        lengths = _text_lengths(archive, path.name)

    def scan_sheet(extent: SheetExtent, enough: bool) -> None:
        with open_archive(path) as archive:
            reader = _Cells(extent, enough, lengths)
            parse_part(
                archive,
                part_of_sheet[extent.name],
                path.name,
                reader.start_element,
                reader.end_element,
                reader.note_text,
            )

    return Workbook(tuple(part_of_sheet), scan_sheet)


def _text_lengths(archive: zipfile.ZipFile, name: str) -> list[int]:
    links = part_links(archive, _main_part(archive, name), name)
    part_name = next((target for _, target, kind in links if kind == "sharedStrings"), "")
    lengths: list[int] = []

    def on_start(tag: str, _: dict[str, str]) -> None:
        if tag == "si" or local_name(tag) == "si":
            lengths.append(0)

    def on_text(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    if part_name in archive.namelist():
        parse_part(archive, part_name, name, on_start, on_text=on_text)
    return lengths


def parts_of_sheets(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """{sheet: the part with its cells}, hidden ones last; raises UnusableError if damaged."""
    book = _main_part(archive, name)
    links = part_links(archive, book, name)
    targets = {link_id: target for link_id, target, kind in links if kind == "worksheet"}
    sheets: list[tuple[bool, str, str]] = []

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        if local_name(tag) != "sheet":
            return
        values = {local_name(key): value for key, value in attributes.items()}
        if values.get("id") in targets:
            hidden = values.get("state", "visible") != "visible"
            sheets.append((hidden, values.get("name", ""), targets[values["id"]]))

    parse_part(archive, book, name, on_start)
    sheets.sort(key=lambda sheet: sheet[0])
    return {sheet: part_name for _, sheet, part_name in sheets}


def _main_part(archive: zipfile.ZipFile, name: str) -> str:
    links = part_links(archive, "", name)
    book = next((target for _, target, kind in links if kind == "officeDocument"), "")
    if not book:
        raise damaged_file_error(name, "it names no workbook")
    return book


def part_links(archive: zipfile.ZipFile, part_name: str, name: str) -> list[tuple[str, str, str]]:
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
    """Records every cell: `c` in a `row`, its value in `v` or `is`, its formula in `f`."""

    extent: SheetExtent
    enough: bool
    lengths: Sequence[int]  # of shared texts

    def __post_init__(self) -> None:
        self._row = self._column = -1  # of the next cell without an address
        self._place = (-1, -1)
        self._reads = self._formula = self._is_shared = False
        self._text = ""
        self._columns: dict[str, int] = {}  # by their letters

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        if ":" in tag:
            tag = local_name(tag)
        if tag == "c":
            address = attributes.get("r")
            self._column += 1
            self._place = self._row, self._column
            if address:
                self._place = self._parse_address(address)
                self._column = self._place[1]
            self._text, self._formula = "", False
            self._is_shared = attributes.get("t") == "s"
        elif tag in ("v", "t"):
            self._reads = True
        elif tag == "f":
            self._formula = True
        elif tag == "row":
            self._row = self._parse_row(attributes["r"]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
        elif tag == "mergeCell":
            first, _, last = attributes.get("ref", "").partition(":")
            corners = self._parse_address(first), self._parse_address(last or first)
            self.extent.merged.append((*corners[0], *corners[1]))

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
            if self._is_shared and self._text.isdecimal() and letters < 9:
                index = int(self._text)
                letters = self.lengths[index] if index < len(self.lengths) else 0
            self.extent.add_cells(*self._place, letters=letters)
            if self.enough:
                raise ScanFinished
        elif tag == "c" and self._formula:
            column = self._place[1]
            self.extent.lost[column] = self.extent.lost.get(column, 0) + 1

    def _parse_address(self, address: str) -> tuple[int, int]:
        """Row and column, from 0, of an address such as AB12."""
        letters = address.rstrip("0123456789$")
        digits = address[len(letters) :].lstrip("$")
        column = self._columns.get(letters)
        if column is None:
            column = self._columns[letters] = self._column_of(letters)
        return self._parse_row(digits) - 1, column

    def _parse_row(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 7):
            raise damaged_file_error(self.extent.where, f"“{digits[:20]}” is no row")
        return int(digits)

    def _column_of(self, written: str) -> int:
        letters = written.replace("$", "").upper()
        column = 0
        for letter in letters:
            value = _LETTERS.find(letter)
            if value < 0 or len(letters) > 3:
                why = f"“{written[:20]}” is no column of a sheet"
                raise damaged_file_error(self.extent.where, why)
            column = 26 * column + value + 1
        return column - 1
