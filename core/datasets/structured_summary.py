"""Sequences and molecules in figures and plain words, for the window and the guidance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.understanding.molecule_table import dropped_pairs


def describe(dataset: Dataset) -> dict[str, Any]:
    """What the rows make up, in JSON types.

    Returns:
        kind (sequence or molecule), count, rows, items ("1,204 sequences of 3 to 40 tokens"),
        shortest, longest, mean (tokens or bases), test_count (of the second file);
        for molecules also pairs and dropped (pairs that the grammar cannot make, by kind).
    """
    if dataset.task == "sequence":
        lengths = _sequence_lengths(dataset)
        words = ("sequence", "token")
    else:
        lengths = _molecule_lengths(dataset)
        words = ("molecule", "base")
    test = 0
    if dataset.test is not None:
        of_test = _sequence_lengths if dataset.task == "sequence" else _molecule_lengths
        test = len(of_test(dataset.test))
    found = {
        "kind": words[0],
        "count": len(lengths),
        "rows": dataset.rows,
        "items": _in_words(lengths, *words),
        "shortest": int(lengths.min()),
        "longest": int(lengths.max()),
        "mean": round(float(lengths.mean()), 1),
        "test_count": test,
    }
    if dataset.task == "structure":
        assert dataset.table is not None
        pairs, dropped = dropped_pairs(dataset.table.iloc[:, 0].tolist(), dataset.target.tolist())
        found |= {"pairs": pairs, "dropped": {kind: n for kind, n in dropped.items() if n}}
    return found


def _sequence_lengths(dataset: Dataset) -> np.ndarray:
    assert dataset.row_groups is not None
    return np.bincount(pd.factorize(dataset.row_groups)[0])


def _molecule_lengths(dataset: Dataset) -> np.ndarray:
    return np.array([len(structure) for structure in dataset.target])


def _in_words(lengths: np.ndarray, one: str, part: str) -> str:
    count, low, high = len(lengths), int(lengths.min()), int(lengths.max())
    what = f"1 {one}" if count == 1 else f"{count:,} {one}s"
    size = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    return f"{what} of {size} {part if high == 1 else part + 's'}"
