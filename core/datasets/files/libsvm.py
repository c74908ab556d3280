"""Reads a LIBSVM file as a CSR matrix, and locates its faults.

Plain rows are read by pandas' parser of numbers, all others by scikit-learn's loader.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset, DataSource
from core.datasets.dataset_summary import Column
from core.datasets.files.csv_table import TextFile
from core.datasets.files.delimited_rows import NUMBER, is_number
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.row_sampling import RowFormat
from core.datasets.files.table_reader import FileStart
from core.datasets.finding import Finding
from core.datasets.raw_table import NO_CHOICES, DataOptions
from core.datasets.task import Task
from core.datasets.understanding.feature_table import settle_target_like
from core.datasets.understanding.target import settle_target, target_findings
from core.errors import UnusableError

TARGET = "target"
# Arrays have an entry for every feature, used or not: one wrong index must not fill the memory.
# The widest public files of text have some three million.
MAX_FEATURES = 5_000_000

_PAIR = re.compile(rf"[+-]?\d+:({NUMBER.pattern}|nan)", re.IGNORECASE)
_CLOCK = re.compile(r"([01]?\d|2[0-4]):[0-5]\d")
_ENDINGS = (".libsvm", ".svm", ".svmlight")
_ZEROS = (b" 0:", b"\t0:")
_ENTRY_BYTES = 12  # of a sparse matrix
_BLOCK_BYTES, _MAX_LETTERS = 2**21, 15  # that are parsed at once; of a number read exactly
_ONE_A_LINE = bytes.maketrans(b": ", b"\n\n")
_Block = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_TOKEN = re.compile(r"\S+")
_INDEX = re.compile(r"[+-]?\d+")


def looks_like_libsvm(text: str) -> bool:
    """Whether most lines are a number and index:value pairs, not one pair that is a time of day."""
    hits = clocks = lines = 0
    if ":" not in text:
        return False
    for line in text.splitlines()[:200]:
        tokens = line.split("#", 1)[0].split()
        if not tokens:
            continue
        pairs = [token for token in tokens[1:] if not token.startswith("qid:")]
        labelled = all(is_number(label) for label in tokens[0].split(","))
        if not pairs and labelled:
            continue
        lines += 1
        fits = labelled and all(_PAIR.fullmatch(token) for token in pairs)
        hits += fits
        clocks += fits and len(tokens) == 2 and _CLOCK.fullmatch(pairs[0]) is not None
    return hits > clocks and 2 * hits >= lines


@dataclass(frozen=True)
class LibsvmFile(TextFile):
    """A LIBSVM file: lines of a label and index:value pairs, which make a sparse matrix."""

    is_sparse = True

    @classmethod
    def recognize(cls, start: FileStart) -> LibsvmFile | None:
        file = cls(start.path, start.compression, start.head)
        text = file.start[1]
        # So full of faults that nothing tells it, a file is still what its name says.
        is_named = any(suffix in _ENDINGS for suffix in start.path.suffixes) and ":" in text
        return file if looks_like_libsvm(text) or is_named else None

    def row_format(self, target: str = "") -> RowFormat:
        return RowFormat()

    def bytes_of_rows(self, choices: DataOptions = NO_CHOICES) -> float:
        entries, lines = self.head.count(b":"), self.head.count(b"\n")
        return float(_ENTRY_BYTES * entries + 8 * lines) * self.unpacked_size / len(self.head)

    def _noted_rows(self, rows: Iterator[bytes], zero_rows: list[bytes]) -> Iterator[bytes]:
        for row in rows:
            if not zero_rows and any(sign in row for sign in _ZEROS):
                zero_rows.append(row)
            yield row


class NumberedColumns(Sequence[Column]):
    """Columns "feature 1" … "feature p" and the target (the last), made on access.

    `filled`: p booleans, whether a feature is nonzero in some row; `called`: the noun in the names.
    """

    def __init__(self, filled: np.ndarray, target: Column, called: str = "feature") -> None:
        self._filled = filled
        self._target = target
        self.called = called

    @cached_property
    def _all_columns(self) -> tuple[Column, ...]:
        notes = ["" if is_filled else "0 in every row" for is_filled in self._filled.tolist()]
        features = [
            Column(f"{self.called} {i}", "feature", "number", note=note)
            for i, note in enumerate(notes, 1)
        ]
        return (*features, self._target)

    def __len__(self) -> int:
        return len(self._filled) + 1

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        # The target is asked for often, and millions of columns need not be made for it.
        if index in (-1, len(self._filled)):
            return self._target
        return self._all_columns[index]


@dataclass(frozen=True)
class LibsvmRows:
    """The content of a LIBSVM file, with indices from 0."""

    matrix: sparse.csr_matrix
    target: np.ndarray
    queries: np.ndarray | None
    zero_based: bool
    digest: str
    file: TextFile

    @property
    def source(self) -> DataSource:
        arguments = {
            "n_features": int(self.matrix.shape[1]),
            "zero_based": self.zero_based,
            "query_id": self.queries is not None,
        }
        counting = f"LIBSVM, indices from {0 if self.zero_based else 1}"
        path, packed = str(self.file.path), self.file.compression
        words = [counting, "row groups (qid)" if self.queries is not None else "", packed]
        described = ", ".join(filter(None, words))
        return DataSource(path, "libsvm", {}, arguments, self.digest, described, packed)


def read_rows(file: TextFile, zero_based: bool | None = None) -> LibsvmRows:
    """Read the file in one pass; `zero_based`: how a larger file counts, None to detect."""
    has_queries = b" qid:" in file.head
    # Hashing releases Python's lock, so it goes on beside the loader.
    with ThreadPoolExecutor(1) as executor:
        digest_future = executor.submit(fingerprint, file.path)
        try:
            loaded = None if has_queries else _plain_rows(file)
            if loaded is None:
                from sklearn.datasets import load_svmlight_file  # which imports a hundred modules

                with file.open_unpacked() as stream:
                    loaded = load_svmlight_file(stream, zero_based=True, query_id=has_queries)
        except (ValueError, OverflowError) as error:
            raise load_error(error, file) from None
        digest = digest_future.result()
    matrix, target, *queries = loaded
    if has_queries and len(queries[0]) != len(target):
        _check_lines(file, has_queries=True)
    if len(target) == 0:
        raise UnusableError("there is no row", where=file.path.name, cure="choose a file with rows")
    # The format counts from 1; a 0 anywhere says that this file does not.
    is_zero_based = bool(matrix.nnz and matrix.indices.min() == 0)
    is_zero_based = is_zero_based if zero_based is None else zero_based
    row_queries = queries[0] if has_queries else None
    rows = LibsvmRows(matrix, target, row_queries, is_zero_based, digest, file)
    # The loader takes what Python's numbers take; what it should not is found line by line.
    if matrix.shape[1] > MAX_FEATURES + 1 or not np.isfinite(matrix.data).all():
        _check_lines(rows.file)
    if zero_based is None and is_zero_based and _has_stray_zeros(matrix):
        _check_lines(rows.file, from_one="the other rows count")
    if not is_zero_based and matrix.nnz:
        matrix.indices -= 1
        rows = replace(rows, matrix=_with_width(matrix, matrix.shape[1] - 1))
    return rows


def _plain_rows(file: TextFile) -> tuple[sparse.csr_matrix, np.ndarray] | None:
    """The matrix and the labels, counted from 0; None where a row is not plainly written."""
    blocks = list[_Block]()
    with file.open_unpacked() as stream:
        while text := stream.read(_BLOCK_BYTES):
            block = _parse_block(text + stream.readline())
            if block is None:
                return None
            blocks.append(block)
    labels, row_lengths, indices, values = map(np.concatenate, zip(*blocks, strict=True))
    starts = np.concatenate([[0], np.cumsum(row_lengths)])
    shape = (len(labels), int(indices.max(initial=-1)) + 1)
    return sparse.csr_matrix((values, indices, starts), shape=shape), labels


def _parse_block(text: bytes) -> _Block | None:
    for line_end in (b"\r\n", b" \n"):
        text = text.replace(line_end, b"\n")
    text = text if text.endswith(b"\n") else text + b"\n"
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((letters <= ord(" ")) | (letters == ord(":")))  # of labels and numbers
    signs, lengths = letters[ends], np.diff(ends, prepend=-1) - 1
    is_index, is_row_end = signs == ord(":"), signs == ord("\n")
    # Where nothing but a blank stands before each pair, a colon in it, and no number has more
    # digits or another notation, pandas reads what Python's float does.
    is_plain = np.array_equal((signs == ord(" "))[:-1], is_index[1:]) and not is_index[0]
    is_plain &= np.count_nonzero(is_index) * 2 + np.count_nonzero(is_row_end) == len(ends)
    if not is_plain or lengths.max() > _MAX_LETTERS or b"e" in text or b"E" in text:
        return None
    try:
        column = pd.read_csv(
            io.BytesIO(text.translate(_ONE_A_LINE)),
            sep=":",
            header=None,
            dtype=np.float64,
            quoting=csv.QUOTE_NONE,
            na_filter=False,
        )
    except ValueError:
        return None
    numbers = column.to_numpy().ravel()
    if len(numbers) != len(ends) or not np.isfinite(numbers).all():
        return None
    places, row_ends = np.flatnonzero(is_index), np.flatnonzero(is_row_end)
    indices, powers = numbers[places], 10.0 ** np.arange(-1, _MAX_LETTERS + 1)
    # Whole numbers have as many digits as letters; they grow within a row.
    sizes, is_row_start = lengths[places], np.diff(places, prepend=-3) > 2
    is_whole = (powers[sizes] <= indices) | ((sizes == 1) & (indices == 0))
    is_sorted = (np.diff(indices, prepend=-1) > 0) | is_row_start
    if not (is_whole & (indices < powers[sizes + 1]) & is_sorted & (indices < 2**31)).all():
        return None
    row_lengths = (np.diff(row_ends, prepend=-1) - 1) // 2
    labels = numbers[np.concatenate([[0], row_ends[:-1] + 1])]
    return labels, row_lengths, indices.astype(np.int32), numbers[places + 1]


def _with_width(matrix: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    shape = (matrix.shape[0], width)
    return sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=shape)


def _has_stray_zeros(matrix: sparse.csr_matrix) -> bool:
    """Index 0 in hardly any row, while most begin with 1, is a mistake and no convention."""
    first = matrix.indices[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]]
    zeros, ones = int(np.sum(first == 0)), int(np.sum(first == 1))
    return zeros <= max(1, 0.01 * len(first)) and ones >= 0.5 * len(first) and ones > zeros


def from_rows(rows: LibsvmRows, choices: DataOptions) -> Dataset:
    """The dataset of a LIBSVM file; `choices` that apply to tables only are refused."""
    name = rows.file.path.name
    columns = {choices.target, *choices.roles, *choices.kinds, *choices.readings}
    if columns - {"", TARGET}:
        fault = "a LIBSVM file has its target in front of each row and only numbers behind it"
        cure = "leave target, roles, kinds and readings alone, or save it as CSV"
        raise UnusableError(fault, where=name, cure=cure)
    if np.isinf(rows.target).any():
        _check_lines(rows.file)
    if rows.matrix.shape[1] == 0:
        raise UnusableError("no row has a feature", where=name, cure="choose another file")
    filled = np.bincount(rows.matrix.indices, minlength=rows.matrix.shape[1]) > 0
    column = Column(TARGET, "ignore", "number", 0, len(np.unique(rows.target)))
    dataset = Dataset(
        name=name,
        source=rows.source,
        columns=NumberedColumns(filled, column, "word"),
        table=None,
        matrix=rows.matrix,
        target=np.zeros(len(rows.target)),
        task=Task.TOPICS,
        row_groups=rows.queries,
        findings=(Finding("What stands in front of every row is left out."),),
    )
    if not Task(choices.task).has_target:
        _ = dataset.documents  # refuses numbers that are no counts
        return dataset
    labelled, set_aside = _labelled_rows(rows)
    target = pd.Series(labelled.target)
    values, task, classes = settle_target(target, choices.task, f"{name}, target")
    findings = list(target_findings(TARGET, values, task, classes, bool(choices.task), set_aside))
    if empty := int(np.sum(~filled)):
        words = "1 feature is" if empty == 1 else f"{empty:,} features are"
        findings.append(Finding(f"{words} 0 in every row."))
    column = Column(TARGET, "target", "number", 0, len(np.unique(values)))
    return replace(
        dataset,
        columns=NumberedColumns(filled, column),
        matrix=labelled.matrix,
        target=values,
        task=task,
        classes=classes,
        row_groups=labelled.queries,
        set_aside=set_aside,
        findings=tuple(findings),
    )


def _labelled_rows(rows: LibsvmRows) -> tuple[LibsvmRows, int]:
    is_labelled = np.isfinite(rows.target)
    if is_labelled.all():
        return rows, 0
    queries = None if rows.queries is None else rows.queries[is_labelled]
    matrix, target = rows.matrix[is_labelled], rows.target[is_labelled]
    return replace(rows, matrix=matrix, target=target, queries=queries), int(np.sum(~is_labelled))


def with_test(train: Dataset, rows: LibsvmRows) -> Dataset:
    """The dataset with a second LIBSVM file to test on; both get the larger number of features."""
    assert train.matrix is not None
    zero_based = bool(train.source.libsvm["zero_based"])
    # The larger width counts, as neither file need have a value of every feature.
    matrix = rows.matrix
    if rows.zero_based and not zero_based:
        _check_lines(rows.file, from_one="the first file counts")
    if zero_based and not rows.zero_based:  # the second file has no value of feature 0
        matrix = matrix.copy()
        matrix.indices += 1
        matrix = _with_width(matrix, matrix.shape[1] + 1)
    width = max(train.matrix.shape[1], matrix.shape[1])
    train = _widened(train, width) if width > train.matrix.shape[1] else train
    rows = replace(rows, matrix=_with_width(matrix, width), zero_based=zero_based)
    labelled, set_aside, values = rows, 0, np.zeros(len(rows.target))
    if train.task.has_target:
        labelled, set_aside = _labelled_rows(rows)
        values, _, _ = settle_target_like(train, pd.Series(labelled.target), rows.file.path.name)
    test = replace(
        train,
        name=rows.file.path.name,
        source=rows.source,
        matrix=labelled.matrix,
        target=values,
        row_groups=labelled.queries,
        units=None,
        set_aside=set_aside,
        findings=(),
    )
    return replace(train, test=test)


def _widened(train: Dataset, width: int) -> Dataset:
    matrix = _with_width(train.matrix, width)
    source = replace(train.source, libsvm={**train.source.libsvm, "n_features": width})
    noun = "feature" if train.task.has_target else "word"
    filled = np.bincount(matrix.indices, minlength=width) > 0
    columns = NumberedColumns(filled, train.columns[-1], noun)
    return replace(train, matrix=matrix, source=source, columns=columns)


def load_error(error: Exception, file: TextFile) -> UnusableError:
    """What the loader failed on, with its place."""
    if isinstance(error, UnusableError):
        return error
    try:
        _check_lines(file)
    except UnusableError as located:
        return located
    reason = str(error).strip().rstrip(".")
    fault, cure = f"the file cannot be read as LIBSVM ({reason})", "label index:value index:value"
    return UnusableError(fault, where=file.path.name, cure=f"write each row as: {cure}")


def _check_lines(file: TextFile, *, from_one: str = "", has_queries: bool = False) -> None:
    """Refuse what is wrong first, with line and position.

    `from_one` says who counts from 1, where this one must, too; `has_queries`: every row has a qid.
    """
    with file.open_unpacked() as lines:
        for number, line in enumerate(lines, 1):
            text = line.split(b"#", 1)[0].decode("utf-8", "replace")
            where, previous_index = f"{file.path.name}, line {number}", -1
            tokens = list(_TOKEN.finditer(text))
            pairs = [token for token in tokens[1:] if not token[0].startswith("qid:")]
            if tokens and has_queries and len(tokens) - len(pairs) != 2:
                fault = "the row does not have one qid as the others do"
                raise UnusableError(fault, where=where, cure="give every row one qid, or none")
            if tokens:
                _check_label(tokens[0][0], f"{where}, column {tokens[0].start() + 1}")
            for pair in pairs:
                place = f"{where}, column {pair.start() + 1}"
                previous_index = _check_pair(pair[0], place, previous_index, from_one)


def _check_label(text: str, where: str) -> None:
    if "," in text:
        fault = f"the row has several labels (“{text[:30]}”)"
        raise UnusableError(fault, where=where, cure="give each row one label")
    value = _parse_number(text)
    if value is None or math.isinf(value):
        fault = f"the label “{text[:30]}” is {'infinite' if value else 'no number'}"
        raise UnusableError(fault, where=where, cure="begin each row with a finite number")


def _check_pair(token: str, where: str, previous_index: int, from_one: str) -> int:
    index_text, _, value_text = token.partition(":")
    value = _parse_number(value_text)
    index = int(index_text) if _INDEX.fullmatch(index_text) else None
    if index is None or value is None:
        fault, cure = f"“{token[:30]}” is no pair of index and value", "write it like 3:0.5"
    elif index < 0:
        fault, cure = f"the index {index_text} is negative", "count from 1"
    elif index > MAX_FEATURES:
        fault = f"the index {index_text} is too large"
        cure = f"number the features from 1 to {MAX_FEATURES:,} at most"
    elif not math.isfinite(value):
        fault = f"the value {value_text} is {'no number' if math.isnan(value) else 'infinite'}"
        cure = "give a finite number, or leave the pair out"
    elif index == 0 and from_one:
        fault = f"the index is 0, but {from_one} from 1"
        cure = "let all indices count from the same number"
    elif index <= previous_index:
        fault = f"index {index} comes after index {previous_index}"
        cure = "sort the indices of each row, each one once"
    else:
        return index
    raise UnusableError(fault, where=where, cure=cure)


def _parse_number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
