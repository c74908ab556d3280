"""A file becomes a Dataset: a table of any format, LIBSVM or a sample, detected by content."""

from __future__ import annotations

import contextlib
import ctypes
import difflib
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.column_format import MISSING
from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import fingerprint, open_bytes
from core.datasets.files.file_parts import ALL, AS_FIT, FilePart, RowLimit, open_file_part
from core.datasets.files.libsvm import LibsvmFile, LibsvmRows, from_rows, read_rows, with_test
from core.datasets.files.registry import open_table
from core.datasets.files.sniffing import sniff_dialect
from core.datasets.files.table_reader import TableReader
from core.datasets.raw_table import (
    NO_CHOICES,
    DataOptions,
    FormatOptions,
    RawTable,
    formats_of,
    kinds_like,
    with_formats,
)
from core.datasets.samples import SAMPLES
from core.datasets.split_units import shared_finding, with_units
from core.datasets.task import Task
from core.datasets.texts.vocabulary import USUAL_RULES, WordRules
from core.datasets.understanding.dataset_from_table import (
    assemble,
    assemble_test,
    roles_of_rows,
    with_words,
)
from core.datasets.understanding.structured_tables import (
    StructuredLayout,
    detect_layout,
    matches_layout,
)
from core.datasets.understanding.target import check_task
from core.errors import UnusableError


def read_dataset(
    file: str,
    choices: DataOptions = NO_CHOICES,
    *,
    test_file: str = "",
    words: WordRules = USUAL_RULES,
    row_limit: RowLimit = AS_FIT,
    test_row_limit: RowLimit = AS_FIT,
) -> Dataset:
    """Read a path, with ``#SHEET`` for one of a workbook, or ``sample:NAME``.

    `test_file`: a second file to test on, LIBSVM if the first is; `words`: rules on texts' words.
    """
    check_task(choices.task)
    if choices.latest and test_file:
        fault = "the latest rows cannot test where a second file does"
        raise UnusableError(fault, where=test_file, cure="leave out the one or the other")
    if file.startswith("sample:"):
        if test_file:
            cure = "leave the test file out"
            raise UnusableError("a sample has no second file", where=test_file, cure=cure)
        return with_words(_read_sample(file.removeprefix("sample:"), choices), words)
    table_file = open_table(file)
    if table_file.is_sparse:
        with open_file_part(table_file, choices, row_limit) as file_part:
            dataset = file_part.with_sample_note(_from_libsvm(file_part, choices, words))
        return _with_test(dataset, test_file, test_row_limit) if test_file else dataset
    try:
        dataset = with_words(_drawn_table(table_file, choices, row_limit), words)
        return _with_test(dataset, test_file, test_row_limit) if test_file else dataset
    finally:
        # What is cached holds the first megabyte of the file and its rows.
        sniff_dialect.cache_clear()


def _drawn_table(file: TableReader, choices: DataOptions, row_limit: RowLimit) -> Dataset:
    choices = _trimmed(choices)
    with open_file_part(file, choices, row_limit) as file_part:
        is_whole = file_part.sampled is None
        dataset = file_part.with_sample_note(_from_table(file_part.file, choices, is_whole))
    if dataset.sampled is None or not dataset.task.has_sequences:
        return dataset
    # Nobody asked for a sample, memory did; torn sequences would be worse than a large table.
    if row_limit.rows is None:
        return _from_table(file, choices, True)
    fault = "the rows of a sequence belong together and cannot be drawn one by one"
    cure = "read all rows, or a file of fewer sequences"
    raise UnusableError(fault, where=file.path.name, cure=cure)


def read_part(train: Dataset, file_part: FilePart) -> Dataset:
    """Rows of the same or another file, read as a dataset's rows were."""
    with file_part.lines.translate_line_numbers():
        if train.matrix is None:
            return _assembled_test(train, file_part.file)
        test = with_test(train, _sparse_rows(file_part)).test
        assert test is not None
        assert test.matrix is not None
        # A part may reach beyond the features that the training rows have.
        return replace(test, matrix=test.matrix[:, : train.matrix.shape[1]])


def _sparse_rows(file_part: FilePart) -> LibsvmRows:
    assert isinstance(file_part.file, LibsvmFile)
    return read_rows(file_part.file, file_part.zero_based)


def _from_libsvm(file_part: FilePart, choices: DataOptions, words: WordRules) -> Dataset:
    path = file_part.file.path
    if Task(choices.task).is_structured:
        fault = "a LIBSVM file holds neither sequences nor molecules"
        raise UnusableError(fault, where=path.name, cure="give a CSV file, or another task")
    dataset = from_rows(_sparse_rows(file_part), choices)
    if choices.latest:
        cure = "test on rows drawn at random"
        raise UnusableError("a LIBSVM file has no dates", where=path.name, cure=cure)
    return with_units(with_words(dataset, words), choices.together)


