"""The answers on one row: the form of a model, a prediction, a row of the test set."""

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
    """The form for one row of a model."""

    name: str  # of the run, or the file
    target: str
    task: str
    fields: tuple[TrainingColumn, ...]  # without typical values where `known` is False
    known: bool  # whether ranges and typical values are known
    rows: int  # that it was fitted on; 0 where unknown
    left_out: int  # columns without a field
    interval: PredictionInterval | None  # around predicted numbers
    fewest: int  # test rows that an interval needs
    refitted: bool  # on the test rows too, after the test


@dataclass(frozen=True)
class RowPrediction(Record):
    """A model's prediction for one row."""

    prediction: float | str  # a number, or the text of a class
    shares: list[tuple[str, float]]  # classes and probabilities, likeliest first
    low: float | None  # end of the interval
    high: float | None
    unlike: str  # how the row is unlike the training rows; "" for not
    outside: list[str]  # columns with a value that training never had


@dataclass(frozen=True)
class TestRow(Record):
    """A row of the test set."""

    __test__ = False  # no test, for pytest

    number: int  # from 1 to `count`
    count: int
    line: int  # where it begins in the file, or its number
    counted: str  # "line", or "row" for a number
    values: dict[str, CellValue]
    truth: CellValue  # the file's value of `target`
    target: str
