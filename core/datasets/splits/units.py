"""What belongs together: equal items and their relatives become one unit of every split.

Items are rows, whole sequences, molecules or texts. Equal items are copies, and copies on both
sides of a split make scores optimistic. In a table of few values equal rows are no copies but
chance: there, and where the units would be too few to divide, the items are divided one by one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.asking import of_column
from core.datasets.dataset import Dataset, Finding, Proposal
from core.datasets.splits.equal_items import (
    LARGEST_UNIT,
    chance_of_twins,
    equal_items,
    sequence_codes,
    shared_items,
)

FEWEST_UNITS = 10
MOST_COPIES = 20  # of an item on average; beyond, equal items are the rule and no copies
MOST_GROUPS = 1000  # beyond, the usual splitters of groups take minutes
ITEMS = {"sequence": "sequence", "structure": "molecule", "topics": "text"}
_EQUAL = {
    "row": "equal another row in every feature",
    "sequence": "have the same tokens as another",
    "molecule": "have the same letters as another",
    "text": "say the same as another",
}


def with_units(dataset: Dataset, together: bool = True) -> Dataset:
    """The dataset with its units, and findings that say what stays together and how many.

    Args:
        dataset: `units` may join sequences already, by their document.
        together: whether equal items stay together; a person's own groups do in any case.
    """
    findings = _of_groups(dataset)
    tokens = dataset.task == "sequence"
    items = sequence_codes(dataset) if tokens else np.arange(dataset.rows)
    equal = equal_items(dataset)
    counts = np.bincount(equal)
    twins = int(counts[counts > 1].sum())
    units = dataset.units
    if together and units is None and _wants_units(dataset):
        units = dataset.row_groups
    if twins:
        against = _against(dataset, counts) if together else "they are divided one by one"
        if not against:
            found, against = _joined(dataset, items, equal, counts)
            units = units if against else found
        findings.append(_said(dataset, counts, against, together))
    return replace(dataset, units=units, findings=(*dataset.findings, *findings))


def joined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Codes of rows that either of two codings joins, also by way of others.

    Args:
        one, other: codes from 0, without gaps, n each.
    """
    first, second = int(one.max()) + 1, int(other.max()) + 1
    ends = (np.ones(len(one), dtype=np.int8), (one, other + first))
    links = sparse.coo_array(ends, shape=(first + second,) * 2)
    _, found = sparse.csgraph.connected_components(links, directed=False)
    return pd.factorize(found[one])[0]


def _wants_units(dataset: Dataset) -> bool:
    """Whether groups of rows are divided by size, not by number: families, and very many."""
    groups = dataset.row_groups
    if groups is None or dataset.task == "sequence":
        return False
    return dataset.task in ("structure", "topics") or len(pd.unique(groups)) > MOST_GROUPS


def _against(dataset: Dataset, counts: np.ndarray) -> str:
    """Why equal items are divided all the same; "" where nothing speaks against it."""
    word = ITEMS.get(dataset.task, "row")
    items = int(counts.sum())
    if len(counts) < max(FEWEST_UNITS, items / MOST_COPIES):
        return f"there are only {len(counts):,} different ones, so {word}s are divided one by one"
    if chance_of_twins(dataset) >= 1:
        return "so few values make that likely, and rows are divided one by one"
    return ""


def _joined(
    dataset: Dataset, items: np.ndarray, equal: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray | None, str]:
    """The units of all rows; or why equal items cannot be kept together beside the groups."""
    most = LARGEST_UNIT * len(equal)
    codes = equal.copy()
    common = counts[equal] > most
    codes[common] = len(counts) + np.arange(int(common.sum()))
    units = pd.factorize(codes)[0][items]
    before = dataset.units
    if before is None and dataset.task != "sequence":
        before = dataset.row_groups
    if before is not None:
        groups = pd.factorize(before)[0]
        units = joined(groups, units)
        if np.bincount(units).max() > max(LARGEST_UNIT * len(units), np.bincount(groups).max()):
            return None, "they would join most groups, so only the groups stay together"
    if dataset.task == "sequence":
        units = joined(items, units)
    return units, ""


def _said(dataset: Dataset, counts: np.ndarray, against: str, together: bool) -> Finding:
    twins, items = int(counts[counts > 1].sum()), int(counts.sum())
    word = ITEMS.get(dataset.task, "row")
    column = "" if dataset.task not in ITEMS or dataset.is_sparse else dataset.feature_names[0]
    what = f"{twins:,} of {items:,} {word}s {_EQUAL[word]}"
    if not against:
        rest = f"equal {word}s stay on one side of every split"
        if (most := int(counts.max())) > LARGEST_UNIT * items:
            rest += f", but for what comes {most:,} times, too often for one side"
        return Finding(f"{what}; {rest}.", column)
    if together:
        return Finding(f"{what}; {against}.", column)
    offer = Proposal(f"Keep equal {word}s together", "--together", fields={"together": True})
    warning = f"{what}; {against}, so scores may look too good."
    return Finding(warning, column, 10 * twins > items, offer)


def _of_groups(dataset: Dataset) -> list[Finding]:
    """That rows of one group stay together, and how many groups there are."""
    groups = dataset.row_groups if dataset.task != "sequence" else dataset.units
    if groups is None:
        return []
    grouping = [column.name for column in dataset.columns if column.role == "group"]
    name = grouping[0] if grouping else "qid"
    word = ITEMS.get(dataset.task, "row")
    count = len(pd.unique(groups))
    items = dataset.rows
    if dataset.task == "sequence":
        items = int(sequence_codes(dataset).max()) + 1
    said = (
        f"{word.capitalize()}s with the same “{name}” stay on one side of every split:"
        f" {count:,} groups of {items:,} {word}s."
    )
    if not grouping:
        return [Finding(said)]
    option = of_column("--role", name, "ignore")
    offer = Proposal(f"Divide the {word}s of one group", option, {name: "ignore"})
    return [Finding(said, name, proposal=offer)]


def shared_finding(dataset: Dataset, test: Dataset) -> list[Finding]:
    """That items of the test file are in the first file too; nothing where that is chance."""
    shared, items = shared_items(dataset, test)
    if not shared or chance_of_twins(dataset) >= 1:
        return []
    word = ITEMS.get(dataset.task, "row")
    return [
        Finding(
            f"{shared:,} of {items:,} {word}s of the test file {_EQUAL[word]}, of the first file;"
            " scores may look too good.",
            serious=10 * shared > items,
        )
    ]
