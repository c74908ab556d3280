"""Describes a dataset from its rows, and how its file was read."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_text, read_cells
from core.datasets.columns import MAX_COLUMNS, shown_columns, sparse_distributions
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import (
    ClassCount,
    Column,
    ColumnSummary,
    DatasetSummary,
    DocumentSummary,
    Preview,
    StructuredSummary,
    UnitKind,
)
from core.datasets.files.registry import open_table
from core.datasets.finding import Finding, RewrittenCells, column_change
from core.datasets.groups import prefix_groups
from core.datasets.raw_table import formats_of
from core.datasets.split_units import item_codes
from core.datasets.task import Task
from core.datasets.understanding.structured_tables import dropped_pairs
from core.datasets.understanding.target import rival_target
from core.errors import UnusableError
from core.wording import count_text, shortened_text

MAX_WORDS = 30
# What the rows form, where they are not independent: sequences, molecules, documents.
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
    # Stable, so that words of one count come in the vocabulary's order, every time.
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


PREVIEW_ROWS = 50
PREVIEW_COLUMNS = MAX_COLUMNS
_MIDNIGHT = " 00:00:00"  # of dates in sheets without an hour
LONGEST_CELL = 300  # letters shown of a text


def summarize(dataset: Dataset) -> DatasetSummary:
    """The dataset's description: columns, classes, findings, first rows, prefixes."""
    source, sequence = dataset.source, dataset.sequence_name
    # The columns of a wide file would make a message of many megabytes.
    shown, keys = shown_columns(dataset.columns), [field.name for field in fields(Column)]
    spread, holds_counts = dataset.distributions, False
    if dataset.matrix is not None:
        values = dataset.matrix.data  # of word counts all are whole, none negative
        holds_counts = bool(len(values) and values.min() >= 0 and not np.any(values % 1))
        spread = sparse_distributions(dataset.matrix, dataset.target, dataset.columns)
    return DatasetSummary(
        name=dataset.name,
        format=source.format,
        rows=dataset.rows,
        features=sum(column.role == "feature" for column in dataset.columns),
        task=dataset.task,
        target=dataset.target_name,
        rival=rival_target(dataset),
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
                **{key: getattr(column, key) for key in keys}, distribution=spread.get(column.name)
            )
            for column in shown
        ],
        more_columns=len(dataset.columns) - len(shown),
        preview=_preview(dataset),
        findings=all_findings(dataset),
        readings=list(dataset.readings),
        texts=[] if dataset.is_sparse else text_columns(dataset),
        counts=holds_counts,
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
    columns = [
        ["" if v is None or v != v else _cell_text(v) for v in table[name]] for name in table
    ]
    return [
        [text.removesuffix(_MIDNIGHT) for text in texts]
        if all(text.endswith(_MIDNIGHT) for text in texts if text)
        else texts
        for texts in columns
    ]


def _cell_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value + 0.0:.6g}"  # turns -0.0 into 0.0
    text = str(value)
    if len(text) <= LONGEST_CELL and "\n" not in text:
        return text
    return shortened_text(text, LONGEST_CELL)


# Cells whose texts do not come back from their values: leading zeros, 1.10 as a version.
_MAX_BYTES = 2**27  # of a file that is read once more, cell by cell
_VALUES = ("number", "date", "yes/no")  # kinds whose texts another reading keeps


def rewritten_cells(dataset: Dataset, max_bytes: int = _MAX_BYTES) -> dict[str, RewrittenCells]:
    """The columns whose texts do not come back; counted in CSV files of at most `max_bytes`."""
    source, formats = dataset.source, formats_of(dataset.columns, dataset.source)
    names = dict.fromkeys((column.name for column in dataset.columns), "category")
    try:
        is_counted = source.format == "csv" and Path(source.path).stat().st_size <= max_bytes
        table = open_table(source.path).read(names).table if is_counted else None
    except (OSError, UnusableError):
        table = None
    # Without a second look it is known only where reading said so.
    if table is None:
        return {name: RewrittenCells() for name, form in formats.items() if form.rewrites}
    columns = {name: _rewritten(table[name], formats[name]) for name in names if name in table}
    return {name: cells for name, cells in columns.items() if cells is not None}


def _rewritten(values: pd.Series, form: ColumnFormat) -> RewrittenCells | None:
    counts = values.value_counts()
    texts = pd.Series(counts.index, dtype="str")
    cells = read_cells(texts, form)
    if form.kind == "number":
        # Numbers that all have as many decimals, as prices do, come back by writing as many.
        decimals = re.compile(rf"-?\d+{re.escape(form.decimal)}(\d+)")
        places = {len(match[1]) if (match := decimals.fullmatch(t)) else 0 for t in texts}
        [width] = places if len(places) == 1 else [0]
        cells = cells.map(f"{{:.{width}f}}".format if width else cell_text, na_action="ignore")
        cells = cells.astype("str").str.replace(".", form.decimal, regex=False)
    is_other = (cells.fillna("") != texts).to_numpy()
    if form.kind == "number":  # 3.0 and -0.0 are how programs write whole numbers
        bare = texts.str.removesuffix(f"{form.decimal}0").replace("-0", "0")
        is_other = is_other & (cells != bare).to_numpy()
    if not is_other.any():
        return None
    first = int(is_other.argmax())
    value = "missing" if pd.isna(cells[first]) else cells[first]
    keep = column_change("Read it as text", "--reading", str(values.name), "text")
    return RewrittenCells(
        int(counts.to_numpy()[is_other].sum()),
        f"“{texts[first]}” is {value}",
        keep if form.kind in _VALUES else None,
    )
