"""How a text table is written, told from its head: encoding, delimiter, header, decimal sign."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field

from core.errors import UnusableError

DELIMITERS = (";", "\t", "|", ",", " ")
ONE_COLUMN = "\x1f"  # a sign that no text holds, so that every line is one cell
IN_WORDS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas", " ": "spaces"}
MISSING = (
    *("", "NA", "N/A", "n/a", "na", "N.A.", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "NAN"),
    *("-nan", "-NaN", "null", "Null", "NULL", "none", "None", "NONE", "?", "-", "--", ".", "NaT"),
    *("missing", "Missing", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
_MISSING = frozenset(MISSING)
SAMPLE_ROWS = 500
LONGEST_CELL = 2**27  # letters
_LONGEST_NAME, _LONGEST_LETTERS = 5, 40  # words and letters of a column's name that stands alone
_ALIKE = 0.9  # share of rows that blanks must cut into the same number of cells
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*$")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_DOT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_DOT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_LIBSVM_PAIR = re.compile(rf"[+-]?\d+:({_NUMBER.pattern}|nan)", re.IGNORECASE)
_CLOCK = re.compile(r"([01]?\d|2[0-4]):[0-5]\d")


@dataclass(frozen=True)
class Dialect:
    """How the table is written.

    Attributes:
        encoding: for Python's open.
        delimiter: one of DELIMITERS, where a space stands for any run of blanks, or ONE_COLUMN.
        quote: the quoting sign.
        decimal: "." or ",".
        thousands: "", "," or ".".
        skip: lines before the table begins.
        header: the header's cells, or () where there is none.
        width: how many cells a row has.
        extra: cells that rows have beyond the header: "" none, "empty" a delimiter at every line's
            end, "names" row names in front.
        padded: whether blanks follow the delimiters.
        rows: the first rows below the header, as text.
    """

    encoding: str
    delimiter: str
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    skip: int = 0
    header: tuple[str, ...] = ()
    width: int = 0
    extra: str = ""
    padded: bool = False
    rows: list[list[str]] = field(default_factory=list)

    @property
    def described(self) -> str:
        """In words: "semicolons between columns, decimal commas, a header, UTF-8"."""
        between = IN_WORDS.get(self.delimiter)
        parts = [f"{between} between columns" if between else "one column"]
        if self.decimal == ",":
            parts.append("decimal commas")
        parts.append("a header" if self.header else "no header")
        if self.skip:
            lines = "1 line" if self.skip == 1 else f"{self.skip} lines"
            parts.append(f"{lines} above the table left out")
        names = {"utf-8": "UTF-8", "utf-16": "UTF-16", "latin-1": "Latin-1"}
        names["cp1252"] = "Windows-1252"
        return ", ".join([*parts, names.get(self.encoding, self.encoding)])


def decode(head: bytes) -> tuple[str, str]:
    """The encoding's name and the head as text; a letter cut at the end is left out.

    Latin-1 is Windows-1252 without the letters and quotes at 0x80 to 0x9F, so that it is taken only
    where bytes come that Windows-1252 does not know.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", codecs.getincrementaldecoder("utf-16")().decode(head)
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

    Lines with a number alone, a label of a row without pairs, say nothing either way. A time of day
    looks like a pair; lines of a number and a time are a table.
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


def sniff(head: bytes, name: str, *, complete: bool, wanted: str = "") -> Dialect:
    """The dialect of a text table.

    Args:
        head: the file's first bytes.
        name: the file's name, for errors.
        complete: whether the head is the whole file; otherwise its last line is cut and left out.
        wanted: a column that must be there: of several delimiters, the one that gives it.

    A table of one column is one of texts at best; whoever needs more columns says so.

    Raises:
        UnusableError: an open quote, no row, or nothing below the header.
    """
    encoding, text = decode(head)
    lines = text.splitlines(keepends=True)
    if not complete:
        lines = lines[:-1]
    skip = 1 if lines and re.fullmatch(r"sep=.\s*", lines[0]) else 0
    quote = _quote_of(lines[skip:])
    skip += _lines_above(lines[skip:], quote, name, wanted)
    lines = lines[skip:]
    delimiter, table = _delimiter_of(lines, quote, name, wanted)
    width = _usual_width(table)
    header = _header_of(table, width)
    if wanted and wanted in (cell.strip() for cell in table[0]):
        header = tuple(table[0])
    rows = table[1:] if header else table
    if not rows:
        raise UnusableError("there is no row below the header", where=name, cure="add rows")
    decimal, thousands = _decimal_of(rows, delimiter)
    return Dialect(
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        decimal=decimal,
        thousands=thousands,
        skip=skip,
        header=header,
        width=width,
        extra=_extra_of(header, rows, width),
        padded=delimiter != " " and _is_padded(lines, delimiter),
        rows=rows,
    )


