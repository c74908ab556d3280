"""A bin of predicted probabilities and the share of the class observed in it."""

from dataclasses import dataclass

from core.records import Record


@dataclass(frozen=True)
class CalibrationBin(Record):
    """The rows whose predicted probability lies in one bin."""

    predicted: float  # the mean probability
    observed: float  # the share of the class
    rows: int | None  # None where it is unknown, as the interval then is
    low: float | None  # the ends of Wilson's 95 % interval of that share
    high: float | None
