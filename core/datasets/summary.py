"""Describes a dataset from its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import ClassCount, ColumnSummary, DatasetSummary, Preview
from core.datasets.distributions import MAX_COLUMNS, shown_columns, sparse_distributions
from core.datasets.finding import Finding
from core.datasets.groups import prefix_groups
from core.datasets.structured_summary import describe_structures, holds_counts, text_columns

PREVIEW_ROWS = 50
PREVIEW_COLUMNS = MAX_COLUMNS
_MIDNIGHT = " 00:00:00"  # of dates in sheets without an hour
LONGEST_CELL = 300  # letters shown of a text


def summarize(dataset: Dataset) -> DatasetSummary:
    """The dataset's description: columns, classes, findings, first rows, prefixes."""
    source, sequence = dataset.source, dataset.sequence_name
    shown = shown_columns(dataset.columns)
    spread = dataset.distributions
    if dataset.matrix is not None:
        spread = sparse_distributions(dataset.matrix, dataset.target, dataset.columns)
    return DatasetSummary(
        name=dataset.name,
        format=source.format,
        rows=dataset.rows,
        features=sum(column.role == "feature" for column in dataset.columns),
        task=dataset.task,
        target=dataset.target_name,
        described=source.described,
        fingerprint=source.fingerprint,
        sheets=list(source.sheets),
        sheet=str(source.reading.get("sheet_name", "")),
        classes=_classes(dataset),
        set_aside=dataset.set_aside,
        file_rows=dataset.sampled.of if dataset.sampled else 0,
        test_rows=dataset.test.rows if dataset.test is not None else 0,
        columns=[
            ColumnSummary(
                name=column.name,
                role=column.role,
                kind=column.kind,
                missing=column.missing,
                distinct=column.distinct,
                categories=column.categories,
                note=column.note,
                unit=column.unit,
                distribution=spread.get(column.name),
            )
            for column in shown
        ],
        more_columns=len(dataset.columns) - len(shown),
        preview=_preview(dataset),
        findings=all_findings(dataset),
        readings=list(dataset.readings),
        texts=[] if dataset.is_sparse else text_columns(dataset),
        counts=holds_counts(dataset),
        prefixes=prefix_groups([name for name in dataset.feature_names if name != sequence]),
        structured=describe_structures(dataset),
    )


def all_findings(dataset: Dataset) -> list[Finding]:
    """The findings on the data and the second file, serious ones first."""
    test = dataset.test.findings if dataset.test is not None else ()
    return sorted((*dataset.findings, *test), key=lambda finding: not finding.serious)


def _classes(dataset: Dataset) -> list[ClassCount]:
    if not dataset.classes:
        return []
    labels, counts = np.unique(dataset.target, return_counts=True)
    count_of_label = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    return [ClassCount(str(label), count_of_label.get(label, 0)) for label in dataset.classes]


def _preview(dataset: Dataset) -> Preview:
    names = dataset.feature_names[:PREVIEW_COLUMNS]
    if dataset.table is not None:
        columns = _cell_texts(dataset.table.iloc[:PREVIEW_ROWS, : len(names)])
    else:
        assert dataset.matrix is not None
        dense = dataset.matrix[:PREVIEW_ROWS, : len(names)].toarray()
        columns = [[_cell_text(value) for value in dense[:, i]] for i in range(len(names))]
    if dataset.left_out is not None:
        unused_table = dataset.left_out.iloc[:PREVIEW_ROWS, : PREVIEW_COLUMNS - len(names)]
        columns += _cell_texts(unused_table)
        names += [str(name) for name in unused_table.columns]
    if dataset.target_name:
        columns.append([_cell_text(value) for value in dataset.target[:PREVIEW_ROWS]])
        names.append(dataset.target_name)
    return Preview(names, [list(row) for row in zip(*columns, strict=True)])


def _cell_texts(table: pd.DataFrame) -> list[list[str]]:
    columns = [["" if _is_nothing(v) else _cell_text(v) for v in table[name]] for name in table]
    return [
        [text.removesuffix(_MIDNIGHT) for text in texts]
        if all(text.endswith(_MIDNIGHT) for text in texts if text)
        else texts
        for texts in columns
    ]


def _is_nothing(value: Any) -> bool:
    return value is None or value != value


def _cell_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value + 0.0:.6g}"  # turns -0.0 into 0.0
    text = str(value)
    if len(text) <= LONGEST_CELL and "\n" not in text:
        return text
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_CELL else f"{line[:LONGEST_CELL]} …"
