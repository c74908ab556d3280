"""The guards of workbooks: a bounded archive, and sheets counted before a library reads them."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from xml.parsers import expat

from core.datasets.column_format import number_formats
from core.datasets.files.file_bytes import max_unpacked_bytes, too_large_error
from core.errors import UnusableError

PERCENT = "%"
_BUILT_IN = {9: "0%", 10: "0.00%"}  # formats that files do not write out
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(?P<sign>.)',
    re.DOTALL,
)
_DIGITS = re.compile(r"([^0#?]*?)(?<![.,])([#0?,]*[0#?](?:\.[0#?]+)?)(?![,.])([^0#?,]*)")
_MAX_LETTERS = 255  # of a format in Excel
_CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}


@lru_cache
def number_form(code: str) -> str:
    """How a format of Excel shows numbers: "%", "$0", "0 kg", "00000"; "" if it adds nothing."""
    # A longer one is no format, and the pattern below would take long for it.
    if len(code) > _MAX_LETTERS:
        return ""
    text = ""
    for token in _TOKEN.finditer(code.replace("General", "0")):
        sign = token["sign"] or ""
        if sign == ";":  # other sections are for negative numbers and zero
            break
        letters = token["quoted"] or token["escaped"] or token["currency"] or ""
        if re.search(r"[\d#?]", letters):
            return ""
        # A percent sign in quotes does not multiply.
        text += sign.replace("%", "\0") or letters
    if set(text) <= set("0-/ ()") and text.count("0") > 1:
        return text
    match = _DIGITS.fullmatch(text)
    if match is None:
        return ""
    ahead, behind = match[1].strip(), match[3].strip()
    return PERCENT if "\0" in ahead + behind else _unit_form(ahead, behind)


def currency_form(code: str) -> str:
    """The form of amounts in a currency of ISO 4217."""
    sign = _CURRENCIES.get(code)
    return f"{sign}0" if sign else _unit_form("", code)


def _unit_form(ahead: str, behind: str) -> str:
    form = ahead + " " * (len(ahead) > 1) + "0" + " " * (len(behind) > 1) + behind
    return form if any(reading.unit for reading in number_formats([form.replace("0", "1")])) else ""


def forms_of_styles(format_ids: Iterable[int], codes: Mapping[int, str]) -> dict[Hashable, str]:
    """{number of a cell's style: its form}, of those that add something."""
    known = {**codes, **_BUILT_IN}
    forms = {i: number_form(known.get(each, "")) for i, each in enumerate(format_ids)}
    return {style: form for style, form in forms.items() if form}


MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
MAX_GRID_CELLS = 6_000_000  # rows × columns, empty ones included
MAX_LETTERS = 300_000_000  # of all texts; one that is stored once counts in every cell
SMALL_GRID_CELLS, MIN_FILLED_SHARE = 500_000, 0.01  # of a larger grid, this share must be filled
Merged = tuple[int, int, int, int]  # top, left, bottom, right: from 0, the last ones included
CONTENT = "content.xml"  # the cells of an ods file
_PIECE = 2**18  # bytes unpacked at a time
_MAX_PARTS = 10_000
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


class _EnoughSeen(Exception):  # noqa: N818 - it ends a scan early and is no error
    """No more was asked than whether the sheet holds a value."""


@dataclass
class SheetExtent:
    """The filled part of a sheet, in which rows and columns count from 0."""

    name: str
    file: str
    is_hidden: bool = False
    scan: Callable[[SheetExtent], None] | None = None  # counts its cells; None where that was done
    part_name: str = ""  # of the archive, with its cells
    lengths: Sequence[int] = ()  # of shared texts
    forms: Mapping[Hashable, str] = field(default_factory=dict)  # of styles: see `number_form`
    max_rows: int = MAX_ROWS
    max_columns: int = MAX_COLUMNS
    is_probe: bool = False  # only whether it holds a value is asked
    rows: int = 0  # down to the last value
    width: int = 0  # columns up to the last value
    cells: int = 0  # with a value
    letters: int = 0
    merged: list[Merged] = field(default_factory=list)
    lost: Counter[int] = field(default_factory=Counter)  # formulas without value, by column
    hidden: set[int] = field(default_factory=set)  # columns
    durations: set[int] = field(default_factory=set)  # columns
    numbers: defaultdict[int, Counter[str]] = field(  # {column: {how it shows: how many do}}
        default_factory=lambda: defaultdict(Counter)
    )

    @property
    def where(self) -> str:
        return f"{self.file}, sheet {self.name}"

    def is_filled(self) -> bool:
        if self.scan is not None:
            probe = SheetExtent(self.name, self.file, part_name=self.part_name, is_probe=True)
            try:
                self.scan(probe)
            except _EnoughSeen:
                return True
            self.lost = probe.lost
        return self.cells > 0

    def complete(self) -> SheetExtent:
        """The same once all cells are counted."""
        if self.scan is not None:
            scan, self.scan = self.scan, None
            scan(self)
        self._check_spread()
        return self

    def add_cells(
        self, row: int, column: int, rows: int = 1, columns: int = 1, letters: int = 0
    ) -> None:
        """Record a value of so many letters that fills rows and columns from a cell on."""
        if rows < 1 or columns < 1:
            return
        if not (0 <= row <= self.max_rows - rows and 0 <= column <= self.max_columns - columns):
            why = "a cell lies beyond the last row or column of a sheet"
            raise damaged_file_error(self.where, why)
        self.rows = max(self.rows, row + rows)
        self.width = max(self.width, column + columns)
        self.cells += rows * columns
        if self.cells > MAX_GRID_CELLS:
            raise self._too_large(f"more than {MAX_GRID_CELLS:,} cells")
        self.add_letters(letters * rows * columns)
        # One value is enough to know, and sheets may have millions.
        if self.is_probe:
            raise _EnoughSeen

    def add_letters(self, letters: int) -> None:
        self.letters += letters
        if self.letters > MAX_LETTERS:
            raise self._too_large(f"texts of more than {MAX_LETTERS:,} letters")

    def shared_letters(self, index: int) -> int:
        return self.lengths[index] if index < len(self.lengths) else 0

    def hide_columns(self, first: int, last: int) -> None:
        self.hidden.update(range(max(first, 0), min(last + 1, self.max_columns)))

    def add_numbers(self, column: int, style: Hashable, count: int = 1) -> None:
        if self.forms:
            self.numbers[column][self.forms.get(style, "")] += count

    def _check_spread(self) -> None:
        # Libraries make a rectangle of cells up to the last value, wherever that lies.
        grid_cells, size_text = (
            self.rows * self.width,
            f"{self.rows:,} rows and {self.width:,} columns",
        )
        if grid_cells > SMALL_GRID_CELLS and self.cells < MIN_FILLED_SHARE * grid_cells:
            cure = "delete what stands alone far below or to the right of the table"
            fault = f"the sheet has {size_text}, and nearly all are empty"
            raise UnusableError(fault, where=self.where, cure=cure)
        if grid_cells > MAX_GRID_CELLS:
            raise self._too_large(size_text)

    def _too_large(self, size_text: str) -> UnusableError:
        fault = f"the sheet has {size_text}, more than can be read from a workbook"
        return UnusableError(fault, where=self.where, cure="save it as CSV and open that")


def scanned_sheets(extents: Sequence[SheetExtent]) -> list[SheetExtent]:
    """Sheets of which a library reads all at once, if that is not too much."""
    n_cells = sum(extent.complete().rows * extent.width for extent in extents)
    if n_cells > MAX_GRID_CELLS or sum(extent.letters for extent in extents) > MAX_LETTERS:
        fault = "its sheets together hold more than can be read from a workbook"
        cure = "save the one that you mean as CSV and open that"
        raise UnusableError(fault, where=extents[0].file, cure=cure)
    return list(extents)


def damaged_file_error(name: str, why: str = "") -> UnusableError:
    """The error for a workbook that cannot be read."""
    reason = f" ({' '.join(why.split())[:120]})" if why else ""
    cure = "open it in a spreadsheet program and save it again, or save the table as CSV"
    return UnusableError(f"the workbook is damaged{reason}", where=name, cure=cure)


def other_document_error(name: str) -> UnusableError:
    """The error for a document of another Office program."""
    fault = "this is an Office document, but no spreadsheet"
    return UnusableError(fault, where=name, cure="save its table as a spreadsheet or CSV file")


def password_error(name: str) -> UnusableError:
    """The error for a workbook with a password."""
    return UnusableError("the workbook has a password", where=name, cure="save it without one")


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, if it is no decompression bomb and has no password."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_PARTS:
                raise damaged_file_error(path.name, f"it has {len(entries):,} parts")
            if sum(entry.file_size for entry in entries) > max_unpacked_bytes(path.stat().st_size):
                raise too_large_error(path)
            if any(entry.flag_bits & 1 for entry in entries):
                raise password_error(path.name)
            yield archive
    except (*_FAULTS, OSError, ValueError, KeyError) as error:
        raise damaged_file_error(path.name, str(error)) from None


def parse_part(
    archive: zipfile.ZipFile,
    part_name: str,
    name: str,
    on_start: Callable[[str, dict[str, str]], None] | None = None,
    on_end: Callable[[str], None] | None = None,
    on_text: Callable[[str], None] | None = None,
) -> None:
    """Pass through a part once, without storing it; a DTD is refused."""
    parser = expat.ParserCreate()

    def refuse_entities(*_: object) -> None:
        fault = "the workbook defines XML entities, as files do that are made to fill the memory"
        raise UnusableError(fault, where=name, cure="save the table as CSV and open that")

    # Entities of entities can become gigabytes from a kilobyte; no program writes them in a
    # workbook.
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse_entities
    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = on_text
    try:
        with archive.open(part_name) as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: an unknown encoding
        raise damaged_file_error(name, str(error)) from None


def local_name(tag: str) -> str:
    """A name without its prefix."""
    return tag.rpartition(":")[2]
