"""New rows for models of sequences, molecules and texts by Python's csv module; carried."""

import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.datasets.files.conll import SENTENCE, LineError, conll_table
from core.datasets.files.dot_brackets import (
    LETTERS_COLUMN,
    dot_bracket_table,
    looks_like_dot_brackets,
)
from core.datasets.files.quotes import (
    DOUBLED,
    ESCAPED,
    INSIDE,
    OUTER,
    OUTSIDE,
    UNQUOTED,
    Quotes,
    csv_reader,
    scan_line,
)

Columns = tuple[dict[str, list[str]], list[int]]  # {column: cells}, the line every row ends in


@dataclass(frozen=True)
class CellFormat:
    """How the file that a model was trained on was written, as far as cells depend on it."""

    quote: str
    padded: bool  # whether blanks begin cells
    decimal: str
    thousands: str | None
    # the words for a missing value, of all columns or {column: words}
    missing: list[str] | dict[str, list[str]]
    encoding: str = ""
    # of the quotes; None for doubled ones
    reading: str | None = field(default=None, metadata={"optional": True})

    def missing_words(self, column: str) -> set[str]:
        words = self.missing
        return set(words.get(column, ()) if isinstance(words, dict) else words)


PLAIN_CELLS = CellFormat('"', padded=False, decimal=".", thousands="", missing=[""])


def cell_format_of(settings: dict[str, Any]) -> CellFormat:
    """The format that is in a model's settings."""
    return CellFormat(**settings["reading"])


DELIMITERS = (",", ";", "\t", "|")
ONE_COLUMN = "\x1f"  # a sign that no text holds: every line is one cell
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the marks that such a file begins with


class UnreadableError(ValueError):
    """Rows that cannot be used: what is wrong, where (line and column), and what to do."""

    def __init__(self, what: str, where: str = "", cure: str = "correct the file") -> None:
        self.what, self.where, self.cure = what, where, cure
        super().__init__(f"{where}: {what}; {cure}." if where else f"{what}; {cure}.")


def text_of(data: bytes, encoding: str = "") -> str:
    """The text in a file's bytes; `encoding`: of the training file, if another."""
    # UTF-16 with a mark, UTF-8 where that fits, otherwise one byte a letter: Latin-1 only where the
    # bytes 0x80 to 0x9F, where other encodings have letters and quotes, do not come.
    if data.startswith(UTF_16):
        return data.decode("utf-16", errors="replace")
    training_encoding = encoding if encoding not in ("latin-1", "utf-16") else ""
    for name in ("utf-8-sig", training_encoding or "cp1252", "cp1252"):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def columns_of(text: str, needed: list[str], cell_format: CellFormat = PLAIN_CELLS) -> Columns:
    """{column: cells} of all columns, and the line that every row ends in; or UnreadableError.

    Quotes are read as in the training file; where they do not fit so, as they do fit. Columns
    called "column 1" and so on, where the file has no such names, are told by their place: the
    training file had no header. `text` is CSV with a header, or CoNLL or FASTA. Refused are a text
    without rows or a `needed` column, and a row with more or fewer cells than the header.
    """
    if (table := _columns_of_trade(text, needed)) is not None:
        return table
    fault = None
    first = cell_format.reading or DOUBLED
    for reading in dict.fromkeys((first, DOUBLED, ESCAPED, OUTER, UNQUOTED)):
        try:
            return _columns_as(text, needed, replace(cell_format, reading=reading))
        except UnreadableError as error:
            fault = fault or error
    assert fault is not None
    raise fault


def _columns_of_trade(text: str, needed: list[str]) -> Columns | None:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    try:
        if LETTERS_COLUMN in needed and looks_like_dot_brackets(text):
            molecules = dot_bracket_table(lines)
            return molecules.columns, molecules.lines
        if SENTENCE not in needed or SENTENCE in first:
            return None
        tokens = conll_table(lines, needed)
    except LineError as fault:
        raise UnreadableError(fault.fault, f"line {fault.line}", fault.cure) from None
    if not set(needed) <= set(tokens.names):
        raise _missing_columns([n for n in needed if n not in tokens.names], tokens.names)
    return dict(zip(tokens.names, tokens.columns, strict=True)), tokens.lines


