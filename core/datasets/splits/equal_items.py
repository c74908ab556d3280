"""Which rows, sequences, molecules or texts are equal, told by 64-bit hashes of what is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.blocks import number_names
from core.datasets.dataset import Dataset
from core.datasets.molecules import plain_letters

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
LARGEST_UNIT = 0.2  # of all items: one fold of five; what is commoner is no copy
_FEW_COLUMNS, _LOOKED_AT, _FIRST_ROWS = 4, 30, 1000
_CHANCE_ROWS = 5000  # different rows that tell how likely two rows are equal by chance


def equal_items(dataset: Dataset) -> np.ndarray:
    """A code for every item; equal items have the same.

    Items are rows, or whole sequences in the order of their first rows. Rows are equal in every
    feature (a missing value equals another), sequences in the features of all their tokens,
    molecules in their letters as they are read (in either case, T as U), texts but for case and
    blanks. A text that is missing or empty, and a sparse row of zeros, equals none.
    """
    if dataset.matrix is not None:
        hashes, empty = _matrix_hashes(dataset.matrix), np.diff(dataset.matrix.indptr) == 0
        return _codes_of_hashes(hashes, empty)
    table = dataset.table
    assert table is not None
    if dataset.task.has_sequences:
        return pd.factorize(_sequence_hashes(dataset))[0]
    if dataset.task.has_one_column:
        texts = table.iloc[:, 0].astype("string").fillna("")
        if dataset.task.has_pairs:
            texts = texts.str.strip().map(plain_letters)
        else:
            texts = texts.str.casefold().str.split().str.join(" ")
        return _codes_of_hashes(_table_hashes(texts.to_frame()), (texts == "").to_numpy(dtype=bool))
    # Where all rows differ in a few columns of numbers already, the others need no look.
    telling = _most_different(table)
    if telling and _all_differ(_number_hashes(table, telling)):
        return np.arange(len(table))
    return pd.factorize(_table_hashes(table))[0]


def _most_different(table: pd.DataFrame) -> list[str]:
    """A few columns of numbers whose first rows have the most different values."""
    head = table[number_names(table)[:_LOOKED_AT]].head(_FIRST_ROWS)
    return list(head.nunique().nlargest(_FEW_COLUMNS).index)


def _number_hashes(table: pd.DataFrame, names: list[str]) -> np.ndarray:
    """A hash of some columns of numbers; rows that differ in what a double holds not may agree."""
    total = np.zeros(len(table), dtype=np.uint64)
    for name in names:
        values = table[name].to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # −0 is 0
        values[np.isnan(values)] = np.nan  # whose bits could be others
        total = _mix_bits(total + values.view(np.uint64))
    return total


def _all_differ(hashes: np.ndarray) -> bool:
    sample = hashes[:_FIRST_ROWS]
    return len(np.unique(sample)) == len(sample) and bool(pd.Index(hashes).is_unique)


def sequence_codes(dataset: Dataset) -> np.ndarray:
    """The number of the sequence of every token, from 0 in their order."""
    assert dataset.row_groups is not None
    return pd.factorize(dataset.row_groups)[0]


def chance_of_twins(dataset: Dataset) -> float:
    """How many rows of a table would equal a given one by chance, were its columns independent.

    (n − 1) Π_j Σ_v p_jv², p_jv the share of the value v in column j among rows that differ from
    each other in features or target (copies say nothing about chance) and are not one common row.
    0 for other tasks.
    """
    table = dataset.table
    if table is None or not dataset.task.is_table:
        return 0.0
    codes = pd.factorize(dataset.target)[0]
    hashes = _table_hashes(table)
    rows, different = pd.factorize(hashes)
    common = np.bincount(rows, minlength=len(different))[rows] > LARGEST_UNIT * dataset.rows
    labelled_hashes = _mix_bits(hashes) + codes.astype(np.uint64) * _GOLDEN
    first = np.sort(np.unique(labelled_hashes, return_index=True)[1])
    first = first[~common[first]]
    first = first[:: max(1, len(first) // _CHANCE_ROWS)]
    if len(first) < 2:
        return float(dataset.rows - 1)
    equal, sample = 1.0, table.iloc[first]
    for name in table.columns:
        counts = sample[name].value_counts(dropna=False).to_numpy().astype(float)
        equal *= float((counts * (counts - 1)).sum()) / (len(first) * (len(first) - 1))
        if not equal:
            break
    return (dataset.rows - 1) * equal


def shared_items(dataset: Dataset, test: Dataset) -> tuple[int, int]:
    """How many items of a test file equal one of the first file, and how many it has."""
    combined: Any = {"matrix": None, "table": None, "row_groups": None}
    if dataset.matrix is not None and test.matrix is not None:
        combined["matrix"] = sparse.vstack([dataset.matrix, test.matrix], format="csr")
    elif dataset.table is not None and test.table is not None:
        tables = [dataset.table, test.table[dataset.table.columns]]
        combined["table"] = pd.concat(tables, ignore_index=True)
    first = dataset.rows
    if dataset.task.has_sequences:
        ours, theirs = sequence_codes(dataset), sequence_codes(test)
        first = int(ours.max()) + 1
        combined["row_groups"] = np.concatenate([ours, first + theirs])
    codes = equal_items(replace(dataset, **combined))
    return int(np.isin(codes[first:], codes[:first]).sum()), len(codes) - first


def _table_hashes(table: pd.DataFrame) -> np.ndarray:
    """A hash of every row, unsigned 64 bit."""
    return pd.util.hash_pandas_object(table, index=False).to_numpy()


def _matrix_hashes(matrix: sparse.csr_matrix) -> np.ndarray:
    """A hash of every row of a CSR matrix: a sum over its entries other than 0, in any order."""
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)
    column_hashes = matrix.indices.astype(np.uint64) * _GOLDEN
    entries = _mix_bits(_mix_bits(values.view(np.uint64)) + column_hashes)
    entries[values == 0] = 0
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]


def _sequence_hashes(dataset: Dataset) -> np.ndarray:
    """A hash of every sequence: a sum over its tokens, each with its place."""
    assert dataset.table is not None
    tokens = _table_hashes(dataset.table.drop(columns=dataset.sequence_name, errors="ignore"))
    codes = sequence_codes(dataset)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))  # rows of a sequence stand together
    lengths = np.bincount(codes)
    positions = (np.arange(len(codes)) - np.repeat(starts, lengths)).astype(np.uint64)
    return np.add.reduceat(
        _mix_bits(_mix_bits(tokens) + (positions + np.uint64(1)) * _GOLDEN), starts
    )


def _mix_bits(codes: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit depends on every bit."""
    codes = (codes ^ (codes >> np.uint64(30))) * _MIX[0]
    codes = (codes ^ (codes >> np.uint64(27))) * _MIX[1]
    return codes ^ (codes >> np.uint64(31))


def _codes_of_hashes(hashes: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Codes of equal hashes, with a code of its own for every item that is alone."""
    codes = pd.factorize(hashes)[0]
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return pd.factorize(codes)[0]
