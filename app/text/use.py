"""Sentences about a model that is used on single rows and on files of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.numbers import percent, plain

NO_RANGES = (
    "This model was made before ranges were kept with models: typical values and ranges of its "
    "training rows are not known, so unusual rows are not marked."
)
TYPICAL = "A typical row: the median of numbers, the most frequent value of others."


def prediction_in_words(said: Mapping[str, Any]) -> str:
    """What is predicted: "yes (83 %)", "12.4"."""
    value = said["prediction"]
    if isinstance(value, float):
        return plain(value, 5)
    shares = dict(map(tuple, said["shares"]))
    share = f" ({percent(shares[value])})" if value in shares else ""
    return f"{_short(value)}{share}"


def interval_in_words(said: Mapping[str, Any], interval: Mapping[str, Any] | None) -> str:
    """Where the true number lies, and how that is known; "" without an interval."""
    if interval is None or said.get("low") is None:
        return ""
    low, high = plain(said["low"], 4), plain(said["high"], 4)
    return (
        f"Prediction interval {low} to {high}: it should hold the true number in"
        f" {percent(interval['coverage'])} of rows like the {interval['rows']:,} test rows, whose"
        " errors give its width."
    )


def no_interval(fewest: int) -> str:
    """Why a predicted number stands alone."""
    return f"There is no prediction interval: it takes the errors on {fewest} test rows or more."


def truth_in_words(found: Mapping[str, Any]) -> str:
    """What the file says of a test row's target."""
    truth = found.get("truth")
    value = plain(truth, 5) if isinstance(truth, float) else _short(str(truth))
    return f"True value of {_short(str(found['target']))} in the file: {value}"


def row_in_words(found: Mapping[str, Any]) -> str:
    """Which row of the test set is shown."""
    where = f"{found['counted']} {found['line']:,}"
    return f"Row {found['number']:,} of the {found['of']:,} in the test set, {where} of the file."


def range_in_words(field: Mapping[str, Any], outside: bool, before: str) -> str:
    """Under a number: its range in training, and what it was."""
    parts = []
    if field["low"] is not None:
        low, high = plain(field["low"], 4), plain(field["high"], 4)
        ends = f"{low} to {high}" if low != high else f"always {low}"
        parts.append(f"outside {ends}" if outside and low != high else ends)
    elif outside:
        parts.append("never seen in training")
    return " · ".join([*parts, *([f"was {before}"] if before else [])])


def unlike_in_words(words: str) -> str:
    """What is unlike the training rows in one row."""
    return f"Unlike the training rows, so this is a guess: {words}." if words else ""


def marked_in_words(marked: int, count: int) -> str:
    """How many rows of a file are unlike the training rows; "" for none."""
    rows = "1 row" if count == 1 else f"{count:,} rows"
    if not marked:
        return ""
    if marked == 1:
        return f"1 of {rows} is unlike the training rows: what is said of it is a guess."
    return (
        f"{marked:,} of {rows} are unlike the training rows: what the model says of them is a"
        " guess."
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:60]}…"
