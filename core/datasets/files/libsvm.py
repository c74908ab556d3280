"""Reads a LIBSVM file as a CSR matrix with scikit-learn's loader."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from core.datasets.dataset import Column, Dataset, DataSource
from core.datasets.files import libsvm_faults
from core.datasets.files.file_bytes import GuardedFile, fingerprint, open_bytes
from core.datasets.files.numbered_columns import NumberedColumns
from core.datasets.finding import Finding
from core.datasets.raw_table import DataOptions
from core.datasets.task import Task
from core.datasets.understanding.feature_table import settle_target_like
from core.datasets.understanding.target import settle_target, target_findings
from core.errors import UnusableError

TARGET = "target"


@dataclass(frozen=True)
class LibsvmRows:
    """The content of a LIBSVM file, with indices from 0."""

    matrix: sparse.csr_matrix
    target: np.ndarray
    queries: np.ndarray | None
    zero_based: bool
    digest: str


def read_rows(
    path: Path, compression: str, head: bytes, zero_based: bool | None = None
) -> LibsvmRows:
    """Read the file in one pass, or UnusableError; `zero_based`: None to detect."""
    has_queries = b" qid:" in head
    guarded = GuardedFile(open_bytes(path, compression), path.name, wide=False)
    with ThreadPoolExecutor(1) as executor:
        digest_future = executor.submit(fingerprint, path)
        try:
            with io.BufferedReader(guarded, 2**18) as file:
                loaded = load_svmlight_file(file, zero_based=True, query_id=has_queries)
        except (ValueError, OverflowError) as error:
            raise libsvm_faults.load_error(error, path, compression) from None
        digest = digest_future.result()
    matrix, target = loaded[0], loaded[1]
    if has_queries and len(loaded[2]) != len(target):
        raise libsvm_faults.without_query(path, compression)
    if len(target) == 0:
        raise UnusableError("there is no row", where=path.name, cure="choose a file with rows")
    if matrix.shape[1] > libsvm_faults.MAX_FEATURES + 1 or not np.isfinite(matrix.data).all():
        libsvm_faults.check_lines(path, compression)
    if zero_based is None:
        zero_based = bool(matrix.nnz and matrix.indices.min() == 0)
        if zero_based:
            _refuse_stray_zeros(matrix, path, compression)
    if not zero_based and matrix.nnz:
        matrix.indices -= 1
        matrix = _with_width(matrix, matrix.shape[1] - 1)
    return LibsvmRows(matrix, target, loaded[2] if has_queries else None, zero_based, digest)


def _with_width(matrix: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    shape = (matrix.shape[0], width)
    return sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=shape)


def _refuse_stray_zeros(matrix: sparse.csr_matrix, path: Path, compression: str) -> None:
    """Index 0 in hardly any row, while most begin with 1, is a mistake and no convention."""
    filled = matrix.indptr[:-1][np.diff(matrix.indptr) > 0]
    first = matrix.indices[filled]
    zeros, ones = int(np.sum(first == 0)), int(np.sum(first == 1))
    if zeros <= max(1, 0.01 * len(first)) and ones >= 0.5 * len(first) and ones > zeros:
        line, column = libsvm_faults.find_zero(path, compression)
        fault = "the index is 0, but the other rows count from 1"
        cure = "let all indices count from 1"
        raise UnusableError(fault, where=f"{path.name}, line {line}, column {column}", cure=cure)


def from_rows(rows: LibsvmRows, path: Path, compression: str, choices: DataOptions) -> Dataset:
    """The dataset of a LIBSVM file; `choices` that apply to tables only raise UnusableError."""
    columns = {choices.target, *choices.roles, *choices.kinds, *choices.readings}
    if columns - {"", TARGET}:
        fault = "a LIBSVM file has its target in front of each row and only numbers behind it"
        cure = "leave target, roles, kinds and readings alone, or save it as CSV"
        raise UnusableError(fault, where=path.name, cure=cure)
    has_target = np.isfinite(rows.target)
    if np.isinf(rows.target).any():
        libsvm_faults.check_lines(path, compression)
    if rows.matrix.shape[1] == 0:
        raise UnusableError("no row has a feature", where=path.name, cure="choose another file")
    if not Task(choices.task).has_target:
        return _counted_documents(rows, path, compression)
    values, task, classes = settle_target(
        pd.Series(rows.target[has_target]), choices.task, f"{path.name}, target"
    )
    set_aside = int(len(has_target) - has_target.sum())
    return Dataset(
        name=path.name,
        source=_data_source(rows, path, compression),
        columns=NumberedColumns(_filled_columns(rows.matrix), _target_column(values)),
        table=None,
        matrix=rows.matrix[has_target] if set_aside else rows.matrix,
        target=values,
        task=task,
        classes=classes,
        row_groups=None if rows.queries is None else rows.queries[has_target],
        set_aside=set_aside,
        findings=(
            *target_findings(TARGET, values, task, classes, bool(choices.task), set_aside),
            *_unused_findings(rows.matrix),
        ),
    )


def _counted_documents(rows: LibsvmRows, path: Path, compression: str) -> Dataset:
    """The dataset whose numbers are word counts; labels are dropped."""
    labels = Column(TARGET, "ignore", "number", 0, len(np.unique(rows.target)))
    dataset = Dataset(
        name=path.name,
        source=_data_source(rows, path, compression),
        columns=NumberedColumns(_filled_columns(rows.matrix), labels, "word"),
        table=None,
        matrix=rows.matrix,
        target=np.zeros(len(rows.target)),
        task=Task.TOPICS,
        row_groups=rows.queries,
        findings=(Finding("What stands in front of every row is left out."),),
    )
    _ = dataset.documents  # refuses numbers that are no counts
    return dataset


def _data_source(rows: LibsvmRows, path: Path, compression: str) -> DataSource:
    arguments = {
        "n_features": int(rows.matrix.shape[1]),
        "zero_based": rows.zero_based,
        "query_id": rows.queries is not None,
    }
    counting = f"LIBSVM, indices from {0 if rows.zero_based else 1}"
    words = [counting, "row groups (qid)" if rows.queries is not None else "", compression]
    described = ", ".join(word for word in words if word)
    return DataSource(str(path), "libsvm", {}, arguments, rows.digest, described, compression)


def _filled_columns(matrix: sparse.csr_matrix) -> np.ndarray:
    return np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0


def _target_column(values: np.ndarray) -> Column:
    return Column(TARGET, "target", "number", 0, len(np.unique(values)))


def _unused_findings(matrix: sparse.csr_matrix) -> list[Finding]:
    empty = int(np.sum(~_filled_columns(matrix)))
    if not empty:
        return []
    words = "1 feature is" if empty == 1 else f"{empty:,} features are"
    return [Finding(f"{words} 0 in every row.")]


def with_test(train: Dataset, rows: LibsvmRows, path: Path, compression: str) -> Dataset:
    """The dataset with a second LIBSVM file to test on; both get the larger number of features.

    Raises:
        UnusableError: the second file counts from 0 where the first counts from 1.
    """
    assert train.matrix is not None
    zero_based = bool(train.source.libsvm["zero_based"])
    matrix = rows.matrix
    if rows.zero_based and not zero_based:
        line, column = libsvm_faults.find_zero(path, compression)
        fault = "the index is 0, but the first file counts from 1"
        cure = "let both files count from the same number"
        raise UnusableError(fault, where=f"{path.name}, line {line}, column {column}", cure=cure)
    if zero_based and not rows.zero_based:  # the second file has no value of feature 0
        matrix = matrix.copy()
        matrix.indices += 1
        matrix = _with_width(matrix, matrix.shape[1] + 1)
        rows = replace(rows, zero_based=True)
    width = max(train.matrix.shape[1], matrix.shape[1])
    matrix = _with_width(matrix, width)
    if width > train.matrix.shape[1]:
        train = _widened(train, width)
    if not train.task.has_target:
        has_target, values = np.ones(len(rows.target), dtype=bool), np.zeros(len(rows.target))
    else:
        has_target = np.isfinite(rows.target)
        values, _, _ = settle_target_like(train, pd.Series(rows.target[has_target]), path.name)
    test = replace(
        train,
        name=path.name,
        source=_data_source(replace(rows, matrix=matrix), path, compression),
        matrix=matrix[has_target],
        target=values,
        row_groups=None if rows.queries is None else rows.queries[has_target],
        units=None,
        set_aside=int(len(has_target) - has_target.sum()),
        findings=(),
    )
    return replace(train, test=test)


def _widened(train: Dataset, width: int) -> Dataset:
    assert train.matrix is not None
    matrix = _with_width(train.matrix, width)
    source = replace(train.source, libsvm={**train.source.libsvm, "n_features": width})
    noun = "feature" if train.task.has_target else "word"
    columns = NumberedColumns(_filled_columns(matrix), train.columns[-1], noun)
    return replace(train, matrix=matrix, source=source, columns=columns)
