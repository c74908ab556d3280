"""Chooses how a table becomes a Dataset: independent rows, tokens, molecules, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from core.datasets.columns import check_names, text_length
from core.datasets.dataset import Dataset
from core.datasets.distributions import distributions
from core.datasets.raw_table import READINGS, DataOptions, RawTable
from core.datasets.splits.latest import with_times
from core.datasets.splits.proposals import proposals
from core.datasets.splits.units import with_units
from core.datasets.task import Task
from core.datasets.understanding.feature_table import from_table, test_part
from core.datasets.understanding.molecule_table import from_molecules, molecules_test_part
from core.datasets.understanding.recognition import StructuredLayout, detect_layout
from core.datasets.understanding.text_table import from_texts, only_texts, texts_test_part
from core.datasets.understanding.token_table import from_tokens, tokens_test_part
from core.errors import UnusableError


def assemble(raw_table: RawTable, shape: StructuredLayout | None, choices: DataOptions) -> Dataset:
    """The dataset of a table; `shape` is None for independent rows."""
    if shape is not None:
        _check_readings(raw_table, choices.readings)
        make = from_tokens if shape.task.has_sequences else from_molecules
        dataset = make(raw_table, shape, choices)
    elif _are_texts(raw_table.table, choices):
        dataset = from_texts(raw_table, choices)
    else:
        dataset = from_table(raw_table, choices)
    dataset = with_units(dataset, choices.together)
    if choices.latest:
        dataset = with_times(dataset, raw_table.table, choices.latest)
    return replace(
        dataset,
        findings=(*dataset.findings, *proposals(dataset, raw_table.table)),
        distributions=distributions(raw_table.table, dataset.columns),
    )


def _check_readings(raw_table: RawTable, readings: Mapping[str, str]) -> None:
    check_names(readings, [*map(str, raw_table.table.columns)], "reading", READINGS)
    if not set(readings.values()) <= {"text", "values", "number"}:
        problem = "tokens and molecules are read as they are written"
        cure = "leave the readings of columns out"
        raise UnusableError(problem, where=raw_table.name, cure=cure)


def _are_texts(table: pd.DataFrame, choices: DataOptions) -> bool:
    has_choice = choices.task or choices.target or "target" in choices.roles.values()
    alone = table.shape[1] == 1 and not choices.task and text_length(table.iloc[:, 0]) > 0
    finds_topics = not Task(choices.task).has_target
    return finds_topics or alone or (not has_choice and only_texts(table))


def assemble_test(train: Dataset, raw_table: RawTable) -> Dataset:
    """A second file's rows, read as the first file's were."""
    readers = {Task.SEQUENCE: tokens_test_part, Task.STRUCTURE: molecules_test_part}
    readers[Task.TOPICS] = texts_test_part
    return readers.get(train.task, test_part)(train, raw_table)


def roles_of_rows(cells: Mapping[str, Sequence[str]], choices: DataOptions) -> DataOptions:
    """The options for independent rows: where a table holds tokens, their sequences are groups."""
    roles, task = choices.roles, choices.task
    as_rows = {name: "group" if role == "sequence" else role for name, role in roles.items()}
    if task and not Task(task).is_structured and "group" not in as_rows.values():
        shape = detect_layout(cells, choices.target, "", roles)
        if shape is not None and shape.task.has_sequences:
            as_rows.setdefault(shape.sequence, "group")
    return replace(choices, roles=as_rows)
