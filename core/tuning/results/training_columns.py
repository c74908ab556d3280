"""The columns of a model's training rows, for its files, without any row."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from typing import Any

from core.datasets.finding import column_title
from core.records import Record, optional, to_plain

FORM = 1  # of what is written; other forms are not read
NUMBER, CHOICE, DATE, TEXT = "number", "choice", "date", "text"
KINDS = (NUMBER, CHOICE, DATE, TEXT)


@dataclass(frozen=True)
class TrainingColumn(Record):
    """One feature column of the training rows."""

    name: str
    kind: str  # number, choice (one of few values), date or text
    numeric: bool  # whether its values are numbers to the model
    low: float | None = None  # the range; of dates in seconds since 1970; None for unknown
    high: float | None = None
    typical: float | str | None = None  # median of numbers and dates, else the most frequent value
    whole: bool = False  # whether all its numbers are integers
    choices: tuple[float | str, ...] = ()  # its values, the most frequent first
    more: bool = False  # whether there were further ones, which are not stored
    format: str = ""  # of dates, for `pandas.to_datetime`; "" for none
    unit: str | None = optional()  # of numbers

    @property
    def title(self) -> str:
        """The name with the unit."""
        return column_title(self.name, self.unit)


def date_text(seconds: float) -> str:
    """The day of so many seconds since 1970, the nearest that a calendar has."""
    day = datetime.date(1970, 1, 1).toordinal() + seconds // 86400
    last = datetime.date.max.toordinal()
    return datetime.date.fromordinal(int(min(max(day, 1), last))).isoformat()


@dataclass(frozen=True)
class TrainingRows(Record):
    """How many rows there were, and their columns in the model's order."""

    rows: int
    columns: tuple[TrainingColumn, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"form": FORM, **to_plain(self)}

    def as_json(self) -> str:
        """As one JSON text."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)
