"""Texts in columns of numbers: few of them count as missing, and that is said."""

from __future__ import annotations

import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_text
from core.datasets.column_format import STRAY_KINDS, STRAY_SHARE
from core.datasets.finding import Finding


def stray_texts(values: pd.Series, cells: pd.Series, form: ColumnFormat) -> pd.Series:
    """The texts in a column of numbers that are none and stand for nothing either."""
    texts = values[cells.isna() & values.notna()].map(cell_text)
    return texts[~texts.isin(["", *form.missing])]


def are_few(strays: pd.Series, rows: int) -> bool:
    """Whether the texts in a numeric column are few enough to count as missing."""
    return len(strays) <= STRAY_SHARE * rows and strays.nunique() <= STRAY_KINDS


def stray_finding(column: str, strays: pd.Series) -> Finding:
    """The finding on texts in a numeric column, which count as missing."""
    # One pair of quotes per value, so that each can be redacted.
    examples = ", ".join(f"“{text[:30].replace('”', '’')}”" for text in strays.unique()[:3])
    several = f"{len(strays):,} values that are no numbers count"
    values = "1 value that is no number counts" if len(strays) == 1 else several
    return Finding(f"In column “{column}”, {values} as missing ({examples}).", column)
