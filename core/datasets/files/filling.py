"""A sheet with merged cells filled and dates as texts; exported scripts hold this source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd


def with_fills(table: pd.DataFrame, merged: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """The table, dates as texts, with merged cells (column, first and last row from 0) filled."""
    for column, first, last in merged:
        rows = table.index[first + 1 : last + 1]
        table.loc[rows, column] = table[column].tolist()[first]
    for column in table.columns:
        if table[column].dtype == object or table[column].dtype.kind in "Mb":
            table[column] = cell_texts(table[column])
    return table


def cell_texts(cells: pd.Series) -> pd.Series:
    """Mixed cells as texts, dates in ISO 8601, numbers with the decimal sign of the texts."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    has_commas = any(re.fullmatch(r"[-+]?\d*,\d+", text) for text in texts)
    has_commas &= not any("." in text for text in texts)

    def as_text(cell: Any) -> str:
        text = date_text(cell)
        return text.replace(".", ",") if has_commas and isinstance(cell, float) else text

    return cells.map(as_text, na_action="ignore").astype("str")


def date_text(cell: Any) -> str:
    """A cell as text, a date without a time where that is midnight."""
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat()).removesuffix("T00:00:00").replace("T", " ")
    return str(cell)