def _usual_width(table: list[list[str]]) -> int:
    return Counter(len(row) for row in table[1:] or table).most_common(1)[0][0]


def _lines_above(lines: list[str], quote: str, name: str, wanted: str) -> int:
    """How many lines stand above the table: comments (#), a title, blank lines between."""
    delimiter, table = _delimiter_of(lines, quote, name, wanted)
    width = _usual_width(table)
    if delimiter == ONE_COLUMN:
        return 0  # every line is like a title
    below = [row for row in table if not row[0].startswith("#")]
    named_below = bool(below and _header_of(below, width))  # then "#" does not begin a header
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


def split_rows(lines: list[str], delimiter: str, quote: str) -> list[list[str]]:
    """The lines' cells, blank lines left out; [] where the csv module cannot make sense of it."""
    csv.field_size_limit(LONGEST_CELL)
    blank = delimiter == " "
    source = [line.strip() + "\n" for line in lines] if blank else lines
    reader = csv.reader(
        io.StringIO("".join(source), newline=""),
        delimiter=delimiter,
        quotechar=quote,
        skipinitialspace=True,
    )
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(row)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:  # the csv module cannot make sense of a line
        pass
    return rows


def _delimiter_of(
    lines: list[str], quote: str, name: str, wanted: str
) -> tuple[str, list[list[str]]]:
    """The delimiter under which most rows have the same number of cells, two or more.

    Blanks are one only where nearly all rows have that number: texts are cut at them too. One that
    makes a column of the wanted name comes before all others. ONE_COLUMN where there is none.
    """
    best: tuple[float, str, list[list[str]]] | None = None
    for delimiter in DELIMITERS:
        rows = split_rows(lines[:SAMPLE_ROWS], delimiter, quote)
        share, width = _evenness(rows)
        if width < 2 or (delimiter == " " and share < _ALIKE):
            continue
        # A first row as wide as the others (or one short: row names) speaks for the delimiter.
        fits = len(rows[0]) in (width, width - 1) and len(rows[0]) > 1
        named = [cell.strip() for cell in rows[0]] if len(rows[0]) > 1 else []
        asked = bool(wanted) and wanted in named
        if not asked and _is_prose(lines, rows, delimiter, share, fits):
            continue
        score = round(share, 2) + fits + 3 * asked
        if (
            best is None
            or score > best[0]
            or (score == best[0] and _clearer(rows, delimiter, best))
        ):
            best = (score, delimiter, rows)
    first = next((line.strip().strip(quote) for line in lines if line.strip()), "")
    if best is None or (wanted and first == wanted and best[0] < 3):
        if any(line.lstrip().startswith(quote) for line in lines):
            _refuse_open_quote(lines, quote, name)
        rows = split_rows(lines[:SAMPLE_ROWS], ONE_COLUMN, quote)
        if not rows:
            raise UnusableError("there is no row", where=name, cure="choose a file with rows")
        return ONE_COLUMN, rows
    return best[1], best[2]


def _evenness(rows: list[list[str]]) -> tuple[float, int]:
    """The share of the rows below the first that have the usual number of cells, and this number.

    Comments do not count where there are other rows.
    """
    below = [row for row in rows[1:] if not row[0].startswith("#")] or rows[1:] or rows
    counts = Counter(len(row) for row in below)
    if not counts:
        return 0.0, 0
    width, hits = counts.most_common(1)[0]
    return hits / sum(counts.values()), width


def _is_prose(
    lines: list[str], rows: list[list[str]], delimiter: str, share: float, fits: bool
) -> bool:
    """Whether the delimiter is a sign inside of texts: the rows are uneven, with blanks behind it.

    Where the first row does not look like the others, it may be the name of a column of texts.
    """
    if fits and share >= 0.75:
        return False
    if not fits and share < 0.5:
        return True
    numbers = _number_columns(rows)
    if delimiter == " ":
        return not fits and not numbers
    start = "".join(lines[:SAMPLE_ROWS])
    followed = start.count(delimiter + " ") >= _ALIKE * start.count(delimiter)
    return delimiter != "\t" and followed and not numbers


