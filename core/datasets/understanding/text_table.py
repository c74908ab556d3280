"""A table with a column of texts becomes a Dataset of documents; a group keeps some together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.datasets.columns import (
    count_values,
    describe_column,
    sentence_columns,
    text_length,
    unknown_column,
)
from core.datasets.dataset import Column, Dataset, Role
from core.datasets.finding import Finding
from core.datasets.raw_table import DataOptions, RawTable
from core.datasets.task import Task
from core.datasets.texts.documents import language_of_texts, refuse_lonely_words
from core.datasets.texts.stop_words import AUTO, LANGUAGES, NONE
from core.datasets.texts.vocabulary import WordRules
from core.datasets.understanding.feature_table import dataset_of_rows
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
