"""Merged cells of a sheet filled, as pandas reads it with a value in the first cell alone.

An exported script holds the source of this function, so it needs nothing but pandas.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def with_fills(table: pd.DataFrame, merged: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """The table with the value of merged cells in every row that they reach over.

    Args:
        table: a row of the sheet in each, also blank ones.
        merged: the column, the first and the last row of each, rows counted from 0.
    """
    for column, first, last in merged:
        rows = table.index[first + 1 : last + 1]
        table.loc[rows, column] = table[column].tolist()[first]
    return table
