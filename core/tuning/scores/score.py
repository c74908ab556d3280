"""A score as text: in its measure's unit, with its interval, beside another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.tuning.run_results import Interval
from core.tuning.scores.metrics import METRICS
from core.wording import PERCENT, amount_text, format_aligned, format_decimals, format_number

ROUNDING = 1e-6  # points
SHARES = tuple(name for name, metric in METRICS.items() if metric.share)  # of one: in percent


@dataclass(frozen=True)
class Score:
    """A value of a measure, with its 95 % confidence interval where that is known."""

    metric: str
    value: float | None
    interval: Interval | None = None

    @property
    def text(self) -> str:
        """Such as "87.7 %" for a share of rows, otherwise a number."""
        return score_text(self.value, self.metric)

    def interval_phrase(self, reason: str = "") -> str:
        """The interval in brackets, after a space; "" where there is none."""
        if not self.interval or None in self.interval:
            return ""
        low, high = (score_text(end, self.metric) for end in self.interval)
        return f" (95\u00a0% confidence interval {low} to {high}{reason})"


def score_text(value: float | None, metric: str, unit: str = "") -> str:
    """Such as "87.7 %" for a share of rows, otherwise a number in a `unit`; "–" if undefined."""
    if value is not None and metric in SHARES:
        return format_decimals(100 * value, 1) + PERCENT
    if metric == "mae" and value is not None and math.isfinite(value):
        return amount_text(value, unit)
    return format_number(value)


def named_score_text(value: float | None, metric: str) -> str:
    """With its measure, and its direction where larger is not better; "–" without a score."""
    if value is None:
        return score_text(value, metric)
    direction = "" if metric not in METRICS or METRICS[metric].maximize else ", smaller is better"
    return f"{measured_text(value, metric)}{direction}"


def measured_text(value: float, metric: str) -> str:
    """With its measure: "accuracy 93.5 %"."""
    return f"{metric_in_short(metric)} {score_text(value, metric)}"


def score_texts(values: Sequence[float], metric: str) -> list[str]:
    """In percent, or with equally many decimals."""
    if metric in SHARES:
        return [score_text(value, metric) for value in values]
    return format_aligned(values)


def score_limits(metric: str) -> tuple[float, float]:
    """The least and the largest value of a measure: nothing beyond is predicted."""
    return METRICS[metric].score_limits if metric in METRICS else (-math.inf, math.inf)


def difference_text(metric: str, difference: float | None) -> str:
    """With its unit: "3.7 points", "0.041"."""
    if difference is None or metric not in SHARES:
        return format_number(difference)
    points = _points_text(difference)
    return f"{points} {'point' if abs(round(100 * difference, 1)) == 1 else 'points'}"


def _points_text(difference: float) -> str:
    hundredths = 100 * difference
    # What is not nothing is not told as "0.0", but for the rounding of sums.
    is_small = ROUNDING < abs(hundredths) < 0.05
    return format_number(hundredths, 1) if is_small else format_decimals(hundredths, 1)


def signed_difference(difference: float | None, metric: str, *, unit: bool = False) -> str:
    """Such as "+3.7" points of a share, "−0.04"; "" for None."""
    if difference is None:
        return ""
    is_share = metric in SHARES
    text = _points_text(difference) if is_share else format_number(difference)
    return f"{'+' if difference > 0 else ''}{text}{' points' if unit and is_share else ''}"


def metric_title(metric: str) -> str:
    """Inside a sentence: "share of variance explained (R²)"."""
    title = METRICS[metric].title if metric in METRICS else metric.replace("_", " ")
    return title if title[:2].isupper() or title[:2] == "F1" else title[:1].lower() + title[1:]


def metric_as_noun(metric: str) -> str:
    """After "has": the title, or the short name of a clause."""
    title = metric_title(metric)
    return metric_in_short(metric) if title.startswith("how ") else title


def metric_in_short(metric: str) -> str:
    """The shortest name: that in brackets, if any."""
    title = metric_title(metric)
    return title[title.index("(") + 1 : -1] if title.endswith(")") else title
