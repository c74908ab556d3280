"""Documents in figures and plain words, and which data could be looked at as documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.datasets.dataset import Column, Dataset

MOST_WORDS = 30
_SIGNED = "numbers with signs"  # how the note of a column begins that is text only by its signs


def describe_documents(dataset: Dataset) -> dict[str, Any]:
    """What the documents of a dataset of topics are made of, in JSON types.

    Words are those that the rules keep over all documents.

    Returns:
        kind (document), column (of texts; "" where words are counted already), count, rows, items
        ("400 texts of 25 words on average"), shortest, longest, mean (words a document), empty
        (documents without a word), vocabulary (how many words are kept), words (the most frequent:
        [word, how often]), test_count (of the second file), size (how many words may be kept),
        language (whose stop words are left out, one of stop_words.CHOICES).
    """
    documents = dataset.documents
    lengths = documents.tokens
    totals = np.asarray(documents.counts.sum(axis=0)).ravel()
    most_frequent = np.argsort(-totals, kind="stable")[:MOST_WORDS]
    mean = float(lengths.mean())
    texts = "1 text" if dataset.rows == 1 else f"{dataset.rows:,} texts"
    return {
        "kind": "document",
        "column": str(dataset.table.columns[0]) if dataset.table is not None else "",
        "count": dataset.rows,
        "rows": dataset.rows,
        "items": f"{texts} of {mean:,.0f} words on average",
        "shortest": int(lengths.min()),
        "longest": int(lengths.max()),
        "mean": round(mean, 1),
        "empty": int((lengths == 0).sum()),
        "vocabulary": len(documents.vocabulary),
        "words": [[documents.vocabulary[w], int(totals[w])] for w in most_frequent],
        "test_count": dataset.test.rows if dataset.test is not None else 0,
        "size": dataset.words.size,
        "language": dataset.words.language,
    }


def text_columns(dataset: Dataset) -> list[str]:
    """The columns whose topics could be looked for."""
    return [column.name for column in dataset.columns if _holds_text(column)]


def holds_counts(dataset: Dataset) -> bool:
    """Whether the numbers of a sparse file could be counts of words: all whole, none negative."""
    if dataset.matrix is None:
        return False
    values = dataset.matrix.data
    return bool(len(values) and values.min() >= 0 and not np.any(values % 1))


def _holds_text(column: Column) -> bool:
    if column.role == "sequence" or column.kind != "text":
        return False
    return not column.note.startswith(_SIGNED)
