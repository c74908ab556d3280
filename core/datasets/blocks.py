"""Columns of numbers of a table as matrices, so many at a time as fit the processor's caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

_CELLS, _FEWEST = 2_000_000, 16


def number_names(table: pd.DataFrame) -> list[str]:
    """The columns of floats and of whole numbers, in their order."""
    kinds = zip(table.columns, table.dtypes, strict=True)
    return [str(name) for name, dtype in kinds if dtype.kind in "iuf"]


def text_names(table: pd.DataFrame) -> list[str]:
    """The columns that hold something else than numbers, in their order."""
    kinds = zip(table.columns, table.dtypes, strict=True)
    return [str(name) for name, dtype in kinds if dtype.kind not in "biufc"]


def in_blocks(
    table: pd.DataFrame, names: Sequence[str], rows: np.ndarray | None = None
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Some columns after others, each a row of a matrix of floats, with their names.

    Args:
        table: their table.
        names: columns of numbers.
        rows: the places of the rows that are wanted; None for all.
    """
    count = len(table) if rows is None else len(rows)
    size = _CELLS // max(1, count)
    if size < _FEWEST and rows is None:  # long columns are not copied
        for name in names:
            yield [name], table[name].to_numpy(dtype=float)[None]
        return
    size = max(1, size)
    for first in range(0, len(names), size):
        some = list(names[first : first + size])
        part = table[some] if rows is None else table[some].iloc[rows]
        yield some, np.ascontiguousarray(part.to_numpy(dtype=float).T)
