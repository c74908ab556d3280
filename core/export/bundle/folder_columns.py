"""A fitted preparation of table columns as plain data that numpy alone can follow.

Every part is {"column", "kind"} and, by kind:

| kind | more |
| --- | --- |
| number | fill for what is missing, then minus mean, divided by scale |
| date | the same of seconds since 1970; format of its text |
| text | keys, and table: what each becomes; its last line is for unknown texts |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from core.export.text_tables import text_table

UNSCALED = {"mean": 0.0, "scale": 1.0}


def column_parts(prepare: Pipeline) -> list[dict[str, Any]]:
    """The parts of a preparation without a final scaling, in the order of its outputs.

    Raises:
        ValueError: it has a final scaling, or takes a matrix.
    """
    encode = prepare.named_steps["columns"]
    if len(prepare.steps) > 1 or not isinstance(encode, ColumnTransformer):
        raise ValueError("only unscaled columns of tables are written down so")
    return [part for step in encode.transformers_ for part in _parts(*step)]


def _parts(way: str, step: Any, names: Any) -> list[dict[str, Any]]:
    if way == "remainder":
        return []
    if way.startswith("date "):
        scaler, fill = step.named_steps["scale"], step.named_steps["fill"].statistics_[0]
        how = {"format": step.named_steps["read"].kw_args["format"], "fill": float(fill)}
        how |= {"mean": float(scaler.mean_[0]), "scale": float(scaler.scale_[0])}
        return [{"column": str(names), "kind": "date", **how}]
    if way.startswith(("yes/no", "category")):
        found = []
        for place, name in enumerate(names):
            keys, table = text_table(step, [str(n) for n in names], place)
            found.append(
                {"column": str(name), "kind": "text", "keys": keys, "table": table.tolist()}
            )
        return found
    fills = np.nan_to_num(np.asarray(step.statistics_, dtype=float)).tolist()
    return [
        {"column": str(name), "kind": "number", "fill": fill, **UNSCALED}
        for name, fill in zip(names, fills, strict=True)
    ]
