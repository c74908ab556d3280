"""New rows for a model of sequences or molecules, read with Python's csv module alone.

An exported script holds this file's source, and the program itself predicts through it too: it
imports nothing but Python's own library.
"""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

DELIMITERS = (",", ";", "\t", "|")
ONE_COLUMN = "\x1f"  # a sign that no text holds: every line is one cell
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the marks that such a file begins with


class UnreadableError(ValueError):
    """Rows that cannot be used: what is wrong, where (line and column), and what to do."""

    def __init__(self, what: str, where: str = "", cure: str = "correct the file") -> None:
        self.what, self.where, self.cure = what, where, cure
        super().__init__(f"{where}: {what}; {cure}." if where else f"{what}; {cure}.")


def text_of(data: bytes, encoding: str = "") -> str:
    """The text in a file's bytes.

    UTF-16 with a mark, UTF-8 where that fits, otherwise one byte a letter: Latin-1 only where the
    bytes 0x80 to 0x9F, where other encodings have letters and quotes, do not come.

    Args:
        data: the bytes.
        encoding: of the file that the model was trained on, if that is another one.
    """
    if data.startswith(UTF_16):
        return data.decode("utf-16", errors="replace")
    own = encoding if encoding not in ("latin-1", "utf-16") else ""
    for name in ("utf-8-sig", own or "cp1252", "cp1252"):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def encoding_of(settings: Any) -> str:
    """The encoding of the file that a model was trained on, from its settings as JSON text."""
    return str(json.loads(str(settings)).get("reading", {}).get("encoding", ""))


def columns_of(
    text: str, needed: list[str], quote: str = '"', padded: bool = False
) -> tuple[dict[str, list[str]], list[int]]:
    """The cells of the needed columns, and of all others, row by row.

    Columns that are called "column 1" and so on, where the file has no such names, are told by
    their place: the training file had no header.

    Args:
        text: a table with a header; commas, semicolons, tabs or bars between the cells.
        needed: names of columns that must be there.
        quote: the quoting sign.
        padded: whether blanks follow the delimiters.

    Returns:
        {column: cells}, and the line that every row ends in, counted from 1.

    Raises:
        UnreadableError: a column is missing, a row has another number of cells than the header,
            or there is no row.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    csv.field_size_limit(2**27)
    headers = [_cells(first, delimiter, quote, padded) for delimiter in DELIMITERS]
    fits = [sum(name in header for name in needed) for header in headers]
    if not any(fits) and needed == ["column 1"]:
        headers[0] = [first]  # one column without a name: its texts may hold every delimiter
    header, delimiter = headers[fits.index(max(fits))], DELIMITERS[fits.index(max(fits))]
    missing = [name for name in needed if name not in header]
    places = [f"column {place + 1}" for place in range(len(header))]
    headless = len(missing) == len(needed) and set(needed) <= set(places)
    if missing and not headless:
        raise _missing_columns(missing, header)
    delimiter = delimiter if len(header) > 1 else ONE_COLUMN
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=delimiter, quotechar=quote, skipinitialspace=padded)
    rows, lines = _rows(reader, len(header), 0 if headless else 1)
    columns = zip(*rows, strict=True)
    names = places if headless else header
    return {name: list(cells) for name, cells in zip(names, columns, strict=True)}, lines


def _cells(line: str, delimiter: str, quote: str, padded: bool) -> list[str]:
    reader = csv.reader([line], delimiter=delimiter, quotechar=quote, skipinitialspace=padded)
    return [cell.strip() for cell in next(reader, [])]


def _rows(reader: Any, width: int, above: int) -> tuple[list[list[str]], list[int]]:
    """The rows below the header, if there is one above, and the line that each ends in."""
    rows, lines = [], []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != width:
                what = f"the row has {len(cells)} cells, and the header {width}"
                raise UnreadableError(what, f"line {reader.line_num}")
            rows.append(cells)
            lines.append(reader.line_num)
    except csv.Error as error:
        what = f"the table cannot be read ({error})"
        raise UnreadableError(what, f"line {reader.line_num}") from None
    if len(rows) <= above:
        raise UnreadableError("there is no row below the header", cure="add rows")
    return rows[above:], lines[above:]


def _missing_columns(missing: list[str], header: list[str]) -> UnreadableError:
    there = ", ".join(header[:8]) + (" …" if len(header) > 8 else "")
    some = ", ".join(f"“{name}”" for name in missing[:5]) + (" …" if len(missing) > 5 else "")
    what = f"the column {some} is missing" if len(missing) == 1 else f"columns are missing: {some}"
    return UnreadableError(what, cure=f"add what is missing; the file has {there}")


def number_of(cell: str, line: int, column: str, decimal: str = ".", thousands: str = "") -> float:
    """The number in a cell.

    Raises:
        UnreadableError: there is none, or it is not finite.
    """
    text = cell.strip()
    if thousands:
        text = text.replace(thousands, "")
    try:
        number = float(text.replace(decimal, "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UnreadableError(f"“{cell[:40]}” is no number", f"line {line}, column {column}")
    return number
