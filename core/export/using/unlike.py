"""Which new rows are unlike the rows that a model learned from, and in what.

A row is marked where a number lies outside the range seen in training, where a category was never
seen there, and as a whole where it is farther from every training row than any training row is
from its nearest other one. The distance of two rows is Gower's (1971): the mean over columns of
|a − b| / range for numbers, 0 or 1 for equal or other categories; 1 where only one is missing. Of
more than `MOST` training rows so many are drawn, which makes the distances between them a little
larger: fewer rows are marked then, never more because of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.spatial.distance import cdist

from core.tuning.results.training_rows import CHOICE, NUMBER, TrainingRows

MOST = 1000  # training rows that distances are taken to
AT_ONCE = 500  # new rows
MOST_KINDS = 1000  # categories of one column; more are free text, of which new ones tell nothing
LONGEST = 40  # letters of a category in what is said of a row
NAMED = 3  # columns in what is said of a row


@dataclass(frozen=True)
class Seen:
    """What training rows look like.

    Attributes:
        ranges: {column: (lowest, highest)} of numbers.
        kinds: {column: its categories}; those of free text are left out.
        rows: some of the training rows (none where these are not known), every column a number or
            a code; m × d, NaN for missing.
        widths: of the numbers' ranges, d; NaN for categories.
        apart: the largest distance of one of these rows to its nearest other one.
    """

    ranges: Mapping[str, tuple[float, float]]
    kinds: Mapping[str, Mapping[str, int]]
    rows: np.ndarray
    widths: np.ndarray
    apart: float

    def only(self, name: str) -> Seen:
        """What is known of one column alone."""
        ranges = {name: self.ranges[name]} if name in self.ranges else {}
        kinds = {name: self.kinds[name]} if name in self.kinds else {}
        return Seen(ranges, kinds, np.empty((0, 0)), np.empty(0), np.inf)


def seen_in(table: pd.DataFrame, seed: int = 0) -> Seen:
    """What the training rows look like.

    Args:
        table: the feature columns of the rows that the model was fitted on.
        seed: of the draw where there are very many.
    """
    ranges: dict[str, tuple[float, float]] = {}
    kinds: dict[str, dict[str, int]] = {}
    for name in table.columns:
        there = table[name].dropna()
        if is_numeric_dtype(table[name].dtype):
            if len(there):
                ranges[str(name)] = (float(there.min()), float(there.max()))
        else:
            words = sorted(there.astype(str).unique())
            if len(words) <= MOST_KINDS:
                kinds[str(name)] = {word: place for place, word in enumerate(words)}
    order = np.random.default_rng(seed).permutation(len(table))[:MOST]
    told = [name for name in map(str, table.columns) if name in ranges or name in kinds]
    widths = np.array([ranges[n][1] - ranges[n][0] if n in ranges else np.nan for n in told])
    bare = Seen(ranges, kinds, np.empty((0, len(told))), widths, 0.0)
    rows = _coded(table.iloc[np.sort(order)], bare)
    nearest = _nearest(rows, rows, widths, itself=True)
    apart = float(nearest.max()) if len(nearest) > 1 else np.inf
    return Seen(ranges, kinds, rows, widths, apart)


def unlike(table: pd.DataFrame, seen: Seen) -> list[str]:
    """What is unlike the training rows in each row, in words; "" for nothing.

    Args:
        table: the feature columns of new rows, as `seen_in` had them.
    """
    found: list[list[str]] = [[] for _ in range(len(table))]
    table = table.reset_index(drop=True)
    for name, (low, high) in seen.ranges.items():
        values = pd.to_numeric(table[name], errors="coerce").to_numpy(float)
        for at in np.flatnonzero((values < low) | (values > high)):
            range_ = f"is outside {low:g} to {high:g}" if low < high else f"was always {low:g}"
            found[at].append(f"{name} {range_}")
    for name, kinds in seen.kinds.items():
        words = _words(table[name])
        new = words.notna() & ~words.isin(list(kinds))
        for at in np.flatnonzero(new.to_numpy(bool)):
            found[at].append(f"{name} was never “{_short(words.iloc[at])}”")
    far = np.zeros(len(table), dtype=bool)
    if len(seen.rows):
        far = _nearest(_coded(table, seen), seen.rows, seen.widths) > seen.apart
    return [_said(one, bool(alone)) for one, alone in zip(found, far, strict=True)]


def seen_of(training: TrainingRows) -> Seen:
    """The same of what a model file tells: without rows, none is far as a whole."""
    ranges = {
        one.name: (one.low, one.high)
        for one in training.columns
        if one.kind == NUMBER and one.low is not None and one.high is not None
    }
    kinds = {
        one.name: {_word(value): place for place, value in enumerate(one.choices)}
        for one in training.columns
        if one.kind == CHOICE and one.choices and not one.more
    }
    return Seen(ranges, kinds, np.empty((0, 0)), np.empty(0), np.inf)


def _words(values: pd.Series) -> pd.Series:
    """The values as words, as `TrainingColumn.choices` has them; missing ones stay missing."""
    if is_numeric_dtype(values.dtype):
        return values.map(lambda value: np.nan if pd.isna(value) else _word(float(value)))
    return values.where(values.isna(), values.astype(str)).astype(object)


def _word(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _short(word: str) -> str:
    """A word of a cell within one line of a table."""
    word = " ".join(word.split())
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}…"


def _said(found: list[str], far: bool) -> str:
    more = [f"{len(found) - NAMED} more"] if len(found) > NAMED else []
    whole = ["far from every training row"] if far else []
    return "; ".join([*found[:NAMED], *more, *whole])


def _coded(table: pd.DataFrame, seen: Seen) -> np.ndarray:
    """Numbers as they are, categories by their place; new ones by places of none, n × d."""
    columns = []
    for name in map(str, table.columns):
        if name in seen.ranges:
            columns.append(pd.to_numeric(table[name], errors="coerce").to_numpy(float))
        elif name in seen.kinds:
            kinds, words = seen.kinds[name], _words(table[name])
            codes = words.map(dict(kinds)).to_numpy(float)
            columns.append(np.where(words.isna(), np.nan, np.where(np.isnan(codes), -1, codes)))
    return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def _nearest(
    rows: np.ndarray, others: np.ndarray, widths: np.ndarray, itself: bool = False
) -> np.ndarray:
    """The distance of each row to the nearest of the others, n; not to itself if it is there."""
    nearest = np.full(len(rows), np.inf if len(others) else 0.0)
    if not rows.shape[1] or not len(others):
        return np.zeros(len(rows))
    quick = [
        column
        for column, width in enumerate(widths)
        if width > 0 and not (np.isnan(rows[:, column]).any() or np.isnan(others[:, column]).any())
    ]
    slow = [column for column in range(rows.shape[1]) if column not in quick]
    scale = widths[quick]
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        total = cdist(some[:, quick] / scale, others[:, quick] / scale, "cityblock")
        for column in slow:
            total += _apart(some[:, column, None], others[None, :, column], widths[column])
        total /= rows.shape[1]
        if itself:
            own = np.arange(len(some))
            total[own, start + own] = np.inf
        nearest[start : start + AT_ONCE] = total.min(axis=1)
    return nearest


def _apart(one: np.ndarray, other: np.ndarray, width: float) -> np.ndarray:
    """The part of one column in the distances, rows × others."""
    apart = np.abs(one - other) / width if width > 0 else (one != other).astype(float)
    none, neither = np.isnan(one) | np.isnan(other), np.isnan(one) & np.isnan(other)
    return np.where(neither, 0.0, np.where(none, 1.0, apart))
