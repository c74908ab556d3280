"""Rows of a text file drawn at random in two passes; exported scripts hold this source.

A row is a line, or several where a quote keeps line ends; blank lines and comments are none.
"""

from __future__ import annotations

import io
from array import array
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO

import numpy as np

from core.datasets.files.quotes import OUTSIDE, WITHIN, Quotes, csv_reader, scan_line

MAX_LABELS = 100  # different ones, beyond which they are no classes
_BLOCK_LINES = 256  # read at once; long ones stay in memory
MIN_CLASS_ROWS = 20  # rows that every class keeps, if it has them, to learn and to test it


@dataclass(frozen=True)
class RowFormat:
    """How the rows stand in a text.

    Attributes:
        skip: lines before the header.
        delimiter, quote: of cells; empty for LIBSVM lines, whose comments begin with "#".
        padded: whether blanks behind a delimiter are left out.
        place: which cell is the target, from 0 (from the end where below 0); None for none.
    """

    skip: int = 0
    header: bool = False
    delimiter: bytes = b""
    quote: bytes = b""
    place: int | None = 0
    reading: bytes = b"doubled"
    padded: bool = True

    @property
    def quotes(self) -> Quotes:
        """How the quotes of a table are read."""
        signs = [sign.decode("latin-1") for sign in (self.delimiter, self.quote, self.reading)]
        return Quotes(signs[0], signs[1], signs[2], self.padded)

    def is_telling(self, line: bytes) -> bool:
        """Whether a line has a sign that may keep its end, or a delimiter, inside of a cell."""
        has_quote = bool(self.quote) and self.quote in line
        return has_quote or (self.reading == b"escaped" and b"\\" in line)


def sample_lines(
    open_text: Callable[[], IO[bytes]], form: RowFormat, size: int, seed: int, into: IO[bytes]
) -> tuple[np.ndarray, int, bool]:
    """Write what stands before the rows and `size` random rows, in their order.

    Returns the rows' numbers, from 0; their total; whether every label has its share.
    """
    with open_text() as file:
        total, codes = count_labels(rows_of(file, form), form)
    row_numbers = draw_rows(total, min(size, total), seed, codes)
    write_rows(open_text, form, row_numbers, into)
    return row_numbers, total, codes is not None


def write_rows(
    open_text: Callable[[], IO[bytes]], form: RowFormat, row_numbers: np.ndarray, into: IO[bytes]
) -> None:
    """Write what stands before the rows, and those of some numbers, sorted."""
    numbers_left = iter(row_numbers.tolist())
    following = next(numbers_left, -1)
    with open_text() as file:
        into.writelines(preamble(file, form))
        for number, row in enumerate(records(file, form)):
            if number == following:
                into.write(row if row.endswith(b"\n") else row + b"\n")
                following = next(numbers_left, -1)
                if following < 0:
                    break


def draw_rows(total: int, size: int, seed: int, codes: np.ndarray | None = None) -> np.ndarray:
    """The sorted numbers of rows drawn without replacement, each equally likely.

    With `codes`, shape (total,), each class gets its share, and at least 20 where it has them.
    """
    random = np.random.default_rng([seed, 20_260_000])
    if codes is None:
        return np.sort(random.choice(total, size, replace=False))
    counts = np.bincount(codes)
    take = _class_shares(counts, size)
    is_drawn = np.zeros(total, dtype=bool)
    for code, (count, share) in enumerate(zip(counts, take, strict=True)):
        is_drawn_of_class = np.zeros(count, dtype=bool)
        is_drawn_of_class[random.choice(count, share, replace=False)] = True
        is_drawn[codes == code] = is_drawn_of_class
    return np.flatnonzero(is_drawn)


def _class_shares(counts: np.ndarray, size: int) -> np.ndarray:
    exact = counts * (size / counts.sum())
    take = np.maximum(np.floor(exact).astype(int), np.minimum(counts, MIN_CLASS_ROWS))
    while take.sum() > size and take.max() > 0:
        take[np.argmax(take)] -= 1
    while take.sum() < size:
        take[np.argmax(np.where(take < counts, exact - take, -np.inf))] += 1
    return take


