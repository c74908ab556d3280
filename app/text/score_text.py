"""Metrics, differences of scores and durations as text."""

from __future__ import annotations

from collections.abc import Sequence

from app.text.number_format import format_aligned, format_decimals, format_number
from core.tuning.run_results import Interval
from core.tuning.scores.metrics import METRICS

SHARES = tuple(name for name, metric in METRICS.items() if metric.share)  # of one: in percent
PERCENT = "\u00a0%"  # no line break before it


def metric_title(metric: str) -> str:
    """Inside a sentence: "share of variance explained (R²)"."""
    title = METRICS[metric].title if metric in METRICS else metric
    return title if title[:2].isupper() or title[:2] == "F1" else title[:1].lower() + title[1:]


def metric_as_noun(metric: str) -> str:
    """After "has": the title, or the short name of a clause."""
    title = metric_title(metric)
    return metric_in_short(metric) if title.startswith("how ") else title


def metric_in_short(metric: str) -> str:
    """The shortest name: the one in brackets, if any."""
    title = metric_title(metric)
    return title[title.index("(") + 1 : -1] if title.endswith(")") else title


def difference_text(metric: str, difference: float | None) -> str:
    """With its unit: "3.7 points", "0.041"."""
    if difference is None:
        return "–"
    if metric not in SHARES:
        return format_number(difference)
    points = format_decimals(100 * difference, 1)
    unit = "{points} point" if abs(round(100 * difference, 1)) == 1 else "{points} points"
    return unit.format(points=points)


def duration_text(seconds: float) -> str:
    """Rounded: "1 s", "40 s", "3 min", "2 h 10 min"."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 10:
        return f"{seconds:.0f} s"
    if seconds < 90:
        return f"{5 * round(seconds / 5):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def score_text(value: float | None, metric: str) -> str:
    """Such as "87.7 %" for a share of rows, otherwise a number."""
    if value is not None and metric in SHARES:
        return format_decimals(100 * value, 1) + PERCENT
    return format_number(value)


def interval_phrase(interval: Interval | None, metric: str, reason: str = "") -> str:
    """A confidence interval in brackets, after a space; "" where there is none."""
    if not interval or None in interval:
        return ""
    low, high = (score_text(end, metric) for end in interval)
    return f" (95\u00a0% confidence interval {low} to {high}{reason})"


def score_texts(values: Sequence[float], metric: str) -> list[str]:
    """In percent, or with equally many decimals."""
    if metric in SHARES:
        return [score_text(value, metric) for value in values]
    return format_aligned(values)
