"""A table of tokens becomes a Dataset: sequences of adjacent rows, a label for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np
import pandas as pd

from core.datasets.columns import check_names, describe_column, unknown_column
from core.datasets.dataset import Column, Dataset, Kind, Role
from core.datasets.finding import Finding
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.splits.units import join_codes
from core.datasets.task import Task
from core.datasets.understanding.feature_table import (
    check_same_kind,
    left_out,
    no_feature,
    row_groups,
)
from core.datasets.understanding.findings import table_findings
from core.datasets.understanding.recognition import StructuredLayout
from core.datasets.understanding.unusable_target import UnusableTargetError
from core.errors import UnusableError

MAX_LABELS = 500


def from_tokens(raw_table: RawTable, shape: StructuredLayout, choices: DataOptions) -> Dataset:
    """The dataset of a table of tokens; UnusableTargetError for one label or too many."""
    table, name = raw_table.table, raw_table.name
    columns = _columns(table, shape, choices)
    features = [column.name for column in columns if column.role == "feature"]
    if not features:
        raise no_feature(columns, name)
    names, labels = _checked_tokens(raw_table, shape)
    classes = tuple(np.unique(labels).tolist())
    _check_labels(classes, labels, f"{name}, column {shape.target}", table, shape)
    dataset = Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=columns,
        table=table[[shape.sequence, *features]],
        matrix=None,
        target=labels,
        task=Task.SEQUENCE,
        classes=classes,
        row_groups=names,
        units=_sequence_units(table, names, columns),
        findings=(*raw_table.findings, *_findings(names, labels, shape)),
        left_out=left_out(table, [c for c in columns if c.role != "sequence"]),
    )
    return replace(dataset, findings=(*dataset.findings, *table_findings(dataset)))


def tokens_test_part(train: Dataset, raw_table: RawTable) -> Dataset:
    """A second file's tokens; new labels are kept, with a finding."""
    table, name = raw_table.table, raw_table.name
    for column in [*train.feature_names, train.target_name]:
        if column not in table.columns:
            raise unknown_column(column, [str(c) for c in table.columns], name)
    for column in train.feature_names:
        check_same_kind(train, table[column], name)
    shape = StructuredLayout(Task.SEQUENCE, train.sequence_name, train.target_name, True)
    names, labels = _checked_tokens(raw_table, shape)
    new = ~np.isin(labels, train.classes)
    findings = []
    if new.any():
        unseen = np.unique(labels[new]).tolist()
        they, labels_text = "they", f"{len(unseen):,} labels"
        if len(unseen) == 1:
            they, labels_text = "it", "a label"
        count = int(new.sum())
        tokens, these = f"{count:,} tokens", "these count"
        if count == 1:
            tokens, these = "1 token", "this counts"
        sentence = (
            f"The test file has {labels_text} that the first file has not: {_label_list(unseen)},"
            f" on {tokens}; {they} cannot be predicted, and {these} as wrong."
        )
        findings.append(Finding(sentence, train.target_name, serious=True))
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=train.columns,
        table=table[train.feature_names],
        matrix=None,
        target=labels,
        task=Task.SEQUENCE,
        classes=train.classes,
        row_groups=names,
        findings=tuple(findings),
    )


def _columns(
    table: pd.DataFrame, shape: StructuredLayout, choices: DataOptions
) -> tuple[Column, ...]:
    names = [str(column) for column in table.columns]
    check_names(choices.roles, names, "role", get_args(Role))
    check_names(choices.kinds, names, "kind", get_args(Kind))
    other_names = [name for name in names if name != shape.sequence]
    return (
        Column(
            shape.sequence,
            "sequence",
            "identifier",
            distinct=int(table[shape.sequence].nunique()),
            note="rows with the same value are one sequence, in their order",
        ),
        *(
            _token_column(table[name], name == shape.target, choices.roles.get(name, ""))
            for name in other_names
        ),
    )


