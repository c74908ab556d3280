"""Findings on features: unused columns, missing values, columns that leak the target."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.datasets.columns import ALL_DIFFER, HARDLY_TWICE
from core.datasets.dataset import Column, Dataset
from core.datasets.finding import Finding, SuggestedChange
from core.datasets.option_syntax import column_option, option_with_value
from core.datasets.task import Task
from core.datasets.texts.ngrams import counts_parts
from core.datasets.understanding.leakage_prefilter import leakage_candidates
from core.datasets.understanding.merged_findings import merge_findings
from core.datasets.understanding.prepared_target import correlation

GIVES_AWAY = "it leaks the target"
_SAMPLE_ROWS = 5000  # checked before all rows are
_MIN_ROWS = 20  # with fewer, a perfect column is likely chance


def table_findings(dataset: Dataset) -> list[Finding]:
    """Findings on a table's columns, the serious ones first."""
    table = dataset.table
    assert table is not None
    candidates = set(leakage_candidates(dataset))
    perfect_features = [
        _perfect_feature(column)
        for column in dataset.columns
        if column.name in candidates and _gives_away(dataset, table, column)
    ]
    findings = merge_findings(
        perfect_features,
        "{columns} tell the target without error, each alone; leave them out unless they are"
        " really known before the target is.",
        "Leave them out",
        "",
    )
    findings += _omission_findings(dataset)
    texts = [_texts_finding(column.name, table[column.name]) for column in _text_columns(dataset)]
    findings += merge_findings(texts, "{columns} hold texts: their words become columns.", "", "")
    findings += _gap_findings(dataset)
    return sorted(findings, key=lambda finding: not finding.serious)


def _perfect_feature(column: Column) -> Finding:
    return Finding(
        f"“{column.name}” alone tells the target without error; leave it out unless it is really"
        " known before the target is.",
        column.name,
        serious=True,
        proposal=leave_out_suggestion(column.name),
    )


def leave_out_suggestion(name: str) -> SuggestedChange:
    """The suggestion to ignore a column."""
    return SuggestedChange("Leave it out", _role_option(name, "ignore"), {name: "ignore"})


def _role_option(name: str, role: str) -> str:
    return column_option("--role", name, role)


def _omission_findings(dataset: Dataset) -> list[Finding]:
    by_note: dict[str, list[Finding]] = {}
    for column in dataset.columns:
        if column.role == "ignore" and column.note:
            finding = Finding(
                f"“{column.name}” is left out: {column.note}.{_only_if(column.note, 'it is')}",
                column.name,
                column.note == GIVES_AWAY,
                _use_of(dataset, column),
            )
            by_note.setdefault(column.note, []).append(finding)
    findings = []
    for note, omissions in by_note.items():
        sentence = f"{{columns}} are left out: of each, {note}.{_only_if(note, 'they are')}"
        offers = [omission.proposal for omission in omissions if omission.proposal]
        words = "Read as texts" if offers and offers[0].kinds else "Use them after all"
        option = "--leaks" if note == GIVES_AWAY else ""
        sentence = sentence.replace("of each, it", "each")
        findings += merge_findings(omissions, sentence, words, option)
    return findings


def _only_if(note: str, subject: str) -> str:
    if note != GIVES_AWAY:
        return ""
    pronoun = "it" if subject == "it is" else "them"
    return f" Use {pronoun} only if {subject} really known before the target is."


def _use_of(dataset: Dataset, column: Column) -> SuggestedChange | None:
    name = column.name
    if column.note in (ALL_DIFFER, HARDLY_TWICE) and _has_words(dataset, name):
        option = column_option("--kind", name, "text")
        return SuggestedChange("Read as text", option, kinds={name: "text"})
    if column.note == GIVES_AWAY or (column.kind == "identifier" and column.note != ALL_DIFFER):
        return SuggestedChange("Use it after all", _role_option(name, "feature"), {name: "feature"})
    return None


def _has_words(dataset: Dataset, name: str) -> bool:
    assert dataset.left_out is not None
    counts = [len(str(value).split()) for value in dataset.left_out[name].dropna()]
    return bool(counts) and sum(counts) >= 2 * len(counts)


def _text_columns(dataset: Dataset) -> list[Column]:
    return [c for c in dataset.columns if (c.role, c.kind) == ("feature", "text")]


def _texts_finding(name: str, values: pd.Series) -> Finding:
    become = "words and parts of words" if counts_parts(values) else "words"
    offer = SuggestedChange(
        "Find topics instead",
        f"{option_with_value('--target', name)} --task topics",
        fields={"target": name, "task": Task.TOPICS},
    )
    return Finding(f"“{name}” holds texts: {become} become columns.", name, proposal=offer)


def _gap_findings(dataset: Dataset) -> list[Finding]:
    total = dataset.rows + dataset.set_aside
    gaps = [
        Finding(
            f"“{column.name}” is missing in {column.missing:,} of {total:,} rows.",
            column.name,
            proposal=leave_out_suggestion(column.name),
        )
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]
    sentence = f"{{columns}} are each missing in more than half of the {total:,} rows."
    return merge_findings(gaps, sentence, "Leave them out", "")


def _gives_away(dataset: Dataset, table: pd.DataFrame, column: Column) -> bool:
    if column.role != "feature" or dataset.rows < _MIN_ROWS:
        return False
    values = table[column.name]
    if dataset.rows > _SAMPLE_ROWS:
        sample = np.linspace(0, dataset.rows - 1, _SAMPLE_ROWS).astype(int)
        if not _determines(values.iloc[sample], dataset.target[sample], dataset.task):
            return False
    return _determines(values, dataset.target, dataset.task)


def _determines(values: pd.Series, target: np.ndarray, task: Task) -> bool:
    is_present = values.notna().to_numpy()
    if is_present.sum() < max(_MIN_ROWS, 0.9 * len(values)):
        return False
    values, target = values[is_present], target[is_present]
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=float)
        if task.has_numbers:
            return correlation(numbers, target) > 1 - 1e-6
        return _in_stretches(numbers, target)
    codes, uniques = pd.factorize(values)
    if len(uniques) > len(values) / 5:
        return False
    return _one_target_each(codes, len(uniques), target)


def _in_stretches(numbers: np.ndarray, target: np.ndarray) -> bool:
    labels, codes = np.unique(target, return_inverse=True)
    if len(labels) < 2:
        return False
    order = np.lexsort((codes, numbers))
    numbers, codes = numbers[order], codes[order]
    changes = np.flatnonzero(np.diff(codes))
    between_equals = np.any(numbers[changes] == numbers[changes + 1])
    return len(changes) == len(labels) - 1 and not between_equals


def _one_target_each(codes: np.ndarray, count: int, target: np.ndarray) -> bool:
    _, targets = np.unique(target, return_inverse=True)
    if targets.max() == 0:
        return False
    low = np.full(count, targets.max() + 1)
    high = np.full(count, -1)
    np.minimum.at(low, codes, targets)
    np.maximum.at(high, codes, targets)
    return bool(np.all(low == high))
