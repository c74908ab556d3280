"""Text of the board of groups."""

from __future__ import annotations

from core.datasets.task import Task

OWN = "own"


def board_title_and_caption(task: Task) -> tuple[str, str]:
    """The board's title and caption."""
    if task.has_sequences:
        return "Groups of parameters", (
            "Parameters that belong together share one penalty: those of a column, of the first "
            "label (initial), of what follows what (transition). Drag one into a group, or press "
            "Enter on it."
        )
    if task.has_pairs:
        return "Groups of parameters", (
            "Parameters that belong together share one penalty: here are the 15 motifs that "
            "molecules are made of. Drag one into a group, or press Enter on it."
        )
    return "Groups of columns", (
        "Columns that belong together share one penalty. Drag a column into a group, or "
        "press Enter on it. Used by linear and logistic models whose penalty is learned."
    )


def grouping_titles(task: Task) -> dict[str, str]:
    """Titles of the groupings, by the word of the plan."""
    if task.has_sequences:
        return {
            "single": "All parameters together",
            "column": "By kind: first label, transitions, each column",
            "prefix": "By kind, columns by the start of their names",
            "each": "Each parameter by itself",
            OWN: "My own groups",
        }
    if task.has_pairs:
        return {
            "single": "All parameters together",
            "column": "By motif",
            "each": "Each parameter by itself",
            OWN: "My own groups",
        }
    return {
        "single": "All columns together",
        "prefix": "By the start of their names",
        "column": "Each column by itself",
        "each": "Each column and each category value by itself",
        OWN: "My own groups",
    }


def default_group_names(task: Task) -> tuple[str, str]:
    """Names of the group of all and of the rest."""
    if task.is_structured:
        return "all parameters", "other parameters"
    return "all columns", "other columns"
