"""Detects the dialect of a text table from its head: encoding, delimiter, header, decimal sign."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from core.datasets.files.delimiters import (
    COMMA_NUMBER,
    NUMBER,
    ONE_COLUMN,
    delimiter_of,
    is_number,
    split_rows,
)
from core.errors import UnusableError

_NAMES = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas", " ": "spaces"}
MISSING = (
    *("", "NA", "N/A", "n/a", "na", "N.A.", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "NAN"),
    *("-nan", "-NaN", "null", "Null", "NULL", "none", "None", "NONE", "?", "-", "--", ".", "NaT"),
    *("missing", "Missing", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
_MISSING = frozenset(MISSING)
_LONGEST_NAME, _LONGEST_LETTERS = 5, 40  # words and letters of the name of a single column
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*$")

_DOT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_DOT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_LIBSVM_PAIR = re.compile(rf"[+-]?\d+:({NUMBER.pattern}|nan)", re.IGNORECASE)
_CLOCK = re.compile(r"([01]?\d|2[0-4]):[0-5]\d")


@dataclass(frozen=True)
class Dialect:
    """The format of a text table."""

    encoding: str  # for open()
    delimiter: str  # of DELIMITERS (" ": any run of blanks), or ONE_COLUMN
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    skip: int = 0  # lines before the table
    header: tuple[str, ...] = ()  # stripped; () for none
    width: int = 0  # cells per row
    extra: str = ""  # "empty" last cell of rows, or "names" of rows first
    padded: bool = False  # blanks follow delimiters
    trimmed: bool = False  # header cells had blanks around
    rows: list[list[str]] = field(default_factory=list)  # the first ones

    @cached_property
    def numbers(self) -> list[float]:
        """The share of numbers among each column's first values; 1 if all are missing."""
        shares = []
        for i in range(max(self.width, len(self.header)) + 1):
            cells = [row[i] for row in self.rows if i < len(row)]
            filled = [cell for cell in cells if not is_missing(cell)]
            count = sum(is_number(cell, self.decimal, self.thousands) for cell in filled)
            shares.append(count / len(filled) if filled else 1.0)
        return shares

    @property
    def description(self) -> str:
        """In words: "semicolons between columns, decimal commas, a header, UTF-8"."""
        between = _NAMES.get(self.delimiter)
        phrases = [f"{between} between columns" if between else "one column", *self.row_phrases]
        names = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1"}
        names["cp1252"] = "Windows-1252"
        return ", ".join([*phrases, names.get(self.encoding, self.encoding)])

    @property
    def row_phrases(self) -> list[str]:
        """The phrases that also apply to sheets: decimal sign, header, lines above."""
        phrases = ["decimal commas"] if self.decimal == "," else []
        phrases.append("a header" if self.header else "no header")
        if self.skip:
            lines = "1 line" if self.skip == 1 else f"{self.skip} lines"
            phrases.append(f"{lines} above the table left out")
        return phrases


