"""Rows of a text file drawn at random in two passes; this also stands in exported scripts.

It knows Python and numpy alone. A row is a line, or several where a quote keeps line ends inside
of a cell; blank lines and comments are none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

MAX_LABELS = 100  # different ones, beyond which they are no classes
MIN_CLASS_ROWS = 20  # rows that every class keeps, if it has them, to learn and to test it


@dataclass(frozen=True)
class RowFormat:
    """How the rows stand in a text.

    Attributes:
        skip: lines before the header.
        header: whether a header stands before the rows.
        delimiter, quote: of cells; empty for LIBSVM lines, whose comments begin with "#".
        place: which cell is the target, from 0 (from the end where below 0); None for none.
    """

    skip: int = 0
    header: bool = False
    delimiter: bytes = b""
    quote: bytes = b""
    place: int | None = 0


def sample_lines(
    open_text: Callable[[], IO[bytes]], form: RowFormat, size: int, seed: int, into: IO[bytes]
) -> tuple[np.ndarray, int, bool]:
    """Write what stands before the rows and a random part of the rows, in their order.

    Args:
        open_text: opens the text, from its beginning.
        form: of the rows.
        size: how many rows.
        seed: of the draw.
        into: where to write.

    Returns:
        The numbers of the rows, from 0; how many there are in all; whether every label has its
        share among them.
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
    """The numbers of rows drawn without replacement, sorted; each row is as likely as any other.

    Args:
        total: how many rows there are.
        size: how many to draw.
        seed: of the draw.
        codes: the class of every row, shape (total,): each class gets its share of the rows, and
            at least 20 where it has them; None for no classes.
    """
    random = np.random.default_rng([seed, 20_260_000])
    if codes is None:
        return np.sort(random.choice(total, size, replace=False))
    counts = np.bincount(codes)
    take = _class_shares(counts, size)
    order = np.argsort(codes, kind="stable")
    firsts = np.cumsum(counts) - counts
    drawn_by_class = [
        order[first + random.choice(count, share, replace=False)]
        for first, count, share in zip(firsts, counts, take, strict=True)
    ]
    return np.sort(np.concatenate(drawn_by_class))


def _class_shares(counts: np.ndarray, size: int) -> np.ndarray:
    """How many of every class, by the largest remainders."""
    exact = counts * (size / counts.sum())
    take = np.maximum(np.floor(exact).astype(int), np.minimum(counts, MIN_CLASS_ROWS))
    while take.sum() > size and take.max() > 0:
        take[np.argmax(take)] -= 1
    while take.sum() < size:
        take[np.argmax(np.where(take < counts, exact - take, -np.inf))] += 1
    return take


def count_labels(rows: Iterable[bytes], form: RowFormat) -> tuple[int, np.ndarray | None]:
    """How many rows there are, and the code of every row's label; None where they are no classes.

    A row without a label has a code of its own, as any other label.
    """
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
    position, delimiter, quote = form.place, form.delimiter, form.quote
    if position is None:
        return None
    if not delimiter:
        return lambda row: row.split(None, 1)[0]

    def target_cell(row: bytes) -> bytes:
        if quote in row:
            row_cells = split_cells(row, delimiter, quote)
            return row_cells[position] if -len(row_cells) <= position < len(row_cells) else b""
        row_cells = row.split(delimiter if delimiter.strip() or delimiter == b"\t" else None)
        return row_cells[position].strip() if -len(row_cells) <= position < len(row_cells) else b""

    return target_cell


def split_cells(row: bytes, delimiter: bytes, quote: bytes) -> list[bytes]:
    """The cells of a row with quotes, which open at the beginning of a cell alone."""
    row_cells, start, inside = [], 0, False
    for position in range(len(row)):
        character = row[position : position + 1]
        if character == quote and (inside or not row[start:position].strip()):
            inside = not inside
        elif character == delimiter and not inside:
            row_cells.append(row[start:position].strip().strip(quote))
            start = position + 1
    return [*row_cells, row[start:].strip().strip(quote)]


def preamble(file: IO[bytes], form: RowFormat) -> list[bytes]:
    """The lines before the first row; the file then stands at it."""
    lines = [file.readline() for _ in range(form.skip)]
    while form.header:
        header = next(_logical_lines(file, form), b"")
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
    return (record for record in _logical_lines(file, form) if record.strip())


def _logical_lines(file: IO[bytes], form: RowFormat) -> Iterator[bytes]:
    """Lines, with those below them that belong to a cell in quotes."""
    pending: list[bytes] = []
    for line in file:
        if not pending and (not form.quote or form.quote not in line):
            yield line
            continue
        inside = _ends_inside(line, form, inside=bool(pending))
        pending.append(line)
        if not inside:
            yield b"".join(pending)
            pending = []
    if pending:
        yield b"".join(pending)


def _ends_inside(line: bytes, form: RowFormat, *, inside: bool) -> bool:
    """Whether a line ends inside of quotes, which open at the beginning of a cell alone."""
    position, quote = line.find(form.quote), form.quote
    while position >= 0:
        if not inside:
            text_before = line[:position].rstrip(b" ")
            inside = not text_before or text_before.endswith(form.delimiter)
        elif line[position + 1 : position + 2] == quote:
            position += 1  # a doubled quote is a letter
        else:
            inside = False
        position = line.find(quote, position + 1)
    return inside
