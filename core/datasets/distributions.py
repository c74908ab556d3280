"""How the values of each column are distributed: in bins, or by the most frequent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import moments
from core.datasets.dataset import Column
from core.datasets.dataset_summary import Distribution, DistributionKind
from core.datasets.dates import seconds_since_1970

MAX_COLUMNS = 300  # described
MAX_ROWS = 20_000  # examined of one column
MIN_ROWS = 5000  # even of the widest table
MAX_CELLS = 6_000_000  # examined of all columns together
BINS, BARS = 20, 8
LONGEST = 40  # letters of a value's name


class Distributions(Mapping[str, Distribution]):
    """{column: distribution} of the shown columns, but for texts and identifiers.

    They are computed when they are asked for, from some rows that are kept until then.
    """

    def __init__(self, table: pd.DataFrame, columns: Sequence[Column]) -> None:
        shown, self._of = shown_columns(columns), len(table)
        unshown = ("text", "identifier")
        self._columns = [c for c in shown if c.kind not in unshown and c.name in table]
        rows = spread_rows(len(table), len(shown))
        sample = table[[column.name for column in self._columns]]
        self._sample = sample if rows is None else sample.iloc[rows]

    @cached_property
    def _by_column(self) -> dict[str, Distribution]:
        spreads = {c.name: distribution(self._sample[c.name], c, self._of) for c in self._columns}
        del self._sample
        return {name: spread for name, spread in spreads.items() if spread is not None}

    def __getitem__(self, name: str) -> Distribution:
        return self._by_column[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_column)

    def __len__(self) -> int:
        return len(self._by_column)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._by_column,)


def shown_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns of a summary: the first ones, and the target in any case."""
    shown = list(columns[:MAX_COLUMNS])
    target = next((column for column in reversed(columns) if column.role == "target"), None)
    if target is not None and all(column.role != "target" for column in shown):
        shown[-1] = target
    return shown


def spread_rows(rows: int, columns: int) -> np.ndarray | None:
    """Positions of evenly spaced rows, fewer the more columns; None for all."""
    max_rows = min(MAX_ROWS, max(MIN_ROWS, MAX_CELLS // max(columns, 1)))
    return None if rows <= max_rows else np.linspace(0, rows - 1, max_rows).astype(np.int64)


def distribution(values: pd.Series, column: Column, total_rows: int) -> Distribution | None:
    """The distribution of some of a column's `total_rows` values; None if all missing."""
    rows: dict[str, Any] = {"rows": len(values), "of": total_rows}
    is_amount = column.kind not in ("category", "yes/no") and not column.date_format
    if values.dtype.kind in "iuf" and is_amount:
        return binned_distribution(values.to_numpy(dtype=float), "numbers", **rows)
    present_values = values.dropna()
    if column.kind == "date" and column.date_format:
        seconds = seconds_since_1970(moments(present_values, column.date_format).dropna())
        return binned_distribution(seconds, "dates", **rows)
    return _value_distribution(present_values, **rows)


def binned_distribution(
    values: np.ndarray, kind: DistributionKind, *, rows: int, of: int
) -> Distribution | None:
    """Numbers in bins of equal width; one bin per value for few whole numbers."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Distribution(kind, (len(values),), low, high, rows=rows, of=of)
    # Halved, so that no span is beyond what a float holds.
    fractions = (values / 2 - low / 2) / (high / 2 - low / 2)
    span = high - low
    if span < BINS and np.array_equal(values, np.floor(values)):
        bins = round(span) + 1
        codes = np.rint(fractions * span).astype(np.int64)
    else:
        bins = BINS
        codes = np.minimum((fractions * bins).astype(np.int64), bins - 1)
    counts = tuple(np.bincount(codes, minlength=bins).tolist())
    return Distribution(kind, counts, low, high, rows=rows, of=of)


def _value_distribution(present_values: pd.Series, *, rows: int, of: int) -> Distribution | None:
    counts = present_values.value_counts()
    if counts.empty:
        return None
    first = counts.iloc[:BARS]
    return Distribution(
        "values",
        tuple(int(count) for count in first),
        labels=tuple(_value_label(value) for value in first.index),
        other=int(counts.iloc[BARS:].sum()),
        different=max(0, len(counts) - BARS),
        rows=rows,
        of=of,
    )


def _value_label(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"


def sparse_distributions(
    matrix: Any, target: np.ndarray, columns: Sequence[Column]
) -> Mapping[str, Distribution]:
    """The same for the columns of a CSR matrix and its target."""
    shown = shown_columns(columns)
    total = matrix.shape[0]
    rows = spread_rows(total, len(shown))
    features = [column for column in shown if column.role == "feature"]
    sample = (matrix if rows is None else matrix[rows])[:, : len(features)].tocsc()
    by_column = {}
    for index, column in enumerate(features):
        values = sample[:, [index]].toarray().ravel().astype(float)
        spread = binned_distribution(values, "numbers", rows=len(values), of=total)
        if spread is not None:
            by_column[column.name] = spread
    for column in shown:
        if column.role == "target" and column.name not in by_column:
            values = pd.Series(target if rows is None else target[rows], name=column.name)
            spread = distribution(values, column, total)
            if spread is not None:
                by_column[column.name] = spread
    return by_column