def _sequence_units(
    table: pd.DataFrame, names: np.ndarray, columns: Sequence[Column]
) -> np.ndarray | None:
    grouping = [column for column in columns if column.role == "group"]
    groups = row_groups(table, grouping)
    if groups is None:
        return None
    units = join_codes(pd.factorize(names)[0], groups)
    if not units.any():
        fault = "its values join all sequences to one group, which cannot be split"
        cure = "give another column the role group, or none"
        raise UnusableError(fault, where=f"column {grouping[0].name}", cure=cure)
    return units


def _token_column(values: pd.Series, is_target: bool, role: str) -> Column:
    text = not pd.api.types.is_numeric_dtype(values.dtype)
    column = describe_column(values, first=False, kind="category" if text else "")
    if is_target:
        return replace(column, role="target", note="")
    if not role:
        return column
    return replace(column, role=cast(Role, role), note=column.note if role == "ignore" else "")


def _checked_tokens(raw_table: RawTable, shape: StructuredLayout) -> tuple[np.ndarray, np.ndarray]:
    """Sequence and label of every token, as text; each sequence must be contiguous."""
    name, line_of = raw_table.name, raw_table.line_of
    sequence, target = raw_table.table[shape.sequence], raw_table.table[shape.target]
    nameless = np.flatnonzero(sequence.isna().to_numpy())
    if len(nameless):
        raise UnusableError(
            "the token belongs to no sequence",
            where=f"{name}, line {line_of(int(nameless[0]))}, column {shape.sequence}",
            cure="say in every row which sequence it belongs to",
        )
    codes, names = pd.factorize(sequence)
    _refuse_return(codes, np.asarray(names.astype(str)), raw_table, shape)
    unlabelled = np.flatnonzero(target.isna().to_numpy())
    if len(unlabelled):
        raise UnusableError(
            "the token has no label, and it cannot be left out without tearing its sequence",
            where=f"{name}, line {line_of(int(unlabelled[0]))}, column {shape.target}",
            cure="give it a label, or leave out the whole sequence",
        )
    label_codes, labels = pd.factorize(target)
    sequence_names = np.asarray(names.astype(str), dtype=str)[codes]
    return sequence_names, np.asarray(labels.astype(str), dtype=str)[label_codes]


def _refuse_return(
    codes: np.ndarray, names: np.ndarray, raw_table: RawTable, shape: StructuredLayout
) -> None:
    starts = np.concatenate(([0], np.flatnonzero(np.diff(codes)) + 1))
    is_return = pd.Series(codes[starts]).duplicated().to_numpy()
    if not is_return.any():
        return
    run = int(np.flatnonzero(is_return)[0])
    code, row = codes[starts[run]], int(starts[run])
    last = int(np.flatnonzero(codes[:row] == code)[-1])
    raise UnusableError(
        f"the sequence “{names[code]}” comes back, which had ended in line "
        f"{raw_table.line_of(last)}",
        where=f"{raw_table.name}, line {raw_table.line_of(row)}, column {shape.sequence}",
        cure="put the rows of a sequence together, or give every sequence a name of its own",
    )


def _check_labels(
    classes: Sequence[str],
    labels: np.ndarray,
    where: str,
    table: pd.DataFrame,
    shape: StructuredLayout,
) -> None:
    other_columns = [str(c) for c in table.columns if c not in (shape.target, shape.sequence)]
    if len(classes) == 1:
        fault = f"every token has the same label ({classes[0]})"
        cure = "choose another target"
        raise UnusableTargetError(fault, where=where, cure=cure, columns=other_columns)
    if len(classes) > MAX_LABELS or (len(classes) > 10 and len(classes) > len(labels) / 2):
        fault = f"the tokens have {len(classes):,} different labels, too many to learn"
        cure = "choose another target"
        raise UnusableTargetError(fault, where=where, cure=cure, columns=other_columns)


def _findings(names: np.ndarray, labels: np.ndarray, shape: StructuredLayout) -> list[Finding]:
    codes, _ = pd.factorize(names)
    lengths = np.bincount(codes)
    findings = []
    short = int((lengths == 1).sum())
    if short == len(lengths):
        findings.append(
            Finding(
                "Every sequence has one token only, so nothing is learned about what follows what.",
                shape.sequence,
                serious=True,
            )
        )
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
