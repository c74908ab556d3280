"""New rows beside training rows: which are unlike them and why, and remarks on whole columns.

A number lies outside the training range, a category is new, or the row is farther from every
training row than any of these from its nearest other. Gower's distance (1971): the mean over
columns of |a − b| / range for numbers, 0 or 1 for categories; 1 where only one is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.spatial.distance import cdist

from core.datasets.cell_values import moments
from core.datasets.column_format import seconds_since_1970
from core.export.raw_rows import ReadNotes
from core.tuning.results.training_rows import (
    CHOICE,
    DATE,
    NUMBER,
    TrainingColumn,
    TrainingRows,
    date_text,
)

# Of more rows a sample is drawn: its distances are a little larger, so that fewer rows are marked.
MAX_TRAINING_ROWS = 1000
CHUNK_ROWS = 500  # new rows
MAX_CATEGORIES = 1000  # of one column; more are free text, where new ones mean nothing
MAX_LETTERS = 40  # of a category in the reasons of a row


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
            # Of free text every new row would be a new category.
            if len(words) <= MAX_CATEGORIES:
                kinds[str(name)] = {word: code for code, word in enumerate(words)}
    # A sample keeps the distances to all others affordable.
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
            reasons[row].append(f"{name} was never “{_shortened(words.iloc[row], MAX_LETTERS)}”")
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


def _reasons_text(reasons: list[str], is_far: bool) -> str:
    distance_reasons = ["far from every training row"] if is_far else []
    return "; ".join([*_at_most(reasons), *distance_reasons])


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
    # A missing value counts by a rule of its own, column by column; the others go to cdist at once.
    quick = np.flatnonzero((widths > 0) & ~has_missing).tolist()
    slow = [column for column in range(rows.shape[1]) if column not in quick]
    scale = widths[quick]
    # All pairs at once would fill the memory.
    for start in range(0, len(rows), CHUNK_ROWS):
        chunk = rows[start : start + CHUNK_ROWS]
        total = cdist(chunk[:, quick] / scale, reference_rows[:, quick] / scale, "cityblock")
        for column in slow:
            pair = chunk[:, column, None], reference_rows[None, :, column]
            total += _column_distance(*pair, widths[column])
        total /= rows.shape[1]
        # A training row is not its own neighbour.
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


MIN_VALUES = 2  # values of a column that may lie in another unit
MIN_OUTSIDE_SHARE = 0.5  # share of a column's values from which on another unit is suspected
MAX_NAMED = 3  # columns, or categories, that are named in a sentence or the reasons of a row
MAX_NEW_CATEGORIES = 1000  # new categories of one column that are counted
OUTSIDE = "mostly outside the range of training"
NEW = "values never seen in training"
NO_DATES = "values that are no dates like those of training"
MAX_DATE_YEARS = 200  # between a date and the middle one of training
NEVER = "9999"  # a year that stands for no end
ROUND = 0.1  # how near to a power of ten a ratio must be, in powers of ten


@dataclass
class _Numbers:
    middle: float = math.nan
    count: int = 0
    outside: int = 0


class InputChecks:
    """The properties of new rows so far, beside those of the training rows."""

    def __init__(self, training: TrainingRows | None) -> None:
        columns = training.columns if training else ()
        self._training = training
        self._numbers = [c for c in columns if c.kind == NUMBER and c.low is not None]
        self._choices = [column for column in columns if column.kind == CHOICE and not column.more]
        self._typical = [column.name for column in columns if column.typical not in (None, "")]
        self._number_stats: dict[str, _Numbers] = {}
        self._new: dict[str, dict[str, None]] = {}
        self._no_dates: dict[str, dict[str, None]] = {}
        self._filled_columns: set[str] = set()
        self._present_columns: set[str] = set()
        self.noted = ReadNotes()

    def add_rows(self, rows: pd.DataFrame) -> None:
        """Add some rows, with all columns that are compared with the training rows."""
        self._present_columns |= {name for name in self._typical if name in rows}
        # Only columns without any value so far need another look.
        unfilled = self._present_columns - self._filled_columns
        self._filled_columns |= {name for name in unfilled if not rows[name].isna().all()}
        for column in self._numbers:
            if column.name in rows:
                self._add_numbers(column, pd.to_numeric(rows[column.name], errors="coerce"))
        for column in self._choices:
            if column.name in rows and not column.numeric:
                values = rows[column.name].dropna().astype(str)
                new = values[~values.isin(list(column.choices))].unique()[:MAX_NEW_CATEGORIES]
                self._new.setdefault(column.name, {}).update(dict.fromkeys(new))
        for name, words in unread_dates(rows, self._training).items():
            counted = dict.fromkeys(words[:MAX_NEW_CATEGORIES])
            self._no_dates.setdefault(name, {}).update(counted)

    def _add_numbers(self, column: TrainingColumn, values: pd.Series) -> None:
        numbers = values.to_numpy(float)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return
        stats = self._number_stats.setdefault(column.name, _Numbers(float(np.median(numbers))))
        stats.count += len(numbers)
        stats.outside += int(np.sum((numbers < column.low) | (numbers > column.high)))

    def sentences(self) -> list[str]:
        """The remarks on all rows so far."""
        ignored = self.noted.ignored_columns
        sentences = [_ignored_columns_text(ignored)] if ignored else []
        sentences += list(self.noted.strays.values())[:MAX_NAMED]
        unfilled = self._present_columns - self._filled_columns
        empty = [name for name in self._typical if name in unfilled]
        quoted = [f"“{_shortened(name)}”" for name in empty[:MAX_NAMED]]
        sentences += [f"Every value of {name} is missing." for name in quoted]
        sentences += _more_columns_text(empty, "is empty throughout", "are empty throughout")
        outside = [column for column in self._numbers if self._is_outside(column)]
        sentences += [self._unit_text(column) for column in outside[:MAX_NAMED]]
        sentences += _more_columns_text(outside, f"lies {OUTSIDE}", f"lie {OUTSIDE}")
        new = {name: list(words) for name, words in self._new.items() if words}
        sentences += [self._new_values_text(*pair) for pair in list(new.items())[:MAX_NAMED]]
        sentences += _more_columns_text(list(new), f"has {NEW}", f"have {NEW}")
        dates = {name: list(words) for name, words in self._no_dates.items()}
        sentences += [self._date_text(*pair) for pair in list(dates.items())[:MAX_NAMED]]
        return sentences + _more_columns_text(list(dates), f"has {NO_DATES}", f"have {NO_DATES}")

    def _is_outside(self, column: TrainingColumn) -> bool:
        stats = self._number_stats.get(column.name, _Numbers())
        return stats.count >= MIN_VALUES and stats.outside >= MIN_OUTSIDE_SHARE * stats.count

    def _unit_text(self, column: TrainingColumn) -> str:
        stats = self._number_stats[column.name]
        count_text, verb = f"{stats.outside:,} of {stats.count:,} values", "lie"
        if stats.outside == stats.count:
            count_text, verb = "Every value", "lies"
        text = (
            f"{count_text} of “{_shortened(column.name)}” {verb} outside the range of training, "
            f"{column.low:g} to {column.high:g}"
        )
        ratio = _ratio_text(stats.middle, column.typical)
        return f"{text}{ratio}." if ratio else f"{text}: look whether it is the same quantity."

    def _new_values_text(self, name: str, words: list[str]) -> str:
        count_text = "a value" if len(words) == 1 else f"{len(words):,} values"
        names_text = _names_text(words)
        text = f"“{_shortened(name)}” has {count_text} never seen in training: {names_text}."
        choices = next(column.choices for column in self._choices if column.name == name)
        choice_of_letters = {str(choice).casefold(): str(choice) for choice in choices}
        pairs = [
            (word, choice_of_letters[word.casefold()])
            for word in words
            if word.casefold() in choice_of_letters
        ]
        alike = [
            f"“{_shortened(word)}” was never seen in training; “{_shortened(choice)}” was."
            for word, choice in pairs[:MAX_NAMED]
        ]
        return " ".join([text, *alike])

    def _date_text(self, name: str, words: list[str]) -> str:
        like = next(column.typical for column in _dates_of(self._training) if column.name == name)
        values_text, verb = f"{len(words):,} values that are no dates", "count"
        if len(words) == 1:
            values_text, verb = "a value that is no date", "counts"
        return (
            f"“{_shortened(name)}” has {values_text} like those of training ({like}) and {verb} as "
            f"missing: {_names_text(words)}."
        )


def with_unreadable(
    reasons: list[str],
    unreadable: dict[str, dict[int, str]],
    training: TrainingRows | None,
    far: dict[str, dict[int, str]],
) -> list[str]:
    """The reasons of every row, with its `far_dates` and its `unreadable` cells.

    `unreadable` is {column: {row from 0: text}}.
    """
    words_by_row: dict[int, list[str]] = {}
    for sentences in far.values():
        for row, sentence in sentences.items():
            words_by_row.setdefault(row, []).append(sentence)
    kinds = {c.name: c.kind for c in (training.columns if training else ())}
    for name, texts in unreadable.items():
        is_date = kinds.get(name) == DATE
        kind_text = "date like those of training" if is_date else "number"
        for row, text in texts.items():
            sentence = f"{name}: “{_shortened(text)}” is no {kind_text}, taken as missing"
            words_by_row.setdefault(row, []).append(sentence)
    return [
        "; ".join([*([reason] if reason else []), *_at_most(words_by_row.get(row, []))])
        for row, reason in enumerate(reasons)
    ]


def far_dates(rows: Any, training: TrainingRows | None) -> dict[str, dict[int, str]]:
    """{column: {row from 0: a sentence}} on dates far from those of training."""
    far: dict[str, dict[int, str]] = {}
    for column in _dates_of(training):
        if not isinstance(rows, pd.DataFrame) or column.name not in rows:
            continue
        # The typical date comes first: it is read in the same way, and gives the middle.
        texts = pd.concat([pd.Series([column.typical]), rows[column.name]]).astype("str")
        try:
            seconds = seconds_since_1970(moments(texts, column.format))
        except (ValueError, TypeError):  # a stranger's format
            continue
        low = high = seconds[0]
        # By more than the width of their range; by centuries where that is unknown.
        margin, where = MAX_DATE_YEARS * 365.25 * 86400, "centuries from training"
        if column.low is not None and column.high is not None:
            low, high, margin = column.low, column.high, column.high - column.low
            where = f"far outside {date_text(low)} to {date_text(high)}"
        is_far = (seconds[1:] < low - margin) | (seconds[1:] > high + margin)
        is_far &= ~texts.iloc[1:].str.contains(NEVER).to_numpy(bool)
        if is_far.any():
            far[column.name] = {
                int(row): f"{column.name}: “{_shortened(texts.iloc[row + 1])}” is {where}"
                for row in np.flatnonzero(is_far)
            }
    return far


def _at_most(sentences: list[str]) -> list[str]:
    more = len(sentences) - MAX_NAMED
    return [*sentences[:MAX_NAMED], *([f"{more} more"] if more > 0 else [])]


def no_dates(rows: Any, training: TrainingRows | None) -> dict[str, str]:
    """{column with a value that is no date to the model: a typical date}."""
    odd = unread_dates(rows, training) if isinstance(rows, pd.DataFrame) else {}
    return {
        column.name: str(column.typical) for column in _dates_of(training) if column.name in odd
    }


def unread_dates(rows: pd.DataFrame, training: TrainingRows | None) -> dict[str, list[str]]:
    """{column of dates: its values that are no dates to the model}, where there are some."""
    words_by_column: dict[str, list[str]] = {}
    for column in _dates_of(training):
        if column.name not in rows:
            continue
        values = pd.Series(rows[column.name].dropna().astype(str).unique())
        try:
            dates = pd.to_datetime(values, errors="coerce", format=column.format, utc=True)
        except (ValueError, TypeError):  # a stranger's format
            continue
        if odd := values[dates.isna()].tolist():
            words_by_column[column.name] = odd
    return words_by_column


def _dates_of(training: TrainingRows | None) -> list[TrainingColumn]:
    columns = training.columns if training else ()
    return [c for c in columns if c.kind == DATE and c.format and c.typical]


def _more_columns_text(named: Sequence[object], singular_text: str, plural_text: str) -> list[str]:
    more = len(named) - MAX_NAMED
    if more == 1:
        return [f"1 more column {singular_text}."]
    return [f"{more:,} more columns {plural_text}."] if more > 0 else []


def _ratio_text(middle: float, typical: float | str | None) -> str:
    if not isinstance(typical, float) or not typical * middle > 0:
        return ""
    times = middle / typical
    power = math.log10(times)
    # A factor below 1.6 is no change of unit.
    if abs(power) < 0.2:
        return ""
    near = round(power)
    size = float(f"{max(times, 1 / times):.2g}")
    if abs(power - near) <= ROUND:
        size = 10.0 ** abs(near)
    size_text = f"{size:,.0f}" if size >= 10 else f"{size:g}"
    ratio = f"{size_text} times" if power > 0 else f"1/{size_text} of"
    return f"; its values are some {ratio} those of training: look whether the unit is the same"


def _ignored_columns_text(names: list[str]) -> str:
    names_text = _names_text(names)
    if len(names) == 1:
        return f"The column {names_text} is ignored: the model was not trained on it."
    return f"{len(names):,} columns are ignored, which the model was not trained on: {names_text}."


def _names_text(names: list[str]) -> str:
    names_text = ", ".join(f"“{_shortened(name)}”" for name in names[:MAX_NAMED])
    more = len(names) - MAX_NAMED
    return f"{names_text} and {more:,} more" if more > 0 else names_text


def _shortened(name: str, max_letters: int = 60) -> str:
    name = " ".join(str(name).split())
    return name if len(name) <= max_letters else f"{name[:max_letters]}…"
