"""Which rows of a file are read: all, or a random sample (of texts, as a smaller file)."""

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

from core.datasets.dataset import Dataset, RowSample
from core.datasets.files import csv_table
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.delimiters import ONE_COLUMN
from core.datasets.files.file_bytes import GuardedFile, fingerprint, open_bytes
from core.datasets.files.sniffing import Dialect, sniff_dialect
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.raw_table import DataOptions
from core.datasets.sampling import row_sampling
from core.datasets.sampling.memory_limit import max_data_bytes
from core.datasets.understanding.target import target_column
from core.errors import UnusableError, write_error

ALL = 0  # rows: all of them, whatever the memory
MIN_ROWS = 1000  # smallest sample that is drawn for want of memory
_ENTRY = 12  # bytes of an entry of a sparse matrix
_TEXT = 60  # bytes of a text beside its letters
_PACKED = 5.0  # assumed compression ratio
_LINE = re.compile(r"\bline (\d+(?:,\d{3})*)")
_ZEROS = (b" 0:", b"\t0:")


@dataclass(frozen=True)
class RowLimit:
    """How many rows of a file are wanted."""

    rows: int | None = None  # maximum; ALL; None for as many as fit into memory
    seed: int = 0


AS_FIT = RowLimit()


@dataclass
class LineNumbers:
    """Maps lines of a sample to lines of the whole file, for errors."""

    chosen: np.ndarray | None = None  # row numbers; None for the whole file
    before: int = 0  # lines before the first row

    def set_rows(self, chosen: np.ndarray, form: row_sampling.RowFormat) -> None:
        """Map the lines of a text with these rows."""
        self.chosen, self.before = chosen, form.skip + int(form.header)

    @contextmanager
    def translate_line_numbers(self) -> Iterator[None]:
        """Translate line numbers of errors raised inside to those of the whole file."""
        try:
            yield
        except UnusableError as error:
            where = self.translated(error.where)
            raise UnusableError(error.what, where=where, cure=error.cure) from error

    def translated(self, text: str) -> str:
        """A text with the rows of the whole file in place of lines."""
        return text if self.chosen is None else _LINE.sub(self._row_text, text)

    def _row_text(self, match: re.Match[str]) -> str:
        assert self.chosen is not None
        index = int(match.group(1).replace(",", "")) - 1 - self.before
        return f"row {self.chosen[index] + 1:,}" if 0 <= index < len(self.chosen) else match.group()


@dataclass(frozen=True)
class FilePart:
    """The rows of a file to read."""

    file: TableFile  # all of it, or of some rows
    sampled: RowSample | None = None  # None for all rows
    zero_based: bool | None = None  # LIBSVM indices of the whole file; None for all rows
    path: Path = field(default_factory=Path)  # of the whole file
    compression: str = ""
    lines: LineNumbers = field(default_factory=LineNumbers)

    def with_sample_note(self, dataset: Dataset) -> Dataset:
        """The dataset marked as a sample of the whole file."""
        sample = self.sampled
        if sample is None:
            return dataset
        source = replace(dataset.source, path=str(self.path), fingerprint=fingerprint(self.path))
        if self.compression:
            csv_arguments = dict(source.read_csv)
            if "compression" in csv_arguments:
                csv_arguments["compression"] = self.compression
            described = f"{source.described}, {self.compression}"
            source = replace(source, read_csv=csv_arguments, described=described)
            source = replace(source, compression=self.compression)
        read_all = SuggestedChange("Read all rows", "--rows all", fields={"rows": ALL})
        proposal = None if sample.asked else read_all
        finding = Finding(sample.sentence(self.path.name), serious=True, proposal=proposal)
        lines = self.lines
        findings = [replace(f, sentence=lines.translated(f.sentence)) for f in dataset.findings]
        return replace(dataset, source=source, findings=(finding, *findings), sampled=sample)


@contextmanager
def open_file_part(
    file: TableFile, choices: DataOptions, row_limit: RowLimit
) -> Iterator[FilePart]:
    """The rows to read, in a temporary file if sampled; UnusableError if impossible."""
    _check_limit(row_limit)
    whole_file = FilePart(file)
    if row_limit.rows == ALL:
        yield whole_file
        return
    if not can_be_drawn(file):
        if row_limit.rows is not None:
            fault = "rows are drawn from CSV, LIBSVM, Parquet and Feather files alone"
            cure = "leave out how many rows are wanted, or save the table as CSV in UTF-8"
            raise UnusableError(fault, where=file.path.name, cure=cure)
        yield whole_file
        return
    estimated_bytes = bytes_of(file, choices.kinds) if row_limit.rows is None else 0.0
    if row_limit.rows is None and estimated_bytes <= max_data_bytes():
        yield whole_file
    elif isinstance(file, ColumnarFile):
        yield _columnar_part(file, choices, row_limit, estimated_bytes)
    else:
        assert isinstance(file, TextFile)
        with _temporary_folder() as folder:
            file_part = _text_part(file, choices, row_limit, estimated_bytes, folder)
            with file_part.lines.translate_line_numbers():
                yield file_part


