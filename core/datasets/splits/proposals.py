"""Suggests columns to group rows by, or to split them by time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pandas as pd

from core.datasets.dataset import Column, Dataset
from core.datasets.finding import Finding, SuggestedChange, column_change, option_with_value
from core.datasets.splits.equal_items import item_codes

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
    if not dataset.task.has_pairs and all(column.role != "group" for column in dataset.columns):
        findings += _suggest_group(dataset, table)
    if dataset.times is None and dataset.task.is_table:
        findings += _suggest_date_split(dataset)
    return findings


class _KnownValues:
    """The values that are not missing, and their number of different ones, of every column."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.values = cache(lambda name: pd.Series(table[name]).dropna())
        self.different = cache(lambda name: int(pd.Series(self.values(name)).nunique()))


def _suggest_group(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    free = [c for c in dataset.columns if c.role in ("feature", "ignore") and c.name in table]
    known = _KnownValues(table)
    features = [c.name for c in dataset.columns if c.role == "feature"]
    names = _WORK if dataset.task.has_sequences else _WHO
    candidates, codes = [c for c in free if _is_called(c.name, names)], list[Column]()
    if dataset.task.has_sequences:
        candidates = [c for c in candidates if _of_whole_sequences(dataset, table[c.name])]
    else:
        candidates += [c for c in free if _is_signed(c.name) and c not in candidates]
        codes = [c for c in free if c not in candidates and _is_code(c, known)]
    for column in (*candidates, *codes):
        is_learned_from = column.name in features
        if (not dataset.task.has_target and is_learned_from) or features == [column.name]:
            continue
        if _repeats(column, known):
            return [_group_finding(dataset, column, known, column in codes)]
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


def _is_code(column: Column, known: _KnownValues) -> bool:
    if column.kind not in ("category", "text") or column.distinct < _MIN_CODES:
        return False
    values = known.values(column.name)
    sample = values.iloc[:: max(1, len(values) // _SAMPLE)].astype(str)
    are_codes = sample.str.fullmatch(_CODE).mean() >= 0.9
    return bool(are_codes and 2 * known.different(column.name) <= len(values))


def _repeats(column: Column, known: _KnownValues) -> bool:
    values = known.values(column.name)
    is_number = pd.api.types.is_numeric_dtype(values.dtype)
    if column.kind == "date" or (is_number and (values % 1 != 0).any()):
        return False
    return MIN_GROUPS <= known.different(column.name) < len(values)


def _group_finding(dataset: Dataset, column: Column, known: _KnownValues, is_code: bool) -> Finding:
    words = [word for word in name_words(column.name) if word not in _SIGN and not is_code]
    who = shortened_name(" ".join(words)) if words else f"“{shortened_name(column.name)}”"
    items, different = dataset.task.items, known.different(column.name)
    count = len(known.values(column.name))
    if dataset.task.has_sequences:
        count = int(item_codes(dataset).max()) + 1
    label = f"Keep the {items} of one {who} together"
    offer = column_change(label, "--role", column.name, "group")
    return Finding(
        f"“{column.name}” has {different:,} different values in {count:,} {items}. "
        f"Where {items} of one {who} are on both sides of a split, scores may look too good.",
        column.name,
        proposal=offer,
    )


def _suggest_date_split(dataset: Dataset) -> list[Finding]:
    for column in dataset.columns:
        if column.kind != "date" or column.role == "group" or column.distinct < _MIN_DATES:
            continue
        name, is_clock = column.name, column.date_format.startswith("%H")  # an hour without a day
        if is_clock or set(name_words(name)) & _NOT_LATER:
            continue
        option = option_with_value("--test-latest", name)
        offer = SuggestedChange("Test on the latest rows", option, fields={"latest": name})
        end = "If the model is to predict rows that come later, test it on the latest ones."
        return [Finding(f"“{name}” holds dates. {end}", name, proposal=offer)]
    return []
