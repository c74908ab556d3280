"""Suggests columns to group rows by, or to split them by time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property

import pandas as pd

from core.datasets.dataset import Column, Dataset
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.option_syntax import column_option, option_with_value
from core.datasets.splits.equal_items import sequence_codes

MIN_GROUPS = 8  # enough for a test set and five folds of whole groups
_MIN_CODES, _MIN_DATES = 20, 10
_SAMPLE = 2000
_LONGEST = 24  # letters of a name on a button


def _word_set(words: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", words))


_WHO = _word_set(
    "patient subject customer client user household session person participant member donor "
    "respondent student pupil employee player driver owner visitor account animal case "
    "individual family proband volunteer device machine vehicle author"
)
_WORK = _word_set(
    "document doc file article author speaker page chapter book dialogue dialog conversation "
    "thread source abstract paper letter story"
)
_FAMILY = _word_set("family families fam rfam clan superfamily")
_SIGN = _word_set("id uid uuid guid no nr num number code key name identifier acc")
_NOT_LATER = _word_set("birth birthday birthdate dob born death expiry expires expiration")
_CODE = re.compile(r"[A-Za-z]{0,6}[-_ #.]?\d{2,}[A-Za-z]?|[0-9a-f]{8}[-0-9a-f]*")


def name_words(name: str) -> list[str]:
    """The words of a column's name, in lower case: "PatientID" and "patient_id" have two."""
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.findall(r"[a-z]+", spaced_name.lower())


def shortened_name(name: str) -> str:
    """The name, shortened to fit a button."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 2].rstrip()} …"


def family_column(columns: Sequence[str]) -> str:
    """The column named as the family of molecules; "" if none."""
    for name in columns:
        words = name_words(name)
        if words and set(words) & _FAMILY and set(words) <= _FAMILY | _SIGN | {"rna"}:
            return name
    return ""


def proposals(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    """Suggestions to keep rows together, or to test on the latest rows."""
    findings = []
    grouped = any(column.role == "group" for column in dataset.columns)
    if not grouped and not dataset.task.has_pairs:
        findings += _suggest_group(dataset, table)
    if dataset.times is None and dataset.task.is_table:
        findings += _suggest_date_split(dataset)
    return findings


class _ColumnValues:
    def __init__(self, values: pd.Series) -> None:
        self.values = values.dropna()

    @cached_property
    def different(self) -> int:
        return int(self.values.nunique())


def _suggest_group(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    free = [c for c in dataset.columns if c.role in ("feature", "ignore") and c.name in table]
    values_of = cache(lambda name: _ColumnValues(pd.Series(table[name])))
    features = [c.name for c in dataset.columns if c.role == "feature"]
    names = _WORK if dataset.task.has_sequences else _WHO
    named_columns = [c for c in free if _is_called(c.name, names)]
    if dataset.task.has_sequences:
        id_columns, code_columns = [], []
        named_columns = [c for c in named_columns if _of_whole_sequences(dataset, table[c.name])]
    else:
        id_columns = [c for c in free if _is_signed(c.name) and c not in named_columns]
        unnamed = [c for c in free if c not in named_columns and c not in id_columns]
        code_columns = [c for c in unnamed if _is_code(c, values_of)]
    for column in (*named_columns, *id_columns, *code_columns):
        if not dataset.task.has_target and column.name in features:
            continue
        if features != [column.name] and _repeats(column, values_of(column.name)):
            return [_group_finding(dataset, column, values_of(column.name), column in code_columns)]
    return []


def _of_whole_sequences(dataset: Dataset, values: pd.Series) -> bool:
    pairs = pd.DataFrame({"sequence": dataset.row_groups, "value": values.to_numpy()})
    sequences = int(pairs["sequence"].nunique())
    return len(pairs.drop_duplicates()) == sequences > int(pairs["value"].nunique())


def _is_called(name: str, names: frozenset[str]) -> bool:
    words = set(name_words(name))
    return bool(words & names) and words <= names | _SIGN


def _is_signed(name: str) -> bool:
    words = name_words(name)
    return len(words) > 1 and words[-1] in ("id", "uid", "uuid", "guid")


def _is_code(column: Column, values_of: Callable[[str], _ColumnValues]) -> bool:
    if column.kind not in ("category", "text") or column.distinct < _MIN_CODES:
        return False
    values = values_of(column.name).values
    sample = values.iloc[:: max(1, len(values) // _SAMPLE)].astype(str)
    if sample.str.fullmatch(_CODE).mean() < 0.9:
        return False
    return 2 * values_of(column.name).different <= len(values)


def _repeats(column: Column, column_values: _ColumnValues) -> bool:
    if column.kind == "date":
        return False
    values = column_values.values
    if pd.api.types.is_numeric_dtype(values.dtype) and (values % 1 != 0).any():
        return False
    return MIN_GROUPS <= column_values.different < len(values)


def _group_finding(
    dataset: Dataset, column: Column, column_values: _ColumnValues, is_code: bool
) -> Finding:
    words = [word for word in name_words(column.name) if word not in _SIGN]
    who = shortened_name(" ".join(words))
    if is_code or not words:
        who = f"“{shortened_name(column.name)}”"
    items = dataset.task.items
    count = len(column_values.values)
    if dataset.task.has_sequences:
        count = int(sequence_codes(dataset).max()) + 1
    option = column_option("--role", column.name, "group")
    label = f"Keep the {items} of one {who} together"
    offer = SuggestedChange(label, option, {column.name: "group"})
    return Finding(
        f"“{column.name}” has {column_values.different:,} different values in {count:,} {items}. "
        f"Where {items} of one {who} are on both sides of a split, scores may look too good.",
        column.name,
        proposal=offer,
    )


def _suggest_date_split(dataset: Dataset) -> list[Finding]:
    for column in dataset.columns:
        if column.kind != "date" or column.role == "group" or column.distinct < _MIN_DATES:
            continue
        is_clock = column.date_format.startswith("%H")  # an hour without a day
        if is_clock or set(name_words(column.name)) & _NOT_LATER:
            continue
        option = option_with_value("--test-latest", column.name)
        offer = SuggestedChange("Test on the latest rows", option, fields={"latest": column.name})
        sentence = (
            f"“{column.name}” holds dates. If the model is to predict rows that come later, test it"
            " on the latest ones."
        )
        return [Finding(sentence, column.name, proposal=offer)]
    return []