def _check_limit(row_limit: RowLimit) -> None:
    if row_limit.rows is not None and row_limit.rows < 0:
        fault = f"{row_limit.rows:,} rows cannot be drawn"
        raise UnusableError(fault, where="option rows", cure="give 1 or more")


def can_be_drawn(file: TableFile) -> bool:
    """Whether the format allows reading some rows alone."""
    if isinstance(file, ColumnarFile):
        return True
    wide = (b"\xff\xfe", b"\xfe\xff")
    return isinstance(file, TextFile) and not file.head.startswith(wide) and b"\n" in file.head


def bytes_of(file: TableFile, kinds: Mapping[str, str]) -> float:
    """The approximate memory of all rows: 8 bytes a number, 12 a sparse entry, and texts."""
    if isinstance(file, ColumnarFile):
        return file.bytes_of_rows()
    if not isinstance(file, TextFile):
        return 0.0
    size = float(file.path.stat().st_size) * (_PACKED if file.compression else 1.0)
    head = file.head
    if len(head) < 2**20:
        size = float(len(head))
    if file.is_libsvm:
        head_bytes = float(_ENTRY * head.count(b":") + 8 * head.count(b"\n"))
        return head_bytes * size / len(head)
    dialect = sniff_dialect(head, file.path.name, complete=len(head) < 2**20)
    texts = csv_table.text_columns(dialect, kinds)
    form = _table_form(dialect, None)
    rows = max(1, sum(1 for _ in row_sampling.rows_of(io.BytesIO(head), form)))
    head_bytes = 8.0 * dialect.width * rows
    if texts:
        head_bytes += _TEXT * len(texts) * rows + len(head) * len(texts) / max(1, dialect.width)
    return head_bytes * size / len(head)


def form_of(file: TextFile, target: str = "") -> row_sampling.RowFormat:
    """The row format of a text; `target` is the requested target column."""
    if file.is_libsvm:
        return row_sampling.RowFormat()
    dialect = csv_table.dialect_of(
        file.path, file.compression, file.head, len(file.head) < 2**20, target
    )
    names, position = csv_table.names_of(dialect), None
    if dialect.delimiter != ONE_COLUMN:
        try:
            position = names.index(target_column(names, target, file.path.name))
            position += dialect.extra == "names"
        except UnusableError:  # raised again by reading
            position = None
    return _table_form(dialect, position)


def _table_form(dialect: Dialect, position: int | None) -> row_sampling.RowFormat:
    return row_sampling.RowFormat(
        skip=dialect.skip,
        header=bool(dialect.header),
        delimiter=dialect.delimiter.encode("latin-1", "replace"),
        quote=dialect.quote.encode("latin-1", "replace"),
        place=position,
        reading=dialect.reading.encode(),
        padded=dialect.quotes.padded,
    )


def _sample_size(row_limit: RowLimit, total: int, estimated_bytes: float) -> int:
    if row_limit.rows is not None:
        return row_limit.rows
    return max(MIN_ROWS, int(total * max_data_bytes() / estimated_bytes))


def _target_of(choices: DataOptions) -> str:
    by_role = [name for name, role in choices.roles.items() if role == "target"]
    return choices.target or (by_role[0] if by_role else "")


def _columnar_part(
    file: ColumnarFile, choices: DataOptions, row_limit: RowLimit, estimated_bytes: float
) -> FilePart:
    try:
        target = target_column(file.column_names, _target_of(choices), file.path.name)
        name = file.column_named(target)
    except UnusableError:  # raised again by reading
        name = None
    total, codes = file.count_labels(name)
    size = _sample_size(row_limit, total, estimated_bytes)
    if size >= total:
        return FilePart(file)
    row_numbers = row_sampling.draw_rows(total, size, row_limit.seed, codes)
    asked = row_limit.rows is not None
    sampled = RowSample(size, total, row_limit.seed, codes is not None, asked, row_numbers)
    return FilePart(replace(file, chosen=row_numbers), sampled, path=file.path)


