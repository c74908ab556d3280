"""A table becomes a Dataset of what its rows are: of their own, tokens, molecules, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from core.datasets.columns import text_length
from core.datasets.dataset import Dataset
from core.datasets.distributions import distributions
from core.datasets.raw_table import Choices, RawTable
from core.datasets.splits.latest import with_times
from core.datasets.splits.proposals import proposals
from core.datasets.splits.units import with_units
from core.datasets.understanding.molecule_table import (
    from_molecules,
    molecules_test_part,
)
from core.datasets.understanding.recognition import STRUCTURED, Shape, recognize
from core.datasets.understanding.table import from_table, test_part
from core.datasets.understanding.text_table import from_texts, only_texts, texts_test_part
from core.datasets.understanding.token_table import from_tokens, tokens_test_part


def assemble(read: RawTable, shape: Shape | None, choices: Choices) -> Dataset:
    """The dataset of a table, with the person's choices where there are any.

    Args:
        read: the table.
        shape: that the rows are tokens or molecules; None for rows of their own.
        choices: what a person decided.

    Raises:
        UnusableError: whatever makes the table unusable.
    """
    if shape is not None:
        make = from_tokens if shape.task == "sequence" else from_molecules
        dataset = make(read, shape, choices)
    elif _are_texts(read.table, choices):
        dataset = from_texts(read, choices)
    else:
        dataset = from_table(read, choices)
    dataset = with_units(dataset, choices.together)
    if choices.latest:
        dataset = with_times(dataset, read.table, choices.latest)
    return replace(
        dataset,
        findings=(*dataset.findings, *proposals(dataset, read.table)),
        distributions=distributions(read.table, dataset.columns),
    )


def _are_texts(table: pd.DataFrame, choices: Choices) -> bool:
    """Whether the topics of texts are looked for."""
    chosen = choices.task or choices.target or "target" in choices.roles.values()
    alone = table.shape[1] == 1 and not choices.task and text_length(table.iloc[:, 0]) > 0
    return choices.task == "topics" or alone or (not chosen and only_texts(table))


def assemble_test(train: Dataset, read: RawTable) -> Dataset:
    """A second file's rows, understood as the first file's were.

    Raises:
        UnusableError: they are of another kind.
    """
    parts = {
        "sequence": tokens_test_part,
        "structure": molecules_test_part,
        "topics": texts_test_part,
    }
    return parts.get(train.task, test_part)(train, read)


def roles_of_rows(cells: Mapping[str, Sequence[str]], choices: Choices) -> Choices:
    """The choices where rows are of their own: rows of one sequence stay together.

    Where a person chose an ordinary task for a table of tokens, the column of sequences is a group
    as any other.
    """
    roles, task = choices.roles, choices.task
    as_rows = {name: "group" if role == "sequence" else role for name, role in roles.items()}
    if task and task not in STRUCTURED and "group" not in as_rows.values():
        shape = recognize(cells, choices.target, "", roles)
        if shape is not None and shape.task == "sequence":
            as_rows.setdefault(shape.sequence, "group")
    return replace(choices, roles=as_rows)
