"""The rows of a text table: how they are written, their lines, and where one is none."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.datasets.column_format import NOTHING, STRAY_SHARE, holds_for_share
from core.datasets.files.file_bytes import GuardedFile, TextSource, open_bytes
from core.datasets.files.quotes import (
    BACKSLASH,
    DOUBLED,
    ESCAPED,
    INSIDE,
    OUTER,
    OUTSIDE,
    UNQUOTED,
    Quotes,
    ScannedLine,
    csv_reader,
    scan_line,
)
from core.datasets.files.table_reader import unique_names
from core.errors import UnusableError

ONE_COLUMN = "\x1f"  # a sign that no text holds, so that every line is one cell
SAMPLE_ROWS = 500
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_LIKE_NUMBERS = re.compile(r"\d|inf", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


class CsvRow(NamedTuple):
    """A row of a text: its first line, its last line (from 1), and its cells."""

    begin: int
    end: int
    cells: list[str]
    is_blank: bool


def csv_records(lines: Iterable[str], quotes: Quotes) -> Iterator[CsvRow]:
    """The rows in lines, also blank ones; raises csv.Error."""
    line, end = "", 0

    def note(text: str) -> str:
        nonlocal line
        line = text
        return text

    reader = csv_reader(map(note, lines), quotes)
    for cells in reader:
        begin, end = end + 1, reader.line_num
        is_blank = not cells or (len(cells) == 1 and not cells[0].strip())
        if is_blank and quotes.delimiter == ONE_COLUMN:  # "" is an empty cell
            is_blank = not line.strip()
        yield CsvRow(begin, end, cells, is_blank)


def split_rows(lines: list[str], quotes: Quotes) -> list[list[str]]:
    """The lines' cells without blank lines, up to a line that the csv module cannot parse."""
    source = (line.strip(" \t\r\n") + "\n" for line in lines) if quotes.delimiter == " " else lines
    rows: Iterator[list[str]] = csv_reader(source, quotes)
    if quotes.delimiter == ONE_COLUMN:  # whose blank lines alone tell from empty cells
        rows = (row.cells for row in csv_records(source, quotes) if not row.is_blank)
    else:
        rows = (cells for cells in rows if len(cells) > 1 or "".join(cells).strip())
    first_rows: list[list[str]] = []
    with suppress(csv.Error):
        first_rows.extend(islice(rows, SAMPLE_ROWS + 1))
    return first_rows