def _text_part(
    file: TextFile, choices: DataOptions, row_limit: RowLimit, estimated_bytes: float, folder: Path
) -> FilePart:
    form, scan = form_of(file, _target_of(choices)), _ZeroIndexScan()
    with open_text(file) as source:
        rows = scan.watched(row_sampling.rows_of(source, form))
        total, codes = row_sampling.count_labels(rows, form)
    size = _sample_size(row_limit, total, estimated_bytes)
    if size >= total:
        return FilePart(file)
    row_numbers = row_sampling.draw_rows(total, size, row_limit.seed, codes)
    copy = write_part(file, form, row_numbers, folder)
    lines = LineNumbers()
    lines.set_rows(row_numbers, form)
    asked = row_limit.rows is not None
    plain = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in asdict(form).items()
    }
    sampled = RowSample(size, total, row_limit.seed, codes is not None, asked, row_numbers, plain)
    return FilePart(copy, sampled, scan.zero, file.path, file.compression, lines)


class _ZeroIndexScan:
    def __init__(self) -> None:
        self.zero = False

    def watched(self, rows: Iterator[bytes]) -> Iterator[bytes]:
        for row in rows:
            if not self.zero and any(sign in row for sign in _ZEROS):
                self.zero = True
            yield row


def open_text(file: TextFile) -> IO[bytes]:
    """The decompressed bytes of a text."""
    guarded = GuardedFile(open_bytes(file.path, file.compression), file.path.name, wide=False)
    return io.BufferedReader(guarded, 2**18)


def write_part(
    file: TextFile, form: row_sampling.RowFormat, row_numbers: np.ndarray, folder: Path
) -> TextFile:
    """A text of some rows, in a file of the same name in another folder."""
    path = folder / file.path.name
    try:
        with path.open("wb") as into:
            row_sampling.write_rows(lambda: open_text(file), form, row_numbers, into)
    except OSError as error:
        raise write_error("the rows that were drawn", str(path), error) from error
    return as_text(path)


def as_text(path: Path) -> TextFile:
    """The reader of a written text; raises UnusableError if it is none."""
    copy = open_table(str(path))
    if not isinstance(copy, TextFile):
        fault = "the rows that were drawn are no table"
        raise UnusableError(fault, where=path.name, cure="read all rows")
    return copy


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tunescope-") as folder:
        yield Path(folder)


def memory_sized_parts(file: TableFile) -> Iterator[FilePart]:
    """The whole file where it fits into memory, otherwise parts that do."""
    if not can_be_drawn(file) or (estimated_bytes := bytes_of(file, {})) <= max_data_bytes():
        yield FilePart(file)
        return
    if isinstance(file, ColumnarFile):
        total, _ = file.count_labels()
    else:
        assert isinstance(file, TextFile)
        with open_text(file) as source:
            total = sum(1 for _ in row_sampling.rows_of(source, form_of(file)))
    yield from row_parts(file, max(MIN_ROWS, int(total * max_data_bytes() / estimated_bytes)))


def row_parts(file: TableFile, size: int, without: np.ndarray | None = None) -> Iterator[FilePart]:
    """Parts of `size` rows, each readable until the next is requested; `without` are sorted."""
    skipped = np.empty(0, dtype=np.int64) if without is None else without
    if isinstance(file, ColumnarFile):
        total, _ = file.count_labels()
        for first in range(0, total, size):
            rows = np.setdiff1d(np.arange(first, min(first + size, total)), skipped, True)
            if len(rows):
                yield FilePart(replace(file, chosen=rows), path=file.path)
        return
    assert isinstance(file, TextFile)
    form, zero = form_of(file), None
    if file.is_libsvm:
        scan = _ZeroIndexScan()
        with open_text(file) as source:
            for _ in scan.watched(row_sampling.rows_of(source, form)):
                if scan.zero:
                    break
        zero = scan.zero
    with open_text(file) as source, _temporary_folder() as folder:
        preamble_lines = row_sampling.preamble(source, form)
        for numbers, block in _row_blocks(row_sampling.records(source, form), size, skipped):
            path, lines = folder / file.path.name, LineNumbers()
            _write_lines(path, [*preamble_lines, *block])
            lines.set_rows(np.array(numbers), form)
            yield FilePart(as_text(path), None, zero, file.path, file.compression, lines)


def _row_blocks(
    rows: Iterator[bytes], size: int, without: np.ndarray
) -> Iterator[tuple[list[int], list[bytes]]]:
    skipped_rows = iter(without.tolist())
    skipped, numbers, block = next(skipped_rows, -1), list[int](), list[bytes]()
    for number, row in enumerate(rows):
        if number == skipped:
            skipped = next(skipped_rows, -1)
            continue
        numbers.append(number)
        block.append(row if row.endswith(b"\n") else row + b"\n")
        if len(block) == size:
            yield numbers, block
            numbers, block = [], []
    if block:
        yield numbers, block


def _write_lines(path: Path, lines: list[bytes]) -> None:
    try:
        with path.open("wb") as into:
            into.writelines(lines)
    except OSError as error:
        raise write_error("a part of the file", str(path), error) from error
