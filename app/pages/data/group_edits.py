"""Groups of columns as the window shows and changes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.datasets.dataset_summary import DatasetSummary

Groups = dict[str, list[str]]
Spec = str | Groups
# The kinds of parameters of a model of molecules; a test holds this list to the model's own, which
# needs compiled loops that the window does without.
MOTIFS: tuple[str, ...] = (
    "base pairings",
    "terminal mismatch interactions",
    "hairpin loop lengths",
    "explicit internal loop sizes",
    "bulge loop lengths",
    "internal loop lengths",
    "symmetric internal loop lengths",
    "internal loop asymmetry",
    "single base bulge nucleotides",
    "1x1 internal loop nucleotides",
    "helix stacking interactions",
    "helix closing interactions",
    "multi-branch loop lengths",
    "single base pair stacking interactions",
    "external loop lengths",
)


def feature_names(summary: DatasetSummary) -> list[str]:
    """What can be grouped, in file order: columns, weights of sequences, or motifs."""
    if summary.task.has_pairs:
        return list(MOTIFS)
    names = [column.name for column in summary.feature_columns]
    return ["initial", "transition", *names] if summary.task.has_sequences else names


def shown_groups(spec: Spec, summary: DatasetSummary, all_name: str, other_name: str) -> Groups:
    """The groups of a spec, {group: columns}; the remaining ones go to `other_name`."""
    names = feature_names(summary)
    if spec == "single":
        return {all_name: names}
    if spec in ("each", "column"):
        return {name: [name] for name in names}
    columns_by_group = summary.prefixes if isinstance(spec, str) else spec
    if spec == "prefix" and summary.task.has_sequences:
        columns_by_group = {name: [name] for name in names[:2]} | columns_by_group
    known_names = set(names)
    groups = {
        group: [name for name in columns if name in known_names]
        for group, columns in columns_by_group.items()
    }
    groups = {group: columns for group, columns in groups.items() if columns}
    grouped_names = {name for columns in groups.values() for name in columns}
    ungrouped_names = [name for name in names if name not in grouped_names]
    if ungrouped_names:
        groups[other_name] = groups.get(other_name, []) + ungrouped_names
    return groups


def move_columns(groups: Groups, columns: Sequence[str], group: str) -> Groups:
    """Move columns into a group, which may be new; empty groups go."""
    moved_columns = set(columns)
    changed = {n: [c for c in members if c not in moved_columns] for n, members in groups.items()}
    changed.setdefault(group, []).extend(columns)
    return {name: columns for name, columns in changed.items() if columns}


def rename_group(groups: Groups, old: str, new: str) -> Groups:
    """Rename a group; two of the same name become one."""
    changed: Groups = {}
    for name, columns in groups.items():
        changed.setdefault(new if name == old else name, []).extend(columns)
    return changed


def fresh_name(groups: Groups, pattern: str) -> str:
    """The pattern with the first number that makes an unused name."""
    number = len(groups) + 1
    while (name := pattern.format(number=number)) in groups:
        number += 1
    return name
