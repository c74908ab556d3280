"""What of a file is read: all rows, or so many drawn at random; and its rows in parts.

Text is written anew with fewer rows and then read like any other file, so that a sample has just
the rows that a reading of the whole file has. Of columns only the wanted rows are taken.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

import numpy as np

from core.datasets.dataset import Dataset, Finding, Proposal, Sampled
from core.datasets.files import csv_table
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.delimiters import ONE_COLUMN
from core.datasets.files.opening import GuardedFile, fingerprint, open_bytes
from core.datasets.files.sniffing import sniff
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.raw_table import Choices
from core.datasets.sampling import drawing
from core.datasets.sampling.memory import most_bytes
from core.datasets.understanding.target import target_column
from core.errors import UnusableError, cannot_write

ALL = 0  # all of them, whatever the memory
FEWEST = 1000  # rows that are drawn at least
_ENTRY = 12  # bytes of an entry of a sparse matrix
_TEXT = 60  # bytes of a text beside its letters
_PACKED = 5.0  # times that a compressed file is larger when it is unpacked
_LINE = re.compile(r"\bline (\d+(?:,\d{3})*)")
_ZEROS = (b" 0:", b"\t0:")


@dataclass(frozen=True)
class Wanted:
    """How many rows of a file are wanted.

    Attributes:
        rows: at most so many; `ALL`; or None for as many as fit into memory.
        seed: of the draw.
    """

    rows: int | None = None
    seed: int = 0


AS_FIT = Wanted()


@dataclass
class Lines:
    """The rows that stand in a text of fewer rows, to name them in errors.

    Attributes:
        chosen: their numbers in the whole file, from 0; None where lines are its own.
        before: lines before the first row.
    """

    chosen: np.ndarray | None = None
    before: int = 0

    def begin(self, chosen: np.ndarray, form: drawing.Form) -> None:
        """From now on lines are those of a text with these rows."""
        self.chosen, self.before = chosen, form.skip + int(form.header)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let errors name rows of the whole file.

        Raises:
            UnusableError: what was raised inside, at its place in the whole file.
        """
        try:
            yield
        except UnusableError as error:
            where = error.where if self.chosen is None else _LINE.sub(self._row, error.where)
            raise UnusableError(error.what, where=where, cure=error.cure) from error

    def _row(self, found: re.Match[str]) -> str:
        assert self.chosen is not None
        at = int(found.group(1).replace(",", "")) - 1 - self.before
        return f"row {self.chosen[at] + 1:,}" if 0 <= at < len(self.chosen) else found.group()


@dataclass(frozen=True)
class Part:
    """What is read of a file.

    Attributes:
        file: all of it, or some of its rows.
        sampled: which they are; None for all.
        zero_based: whether the LIBSVM indices of the whole file begin with 0; None where all is
            read, which tells.
        path, compression: of the whole file.
        lines: names rows of the whole file in errors.
    """

    file: TableFile
    sampled: Sampled | None = None
    zero_based: bool | None = None
    path: Path = field(default_factory=Path)
    compression: str = ""
    lines: Lines = field(default_factory=Lines)

    def told(self, dataset: Dataset) -> Dataset:
        """The dataset of the file's rows as that of a sample of the whole file."""
        sample = self.sampled
        if sample is None:
            return dataset
        source = replace(dataset.source, path=str(self.path), fingerprint=fingerprint(self.path))
        if self.compression:
            how = dict(source.read_csv)
            if "compression" in how:
                how["compression"] = self.compression
            described = f"{source.described}, {self.compression}"
            source = replace(
                source, read_csv=how, described=described, compression=self.compression
            )
        every = Proposal("Read all rows", "--rows all", fields={"rows": ALL})
        proposal = None if sample.asked else every
        finding = Finding(sample.sentence(self.path.name), serious=True, proposal=proposal)
        findings = (finding, *dataset.findings)
        return replace(dataset, source=source, findings=findings, sampled=sample)


@contextmanager
def taken(file: TableFile, choices: Choices, wanted: Wanted) -> Iterator[Part]:
    """The part of a file that is read; what was written for it goes on the way out.

    Raises:
        UnusableError: rows were asked for and the file's kind does not allow to draw them.
    """
    _check(wanted)
    whole = Part(file)
    if wanted.rows == ALL:
        yield whole
        return
    if not can_be_drawn(file):
        if wanted.rows is not None:
            raise UnusableError(
                "rows are drawn from CSV, LIBSVM, Parquet and Feather files alone",
                where=file.path.name,
                cure="leave out how many rows are wanted, or save the table as CSV in UTF-8",
            )
        yield whole
        return
    about = 0.0
    if wanted.rows is None and (about := bytes_of(file, choices.kinds)) <= most_bytes():
        yield whole
    elif isinstance(file, ColumnarFile):
        yield _of_columns(file, choices, wanted, about)
    else:
        assert isinstance(file, TextFile)
        with _folder() as folder:
            part = _of_text(file, choices, wanted, about, folder)
            with part.lines.named():
                yield part


