"""A table with a column of texts becomes a Dataset of documents; a group keeps some together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from core.datasets.columns import (
    check_names,
    count_distinct,
    describe_column,
    sentence_columns,
    text_length,
    unknown_column,
)
from core.datasets.dataset import Column, Dataset, Kind, Role
from core.datasets.finding import Finding
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.task import Task
from core.datasets.texts.documents import language_of_texts, refuse_lonely_words
from core.datasets.texts.stop_words import AUTO, LANGUAGES, NONE
from core.datasets.texts.vocabulary import WordRules
from core.datasets.understanding.feature_table import left_out, row_groups
from core.datasets.understanding.target import USUAL_NAMES
from core.errors import UnusableError

_NO_TARGET = ("identifier", "constant", "date", "text")  # kinds of columns that nobody predicts


def from_texts(raw_table: RawTable, choices: DataOptions) -> Dataset:
    """The documents of a column, "" for the one with the longest texts; UnusableError for none."""
    table, roles, kinds = raw_table.table, choices.roles, choices.kinds
    names = [str(column) for column in table.columns]
    check_names(roles, names, "role", get_args(Role))
    check_names(kinds, names, "kind", get_args(Kind))
    text_column = _text_column(table, names, choices.target, roles, raw_table.name)
    columns = tuple(
        _documents_column(table[column])
        if column == text_column
        else _unused_column(table[column], i == 0, roles.get(column, ""), kinds.get(column, ""))
        for i, column in enumerate(names)
    )
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=columns,
        table=table[[text_column]],
        matrix=None,
        target=np.zeros(len(table)),
        task=Task.TOPICS,
        row_groups=row_groups(table, columns),
        findings=(*raw_table.findings, *_findings(columns, text_column)),
        left_out=left_out(table, columns) if len(names) > 1 else None,
    )


def with_words(dataset: Dataset, rules: WordRules) -> Dataset:
    """The dataset of topics with rules on words and a detected language, or UnusableError."""
    if dataset.task.has_target:
        return dataset
    if dataset.table is None:
        text_dataset = replace(dataset, words=replace(rules, language=NONE))
    else:
        language, is_guessed = rules.language, rules.language == AUTO
        if is_guessed:
            language = language_of_texts(dataset.table.iloc[:, 0])
        text_dataset = replace(
            dataset,
            words=replace(rules, language=language),
            findings=(*dataset.findings, *_language_findings(language, is_guessed)),
        )
    refuse_lonely_words(text_dataset.documents, dataset.name)
    return text_dataset


def _language_findings(language: str, is_guessed: bool) -> list[Finding]:
    if not is_guessed or language == "en":
        return []
    if language in LANGUAGES:
        name = LANGUAGES[language]
        return [Finding(f"The texts look {name}: the stop words of {name} are left out.")]
    return [
        Finding(
            "The language of the texts is not one whose stop words are known; words in more than"
            " half of the texts are left out."
        )
    ]


def texts_test_part(train: Dataset, raw_table: RawTable) -> Dataset:
    """A second file's documents; raises UnusableError without a column of texts."""
    table, name = raw_table.table, raw_table.name
    [column] = train.feature_names
    if column not in table.columns:
        raise unknown_column(column, [str(c) for c in table.columns], name)
    _refuse_numbers(table[column], name)
    return Dataset(
        name=raw_table.name,
        source=raw_table.source,
        columns=train.columns,
        table=table[[column]],
        matrix=None,
        target=np.zeros(len(table)),
        task=Task.TOPICS,
        row_groups=row_groups(table, [c for c in train.columns if c.name in table.columns]),
    )


def only_texts(table: pd.DataFrame) -> bool:
    """Whether there are texts, and no other column that could be a target."""
    if not sentence_columns(table):
        return False
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


def _text_column(
    table: pd.DataFrame, names: list[str], texts: str, roles: Mapping[str, str], where: str
) -> str:
    if texts:
        if texts not in names:
            raise unknown_column(texts, names, where)
        _refuse_numbers(table[texts], where)
        return texts
    free = [name for name in names if roles.get(name, "feature") == "feature"]
    empty = [name for name in free if table[name].isna().all()]  # refused for having no words
    alone = free if len(names) == 1 and text_length(table[names[0]]) else []
    for columns in (sentence_columns(table[free]), _title_columns(table[free]), empty, alone):
        if columns:
            return columns[0]
    cure = "choose a file with a column of texts"
    raise UnusableError("no column holds texts", where=where, cure=cure)


def _refuse_numbers(values: pd.Series, where: str) -> None:
    if pd.api.types.is_numeric_dtype(values.dtype) and values.notna().any():
        fault = f"the column holds numbers ({values.dropna().iloc[0]:g}), and topics are of texts"
        cure = "choose a column of texts"
        raise UnusableError(fault, where=f"{where}, column {values.name}", cure=cure)


def _documents_column(values: pd.Series) -> Column:
    missing, distinct = int(values.isna().sum()), count_distinct(values)
    return Column(str(values.name), "feature", "text", missing, distinct)


def _unused_column(values: pd.Series, first: bool, role: str, kind: str) -> Column:
    described = describe_column(values, first=first, kind=kind)
    column_role: Any = "group" if role == "group" else "ignore"
    return Column(
        described.name,
        column_role,
        described.kind,
        described.missing,
        described.distinct,
        described.categories,
        date_format=described.date_format,
    )


def _findings(columns: Sequence[Column], text_column: str) -> list[Finding]:
    ignored = [f"“{column.name}”" for column in columns if column.role == "ignore"]
    if not ignored:
        return []
    name_list = ", ".join(ignored[:5]) + (" and others" if len(ignored) > 5 else "")
    are = "is" if len(ignored) == 1 else "are"
    return [Finding(f"Topics are found in “{text_column}” alone; {name_list} {are} left out.")]
