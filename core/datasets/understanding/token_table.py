"""A table of tokens becomes a Dataset: sequences of adjacent rows, a label for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd

from core.datasets.columns import describe_column
from core.datasets.dataset import Column, Dataset, Role
from core.datasets.finding import Finding
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.splits.units import join_codes
from core.datasets.task import Task, count_text
from core.datasets.understanding.feature_table import dataset_of_rows, no_feature
from core.datasets.understanding.findings import table_findings
from core.datasets.understanding.recognition import StructuredLayout
from core.datasets.understanding.target_leakage import LeakageCheck
from core.datasets.understanding.unusable_input import UnusableTargetError
from core.errors import UnusableError

MAX_LABELS = 500


def from_tokens(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table of tokens; UnusableTargetError for one label or too many."""
    table, name = raw_table.table, raw_table.name
    note = "rows with the same value are one sequence, in their order"
    distinct = int(table[shape.sequence].nunique())
    others = [str(column) for column in table.columns if column != shape.sequence]
    columns = (
        Column(shape.sequence, "sequence", "identifier", distinct=distinct, note=note),
        *(_token_column(table[n], n == shape.target, choices.roles.get(n, "")) for n in others),
    )
    features = [column.name for column in columns if column.role == "feature"]
    if not features:
        raise no_feature(columns, name)
    names, labels = _checked_tokens(raw_table, shape)
    classes = tuple(np.unique(labels).tolist())
    if fault := _fault_of_labels(classes, len(labels)):
        raise UnusableTargetError(
            fault,
            where=f"{name}, column {shape.target}",
            cure="choose another target",
            columns=[column for column in others if column != shape.target],
        )
    features = [shape.sequence, *features]
    dataset = dataset_of_rows(raw_table, columns, features, labels, Task.SEQUENCE)
    dataset = replace(
        dataset,
        classes=classes,
        row_groups=names,
        units=_sequence_units(names, dataset.row_groups, columns),
    )
    telling = table_findings(dataset, LeakageCheck(dataset).telling_columns())
    findings = (*dataset.findings, *_findings(names, labels, shape), *telling)
    return replace(dataset, findings=findings)


def tokens_test_part(part: Dataset, raw_table: RawTable, shape: StructuredLayout) -> Dataset:
    """A second file's tokens; new labels are kept, with a finding."""
    names, labels = _checked_tokens(raw_table, shape)
    is_new = ~np.isin(labels, part.classes)
    findings = []
    if is_new.any():
        unseen, count = np.unique(labels[is_new]).tolist(), int(is_new.sum())
        they, labels_text = "they", f"{len(unseen):,} labels"
        if len(unseen) == 1:
            they, labels_text = "it", "a label"
        sentence = (
            f"The test file has {labels_text} that the first file has not: {_label_list(unseen)},"
            f" on {count_text(count, 'token')}; {they} cannot be predicted, and"
            f" {'this counts' if count == 1 else 'these count'} as wrong."
        )
        findings.append(Finding(sentence, shape.target, serious=True))
    return replace(part, target=labels, row_groups=names, findings=tuple(findings))


def _sequence_units(
    names: np.ndarray, groups: np.ndarray | None, columns: Sequence[Column]
) -> np.ndarray | None:
    if groups is None:
        return None
    units = join_codes(pd.factorize(names)[0], groups)
    if not units.any():
        [grouping] = [column.name for column in columns if column.role == "group"]
        fault = "its values join all sequences to one group, which cannot be split"
        cure = "give another column the role group, or none"
        raise UnusableError(fault, where=f"column {grouping}", cure=cure)
    return units


def _token_column(values: pd.Series, is_target: bool, role: str) -> Column:
    text = not pd.api.types.is_numeric_dtype(values.dtype)
    column = describe_column(values, first=False, kind="category" if text else "")
    role = "target" if is_target else role
    if not role:
        return column
    return replace(column, role=cast(Role, role), note=column.note if role == "ignore" else "")


def _checked_tokens(raw_table: RawTable, shape: StructuredLayout) -> tuple[np.ndarray, np.ndarray]:
    """Sequence and label of every token, as text; each sequence must be contiguous."""

    def refuse(row: int, column: str, fault: str, cure: str) -> None:
        where = f"{raw_table.name}, line {raw_table.line_of(row)}, column {column}"
        raise UnusableError(fault, where=where, cure=cure)

    sequence, target = raw_table.table[shape.sequence], raw_table.table[shape.target]
    if (is_missing := sequence.isna().to_numpy()).any():
        cure = "say in every row which sequence it belongs to"
        refuse(int(is_missing.argmax()), shape.sequence, "the token belongs to no sequence", cure)
    codes, names = pd.factorize(sequence)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    if (is_return := pd.Series(codes[starts]).duplicated().to_numpy()).any():
        row = int(starts[is_return.argmax()])
        end = int(np.flatnonzero(codes[:row] == codes[row])[-1])
        fault = f"the sequence “{names[codes[row]]}” comes back, which had ended in line "
        cure = "put the rows of a sequence together, or give every sequence a name of its own"
        refuse(row, shape.sequence, f"{fault}{raw_table.line_of(end)}", cure)
    if (is_missing := target.isna().to_numpy()).any():
        fault = "the token has no label, and it cannot be left out without tearing its sequence"
        cure = "give it a label, or leave out the whole sequence"
        refuse(int(is_missing.argmax()), shape.target, fault, cure)
    label_codes, labels = pd.factorize(target)
    sequence_names = np.asarray(names.astype(str), dtype=str)[codes]
    return sequence_names, np.asarray(labels.astype(str), dtype=str)[label_codes]


def _fault_of_labels(classes: Sequence[str], tokens: int) -> str:
    count = len(classes)
    if count == 1:
        return f"every token has the same label ({classes[0]})"
    is_too_many = count > MAX_LABELS or (count > 10 and count > tokens / 2)
    return f"the tokens have {count:,} different labels, too many to learn" if is_too_many else ""


def _findings(names: np.ndarray, labels: np.ndarray, shape: StructuredLayout) -> list[Finding]:
    codes, _ = pd.factorize(names)
    lengths = np.bincount(codes)
    findings = []
    short = int((lengths == 1).sum())
    if short == len(lengths):
        sentence = "Every sequence has one token only, so nothing is learned about what follows"
        findings.append(Finding(f"{sentence} what.", shape.sequence, serious=True))
    elif short:
        sequences = "1 sequence has" if short == 1 else f"{short:,} sequences have"
        findings.append(Finding(f"{sequences} one token only.", shape.sequence))
    pairs = pd.DataFrame({"label": labels, "sequence": codes}).drop_duplicates()
    counts = pairs["label"].value_counts()
    lonely = sorted(counts.index[counts == 1])
    if lonely:
        words, occur, they = f"{len(lonely):,} labels:", "each occur", "they"
        if len(lonely) == 1:
            words, occur, they = "The label", "occurs", "it"
        sentence = (
            f"{words} {_label_list(lonely)} {occur} in one sequence only; where that is in the test"
            f" set, {they} cannot be learned."
        )
        findings.append(Finding(sentence, shape.target))
    return findings


def _label_list(labels: Sequence[str]) -> str:
    return ", ".join(f"“{label}”" for label in labels[:5]) + (", …" if len(labels) > 5 else "")
