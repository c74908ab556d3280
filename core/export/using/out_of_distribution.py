"""Out-of-distribution checks: which new rows are unlike the training rows, and why.

A number lies outside the training range, a category is new, or the row is farther from every
training row than any of these from its nearest other. Gower's distance (1971): the mean over
columns of |a − b| / range for numbers, 0 or 1 for categories; 1 where only one is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.spatial.distance import cdist

from core.tuning.results.training_columns import CHOICE, NUMBER, TrainingRows

# Of more rows a sample is drawn: its distances are a little larger, so that fewer rows are marked.
MAX_TRAINING_ROWS = 1000
CHUNK_ROWS = 500  # new rows
MAX_CATEGORIES = 1000  # of one column; more are free text, where new ones mean nothing
MAX_LETTERS = 40  # of a category in the reasons of a row
MAX_NAMED = 3  # columns in the reasons of a row


@dataclass(frozen=True)
class TrainingProfile:
    """The properties of training rows, m sampled rows of d columns."""

    ranges: Mapping[str, tuple[float, float]]  # {column of numbers: (min, max)}
    kinds: Mapping[str, Mapping[str, int]]  # {column: codes of its categories}; none of free text
    rows: np.ndarray  # m × d, numbers or codes, NaN for missing; may be empty
    widths: np.ndarray  # of the numbers' ranges, d; NaN for categories
    max_distance: float  # of one of these rows to its nearest other one

    def for_column(self, name: str) -> TrainingProfile:
        """The profile of one column alone."""
        ranges = {name: self.ranges[name]} if name in self.ranges else {}
        kinds = {name: self.kinds[name]} if name in self.kinds else {}
        return TrainingProfile(ranges, kinds, np.empty((0, 0)), np.empty(0), np.inf)


def training_profile(table: pd.DataFrame, seed: int = 0) -> TrainingProfile:
    """The profile of the feature columns of the fitted rows; `seed` draws the sample."""
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
    """Why each row of `training_profile`'s columns is unlike training rows; "" where it is not."""
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
        rows = _encode_table(table, profile)
        is_far = _nearest_distances(rows, profile.rows, profile.widths) > profile.max_distance
    return [_reasons_text(words, bool(far)) for words, far in zip(reasons, is_far, strict=True)]


def profile_of_summary(training: TrainingRows) -> TrainingProfile:
    """The profile from a model file, without rows: none is far as a whole."""
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
    if is_numeric_dtype(values.dtype):
        return values.map(lambda value: np.nan if pd.isna(value) else _category_text(float(value)))
    return values.where(values.isna(), values.astype(str)).astype(object)


def _category_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _shortened(word: str) -> str:
    word = " ".join(word.split())
    return word if len(word) <= MAX_LETTERS else f"{word[:MAX_LETTERS]}…"


def _reasons_text(reasons: list[str], is_far: bool) -> str:
    more_text = [f"{len(reasons) - MAX_NAMED} more"] if len(reasons) > MAX_NAMED else []
    distance_reasons = ["far from every training row"] if is_far else []
    return "; ".join([*reasons[:MAX_NAMED], *more_text, *distance_reasons])


def _encode_table(table: pd.DataFrame, profile: TrainingProfile) -> np.ndarray:
    columns = []
    for name in map(str, table.columns):
        if name in profile.ranges:
            columns.append(pd.to_numeric(table[name], errors="coerce").to_numpy(float))
        elif name in profile.kinds:
            kinds, words = profile.kinds[name], _category_words(table[name])
            codes = words.map(dict(kinds)).to_numpy(float)
            codes = np.where(np.isnan(codes), -1, codes)  # new categories
            columns.append(np.where(words.isna(), np.nan, codes))
    return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def _nearest_distances(
    rows: np.ndarray, reference_rows: np.ndarray, widths: np.ndarray, itself: bool = False
) -> np.ndarray:
    if not rows.shape[1] or not len(reference_rows):
        return np.zeros(len(rows))
    nearest = np.full(len(rows), np.inf)
    has_missing = np.isnan(rows).any(axis=0) | np.isnan(reference_rows).any(axis=0)
    quick = np.flatnonzero((widths > 0) & ~has_missing).tolist()
    slow = [column for column in range(rows.shape[1]) if column not in quick]
    scale = widths[quick]
    for start in range(0, len(rows), CHUNK_ROWS):
        chunk = rows[start : start + CHUNK_ROWS]
        total = cdist(chunk[:, quick] / scale, reference_rows[:, quick] / scale, "cityblock")
        for column in slow:
            pair = chunk[:, column, None], reference_rows[None, :, column]
            total += _column_distance(*pair, widths[column])
        total /= rows.shape[1]
        if itself:
            positions = np.arange(len(chunk))
            total[positions, start + positions] = np.inf
        nearest[start : start + CHUNK_ROWS] = total.min(axis=1)
    return nearest


def _column_distance(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    distance = np.abs(first - second) / width if width > 0 else (first != second).astype(float)
    has_missing = np.isnan(first) | np.isnan(second)
    both_missing = np.isnan(first) & np.isnan(second)
    return np.where(both_missing, 0.0, np.where(has_missing, 1.0, distance))
