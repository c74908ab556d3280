"""Findings on features: unused columns, missing values, columns that leak the target."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.datasets.columns import ALL_DIFFER, HARDLY_TWICE
from core.datasets.dataset import Column, Dataset
from core.datasets.finding import Finding, SuggestedChange, column_change, option_with_value
from core.datasets.task import Task
from core.datasets.texts.ngrams import counts_parts

GIVES_AWAY = "it leaks the target"
MANY = 6  # findings of columns that are merged into one sentence
_NAMED = 3


def table_findings(dataset: Dataset, telling: Sequence[str]) -> list[Finding]:
    """Findings on a table's columns, the serious ones first; `telling`: those that tell all."""
    table = dataset.table
    assert table is not None
    findings = _merged_findings(
        [_perfect_feature(name) for name in dataset.feature_names if name in telling],
        "{columns} tell the target without error, each alone; leave them out unless they are"
        " really known before the target is.",
        "Leave them out",
        "",
    )
    findings += _omission_findings(dataset)
    texts = [_texts_finding(column.name, table[column.name]) for column in _text_columns(dataset)]
    findings += _merged_findings(texts, "{columns} hold texts: their words become columns.", "", "")
    findings += _gap_findings(dataset)
    return sorted(findings, key=lambda finding: not finding.serious)


def _perfect_feature(name: str) -> Finding:
    return Finding(
        f"“{name}” alone tells the target without error; leave it out unless it is really"
        " known before the target is.",
        name,
        serious=True,
        proposal=_leave_out_suggestion(name),
    )


def _leave_out_suggestion(name: str) -> SuggestedChange:
    """The suggestion to ignore a column."""
    return column_change("Leave it out", "--role", name, "ignore")


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
        findings += _merged_findings(omissions, sentence, words, option)
    return findings


def _only_if(note: str, subject: str) -> str:
    if note != GIVES_AWAY:
        return ""
    pronoun = "it" if subject == "it is" else "them"
    return f" Use {pronoun} only if {subject} really known before the target is."


def _use_of(dataset: Dataset, column: Column) -> SuggestedChange | None:
    name = column.name
    if column.note in (ALL_DIFFER, HARDLY_TWICE) and _has_words(dataset, name):
        return column_change("Read as text", "--kind", name, "text")
    if column.note == GIVES_AWAY or (column.kind == "identifier" and column.note != ALL_DIFFER):
        return column_change("Use it after all", "--role", name, "feature")
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
            proposal=_leave_out_suggestion(column.name),
        )
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]
    sentence = f"{{columns}} are each missing in more than half of the {total:,} rows."
    return _merged_findings(gaps, sentence, "Leave them out", "")


def _merged_findings(
    findings: Sequence[Finding], sentence: str, words: str, option: str
) -> list[Finding]:
    """The findings, or of many one with all changes; {columns} in `sentence` are names."""
    if len(findings) < MANY:
        return list(findings)
    named = ", ".join(f"“{finding.column}”" for finding in findings[:_NAMED])
    columns = f"{named} and {len(findings) - _NAMED:,} other columns"
    offers = [finding.proposal for finding in findings if finding.proposal is not None]
    offer = None
    if words and len(offers) == len(findings):
        roles = {name: role for suggestion in offers for name, role in suggestion.roles.items()}
        kinds = {name: kind for suggestion in offers for name, kind in suggestion.kinds.items()}
        offer = SuggestedChange(words, option, roles, kinds=kinds)
    merged_sentence = sentence.format(columns=columns)
    return [Finding(merged_sentence, serious=findings[0].serious, proposal=offer)]
