"""Describes documents, and finds data that could be read as documents."""

from __future__ import annotations

import numpy as np

from core.datasets.dataset import Column, Dataset
from core.datasets.dataset_summary import DocumentSummary

MAX_WORDS = 30
_SIGNED = "numbers with signs"  # the note of columns.py on columns such as “12 %”


def describe_documents(dataset: Dataset) -> DocumentSummary:
    """The summary of a dataset of topics."""
    documents = dataset.documents
    lengths = documents.token_counts
    totals = np.asarray(documents.counts.sum(axis=0)).ravel()
    most_frequent = np.argsort(-totals, kind="stable")[:MAX_WORDS]
    mean = float(lengths.mean())
    texts = "1 text" if dataset.rows == 1 else f"{dataset.rows:,} texts"
    return DocumentSummary(
        kind="document",
        count=dataset.rows,
        rows=dataset.rows,
        items=f"{texts} of {mean:,.0f} words on average",
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
        mean=round(mean, 1),
        test_count=dataset.test.rows if dataset.test is not None else 0,
        column=str(dataset.table.columns[0]) if dataset.table is not None else "",
        empty=int((lengths == 0).sum()),
        vocabulary=len(documents.vocabulary),
        words=[(documents.vocabulary[w], int(totals[w])) for w in most_frequent],
        size=dataset.words.size,
        language=dataset.words.language,
    )


def text_columns(dataset: Dataset) -> list[str]:
    """The columns that a topic model could be fitted to."""
    return [column.name for column in dataset.columns if _holds_text(column)]


def holds_counts(dataset: Dataset) -> bool:
    """Whether a sparse file could hold word counts: all whole, none negative."""
    if dataset.matrix is None:
        return False
    values = dataset.matrix.data
    return bool(len(values) and values.min() >= 0 and not np.any(values % 1))


def _holds_text(column: Column) -> bool:
    if column.role == "sequence" or column.kind != "text":
        return False
    return not column.note.startswith(_SIGNED)