def count_labels(rows: Iterable[bytes], form: RowFormat) -> tuple[int, np.ndarray | None]:
    """The number of rows, and the code of every label ("" too); None where they are no classes."""
    total, codes, code_of_label = 0, array("H"), dict[bytes, int]()
    label = _label_of(form)
    for row in rows:
        total += 1
        if label is not None:
            code = code_of_label.setdefault(label(row), len(code_of_label))
            codes.append(code)
            if code >= MAX_LABELS:
                label = None
    if label is None or total == 0:
        return total, None
    return total, np.frombuffer(codes, dtype=np.uint16)


def _label_of(form: RowFormat) -> Callable[[bytes], bytes] | None:
    position, delimiter = form.place, form.delimiter
    if position is None:
        return None
    if not delimiter:
        return lambda row: row.split(None, 1)[0]

    def target_cell(row: bytes) -> bytes:
        if form.is_telling(row):
            row_cells = split_cells(row, form)
        else:
            row_cells = row.split(delimiter if delimiter.strip() or delimiter == b"\t" else None)
        return row_cells[position].strip() if -len(row_cells) <= position < len(row_cells) else b""

    return target_cell


def split_cells(row: bytes, form: RowFormat) -> list[bytes]:
    """The cells of a row, without their quotes."""
    text = row.decode("latin-1")
    lines = io.StringIO(text.strip() if form.delimiter == b" " else text, newline="")
    return [cell.encode("latin-1") for cell in next(csv_reader(lines, form.quotes), [])]


def preamble(file: IO[bytes], form: RowFormat) -> list[bytes]:
    """The lines before the first row; the file then stands at it."""
    lines = [file.readline() for _ in range(form.skip)]
    while form.header:
        header = next(logical_lines(file, form, 1), b"")
        lines.append(header)
        if header.strip() or not header:
            break
    return lines


def rows_of(file: IO[bytes], form: RowFormat) -> Iterator[bytes]:
    """Every row of a file that stands at its beginning."""
    preamble(file, form)
    return records(file, form)


def records(file: IO[bytes], form: RowFormat) -> Iterator[bytes]:
    """Every row, from where the file stands."""
    if not form.delimiter:
        return (line for line in file if line.split(b"#", 1)[0].strip())
    blanks = _blanks(form)
    return (line for line in logical_lines(file, form) if line.strip(blanks))


def is_row(line: bytes, form: RowFormat) -> bool:
    """Whether a line of a table is no blank one; tabs that divide cells are a row of empty ones."""
    return bool(line.strip(_blanks(form)))


def _blanks(form: RowFormat) -> bytes | None:
    return b" \r\n" if form.delimiter == b"\t" else None


def logical_lines(
    file: Iterable[bytes], form: RowFormat, block_size: int = _BLOCK_LINES
) -> Iterator[bytes]:
    """Lines, with those below them that belong to a cell in quotes.

    `block_size`: how many lines may be read before the first one is given.
    """
    pending: list[bytes] = []
    quotes, state, is_escaped = form.quotes, OUTSIDE, form.reading == b"escaped"
    lines = iter(file)
    while block := list(islice(lines, block_size)):
        if state == OUTSIDE and not pending and not form.is_telling(b"".join(block)):
            yield from block
            continue
        for line in block:  # as of `is_telling`, whose call would take as long as all else
            has_sign = (form.quote and form.quote in line) or (is_escaped and b"\\" in line)
            if state == WITHIN or has_sign:
                text = line.removeprefix(BOM_UTF8).decode("latin-1")
                state = scan_line(text, quotes, state).state
            pending.append(line)
            if state == OUTSIDE:
                yield b"".join(pending)
                pending = []
    if pending:
        yield b"".join(pending)
