"""Describes sequences and molecules for the window and the guidance."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import StructuredSummary, UnitKind
from core.datasets.understanding.molecule_table import dropped_pairs


def describe_structures(dataset: Dataset) -> StructuredSummary:
    """The summary of a dataset of sequences or molecules."""
    is_molecules = dataset.task.has_pairs
    lengths_of = _molecule_lengths if is_molecules else _sequence_lengths
    nouns: tuple[UnitKind, str] = ("molecule", "base") if is_molecules else ("sequence", "token")
    lengths, pairs, dropped = lengths_of(dataset), None, None
    if is_molecules:
        assert dataset.table is not None
        sequences, structures = dataset.table.iloc[:, 0].tolist(), dataset.target.tolist()
        pairs, dropped = dropped_pairs(sequences, structures)
    return StructuredSummary(
        kind=nouns[0],
        count=len(lengths),
        rows=dataset.rows,
        items=_size_text(lengths, *nouns),
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
        mean=round(float(lengths.mean()), 1),
        test_count=0 if dataset.test is None else len(lengths_of(dataset.test)),
        pairs=pairs,
        dropped=dropped and {kind: count for kind, count in dropped.items() if count},
    )


def _sequence_lengths(dataset: Dataset) -> np.ndarray:
    assert dataset.row_groups is not None
    return np.bincount(pd.factorize(dataset.row_groups)[0])


def _molecule_lengths(dataset: Dataset) -> np.ndarray:
    return np.array([len(structure) for structure in dataset.target])


def _size_text(lengths: np.ndarray, unit_noun: str, element_noun: str) -> str:
    count, low, high = len(lengths), int(lengths.min()), int(lengths.max())
    count_text = f"1 {unit_noun}" if count == 1 else f"{count:,} {unit_noun}s"
    size = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    return f"{count_text} of {size} {element_noun if high == 1 else element_noun + 's'}"
