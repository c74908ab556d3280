"""A fitted preparation of table columns as plain data for numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from core.export.bundle.column_preparation import ColumnTransform
from core.export.text_tables import text_table

_SCALED = ("fill", "mean", "scale")
_FIELDS = {"number": _SCALED, "date": ("format", *_SCALED), "text": ("keys", "table")}


def column_transforms(prepare: Pipeline) -> list[ColumnTransform]:
    """The transforms of a preparation in the order of its outputs.

    Raises:
        ValueError: it has a final scaling, or takes a matrix.
    """
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
        scaler, fill = step.named_steps["scale"], step.named_steps["fill"].statistics_[0]
        date_format = step.named_steps["read"].kw_args["format"]
        mean, scale = float(scaler.mean_[0]), float(scaler.scale_[0])
        return [ColumnTransform(str(names), "date", date_format, float(fill), mean, scale)]
    if step_name.startswith(("yes/no", "category")):
        transforms = []
        for position, name in enumerate(names):
            keys, table = text_table(step, [str(n) for n in names], position)
            transforms.append(ColumnTransform(str(name), "text", keys=keys, table=table.tolist()))
        return transforms
    fills = np.nan_to_num(np.asarray(step.statistics_, dtype=float)).tolist()
    pairs = zip(names, fills, strict=True)
    return [ColumnTransform(str(name), "number", fill=fill) for name, fill in pairs]
