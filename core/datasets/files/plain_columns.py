"""Columns of Parquet and Feather files as CSV gives them; exported scripts hold this source."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from core.datasets.cell_values import cell_text


def plain_columns(table: pd.DataFrame, text: Collection[str]) -> pd.DataFrame:
    """The table with columns of numbers and, if in `text`, texts; a named index is one too."""
    named = any(name is not None for name in table.index.names)
    table = table.reset_index(drop=not named)
    plain: dict[str, pd.Series] = {}
    for name in table.columns:
        values = table[name]
        column_name = str(name).strip()
        if column_name in text:
            words = values.astype(object).map(cell_text, na_action="ignore")
            plain[column_name] = words.mask(words == "").infer_objects()
            continue
        if values.dtype.kind == "m":
            values = values.dt.total_seconds()
        if not pd.api.types.is_numeric_dtype(values.dtype):
            values = pd.to_numeric(values.astype(object), errors="coerce")
        is_integer = values.dtype.kind in "iu" and not values.isna().any()
        is_integer = is_integer and not (len(values) and values.max() >= 2**63)
        plain[column_name] = values.astype("int64" if is_integer else "float64")
    return pd.DataFrame(plain)
