"""Columns by which rows are kept together, or tested by time: suggestions, and the times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.datasets.columns import unknown_column
from core.datasets.dataset import Column, Dataset
from core.datasets.dates import date_format, seconds_since_1970
from core.datasets.finding import Finding, SuggestedChange, column_change, option_with_value
from core.datasets.splits.equal_items import item_codes
from core.errors import UnusableError

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


def _suggest_group(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    free = [c for c in dataset.columns if c.role in ("feature", "ignore") and c.name in table]
    features = [column.name for column in dataset.columns if column.role == "feature"]
    names, others = (_WORK if dataset.task.has_sequences else _WHO), list[Column]()
    named = [column for column in free if _is_called(column.name, names)]
    if dataset.task.has_sequences:
        named = [c for c in named if _of_whole_sequences(dataset, table[c.name])]
    else:
        named += [c for c in free if _is_signed(c.name) and c not in named]
        others = [column for column in free if column not in named]
    for is_code, column in [*((False, c) for c in named), *((True, c) for c in others)]:
        if is_code and not _holds_codes(column, table[column.name]):
            continue
        is_learned_from = column.name in features
        if (not dataset.task.has_target and is_learned_from) or features == [column.name]:
            continue
        if _measures(column, values := table[column.name].dropna()):
            continue
        different = int(values.nunique())
        if MIN_GROUPS <= different < len(values) and (not is_code or 2 * different <= len(values)):
            return [_group_finding(dataset, column.name, (different, len(values)), is_code)]
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


def _holds_codes(column: Column, values: pd.Series) -> bool:
    if column.kind not in ("category", "text") or column.distinct < _MIN_CODES:
        return False
    sample = values.iloc[:: max(1, len(values) // _SAMPLE)].dropna().tolist()
    codes = sum(_CODE.fullmatch(str(value)) is not None for value in sample)
    return codes >= max(1, 0.9 * len(sample))


def _measures(column: Column, values: pd.Series) -> bool:
    is_number = pd.api.types.is_numeric_dtype(values.dtype)
    return column.kind == "date" or (is_number and bool((values % 1 != 0).any()))


def _group_finding(dataset: Dataset, name: str, counts: tuple[int, int], is_code: bool) -> Finding:
    words = [word for word in name_words(name) if word not in _SIGN and not is_code]
    who = shortened_name(" ".join(words)) if words else f"“{shortened_name(name)}”"
    items, (different, count) = dataset.task.items, counts
    if dataset.task.has_sequences:
        count = int(item_codes(dataset).max()) + 1
    offer = column_change(f"Keep the {items} of one {who} together", "--role", name, "group")
    sentence = (
        f"“{name}” has {different:,} different values in {count:,} {items}. "
        f"Where {items} of one {who} are on both sides of a split, scores may look too good."
    )
    return Finding(sentence, name, proposal=offer)


def _suggest_date_split(dataset: Dataset) -> list[Finding]:
    for column in dataset.columns:
        name, is_clock = column.name, column.date_format.startswith("%H")  # an hour without a day
        is_free = column.kind == "date" and column.role != "group" and not is_clock
        if not is_free or column.distinct < _MIN_DATES or set(name_words(name)) & _NOT_LATER:
            continue
        option = option_with_value("--test-latest", name)
        offer = SuggestedChange("Test on the latest rows", option, fields={"latest": name})
        end = "If the model is to predict rows that come later, test it on the latest ones."
        return [Finding(f"“{name}” holds dates. {end}", name, proposal=offer)]
    return []


def with_times(dataset: Dataset, table: pd.DataFrame, column: str) -> Dataset:
    """The dataset with the points in time of a column of the file's table; or UnusableError."""
    names = [str(name) for name in table.columns]
    if column not in names:
        raise unknown_column(column, names, "test on the latest rows")
    where = f"{dataset.name}, column {column}"
    if column == dataset.target_name:
        cure = "choose a column of dates"
        raise UnusableError("the column is what is predicted", where=where, cure=cure)
    if len(table) > dataset.rows:
        table = table[dataset.has_target(table[dataset.target_name])]
    times = _time_points(table[column], where)
    known_times = times[np.isfinite(times)]
    if len(known_times) < 2 or known_times.min() == known_times.max():
        cure = "choose another column"
        raise UnusableError("there are no two different times", where=where, cure=cure)
    items = dataset.task.items
    sentence = (
        f"The latest {items} by “{column}” test the result, earlier ones train; validation rows are"
        f" drawn at random among those. What belongs together with {items} of the test is left out"
        " of training."
    )
    if missing := len(times) - len(known_times):
        sentence += f" Rows without a time ({missing:,}) train."
    offer = SuggestedChange(f"Test on {items} drawn at random", "", fields={"latest": ""})
    findings = (*dataset.findings, Finding(sentence, column, proposal=offer))
    return replace(dataset, times=times, findings=findings)


def _time_points(values: pd.Series, where: str) -> np.ndarray:
    """Numbers unchanged, dates as seconds since 1970; NaN where missing."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float, na_value=np.nan)
    form = date_format(values)
    if not form:
        cure = "choose a column of dates, or write them like 2024-12-31"
        raise UnusableError("the column holds neither dates nor numbers", where=where, cure=cure)
    timestamps = pd.to_datetime(values.str.strip(), format=form, errors="coerce", utc=True)
    return seconds_since_1970(timestamps)
