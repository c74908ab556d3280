"""Detects the dialect of a text table from its head: encoding, delimiter, header, decimal sign.

Of sheets it tells where the names stand, below a title and above units.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice

from core.datasets.column_format import NOTHING, holds_for_share, number_formats
from core.datasets.files.delimited_rows import (
    CLEAR_NUMBERS,
    COMMA_NUMBER,
    ONE_COLUMN,
    SAMPLE_ROWS,
    CsvRows,
    Dialect,
    QuoteCheck,
    QuoteChoice,
    columns_of,
    filled_cells,
    is_missing,
    is_number,
    split_rows,
)
from core.datasets.files.file_bytes import decode_head
from core.datasets.files.quotes import (
    BACKSLASH,
    DOUBLED,
    ESCAPED,
    INSIDE,
    OUTER,
    OUTSIDE,
    UNQUOTED,
    WITHIN,
    Quotes,
    scan_line,
)
from core.errors import UnusableError

_MAX_ROWS_ABOVE = 50
_BODY_ROWS = 40  # that tell which columns are numbers
_NUMBER_SHARE = 0.9
_IN_BRACKETS = re.compile(r"\[(.{1,12})\]|\((.{1,12})\)")
_LIKE_A_UNIT = re.compile(r"[^\W\d][^\s,;]{0,9}|[µ°%‰#$€£¥][^\s,;]{0,5}")
_NO_UNITS = {"", "-", "–", "—"}


def names_place(rows: Sequence[Sequence[str]], required: str = "") -> tuple[int, tuple[str, ...]]:
    """The row of the names, from 0, and the units below them ("" for none; () without such a row).

    (0, ()) where the kinds of the rows below do not tell; `required`: a name that is known.
    """
    below = rows[len(rows) // 2 :]
    width = Counter(map(len, below)).most_common(1)[0][0] if rows else 0
    above, sample = (
        [[cell.strip() for cell in row] for row in some]
        for some in (rows[:_MAX_ROWS_ABOVE], below[:: max(1, len(below) // _BODY_ROWS)])
    )
    # Rows of the lower half are surely of the table, whatever stands above it.
    numeric = [i for i, cells in enumerate(columns_of(sample)[:width]) if _are_numbers(cells)]
    # A known name tells the row of the names at once.
    if required and any(required in row for row in above):
        place = next(i for i, row in enumerate(above) if required in row)
        return place, _units_of(above[place + 1], numeric) if place + 1 < len(above) else ()
    usual = Counter(sum(map(bool, row)) for row in sample).most_common(1)[0][0] if sample else 0
    first = next((i for i, row in enumerate(above) if _is_body(row, numeric, usual)), 0)
    # The body begins in the first or second row: nothing stands above the names.
    if first < 2:
        return 0, ()
    units = _units_of(above[first - 1], numeric)
    place = first - 1 - bool(units)
    # A first row with a word in its only column of numbers looks like names, too.
    is_certain = bool(units) or len(numeric) > 1 or not _are_names(above[0], width)
    # A row of the table itself repeats words of others, or lacks its numbers.
    cells = [(i, cell) for i, cell in enumerate(above[place]) if cell]
    is_row = any(cell in [row[i] for row in sample if i < len(row)] for i, cell in cells)
    is_row = is_row or 2 * sum(i in numeric for i, _ in cells) < len(numeric)
    if not _are_names(above[place], width) or is_row or not is_certain:
        return 0, ()
    return place, units


def _are_numbers(cells: Iterable[str]) -> bool:
    filled = filled_cells(cells)
    # Most columns of numbers are told at once.
    are_clear = CLEAR_NUMBERS.fullmatch("\n".join(filled)) is not None
    return bool(filled) and (are_clear or holds_for_share(is_figure, filled, _NUMBER_SHARE))


def _is_body(row: Sequence[str], numeric: Sequence[int], usual: int) -> bool:
    cells = [row[i] for i in numeric if i < len(row) and row[i] not in NOTHING]
    return bool(cells) and all(map(is_figure, cells)) and 2 * sum(map(bool, row)) >= usual


def _are_names(row: Sequence[str], width: int) -> bool:
    names = [cell for cell in row if cell]
    is_full = len(row) >= width - 1 and len(names) >= max(2, int(_NUMBER_SHARE * width))
    return is_full and len(set(names)) == len(names) and not any(map(_is_value, names))


def _is_value(cell: str) -> bool:
    return cell in NOTHING or is_figure(cell)


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, with a point or a comma."""
    return is_number(cell) or ("," in cell and is_number(cell, ","))


