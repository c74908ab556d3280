"""Finds equal rows, sequences, molecules or texts by 64-bit hashes of their features."""

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
LARGEST_UNIT = 0.2  # of all items, one fold of five; more frequent items are no copies
_FEW_COLUMNS, _EXAMINED_COLUMNS, _FIRST_ROWS, _BLOCK_ROWS = 4, 30, 1000, 2**14
_CHANCE_ROWS = 5000  # distinct rows for the probability that two are equal by chance


def equal_items(dataset: Dataset) -> np.ndarray:
    """A code for every item, the same for equal ones.

    Rows are equal in every feature (missing equals missing), sequences in all tokens, molecules in
    parsed letters, texts up to case and blanks. An empty text and a sparse row of zeros equal none.
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
    # Where all rows differ in a few numeric columns, the other ones are not hashed.
    if _differ_in_numbers(table):
        return np.arange(len(table))
    return pd.factorize(_table_hashes(table))[0]


def _differ_in_numbers(table: pd.DataFrame) -> bool:
    names = number_names(table)[:_EXAMINED_COLUMNS]
    head = np.sort(table[names].iloc[:_FIRST_ROWS].to_numpy(dtype=float), axis=0)
    different = np.count_nonzero(head[1:] > head[:-1], axis=0)
    best = [names[index] for index in np.argsort(-different, kind="stable")[:_FEW_COLUMNS]]
    return any(
        _all_differ(_number_hashes(table.iloc[:_FIRST_ROWS], some))
        and _all_differ(_number_hashes(table, some))
        for some in (best[: _FEW_COLUMNS // 2], best)
    )


def _number_hashes(table: pd.DataFrame, names: list[str]) -> np.ndarray:
    columns = [table[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in names]
    hashes = np.zeros(len(table), dtype=np.uint64)
    for first in range(0, len(table), _BLOCK_ROWS):  # which the processor's cache holds
        block = hashes[first : first + _BLOCK_ROWS]
        for column in columns:
            values = column[first : first + _BLOCK_ROWS] + 0.0  # −0 is 0
            values[np.isnan(values)] = np.nan  # NaNs of one bit pattern
            block[:] = _mix_bits(block + values.view(np.uint64))
    return hashes


def _all_differ(hashes: np.ndarray) -> bool:
    ordered = np.sort(hashes)
    return bool((ordered[1:] != ordered[:-1]).all())


def item_codes(dataset: Dataset, rows: np.ndarray | None = None) -> np.ndarray:
    """The number of every row's item (the row, or its sequence), from 0 in order of appearance."""
    if not dataset.task.has_sequences:
        return np.arange(dataset.rows if rows is None else len(rows))
    assert dataset.row_groups is not None
    return pd.factorize(dataset.row_groups if rows is None else dataset.row_groups[rows])[0]


def chance_of_twins(dataset: Dataset) -> float:
    """The expected number of rows equal to a given one by chance, were columns independent.

    (n − 1) Π_j Σ_v p_jv², p_jv the share of value v in column j among distinct rows; else 0.
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
    """The number of test items that equal one of the first file, and the number of test items."""
    combined: Any = {"matrix": None, "table": None, "row_groups": None}
    if dataset.matrix is not None and test.matrix is not None:
        combined["matrix"] = sparse.vstack([dataset.matrix, test.matrix], format="csr")
    elif dataset.table is not None and test.table is not None:
        tables = [dataset.table, test.table[dataset.table.columns]]
        combined["table"] = pd.concat(tables, ignore_index=True)
    train_count = dataset.rows
    if dataset.task.has_sequences:
        train_codes, test_codes = item_codes(dataset), item_codes(test)
        train_count = int(train_codes.max()) + 1
        combined["row_groups"] = np.concatenate([train_codes, train_count + test_codes])
    codes = equal_items(replace(dataset, **combined))
    return int(np.isin(codes[train_count:], codes[:train_count]).sum()), len(codes) - train_count


def _table_hashes(table: pd.DataFrame) -> np.ndarray:
    return pd.util.hash_pandas_object(table, index=False).to_numpy()


def _matrix_hashes(matrix: sparse.csr_matrix) -> np.ndarray:
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)
    column_hashes = matrix.indices.astype(np.uint64) * _GOLDEN
    entries = _mix_bits(_mix_bits(values.view(np.uint64)) + column_hashes)
    entries[values == 0] = 0
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]


def _sequence_hashes(dataset: Dataset) -> np.ndarray:
    assert dataset.table is not None
    tokens = _table_hashes(dataset.table.drop(columns=dataset.sequence_name, errors="ignore"))
    codes = item_codes(dataset)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))  # the rows of a sequence are adjacent
    lengths = np.bincount(codes)
    positions = (np.arange(len(codes)) - np.repeat(starts, lengths)).astype(np.uint64)
    hashes = _mix_bits(_mix_bits(tokens) + (positions + np.uint64(1)) * _GOLDEN)
    return np.add.reduceat(hashes, starts)


def _mix_bits(codes: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014)."""
    codes = (codes ^ (codes >> np.uint64(30))) * _MIX[0]
    codes = (codes ^ (codes >> np.uint64(27))) * _MIX[1]
    return codes ^ (codes >> np.uint64(31))


def _codes_of_hashes(hashes: np.ndarray, alone: np.ndarray) -> np.ndarray:
    codes = pd.factorize(hashes)[0]
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return pd.factorize(codes)[0]
