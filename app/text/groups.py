"""What the board of groups says: of columns, of a model of sequences, of a model of molecules."""

from __future__ import annotations

from app.text.data import tr

OWN = "own"


def titles(task: str) -> tuple[str, str]:
    """The board's title and caption."""
    if task == "sequence":
        return tr("Groups of parameters"), tr(
            "Parameters that belong together share one penalty: those of a column, of the first "
            "label (initial), of what follows what (transition). Drag one into a group, or press "
            "Enter on it."
        )
    if task == "structure":
        return tr("Groups of parameters"), tr(
            "Parameters that belong together share one penalty: here are the 15 motifs that "
            "molecules are made of. Drag one into a group, or press Enter on it."
        )
    return tr("Groups of columns"), tr(
        "Columns that belong together share one penalty. Drag a column into a group, or "
        "press Enter on it. Used by linear and logistic models whose penalty is learned."
    )


def ways(task: str) -> dict[str, str]:
    """The ways of grouping, by the word of the plan, as a person reads them."""
    if task == "sequence":
        return {
            "single": tr("All parameters together"),
            "column": tr("By kind: first label, transitions, each column"),
            "prefix": tr("By kind, columns by the start of their names"),
            "each": tr("Each parameter by itself"),
            OWN: tr("My own groups"),
        }
    if task == "structure":
        return {
            "single": tr("All parameters together"),
            "column": tr("By motif"),
            "each": tr("Each parameter by itself"),
            OWN: tr("My own groups"),
        }
    return {
        "single": tr("All columns together"),
        "prefix": tr("By the start of their names"),
        "column": tr("Each column by itself"),
        "each": tr("Each column and each category value by itself"),
        OWN: tr("My own groups"),
    }


def whole_and_rest(task: str) -> tuple[str, str]:
    """The names of the one group of all, and of the group of what is left over."""
    if task in ("sequence", "structure"):
        return tr("all parameters"), tr("other parameters")
    return tr("all columns"), tr("other columns")
