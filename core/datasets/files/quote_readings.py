"""Finds the reading of quotes under which every row of a text table has the table's width."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True)
class QuoteChoice:
    """A sign and a reading of it; `is_checked`: its quotes fit, widths alone are in question.

    `strict`: a backslash before a quote within a cell speaks against the reading.
    """

    quote: str = '"'
    reading: str = DOUBLED
    strict: bool = False
    is_checked: bool = False


# In the order in which they are tried. Plain tables hold no backslash before a quote: where
# there is one, it is more often an escape.
_ORDER = ((DOUBLED, True), (ESCAPED, True), (DOUBLED, False), (ESCAPED, False), (OUTER, False))


def quote_choices(text: str, quote: str) -> list[QuoteChoice]:
    """What the quotes of a text may be, the likeliest first; `quote` is the likelier sign."""
    double = [QuoteChoice('"', reading, strict) for reading, strict in _ORDER]
    double = [*double, QuoteChoice('"', UNQUOTED)] if '"' in text else []
    single = [QuoteChoice("'"), QuoteChoice("'", ESCAPED)] if "'" in text else []
    choices = single + double if quote == "'" else double + single
    if '"' not in text:
        plain = [QuoteChoice(), QuoteChoice(reading=ESCAPED)]
        choices = single + plain if quote == "'" else plain[:1] + single + plain[1:]
    return [c for c in choices if c.reading != ESCAPED or BACKSLASH in text]


@dataclass(frozen=True)
class RowFault:
    """Why a row is none: its first line, what is wrong and what to do."""

    line: int
    what: str
    cure: str


def open_quote(line: int, quote: str) -> RowFault:
    """The fault of a quote that opens in a line and is not closed."""
    what = f"a quote ({quote}) opens here and is not closed"
    return RowFault(line, what, "close it, or double a quote that belongs to the text")


@dataclass(frozen=True)
class RowShape:
    """How many cells a row has; `header_width` is the header's where that may be another one."""

    quotes: Quotes
    width: int
    header_width: int

    def row_fault(
        self, lines: Iterable[str], choice: QuoteChoice | None = None, *, complete: bool = True
    ) -> RowFault | None:
        """The first fault, lines from 1, or None; the last row may go on unless `complete`."""
        watch = _QuoteWatch(lines, self, choice or QuoteChoice())
        reader, end, width = csv_reader(watch, self.quotes), 0, self.header_width
        try:
            for row in reader:
                begin, end = end + 1, reader.line_num
                if watch.fault:
                    break
                if not row or (len(row) == 1 and not row[0].strip()):
                    continue
                if len(row) != width and (complete or next(reader, None) is not None):
                    return self._width_fault(row, begin, end)
                width = self.width
        except csv.Error as error:
            if watch.state == INSIDE:  # a cell longer than any may be
                return open_quote(watch.opened, self.quotes.quote)
            return RowFault(end + 1, f"the row cannot be read ({error})", "check its quotes")
        is_open = watch.state == INSIDE and complete
        return watch.fault or (open_quote(watch.opened, self.quotes.quote) if is_open else None)

    def _width_fault(self, row: list[str], begin: int, end: int) -> RowFault:
        if end > begin and any("\n" in cell or "\r" in cell for cell in row):
            return open_quote(begin, self.quotes.quote)
        width = self.width
        return RowFault(
            begin,
            f"the row has {len(row)} {'value' if len(row) == 1 else 'values'}"
            f" where the others have {width}",
            f"give it {width} values; put quotes around text that holds the delimiter"
            if len(row) > width
            else f"give it {width} values, empty ones where nothing is known",
        )


