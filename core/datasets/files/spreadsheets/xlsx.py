"""The sheets of an Excel workbook, by a pass through its XML that keeps no cell.

Source: ECMA-376, Office Open XML, part 1, chapter 18.
"""

from __future__ import annotations

import posixpath
import zipfile
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.spreadsheets.workbook import EnoughSeen, Extent, Merged, Workbook
from core.datasets.files.spreadsheets.zipped_xml import damaged, opened_archive, plain, scan

MOST_CELLS = 10_000_000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_sheets(path: Path) -> Workbook:
    """The sheets of a workbook; hidden ones last.

    Raises:
        UnusableError: it is damaged.
    """
    with opened_archive(path) as archive:
        book = _main_part(archive, path.name)
        targets = {i: t for i, t, kind in _links(archive, book, path.name) if kind == "worksheet"}
        found: list[tuple[bool, str, str]] = []

        def started(tag: str, attributes: dict[str, str]) -> None:
            if plain(tag) != "sheet":
                return
            told = {plain(name): value for name, value in attributes.items()}
            if told.get("id") in targets:
                hidden = told.get("state", "visible") != "visible"
                found.append((hidden, told.get("name", ""), targets[told["id"]]))

        scan(archive, book, path.name, started)
    found.sort(key=lambda one: one[0])
    parts = {name: part for _, name, part in found}

    def scan_sheet(extent: Extent, enough: bool) -> None:
        with opened_archive(path) as archive:
            reader = _Cells(extent, enough)
            scan(archive, parts[extent.name], path.name, reader.started, reader.ended, reader.text)
        extent.merged = reader.merged

    return Workbook(tuple(parts), scan_sheet, "openpyxl", MOST_CELLS)


def _main_part(archive: zipfile.ZipFile, name: str) -> str:
    links = _links(archive, "", name)
    found = next((target for _, target, kind in links if kind == "officeDocument"), "")
    if not found:
        raise damaged(name, "it names no workbook")
    return found


def _links(archive: zipfile.ZipFile, part: str, name: str) -> list[tuple[str, str, str]]:
    """The id, target and kind of every part that a part refers to inside of the archive."""
    folder, file = posixpath.split(part)
    found = []

    def started(tag: str, attributes: dict[str, str]) -> None:
        if plain(tag) != "Relationship" or attributes.get("TargetMode") == "External":
            return
        target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
        kind = attributes.get("Type", "").rpartition("/")[2]
        found.append((attributes.get("Id", ""), target.lstrip("/"), kind))

    scan(archive, posixpath.join(folder, "_rels", f"{file}.rels"), name, started)
    return found


@dataclass
class _Cells:
    """Takes note of every cell of a sheet while its XML passes.

    A cell is `c`, in a `row`; its value stands in `v`, or in `is` for texts; its formula in `f`.
    """

    extent: Extent
    enough: bool

    def __post_init__(self) -> None:
        self.merged: list[Merged] = []
        self._row = self._column = -1
        self._reads = self._filled = self._formula = False

    def started(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        tag = plain(tag)
        if tag == "c":
            place = attributes.get("r", "")
            self._column = self._column_of(place) if place else self._column + 1
            self._filled = self._formula = False
        elif tag in ("v", "t"):
            self._reads = True
        elif tag == "f":
            self._formula = True
        elif tag == "row":
            self._row = self._number(attributes["r"]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
        elif tag == "mergeCell":
            self._merge(attributes.get("ref", ""))

    def text(self, said: str) -> None:
        """Text stands inside of an element."""
        self._filled = self._filled or self._reads

    def ended(self, tag: str) -> None:
        """An element ends."""
        tag = plain(tag)
        if tag in ("v", "t"):
            self._reads = False
        elif tag == "c" and self._filled:
            self.extent.count(self._row, self._column)
            if self.enough:
                raise EnoughSeen
        elif tag == "c" and self._formula:
            self.extent.lost[self._column] = self.extent.lost.get(self._column, 0) + 1

    def _merge(self, range_: str) -> None:
        first, _, last = range_.partition(":")
        places = [self._place(one) for one in (first, last or first)]
        self.merged.append((*places[0], *places[1]))

    def _place(self, place: str) -> tuple[int, int]:
        digits = place.lstrip("$" + _LETTERS + _LETTERS.lower()).lstrip("$")
        return self._number(digits) - 1, self._column_of(place)

    def _number(self, digits: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 7):
            raise damaged(self.extent.where, f"“{digits[:20]}” is no row")
        return int(digits)

    def _column_of(self, place: str) -> int:
        """The column, from 0, of a place such as AB12."""
        letters = place.rstrip("0123456789").replace("$", "").upper()
        column = 0
        for letter in letters:
            value = _LETTERS.find(letter)
            if value < 0 or len(letters) > 3:
                raise damaged(self.extent.where, f"“{place[:20]}” is no place of a sheet")
            column = 26 * column + value + 1
        return column - 1