def _columns_as(text: str, needed: list[str], cell_format: CellFormat) -> Columns:
    first = next((line for line in text.splitlines() if line.strip()), "")
    own_names = {unicodedata.normalize("NFC", name): name for name in needed}
    split = (_split_cells(first, delimiter, cell_format) for delimiter in DELIMITERS)
    headers = [[own_names.get(cell, cell) for cell in cells] for cells in split]
    fits = [sum(name in header for name in needed) for header in headers]
    if not any(fits) and needed == ["column 1"]:
        headers[0] = [first]  # one column without a name: its texts may hold every delimiter
    header, delimiter = headers[fits.index(max(fits))], DELIMITERS[fits.index(max(fits))]
    missing = [name for name in needed if name not in header]
    default_names = [f"column {position + 1}" for position in range(len(header))]
    headless = len(missing) == len(needed) and set(needed) <= set(default_names)
    if missing and not headless:
        raise _missing_columns(missing, header)
    delimiter = delimiter if len(header) > 1 else ONE_COLUMN
    quotes = _quotes_of(delimiter, cell_format)
    reader = csv_reader(_checked_lines(io.StringIO(text, newline=""), quotes), quotes)
    rows, lines = _read_rows(reader, len(header), 0 if headless else 1)
    columns = zip(*rows, strict=True)
    names = default_names if headless else header
    return {name: list(cells) for name, cells in zip(names, columns, strict=True)}, lines


def _quotes_of(delimiter: str, cell_format: CellFormat) -> Quotes:
    reading = cell_format.reading or DOUBLED
    return Quotes(delimiter, cell_format.quote, reading, cell_format.padded)


def _checked_lines(lines: Iterable[str], quotes: Quotes) -> Iterator[str]:
    """The lines, as long as their quotes fit the reading."""
    state, opened = OUTSIDE, 0
    for number, line in enumerate(lines, 1):
        if quotes.quote in line or state not in (INSIDE, OUTSIDE):
            scanned = scan_line(line, quotes, state)
            if not scanned.fits:
                opened = opened if state == INSIDE else number
                break
            opened = number if scanned.is_open else opened
            state = scanned.state
        yield line
    else:
        if state != INSIDE:
            return
    cure = "close it, or double a quote that belongs to the text"
    message = f"a quote ({quotes.quote}) opens here and is not closed, or text follows it"
    raise UnreadableError(message, f"line {opened}", cure)


def _split_cells(line: str, delimiter: str, cell_format: CellFormat) -> list[str]:
    reader = csv_reader([line], _quotes_of(delimiter, cell_format))
    return [unicodedata.normalize("NFC", cell.strip()) for cell in next(reader, [])]


def _read_rows(reader: Any, width: int, header_rows: int) -> tuple[list[list[str]], list[int]]:
    """The rows below the header, if there is one above, and the line that each ends in."""
    rows, lines = [], []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != width:
                message = f"the row has {len(cells)} cells, and the header {width}"
                raise UnreadableError(message, f"line {reader.line_num}")
            rows.append(cells)
            lines.append(reader.line_num)
    except csv.Error as error:
        message = f"the table cannot be read ({error})"
        raise UnreadableError(message, f"line {reader.line_num}") from None
    if len(rows) <= header_rows:
        raise UnreadableError("there is no row below the header", cure="add rows")
    return rows[header_rows:], lines[header_rows:]


def _missing_columns(missing: list[str], header: list[str]) -> UnreadableError:
    header_text = ", ".join(header[:8]) + (" …" if len(header) > 8 else "")
    missing_text = ", ".join(f"“{name}”" for name in missing[:5])
    missing_text += " …" if len(missing) > 5 else ""
    message = f"columns are missing: {missing_text}"
    if len(missing) == 1:
        message = f"the column {missing_text} is missing"
    return UnreadableError(message, cure=f"add what is missing; the file has {header_text}")


def number_of(cell: str, line: int, column: str, cell_format: CellFormat) -> float:
    """The number in a cell; UnreadableError where there is none, or it is not finite."""
    text = cell.strip()
    if cell_format.thousands:
        text = text.replace(cell_format.thousands, "")
    try:
        number = float(text.replace(cell_format.decimal, "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UnreadableError(f"“{cell[:40]}” is no number", f"line {line}, column {column}")
    return number


def libsvm_pairs(text: str) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """(line, its pairs index:value) of LIBSVM lines; UnreadableError for what is no pair."""
    for line_number, line in enumerate(text.splitlines(), start=1):
        cells = line.partition("#")[0].split()
        pairs = []
        for cell in cells[":" not in cells[0] :] if cells else ():
            index, _, value = cell.partition(":")
            try:
                pairs.append((int(index), float(value)))
            except ValueError:
                fault = f"“{cell[:40]}” is no index:value"
                raise UnreadableError(fault, f"line {line_number}") from None
        if cells:
            yield line_number, pairs


def names_beside(names: Iterable[str], used_names: Iterable[str]) -> list[str]:
    """The names, numbered where they are used already."""
    taken_names, new_names = {name.strip() for name in used_names}, []
    for name in names:
        number, new_name = 1, name
        while new_name in taken_names:
            number += 1
            new_name = f"{name} ({number})"
        taken_names.add(new_name)
        new_names.append(new_name)
    return new_names