def _check(wanted: Wanted) -> None:
    if wanted.rows is not None and wanted.rows < 0:
        raise UnusableError(
            f"{wanted.rows:,} rows cannot be drawn", where="option rows", cure="give 1 or more"
        )


def can_be_drawn(file: TableFile) -> bool:
    """Whether rows of a file can be read without the others."""
    if isinstance(file, ColumnarFile):
        return True
    wide = (b"\xff\xfe", b"\xfe\xff")
    return isinstance(file, TextFile) and not file.head.startswith(wide) and b"\n" in file.head


def bytes_of(file: TableFile, kinds: Mapping[str, str]) -> float:
    """About the memory that a file's rows take: 8 bytes a number, 12 a sparse entry, and texts."""
    if isinstance(file, ColumnarFile):
        return file.bytes_of_rows()
    if not isinstance(file, TextFile):
        return 0.0
    size = float(file.path.stat().st_size) * (_PACKED if file.compression else 1.0)
    head = file.head
    if len(head) < 2**20:
        size = float(len(head))
    if file.is_libsvm:
        each = float(_ENTRY * head.count(b":") + 8 * head.count(b"\n"))
        return each * size / len(head)
    dialect = sniff(head, file.path.name, complete=len(head) < 2**20)
    texts = csv_table.text_columns(dialect, kinds)
    rows = max(1, sum(1 for _ in drawing.rows_of(io.BytesIO(head), form_of(file))))
    each = 8.0 * dialect.width * rows
    if texts:
        each += _TEXT * len(texts) * rows + len(head) * len(texts) / max(1, dialect.width)
    return each * size / len(head)


def form_of(file: TextFile, target: str = "") -> drawing.Form:
    """How the rows of a text stand in it; `target` is the column that a person wants predicted."""
    if file.is_libsvm:
        return drawing.Form()
    complete = len(file.head) < 2**20
    dialect = sniff(file.head, file.path.name, complete=complete, wanted=target)
    names, place = csv_table.names_of(dialect), None
    if dialect.delimiter != ONE_COLUMN:
        try:
            place = names.index(target_column(names, target, file.path.name))
            place += dialect.extra == "names"
        except UnusableError:  # reading says so
            place = None
    return drawing.Form(
        skip=dialect.skip,
        header=bool(dialect.header),
        delimiter=dialect.delimiter.encode("latin-1", "replace"),
        quote=dialect.quote.encode("latin-1", "replace"),
        place=place,
    )


def _size(wanted: Wanted, total: int, about: float) -> int:
    """How many rows to draw."""
    if wanted.rows is not None:
        return wanted.rows
    return max(FEWEST, int(total * most_bytes() / about))


def _target_of(choices: Choices) -> str:
    by_role = [name for name, role in choices.roles.items() if role == "target"]
    return choices.target or (by_role[0] if by_role else "")


def _of_columns(file: ColumnarFile, choices: Choices, wanted: Wanted, about: float) -> Part:
    try:
        name = file.column_named(target_column(file.names, _target_of(choices), file.path.name))
    except UnusableError:  # reading says so
        name = None
    total, codes = file.counted(name)
    size = _size(wanted, total, about)
    if size >= total:
        return Part(file)
    chosen = drawing.drawn(total, size, wanted.seed, codes)
    sampled = Sampled(size, total, wanted.seed, codes is not None, wanted.rows is not None, chosen)
    return Part(replace(file, chosen=chosen), sampled, path=file.path)


def _of_text(file: TextFile, choices: Choices, wanted: Wanted, about: float, folder: Path) -> Part:
    form, seen = form_of(file, _target_of(choices)), _Seen()
    with opened(file) as whole:
        total, codes = drawing.counted(seen.watched(drawing.rows_of(whole, form)), form)
    size = _size(wanted, total, about)
    if size >= total:
        return Part(file)
    chosen = drawing.drawn(total, size, wanted.seed, codes)
    copy = write_part(file, form, chosen, folder)
    lines = Lines()
    lines.begin(chosen, form)
    asked = wanted.rows is not None
    plain = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in asdict(form).items()
    }
    sampled = Sampled(size, total, wanted.seed, codes is not None, asked, chosen, plain)
    return Part(copy, sampled, seen.zero, file.path, file.compression, lines)


