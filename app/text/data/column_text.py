"""Text about one column's values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.text.data.document_text import format_integer
from app.text.number_format import format_number, percent
from core.datasets.dataset_summary import ColumnSummary, Distribution
from core.datasets.finding import RewrittenCells

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = 3  # values that are named


def missing_text(column: ColumnSummary | None, rows: int) -> str:
    """The caption of a column: "12 % missing"; "" where none is."""
    return f"{percent(column.missing / rows)} missing" if column and column.missing else ""


def column_values_text(column: ColumnSummary, rows: int) -> str:
    """The values of a column in a few lines."""
    sentences = []
    spread = column.distribution
    if spread:
        sentences.append(_spread_text(spread))
    elif column.distinct:
        sentences.append(f"{format_integer(column.distinct)} different values.")
    if column.missing:
        share = percent(column.missing / rows) if rows else ""
        count = f"{format_integer(column.missing)} of {format_integer(rows)} values"
        sentences.append(f"{count} are missing ({share}).")
    else:
        sentences.append("No value is missing.")
    if spread and spread.rows < spread.of:
        row_text, total_text = format_integer(spread.rows), format_integer(spread.of)
        sentences.append(f"The bars are of {row_text} rows, spread evenly over all {total_text}.")
    if note := column.note:
        sentences.append(f"{note[:1].upper()}{note[1:]}.")
    return "\n".join(sentences)


def rewritten_text(cells: RewrittenCells) -> str:
    """How many cells of a column are other texts than what was read, with the first."""
    if not cells.count:
        return "Some of its cells are written otherwise than they are read."
    count, verb = ("1 cell", "is") if cells.count == 1 else (f"{cells.count:,} cells", "are")
    return f"{count} {verb} written otherwise than read: {cells.example}."


def _spread_text(spread: Distribution) -> str:
    counts, known_count = spread.counts, sum(spread.counts) + spread.other
    if spread.kind == "values":
        first_values = list(zip(spread.labels, counts, strict=True))[:_FIRST]
        phrases = [f"{label}: {percent(count / known_count)}" for label, count in first_values]
        other_values = spread.different + len(counts) - len(first_values)
        if other_values:
            other_rows = known_count - sum(count for _, count in first_values)
            noun = "other" if other_values == 1 else "others"
            share = percent(other_rows / known_count)
            phrases.append(f"{format_integer(other_values)} {noun}: {share}")
        return ", ".join(phrases) + "."
    low, high = spread.low, spread.high
    if low == high:
        return f"Always {_end_text(low, spread)}."
    highest_bin = max(range(len(counts)), key=lambda index: counts[index])
    words = f"From {_end_text(low, spread)} to {_end_text(high, spread)}"
    if len(counts) < 2:
        return f"{words}."
    start, stop = _ends_of(highest_bin, spread)
    between = f"between {_end_text(start, spread)} and {_end_text(stop, spread)}"
    if start == stop:
        between = _end_text(start, spread)
    return f"{words}; the highest bar, {percent(counts[highest_bin] / known_count)}, is {between}."


def _ends_of(index: int, spread: Distribution) -> tuple[float, float]:
    """The ends of a bin; of single whole numbers both are the number."""
    low, high, bins = spread.low, spread.high, len(spread.counts)
    if high - low == bins - 1:
        return low + index, low + index
    # In parts, so that no span is beyond what a float holds.
    start = low * (1 - index / bins) + high * (index / bins)
    stop = low * (1 - (index + 1) / bins) + high * ((index + 1) / bins)
    return start, stop


def _end_text(value: float, spread: Distribution) -> str:
    if spread.kind != "dates":
        return format_number(value, 4)
    try:
        moment = _BEGIN + timedelta(seconds=value)
    except OverflowError:
        return format_number(value, 4)
    if abs(spread.high - spread.low) < 2 * 86400:
        return f"{moment:%H:%M}" if moment.year == 1900 else f"{moment:%Y-%m-%d %H:%M}"
    return f"{moment:%Y-%m-%d}"
