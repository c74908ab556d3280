"""What a person should know about the features: lost columns, twins, ones that tell too much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.datasets.dataset import Column, Dataset, Finding

_LOOK_FIRST = 5000  # rows that a column must pass before all rows are looked at
_FEWEST_ROWS = 20  # with fewer, a perfect column is likely chance


def table_findings(dataset: Dataset, *, repeats: bool = True) -> list[Finding]:
    """Findings about a table's columns and rows, the serious ones first.

    Args:
        dataset: the table.
        repeats: whether a row that is there twice is worth a word; tokens repeat all the time.
    """
    table = dataset.table
    assert table is not None
    findings = [
        _telling(column) for column in dataset.columns if _gives_away(dataset, table, column)
    ]
    findings += _left_out(dataset.columns)
    findings += _gaps(dataset)
    twins = duplicate_rows(table, dataset.target) if repeats else 0
    if twins:
        rows = "1 row repeats" if twins == 1 else f"{twins:,} rows repeat"
        words = "another row in every used column; scores may look too good."
        findings.append(Finding(f"{rows} {words}"))
    return sorted(findings, key=lambda finding: not finding.serious)


def _telling(column: Column) -> Finding:
    return Finding(
        f"“{column.name}” alone tells the target without error; leave it out unless it is really"
        " known before the target is.",
        column.name,
        serious=True,
    )


def _left_out(columns: Sequence[Column]) -> list[Finding]:
    findings = []
    for column in columns:
        if column.role != "ignore" or not column.note:
            continue
        findings.append(Finding(f"“{column.name}” is left out: {column.note}.", column.name))
    return findings


def _gaps(dataset: Dataset) -> list[Finding]:
    total = dataset.rows + dataset.set_aside
    return [
        Finding(f"“{column.name}” is missing in {column.missing:,} of {total:,} rows.", column.name)
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]


def duplicate_rows(table: pd.DataFrame, target: np.ndarray) -> int:
    """How many rows repeat an earlier one in every feature and the target (by 64-bit hashes)."""
    # Numbers are quick to hash; where they already differ, texts need no look.
    numbers = table.select_dtypes("number")
    if numbers.shape[1] and len(table) > _LOOK_FIRST:
        hashes = pd.util.hash_pandas_object(numbers, index=False).to_numpy()
        if len(pd.unique(hashes)) == len(hashes):
            return 0
    hashes = pd.util.hash_pandas_object(table, index=False).to_numpy()
    codes = pd.util.hash_array(target.astype(object) if target.dtype.kind == "U" else target)
    both = hashes * np.uint64(0x9E3779B97F4A7C15) + codes
    return len(both) - len(pd.unique(both))


def _gives_away(dataset: Dataset, table: pd.DataFrame, column: Column) -> bool:
    """Whether this one feature determines the target, beyond what chance allows."""
    if column.role != "feature" or dataset.rows < _FEWEST_ROWS:
        return False
    values = table[column.name]
    if dataset.rows > _LOOK_FIRST:
        part = np.linspace(0, dataset.rows - 1, _LOOK_FIRST).astype(int)
        if not _determines(values.iloc[part], dataset.target[part], dataset.task):
            return False
    return _determines(values, dataset.target, dataset.task)


def _determines(values: pd.Series, target: np.ndarray, task: str) -> bool:
    known = values.notna().to_numpy()
    if known.sum() < max(_FEWEST_ROWS, 0.9 * len(values)):
        return False
    values, target = values[known], target[known]
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=float)
        if task == "regression":
            return _on_a_line(numbers, target)
        return _in_stretches(numbers, target)
    codes, different = pd.factorize(values)
    if len(different) > len(values) / 5:
        return False
    return _one_target_each(codes, len(different), target)


def _on_a_line(numbers: np.ndarray, target: np.ndarray) -> bool:
    if numbers.min() == numbers.max() or target.min() == target.max():
        return False
    scaled = numbers - numbers.mean()
    aim = target - target.mean()
    size = float(np.sqrt((scaled @ scaled) * (aim @ aim)))
    return size > 0 and abs(float(scaled @ aim)) / size > 1 - 1e-6


def _in_stretches(numbers: np.ndarray, target: np.ndarray) -> bool:
    """Whether, sorted by the column, every class is one unbroken stretch."""
    labels, codes = np.unique(target, return_inverse=True)
    if len(labels) < 2:
        return False
    order = np.lexsort((codes, numbers))
    numbers, codes = numbers[order], codes[order]
    changes = np.flatnonzero(np.diff(codes))
    between_equals = np.any(numbers[changes] == numbers[changes + 1])
    return len(changes) == len(labels) - 1 and not between_equals


def _one_target_each(codes: np.ndarray, count: int, target: np.ndarray) -> bool:
    _, aims = np.unique(target, return_inverse=True)
    if aims.max() == 0:
        return False
    low = np.full(count, aims.max() + 1)
    high = np.full(count, -1)
    np.minimum.at(low, codes, aims)
    np.maximum.at(high, codes, aims)
    return bool(np.all(low == high))
