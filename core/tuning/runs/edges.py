"""Whether the best of a run lies at the edge of a range, beyond which a better one may lie.

A value is at the edge where it is the first or last of a whole number's, or within 2 % of the
range's length from an end, by the logarithm where the range is searched so. An end beyond which
the model takes nothing is no edge: nothing can be widened there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.space import Axis, axis_from_dict
from core.tuning.ranges import said, told
from core.tuning.runs.state import RunState

NEAR = 0.02  # of the range
WIDER = 1 / 3  # of the range's length is added
FEWEST = 5  # trials with a score: of fewer the best says nothing


@dataclass(frozen=True)
class Edge:
    """A setting whose best value lies at the edge of its range.

    Attributes:
        name, label: of the setting.
        value: the best.
        low, high: the range that was searched.
        wider: a range that goes on beyond that edge.
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    wider: tuple[float, float]

    @property
    def sentence(self) -> str:
        """For the result, the report and the terminal."""
        low, high = (said(end) for end in self.wider)
        return (
            f"The best {self.name} ({told(self.value)}) lies at the edge of its range, "
            f"{said(self.low)} to {said(self.high)}: a wider one, such as {low} to {high}, may "
            "hold a better one."
        )


def edges_of(run: RunState) -> list[Edge]:
    """The edges at which the best of a run of trials lies; none where several models are tuned.

    Where a trial inside the range is as good, nothing says that a better one lies beyond.
    """
    if run.learns_penalties or run.several or run.best is None or run.finished < FEWEST:
        return []
    axes = tuple(map(axis_from_dict, run.started.space))
    found = edges_at(axes, run.best.setting)
    for trial in run.trials:
        if not found:
            break
        if trial.score == run.best.score and trial.number not in run.excluded:
            as_good = {edge.name for edge in edges_at(axes, trial.setting)}
            found = [edge for edge in found if edge.name in as_good]
    return found


def edges_at(axes: Sequence[Axis], setting: Mapping[str, Any]) -> list[Edge]:
    """The edges at which a setting lies.

    Args:
        axes: that were searched.
        setting: one of their settings.
    """
    found = []
    for axis in axes:
        if axis.kind != "choice" and axis.is_free and axis.name in setting:
            wider = _wider(axis, setting[axis.name])
            if wider is not None:
                value = setting[axis.name]
                found.append(Edge(axis.name, axis.label, value, axis.low, axis.high, wider))
    return found


def _wider(axis: Axis, value: float) -> tuple[float, float] | None:
    """The range that goes on beyond the edge at which a value lies; None where it lies at none."""
    scale, back = (math.log, math.exp) if axis.log else (float, float)
    low, high, at = scale(axis.low), scale(axis.high), scale(value)
    near = 0.0 if axis.kind == "int" else NEAR * (high - low)
    least, most = axis.bounds
    step = WIDER * (high - low)
    # A gap in the last digits is none: values are rounded on their way through the unit cube.
    slack = near + 1e-9 * (high - low)
    if at >= high - slack and axis.high < most:
        end = min(most, _rounded(axis, back(high + step), math.ceil))
        return (axis.low, end) if end > axis.high else None
    if at <= low + slack and axis.low > least:
        end = max(least, _rounded(axis, back(low - step), math.floor))
        if axis.log and end <= 0:
            return None
        return (end, axis.high) if end < axis.low else None
    return None


def _rounded(axis: Axis, number: float, way: Any) -> float:
    """To one digit outwards; whole numbers stay whole."""
    if number == 0:
        return 0
    size = 10.0 ** math.floor(math.log10(abs(number)))
    if axis.kind == "int":
        return int(way(number / max(1.0, size)) * max(1.0, size))
    return float(f"{way(number / size - 1e-9 if way is math.ceil else number / size) * size:.1g}")
