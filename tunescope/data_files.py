"""A table in memory becomes a file that keeps what its columns' types say; how a file is read."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.column_format import guess_format, guess_of_numbers
from core.datasets.reading_report import ReadingReport
from core.tuning.guidance.column_encodings import report_on
from core.tuning.plan import DataPlan

Table = str | Path | pd.DataFrame


def read(data: Table, target: str = "", **options: Any) -> ReadingReport:
    """How a file or table is read: columns, what else they could mean, findings.

    `data`: a table, the path of a file, or `sample:NAME`; `target` and `options` (task, roles,
    kinds, readings) as in `tune`. Raises UnusableError: invalid data, in one sentence.
    """
    with tempfile.TemporaryDirectory(prefix="tunescope-") as scratch:
        plan = DataPlan("", target=target, **options)
        return report_on(with_file(plan, data, Path(scratch) / "rows.csv"))


def with_file(plan: DataPlan, data: Table, draft: Path) -> DataPlan:
    """The plan on a file or sample; a table is written to `draft`, and read as its types say."""
    file = file_of(data, draft)
    if not isinstance(data, pd.DataFrame):
        return replace(plan, file=file)
    kinds, readings = _meanings(data, {*plan.kinds, *plan.readings}, plan.target)
    readings, kinds = {**readings, **plan.readings}, {**kinds, **plan.kinds}
    return replace(plan, file=file, kinds=kinds, readings=readings)


def file_of(data: Table, draft: Path) -> str:
    """The file of some data, a table's being `draft`."""
    if not isinstance(data, pd.DataFrame):
        return str(data) if str(data).startswith("sample:") else str(Path(data).absolute())
    data.to_csv(draft, index=False)
    return str(draft)


def _meanings(
    table: pd.DataFrame, chosen: set[str], target: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Kinds and readings of the columns that a CSV file would not tell as their types do.

    Not those `chosen`, nor a target of texts, which may be numbers.
    """
    kinds, readings = dict[str, str](), dict[str, str]()
    for index, name in enumerate(map(str, table.columns)):
        values, name = table.iloc[:, index], name.strip()
        if name in chosen:
            continue
        if isinstance(values.dtype, pd.CategoricalDtype):
            if guess_format(values.astype(object)).form.kind in ("number", "date"):
                kinds[name] = "category"
        elif name != target and (reading := _reading_of(values)):
            readings[name] = reading
    return kinds, readings


def _reading_of(values: pd.Series) -> str:
    if values.dtype.kind in "iuf":
        return "number" if guess_of_numbers(values) else ""
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return ""
    form = guess_format(values).form
    if form.kind != "number":
        return "values" if form.missing else ""
    return "" if guess_format(values, typed=True).form.kind == "number" else "text"