def _from_table(file: TableReader, choices: DataOptions, is_whole: bool) -> Dataset:
    target, kinds = choices.target, choices.kinds
    cells = file.first_cells(target)
    shape = detect_layout(cells, target, choices.task, choices.roles)
    # What is read otherwise is read from the cells as they are written.
    texts = {name: "category" for name, word in choices.readings.items() if word != "number"}
    raw_table = _read_table(file, {**texts, **kinds}, shape, target)
    # The first rows looked like tokens, and the whole table does not: it is read again as rows.
    if shape is not None and not matches_layout(shape, raw_table.table):
        shape = None
        raw_table = _read_table(file, {**texts, **kinds}, None, target)
    # The first rows alone decide for nearly every file, and they are quickly looked at.
    table = raw_table.table
    has_cells = any(values[:1000].notna().any() for _, values in table.items())
    if not has_cells and all(table.isna().all()):
        fault = "every cell below the header is empty"
        raise UnusableError(fault, where=raw_table.name, cure="choose a file with values")
    with ThreadPoolExecutor(1) as thread:  # while pandas parses, it takes every core
        digest = thread.submit(fingerprint, file.path) if is_whole else None
        if shape is None:
            choices = roles_of_rows(cells, choices)
            target = target or str(table.columns[-1])
            raw_table = with_formats(
                raw_table, FormatOptions(kinds, choices.readings, None, target)
            )
        _return_memory()
        dataset = assemble(raw_table, shape, choices)
        source = replace(dataset.source, fingerprint=digest.result() if digest else "")
    return replace(dataset, source=source)


def _return_memory() -> None:
    """Give the system back what was freed: glibc keeps some 30 MB per thread, Arrow still more."""
    with contextlib.suppress(KeyError, AttributeError):  # it may not be there, or not yet
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _trimmed(choices: DataOptions) -> DataOptions:
    return replace(
        choices,
        target=choices.target.strip(),
        roles={name.strip(): role for name, role in choices.roles.items()},
        kinds={name.strip(): kind for name, kind in choices.kinds.items()},
        readings={name.strip(): reading for name, reading in choices.readings.items()},
        latest=choices.latest.strip(),
    )


def _read_sample(name: str, choices: DataOptions) -> Dataset:
    if name not in SAMPLES:
        near = difflib.get_close_matches(name, SAMPLES, n=1)
        cure = f"did you mean sample:{near[0]}" if near else f"choose one of {', '.join(SAMPLES)}"
        raise UnusableError("there is no such sample", where=f"sample:{name}", cure=cure)
    return SAMPLES[name].read(choices)


def _read_table(
    file: TableReader,
    kinds: Mapping[str, str],
    shape: StructuredLayout | None,
    required_column: str,
) -> RawTable:
    missing: tuple[str, ...] = MISSING
    if shape is not None:
        # Names and labels are text, and a full stop is a word: only empty cells are missing.
        kinds = {**kinds, shape.sequence: "category", shape.target: "category"}
        missing = ("",)
    return file.read(kinds, missing, required_column)


def _with_test(train: Dataset, file: str, row_limit: RowLimit) -> Dataset:
    table_file, is_sparse = open_table(file), train.is_sparse
    if table_file.is_sparse != is_sparse:
        fault = f"the first file is {'LIBSVM' if is_sparse else 'a table with columns'}"
        cure = "choose two files of the same format"
        raise UnusableError(f"{fault}, this one is not", where=table_file.path.name, cure=cure)
    if train.task.has_sequences:
        row_limit = RowLimit(ALL)
    choices = NO_CHOICES if is_sparse else DataOptions(target=train.target_name)
    with open_file_part(table_file, choices, row_limit) as file_part:
        if is_sparse:
            train = with_test(train, _sparse_rows(file_part))
        test = train.test or _assembled_test(train, file_part.file)
        if file_part.sampled is None and not is_sparse:
            digest = fingerprint(table_file.path)
            test = replace(test, source=replace(test.source, fingerprint=digest))
        test = file_part.with_sample_note(test)
    findings = [f for f in train.findings if not (f.proposal and "latest" in f.proposal.fields)]
    findings += shared_finding(train, test)
    return replace(train, test=test, findings=tuple(findings))


