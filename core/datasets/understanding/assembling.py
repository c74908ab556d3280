"""A table becomes a Dataset of what its rows are: of their own, tokens, molecules, or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from core.datasets.columns import text_length
from core.datasets.dataset import Dataset, Finding, Source
from core.datasets.splits.latest import with_times
from core.datasets.splits.proposals import proposals
from core.datasets.splits.units import with_units
from core.datasets.understanding.molecule_table import (
    from_molecules,
    molecules_test_part,
    roles_with_family,
)
from core.datasets.understanding.recognition import STRUCTURED, Shape, recognize
from core.datasets.understanding.table import from_table, test_part
from core.datasets.understanding.text_table import from_texts, only_texts, texts_test_part
from core.datasets.understanding.token_table import LineOf, from_tokens, tokens_test_part


def assemble(
    table: pd.DataFrame,
    name: str,
    source: Source,
    shape: Shape | None,
    *,
    target: str,
    task: str,
    roles: Mapping[str, str],
    kinds: Mapping[str, str],
    found: Sequence[Finding] = (),
    line_of: LineOf,
    together: bool = True,
    latest: str = "",
) -> Dataset:
    """The dataset of a table, with the person's choices where there are any.

    Args:
        shape: that the rows are tokens or molecules; None for rows of their own.
        line_of: the file's line of a row (from 0).
        together: whether equal items, and molecules of one family, stay on one side of a split.
        latest: the column by which the latest rows test; "" to test on rows drawn at random.

    Raises:
        UnusableError: whatever makes the table unusable.
    """
    if shape is not None:
        if shape.task == "structure" and together:
            roles = roles_with_family(table, roles)
        make = from_tokens if shape.task == "sequence" else from_molecules
        dataset = make(
            table, name, source, shape, roles=roles, kinds=kinds, found=found, line_of=line_of
        )
    elif _are_texts(table, target, task, roles):
        dataset = from_texts(
            table, name, source, texts=target, roles=roles, kinds=kinds, found=found
        )
    else:
        dataset = from_table(
            table, name, source, target=target, task=task, roles=roles, kinds=kinds, found=found
        )
    dataset = with_units(dataset, together)
    if latest:
        dataset = with_times(dataset, table, latest)
    return replace(dataset, findings=(*dataset.findings, *proposals(dataset, table)))


def _are_texts(table: pd.DataFrame, target: str, task: str, roles: Mapping[str, str]) -> bool:
    """Whether the topics of texts are looked for."""
    chosen = task or target or "target" in roles.values()
    alone = table.shape[1] == 1 and not task and text_length(table.iloc[:, 0]) > 0
    return task == "topics" or alone or (not chosen and only_texts(table))


def assemble_test(
    train: Dataset, table: pd.DataFrame, name: str, source: Source, line_of: LineOf
) -> Dataset:
    """A second file's rows, understood as the first file's were.

    Raises:
        UnusableError: they are of another kind.
    """
    if train.task == "sequence":
        return tokens_test_part(train, table, name, source, line_of)
    if train.task == "structure":
        return molecules_test_part(train, table, name, source, line_of)
    if train.task == "topics":
        return texts_test_part(train, table, name, source)
    return test_part(train, table, name, source)


def roles_of_rows(
    cells: Mapping[str, Sequence[str]], target: str, task: str, roles: Mapping[str, str]
) -> dict[str, str]:
    """The roles where rows are of their own: rows of one sequence stay together.

    Where a person chose an ordinary task for a table of tokens, the column of sequences is a group
    as any other.
    """
    as_rows = {name: "group" if role == "sequence" else role for name, role in roles.items()}
    if not task or task in STRUCTURED or "group" in as_rows.values():
        return as_rows
    shape = recognize(cells, target, "", roles)
    if shape is not None and shape.task == "sequence":
        as_rows.setdefault(shape.sequence, "group")
    return as_rows
