"""Sentences about predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.export.using.row_answers import RowPrediction
from core.tuning.results.training_columns import DATE, TrainingColumn, date_text
from core.wording import count_text, format_number, percent, shortened_text

if TYPE_CHECKING:
    from core.evaluation.conformal import PredictionInterval

NO_RANGES = (
    "This model was made before ranges were kept with models: typical values and ranges of its "
    "training rows are not known, so unusual rows are not marked."
)
TYPICAL = "A typical row: the median of numbers, the most frequent value of others."


def predicted_text(prediction: RowPrediction) -> str:
    """A prediction: "yes (83 %)", "12.4"."""
    value, shares = prediction.prediction, dict(prediction.shares)
    if isinstance(value, float):
        return format_number(value, 4)
    # Not every model gives probabilities.
    share = f" ({percent(shares[value])})" if value in shares else ""
    return f"{shortened_text(value)}{share}"


def prediction_interval_text(prediction: RowPrediction, interval: PredictionInterval | None) -> str:
    """The prediction interval and its source, or ""."""
    if interval is None or prediction.low is None or prediction.high is None:
        return ""
    low, high = format_number(prediction.low, 4), format_number(prediction.high, 4)
    return (
        f"Prediction interval {low} to {high}: it should hold the true number in"
        f" {percent(interval.coverage)} of rows like the {interval.rows:,} test rows, whose"
        " errors give its width."
    )


def training_range_text(column: TrainingColumn, outside: bool, before: str) -> str:
    """The range in training, and the value before."""
    phrases = []
    if column.low is not None and column.high is not None:
        ends = (column.low, column.high)
        low, high = (date_text(e) if column.kind == DATE else format_number(e, 4) for e in ends)
        range_text = f"{low} to {high}" if low != high else f"always {low}"
        phrases.append(f"outside {range_text}" if outside and low != high else range_text)
    elif outside:
        phrases.append("never seen in training")
    return " · ".join([*phrases, *([f"was {before}"] if before else [])])


def marked_rows_text(marked: int, count: int) -> str:
    """How many rows are unlike the training rows, or ""."""
    rows = count_text(count, "row")
    if not marked:
        return ""
    if marked == 1:
        return f"1 of {rows} is unlike the training rows: its prediction is a guess."
    return f"{marked:,} of {rows} are unlike the training rows: their predictions are guesses."
