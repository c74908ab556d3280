"""A bin of predicted probabilities and the share of the class observed in it."""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Record


@dataclass(frozen=True)
class CalibrationBin(Record):
    """The rows whose predicted probability lies in one bin.

    Attributes:
        predicted: the mean probability.
        observed: the share of the class.
        rows: how many; None where it is unknown, as the interval then is.
        low, high: the ends of Wilson's 95 % interval of that share.
    """

    predicted: float
    observed: float
    rows: int | None
    low: float | None
    high: float | None
