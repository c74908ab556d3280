"""Chooses how a table becomes a Dataset: independent rows, tokens, molecules, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd

from core.datasets.columns import check_names, text_length, unknown_column
from core.datasets.dataset import Dataset, Kind, Role
from core.datasets.distributions import Distributions
from core.datasets.raw_table import READINGS, DataOptions, RawTable
from core.datasets.splits.proposals import proposals, with_times
from core.datasets.splits.units import with_units
from core.datasets.task import Task
from core.datasets.understanding.feature_table import from_table, row_groups, test_part
from core.datasets.understanding.recognition import StructuredLayout, detect_layout
from core.datasets.understanding.structured_tables import (
    from_molecules,
    from_tokens,
    molecules_test_part,
    tokens_test_part,
)
from core.datasets.understanding.text_table import from_texts, only_texts, refuse_numbers
from core.errors import UnusableError


def assemble(raw_table: RawTable, shape: StructuredLayout | None, choices: DataOptions) -> Dataset:
    """The dataset of a table; `shape` is None for independent rows."""
    names = [str(column) for column in raw_table.table.columns]
    check_names(choices.roles, names, "role", get_args(Role))
    check_names(choices.kinds, names, "kind", get_args(Kind))
    if shape is not None:
        _check_readings(raw_table, names, choices.readings)
        make = from_tokens if shape.task.has_sequences else from_molecules
        dataset = make(raw_table, shape, choices)
    elif _are_texts(raw_table, choices):
        dataset = from_texts(raw_table, choices)
    else:
        dataset = from_table(raw_table, choices)
    dataset = with_units(dataset, choices.together)
    if choices.latest:
        dataset = with_times(dataset, raw_table.table, choices.latest)
    findings = (*dataset.findings, *proposals(dataset, raw_table.table))
    bars = Distributions(raw_table.table, dataset.columns)
    return replace(dataset, findings=findings, distributions=bars)


def _check_readings(raw_table: RawTable, names: list[str], readings: Mapping[str, str]) -> None:
    check_names(readings, names, "reading", READINGS)
    if not set(readings.values()) <= {"text", "values", "number"}:
        problem = "tokens and molecules are read as they are written"
        cure = "leave the readings of columns out"
        raise UnusableError(problem, where=raw_table.name, cure=cure)


def _are_texts(raw_table: RawTable, choices: DataOptions) -> bool:
    table = raw_table.table
    has_choice = choices.task or choices.target or "target" in choices.roles.values()
    alone = table.shape[1] == 1 and not choices.task and text_length(table.iloc[:, 0]) > 0
    finds_topics = not Task(choices.task).has_target
    return finds_topics or alone or (not has_choice and only_texts(raw_table))


def assemble_test(train: Dataset, raw_table: RawTable) -> Dataset:
    """A second file's rows, read as the first file's were."""
    table, names = raw_table.table, [str(column) for column in raw_table.table.columns]
    for column in (*train.feature_names, train.target_name):
        if column and column not in names:
            raise unknown_column(column, names, raw_table.name)
    for column in train.feature_names:
        _check_kind(train, table[column], raw_table.name)
    part = Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=train.columns,
        table=table[train.feature_names],
        matrix=None,
        target=np.zeros(len(table)),
        task=train.task,
        classes=train.classes,
        row_groups=row_groups(table, [c for c in train.columns if c.name in names]),
    )
    if train.task.is_table:
        return test_part(part, raw_table, train)
    if not train.task.has_target:
        return part
    shape = StructuredLayout(train.task, train.sequence_name, train.target_name, True)
    if train.task.has_sequences:
        return tokens_test_part(part, raw_table, shape)
    return molecules_test_part(part, raw_table, shape, train.other_letters)


def _check_kind(train: Dataset, values: pd.Series, name: str) -> None:
    where = f"{name}, column {values.name}"
    if not train.task.has_target:
        refuse_numbers(values, where)
        return
    assert train.table is not None
    was_number = pd.api.types.is_numeric_dtype(train.table[values.name].dtype)
    if was_number and not pd.api.types.is_numeric_dtype(values.dtype):
        text = f"text (“{values.dropna().iloc[0]}”)"
        fault = f"the column has {text}, in the first file it has numbers"
        raise UnusableError(fault, where=where, cure="choose a test file of the same kind")


def roles_of_rows(cells: Mapping[str, Sequence[str]], choices: DataOptions) -> DataOptions:
    """The options for independent rows: where a table holds tokens, their sequences are groups."""
    roles, task = choices.roles, choices.task
    as_rows = {name: "group" if role == "sequence" else role for name, role in roles.items()}
    if task and not Task(task).is_structured and "group" not in as_rows.values():
        shape = detect_layout(cells, choices.target, "", roles)
        if shape is not None and shape.task.has_sequences:
            as_rows.setdefault(shape.sequence, "group")
    return replace(choices, roles=as_rows)