def decode_head(head: bytes) -> tuple[str, str]:
    """The encoding's name, and the head as text without a letter cut at the end.

    Latin-1 only where bytes are undefined in Windows-1252, a superset in printable letters.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", codecs.getincrementaldecoder("utf-16")("replace").decode(head)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8", text.removeprefix("\ufeff")
    except UnicodeDecodeError:
        pass
    try:
        return "cp1252", head.decode("cp1252")
    except UnicodeDecodeError:
        pass
    return "latin-1", head.decode("latin-1")


def looks_like_libsvm(text: str) -> bool:
    """Whether most lines are a number and index:value pairs, and nothing else.

    Lines with a label alone are ignored. Lines of a number and a time of day, which looks like a
    pair, are a table.
    """
    hits = clocks = lines = 0
    for line in text.splitlines()[:200]:
        tokens = line.split("#", 1)[0].split()
        if not tokens:
            continue
        pairs = [token for token in tokens[1:] if not token.startswith("qid:")]
        labelled = all(is_number(label) for label in tokens[0].split(","))
        if not pairs and labelled:
            continue
        lines += 1
        fits = labelled and all(_LIBSVM_PAIR.fullmatch(token) for token in pairs)
        hits += fits
        clocks += fits and len(tokens) == 2 and _CLOCK.fullmatch(pairs[0]) is not None
    return hits > clocks and 2 * hits >= lines


def sniff_dialect(head: bytes, name: str, *, complete: bool, required_column: str = "") -> Dialect:
    """The dialect of a text table; a single column holds texts at best.

    `complete`: whether the head is the whole file; otherwise its last line is dropped. A
    `required_column` decides between delimiters.

    Raises:
        UnusableError: an open quote, no row, or nothing below the header.
    """
    return _cached_dialect(head, name, complete, required_column)


@lru_cache(maxsize=2)  # one reading asks several times; `clear_sniff_cache` frees the cells
def _cached_dialect(head: bytes, name: str, complete: bool, required_column: str) -> Dialect:
    encoding, text = decode_head(head)
    # Not splitlines: cells may hold what ends a line elsewhere (form feeds, U+2028).
    lines = list(io.StringIO(text, newline=""))
    if not complete:
        lines = lines[:-1]
    sep_line_count = 1 if lines and re.fullmatch(r"sep=.\s*", lines[0]) else 0
    quote = _quote_of(lines[sep_line_count:])
    delimiter, table = delimiter_of(lines[sep_line_count:], quote, name, required_column)
    skip = sep_line_count + _lines_above(lines[sep_line_count:], delimiter, table, quote)
    above, lines = lines[:skip], lines[skip:]
    if skip > sep_line_count:
        delimiter, table = delimiter_of(lines, quote, name, required_column)
    _check_above(above, delimiter, quote, name)
    width = _usual_width(table)
    header = header_of(table, width)
    if required_column and required_column in (cell.strip() for cell in table[0]):
        header = tuple(table[0])
    rows = table[1:] if header else table
    if not rows:
        raise UnusableError("there is no row below the header", where=name, cure="add rows")
    decimal, thousands = decimal_of(rows, delimiter)
    return Dialect(
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        decimal=decimal,
        thousands=thousands,
        skip=skip,
        header=tuple(cell.strip() for cell in header),
        width=width,
        extra=_extra_of(header, rows, width),
        padded=delimiter != " " and _is_padded(lines, delimiter),
        trimmed=_is_trimmed(lines, header, delimiter),
        rows=rows,
    )


def clear_sniff_cache() -> None:
    """Clear the cache of detected dialects."""
    _cached_dialect.cache_clear()


def _usual_width(table: list[list[str]]) -> int:
    return Counter(len(row) for row in table[1:] or table).most_common(1)[0][0]


def _check_above(above: list[str], delimiter: str, quote: str, name: str) -> None:
    """Refuse a cell above the table that opens a quote, which would swallow the header."""
    for number, line in enumerate(above, 1):
        reader = csv.reader([line, f"{quote}\n"], delimiter=delimiter, quotechar=quote)
        next(reader)
        if reader.line_num > 1:
            raise UnusableError(
                f"a note above the table opens a quote ({quote}) and does not close it",
                where=f"{name}, line {number}",
                cure="close the quote, or leave the line out",
            )


def _lines_above(lines: list[str], delimiter: str, table: list[list[str]], quote: str) -> int:
    """The number of lines above the table: comments (#), a title, blank lines between."""
    width = _usual_width(table)
    if delimiter == ONE_COLUMN:
        return 0  # every line looks like a title
    below = [row for row in table if not row[0].startswith("#")]
    named_below = bool(below and header_of(below, width))  # then "#" does not begin a header
    for above, line in enumerate(lines[:50]):
        cells = split_rows([line], delimiter, quote)
        count = len(cells[0]) if cells else 0
        title = count <= 1 and not is_number(line) and line.count(quote) % 2 == 0
        comment = line.startswith("#") and (count != width or named_below)
        if not title and not comment:
            return above
    return 0


def _quote_of(lines: list[str]) -> str:
    start = "".join(lines[:200])
    if '"' not in start and re.search(r"(^|[;,\t|])'[^'\n]*'([;,\t|\r\n]|$)", start):
        return "'"
    return '"'


def is_missing(cell: str) -> bool:
    """Whether a cell is one of the usual spellings of a missing value."""
    return cell.strip() in _MISSING


def header_of(table: list[list[str]], width: int) -> tuple[str, ...]:
    """The first row if it is a header of `width` columns, otherwise ()."""
    first, below = [cell.strip() for cell in table[0]], table[1:]
    if len(first) == width - 1:  # rows begin with their names; only a header is shorter
        return tuple(table[0])
    numeric = [any(is_number(cell, mark) for mark in ".,") for cell in first]
    counting = [str(i) for i in range(len(first))], [str(i + 1) for i in range(len(first))]
    if first in counting and len(first) > 2:
        return tuple(table[0])
    if all(numeric):
        return ()
    column_values = [{row[i] for row in below if i < len(row)} for i in range(len(first))]
    for i, cell in enumerate(first):
        values = [value for value in column_values[i] if not is_missing(value)]
        numbers = sum(any(is_number(value, mark) for mark in ".,") for value in values)
        if values and numbers >= 0.9 * len(values) and not numeric[i] and not is_missing(cell):
            return tuple(table[0])
    if any(numeric) or (width == 1 and _is_sentence(first[0])):
        return ()
    repeat_count = sum(table[0][i] in column_values[i] for i in range(len(first)))
    return () if below and repeat_count > 0 else tuple(table[0])


def _is_sentence(cell: str) -> bool:
    long = len(cell.split()) > _LONGEST_NAME or len(cell) > _LONGEST_LETTERS
    return long or _SENTENCE_END.search(cell) is not None


def _extra_of(header: tuple[str, ...], rows: list[list[str]], width: int) -> str:
    if header and width == len(header) + 1:
        ends = all(not row[-1].strip() for row in rows if len(row) == width)
        return "empty" if ends else "names"
    return ""


def _is_padded(lines: list[str], delimiter: str) -> bool:
    start = "".join(lines[:200])
    padded_count = start.count(delimiter + " ")
    # The header may be padded alone.
    return delimiter + " " in _first_line(lines) or padded_count > 0.5 * start.count(delimiter)


def _is_trimmed(lines: list[str], header: tuple[str, ...], delimiter: str) -> bool:
    # `header` lacks blanks in front already, which pandas also skips in padded tables.
    ahead = delimiter != " " and _first_line(lines).startswith(" ")
    return bool(header) and (ahead or any(cell != cell.strip() for cell in header))


def _first_line(lines: list[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def decimal_of(rows: list[list[str]], delimiter: str) -> tuple[str, str]:
    """The decimal and the thousands sign of most cells."""
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if "," in cell]
    comma_numbers = sum(COMMA_NUMBER.fullmatch(cell) is not None for cell in commas)
    comma_groups = sum(_COMMA_THOUSANDS.fullmatch(cell) is not None for cell in commas)
    dot_groups = sum(_DOT_THOUSANDS.fullmatch(cell) is not None for cell in commas)
    dots = [cell for cell in cells if _DOT_NUMBER.fullmatch(cell)]
    if not comma_numbers and not dot_groups:
        return (".", ",") if comma_groups else (".", "")
    if dots and not all(_DOT_THOUSANDS.fullmatch(cell) for cell in dots):
        return (".", ",") if comma_groups and comma_groups >= comma_numbers else (".", "")
    if delimiter == "," and comma_groups >= comma_numbers:
        return ".", ","
    return ",", "." if dot_groups else ""