def _number_columns(rows: list[list[str]]) -> bool:
    """Whether most values of a column below the first row are numbers."""
    width = _evenness(rows)[1]
    below = [row for row in rows[1:] if len(row) == width]
    return any(2 * sum(is_number(row[i]) for row in below) > len(below) for i in range(width))


def _has_dates(rows: list[list[str]]) -> bool:
    """Whether a column holds dates with blanks inside."""
    import pandas as pd

    from core.datasets.dates import date_format

    columns = [[row[i] for row in rows[1:] if i < len(row)] for i in range(len(rows[0]))]
    spaced = [cells for cells in columns if cells and all(" " in cell.strip() for cell in cells)]
    return any(date_format(pd.Series(cells, dtype="str")) for cells in spaced)


def _refuse_open_quote(lines: list[str], quote: str, name: str) -> None:
    """An open quote makes all that follows one cell."""
    odd = [number for number, line in enumerate(lines, 1) if line.count(quote) % 2]
    if len(odd) % 2:
        raise UnusableError(
            f"a quote ({quote}) opens here and is not closed",
            where=f"{name}, line {odd[0]}",
            cure="close it, or double a quote that belongs to the text",
        )


def _clearer(
    rows: list[list[str]], delimiter: str, best: tuple[float, str, list[list[str]]]
) -> bool:
    """Whether blanks divide better than commas: these all stand inside of numbers such as 0,5.

    Dates with blanks and commas between them look so too.
    """
    if (delimiter, best[1]) != (" ", ","):
        return False
    with_commas = [cell for row in rows for cell in row if "," in cell]
    decimal = all(_COMMA_NUMBER.fullmatch(cell) for cell in with_commas)
    return decimal and not _has_dates(best[2])


def is_number(cell: str, decimal: str = ".", thousands: str = "") -> bool:
    """Whether a cell is a number in this way of writing."""
    cell = cell.strip()
    if thousands:
        cell = cell.replace(thousands, "")
    if decimal == ",":
        cell = cell.replace(",", ".") if "." not in cell else "no"
    return _NUMBER.fullmatch(cell) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell is one of the usual spellings of nothing."""
    return cell.strip() in _MISSING


def _header_of(table: list[list[str]], width: int) -> tuple[str, ...]:
    """The first row where it names the columns, otherwise ()."""
    first, below = [cell.strip() for cell in table[0]], table[1:]
    if len(first) == width - 1:  # row names stand in front of each row: only a header is shorter
        return tuple(table[0])
    numeric = [any(is_number(cell, mark) for mark in ".,") for cell in first]
    counting = [str(i) for i in range(len(first))], [str(i + 1) for i in range(len(first))]
    if first in counting and len(first) > 2:
        return tuple(table[0])
    if all(numeric):
        return ()
    seen = [{row[i] for row in below if i < len(row)} for i in range(len(first))]
    for i, cell in enumerate(first):
        values = [value for value in seen[i] if not is_missing(value)]
        numbers = sum(any(is_number(value, mark) for mark in ".,") for value in values)
        if values and numbers >= 0.9 * len(values) and not numeric[i] and not is_missing(cell):
            return tuple(table[0])
    if any(numeric) or (width == 1 and _is_sentence(first[0])):
        return ()
    again = sum(table[0][i] in seen[i] for i in range(len(first)))
    return () if below and again > 0 else tuple(table[0])


def _is_sentence(cell: str) -> bool:
    """Whether a line that stands alone is a text rather than a column's name."""
    long = len(cell.split()) > _LONGEST_NAME or len(cell) > _LONGEST_LETTERS
    return long or _SENTENCE_END.search(cell) is not None


def _extra_of(header: tuple[str, ...], rows: list[list[str]], width: int) -> str:
    if header and width == len(header) + 1:
        ends = all(not row[-1].strip() for row in rows if len(row) == width)
        return "empty" if ends else "names"
    return ""


def _is_padded(lines: list[str], delimiter: str) -> bool:
    start = "".join(lines[:200])
    return start.count(delimiter + " ") > 0.5 * start.count(delimiter)


def _decimal_of(rows: list[list[str]], delimiter: str) -> tuple[str, str]:
    """The decimal sign and the sign between thousands, by which cells look like which."""
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if "," in cell]
    comma_numbers = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in commas)
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