class _Seen:
    """What passes by while rows are counted: whether an index is 0."""

    def __init__(self) -> None:
        self.zero = False

    def watched(self, rows: Iterator[bytes]) -> Iterator[bytes]:
        """The rows as they are."""
        for row in rows:
            if not self.zero and any(sign in row for sign in _ZEROS):
                self.zero = True
            yield row


def opened(file: TextFile) -> IO[bytes]:
    """The unpacked bytes of a text."""
    guarded = GuardedFile(open_bytes(file.path, file.compression), file.path.name, wide=False)
    return io.BufferedReader(guarded, 2**18)


def write_part(file: TextFile, form: drawing.Form, chosen: np.ndarray, folder: Path) -> TextFile:
    """A text of some rows, in a file of the same name in another folder.

    Raises:
        UnusableError: the disk is full.
    """
    path = folder / file.path.name
    try:
        with path.open("wb") as into:
            drawing.write_rows(lambda: opened(file), form, chosen, into)
    except OSError as error:
        raise cannot_write("the rows that were drawn", str(path), error) from error
    return as_text(path)


def as_text(path: Path) -> TextFile:
    """The reader of a text that was written here.

    Raises:
        UnusableError: it is none.
    """
    copy = open_table(str(path))
    if not isinstance(copy, TextFile):
        raise UnusableError(
            "the rows that were drawn are no table", where=path.name, cure="read all rows"
        )
    return copy


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tunescope-") as folder:
        yield Path(folder)


def parts_that_fit(file: TableFile) -> Iterator[Part]:
    """The whole file where it fits into memory; otherwise its rows in parts that do.

    Raises:
        UnusableError: it cannot be read, or parts of it not written.
    """
    if not can_be_drawn(file) or (about := bytes_of(file, {})) <= most_bytes():
        yield Part(file)
        return
    if isinstance(file, ColumnarFile):
        total, _ = file.counted()
    else:
        assert isinstance(file, TextFile)
        with opened(file) as whole:
            total = sum(1 for _ in drawing.rows_of(whole, form_of(file)))
    yield from in_parts(file, max(FEWEST, int(total * most_bytes() / about)))


def in_parts(file: TableFile, size: int, without: np.ndarray | None = None) -> Iterator[Part]:
    """All rows of a file, so many at a time, each part readable until the next is asked for.

    Args:
        file: one whose rows can be drawn.
        size: rows of a part.
        without: the numbers of rows that are left out, sorted.

    Raises:
        UnusableError: it cannot be read, or parts of it not written.
    """
    leave = np.empty(0, dtype=np.int64) if without is None else without
    if isinstance(file, ColumnarFile):
        total, _ = file.counted()
        for first in range(0, total, size):
            rows = np.setdiff1d(np.arange(first, min(first + size, total)), leave, True)
            if len(rows):
                yield Part(replace(file, chosen=rows), path=file.path)
        return
    assert isinstance(file, TextFile)
    form, zero = form_of(file), None
    if file.is_libsvm:
        seen = _Seen()
        with opened(file) as whole:
            for _ in seen.watched(drawing.rows_of(whole, form)):
                if seen.zero:
                    break
        zero = seen.zero
    with opened(file) as whole, _folder() as folder:
        before = drawing.preamble(whole, form)
        for numbers, block in _blocks(drawing.records(whole, form), size, leave):
            path, lines = folder / file.path.name, Lines()
            _write(path, [*before, *block])
            lines.begin(np.array(numbers), form)
            yield Part(as_text(path), None, zero, file.path, file.compression, lines)


def _blocks(
    rows: Iterator[bytes], size: int, without: np.ndarray
) -> Iterator[tuple[list[int], list[bytes]]]:
    """Rows with their numbers, so many at a time."""
    left_out = iter(without.tolist())
    leave, numbers, block = next(left_out, -1), list[int](), list[bytes]()
    for number, row in enumerate(rows):
        if number == leave:
            leave = next(left_out, -1)
            continue
        numbers.append(number)
        block.append(row if row.endswith(b"\n") else row + b"\n")
        if len(block) == size:
            yield numbers, block
            numbers, block = [], []
    if block:
        yield numbers, block


def _write(path: Path, lines: list[bytes]) -> None:
    try:
        with path.open("wb") as into:
            into.writelines(lines)
    except OSError as error:
        raise cannot_write("a part of the file", str(path), error) from error
