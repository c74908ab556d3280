"""What a person should know of the rows that a model is used on: one sentence each.

Rows come in parts; what they are like adds up here, and `sentences` tells it at the end.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.export.raw_rows import Noted
from core.export.using.model import UsedModel
from core.tuning.results.training_rows import CHOICE, NUMBER, TrainingColumn

FEWEST = 2  # values of a column that may lie in another unit
NAMED = 3  # columns, or categories, that are named in a sentence
MOST_NEW = 1000  # new categories of one column that are counted
ROUND = 0.35  # how near to a power of ten a ratio must be, in powers of ten


class Looked:
    """What the new rows were like so far.

    Args:
        model: that is used on them.
    """

    def __init__(self, model: UsedModel) -> None:
        training = model.training
        columns = training.columns if training else ()
        self._numbers = [one for one in columns if one.kind == NUMBER and one.low is not None]
        self._choices = [one for one in columns if one.kind == CHOICE and not one.more]
        self._ends: dict[str, tuple[float, float, int]] = {}
        self._middles: dict[str, float] = {}
        self._new: dict[str, dict[str, None]] = {}
        self.noted = Noted()

    def look(self, rows: pd.DataFrame) -> None:
        """Add some rows, of all columns that are compared with the training rows."""
        for column in self._numbers:
            if column.name in rows:
                self._add(column.name, pd.to_numeric(rows[column.name], errors="coerce"))
        for column in self._choices:
            if column.name in rows and not column.numeric:
                there = rows[column.name].dropna().astype(str)
                new = there[~there.isin(list(column.choices))].unique()
                kept = self._new.setdefault(column.name, {})
                kept |= dict.fromkeys(new[:MOST_NEW])

    def _add(self, name: str, values: pd.Series) -> None:
        numbers = values.to_numpy(float)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return
        low, high, count = self._ends.get(name, (math.inf, -math.inf, 0))
        low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
        self._ends[name] = low, high, count + len(numbers)
        self._middles.setdefault(name, float(np.median(numbers)))

    def sentences(self) -> list[str]:
        """What is worth knowing."""
        found = [_passed_over(self.noted.passed_over)] if self.noted.passed_over else []
        found += list(self.noted.strays.values())[:NAMED]
        outside = [one for one in self._numbers if self._is_outside(one)]
        found += [self._units(one) for one in outside[:NAMED]]
        if len(outside) > NAMED:
            found.append(
                f"{len(outside) - NAMED} more columns lie wholly outside the range of training."
            )
        new = {name: list(words) for name, words in self._new.items() if words}
        found += [_new_words(name, words) for name, words in list(new.items())[:NAMED]]
        if len(new) > NAMED:
            found.append(f"{len(new) - NAMED} more columns have values never seen in training.")
        return found

    def _is_outside(self, column: TrainingColumn) -> bool:
        low, high, count = self._ends.get(column.name, (0.0, 0.0, 0))
        assert column.low is not None
        assert column.high is not None
        return count >= FEWEST and (low > column.high or high < column.low)

    def _units(self, column: TrainingColumn) -> str:
        assert column.low is not None
        assert column.high is not None
        said = (
            f"Every value of “{_short(column.name)}” lies outside the range of training,"
            f" {column.low:g} to {column.high:g}"
        )
        ratio = _ratio(self._middles[column.name], column.typical)
        return f"{said}{ratio}." if ratio else f"{said}: look whether it is the same quantity."


def _ratio(middle: float, typical: float | str | None) -> str:
    """How many times the usual values of training the new ones are; "" where it says nothing."""
    if not isinstance(typical, float) or not typical * middle > 0:
        return ""
    times = middle / typical
    power = math.log10(times)
    near = round(power)
    if near and abs(power - near) <= ROUND:
        many = f"{10 ** abs(near):,}"
        size = f"{many} times" if near > 0 else f"1/{many} of"
    elif abs(power) < 0.3:
        return ""
    else:
        size = f"{times:.2g} times"
    return f"; its values are some {size} those of training: look whether the unit is the same"


def _passed_over(names: list[str]) -> str:
    some = ", ".join(f"“{_short(name)}”" for name in names[:NAMED])
    some += f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    if len(names) == 1:
        return f"The column {some} is passed over: the model does not know it."
    return f"{len(names):,} columns are passed over, which the model does not know: {some}."


def _new_words(name: str, words: list[str]) -> str:
    some = ", ".join(f"“{_short(word)}”" for word in words[:NAMED])
    some += f" and {len(words) - NAMED:,} more" if len(words) > NAMED else ""
    many = "a value" if len(words) == 1 else f"{len(words):,} values"
    return f"“{_short(name)}” has {many} never seen in training: {some}."


def _short(name: str) -> str:
    """A name of the file within a sentence: one line, and not too long."""
    name = " ".join(str(name).split())
    return name if len(name) <= 60 else f"{name[:60]}…"
