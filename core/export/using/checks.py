"""What a person should know of the rows that a model is used on: one sentence each.

Rows come in parts; what they are like adds up here, and `sentences` tells it at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.export.raw_rows import Noted
from core.export.using.model import UsedModel
from core.tuning.results.training_rows import CHOICE, DATE, NUMBER, TrainingColumn

FEWEST = 2  # values of a column that may lie in another unit
MOST_OUTSIDE = 0.5  # share of a column's values from which on another unit is suspected
NAMED = 3  # columns, or categories, that are named in a sentence
MOST_NEW = 1000  # new categories of one column that are counted
OUTSIDE = "mostly outside the range of training"
NEW = "values never seen in training"
NO_DATES = "values that are no dates like those of training"
ROUND = 0.1  # how near to a power of ten a ratio must be, in powers of ten


@dataclass
class _Numbers:
    """What the new values of a column of numbers were like so far."""

    middle: float = math.nan
    count: int = 0
    outside: int = 0


class Looked:
    """What the new rows were like so far.

    Args:
        model: that is used on them.
    """

    def __init__(self, model: UsedModel) -> None:
        training = model.training
        columns = training.columns if training else ()
        self._model = model
        self._numbers = [one for one in columns if one.kind == NUMBER and one.low is not None]
        self._choices = [one for one in columns if one.kind == CHOICE and not one.more]
        self._typical = [one.name for one in columns if one.typical not in (None, "")]
        self._found: dict[str, _Numbers] = {}
        self._new: dict[str, dict[str, None]] = {}
        self._no_dates: dict[str, dict[str, None]] = {}
        self._filled: set[str] = set()
        self._there: set[str] = set()
        self.noted = Noted()

    def look(self, rows: pd.DataFrame) -> None:
        """Add some rows, of all columns that are compared with the training rows."""
        self._there |= {name for name in self._typical if name in rows}
        empty = [name for name in self._there - self._filled if not rows[name].isna().all()]
        self._filled |= set(empty)
        for column in self._numbers:
            if column.name in rows:
                self._add(column, pd.to_numeric(rows[column.name], errors="coerce"))
        for column in self._choices:
            if column.name in rows and not column.numeric:
                there = rows[column.name].dropna().astype(str)
                new = there[~there.isin(list(column.choices))].unique()
                kept = self._new.setdefault(column.name, {})
                kept |= dict.fromkeys(new[:MOST_NEW])
        for name, words in unread_dates(rows, self._model).items():
            kept = self._no_dates.setdefault(name, {})
            kept |= dict.fromkeys(words[:MOST_NEW])

    def _add(self, column: TrainingColumn, values: pd.Series) -> None:
        numbers = values.to_numpy(float)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return
        found = self._found.setdefault(column.name, _Numbers(float(np.median(numbers))))
        found.count += len(numbers)
        found.outside += int(np.sum((numbers < column.low) | (numbers > column.high)))

    def sentences(self) -> list[str]:
        """What is worth knowing."""
        found = [_passed_over(self.noted.passed_over)] if self.noted.passed_over else []
        found += list(self.noted.strays.values())[:NAMED]
        empty = [name for name in self._typical if name in self._there - self._filled]
        found += [f"Every value of “{_short(name)}” is missing." for name in empty[:NAMED]]
        found += _more(empty, "is empty throughout", "are empty throughout")
        outside = [one for one in self._numbers if self._is_outside(one)]
        found += [self._units(one) for one in outside[:NAMED]]
        found += _more(outside, f"lies {OUTSIDE}", f"lie {OUTSIDE}")
        new = {name: list(words) for name, words in self._new.items() if words}
        found += [_new_words(name, words) for name, words in list(new.items())[:NAMED]]
        found += _more(list(new), f"has {NEW}", f"have {NEW}")
        dates = {name: list(words) for name, words in self._no_dates.items()}
        found += [self._dates(name, words) for name, words in list(dates.items())[:NAMED]]
        return found + _more(list(dates), f"has {NO_DATES}", f"have {NO_DATES}")

    def _is_outside(self, column: TrainingColumn) -> bool:
        found = self._found.get(column.name, _Numbers())
        return found.count >= FEWEST and found.outside >= MOST_OUTSIDE * found.count

    def _units(self, column: TrainingColumn) -> str:
        found = self._found[column.name]
        every = found.outside == found.count
        many = "Every value" if every else f"{found.outside:,} of {found.count:,} values"
        range_ = f"the range of training, {column.low:g} to {column.high:g}"
        said = f"{many} of “{_short(column.name)}” {'lies' if every else 'lie'} outside {range_}"
        ratio = _ratio(found.middle, column.typical)
        return f"{said}{ratio}." if ratio else f"{said}: look whether it is the same quantity."

    def _dates(self, name: str, words: list[str]) -> str:
        like = next(one.typical for one in _dates_of(self._model) if one.name == name)
        one = len(words) == 1
        many = "a value that is no date" if one else f"{len(words):,} values that are no dates"
        count = "counts" if one else "count"
        return (
            f"“{_short(name)}” has {many} like those of training ({like}) and {count} as missing:"
            f" {_some(words)}."
        )


def no_dates(rows: Any, model: UsedModel) -> dict[str, str]:
    """{column of dates with a value that is none to the model: a date as it takes it}."""
    odd = unread_dates(rows, model) if isinstance(rows, pd.DataFrame) else {}
    return {one.name: str(one.typical) for one in _dates_of(model) if one.name in odd}


def unread_dates(rows: pd.DataFrame, model: UsedModel) -> dict[str, list[str]]:
    """{column of dates: its values that are none to the model}, where there are some."""
    found: dict[str, list[str]] = {}
    for column in _dates_of(model):
        if column.name not in rows:
            continue
        there = pd.Series(rows[column.name].dropna().astype(str).unique())
        try:
            read = pd.to_datetime(there, errors="coerce", format=column.format, utc=True)
        except (ValueError, TypeError):  # a stranger's format
            continue
        if odd := there[read.isna()].tolist():
            found[column.name] = odd
    return found


def _dates_of(model: UsedModel) -> list[TrainingColumn]:
    columns = model.training.columns if model.training else ()
    return [one for one in columns if one.kind == DATE and one.format and one.typical]


def _more(named: Sequence[object], one: str, several: str) -> list[str]:
    """How many columns there are besides those that are named, and what they are like."""
    more = len(named) - NAMED
    if more <= 0:
        return []
    return [f"1 more column {one}." if more == 1 else f"{more:,} more columns {several}."]


def _ratio(middle: float, typical: float | str | None) -> str:
    """How many times the usual values of training the new ones are; "" where it says nothing."""
    if not isinstance(typical, float) or not typical * middle > 0:
        return ""
    times = middle / typical
    power = math.log10(times)
    if abs(power) < 0.2:
        return ""
    near = round(power)
    size = (
        10.0 ** abs(near) if abs(power - near) <= ROUND else float(f"{max(times, 1 / times):.2g}")
    )
    many = f"{size:,.0f}" if size >= 10 else f"{size:g}"
    said = f"{many} times" if power > 0 else f"1/{many} of"
    return f"; its values are some {said} those of training: look whether the unit is the same"


def _passed_over(names: list[str]) -> str:
    some = _some(names)
    if len(names) == 1:
        return f"The column {some} is passed over: the model does not know it."
    return f"{len(names):,} columns are passed over, which the model does not know: {some}."


def _new_words(name: str, words: list[str]) -> str:
    many = "a value" if len(words) == 1 else f"{len(words):,} values"
    return f"“{_short(name)}” has {many} never seen in training: {_some(words)}."


def _some(names: list[str]) -> str:
    """The first names, and how many more there are."""
    some = ", ".join(f"“{_short(name)}”" for name in names[:NAMED])
    return f"{some} and {len(names) - NAMED:,} more" if len(names) > NAMED else some


def _short(name: str) -> str:
    """A name of the file within a sentence: one line, and not too long."""
    name = " ".join(str(name).split())
    return name if len(name) <= 60 else f"{name[:60]}…"
