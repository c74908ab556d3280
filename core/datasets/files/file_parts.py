"""Which rows of a file are read: all, or a random sample (of texts, as a smaller file)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from core.datasets.dataset import Dataset, RowSample
from core.datasets.files import row_sampling
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.csv_table import TextFile
from core.datasets.files.file_bytes import fingerprint, read_head, unchanged
from core.datasets.files.table_reader import TableReader
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.memory_limit import max_data_bytes
from core.datasets.raw_table import DataOptions
from core.errors import UnusableError, write_error

ALL = 0  # rows: all of them, whatever the memory
MIN_ROWS = 1000  # smallest sample that is drawn for want of memory
_LINE = re.compile(r"\bline (\d+(?:,\d{3})*)")


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

    file: TableReader  # all of it, or of some rows
    sampled: RowSample | None = None  # None for all rows
    zero_based: bool | None = None  # LIBSVM indices of the whole file; None for all rows
    path: Path = field(default_factory=Path)  # of the whole file
    compression: str = ""
    lines: LineNumbers = field(default_factory=LineNumbers)

    def with_sample_note(self, dataset: Dataset) -> Dataset:
        sample = self.sampled
        if sample is None:
            return dataset
        source = replace(dataset.source, path=str(self.path), fingerprint=fingerprint(self.path))
        if self.compression:
            # The part was written unpacked; whoever reads the file by this needs its packing.
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
    file: TableReader, choices: DataOptions, row_limit: RowLimit
) -> Iterator[FilePart]:
    """The rows to read, in a temporary file if sampled."""
    wanted = row_limit.rows
    if wanted is not None and wanted < 0:
        fault = f"{wanted:,} rows cannot be drawn"
        raise UnusableError(fault, where="option rows", cure="give 1 or more")
    if wanted not in (ALL, None) and not file.can_be_drawn:
        fault = "rows are drawn from CSV, LIBSVM, Parquet and Feather files alone"
        cure = "leave out how many rows are wanted, or save the table as CSV in UTF-8"
        raise UnusableError(fault, where=file.path.name, cure=cure)
    # What cannot be drawn from is read whole, whatever it takes.
    estimate = file.bytes_of_rows(choices) if wanted is None and file.can_be_drawn else 0.0
    # All rows, in place: no copy of the file is made.
    if wanted == ALL or (wanted is None and estimate <= _max_bytes(file)):
        with unchanged(file.path):
            yield FilePart(file)
        return
    with unchanged(file.path), tempfile.TemporaryDirectory(prefix="tunescope-") as folder:
        file_part = _drawn_part(file, choices, row_limit, estimate, Path(folder))
        with file_part.lines.translate_line_numbers():
            yield file_part


def _max_bytes(file: TableReader) -> float:
    return min(max_data_bytes(), file.max_bytes)


def _rows_in_memory(file: TableReader, total: int, estimated_bytes: float) -> int:
    return max(MIN_ROWS, int(total * _max_bytes(file) / estimated_bytes))


def _drawn_part(
    file: TableReader,
    choices: DataOptions,
    row_limit: RowLimit,
    estimated_bytes: float,
    folder: Path,
) -> FilePart:
    by_role = [name for name, role in choices.roles.items() if role == "target"]
    counted = file.count_rows(choices.target or (by_role[0] if by_role else ""))
    total, codes, size = counted.total, counted.codes, row_limit.rows
    # Not fewer than a thousand, as the estimate is of the first megabyte alone.
    if size is None:
        size = _rows_in_memory(file, total, estimated_bytes)
    if size >= total:
        return FilePart(file)
    row_numbers = row_sampling.draw_rows(total, size, row_limit.seed, codes)
    sampled = RowSample(
        *(size, total, row_limit.seed, codes is not None, row_limit.rows is not None),
        chosen=row_numbers,
        max_bytes=int(file.max_bytes) if file.max_bytes < max_data_bytes() else 0,
    )
    if isinstance(file, ColumnarFile):
        return FilePart(replace(file, chosen=row_numbers), sampled, path=file.path)
    assert isinstance(file, TextFile)
    form = counted.form
    plain = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in asdict(form).items()
    }
    with _written_part(file, folder) as into:
        row_sampling.write_rows(file.open_unpacked, form, row_numbers, into)
    return FilePart(
        _opened_part(file, folder),
        replace(sampled, form=plain),
        counted.zero_based,
        file.path,
        file.compression,
        LineNumbers(row_numbers, form.skip + form.header),
    )


@contextmanager
def _written_part(file: TextFile, folder: Path) -> Iterator[IO[bytes]]:
    path = folder / file.path.name
    try:
        with path.open("wb") as into:
            yield into
    except OSError as error:
        raise write_error("the rows that were drawn", str(path), error) from error


def _opened_part(file: TextFile, folder: Path) -> TextFile:
    # Some rows alone may look like another format; what they are is known of the whole file.
    path = folder / file.path.name
    return replace(file, path=path, compression="", head=read_head(path, ""))


def memory_sized_parts(file: TableReader) -> Iterator[FilePart]:
    """The whole file where it fits into memory, otherwise parts that do."""
    if not file.can_be_drawn or (estimate := file.bytes_of_rows()) <= _max_bytes(file):
        yield FilePart(file)
        return
    total = file.count_rows(labels=False).total
    yield from row_parts(file, _rows_in_memory(file, total, estimate))


def row_parts(
    file: TableReader, size: int, without: np.ndarray | None = None
) -> Iterator[FilePart]:
    """Parts of `size` rows, each readable until the next is requested; `without` are sorted."""
    skipped = np.empty(0, dtype=np.int64) if without is None else without
    if isinstance(file, ColumnarFile):
        total = file.count_rows(labels=False).total
        for first in range(0, total, size):
            rows = np.setdiff1d(np.arange(first, min(first + size, total)), skipped, True)
            if len(rows):
                yield FilePart(replace(file, chosen=rows), path=file.path)
        return
    assert isinstance(file, TextFile)
    # A part alone may lack the index 0 by which its file counts.
    zero = file.count_rows(labels=False).zero_based if file.is_sparse else None
    form = file.row_format()
    with file.open_unpacked() as source, tempfile.TemporaryDirectory(prefix="tunescope-") as name:
        folder = Path(name)
        preamble_lines = row_sampling.preamble(source, form)
        records, first = row_sampling.records(source, form), 0
        while block := list(islice(records, size)):
            if not block[-1].endswith(b"\n"):
                block[-1] += b"\n"
            numbers = np.setdiff1d(np.arange(first, first + len(block)), skipped, True)
            with _written_part(file, folder) as into:
                into.writelines([*preamble_lines, *(block[i] for i in (numbers - first).tolist())])
            first += len(block)
            lines, part = LineNumbers(numbers, form.skip + form.header), _opened_part(file, folder)
            if len(numbers):
                yield FilePart(part, None, zero, file.path, file.compression, lines)
