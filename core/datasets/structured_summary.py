"""Describes sequences, molecules and documents, and finds data that could be read as documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import DocumentSummary, StructuredSummary, UnitKind
from core.datasets.splits.equal_items import item_codes
from core.datasets.task import Task, count_text
from core.datasets.understanding.structured_tables import dropped_pairs

MAX_WORDS = 30
_NOUNS: dict[str, tuple[UnitKind, str]] = {
    Task.SEQUENCE: ("sequence", "token"),
    Task.STRUCTURE: ("molecule", "base"),
    Task.TOPICS: ("document", "word"),
}


def describe_structures(dataset: Dataset) -> StructuredSummary | None:
    """The summary of sequences, molecules or documents; None for independent rows."""
    if dataset.task.is_table:
        return None
    lengths, (unit, element) = _lengths(dataset), _NOUNS[dataset.task]
    low, high, mean = int(lengths.min()), int(lengths.max()), float(lengths.mean())
    size = f"{low:,} to " * (low < high) + count_text(high, element)
    items = f"{count_text(len(lengths), unit)} of {size}"
    if unit == "document":
        items = f"{dataset.task.count_text(len(lengths))} of {mean:,.0f} words on average"
    summary = StructuredSummary(
        kind=unit,
        count=len(lengths),
        rows=dataset.rows,
        items=items,
        shortest=low,
        longest=high,
        mean=round(mean, 1),
        test_count=0 if dataset.test is None else int(item_codes(dataset.test).max(initial=-1)) + 1,
    )
    if unit == "document":
        return _describe_documents(dataset, summary, lengths)
    if unit == "sequence":
        return summary
    assert dataset.table is not None
    pairs, dropped = dropped_pairs(dataset.table.iloc[:, 0].tolist(), dataset.target.tolist())
    dropped = {kind: count for kind, count in dropped.items() if count}
    return replace(summary, pairs=pairs, dropped=dropped)


def _describe_documents(
    dataset: Dataset, summary: StructuredSummary, lengths: np.ndarray
) -> DocumentSummary:
    documents = dataset.documents
    totals = np.asarray(documents.counts.sum(axis=0)).ravel()
    most_frequent = np.argsort(-totals, kind="stable")[:MAX_WORDS]
    return DocumentSummary(
        **vars(summary),
        column=str(dataset.table.columns[0]) if dataset.table is not None else "",
        empty=int((lengths == 0).sum()),
        vocabulary=len(documents.vocabulary),
        words=[(documents.vocabulary[w], int(totals[w])) for w in most_frequent],
        size=dataset.words.size,
        language=dataset.words.language,
    )


def _lengths(dataset: Dataset) -> np.ndarray:
    if dataset.task.has_sequences:
        return np.bincount(item_codes(dataset))
    if dataset.task.has_pairs:
        return np.array([len(structure) for structure in dataset.target])
    return dataset.documents.token_counts


def text_columns(dataset: Dataset) -> list[str]:
    """The columns that a topic model could be fitted to."""
    return [c.name for c in dataset.columns if c.kind == "text" and c.role != "sequence"]


def holds_counts(dataset: Dataset) -> bool:
    """Whether a sparse file could hold word counts: all whole, none negative."""
    values = np.empty(0) if dataset.matrix is None else dataset.matrix.data
    return bool(len(values) and values.min() >= 0 and not np.any(values % 1))
