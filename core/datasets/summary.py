"""A dataset as plain data: what the window shows and the guidance reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset, Finding
from core.datasets.distributions import (
    MOST_COLUMNS,
    Distribution,
    shown_columns,
    sparse_distributions,
)
from core.datasets.document_summary import describe_documents, holds_counts, text_columns
from core.datasets.groups import prefix_groups
from core.datasets.structured_summary import describe

PREVIEW_ROWS = 50
PREVIEW_COLUMNS = MOST_COLUMNS
_MIDNIGHT = " 00:00:00"  # which dates of sheets have where no hour was given
LONGEST_CELL = 300  # letters that are shown of a text


def summarize(dataset: Dataset) -> dict[str, Any]:
    """The dataset's description in JSON types: columns, classes, findings, first rows, prefixes.

    Where rows are tokens, molecules or documents, "structured" says what they make up. "texts"
    names the columns whose topics could be looked for, "counts" says whether those of a sparse file
    could be.
    """
    source, sequence = dataset.source, dataset.sequence_name
    shown = shown_columns(dataset.columns)
    spread = dataset.distributions
    if dataset.matrix is not None:
        spread = sparse_distributions(dataset.matrix, dataset.target, dataset.columns)
    summary = {
        "name": dataset.name,
        "described": source.described,
        "format": source.format,
        "sheets": list(source.sheets),
        "sheet": source.reading.get("sheet_name", ""),
        "fingerprint": source.fingerprint,
        "rows": dataset.rows,
        "features": sum(column.role == "feature" for column in dataset.columns),
        "task": dataset.task,
        "target": dataset.target_name,
        "classes": _classes(dataset),
        "set_aside": dataset.set_aside,
        "sampled": dataset.sampled.as_dict() if dataset.sampled else {},
        "test_rows": dataset.test.rows if dataset.test is not None else 0,
        "columns": [
            {
                "name": column.name,
                "role": column.role,
                "kind": column.kind,
                "missing": column.missing,
                "distinct": column.distinct,
                "categories": list(column.categories),
                "note": column.note,
                "distribution": _plain(spread[column.name]) if column.name in spread else None,
            }
            for column in shown
        ],
        "more_columns": len(dataset.columns) - len(shown),
        "preview": _preview(dataset),
        "findings": [asdict(finding) for finding in all_findings(dataset)],
        "texts": [] if dataset.is_sparse else text_columns(dataset),
        "counts": holds_counts(dataset),
        "prefixes": prefix_groups([name for name in dataset.feature_names if name != sequence]),
    }
    if dataset.task == "sequence" or dataset.task == "structure":
        summary["structured"] = describe(dataset)
    if dataset.task == "topics":
        summary["structured"] = describe_documents(dataset)
    return summary


def _plain(spread: Distribution) -> dict[str, Any]:
    """A distribution in JSON types."""
    return {**asdict(spread), "counts": list(spread.counts), "labels": list(spread.labels)}


def all_findings(dataset: Dataset) -> list[Finding]:
    """What a person should know about the data and the second file, the serious things first."""
    test = dataset.test.findings if dataset.test is not None else ()
    return sorted((*dataset.findings, *test), key=lambda finding: not finding.serious)


def _classes(dataset: Dataset) -> list[dict[str, Any]]:
    labels, counts = np.unique(dataset.target, return_counts=True)
    found = dict(zip(labels.tolist(), counts.tolist(), strict=True)) if dataset.classes else {}
    return [{"label": str(label), "count": found.get(label, 0)} for label in dataset.classes]


def _preview(dataset: Dataset) -> dict[str, Any]:
    """The first rows as text: features, then the columns that are left out, the target last."""
    names = dataset.feature_names[:PREVIEW_COLUMNS]
    if dataset.table is not None:
        columns = _texts(dataset.table.iloc[:PREVIEW_ROWS, : len(names)])
    else:
        assert dataset.matrix is not None
        dense = dataset.matrix[:PREVIEW_ROWS, : len(names)].toarray()
        columns = [[_text(value) for value in dense[:, i]] for i in range(len(names))]
    if dataset.left_out is not None:
        aside = dataset.left_out.iloc[:PREVIEW_ROWS, : PREVIEW_COLUMNS - len(names)]
        columns += _texts(aside)
        names += [str(name) for name in aside.columns]
    if dataset.target_name:
        columns.append([_text(value) for value in dataset.target[:PREVIEW_ROWS]])
        names.append(dataset.target_name)
    rows = [list(row) for row in zip(*columns, strict=True)]
    return {"columns": names, "rows": rows}


def _texts(part: pd.DataFrame) -> list[list[str]]:
    """Every column's values as text, "" for missing ones; days without the hour of midnight."""
    columns = [["" if _is_nothing(v) else _text(v) for v in part[name]] for name in part]
    return [
        [text.removesuffix(_MIDNIGHT) for text in texts]
        if all(text.endswith(_MIDNIGHT) for text in texts if text)
        else texts
        for texts in columns
    ]


def _is_nothing(value: Any) -> bool:
    return value is None or value != value


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value + 0.0:.6g}"  # nothing is no less than 0
    text = str(value)
    if len(text) <= LONGEST_CELL and "\n" not in text:
        return text
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_CELL else f"{line[:LONGEST_CELL]} …"
