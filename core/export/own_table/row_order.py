"""Rows in another order than they come in, kept in a file meanwhile: of texts and of tables."""

import mmap
import pickle
import tempfile
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

import numpy as np

from core.export.own_table.answer_rows import Answers, Cell

TextLine = tuple[bytes, bool]  # a line with its end, and whether it is a row


class RecordFile:
    """Records in a private file, by number: some bytes of memory for each."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._ends = array("q", [0])

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Delete the records."""
        self._file.close()

    def add(self, record: bytes) -> None:
        """Keep another record; OSError where the disk is full."""
        self._file.write(record)
        self._ends.append(self._ends[-1] + len(record))

    def records(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """The records of these numbers, from 0."""
        self._file.flush()
        if not self._ends[-1]:  # no system maps an empty file
            yield from (b"" for _ in numbers)
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for number in numbers:
                yield content[self._ends[number] : self._ends[number + 1]]


def write_lines(
    lines: Iterable[TextLine], answers: Answers, write: Callable[[bytes], object], line_end: bytes
) -> None:
    """Write the lines of a text, its rows in the order of the answers, others where they are."""
    if not answers.is_sorted:
        for line, _ in lines:
            write(line)
        return
    flags = bytearray()
    with closing(RecordFile()) as kept_lines:
        line = b""
        for line, is_row in lines:
            kept_lines.add(line)
            flags.append(is_row)
        numbers = np.arange(len(flags))
        rows = np.flatnonzero(np.frombuffer(flags, dtype=np.uint8))
        numbers[rows] = rows[answers.order()]
        # Where the last line has no end, the line that comes to be the last has none.
        is_bare = not line.endswith((b"\n", b"\r"))
        for line in kept_lines.records(numbers[:-1].tolist()):
            write(line if not is_bare or line.endswith((b"\n", b"\r")) else line + line_end)
        for line in kept_lines.records(numbers[-1:].tolist()):
            write(line.rstrip(b"\r\n") if is_bare else line)


def ordered_rows(rows: Iterable[Sequence[Cell]], answers: Answers) -> Generator[Sequence[Cell]]:
    """The rows with their answers, in the order of the answers."""
    if not answers.is_sorted:
        yield from rows
        return
    with closing(RecordFile()) as kept_rows:
        for row in rows:
            kept_rows.add(pickle.dumps(row))  # nobody else has the file
        yield from map(pickle.loads, kept_rows.records(answers.order().tolist()))
