"""Which new rows are unlike the rows that a model learned from, and in what.

A row is marked where a number lies outside the range seen in training, where a category was never
seen there, and as a whole where it is farther from every training row than any training row is
from its nearest other one. The distance of two rows is Gower's (1971): the mean over columns of
|a − b| / range for numbers, 0 or 1 for equal or other categories; 1 where only one is missing. Of
more than `MAX_TRAINING_ROWS` training rows so many are drawn, which makes the distances between
them a little larger: fewer rows are marked then, never more because of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.spatial.distance import cdist

from core.tuning.results.training_columns import CHOICE, NUMBER, TrainingRows

MAX_TRAINING_ROWS = 1000  # training rows that distances are taken to
CHUNK_ROWS = 500  # new rows
MAX_CATEGORIES = (
    1000  # categories of one column; more are free text, of which new ones tell nothing
)
MAX_LETTERS = 40  # letters of a category in what is said of a row
MAX_NAMED = 3  # columns in what is said of a row


@dataclass(frozen=True)
class TrainingProfile:
    """What training rows look like.

    Attributes:
        ranges: {column: (lowest, highest)} of numbers.
        kinds: {column: its categories}; those of free text are left out.
        rows: some of the training rows (none where these are not known), every column a number or
            a code; m × d, NaN for missing.
        widths: of the numbers' ranges, d; NaN for categories.
        max_distance: the largest distance of one of these rows to its nearest other one.
    """

    ranges: Mapping[str, tuple[float, float]]
    kinds: Mapping[str, Mapping[str, int]]
    rows: np.ndarray
    widths: np.ndarray
    max_distance: float

    def for_column(self, name: str) -> TrainingProfile:
        """What is known of one column alone."""
        ranges = {name: self.ranges[name]} if name in self.ranges else {}
        kinds = {name: self.kinds[name]} if name in self.kinds else {}
        return TrainingProfile(ranges, kinds, np.empty((0, 0)), np.empty(0), np.inf)


def training_profile(table: pd.DataFrame, seed: int = 0) -> TrainingProfile:
    """What the training rows look like.

    Args:
        table: the feature columns of the rows that the model was fitted on.
        seed: of the draw where there are very many.
    """
    ranges: dict[str, tuple[float, float]] = {}
    kinds: dict[str, dict[str, int]] = {}
    for name in table.columns:
        present_values = table[name].dropna()
        if is_numeric_dtype(table[name].dtype):
            if len(present_values):
                ranges[str(name)] = (float(present_values.min()), float(present_values.max()))
        else:
            words = sorted(present_values.astype(str).unique())
            if len(words) <= MAX_CATEGORIES:
                kinds[str(name)] = {word: code for code, word in enumerate(words)}
    order = np.random.default_rng(seed).permutation(len(table))[:MAX_TRAINING_ROWS]
    used_names = [name for name in map(str, table.columns) if name in ranges or name in kinds]
    widths = np.array([ranges[n][1] - ranges[n][0] if n in ranges else np.nan for n in used_names])
    empty_profile = TrainingProfile(ranges, kinds, np.empty((0, len(used_names))), widths, 0.0)
    rows = _encode_table(table.iloc[np.sort(order)], empty_profile)
    nearest = _nearest_distances(rows, rows, widths, itself=True)
    max_distance = float(nearest.max()) if len(nearest) > 1 else np.inf
    return TrainingProfile(ranges, kinds, rows, widths, max_distance)


def unlike_reasons(table: pd.DataFrame, profile: TrainingProfile) -> list[str]:
    """What is unlike the training rows in each row, in words; "" for nothing.

    Args:
        table: the feature columns of new rows, as `training_profile` had them.
    """
    reasons: list[list[str]] = [[] for _ in range(len(table))]
    table = table.reset_index(drop=True)
    for name, (low, high) in profile.ranges.items():
        values = pd.to_numeric(table[name], errors="coerce").to_numpy(float)
        for row in np.flatnonzero((values < low) | (values > high)):
            range_ = f"is outside {low:g} to {high:g}" if low < high else f"was always {low:g}"
            reasons[row].append(f"{name} {range_}")
    for name, kinds in profile.kinds.items():
        words = _category_words(table[name])
        new = words.notna() & ~words.isin(list(kinds))
        for row in np.flatnonzero(new.to_numpy(bool)):
            reasons[row].append(f"{name} was never “{_shortened(words.iloc[row])}”")
    is_far = np.zeros(len(table), dtype=bool)
    if len(profile.rows):
        is_far = (
            _nearest_distances(_encode_table(table, profile), profile.rows, profile.widths)
            > profile.max_distance
        )
    return [
        _reasons_text(row_reasons, bool(far))
        for row_reasons, far in zip(reasons, is_far, strict=True)
    ]


def profile_of_summary(training: TrainingRows) -> TrainingProfile:
    """The same of what a model file tells: without rows, none is far as a whole."""
    ranges = {
        column.name: (column.low, column.high)
        for column in training.columns
        if column.kind == NUMBER and column.low is not None and column.high is not None
    }
    kinds = {
        column.name: {_category_text(value): code for code, value in enumerate(column.choices)}
        for column in training.columns
        if column.kind == CHOICE and column.choices and not column.more
    }
    return TrainingProfile(ranges, kinds, np.empty((0, 0)), np.empty(0), np.inf)


def _category_words(values: pd.Series) -> pd.Series:
    """The values as words, as `TrainingColumn.choices` has them; missing ones stay missing."""
    if is_numeric_dtype(values.dtype):
        return values.map(lambda value: np.nan if pd.isna(value) else _category_text(float(value)))
    return values.where(values.isna(), values.astype(str)).astype(object)


def _category_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _shortened(word: str) -> str:
    """A word of a cell within one line of a table."""
    word = " ".join(word.split())
    return word if len(word) <= MAX_LETTERS else f"{word[:MAX_LETTERS]}…"


def _reasons_text(reasons: list[str], is_far: bool) -> str:
    more_text = [f"{len(reasons) - MAX_NAMED} more"] if len(reasons) > MAX_NAMED else []
    distance_reasons = ["far from every training row"] if is_far else []
    return "; ".join([*reasons[:MAX_NAMED], *more_text, *distance_reasons])


def _encode_table(table: pd.DataFrame, profile: TrainingProfile) -> np.ndarray:
    """Numbers as they are, categories by their place; new ones by places of none, n × d."""
    columns = []
    for name in map(str, table.columns):
        if name in profile.ranges:
            columns.append(pd.to_numeric(table[name], errors="coerce").to_numpy(float))
        elif name in profile.kinds:
            kinds, words = profile.kinds[name], _category_words(table[name])
            codes = words.map(dict(kinds)).to_numpy(float)
            columns.append(np.where(words.isna(), np.nan, np.where(np.isnan(codes), -1, codes)))
    return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def _nearest_distances(
    rows: np.ndarray, reference_rows: np.ndarray, widths: np.ndarray, itself: bool = False
) -> np.ndarray:
    """The distance of each row to the nearest of the others, n; not to itself if it is there."""
    nearest = np.full(len(rows), np.inf if len(reference_rows) else 0.0)
    if not rows.shape[1] or not len(reference_rows):
        return np.zeros(len(rows))
    quick = [
        column
        for column, width in enumerate(widths)
        if width > 0
        and not (np.isnan(rows[:, column]).any() or np.isnan(reference_rows[:, column]).any())
    ]
    slow = [column for column in range(rows.shape[1]) if column not in quick]
    scale = widths[quick]
    for start in range(0, len(rows), CHUNK_ROWS):
        chunk = rows[start : start + CHUNK_ROWS]
        total = cdist(chunk[:, quick] / scale, reference_rows[:, quick] / scale, "cityblock")
        for column in slow:
            total += _column_distance(
                chunk[:, column, None], reference_rows[None, :, column], widths[column]
            )
        total /= rows.shape[1]
        if itself:
            positions = np.arange(len(chunk))
            total[positions, start + positions] = np.inf
        nearest[start : start + CHUNK_ROWS] = total.min(axis=1)
    return nearest


def _column_distance(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    distance = np.abs(first - second) / width if width > 0 else (first != second).astype(float)
    has_missing, both_missing = (
        np.isnan(first) | np.isnan(second),
        np.isnan(first) & np.isnan(second),
    )
    return np.where(both_missing, 0.0, np.where(has_missing, 1.0, distance))
