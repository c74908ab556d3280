"""The columns of the rows that a model was fitted on, for its files; no row is in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core.records import Record, to_plain

FORM = 1  # of what is written; other forms are not read
NUMBER, CHOICE, DATE, TEXT = "number", "choice", "date", "text"
KINDS = (NUMBER, CHOICE, DATE, TEXT)


@dataclass(frozen=True)
class TrainingColumn(Record):
    """One feature column of the training rows.

    Attributes:
        name: as the model knows it.
        kind: number, choice (one of few values), date or text.
        numeric: whether its values are numbers to the model.
        low, high: of numbers, the range; None where all are missing.
        typical: the median of numbers and dates, the most frequent value of others; None for none.
        whole: whether all its numbers are whole.
        choices: its values, the most frequent first.
        more: whether there were further ones, which are not known.
        format: of dates, as `pandas.to_datetime` takes it; "" for none.
    """

    name: str
    kind: str
    numeric: bool
    low: float | None = None
    high: float | None = None
    typical: float | str | None = None
    whole: bool = False
    choices: tuple[float | str, ...] = ()
    more: bool = False
    format: str = ""


@dataclass(frozen=True)
class TrainingRows(Record):
    """What the rows were like: how many, and their columns in the model's order."""

    rows: int
    columns: tuple[TrainingColumn, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values that JSON takes."""
        return {"form": FORM, **to_plain(self)}

    def as_json(self) -> str:
        """The same as one text."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)
