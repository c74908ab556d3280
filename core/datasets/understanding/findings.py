"""What a person should know about the features: lost columns, gaps, ones that tell too much."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.datasets.asking import of_column, with_value
from core.datasets.columns import ALL_DIFFER, HARDLY_TWICE
from core.datasets.dataset import Column, Dataset, Finding, Proposal
from core.datasets.texts.ngrams import counts_parts
from core.datasets.understanding.joint import together
from core.datasets.understanding.passing_over import not_passed_over

GIVES_AWAY = "it gives the target away"
_LOOK_FIRST = 5000  # rows that a column must pass before all rows are looked at
_FEWEST_ROWS = 20  # with fewer, a perfect column is likely chance


def table_findings(dataset: Dataset) -> list[Finding]:
    """Findings about a table's columns, the serious ones first."""
    table = dataset.table
    assert table is not None
    looked = set(not_passed_over(dataset))
    telling = [
        _telling(column)
        for column in dataset.columns
        if column.name in looked and _gives_away(dataset, table, column)
    ]
    findings = together(
        telling,
        "{columns} tell the target without error, each alone; leave them out unless they are"
        " really known before the target is.",
        "Leave them out",
        "",
    )
    findings += _left_out(dataset)
    texts = [_texts(column.name, table[column.name]) for column in _of_texts(dataset)]
    findings += together(texts, "{columns} hold texts: their words become columns.", "", "")
    findings += _gaps(dataset)
    return sorted(findings, key=lambda finding: not finding.serious)


def _telling(column: Column) -> Finding:
    return Finding(
        f"“{column.name}” alone tells the target without error; leave it out unless it is really"
        " known before the target is.",
        column.name,
        serious=True,
        proposal=leaving_out(column.name),
    )


def leaving_out(name: str) -> Proposal:
    """The offer to leave a column out."""
    return Proposal("Leave it out", _role(name, "ignore"), {name: "ignore"})


def _role(name: str, role: str) -> str:
    return of_column("--role", name, role)


def _left_out(dataset: Dataset) -> list[Finding]:
    by_note: dict[str, list[Finding]] = {}
    for column in dataset.columns:
        if column.role == "ignore" and column.note:
            found = Finding(
                f"“{column.name}” is left out: {column.note}.{_only_if(column.note, 'it is')}",
                column.name,
                column.note == GIVES_AWAY,
                _use_of(dataset, column),
            )
            by_note.setdefault(column.note, []).append(found)
    findings = []
    for note, found_so in by_note.items():
        said = f"{{columns}} are left out: of each, {note}.{_only_if(note, 'they are')}"
        offers = [found.proposal for found in found_so if found.proposal]
        words = "Read as texts" if offers and offers[0].kinds else "Use them after all"
        option = "--leaks" if note == GIVES_AWAY else ""
        findings += together(found_so, said.replace("of each, it", "each"), words, option)
    return findings


def _only_if(note: str, known: str) -> str:
    """When a column may be used that gives the target away; "" of any other."""
    if note != GIVES_AWAY:
        return ""
    what = "it" if known == "it is" else "them"
    return f" Use {what} only if {known} really known before the target is."


def _use_of(dataset: Dataset, column: Column) -> Proposal | None:
    """How a column that is left out could be used; None where nothing can be learned from it."""
    name = column.name
    if column.note in (ALL_DIFFER, HARDLY_TWICE) and _has_words(dataset, name):
        option = of_column("--kind", name, "text")
        return Proposal("Read as text", option, kinds={name: "text"})
    if column.note == GIVES_AWAY or (column.kind == "identifier" and column.note != ALL_DIFFER):
        return Proposal("Use it after all", _role(name, "feature"), {name: "feature"})
    return None


def _has_words(dataset: Dataset, name: str) -> bool:
    """Whether values are of two words or more on average; codes of one word say nothing."""
    assert dataset.left_out is not None
    counts = [len(str(value).split()) for value in dataset.left_out[name].dropna()]
    return bool(counts) and sum(counts) >= 2 * len(counts)


def _of_texts(dataset: Dataset) -> list[Column]:
    return [one for one in dataset.columns if (one.role, one.kind) == ("feature", "text")]


def _texts(name: str, values: pd.Series) -> Finding:
    become = "words and parts of words" if counts_parts(values) else "words"
    offer = Proposal(
        "Find topics instead",
        f"{with_value('--target', name)} --task topics",
        fields={"target": name, "task": "topics"},
    )
    return Finding(f"“{name}” holds texts: {become} become columns.", name, proposal=offer)


def _gaps(dataset: Dataset) -> list[Finding]:
    total = dataset.rows + dataset.set_aside
    gaps = [
        Finding(
            f"“{column.name}” is missing in {column.missing:,} of {total:,} rows.",
            column.name,
            proposal=leaving_out(column.name),
        )
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]
    said = f"{{columns}} are each missing in more than half of the {total:,} rows."
    return together(gaps, said, "Leave them out", "")


def _gives_away(dataset: Dataset, table: pd.DataFrame, column: Column) -> bool:
    """Whether this one feature determines the target, beyond what chance allows."""
    if column.role != "feature" or dataset.rows < _FEWEST_ROWS:
        return False
    values = table[column.name]
    if dataset.rows > _LOOK_FIRST:
        part = np.linspace(0, dataset.rows - 1, _LOOK_FIRST).astype(int)
        if not _determines(values.iloc[part], dataset.target[part], dataset.task):
            return False
    return _determines(values, dataset.target, dataset.task)


def _determines(values: pd.Series, target: np.ndarray, task: str) -> bool:
    known = values.notna().to_numpy()
    if known.sum() < max(_FEWEST_ROWS, 0.9 * len(values)):
        return False
    values, target = values[known], target[known]
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=float)
        if task == "regression":
            return _on_a_line(numbers, target)
        return _in_stretches(numbers, target)
    codes, different = pd.factorize(values)
    if len(different) > len(values) / 5:
        return False
    return _one_target_each(codes, len(different), target)


def _on_a_line(numbers: np.ndarray, target: np.ndarray) -> bool:
    if numbers.min() == numbers.max() or target.min() == target.max():
        return False
    scaled, aim = (values / np.abs(values).max() for values in (numbers, target))
    scaled, aim = scaled - scaled.mean(), aim - aim.mean()
    size = float(np.sqrt((scaled @ scaled) * (aim @ aim)))
    return size > 0 and abs(float(scaled @ aim)) / size > 1 - 1e-6


def _in_stretches(numbers: np.ndarray, target: np.ndarray) -> bool:
    """Whether, sorted by the column, every class is one unbroken stretch."""
    labels, codes = np.unique(target, return_inverse=True)
    if len(labels) < 2:
        return False
    order = np.lexsort((codes, numbers))
    numbers, codes = numbers[order], codes[order]
    changes = np.flatnonzero(np.diff(codes))
    between_equals = np.any(numbers[changes] == numbers[changes + 1])
    return len(changes) == len(labels) - 1 and not between_equals


def _one_target_each(codes: np.ndarray, count: int, target: np.ndarray) -> bool:
    _, aims = np.unique(target, return_inverse=True)
    if aims.max() == 0:
        return False
    low = np.full(count, aims.max() + 1)
    high = np.full(count, -1)
    np.minimum.at(low, codes, aims)
    np.maximum.at(high, codes, aims)
    return bool(np.all(low == high))
