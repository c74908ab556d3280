"""What a person should know about the features: lost columns, gaps, ones that tell too much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.datasets.dataset import Column, Dataset, Finding
from core.datasets.texts.ngrams import counts_parts

_LOOK_FIRST = 5000  # rows that a column must pass before all rows are looked at
_FEWEST_ROWS = 20  # with fewer, a perfect column is likely chance


def table_findings(dataset: Dataset) -> list[Finding]:
    """Findings about a table's columns, the serious ones first."""
    table = dataset.table
    assert table is not None
    findings = [
        _telling(column) for column in dataset.columns if _gives_away(dataset, table, column)
    ]
    findings += _left_out(dataset.columns)
    findings += [_texts(column.name, table[column.name]) for column in _of_texts(dataset)]
    findings += _gaps(dataset)
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
        if column.role == "ignore" and column.note:
            findings.append(Finding(f"“{column.name}” is left out: {column.note}.", column.name))
    return findings


def _of_texts(dataset: Dataset) -> list[Column]:
    return [one for one in dataset.columns if (one.role, one.kind) == ("feature", "text")]


def _texts(name: str, values: pd.Series) -> Finding:
    become = "words and parts of words" if counts_parts(values) else "words"
    return Finding(f"“{name}” holds texts: {become} become columns.", name)


def copies_of_target(dataset: Dataset) -> list[str]:
    """The features that are the classes under other names: each value one class, each class one."""
    table = dataset.table
    if table is None or not dataset.classes or dataset.rows < _FEWEST_ROWS:
        return []
    labels = pd.factorize(dataset.target)[0]
    found = []
    for name in dataset.feature_names:
        codes, different = pd.factorize(table[name])
        if len(different) != len(dataset.classes) or codes.min() < 0:
            continue
        pairs = np.unique(codes.astype(np.int64) * len(different) + labels)
        if len(pairs) == len(different):
            found.append(name)
    return found


def _gaps(dataset: Dataset) -> list[Finding]:
    total = dataset.rows + dataset.set_aside
    return [
        Finding(f"“{column.name}” is missing in {column.missing:,} of {total:,} rows.", column.name)
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]


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
    scaled, aim = (values / np.abs(values).max() for values in (numbers, target))
    scaled, aim = scaled - scaled.mean(), aim - aim.mean()
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
