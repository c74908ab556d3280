"""What is said of one column's values: how many are missing, and how the others are spread."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from app.text.data.documents import whole
from app.text.numbers import percent, plain

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = 3  # values that are named


def missing_words(column: Mapping[str, Any]) -> str:
    """The line under a column's picture: "12 missing"; "" where none is."""
    missing = int(column.get("missing") or 0)
    return f"{whole(missing)} missing" if missing else ""


def column_words(column: Mapping[str, Any], rows: int) -> str:
    """A column's values in a few lines.

    Args:
        column: of a summary.
        rows: how many the file has.
    """
    said = []
    spread = column.get("distribution")
    if spread:
        said.append(_spread_words(spread))
    elif column.get("distinct"):
        said.append(f"{whole(column['distinct'])} different values.")
    if missing := int(column.get("missing") or 0):
        share = percent(missing / rows) if rows else ""
        said.append(f"{whole(missing)} of {whole(rows)} values are missing ({share}).")
    else:
        said.append("No value is missing.")
    if spread and spread["rows"] < spread["of"]:
        looked, every = whole(spread["rows"]), whole(spread["of"])
        said.append(f"The bars are of {looked} rows, spread evenly over all {every}.")
    if column.get("note"):
        note = str(column["note"])
        said.append(f"{note[:1].upper()}{note[1:]}.")
    return "\n".join(said)


def _spread_words(spread: Mapping[str, Any]) -> str:
    counts, known = spread["counts"], sum(spread["counts"]) + spread["other"]
    if spread["kind"] == "values":
        named = list(zip(spread["labels"], counts, strict=True))[:_FIRST]
        said = [f"{label}: {percent(count / known)}" for label, count in named]
        others = spread["different"] + len(counts) - len(named)
        if others:
            rest = known - sum(count for _, count in named)
            noun = "other" if others == 1 else "others"
            said.append(f"{whole(others)} {noun}: {percent(rest / known)}")
        return ", ".join(said) + "."
    low, high = spread["low"], spread["high"]
    if low == high:
        return f"Always {_end(low, spread)}."
    most = max(range(len(counts)), key=lambda at: counts[at])
    words = f"From {_end(low, spread)} to {_end(high, spread)}"
    if len(counts) < 2:
        return f"{words}."
    start, stop = _ends_of(most, spread)
    between = f"between {_end(start, spread)} and {_end(stop, spread)}"
    if start == stop:
        between = _end(start, spread)
    return f"{words}; the highest bar, {percent(counts[most] / known)}, is {between}."


def _ends_of(at: int, spread: Mapping[str, Any]) -> tuple[float, float]:
    """The ends of a bin; of single whole numbers both are the number."""
    low, high, bins = spread["low"], spread["high"], len(spread["counts"])
    if high - low == bins - 1:
        return low + at, low + at
    # In parts, so that no span is beyond what a float holds.
    start = low * (1 - at / bins) + high * (at / bins)
    stop = low * (1 - (at + 1) / bins) + high * ((at + 1) / bins)
    return start, stop


def _end(value: float, spread: Mapping[str, Any]) -> str:
    if spread["kind"] != "dates":
        return plain(value, 4)
    try:
        moment = _BEGIN + timedelta(seconds=value)
    except OverflowError:
        return plain(value, 4)
    if abs(spread["high"] - spread["low"]) < 2 * 86400:
        return f"{moment:%H:%M}" if moment.year == 1900 else f"{moment:%Y-%m-%d %H:%M}"
    return f"{moment:%Y-%m-%d}"
