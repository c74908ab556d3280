"""Which rows of a file are read: all, or a random sample (of texts, as a smaller file)."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

import numpy as np

from core.datasets.dataset import Dataset, RowSample
from core.datasets.files import csv_table
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.delimited_rows import Dialect
from core.datasets.files.delimiters import ONE_COLUMN
from core.datasets.files.file_bytes import GuardedFile, fingerprint, open_bytes, unchanged
from core.datasets.files.sniffing import sniff_dialect
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.raw_table import NO_CHOICES, DataOptions
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


@dataclass(frozen=True)
class LineNumbers:
    """Maps lines of a sample to lines of the whole file, for errors."""

    chosen: np.ndarray | None = None  # row numbers; None for the whole file
    before: int = 0  # lines before the first row

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
    wanted = row_limit.rows
    if wanted is not None and wanted < 0:
        fault = f"{wanted:,} rows cannot be drawn"
        raise UnusableError(fault, where="option rows", cure="give 1 or more")
    if wanted not in (ALL, None) and not can_be_drawn(file):
        fault = "rows are drawn from CSV, LIBSVM, Parquet and Feather files alone"
        cure = "leave out how many rows are wanted, or save the table as CSV in UTF-8"
        raise UnusableError(fault, where=file.path.name, cure=cure)
    estimated_bytes = bytes_of(file, choices) if wanted is None and can_be_drawn(file) else 0.0
    if wanted == ALL or (wanted is None and estimated_bytes <= _max_bytes(file)):
        with unchanged(file.path):
            yield FilePart(file)
        return
    assert isinstance(file, (ColumnarFile, TextFile))
    with unchanged(file.path), tempfile.TemporaryDirectory(prefix="tunescope-") as folder:
        file_part = _drawn_part(file, choices, row_limit, estimated_bytes, Path(folder))
        with file_part.lines.translate_line_numbers():
            yield file_part


def can_be_drawn(file: TableFile) -> bool:
    """Whether the format allows reading some rows alone."""
    if isinstance(file, ColumnarFile):
        return not file.is_renamed
    wide = (b"\xff\xfe", b"\xfe\xff")
    return isinstance(file, TextFile) and not file.head.startswith(wide) and b"\n" in file.head


def bytes_of(file: TableFile, choices: DataOptions = NO_CHOICES) -> float:
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
    dialect = sniff_dialect(head, file.path.name, file.is_complete, choices.target)
    texts = csv_table.text_columns(dialect, choices.kinds)
    form, rows = _table_form(dialect, None), head.count(b"\n")
    if form.quote in head:  # cells may hold ends of lines
        rows = sum(1 for _ in row_sampling.rows_of(io.BytesIO(head), form))
    rows = max(1, rows)
    head_bytes = 8.0 * dialect.width * rows
    if texts:
        head_bytes += _TEXT * len(texts) * rows + len(head) * len(texts) / max(1, dialect.width)
    return head_bytes * size / len(head)


def form_of(file: TextFile, target: str = "") -> row_sampling.RowFormat:
    """The row format of a text; `target` is the requested target column."""
    if file.is_libsvm:
        return row_sampling.RowFormat()
    dialect = file.dialect(target)
    names, position = dialect.names, None
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


def _max_bytes(file: TableFile) -> float:
    """What rows may take, also of a file that is made to fill the memory."""
    limit = max_data_bytes()
    return min(limit, file.max_bytes) if isinstance(file, ColumnarFile) else limit


def _rows_in_memory(file: TableFile, total: int, estimated_bytes: float) -> int:
    return max(MIN_ROWS, int(total * _max_bytes(file) / estimated_bytes))


def _target_of(choices: DataOptions) -> str:
    by_role = [name for name, role in choices.roles.items() if role == "target"]
    return choices.target or (by_role[0] if by_role else "")


def _drawn_part(
    file: ColumnarFile | TextFile,
    choices: DataOptions,
    row_limit: RowLimit,
    estimated_bytes: float,
    folder: Path,
) -> FilePart:
    form, zero_rows = row_sampling.RowFormat(), list[bytes]()
    if isinstance(file, ColumnarFile):
        total, codes = file.count_labels(_target_in(file, choices))
    else:
        form = form_of(file, _target_of(choices))
        with open_text(file) as source:
            rows = _watched(row_sampling.rows_of(source, form), zero_rows)
            total, codes = row_sampling.count_labels(rows, form)
    size = row_limit.rows
    if size is None:
        size = _rows_in_memory(file, total, estimated_bytes)
    if size >= total:
        return FilePart(file)
    row_numbers = row_sampling.draw_rows(total, size, row_limit.seed, codes)
    asked = row_limit.rows is not None
    own = file.max_bytes if isinstance(file, ColumnarFile) else 0
    facts = (size, total, row_limit.seed, codes is not None, asked)
    max_bytes = own if own < max_data_bytes() else 0
    sampled = RowSample(*facts, chosen=row_numbers, max_bytes=max_bytes)
    if isinstance(file, ColumnarFile):
        return FilePart(replace(file, chosen=row_numbers), sampled, path=file.path)
    plain = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in asdict(form).items()
    }
    with _written_part(file, folder) as into:
        row_sampling.write_rows(lambda: open_text(file), form, row_numbers, into)
    return FilePart(
        _read_part(file, folder),
        replace(sampled, form=plain),
        bool(zero_rows),
        file.path,
        file.compression,
        LineNumbers(row_numbers, form.skip + form.header),
    )


def _target_in(file: ColumnarFile, choices: DataOptions) -> str | None:
    try:
        return target_column(file.column_names, _target_of(choices), file.path.name)
    except UnusableError:  # raised again by reading
        return None


def _watched(rows: Iterator[bytes], zero_rows: list[bytes]) -> Iterator[bytes]:
    """The rows; the first one with an index 0 joins `zero_rows`."""
    for row in rows:
        if not zero_rows and any(sign in row for sign in _ZEROS):
            zero_rows.append(row)
        yield row


def open_text(file: TextFile) -> IO[bytes]:
    """The decompressed bytes of a text."""
    guarded = GuardedFile(open_bytes(file.path, file.compression), file.path.name, wide=False)
    return io.BufferedReader(guarded, 2**18)


@contextmanager
def _written_part(file: TextFile, folder: Path) -> Iterator[IO[bytes]]:
    """A file of the same name in another folder, for some of the rows."""
    path = folder / file.path.name
    try:
        with path.open("wb") as into:
            yield into
    except OSError as error:
        raise write_error("the rows that were drawn", str(path), error) from error


def _read_part(file: TextFile, folder: Path) -> TextFile:
    part = open_table(str(folder / file.path.name))
    if not isinstance(part, TextFile):
        fault = "the rows that were drawn are no table"
        raise UnusableError(fault, where=file.path.name, cure="read all rows")
    return part


def memory_sized_parts(file: TableFile) -> Iterator[FilePart]:
    """The whole file where it fits into memory, otherwise parts that do."""
    if not can_be_drawn(file) or (estimated_bytes := bytes_of(file)) <= _max_bytes(file):
        yield FilePart(file)
        return
    if isinstance(file, ColumnarFile):
        total, _ = file.count_labels()
    else:
        assert isinstance(file, TextFile)
        with open_text(file) as source:
            total = sum(1 for _ in row_sampling.rows_of(source, form_of(file)))
    yield from row_parts(file, _rows_in_memory(file, total, estimated_bytes))


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
        with open_text(file) as source:
            lines_read = row_sampling.rows_of(source, form)
            zero = any(sign in row for row in lines_read for sign in _ZEROS)
    with open_text(file) as source, tempfile.TemporaryDirectory(prefix="tunescope-") as name:
        folder = Path(name)
        preamble_lines = row_sampling.preamble(source, form)
        for numbers, block in _row_blocks(row_sampling.records(source, form), size, skipped):
            with _written_part(file, folder) as into:
                into.writelines([*preamble_lines, *block])
            lines = LineNumbers(np.array(numbers), form.skip + form.header)
            part = _read_part(file, folder)
            yield FilePart(part, None, zero, file.path, file.compression, lines)


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
