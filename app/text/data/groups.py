"""What the board of groups says: of columns, of a model of sequences, of a model of molecules."""

from __future__ import annotations

OWN = "own"


def titles(task: str) -> tuple[str, str]:
    """The board's title and caption."""
    if task == "sequence":
        return "Groups of parameters", (
            "Parameters that belong together share one penalty: those of a column, of the first "
            "label (initial), of what follows what (transition). Drag one into a group, or press "
            "Enter on it."
        )
    if task == "structure":
        return "Groups of parameters", (
            "Parameters that belong together share one penalty: here are the 15 motifs that "
            "molecules are made of. Drag one into a group, or press Enter on it."
        )
    return "Groups of columns", (
        "Columns that belong together share one penalty. Drag a column into a group, or "
        "press Enter on it. Used by linear and logistic models whose penalty is learned."
    )


def ways(task: str) -> dict[str, str]:
    """The ways of grouping, by the word of the plan, as a person reads them."""
    if task == "sequence":
        return {
            "single": "All parameters together",
            "column": "By kind: first label, transitions, each column",
            "prefix": "By kind, columns by the start of their names",
            "each": "Each parameter by itself",
            OWN: "My own groups",
        }
    if task == "structure":
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


def whole_and_rest(task: str) -> tuple[str, str]:
    """The names of the one group of all, and of the group of what is left over."""
    if task in ("sequence", "structure"):
        return "all parameters", "other parameters"
    return "all columns", "other columns"
