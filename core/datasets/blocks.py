"""Numeric columns of a table as matrices, in blocks that fit the processor's caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

_BLOCK_CELLS, _MIN_BLOCK_COLUMNS = 2_000_000, 16  # with fewer, columns come one by one


def number_names(table: pd.DataFrame) -> list[str]:
    """The columns of floats and integers, in table order."""
    return [str(name) for name, dtype in table.dtypes.items() if dtype.kind in "iuf"]


def text_names(table: pd.DataFrame) -> list[str]:
    """The columns that are not numeric, in table order."""
    return [str(name) for name, dtype in table.dtypes.items() if dtype.kind not in "biufc"]


def column_blocks(
    table: pd.DataFrame, names: Sequence[str], rows: np.ndarray | None = None
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Blocks of numeric columns (names, a row per column); `rows` are positions, None for all."""
    count = len(table) if rows is None else len(rows)
    size = _BLOCK_CELLS // max(1, count)
    if size < _MIN_BLOCK_COLUMNS and rows is None:  # long columns are not copied
        for name in names:
            yield [name], table[name].to_numpy(dtype=float)[None]
        return
    size = max(1, size)
    for first in range(0, len(names), size):
        block_names = list(names[first : first + size])
        block_table = table[block_names] if rows is None else table[block_names].iloc[rows]
        yield block_names, np.ascontiguousarray(block_table.to_numpy(dtype=float).T)