def columns_of(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The cells of every column; rows may be short."""
    if len(set(map(len, rows))) < 2:
        return list(zip(*rows, strict=True))
    return [tuple(c for c in cells if c is not None) for cells in zip_longest(*rows)]


def filled_cells(cells: Iterable[str]) -> list[str]:
    """The cells that are not missing, stripped."""
    return [cell for cell in map(str.strip, cells) if cell not in NOTHING]


def is_missing(cell: str) -> bool:
    """Whether a cell is one of the usual spellings of a missing value."""
    return cell.strip() in NOTHING


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Whether a cell is a number in this notation."""
    cell = cell.strip()
    if thousands:
        cell = cell.replace(thousands, "")
    if decimal == ",":
        cell = cell.replace(",", ".") if "." not in cell else "no"
    return NUMBER.fullmatch(cell) is not None


_NAMES = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas", " ": "spaces"}
_ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1", "cp1252": "Windows-1252"}
_READINGS = {
    ESCAPED: "backslashes before signs that are letters",
    OUTER: "quotes within texts are letters",
    UNQUOTED: "quotes are letters",
}
_CLEAR_INTEGERS, CLEAR_NUMBERS = (
    re.compile(rf"(?:(?:-?(?:0|[1-9]\d*){decimals})?(?:\n|$))*", re.ASCII)
    for decimals in ("", r"(?:\.\d+)?")
)


@dataclass(frozen=True)
class Dialect:
    """The format of a text table."""

    encoding: str  # for open()
    delimiter: str  # of DELIMITERS (" ": any run of blanks), or ONE_COLUMN
    quote: str = '"'
    reading: str = DOUBLED  # of the quotes
    decimal: str = "."
    thousands: str = ""
    skip: int = 0  # lines before the table, with those of names that have units below them
    header: tuple[str, ...] = ()  # stripped; () for none
    units: tuple[str, ...] = ()  # of columns, in the row below the names; () without such a row
    width: int = 0  # cells per row
    extra: str = ""  # "empty" last cell of rows, or "names" of rows first
    padded: bool = False  # blanks follow delimiters
    trimmed: bool = False  # header cells had blanks around
    rows: list[list[str]] = field(default_factory=list)  # the first ones

    @cached_property
    def names(self) -> list[str]:
        if not self.header:
            return [f"column {i + 1}" for i in range(self.width)]
        return unique_names(self.header, "")[0]

    @cached_property
    def cells(self) -> dict[str, tuple[str, ...]]:
        columns = columns_of(self.rows)[self.extra == "names" :]
        missing = [()] * (len(self.names) - len(columns))
        return dict(zip(self.names, (*columns, *missing), strict=False))

    @cached_property
    def doubtful_cells(self) -> dict[str, tuple[str, ...]]:
        """The same of the columns that are no numbers as every notation has them."""
        points_are_clear = self.decimal == "." and self.delimiter != ";"
        clear = CLEAR_NUMBERS if points_are_clear else _CLEAR_INTEGERS
        return {
            n: cells for n, cells in self.cells.items() if not clear.fullmatch("\n".join(cells))
        }

    @cached_property
    def word_columns(self) -> set[str]:
        """The columns that hold words, but for a few, where they are not empty."""
        return {name for name, cells in self.doubtful_cells.items() if self._are_words(cells)}

    def _are_words(self, cells: Sequence[str]) -> bool:
        if not _LIKE_NUMBERS.search("".join(cells)):
            return not all(map(is_missing, cells))
        is_own_number = partial(is_number, decimal=self.decimal, thousands=self.thousands)
        return not holds_for_share(is_own_number, filled_cells(cells), 1 - STRAY_SHARE)

    @cached_property
    def words_for_nothing(self) -> dict[str, list[str]]:
        """{column: the words in it that may stand for a missing value}, where there are some."""
        words = {
            name: list(filter(NOTHING.__contains__, dict.fromkeys(map(str.strip, cells))))
            for name, cells in self.doubtful_cells.items()
        }
        return {name: filled for name, cells in words.items() if (filled := [*filter(None, cells)])}

    @property
    def quotes(self) -> Quotes:
        padded = self.padded or self.delimiter == " "
        return Quotes(self.delimiter, self.quote, self.reading, padded)

    @property
    def reading_phrase(self) -> str:
        """What is unusual in the reading of quotes, if anything."""
        return _READINGS.get(self.reading, "")

    @property
    def description(self) -> str:
        """In words: "semicolons between columns, decimal commas, a header, UTF-8"."""
        between = _NAMES.get(self.delimiter)
        phrases = [f"{between} between columns" if between else "one column"]
        phrases += ["decimal commas"] if self.decimal == "," else []
        phrases += ["a header" if self.header else "no header"]
        phrases += ["units below it"] if self.units else []
        if skip := self.skip - bool(self.units):
            lines = "1 line" if skip == 1 else f"{skip} lines"
            phrases.append(f"{lines} above the table left out")
        phrases += [self.reading_phrase] if self.reading_phrase else []
        return ", ".join([*phrases, _ENCODINGS.get(self.encoding, self.encoding)])

    @property
    def is_wide(self) -> bool:
        return self.encoding.startswith("utf-16")


@dataclass(frozen=True)
class QuoteChoice:
    """A sign and a reading of it; `is_checked`: its quotes fit, widths alone are in question.

    `strict`: a backslash before a quote within a cell speaks against the reading.
    """

    quote: str = '"'
    reading: str = DOUBLED
    strict: bool = False
    is_checked: bool = False


class RowFault(NamedTuple):
    """Why a row is none: its first line, what is wrong and what to do."""

    line: int
    what: str
    cure: str


def _open_quote(line: int, quote: str) -> RowFault:
    what = f"a quote ({quote}) opens here and is not closed"
    return RowFault(line, what, "close it, or double a quote that belongs to the text")


class CsvRows:
    """The rows in the lines of a file, up to the first whose quotes are not those of the choice."""

    def __init__(
        self, lines: Iterable[str], dialect: Dialect, choice: QuoteChoice | None = None
    ) -> None:
        self._dialect, self._choice = dialect, choice or QuoteChoice()
        below = islice(lines, dialect.skip, None)
        is_blank = dialect.delimiter == " "
        self._lines = (line.strip(" \t\r\n") + "\n" for line in below) if is_blank else below
        self._end = dialect.skip  # of the last row
        self._state, self._opened = OUTSIDE, dialect.skip
        self._could_be_rows = False  # all lines of the text in quotes so far
        self._fault: RowFault | None = None

    def __iter__(self) -> Iterator[CsvRow]:
        skip = self._dialect.skip
        for row in csv_records(self._watched_lines(), self._dialect.quotes):
            self._end = skip + row.end
            if not row.is_blank:
                yield row._replace(begin=skip + row.begin, end=self._end)

    def fault(self, *, complete: bool = True) -> RowFault | None:
        """The first fault of all rows, or None; the last row may go on unless `complete`."""
        dialect = self._dialect
        width = len(dialect.header) if dialect.extra else dialect.width
        rows = iter(self)
        try:
            for row in rows:
                if self._fault:
                    break
                if len(row.cells) != width and (complete or next(rows, None)):
                    return self._width_fault(row)
                width = dialect.width
        except csv.Error as error:
            if self._state == INSIDE:  # a cell longer than any may be
                return _open_quote(self._opened, dialect.quote)
            return RowFault(self._end + 1, f"the row cannot be read ({error})", "check its quotes")
        if self._fault is None and self._state == INSIDE and complete:
            return _open_quote(self._opened, dialect.quote)
        return self._fault

    def _width_fault(self, row: CsvRow) -> RowFault:
        count, width = len(row.cells), self._dialect.width
        # A cell over several lines in a row of another width: its quote was not meant to go on.
        if row.end > row.begin and any("\n" in cell or "\r" in cell for cell in row.cells):
            return _open_quote(row.begin, self._dialect.quote)
        values = "1 value" if count == 1 else f"{count} values"
        too_many = "put quotes around text that holds the delimiter"
        cure = f"; {too_many}" if count > width else ", empty ones where nothing is known"
        what = f"the row has {values} where the others have {width}"
        return RowFault(row.begin, what, f"give it {width} values{cure}")

    def _watched_lines(self) -> Iterator[str]:
        quotes = self._dialect.quotes
        if self._choice.is_checked or quotes.reading == UNQUOTED:
            yield from self._lines
            return
        for number, line in enumerate(self._lines, self._dialect.skip + 1):
            if quotes.quote in line or (quotes.reading == ESCAPED and BACKSLASH in line):
                self._watch_quotes(number, line, quotes)
                if self._fault:
                    return
            elif self._state == INSIDE:
                self._could_be_rows &= line.count(quotes.delimiter) + 1 == self._dialect.width
            else:
                self._state = OUTSIDE
            yield line

    def _watch_quotes(self, number: int, line: str, quotes: Quotes) -> None:
        scanned = scan_line(line, quotes, self._state)
        if not scanned.fits or self._swallows_rows(line, scanned, quotes):
            opened = self._opened if self._state == INSIDE else number
            what = f"text follows a quote ({quotes.quote}) that closes"
            fault = RowFault(number, what, "double a quote that belongs to the text")
            self._fault = fault if opened == number else _open_quote(opened, quotes.quote)
        elif self._choice.strict and not scanned.is_plain:
            self._fault = RowFault(number, "a backslash is before a quote", "take it out")
        self._state = scanned.state
        self._opened = number if scanned.is_open else self._opened

    def _swallows_rows(self, line: str, scanned: ScannedLine, quotes: Quotes) -> bool:
        """Whether rows stand in quotes: a row with quoted cells, or all lines could be rows."""
        width = self._dialect.width
        if quotes.reading != OUTER or width < 2 or INSIDE not in (self._state, scanned.state):
            return False
        is_row = len(next(csv_reader([line], quotes), [])) == width
        if self._state == INSIDE:
            alone = scan_line(line, quotes)
            if is_row and alone.parts and alone.state == OUTSIDE:
                return True
            is_row &= self._could_be_rows
        self._could_be_rows = is_row
        return is_row and scanned.state != INSIDE


def check_rows(source: TextSource, dialect: Dialect, choice: QuoteChoice | None = None) -> None:
    """Refuse the first row of another width or with unfitting quotes."""
    with source.open_lines(dialect.encoding) as lines:
        fault = CsvRows(lines, dialect, choice).fault()
    if fault is not None:
        where = f"{source.path.name}, line {fault.line}"
        raise UnusableError(fault.what, where=where, cure=fault.cure)


def has_fitting_quotes(source: TextSource, dialect: Dialect) -> bool:
    """Whether all quotes of a file fit the dialect's reading, and where that is not plain, rows."""
    is_plain = dialect.reading == DOUBLED and not dialect.is_wide
    # The survey looks at bytes and is far quicker than one at rows.
    with suppress(UnusableError):
        if is_plain and survey_file(source.path, source, dialect.quotes).fits:
            return True
        check_rows(source, dialect)
        return True
    return False


def survey_file(path: Path, source: TextSource, quotes: Quotes) -> QuoteCheck:
    """The quotes in a file, or in one with its bytes."""
    compression = source.compression if path == source.path else ""
    check = QuoteCheck(quotes)
    with GuardedFile(open_bytes(path, compression), source.path.name, wide=False) as file:
        end = b"\n"
        while block := file.read_block():
            check.add_block(block)
            end = block[-1:]
        check.lines = file.lines + (end != b"\n")
    check.finish()
    return check


class QuoteCheck:
    """A fast look at bytes, block by block: `fits` is False where RFC 4180 may be violated."""

    def __init__(self, quotes: Quotes) -> None:
        self._sign = quotes.quote.encode()
        self._delimiter = ord(quotes.delimiter)
        self._padded = quotes.padded
        blank = "\t" if quotes.delimiter == " " else ""
        self._beside = np.zeros(256, dtype=bool)  # what may stand beside a quote
        self._beside[list(f"{quotes.delimiter}\n\r{quotes.quote}{blank}".encode())] = True
        self._end = b"\n\n\n"  # of the last block
        self.fits, self.count = True, 0
        self.lines = 0  # that a file has, if this is all of one

    def add_block(self, block: bytes) -> None:
        """Look at the next bytes, but for the last, which is looked at with those behind it."""
        if self._end == b"\n\n\n":
            # The mark of UTF-8 would stand beside a first quote.
            block = block.removeprefix(b"\xef\xbb\xbf")
        ahead, self._end = self._end, (self._end + block[-3:])[-3:]
        if self.fits and (self._sign in block or ahead[2:] == self._sign):
            self._check_quotes(np.frombuffer(ahead + block, np.uint8))

    def finish(self) -> bool:
        """Look at the last byte: whether all quotes fit, and none is open."""
        self.add_block(b"\n")
        self.fits &= self.count % 2 == 0
        return self.fits

    def _check_quotes(self, letters: np.ndarray) -> None:
        # The two letters ahead and the one behind are those of other blocks.
        places = np.flatnonzero(letters[2:-1] == self._sign[0]) + 2
        first = self.count % 2
        opening, closing = places[first::2], places[1 - first :: 2]
        begins = self._beside[letters[opening - 1]]
        if self._padded and not begins.all():
            ahead = letters[opening - 2]
            begins |= (letters[opening - 1] == 32) & ((ahead == self._delimiter) | (ahead == 10))
        self.fits &= bool(begins.all() and self._beside[letters[closing + 1]].all())
        self.count += len(places)