def _units_of(row: Sequence[str], numeric: Sequence[int]) -> tuple[str, ...]:
    """The units of a row of units, without brackets; () for another row."""
    units = [_IN_BRACKETS.sub(r"\1\2", cell) if cell not in _NO_UNITS else "" for cell in row]
    if any(map(_is_value, filter(None, units))):
        return ()
    figures = [i for i in numeric if i < len(row) and units[i]]
    known = [i for i in figures if units[i] != row[i] or number_formats([f"1{units[i]}"])]
    others = [unit for i, unit in enumerate(units) if unit and i not in numeric]
    fits = all(_LIKE_A_UNIT.fullmatch(units[i]) or units[i] != row[i] for i in figures)
    if not known or not fits or len(others) > len(figures):
        return ()
    return tuple(unit if i in numeric else "" for i, unit in enumerate(units))


DELIMITERS = (";", "\t", "|", ",", " ")
_FEW_LINES = 20  # with the first row
_ALIKE = 0.9  # share of rows that blanks must cut into the same number of cells

_Scored = tuple[float, str, list[list[str]]]  # a score, the delimiter, its rows


def delimiter_of(
    lines: list[str], quotes: Quotes, name: str, required_column: str
) -> tuple[str, list[list[str]]]:
    """The delimiter under which most rows have the same number of cells; ONE_COLUMN for none.

    Preferred are those that give the required column, then those where quotes are around cells.
    """
    best: _Scored | None = None
    is_quoted = quotes.reading != UNQUOTED and quotes.quote in "".join(lines)
    lines = first_lines(lines)
    start = "".join(lines)
    for delimiter in DELIMITERS:
        if delimiter not in start:
            continue
        form = replace(quotes, delimiter=delimiter)
        # Where it does not cut the first row, it would be worth 1.9 at most.
        is_best = best is not None and best[0] >= 2
        if is_best and [len(row) for row in split_rows(lines[:_FEW_LINES], form)[:1]] == [1]:
            continue
        rows = split_rows(lines, form)
        share, width = _evenness(rows)
        # Blanks are in texts of every kind, so they must cut nearly all rows alike.
        if width < 2 or (delimiter == " " and share < _ALIKE):
            continue
        # In favour: a first row as wide as the others, or one cell shorter for row names.
        fits = len(rows[0]) in (width, width - 1) and len(rows[0]) > 1
        named = [cell.strip() for cell in rows[0]] if len(rows[0]) > 1 else []
        has_required = bool(required_column) and required_column in named
        if is_best and not (fits or has_required):
            continue
        if not has_required and _is_prose(start, rows, delimiter, share, fits):
            continue
        score = round(share, 2) + fits + 3 * has_required
        score += 0.9 * (is_quoted and _has_fitting_quotes(lines, form))
        candidate = (score, delimiter, rows)
        if best is None or score > best[0] or _is_clearer(candidate, best):
            best = candidate
    first = next((line.strip().strip(quotes.quote) for line in lines if line.strip()), "")
    # A first line that is the required name is a table of this column, whatever its texts hold.
    if best is None or (required_column and first == required_column and best[0] < 3):
        return ONE_COLUMN, _one_column(lines, quotes, name)
    return best[1], best[2]


def first_lines(lines: list[str]) -> list[str]:
    """The lines up to the last of the first rows, blank ones among them."""
    filled = (end for end, line in enumerate(lines, 1) if not line.isspace())
    return lines[: next(islice(filled, SAMPLE_ROWS - 1, None), len(lines))]


def _has_fitting_quotes(lines: list[str], quotes: Quotes) -> bool:
    state = OUTSIDE
    for line in lines:
        if quotes.quote in line or state == WITHIN:
            scanned = scan_line(line, quotes, state)
            state = scanned.state
            if not scanned.fits:
                return False
    return True


def _one_column(lines: list[str], quotes: Quotes, name: str) -> list[list[str]]:
    rows = split_rows(lines, replace(quotes, delimiter=ONE_COLUMN))
    if not rows:
        raise UnusableError("there is no row", where=name, cure="choose a file with rows")
    return rows


def _evenness(rows: list[list[str]]) -> tuple[float, int]:
    below = [row for row in rows[1:] if not row[0].startswith("#")] or rows[1:] or rows
    counts = Counter(len(row) for row in below)
    if not counts:
        return 0.0, 0
    width, hits = counts.most_common(1)[0]
    return hits / sum(counts.values()), width


