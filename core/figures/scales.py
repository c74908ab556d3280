"""Scales: positions of values on an axis, and ticks.

A position is the value, its log10 on a log scale, or the index of a choice. Shares of one stay
shares, and are labelled in percent.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.space import Axis
from core.tuning.scores.score import SHARES
from core.wording import PERCENT, format_decimals, format_number

Ticks = list[tuple[float, str]]
ROOM = 0.25  # of the way from the best to the middle score, shown beyond that
JOINER = "\u2060"  # not seen; keeps equal labels of one scale apart


@dataclass(frozen=True)
class Scale:
    """One axis' scale."""

    # whole: ticks on integers only
    kind: Literal["linear", "whole", "log", "choice", "percent"] = "linear"
    choices: tuple[str, ...] = ()  # the labels of a choice, in order
    min_tick: float = -math.inf  # the first position of a tick, on a linear scale
    unit: str = PERCENT  # behind the hundredths of a share

    def position_of(self, value: Any) -> float:
        """The position of a value; NaN where it has none."""
        if self.kind == "choice":
            return float(self.choices.index(str(value))) if str(value) in self.choices else math.nan
        if value is None:
            return math.nan
        if self.kind == "log":
            return math.log10(value) if value > 0 else math.nan
        return float(value)

    def positions_of(self, values: Iterable[Any]) -> np.ndarray:
        """The positions of values, shape (n,)."""
        if self.kind == "choice":
            index = {label: float(position) for position, label in enumerate(self.choices)}
            return np.array([index.get(str(value), math.nan) for value in values])
        numbers = np.array([math.nan if v is None else v for v in values], dtype=float)
        if self.kind != "log":
            return numbers
        return np.log10(np.where(numbers > 0, numbers, np.nan))

    def label_at(self, position: float) -> str:
        """The formatted value at a position, or "–"."""
        if not math.isfinite(position):
            return "–"
        if self.kind == "choice":
            index = round(position)
            return self.choices[index].rstrip(JOINER) if 0 <= index < len(self.choices) else "–"
        if self.kind == "whole":
            return str(round(position))
        if self.kind == "percent":
            return format_decimals(100 * position, 1) + self.unit
        return format_number(10.0**position if self.kind == "log" else position, 4)

    def ticks_between(self, low: float, high: float, max_ticks: int) -> Ticks:
        """Up to `max_ticks` ticks (two where possible) with labels."""
        if not (math.isfinite(low) and math.isfinite(high) and high > low):
            return []
        if self.kind == "choice":
            return [(float(i), c) for i, c in enumerate(self.choices) if low <= i <= high]
        if self.kind == "log":
            return _log_ticks(low, high, max(2, max_ticks))
        if self.kind == "percent":
            # Round in percent: the steps of a share of one would be the same, its labels not.
            ticks = _linear_ticks(100 * low, 100 * high, max(2, max_ticks))
            # Room above the best is no place for scores: no share is more than all.
            most = 100 * (1 + 1e-9) if self.unit else math.inf
            ticks = [(p / 100, f"{label}{self.unit}") for p, label in ticks if p <= most]
        else:
            ticks = _linear_ticks(low, high, max(2, max_ticks), integers_only=self.kind == "whole")
        return [tick for tick in ticks if tick[0] >= self.min_tick]


def scale_of(axis: Axis) -> Scale:
    """The scale of a hyperparameter."""
    if axis.kind == "choice":
        return Scale("choice", tuple(str(choice) for choice in axis.choices))
    if axis.log:
        return Scale("log")
    return Scale("whole" if axis.kind == "int" else "linear")


def score_scale(metric: str) -> Scale:
    """The scale of a score, in the unit shown."""
    return Scale("percent" if metric in SHARES else "linear")


def near_range(
    scores: np.ndarray,
    maximize: bool,
    error: float = 0.0,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """The scores that a picture shows: from the best to the middle one with room.

    Args:
        scores: NaN where a trial has none.
        error: standard error of the best; the range is two of it to each side wide, or wider.
        limits: what no score can go beyond.
    """
    ordered = np.sort(scores[np.isfinite(scores)])[:: -1 if maximize else 1]
    if not len(ordered):
        return math.nan, math.nan
    best, sign = ordered[0], -1 if maximize else 1
    reach = (1 + ROOM) * abs(best - ordered[len(ordered) // 2])
    reach = max(min(reach, abs(best - ordered[-1])), 4 * error)
    ends = sorted((best, min(max(best + sign * reach, limits[0]), limits[1])))
    return float(ends[0]), float(ends[1])


def axis_position(number: float, scale: Scale) -> float:
    """The position of a value or a choice's index."""
    return number if scale.kind == "choice" else scale.position_of(number)


def bounds_of(axis: Axis) -> tuple[float, float]:
    """The positions of the ends; choices have half a step beyond."""
    if axis.kind == "choice":
        return -0.5, len(axis.choices) - 0.5
    scale = scale_of(axis)
    return scale.position_of(axis.low), scale.position_of(axis.high)


def _linear_ticks(low: float, high: float, max_ticks: int, *, integers_only: bool = False) -> Ticks:
    step = _nice_step((high - low) / max_ticks)
    if integers_only:
        step = max(1.0, float(math.ceil(step)))
    if _tick_count(low, high, step) > max_ticks:
        step = _nice_step(step * 1.5)
    while _tick_count(low, high, step) < 2 and not (integers_only and step <= 1.0):
        # One tick alone tells no distance.
        step = _nice_step(step * 0.45)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
        # Steps of 2.5 and its like need one decimal more.
        decimals += 1
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    big = max(abs(low), abs(high))
    values = [i * step for i in range(first, last + 1)]
    # Longer numbers have powers of ten, and as many digits as tell the ticks apart.
    if big < 1e6 and decimals <= 5:
        return [(value, format_decimals(value + 0.0, decimals)) for value in values]
    digits = max(3, math.ceil(math.log10(big / step)) + 2)
    return [(value, format_number(value, digits)) for value in values]


def _tick_count(low: float, high: float, step: float) -> int:
    # An end that is a tick counts, whatever its last bit says.
    return math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1


def _log_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    decades = list(range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1))
    if len(decades) > max_ticks:
        # Every second or third decade, counted from 1, so that ticks keep their places when a range
        # grows.
        step = math.ceil(len(decades) / max_ticks)
        decades = [d for d in decades if d % step == 0] or decades[:1]
        return _decade_labels(decades)
    for fronts in ((1, 2, 5), (1, 3)):
        ticks = [
            (math.log10(front) + decade, front * 10.0**decade)
            for decade in range(math.floor(low), math.floor(high) + 1)
            for front in fronts
            if low - 1e-9 <= math.log10(front) + decade <= high + 1e-9
        ]
        if 2 <= len(ticks) <= max_ticks and len(decades) < 4:
            return [(position, format_number(value)) for position, value in ticks]
    if len(decades) >= 2:
        return _decade_labels(decades)
    values = _linear_ticks(10.0**low, 10.0**high, max_ticks)
    return [(math.log10(value), label) for value, label in values if value > 0]


def _decade_labels(decades: list[int]) -> Ticks:
    # As everywhere on the screen: 100 is never 10² in one picture and 100 in the next.
    return [(float(d), format_number(10.0**d)) for d in decades]


def _nice_step(min_step: float) -> float:
    size = 10.0 ** math.floor(math.log10(min_step))
    for front in (1.0, 2.0, 2.5, 5.0):
        if front * size >= min_step * (1 - 1e-9):
            return front * size
    return 10.0 * size
