"""A table of independent rows becomes a Dataset: roles, kinds, target, task and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_text, read_cells
from core.datasets.columns import describe_columns
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.finding import Finding, UnusableTargetError
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.task import Task
from core.datasets.understanding.findings import GIVES_AWAY, LeakageCheck, table_findings
from core.datasets.understanding.target import (
    refuse_fractions,
    settle_target,
    target_column,
    target_findings,
    without_target,
)
from core.errors import UnusableError

_TOPICS = "or choose topics as the task"
_MAX_LONELY = 0.1  # of the rows, in classes of one row that are left out
_MIN_TEXT_ROWS = 10  # with the same text, on average; remarks come again less often
HEAD_ROWS = 50  # of unused columns, for display


def from_table(raw_table: RawTable, choices: DataOptions) -> Dataset:
    """The dataset of a table; UnusableTargetError for a target, UnusableError for options."""
    table, name, roles, task = raw_table.table, raw_table.name, choices.roles, choices.task
    names = [str(column) for column in table.columns]
    if len(names) < 2:
        cure = "give a target and at least one feature"
        raise UnusableError("there is only one column", where=name, cure=cure)
    by_role = [column for column, role in roles.items() if role == "target" and column in names]
    wanted_target = choices.target or (by_role[0] if by_role else "")
    ends = [c for c in names if c.startswith("Unnamed: ") and table[c].isna().all()]
    unlikely = _unlikely(raw_table, wanted_target, ends)
    target_name = target_column(names, wanted_target, name, unlikely)
    # Any other column of role target becomes an ordinary one.
    roles = {c: r for c, r in roles.items() if c != target_name and r != "target"}
    formats = raw_table.source.formats
    counts = raw_table.counts
    columns = describe_columns(table, target_name, roles, choices.kinds, formats, counts)
    has_target = table[target_name].notna().to_numpy()
    where = f"{name}, column {target_name}"
    try:
        values, settled_task, classes = settle_target(table[target_name][has_target], task, where)
    except UnusableError as error:
        other_columns = [column for column in names if column not in (target_name, *ends)]
        texts = raw_table.sentence_columns
        cure = f"{error.cure}, {_TOPICS}" if texts and error.cure else error.cure
        raise UnusableTargetError(
            error.what, where=error.where, cure=cure, columns=other_columns, texts=texts
        ) from None
    # A class of one row can be learned or tested, not both; splits by class would fail.
    if lonely := _lonely_classes(values, classes):
        return from_table(_without_classes(raw_table, target_name, lonely), choices)
    features = [column.name for column in columns if column.role == "feature"]
    if not features:
        raise no_feature(columns, name, raw_table.sentence_columns)
    # Taking rows copies the table, which is left alone where all have a target.
    set_aside = int(len(table) - has_target.sum())
    rows = table if not set_aside else table[has_target].reset_index(drop=True)
    dataset = dataset_of_rows(
        replace(raw_table, table=rows), columns, features, values, settled_task
    )
    target = target_findings(target_name, values, settled_task, classes, bool(task), set_aside)
    dataset = replace(
        dataset,
        classes=classes,
        set_aside=set_aside,
        findings=(*target, *raw_table.findings),
        readings=raw_table.readings,
    )
    check = LeakageCheck(dataset, raw_table.codes)
    dataset = _without_leaks(
        dataset, check, rows, choices, roles, lambda: raw_table.sentence_columns
    )
    telling = tuple(check.telling_columns())
    findings = (*dataset.findings, *table_findings(dataset, telling))
    return replace(dataset, findings=findings, telling=telling)


def _lonely_classes(target: np.ndarray, classes: Sequence[Any]) -> list[str]:
    if not classes:
        return []
    labels, counts = np.unique(target, return_counts=True)
    lonely = labels[counts == 1].tolist()
    is_enough = len(labels) - len(lonely) >= 2 and len(lonely) <= _MAX_LONELY * len(target)
    return [cell_text(label) for label in lonely] if is_enough else []


def _without_classes(raw_table: RawTable, target: str, classes: Sequence[str]) -> RawTable:
    values, source = raw_table.table[target], raw_table.source
    form = (source.formats or {}).get(target, ColumnFormat())
    if pd.api.types.is_numeric_dtype(values.dtype):
        form = replace(form, kind="number")
    form = replace(form, missing=(*form.missing, *classes), rewrites=True)
    names = ", ".join(f"“{label}”" for label in classes[:5]) + (" …" if len(classes) > 5 else "")
    rows = (
        "Class {} has only one row, which is"
        if len(classes) == 1
        else ("Classes {} have only one row each, which are")
    )
    sentence = f"{rows.format(names)} left out: too few to learn it and to test it."
    return replace(
        raw_table,
        table=raw_table.table.assign(**{target: read_cells(values, form)}),
        counts={name: count for name, count in raw_table.counts.items() if name != target},
        source=replace(source, formats={**(source.formats or {}), target: form}),
        findings=(Finding(sentence, target, serious=True), *raw_table.findings),
    )


def _unlikely(raw_table: RawTable, wanted_target: str, ends: Sequence[str]) -> Sequence[str]:
    table, unlikely = raw_table.table, list(ends)
    if not wanted_target:
        unlikely += raw_table.sentence_columns
        names = [str(column) for column in table.columns if column not in unlikely]
        unlikely += takewhile(lambda name: _has_remarks(table[name]), reversed(names))
    # Something must remain that can be the target.
    for names in (unlikely, list(ends)):
        if len(names) < table.shape[1]:
            return names
    return ()


def _has_remarks(values: pd.Series) -> bool:
    """Whether a column holds words on some of the rows, which nobody predicts."""
    present_values = values.dropna()
    if len(present_values) == len(values) or values.dtype.kind != "O":
        return False
    texts = present_values.astype(str).unique()
    rows_per_text = len(present_values) / max(1, len(texts))
    is_rare = rows_per_text < _MIN_TEXT_ROWS or len(present_values) < len(values) / 2
    return is_rare and sum(" " in text.strip() for text in texts) >= len(texts) / 2


def _without_leaks(
    dataset: Dataset,
    check: LeakageCheck,
    rows: pd.DataFrame,
    choices: DataOptions,
    roles: Mapping[str, str],
    texts: Callable[[], Sequence[str]],
) -> Dataset:
    free = [name for name in dataset.feature_names if name not in roles]
    leaks = [] if choices.leaks else check.leaking_columns(free)
    # Mere copies are left out in any case: they would hide everything else.
    if choices.leaks or len(leaks) == len(dataset.feature_names):
        leaks = [name for name in check.copies if name in free] if dataset.classes else []
    features = [name for name in dataset.feature_names if name not in leaks]
    if not leaks or not (features or texts()):
        return dataset
    columns = tuple(
        replace(column, role="ignore", note=GIVES_AWAY) if column.name in leaks else column
        for column in dataset.columns
    )
    if not features:
        raise no_feature(columns, dataset.name, texts())
    return replace(dataset, columns=columns, table=rows[features], left_out=left_out(rows, columns))


def dataset_of_rows(
    raw_table: RawTable,
    columns: Sequence[Column],
    features: Sequence[str],
    target: np.ndarray,
    task: Task,
) -> Dataset:
    """The rows of a table with its group column, its findings and nothing else."""
    table = raw_table.table
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=columns,
        table=table[list(features)],
        matrix=None,
        target=target,
        task=task,
        row_groups=row_groups(table, columns),
        findings=raw_table.findings,
        left_out=left_out(table, columns),
    )


def left_out(rows: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """The first rows of the columns that are neither features nor target."""
    names = [column.name for column in columns if column.role in ("group", "ignore")]
    return rows[names].head(HEAD_ROWS).copy()


def no_feature(
    columns: Sequence[Column], name: str, texts: Sequence[str] = ()
) -> UnusableTargetError:
    """The error for a table without features, with the reasons; offers topics of texts."""
    unused = [f"“{c.name}”: {c.note}" for c in columns if c.role == "ignore" and c.note]
    reason = f" ({'; '.join(unused[:3])})" if unused else ""
    cure = "give a column with different values the role feature"
    fault = f"no column is left to learn from{reason}"
    cure = f"{cure}, {_TOPICS}" if texts else cure
    return UnusableTargetError(fault, where=name, cure=cure, texts=texts)


def row_groups(rows: pd.DataFrame, columns: Sequence[Column]) -> np.ndarray | None:
    """The group number of every row; None without a group column, UnusableError for several."""
    grouping = [column.name for column in columns if column.role == "group"]
    if not grouping:
        return None
    if len(grouping) > 1:
        fault = f"{len(grouping)} columns have the role group"
        raise UnusableError(fault, where=f"columns {', '.join(grouping)}", cure="give it to one")
    codes, _ = pd.factorize(rows[grouping[0]], use_na_sentinel=True)
    # Each row without a value is a group of its own.
    alone = np.flatnonzero(codes < 0)
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(len(alone))
    return codes


def test_part(part: Dataset, raw_table: RawTable, train: Dataset) -> Dataset:
    """A second file's rows, read as the first file's were."""
    table = raw_table.table
    has_target = table[train.target_name].notna().to_numpy()
    rows = table[has_target].reset_index(drop=True)
    values, _, classes = settle_target_like(train, rows[train.target_name], part.name)
    new = [label for label in classes if label not in train.classes]
    findings = []
    if new:
        label_list = ", ".join(f"“{label}”" for label in new[:5])
        sentence = f"The test file has classes that the first file has not: {label_list}."
        findings.append(Finding(sentence, serious=True))
    lost_rows = int(len(table) - has_target.sum())
    if lost_rows:
        prefix = "In the test file, "
        findings.append(without_target(train.target_name, lost_rows, len(table), prefix))
    group_columns = [c for c in train.columns if c.role == "group" and c.name in rows]
    return replace(
        part,
        table=rows[train.feature_names],
        target=values,
        row_groups=row_groups(rows, group_columns),
        set_aside=lost_rows,
        findings=tuple(findings),
    )


def settle_target_like(
    train: Dataset, values: pd.Series, name: str
) -> tuple[np.ndarray, str, tuple]:
    """A second file's target as the first one's type; its classes may be fewer."""
    where = f"{name}, column {train.target_name}"
    if values.empty:
        cure = "choose another test file"
        raise UnusableError("no row has a value of the target", where=where, cure=cure)
    numeric = train.target.dtype.kind in "iuf"
    if numeric and not pd.api.types.is_numeric_dtype(values.dtype):
        fault = f"the target is text (“{values.iloc[0]}”), in the first file it is numbers"
        raise UnusableError(fault, where=where, cure="choose a test file of the same kind")
    array = values.to_numpy() if numeric else np.asarray(values.astype(str), dtype=str)
    if train.task.has_numbers:
        return array.astype(float), train.task, ()
    if numeric:
        refuse_fractions(array, where)
        array = array.astype(np.int64)
    return array, train.task, tuple(np.unique(array).tolist())
