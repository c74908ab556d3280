"""How the values of each column are spread: bins of numbers and dates, otherwise the most frequent.

Worked out once, as a file is read, for the columns that a window can show. Of many rows, or of many
columns, rows spread evenly over the file stand for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.datasets.dataset import Column

MOST_COLUMNS = 300  # that are described; more than anyone looks through
MOST_ROWS = 100_000  # that are looked at of one column
FEWEST_ROWS = 5000  # also of the widest table
MOST_CELLS = 6_000_000  # that are looked at of all columns together
BINS, BARS = 20, 8
LONGEST = 40  # letters of a value's name
Kind = Literal["numbers", "dates", "values"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the known values of one column are spread.

    Attributes:
        kind: whether `counts` are of bins of numbers, of bins of dates, or of single values.
        counts: rows in each bin, in order; or rows with each of `labels`, the most frequent first.
        low, high: the ends of the bins: the least and the largest value; seconds since 1970 where
            they are dates.
        labels: the values; empty for bins.
        other: rows with other values than `labels`.
        different: how many other values there are.
        rows: how many rows were looked at, missing ones included.
        of: how many there are.
    """

    kind: Kind
    counts: tuple[int, ...]
    low: float = 0.0
    high: float = 0.0
    labels: tuple[str, ...] = ()
    other: int = 0
    different: int = 0
    rows: int = 0
    of: int = 0


def distributions(table: pd.DataFrame, columns: Sequence[Column]) -> dict[str, Distribution]:
    """{column: how its values are spread} of the columns that are shown.

    Columns of texts and identifiers, whose values are all different, and empty ones have none.

    Args:
        table: every column of the file.
        columns: what they are.
    """
    shown = shown_columns(columns)
    places = spread_rows(len(table), len(shown))
    found = {}
    for column in shown:
        if column.kind in ("text", "identifier") or column.name not in table:
            continue
        values = table[column.name]
        some = values if places is None else values.iloc[places]
        spread = distribution(some, column, len(values))
        if spread is not None:
            found[column.name] = spread
    return found


def shown_columns(columns: Sequence[Column]) -> list[Column]:
    """The columns that a summary tells of: the first ones, and the target in any case."""
    shown = list(columns[:MOST_COLUMNS])
    target = next((column for column in reversed(columns) if column.role == "target"), None)
    if target is not None and all(column.role != "target" for column in shown):
        shown[-1] = target
    return shown


def spread_rows(rows: int, columns: int) -> np.ndarray | None:
    """The places of rows spread evenly, so many as there is time for; None for all."""
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(columns, 1)))
    return None if rows <= most else np.linspace(0, rows - 1, most).astype(np.int64)


def distribution(values: pd.Series, column: Column, of: int) -> Distribution | None:
    """How some values of a column are spread; None where none is known.

    Args:
        values: of the rows that are looked at.
        column: what it is.
        of: how many rows there are.
    """
    rows: dict[str, Any] = {"rows": len(values), "of": of}
    known = values.dropna()
    if column.kind == "date" and column.date_format:
        times = pd.to_datetime(known, format=column.date_format, errors="coerce", utc=True)
        seconds = (times.dropna() - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
        return in_bins(seconds.to_numpy(dtype=float), "dates", **rows)
    numeric = pd.api.types.is_numeric_dtype(known.dtype)
    if numeric and column.kind not in ("category", "yes/no"):
        return in_bins(known.to_numpy(dtype=float), "numbers", **rows)
    return _of_values(known, **rows)


def in_bins(values: np.ndarray, kind: Kind, *, rows: int, of: int) -> Distribution | None:
    """Numbers in bins of equal width; a bin for each of a few whole numbers."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Distribution(kind, (len(values),), low, high, rows=rows, of=of)
    # Halved, so that no span is beyond what a float holds.
    places = (values / 2 - low / 2) / (high / 2 - low / 2)
    span = high - low
    if span < BINS and np.array_equal(values, np.floor(values)):
        bins = round(span) + 1
        codes = np.rint(places * span).astype(np.int64)
    else:
        bins = BINS
        codes = np.minimum((places * bins).astype(np.int64), bins - 1)
    counts = tuple(np.bincount(codes, minlength=bins).tolist())
    return Distribution(kind, counts, low, high, rows=rows, of=of)


def _of_values(known: pd.Series, *, rows: int, of: int) -> Distribution | None:
    counts = known.value_counts()
    if counts.empty:
        return None
    first = counts.iloc[:BARS]
    return Distribution(
        "values",
        tuple(int(count) for count in first),
        labels=tuple(_name(value) for value in first.index),
        other=int(counts.iloc[BARS:].sum()),
        different=max(0, len(counts) - BARS),
        rows=rows,
        of=of,
    )


def _name(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"


def sparse_distributions(
    matrix: Any, target: np.ndarray, columns: Sequence[Column]
) -> Mapping[str, Distribution]:
    """The same of the columns of a CSR matrix and of its target."""
    shown = shown_columns(columns)
    total = matrix.shape[0]
    places = spread_rows(total, len(shown))
    features = [column for column in shown if column.role == "feature"]
    part = (matrix if places is None else matrix[places])[:, : len(features)].tocsc()
    found = {}
    for at, column in enumerate(features):
        values = part[:, [at]].toarray().ravel().astype(float)
        spread = in_bins(values, "numbers", rows=len(values), of=total)
        if spread is not None:
            found[column.name] = spread
    for column in shown:
        if column.role == "target" and column.name not in found:
            values = pd.Series(target if places is None else target[places], name=column.name)
            spread = distribution(values, column, total)
            if spread is not None:
                found[column.name] = spread
    return found
