"""A fitted preparation of table columns as plain data for numpy alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from core.datasets.prepared_columns import date_parts, encoder_of
from core.export.bundle.column_preparation import ColumnTransform
from core.export.text_tables import text_table

_SCALED = ("fill", "mean", "scale")
_FIELDS = {
    "number": _SCALED,
    "date": ("format", "part", "levels", *_SCALED),
    "missing": (),
    "text": ("keys", "table"),
}


def column_transforms(prepare: Pipeline) -> list[ColumnTransform]:
    """The transforms in the order of their outputs; ValueError: a final scaling, or a matrix."""
    encode = prepare.named_steps["columns"]
    if len(prepare.steps) > 1 or not isinstance(encode, ColumnTransformer):
        raise ValueError("only unscaled columns of tables are written down so")
    return [transform for step in encode.transformers_ for transform in _transforms_of_step(*step)]


def transform_document(transform: ColumnTransform) -> dict[str, Any]:
    """The fields of its kind, for JSON."""
    names = ("column", "kind", *_FIELDS[transform.kind])
    return {name: getattr(transform, name) for name in names}


def _transforms_of_step(step_name: str, step: Any, names: Any) -> list[ColumnTransform]:
    if step_name == "remainder":
        return []
    if step_name.startswith("date "):
        date_format = str(step.named_steps["read"].kw_args["format"])
        parts = date_parts(step)
        return [_date_transform(str(names), date_format, part, inner) for part, inner in parts]
    if step_name.startswith(("yes/no", "category")):
        transforms = []
        for position, name in enumerate(names):
            keys, table = text_table(step, [str(n) for n in names], position)
            transforms.append(ColumnTransform(str(name), "text", keys=keys, table=table.tolist()))
        return transforms
    if isinstance(step, MissingIndicator):
        return [ColumnTransform(str(name), "missing") for name in names]
    if encoder_of(step, StandardScaler) is not None:
        raise ValueError("only unscaled columns of tables are written down so")
    fills = np.nan_to_num(np.asarray(step.statistics_, dtype=float)).tolist()
    pairs = zip(names, fills, strict=True)
    return [ColumnTransform(str(name), "number", fill=fill) for name, fill in pairs]


def _date_transform(column: str, date_format: str, part: str, step: Pipeline) -> ColumnTransform:
    transform = ColumnTransform(column, "date", date_format, part=part)
    if part == "missing":
        return transform
    transform = replace(transform, fill=float(step.named_steps["fill"].statistics_[0]))
    if (one_hot := encoder_of(step, OneHotEncoder)) is not None:
        return replace(transform, levels=one_hot.categories_[0].tolist())
    scaler = step.named_steps["scale"]
    return replace(transform, mean=float(scaler.mean_[0]), scale=float(scaler.scale_[0]))
