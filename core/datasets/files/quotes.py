"""Readings of the quotes in a text table; exported scripts hold this source (Python alone).

A quote opens at the beginning of a cell and is a letter in others; readings differ in what closes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DOUBLED = "doubled"  # RFC 4180: a quote in the text is doubled
ESCAPED = "escaped"  # a backslash makes the sign behind it a letter
OUTER = "outer"  # a quote closes only before a delimiter or the end of a line
UNQUOTED = "letters"  # no quote opens
BACKSLASH = "\\"
LONGEST_CELL = 2**27  # letters
OUTSIDE, INSIDE, WITHIN = 0, 1, 2  # where a line begins: at a cell, in quotes, in a cell without


@dataclass(frozen=True)
class Quotes:
    """How quotes are read; `delimiter` " ": any run of blanks; `padded`: skip blanks behind it."""

    delimiter: str
    quote: str = '"'
    reading: str = DOUBLED
    padded: bool = True

    def opens(self, line: str, position: int, state: int) -> bool:
        """Whether the quote at a position, outside of quotes, begins a cell."""
        begin = position
        while begin > 0 and line[begin - 1] == " ":
            begin -= 1
        if begin == 0:
            return state == OUTSIDE and (position == 0 or self.padded or self.delimiter == " ")
        if self.delimiter == " ":
            return begin < position or line[begin - 1] == "\t"
        if line[begin - 1] != self.delimiter or (begin < position and not self.padded):
            return False
        return self.reading != ESCAPED or not is_escaped(line, begin - 1)

    def closes_cell(self, line: str, position: int) -> bool:
        """Whether a cell may end at a position: a delimiter or the line's end follows."""
        while self.reading != OUTER and line[position : position + 1] in (" ", "\t"):
            if line[position] == self.delimiter or self.delimiter == " ":
                return True
            position += 1
        following = line[position : position + 1]
        blank = self.delimiter == " " and following == "\t"
        return blank or following in ("", "\r", "\n", self.delimiter)


def quote_reading(read_csv: Mapping[str, Any], quotes: Mapping[str, Any] | None) -> str:
    """The reading in the arguments of pandas and, if there are some, of `doubled_text`."""
    if quotes:
        return OUTER
    if read_csv.get("quoting") == csv.QUOTE_NONE:
        return UNQUOTED
    return ESCAPED if read_csv.get("escapechar") == BACKSLASH else DOUBLED


@dataclass
class ScannedLine:
    """What a line is: its parts in quotes, how the next one begins, and whether all quotes fit."""

    parts: list[tuple[int, int]]
    state: int
    is_open: bool = False  # a quote opens in it that it does not close
    fits: bool = True  # whether no text follows a quote that closes
    is_plain: bool = True  # whether a backslash stands before quotes where it should alone


def scan_line(line: str, quotes: Quotes, state: int = OUTSIDE) -> ScannedLine:
    """A line, which begins in a `state`, in a time that its length bounds."""
    scanned = ScannedLine([], state)
    sign, reading, begin = quotes.quote, quotes.reading, 0
    position = line.find(sign) if sign and reading != UNQUOTED else -1
    while position >= 0:
        escaped = line[position - 1 : position] == BACKSLASH and is_escaped(line, position)
        if scanned.state != INSIDE:
            if (reading != ESCAPED or not escaped) and quotes.opens(line, position, state):
                scanned.state, begin = INSIDE, position + 1
            else:
                scanned.is_plain &= escaped == (reading == ESCAPED)
        elif reading != ESCAPED or not escaped:
            count = 1
            if reading != OUTER and line[position + 1 : position + 2] == sign:
                count = _run_length(line, position, sign)
            position += count - 1  # two are a letter, a last one closes
            closes = count % 2 == 1 and quotes.closes_cell(line, position + 1)
            if closes or (count % 2 == 1 and reading != OUTER):
                scanned.parts.append((begin, position))
                scanned.state = state = WITHIN
                scanned.fits &= closes
        position = line.find(sign, position + 1)
    if scanned.state == INSIDE:
        scanned.parts.append((begin, len(line)))
        scanned.is_open = begin > 0
    else:
        continues = reading == ESCAPED and line.endswith(("\n", "\r"))
        scanned.state = WITHIN if continues and is_escaped(line, len(line) - 1) else OUTSIDE
    return scanned


def _run_length(line: str, position: int, sign: str) -> int:
    other = re.compile(f"[^{re.escape(sign)}]").search(line, position)
    return (other.start() if other else len(line)) - position


def is_escaped(line: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before a position."""
    begin = position
    while begin > 0 and line[begin - 1] == BACKSLASH:
        begin -= 1
    return (position - begin) % 2 == 1


def doubled_lines(lines: Iterable[str], quotes: Quotes) -> Iterator[str]:
    """The lines with every quote in a text doubled, as RFC 4180 has it."""
    state, sign = OUTSIDE, quotes.quote
    for line in lines:
        if sign not in line:  # also where a text in quotes goes on
            yield line
            continue
        scanned, end, pieces = scan_line(line, quotes, state), 0, list[str]()
        state = scanned.state
        for first, last in scanned.parts:
            pieces += [line[end:first], line[first:last].replace(sign, sign + sign)]
            end = last
        yield "".join([*pieces, line[end:]])


def doubled_text(data: bytes, encoding: str, **quotes: Any) -> io.StringIO:
    """A table's text with every quote in a text doubled; `quotes`: the fields of `Quotes`."""
    text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    lines = io.StringIO(text, newline="")
    return io.StringIO("".join(doubled_lines(lines, Quotes(**quotes))), newline="")


def csv_reader(lines: Iterable[str], quotes: Quotes) -> Any:
    """The csv module's reader of lines with such quotes, whatever the length of their cells."""
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(
        doubled_lines(lines, quotes) if quotes.reading == OUTER else lines,
        delimiter=quotes.delimiter,
        quotechar=quotes.quote,
        quoting=csv.QUOTE_NONE if quotes.reading == UNQUOTED else csv.QUOTE_MINIMAL,
        escapechar=BACKSLASH if quotes.reading == ESCAPED else None,
        skipinitialspace=quotes.padded,
    )
