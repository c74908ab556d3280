"""Columns of Parquet and Feather files as CSV gives them; exported scripts hold this source."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from core.datasets.cell_values import YEARS, cell_text


def plain_columns(table: pd.DataFrame, text: Collection[str]) -> pd.DataFrame:
    """The table with columns of numbers and, if in `text`, texts; a named index is one too."""
    named = any(name is not None for name in table.index.names)
    table = table.reset_index(drop=not named)
    plain: dict[str, pd.Series] = {}
    for name in table.columns:
        values = table[name]
        column_name = str(name).strip()
        if column_name in text:
            words = cell_objects(values).map(cell_text, na_action="ignore")
            plain[column_name] = words.mask(words == "").infer_objects()
            continue
        if values.dtype.kind == "m":
            values = values.dt.total_seconds()
        if not pd.api.types.is_numeric_dtype(values.dtype):
            values = pd.to_numeric(cell_objects(values), errors="coerce")
        is_integer = values.dtype.kind in "iu" and not values.isna().any()
        is_integer = is_integer and not (len(values) and values.max() >= 2**63)
        plain[column_name] = values.astype("int64" if is_integer else "float64")
    return pd.DataFrame(plain)


def cell_objects(values: pd.Series) -> pd.Series:
    """The cells of a column as objects; times beyond the years of ``datetime`` in UTC."""
    is_category = isinstance(values.dtype, pd.CategoricalDtype)
    kind = values.cat.categories.dtype if is_category else values.dtype
    if not isinstance(kind, pd.DatetimeTZDtype):
        return values.astype(object)
    values = values.astype(kind)
    # Zones have no rules beyond those years.
    is_far = values.notna() & ~values.between(*YEARS)
    objects = values.mask(is_far).astype(object)
    objects[is_far] = values[is_far].dt.tz_convert(None).astype(object)
    return objects


def columns_at(path: str, kind: str, places: Mapping[str, int]) -> pd.DataFrame:
    """The columns at places of a Parquet or Feather file that pandas alone would not read so."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    if kind == "parquet":
        with ParquetFile(path) as file:
            table = file.read()
    else:
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
            table = file.read_all()
    table = table.select(list(places.values())).rename_columns(list(places))
    return exact_columns(table.replace_schema_metadata(None)).to_pandas()


def exact_columns(table: Any) -> Any:
    """An Arrow table whose whole numbers are texts where floats would make two of them alike."""
    import pyarrow as pa

    for i, column in enumerate(table.columns):
        is_decimal = pa.types.is_decimal(column.type) and column.type.scale == 0
        is_float = is_decimal or (pa.types.is_integer(column.type) and column.null_count)
        if not (is_float or pa.types.is_uint64(column.type)):
            continue
        numbers = column.unique().drop_null()
        if len(numbers.cast(pa.float64(), safe=False).unique()) < len(numbers):
            table = table.set_column(i, table.schema.names[i], column.cast(pa.string()))
            table = table.replace_schema_metadata(None)  # which says that it holds numbers
    return table
