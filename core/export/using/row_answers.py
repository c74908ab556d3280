"""What a model says of one row: its form, its prediction, a row of its test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.records import Record
from core.tuning.results.training_columns import TrainingColumn

if TYPE_CHECKING:  # numpy comes with it
    from core.evaluation.conformal import PredictionInterval

CellValue = float | str | None  # of a raw row


@dataclass(frozen=True)
class ModelForm(Record):
    """The form for one row of a model.

    Attributes:
        name: of the run, or the file.
        target, task: what it predicts.
        fields: the columns; of an old model, without what their values were like.
        known: whether ranges and typical values are known.
        rows: how many it was fitted on; 0 where that is not known.
        left_out: how many columns have no field.
        interval: around predicted numbers; None for none.
        fewest: how many test rows an interval needs.
        refitted: whether it was fitted on the test rows too, once it was tested.
    """

    name: str
    target: str
    task: str
    fields: tuple[TrainingColumn, ...]
    known: bool
    rows: int
    left_out: int
    interval: PredictionInterval | None
    fewest: int
    refitted: bool


@dataclass(frozen=True)
class RowPrediction(Record):
    """What a model predicts for one row.

    Attributes:
        prediction: a number, or the text of a class.
        shares: classes with their probabilities, likeliest first.
        low, high: ends of the interval.
        unlike: what is unlike the training rows, a text; "" for nothing.
        outside: columns with a value that was never seen.
    """

    prediction: float | str
    shares: list[tuple[str, float]]
    low: float | None
    high: float | None
    unlike: str
    outside: list[str]


@dataclass(frozen=True)
class TestRow(Record):
    """A row of the test set.

    Attributes:
        number: from 1, of so many (`count`).
        line: where it begins in the file; its number where ``counted`` says "row", not "line".
        values: by column.
        truth: what the file says of the column to predict, `target`.
    """

    __test__ = False  # no test, for pytest

    number: int
    count: int
    line: int
    counted: str
    values: dict[str, CellValue]
    truth: CellValue
    target: str