def _is_prose(start: str, rows: list[list[str]], delimiter: str, share: float, fits: bool) -> bool:
    """Whether the delimiter is punctuation in texts: uneven rows, with blanks behind it."""
    # Punctuation cuts lines into any number of cells; columns cut most of them alike.
    if fits and share >= 0.75:
        return False
    if not fits and share < 0.5:
        return True
    numbers = _number_columns(rows)
    if delimiter == " ":
        return not fits and not numbers
    followed = start.count(delimiter + " ") >= _ALIKE * start.count(delimiter)
    return delimiter != "\t" and followed and not numbers


def _number_columns(rows: list[list[str]]) -> bool:
    width = _evenness(rows)[1]
    below = [row for row in rows[1:] if len(row) == width]
    return any(2 * sum(is_number(row[i]) for row in below) > len(below) for i in range(width))


def _has_dates(rows: list[list[str]]) -> bool:
    import pandas as pd

    from core.datasets.column_format import date_format

    columns = [[row[i] for row in rows[1:] if i < len(row)] for i in range(len(rows[0]))]
    spaced = [cells for cells in columns if cells and all(" " in cell.strip() for cell in cells)]
    return any(date_format(pd.Series(cells, dtype="str")) for cells in spaced)


def _is_clearer(candidate: _Scored, best: _Scored) -> bool:
    """Whether blanks divide better than commas, which are all decimal signs as in 0,5."""
    if candidate[0] != best[0] or (candidate[1], best[1]) != (" ", ","):
        return False
    with_commas = [cell for row in candidate[2] for cell in row if "," in cell]
    decimal = all(COMMA_NUMBER.fullmatch(cell) for cell in with_commas)
    return decimal and not _has_dates(best[2])


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
    """
    encoding, text = decode_head(head)
    # The last line of a head may be cut.
    lines = _lines_of(text)[: None if complete else -1]
    choices = [choice] if choice else _choices(lines, {s for s in _SIGNS if s in text})
    first: Dialect | UnusableError | None = None
    consistent: Dialect | None = None
    for each in choices:
        # The looser readings fit nearly any text, so they count only where no stricter one does.
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
    # One column fits every text, and a longer row than the header may be a wrong reading.
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
    # Excel writes and reads such a line above a table.
    sep_line_count = 1 if lines and re.fullmatch(r"sep=.\s*", lines[0]) else 0
    delimiter, table = delimiter_of(lines[sep_line_count:], quotes, name, required_column)
    quotes = replace(quotes, delimiter=delimiter)
    skip = sep_line_count + _lines_above(lines[sep_line_count:], table, quotes)
    above, lines = lines[:skip], lines[skip:]
    # Titles have delimiters of their own, so the table below is asked again.
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
    width = _usual_width(table)
    if quotes.delimiter == ONE_COLUMN:  # every line looks like a title
        empty_cells = ("", 2 * quotes.quote)
        return next((i for i, line in enumerate(lines) if line.strip() not in empty_cells), 0)
    below = [row for row in table if not row[0].startswith("#")]
    for above, line in enumerate(lines[:50]):
        cells = split_rows([line], quotes)
        count = len(cells[0]) if cells else 0
        title = count <= 1 and not is_number(line) and line.count(quotes.quote) % 2 == 0
        # A line as wide as the rows is a header, unless there is one below.
        comment = line.startswith("#") and (
            count != width or bool(below and header_of(below, width))
        )
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
    # 0, 1, 2 … are names that a program made up.
    if first in counting and len(first) > 2:
        return tuple(table[0])
    if all(numeric):
        return ()
    columns = [set(cells) for cells in columns_of(below)[: len(first)]]
    for i, values in enumerate(columns):
        # A word above a column of numbers is its name.
        if not (numeric[i] or is_missing(first[i])) and _are_numbers(values):
            return tuple(table[0])
    if any(numeric) or (width == 1 and _is_sentence(first[0])):
        return ()
    # Among texts alone: a first row whose cells come again below is a row like the others.
    is_repeated = any(table[0][i] in values for i, values in enumerate(columns))
    return () if is_repeated else tuple(table[0])


def _is_sentence(cell: str) -> bool:
    long = len(cell.split()) > _LONGEST_NAME or len(cell) > _LONGEST_LETTERS
    return long or _SENTENCE_END.search(cell) is not None


def _extra_of(header: tuple[str, ...], rows: list[list[str]], width: int) -> str:
    if header and width == len(header) + 1:
        ends = all(not row[-1].strip() for row in rows if len(row) == width)
        return "empty" if ends else "names"
    return ""


def _is_padded(lines: list[str], quotes: Quotes) -> bool:
    signs = quotes.delimiter + " ", quotes.quote
    if not any(sign in line for sign in signs for line in lines[:200]):
        return False
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
