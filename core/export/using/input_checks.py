"""New rows beside training rows: which are unlike them and why, and remarks on whole columns."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from core.datasets.cell_values import moments
from core.datasets.column_format import seconds_since_1970
from core.export.raw_rows import ReadNotes
from core.tuning.results.training_columns import (
    CHOICE,
    DATE,
    NUMBER,
    TrainingColumn,
    category_text,
    date_text,
)
from core.tuning.results.training_rows import TrainingRows
from core.wording import list_text, shortened_text

Column = TypeVar("Column", str, TrainingColumn)
MAX_LETTERS = 40  # of a category in the reasons of a row


def unlike_reasons(rows: pd.DataFrame, training: TrainingRows) -> list[str]:
    """Why each row is farther from the training rows than 99 % of ordinary ones; "" where not.

    Where no distance is known, a value outside its range is enough.
    """
    reasons, values, columns = [""] * len(rows), training.numbers_and_codes(rows), training.columns
    outside = is_outside(values, training)
    is_unlike, sizes = outside.any(axis=1), np.zeros(values.shape)
    if training.distance is not None:
        terms = training.distance.distance_terms(values)
        is_unlike, sizes = training.distance.is_unlike(terms), np.abs(terms[:, : len(columns)])
    for row in np.flatnonzero(is_unlike):
        order = np.argsort(-sizes[row], kind="stable")
        named = [columns[index] for index in order[outside[row, order]]]
        texts = [_outside_text(c, rows[c.name].iloc[row]) for c in named[:MAX_NAMED]]
        # Where none is outside its range, those that are half as far as the farthest or more.
        odd = [columns[i].name for i in order[:MAX_NAMED] if 2 * sizes[row, i] >= sizes[row].max()]
        texts += [column.name for column in named[MAX_NAMED:]]
        reasons[row] = "; ".join(_at_most(texts)) or f"unusual in {list_text(odd)}"
    return reasons


def is_outside(values: np.ndarray, training: TrainingRows) -> np.ndarray:
    """Whether numbers are outside their range, and categories new, (n, p)."""
    ends = [(0, np.inf) if c.kind == CHOICE else (c.low, c.high) for c in training.columns]
    low, high = np.array(ends, float).T
    return (values < low) | (values > high)


def _outside_text(column: TrainingColumn, value: Any) -> str:
    if column.kind == CHOICE:
        return f"{column.name} was never “{shortened_text(category_text(value), MAX_LETTERS)}”"
    if column.low == column.high:
        return f"{column.name} was always {column.low:g}"
    return f"{column.name} is outside {column.low:g} to {column.high:g}"


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
        self._typical = {c.name: c.typical for c in columns if c.typical not in (None, "")}
        self._number_stats: dict[str, _Numbers] = {}
        self._new: dict[str, dict[str, None]] = {}
        self._no_dates: dict[str, dict[str, None]] = {}
        self._filled_columns: set[str] = set()
        self._present_columns: set[str] = set()
        self.noted = ReadNotes()

    def add_rows(self, rows: pd.DataFrame) -> None:
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
        ignored = self.noted.ignored_columns
        sentences = [_ignored_columns_text(ignored)] if ignored else []
        sentences += list(self.noted.strays.values())[:MAX_NAMED]
        unfilled = self._present_columns - self._filled_columns
        empty = [name for name in self._typical if name in unfilled]
        outside = [column for column in self._numbers if self._is_outside(column)]
        new = [name for name, words in self._new.items() if words]
        return [
            *sentences,
            *_column_texts(empty, _empty_text, ("is", "are"), "empty throughout"),
            *_column_texts(outside, self._unit_text, ("lies", "lie"), OUTSIDE),
            *_column_texts(new, self._new_values_text, ("has", "have"), NEW),
            *_column_texts([*self._no_dates], self._date_text, ("has", "have"), NO_DATES),
        ]

    def _is_outside(self, column: TrainingColumn) -> bool:
        stats = self._number_stats.get(column.name, _Numbers())
        return stats.count >= MIN_VALUES and stats.outside >= MIN_OUTSIDE_SHARE * stats.count

    def _unit_text(self, column: TrainingColumn) -> str:
        stats = self._number_stats[column.name]
        count_text, verb = f"{stats.outside:,} of {stats.count:,} values", "lie"
        if stats.outside == stats.count:
            count_text, verb = "Every value", "lies"
        text = (
            f"{count_text} of “{shortened_text(column.name)}” {verb} outside the range of "
            f"training, {column.low:g} to {column.high:g}"
        )
        ratio = _ratio_text(stats.middle, column.typical)
        return f"{text}{ratio}." if ratio else f"{text}: look whether it is the same quantity."

    def _new_values_text(self, name: str) -> str:
        words = list(self._new[name])
        count_text = "a value" if len(words) == 1 else f"{len(words):,} values"
        names_text = _names_text(words)
        text = f"“{shortened_text(name)}” has {count_text} never seen in training: {names_text}."
        choices = next(column.choices for column in self._choices if column.name == name)
        choice_of_letters = {str(choice).casefold(): str(choice) for choice in choices}
        pairs = [
            (word, choice_of_letters[word.casefold()])
            for word in words
            if word.casefold() in choice_of_letters
        ]
        alike = [
            f"“{shortened_text(word)}” was never seen in training; “{shortened_text(choice)}” was."
            for word, choice in pairs[:MAX_NAMED]
        ]
        return " ".join([text, *alike])

    def _date_text(self, name: str) -> str:
        words = list(self._no_dates[name])
        values_text, verb = f"{len(words):,} values that are no dates", "count"
        if len(words) == 1:
            values_text, verb = "a value that is no date", "counts"
        return (
            f"“{shortened_text(name)}” has {values_text} like those of training "
            f"({self._typical[name]}) and {verb} as missing: {_names_text(words)}."
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
    if not (unreadable or far):
        return reasons
    kinds = {c.name: c.kind for c in (training.columns if training else ())}
    for name, texts in unreadable.items():
        is_date = kinds.get(name) == DATE
        kind_text = "date like those of training" if is_date else "number"
        for row, text in texts.items():
            sentence = f"{name}: “{shortened_text(text)}” is no {kind_text}, taken as missing"
            words_by_row.setdefault(row, []).append(sentence)
    return [
        "; ".join([*([reason] if reason else []), *_at_most(words_by_row.get(row, []))])
        for row, reason in enumerate(reasons)
    ]


def far_dates(rows: Any, training: TrainingRows | None) -> dict[str, dict[int, str]]:
    """{column: {row from 0: a sentence}} on dates far from those of training."""
    far: dict[str, dict[int, str]] = {}
    for column in _dates_in(rows, training):
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
                int(row): f"{column.name}: “{shortened_text(texts.iloc[row + 1])}” is {where}"
                for row in np.flatnonzero(is_far)
            }
    return far


def _at_most(sentences: list[str]) -> list[str]:
    more = len(sentences) - MAX_NAMED
    return [*sentences[:MAX_NAMED], *([f"{more} more"] if more > 0 else [])]


def unread_dates(rows: Any, training: TrainingRows | None) -> dict[str, list[str]]:
    """{column of dates: its values that are no dates to the model}, where there are some."""
    words_by_column: dict[str, list[str]] = {}
    for column in _dates_in(rows, training):
        values = pd.Series(rows[column.name].dropna().astype(str).unique())
        try:
            odd = values[moments(values, column.format).isna()].tolist()
        except (ValueError, TypeError):  # a stranger's format
            continue
        if odd:
            words_by_column[column.name] = odd
    return words_by_column


def _dates_in(rows: Any, training: TrainingRows | None) -> list[TrainingColumn]:
    columns = training.columns if training and isinstance(rows, pd.DataFrame) else ()
    dates = [c for c in columns if c.kind == DATE and c.format and c.typical]
    return [column for column in dates if column.name in rows]


def _column_texts(
    columns: Sequence[Column], text_of: Callable[[Column], str], verbs: tuple[str, str], fault: str
) -> list[str]:
    texts, more = list(map(text_of, columns[:MAX_NAMED])), len(columns) - MAX_NAMED
    if more > 0:
        subject = "1 more column" if more == 1 else f"{more:,} more columns"
        texts.append(f"{subject} {verbs[more > 1]} {fault}.")
    return texts


def _empty_text(name: str) -> str:
    return f"Every value of “{shortened_text(name)}” is missing."


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
    names_text = ", ".join(f"“{shortened_text(name)}”" for name in names[:MAX_NAMED])
    more = len(names) - MAX_NAMED
    return f"{names_text} and {more:,} more" if more > 0 else names_text
