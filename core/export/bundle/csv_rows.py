"""New rows for a model of sequences or molecules, read with Python's csv module alone.

An exported script holds this file's source, and the program itself predicts through it too: it
imports nothing but Python's own library.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import Any

from core.export.cell_format import PLAIN_CELLS, CellFormat

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
    training_encoding = encoding if encoding not in ("latin-1", "utf-16") else ""
    for name in ("utf-8-sig", training_encoding or "cp1252", "cp1252"):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def columns_of(
    text: str, needed: list[str], cell_format: CellFormat = PLAIN_CELLS
) -> tuple[dict[str, list[str]], list[int]]:
    """The cells of the needed columns, and of all others, row by row.

    Columns that are called "column 1" and so on, where the file has no such names, are told by
    their place: the training file had no header.

    Args:
        text: a table with a header; commas, semicolons, tabs or bars between the cells.
        needed: names of columns that must be there.
        cell_format: how cells are written.

    Returns:
        {column: cells}, and the line that every row ends in, counted from 1.

    Raises:
        UnreadableError: a column is missing, a row has another number of cells than the header,
            or there is no row.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    csv.field_size_limit(2**27)
    headers = [_split_cells(first, delimiter, cell_format) for delimiter in DELIMITERS]
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
    stream = io.StringIO(text, newline="")
    reader = _csv_reader(stream, delimiter, cell_format)
    rows, lines = _read_rows(reader, len(header), 0 if headless else 1)
    columns = zip(*rows, strict=True)
    names = default_names if headless else header
    return {name: list(cells) for name, cells in zip(names, columns, strict=True)}, lines


def _csv_reader(lines: Iterable[str], delimiter: str, cell_format: CellFormat) -> Any:
    return csv.reader(
        lines, delimiter=delimiter, quotechar=cell_format.quote, skipinitialspace=cell_format.padded
    )


def _split_cells(line: str, delimiter: str, cell_format: CellFormat) -> list[str]:
    return [cell.strip() for cell in next(_csv_reader([line], delimiter, cell_format), [])]


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
    missing_text = ", ".join(f"“{name}”" for name in missing[:5]) + (
        " …" if len(missing) > 5 else ""
    )
    message = (
        f"the column {missing_text} is missing"
        if len(missing) == 1
        else f"columns are missing: {missing_text}"
    )
    return UnreadableError(message, cure=f"add what is missing; the file has {header_text}")


def number_of(cell: str, line: int, column: str, cell_format: CellFormat) -> float:
    """The number in a cell.

    Raises:
        UnreadableError: there is none, or it is not finite.
    """
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