def _assembled_test(train: Dataset, table_file: TableReader) -> Dataset:
    # Text stays text and numbers stay numbers, whatever this file's values look like.
    formats = formats_of(train.columns, train.source)
    kinds = kinds_like(formats)
    shape = None
    if train.task.is_structured:
        shape = StructuredLayout(train.task, train.sequence_name, train.target_name, is_chosen=True)
    # A name that must be there tells the header from titles above it, and between delimiters.
    required_column = train.target_name or train.feature_names[0]
    raw_table = _read_table(table_file, kinds, shape, required_column)
    if shape is None:
        raw_table = with_formats(raw_table, FormatOptions(formats=formats))
    test = assemble_test(train, raw_table)
    # Those without a column: the sheet that was read, and what was left out.
    findings = (replace(f, sentence=f"In the test file: {f.sentence}") for f in raw_table.findings)
    return replace(test, findings=(*test.findings, *(f for f in findings if not f.column)))


# Rows as they stand in the file, for predictions and remarks that name them.
MAX_COLUMNS = 60
LARGEST = 50_000_000  # bytes of a file that is read again for some rows


@dataclass(frozen=True)
class FileRows:
    """Some rows of a file."""

    headers: list[str]
    cells: list[list[Any]]  # by row; None if empty
    lines: list[int]  # first line of each row, or its number
    counted: str  # "line", or "row" where the data have no lines
    left_out: int  # number of columns not shown


def rows_in_file(dataset: Dataset, rows: Sequence[int] | np.ndarray) -> FileRows:
    """Rows (positions) with unused columns; as read if the file changed or is very large."""
    row_indices, sampled = np.asarray(rows, dtype=int), dataset.sampled
    raw = None if dataset.table is None else _read_again(dataset)
    if raw is not None and (file_rows := _file_rows(dataset, raw.table)) is not None:
        lines = [raw.line_of(int(row)) for row in file_rows[row_indices]]
        return _table_rows(raw.table, file_rows[row_indices], lines, "line")
    # Rows without a target have no place in a sample's numbers; then they are counted on their own.
    has_sample = sampled is not None and len(sampled.chosen) == dataset.rows
    file_rows = sampled.chosen if has_sample and sampled else np.arange(dataset.rows)
    lines, counted = (file_rows[row_indices] + 1).tolist(), "row"
    if (lines_of := _libsvm_lines(dataset)) is not None:
        lines, counted = [lines_of[row] for row in row_indices], "line"
    if dataset.table is not None:
        return _table_rows(dataset.table, row_indices, lines, counted)
    assert dataset.matrix is not None
    submatrix = dataset.matrix[row_indices].tocsc()
    filled = np.flatnonzero(np.diff(submatrix.indptr))
    headers = [str(dataset.feature_names[column]) for column in filled[:MAX_COLUMNS]]
    cells = submatrix[:, filled[:MAX_COLUMNS]].toarray().tolist()
    return FileRows(headers, cells, lines, counted, len(filled) - len(headers))


def _table_rows(
    table: pd.DataFrame, row_indices: np.ndarray, lines: list[int], counted: str
) -> FileRows:
    shown = table.iloc[row_indices, :MAX_COLUMNS]
    cells = [[_to_json(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    headers = [str(name) for name in shown.columns]
    return FileRows(headers, cells, lines, counted, table.shape[1] - len(headers))


def _file_rows(dataset: Dataset, table: pd.DataFrame) -> np.ndarray | None:
    file_rows = np.arange(len(table))
    if dataset.sampled is not None:
        file_rows = dataset.sampled.chosen if len(table) == dataset.sampled.of else file_rows[:0]
    elif dataset.target_name in table.columns:
        file_rows = np.flatnonzero(dataset.has_target(table[dataset.target_name]))
    return file_rows if len(file_rows) == dataset.rows else None


def _read_again(dataset: Dataset) -> RawTable | None:
    source = dataset.source
    if source.format == "sample" or not source.path:
        return None
    with contextlib.suppress(OSError, UnusableError):
        if Path(source.path.partition("#")[0]).stat().st_size <= LARGEST:
            table_file = open_table(source.path)
            if not table_file.is_sparse:
                return table_file.read({}, MISSING, dataset.target_name)
    return None


def _libsvm_lines(dataset: Dataset) -> list[int] | None:
    source, lines = dataset.source, list[int]()
    # Lines of rows that were left out cannot be told from those of others.
    if source.format != "libsvm" or not source.path or dataset.set_aside or dataset.sampled:
        return None
    with contextlib.suppress(OSError, UnusableError):
        if Path(source.path).stat().st_size <= LARGEST:
            with open_bytes(Path(source.path), source.compression) as file:
                filled = (bool(line.partition(b"#")[0].strip()) for line in file)
                lines = [number for number, is_filled in enumerate(filled, 1) if is_filled]
    return lines if len(lines) == dataset.rows else None


def _to_json(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool)) else str(value)