class _QuoteWatch:
    def __init__(self, lines: Iterable[str], shape: RowShape, choice: QuoteChoice) -> None:
        self._lines, self._shape, self._choice = lines, shape, choice
        self.state, self.opened = OUTSIDE, 0
        self._could_be_rows = False  # all lines of the text in quotes so far
        self.fault: RowFault | None = None

    def __iter__(self) -> Iterator[str]:
        quotes = self._shape.quotes
        sign = "" if quotes.reading == UNQUOTED or self._choice.is_checked else quotes.quote
        for number, line in enumerate(self._lines, 1):
            is_telling = bool(sign) and sign in line
            if is_telling or (quotes.reading == ESCAPED and BACKSLASH in line):
                before = self.state
                scanned = scan_line(line, quotes, before)
                opened = number if before != INSIDE else self.opened
                if not scanned.fits or self._swallows(line, before, scanned):
                    self.fault = self._closing_fault(opened, number)
                elif self._choice.strict and not scanned.is_plain:
                    self.fault = RowFault(number, "a backslash is before a quote", "take it out")
                if self.fault:
                    return
                self.state = scanned.state
                self.opened = number if scanned.is_open else self.opened
            elif self.state == INSIDE:
                count = line.count(quotes.delimiter) + 1
                self._could_be_rows &= count == self._shape.width
            else:
                self.state = OUTSIDE
            yield line

    def _swallows(self, line: str, before: int, scanned: ScannedLine) -> bool:
        """Whether rows stand in quotes: a row with quoted cells, or all lines could be rows."""
        quotes, width = self._shape.quotes, self._shape.width
        if quotes.reading != OUTER or width < 2 or INSIDE not in (before, scanned.state):
            return False
        cells: list[str] = next(csv_reader([line], quotes), [])
        is_row = len(cells) == width
        if before == INSIDE:
            alone = scan_line(line, quotes)
            if is_row and alone.parts and alone.state == OUTSIDE:
                return True
            is_row &= self._could_be_rows
        self._could_be_rows = is_row
        return is_row and scanned.state != INSIDE

    def _closing_fault(self, opened: int, number: int) -> RowFault:
        quote = self._shape.quotes.quote
        if opened != number:
            return open_quote(opened, quote)
        what = f"text follows a quote ({quote}) that closes"
        return RowFault(number, what, "double a quote that belongs to the text")


class QuoteCheck:
    """A fast look at bytes, block by block: `fits` is False where RFC 4180 may be violated."""

    def __init__(self, quotes: Quotes) -> None:
        self._sign = quotes.quote.encode()
        before = {quotes.delimiter, "\n", "\r", quotes.quote}
        if quotes.delimiter == " ":
            before.add("\t")
        self._before = _byte_set(before)
        self._delimiter = ord(quotes.delimiter)
        self._padded = quotes.padded
        self._end = b"\n\n\n"  # of the last block
        self._count = 0
        self.fits, self.is_multiline = True, False

    def add_block(self, block: bytes) -> None:
        """Look at the next bytes, but for the last, which is looked at with those behind it."""
        if self._end == b"\n\n\n":
            block = block.removeprefix(b"\xef\xbb\xbf")
        ahead, self._end = self._end, (self._end + block[-3:])[-3:]
        if not self.fits or (self._sign not in block and ahead[2:] != self._sign):
            self.is_multiline |= self._count % 2 == 1 and b"\n" in ahead[2:] + block[:-1]
            return
        self._check(np.frombuffer(ahead + block, np.uint8))

    def finish(self) -> None:
        """Look at the last byte, and whether a quote is open behind it."""
        self.add_block(b"\n")
        self.fits &= self._count % 2 == 0

    def _check(self, letters: np.ndarray) -> None:
        # The two letters ahead and the one behind are those of other blocks.
        places = np.flatnonzero(letters[2:-1] == self._sign[0]) + 2
        first = self._count % 2
        opening, closing = places[first::2], places[1 - first :: 2]
        begins = self._before[letters[opening - 1]]
        if self._padded and not begins.all():
            ahead = letters[opening - 2]
            begins |= (letters[opening - 1] == 32) & ((ahead == self._delimiter) | (ahead == 10))
        self.fits &= bool(begins.all() and self._before[letters[closing + 1]].all())
        if not self.is_multiline:
            ends = np.flatnonzero(letters[2:-1] == 10) + 2
            self.is_multiline = bool(((np.searchsorted(places, ends) + first) % 2).any())
        self._count += len(places)


def _byte_set(signs: Iterable[str]) -> np.ndarray:
    members = np.zeros(256, dtype=bool)
    members[[ord(sign) for sign in signs]] = True
    return members
