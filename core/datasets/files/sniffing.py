"""Detects the dialect of a text table from its head: encoding, delimiter, header, decimal sign."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from core.datasets.files.delimited_rows import CsvRows, Dialect, QuoteCheck, QuoteChoice
from core.datasets.files.delimiters import (
    COMMA_NUMBER,
    NUMBER,
    ONE_COLUMN,
    delimiter_of,
    is_missing,
    is_number,
    split_rows,
)
from core.datasets.files.file_bytes import decode_head
from core.datasets.files.header_rows import is_figure, names_place
from core.datasets.files.quotes import (
    BACKSLASH,
    DOUBLED,
    ESCAPED,
    INSIDE,
    OUTER,
    UNQUOTED,
    Quotes,
    scan_line,
)
from core.errors import UnusableError

_IN_SINGLE_QUOTES = re.compile(r"(^|[;,\t|]) *'[^'\n]+(''[^'\n]*)*'(?=[;,\t|\r\n]|$)")
_SINGLE_QUOTE, _DOUBLE_QUOTE = (re.compile(rf"(^|[;,\t|]) *{sign}") for sign in "'\"")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SIGNS = {'"', "'", BACKSLASH}
# In the order in which they are tried. Plain tables hold no backslash before a quote: where
# there is one, it is more often an escape.
_ORDER = ((DOUBLED, True), (ESCAPED, True), (DOUBLED, False), (ESCAPED, False), (OUTER, False))
_LONGEST_NAME, _LONGEST_LETTERS = 5, 40  # words and letters of the name of a single column
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*$")

_DOT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_DOT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_LIBSVM_PAIR = re.compile(rf"[+-]?\d+:({NUMBER.pattern}|nan)", re.IGNORECASE)
_CLOCK = re.compile(r"([01]?\d|2[0-4]):[0-5]\d")


def looks_like_libsvm(text: str) -> bool:
    """Whether most lines are a number and index:value pairs, not one pair that is a time of day."""
    hits = clocks = lines = 0
    if ":" not in text:
        return False
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


@lru_cache(maxsize=2)  # one reading asks several times; it ends by clearing the cache
def sniff_dialect(
    head: bytes,
    name: str,
    complete: bool,
    required_column: str = "",
    choice: QuoteChoice | None = None,
) -> Dialect:
    """The dialect of a text table; a single column holds texts at best.

    The first reading of quotes (or the `choice`) under which all rows of the head are equally wide.
    Raises UnusableError for no row, nothing below the header, or a quote open above it.
    """
    encoding, text = decode_head(head)
    lines = _lines_of(text)[: None if complete else -1]
    choices = [choice] if choice else _choices(lines, {s for s in _SIGNS if s in text})
    first: Dialect | UnusableError | None = None
    consistent: Dialect | None = None
    for each in choices:
        if consistent and each.reading in (OUTER, UNQUOTED):
            continue
        try:
            dialect = _dialect_as(each, lines, encoding, name, required_column)
        except UnusableError as error:
            first = first or error
            continue
        if len(choices) == 1 or _holds(each, dialect, lines, complete):
            if _is_certain(dialect, lines):
                return dialect
            consistent = consistent or dialect
        first = first or dialect
    best = consistent or first
    if isinstance(best, Dialect):
        return best
    assert best is not None
    raise best


def _is_certain(dialect: Dialect, lines: list[str]) -> bool:
    if dialect.width > 1:
        return not dialect.extra
    begins = [line.lstrip().startswith(dialect.quote) for line in lines if line.strip()]
    return dialect.reading == DOUBLED and 2 * sum(begins) >= len(begins)


def _lines_of(text: str) -> list[str]:
    # Not splitlines: cells may hold what ends a line elsewhere (form feeds, U+2028).
    return list(io.StringIO(text, newline="")) if "\r" in text else _LINE.findall(text)


def whole_file_choices(head: bytes) -> list[QuoteChoice]:
    """What the quotes of a file may be that begins with these bytes, wherever they come."""
    lines = _lines_of(decode_head(head)[1])
    return _choices(lines, _SIGNS if any("'" in line for line in lines) else {'"', BACKSLASH})


def _choices(lines: list[str], signs: set[str]) -> list[QuoteChoice]:
    """What the quotes of a text with some signs may be, the likeliest first."""
    choices, less_likely = [QuoteChoice()], [QuoteChoice(reading=ESCAPED)]
    if '"' in signs:
        readings = [QuoteChoice('"', reading, strict) for reading, strict in _ORDER]
        choices, less_likely = [*readings, QuoteChoice('"', UNQUOTED)], []
    if "'" in signs and any(map(_SINGLE_QUOTE.search, lines)):
        single = [QuoteChoice("'"), QuoteChoice("'", ESCAPED)]
        choices = single + choices if _quote_of(lines) == "'" else choices + single
    return [c for c in choices + less_likely if c.reading != ESCAPED or BACKSLASH in signs]


def _holds(choice: QuoteChoice, dialect: Dialect, lines: list[str], complete: bool) -> bool:
    if not names_fit(dialect):
        return False
    if choice.reading == DOUBLED and choice.strict:
        check = QuoteCheck(dialect.quotes)
        check.add_block("".join(lines[dialect.skip :]).encode())
        choice = replace(choice, is_checked=check.finish() if complete else check.fits)
    return CsvRows(lines, dialect, choice).fault(complete=complete) is None


def names_fit(dialect: Dialect) -> bool:
    """Whether no name is in quotes that would be letters: who quotes names, quotes cells."""
    sign = "" if dialect.reading == UNQUOTED else dialect.quote
    double = any(re.fullmatch('".+"', name) for name in dialect.header)
    single = bool(dialect.header) and all(re.fullmatch("'.+'", n) for n in dialect.header)
    return not (double and sign != '"') and not (single and sign != "'")


def _dialect_as(
    choice: QuoteChoice, lines: list[str], encoding: str, name: str, required_column: str
) -> Dialect:
    quotes = Quotes("", choice.quote, choice.reading)
    sep_line_count = 1 if lines and re.fullmatch(r"sep=.\s*", lines[0]) else 0
    delimiter, table = delimiter_of(lines[sep_line_count:], quotes, name, required_column)
    quotes = replace(quotes, delimiter=delimiter)
    skip = sep_line_count + _lines_above(lines[sep_line_count:], table, quotes)
    above, lines = lines[:skip], lines[skip:]
    if skip > sep_line_count:
        delimiter, table = delimiter_of(lines, quotes, name, required_column)
        quotes = replace(quotes, delimiter=delimiter)
    _check_above(above, quotes, name)
    place, units = names_place(table, required_column)
    more = _lines_of_rows(lines, table[: place + bool(units)], quotes)
    if delimiter == ONE_COLUMN or not more:
        more, place, units = 0, 0, ()
    skip, lines, table = skip + more, lines[more:], table[place:]
    width = _usual_width(table)
    header = header_of(table, width)
    if units or (required_column and required_column in (cell.strip() for cell in table[0])):
        header = tuple(table[0])
    rows = table[1 + bool(units) :] if header else table
    if not rows:
        raise UnusableError("there is no row below the header", where=name, cure="add rows")
    decimal, thousands = decimal_of(rows, delimiter)
    return Dialect(
        encoding=encoding,
        delimiter=delimiter,
        quote=choice.quote,
        reading=choice.reading,
        decimal=decimal,
        thousands=thousands,
        skip=skip,
        header=tuple(cell.strip() for cell in header),
        units=units,
        width=width,
        extra=_extra_of(header, rows, width),
        padded=delimiter != " " and _is_padded(lines, quotes),
        trimmed=bool(units) or _is_trimmed(lines, header, delimiter),
        rows=rows,
    )


def _usual_width(table: list[list[str]]) -> int:
    return Counter(len(row) for row in table[1:] or table).most_common(1)[0][0]


def _check_above(above: list[str], quotes: Quotes, name: str) -> None:
    for number, line in enumerate(above, 1):
        if scan_line(line, replace(quotes, reading=DOUBLED)).state == INSIDE:
            fault = f"a note above the table opens a quote ({quotes.quote}) and does not close it"
            cure = "close the quote, or leave the line out"
            raise UnusableError(fault, where=f"{name}, line {number}", cure=cure)


def _lines_above(lines: list[str], table: list[list[str]], quotes: Quotes) -> int:
    """The number of lines above the table: comments (#), a title, blank lines between."""
    width = _usual_width(table)
    if quotes.delimiter == ONE_COLUMN:  # every line looks like a title
        empty_cells = ("", 2 * quotes.quote)
        return next((i for i, line in enumerate(lines) if line.strip() not in empty_cells), 0)
    below = [row for row in table if not row[0].startswith("#")]
    named_below = bool(below and header_of(below, width))  # then "#" does not begin a header
    for above, line in enumerate(lines[:50]):
        cells = split_rows([line], quotes)
        count = len(cells[0]) if cells else 0
        title = count <= 1 and not is_number(line) and line.count(quotes.quote) % 2 == 0
        comment = line.startswith("#") and (count != width or named_below)
        if not title and not comment:
            return above
    return 0


def _lines_of_rows(lines: list[str], rows: list[list[str]], quotes: Quotes) -> int:
    """How many lines the rows take, with blank ones around; 0 where a row takes several."""
    left = list(rows)
    for number, line in enumerate(lines):
        if not left and line.strip():
            return number
        cells = split_rows([line], quotes)
        if cells and (not left or cells[0] != left.pop(0)):
            break
    return 0


def _quote_of(lines: list[str]) -> str:
    start = [line for line in lines[:200] if line.strip()]
    if any(_DOUBLE_QUOTE.search(line) for line in start):
        return '"'
    count = sum(_IN_SINGLE_QUOTES.search(line) is not None for line in start)
    return "'" if count and 2 * count >= len(start) - 1 else '"'


def header_of(table: list[list[str]], width: int) -> tuple[str, ...]:
    """The first row if it is a header of `width` columns, otherwise ()."""
    first, below = [cell.strip() for cell in table[0]], table[1:]
    if len(first) == width - 1:  # rows begin with their names; only a header is shorter
        return tuple(table[0])
    numeric = [is_figure(cell) for cell in first]
    counting = [str(i) for i in range(len(first))], [str(i + 1) for i in range(len(first))]
    if first in counting and len(first) > 2:
        return tuple(table[0])
    if all(numeric):
        return ()
    column_values: list[set[str]] = []
    for i, cell in enumerate(first):
        column_values.append({row[i] for row in below if i < len(row)})
        if numeric[i] or is_missing(cell):
            continue
        values = [value for value in column_values[i] if not is_missing(value)]
        if values and sum(map(is_figure, values)) >= 0.9 * len(values):
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


def _is_padded(lines: list[str], quotes: Quotes) -> bool:
    rows = split_rows(lines[:200], replace(quotes, padded=False))
    begins = [[cell.startswith(" ") for cell in row[1:]] for row in rows]
    # The header may be padded alone.
    return any(begins[0]) or 2 * sum(map(sum, begins)) > sum(map(len, begins))


def _is_trimmed(lines: list[str], header: tuple[str, ...], delimiter: str) -> bool:
    # `header` lacks blanks in front already, which pandas also skips in padded tables.
    first = next((line for line in lines if line.strip()), "")
    ahead = delimiter != " " and first.startswith(" ")
    return bool(header) and (ahead or any(cell != cell.strip() for cell in header))


def decimal_of(rows: list[list[str]], delimiter: str) -> tuple[str, str]:
    """The decimal and the thousands sign of most cells."""
    cells = list(chain.from_iterable(rows))
    if not (commas := [cell.strip() for cell in cells if "," in cell]):
        return ".", ""
    comma_numbers = sum(COMMA_NUMBER.fullmatch(cell) is not None for cell in commas)
    comma_groups = sum(_COMMA_THOUSANDS.fullmatch(cell) is not None for cell in commas)
    dot_groups = sum(_DOT_THOUSANDS.fullmatch(cell) is not None for cell in commas)
    if not comma_numbers and not dot_groups:
        return (".", ",") if comma_groups else (".", "")
    dots = [cell for cell in map(str.strip, cells) if _DOT_NUMBER.fullmatch(cell)]
    if dots and not all(_DOT_THOUSANDS.fullmatch(cell) for cell in dots):
        return (".", ",") if comma_groups and comma_groups >= comma_numbers else (".", "")
    if delimiter == "," and comma_groups >= comma_numbers:
        return ".", ","
    return ",", "." if dot_groups else ""
