"""A column of a model's training rows as plain values, for forms and for what is said of rows."""

import datetime
from dataclasses import dataclass
from typing import Any

from core.datasets.finding import column_title
from core.records import Record, optional

NUMBER, CHOICE, DATE, TEXT = "number", "choice", "date", "text"
KINDS = (NUMBER, CHOICE, DATE, TEXT)
MIN_COMMON = 10  # rows of a value that is common: it tells of no single row


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
    common: int | None = optional()  # how many of its choices are

    @property
    def title(self) -> str:
        return column_title(self.name, self.unit)

    @property
    def category_count(self) -> int:
        """How many categories it has; 0 for numbers, -1 where rows are not compared by it."""
        if self.kind == CHOICE and not self.more:
            return len(self.choices) or -1
        return 0 if self.kind == NUMBER else -1


def category_text(value: Any) -> str:
    """A category as text, 1 and 1.0 alike."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def date_text(seconds: float) -> str:
    """The day of so many seconds since 1970, the nearest that a calendar has."""
    day = datetime.date(1970, 1, 1).toordinal() + seconds // 86400
    last = datetime.date.max.toordinal()
    return datetime.date.fromordinal(int(min(max(day, 1), last))).isoformat()
