"""Units of a split: equal items (rows, sequences, molecules, texts) and their relatives.

Copies on both sides make scores optimistic. With few distinct values, or units, items are divided.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.finding import Finding, SuggestedChange, column_change
from core.datasets.splits.equal_items import (
    LARGEST_UNIT,
    chance_of_twins,
    equal_items,
    item_codes,
    shared_items,
)

MIN_UNITS = 10
MAX_COPIES = 20  # of an item on average; beyond, equal items are no copies
MAX_GROUPS = 1000  # beyond, the usual splitters of groups take minutes
_EQUAL = {
    "row": "equal another row in every feature",
    "sequence": "have the same tokens as another",
    "molecule": "have the same letters as another",
    "text": "say the same as another",
}


def with_units(dataset: Dataset, together: bool = True) -> Dataset:
    """The dataset with its units, and findings; unless `together`, a person's own groups only."""
    findings, equal, units = _group_findings(dataset), equal_items(dataset), dataset.units
    counts = np.bincount(equal)
    groups, task = dataset.row_groups, dataset.task
    if together and units is None and groups is not None and not task.has_sequences:
        units = groups if not task.is_table or len(pd.unique(groups)) > MAX_GROUPS else None
    if (counts > 1).any():
        reason = _reason_to_divide(dataset, counts) if together else "they are divided one by one"
        if not reason:
            joined_units, reason = _join_equal_items(dataset, equal, counts)
            units = units if reason else joined_units
        findings.append(_units_finding(dataset, counts, reason, together))
    return replace(dataset, units=units, findings=(*dataset.findings, *findings))


def join_codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Codes of rows that either of two codings (from 0, without gaps) joins, transitively."""
    first_count, second_count = int(first.max()) + 1, int(second.max()) + 1
    ends = (np.ones(len(first), dtype=np.int8), (first, second + first_count))
    links = sparse.coo_array(ends, shape=(first_count + second_count,) * 2)
    _, components = sparse.csgraph.connected_components(links, directed=False)
    return pd.factorize(components[first])[0]


def _reason_to_divide(dataset: Dataset, counts: np.ndarray) -> str:
    if len(counts) < max(MIN_UNITS, int(counts.sum()) / MAX_COPIES):
        items = dataset.task.items
        return f"there are only {len(counts):,} different ones, so {items} are divided one by one"
    if chance_of_twins(dataset) >= 1:
        return "so few values make that likely, and rows are divided one by one"
    return ""


def _join_equal_items(
    dataset: Dataset, equal: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray | None, str]:
    items, codes = item_codes(dataset), equal.copy()
    common = counts[equal] > LARGEST_UNIT * len(equal)
    codes[common] = len(counts) + np.arange(int(common.sum()))
    units = pd.factorize(codes)[0][items]
    previous_units = dataset.units
    if previous_units is None and not dataset.task.has_sequences:
        previous_units = dataset.row_groups
    if previous_units is not None:
        groups = pd.factorize(previous_units)[0]
        units = join_codes(groups, units)
        if np.bincount(units).max() > max(LARGEST_UNIT * len(units), np.bincount(groups).max()):
            return None, "they would join most groups, so only the groups stay together"
    if dataset.task.has_sequences:
        units = join_codes(items, units)
    return units, ""


def _units_finding(dataset: Dataset, counts: np.ndarray, reason: str, together: bool) -> Finding:
    twins, items = int(counts[counts > 1].sum()), int(counts.sum())
    word = dataset.task.item
    column = "" if dataset.task.is_table or dataset.is_sparse else dataset.feature_names[0]
    outcome = reason or f"equal {word}s stay on one side of every split"
    if not reason and (max_copies := int(counts.max())) > LARGEST_UNIT * items:
        outcome += f", but for what comes {max_copies:,} times, too often for one side"
    sentence = f"{twins:,} of {items:,} {word}s {_EQUAL[word]}; {outcome}"
    if together or not reason:
        return Finding(f"{sentence}.", column)
    offer = SuggestedChange(f"Keep equal {word}s together", "--together", fields={"together": True})
    warning = f"{sentence}, so scores may look too good."
    return Finding(warning, column, 10 * twins > items, offer)


def _group_findings(dataset: Dataset) -> list[Finding]:
    groups = dataset.units if dataset.task.has_sequences else dataset.row_groups
    if groups is None:
        return []
    name = next((column.name for column in dataset.columns if column.role == "group"), "")
    items, count = dataset.task.items, int(item_codes(dataset).max()) + 1
    sentence = (
        f"{items.capitalize()} with the same “{name or 'qid'}” stay on one side of every split:"
        f" {len(pd.unique(groups)):,} groups of {count:,} {items}."
    )
    offer = column_change(f"Divide the {items} of one group", "--role", name, "ignore")
    return [Finding(sentence, name, proposal=offer if name else None)]


def shared_finding(dataset: Dataset, test: Dataset) -> list[Finding]:
    """The finding on test items that are in the first file too; [] where that is chance."""
    (shared, items), word = shared_items(dataset, test), dataset.task.item
    if not shared or chance_of_twins(dataset) >= 1:
        return []
    sentence = (
        f"{shared:,} of {items:,} {word}s of the test file {_EQUAL[word]}, of the first file;"
        " scores may look too good."
    )
    return [Finding(sentence, serious=10 * shared > items)]
