"""The columns of a Parquet or Feather file as a CSV file of the same rows would give them.

An exported script holds the source of this function, so it needs nothing but pandas.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd


def plain_columns(
    table: pd.DataFrame, text: Collection[str], missing: Collection[str]
) -> pd.DataFrame:
    """The table with columns of numbers and of texts alone; a named index becomes columns.

    Dates, truth values and categories are texts; decimals are numbers, durations seconds. Blanks
    around a name are no part of it.

    Args:
        table: as pandas reads the file.
        text: the columns that are texts.
        missing: texts that stand for nothing.
    """
    named = any(name is not None for name in table.index.names)
    table = table.reset_index(drop=not named)
    plain: dict[str, pd.Series] = {}
    for name in table.columns:
        values = table[name]
        column_name = str(name).strip()
        if column_name in text:
            words = values.astype(object).map(str, na_action="ignore")
            plain[column_name] = words.mask(words.isin(list(missing))).infer_objects()
            continue
        if values.dtype.kind == "m":
            values = values.dt.total_seconds()
        if not pd.api.types.is_numeric_dtype(values.dtype):
            values = pd.to_numeric(values.astype(object), errors="coerce")
        is_integer = values.dtype.kind in "iu" and not values.isna().any()
        plain[column_name] = values.astype("int64" if is_integer else "float64")
    return pd.DataFrame(plain)
