"""Chooses how a table becomes a Dataset: independent rows, tokens, molecules, or texts.

Of a column of texts documents are made; a group keeps some together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd

from core.datasets.columns import (
    Distributions,
    check_names,
    count_values,
    describe_column,
    sentence_columns,
    text_length,
    unknown_column,
)
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column, Kind, Role
from core.datasets.finding import Finding
from core.datasets.raw_table import READINGS, DataOptions, RawTable
from core.datasets.split_units import proposals, with_times, with_units
from core.datasets.task import Task
from core.datasets.texts.documents import language_of_texts, refuse_lonely_words
from core.datasets.texts.stop_words import AUTO, LANGUAGES, NONE
from core.datasets.texts.vocabulary import WordRules
from core.datasets.understanding.feature_table import (
    dataset_of_rows,
    from_table,
    row_groups,
    test_part,
)
from core.datasets.understanding.structured_tables import (
    StructuredLayout,
    detect_layout,
    from_molecules,
    from_tokens,
    molecules_test_part,
    tokens_test_part,
)
from core.datasets.understanding.target import USUAL_NAMES
from core.errors import UnusableError

_NO_TARGET = ("identifier", "constant", "date", "text")  # kinds of columns that nobody predicts


def from_texts(raw_table: RawTable, choices: DataOptions) -> Dataset:
    """The documents of a column, "" for the one with the longest texts; UnusableError for none."""
    table = raw_table.table
    text_column = _text_column(table, choices.target, choices.roles, raw_table.name)
    names = [str(column) for column in table.columns]
    count = raw_table.counts.get(text_column) or count_values(table[text_column])
    columns = tuple(
        Column(text_column, "feature", "text", count.missing, count.distinct)
        if column == text_column
        else _unused_column(table[column], i == 0, choices)
        for i, column in enumerate(names)
    )
    target = np.zeros(len(table))
    dataset = dataset_of_rows(raw_table, columns, [text_column], target, Task.TOPICS)
    return replace(dataset, findings=(*dataset.findings, *_findings(columns, text_column)))


def with_words(dataset: Dataset, rules: WordRules) -> Dataset:
    """The dataset of topics with rules on words and a detected language, or UnusableError."""
    if dataset.task.has_target:
        return dataset
    language, findings = NONE, list[Finding]()
    if dataset.table is not None:
        is_guessed = rules.language == AUTO
        texts = dataset.table.iloc[:, 0]
        language = language_of_texts(texts) if is_guessed else rules.language
        findings = _language_findings(language, is_guessed)
    words = replace(rules, language=language)
    text_dataset = replace(dataset, words=words, findings=(*dataset.findings, *findings))
    refuse_lonely_words(text_dataset.documents, dataset.name)
    return text_dataset


def _language_findings(language: str, is_guessed: bool) -> list[Finding]:
    if not is_guessed or language == "en":
        return []
    sentence = (
        "The language of the texts is not one whose stop words are known; words in more than"
        " half of the texts are left out."
    )
    if name := LANGUAGES.get(language):
        sentence = f"The texts look {name}: the stop words of {name} are left out."
    return [Finding(sentence)]


def only_texts(raw_table: RawTable) -> bool:
    """Whether there are texts, and no other column that could be a target."""
    if not raw_table.sentence_columns:
        return False
    table = raw_table.table
    names = [str(column) for column in table.columns]
    if any(name.strip().lower() in USUAL_NAMES for name in names):
        return False
    kinds = [describe_column(table[name], first=i == 0).kind for i, name in enumerate(names)]
    return all(kind in _NO_TARGET for kind in kinds)


def _title_columns(table: pd.DataFrame) -> list[str]:
    lengths = {str(name): text_length(table[name]) for name in table.columns}
    kinds = {n: describe_column(table[n], first=False).kind for n, long in lengths.items() if long}
    different = [name for name, kind in kinds.items() if kind in ("text", "identifier")]
    return sorted(different, key=lambda name: -lengths[name])


def _text_column(table: pd.DataFrame, texts: str, roles: Mapping[str, str], where: str) -> str:
    names = [str(column) for column in table.columns]
    if texts:
        if texts not in names:
            raise unknown_column(texts, names, where)
        refuse_numbers(table[texts], f"{where}, column {texts}")
        return texts
    # Running texts, else titles; a column of gaps is taken so that the fault is said of it.
    free = [name for name in names if roles.get(name, "feature") == "feature"]
    empty = [name for name in free if table[name].isna().all()]  # refused for having no words
    alone = free if len(names) == 1 and text_length(table[names[0]]) else []
    for columns in (sentence_columns(table[free]), _title_columns(table[free]), empty, alone):
        if columns:
            return columns[0]
    fault, cure = "no column holds texts", "choose a file with a column of texts"
    raise UnusableError(fault, where=where, cure=cure)


def refuse_numbers(values: pd.Series, where: str) -> None:
    """Raise UnusableError for a column of numbers, of which there are no topics."""
    if pd.api.types.is_numeric_dtype(values.dtype) and values.notna().any():
        fault = f"the column holds numbers ({values.dropna().iloc[0]:g}), and topics are of texts"
        raise UnusableError(fault, where=where, cure="choose a column of texts")


def _unused_column(values: pd.Series, first: bool, choices: DataOptions) -> Column:
    name = str(values.name)
    column = describe_column(values, first=first, kind=choices.kinds.get(name, ""))
    role: Role = "group" if choices.roles.get(name) == "group" else "ignore"
    return replace(column, role=role, note="")


def _findings(columns: Sequence[Column], text_column: str) -> list[Finding]:
    ignored = [f"“{column.name}”" for column in columns if column.role == "ignore"]
    if not ignored:
        return []
    name_list = ", ".join(ignored[:5]) + (" and others" if len(ignored) > 5 else "")
    are = "is" if len(ignored) == 1 else "are"
    return [Finding(f"Topics are found in “{text_column}” alone; {name_list} {are} left out.")]


def assemble(raw_table: RawTable, shape: StructuredLayout | None, choices: DataOptions) -> Dataset:
    """The dataset of a table; `shape` is None for independent rows."""
    names = [str(column) for column in raw_table.table.columns]
    check_names(choices.roles, names, "role", get_args(Role))
    check_names(choices.kinds, names, "kind", get_args(Kind))
    if shape is not None:
        check_names(choices.readings, names, "reading", READINGS)
        if not set(choices.readings.values()) <= {"text", "values", "number"}:
            problem = "tokens and molecules are read as they are written"
            cure = "leave the readings of columns out"
            raise UnusableError(problem, where=raw_table.name, cure=cure)
        if not {shape.sequence, shape.target} <= {*names, ""}:  # seen in the file's first lines
            fault = "its lines end in two ways, so that the header cannot be told from the rows"
            cure = "save the file with one kind of line end"
            raise UnusableError(fault, where=raw_table.name, cure=cure)
        make = from_tokens if shape.task.has_sequences else from_molecules
        dataset = make(raw_table, shape, choices)
    elif _are_texts(raw_table, choices):
        dataset = from_texts(raw_table, choices)
    else:
        dataset = from_table(raw_table, choices)
    dataset = with_units(dataset, choices.together, raw_table.codes)
    if choices.latest:
        dataset = with_times(dataset, raw_table.table, choices.latest)
    findings = (*dataset.findings, *proposals(dataset, raw_table.table))
    # Of the table as read, since the dataset has neither unused columns nor rows without a target.
    bars = Distributions(raw_table.table, dataset.columns)
    return replace(dataset, findings=findings, distributions=bars)


def _are_texts(raw_table: RawTable, choices: DataOptions) -> bool:
    table = raw_table.table
    has_choice = choices.task or choices.target or "target" in choices.roles.values()
    # One column of texts can be nothing else than documents.
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
