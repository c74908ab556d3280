"""Whether the best of a run lies at the edge of a range, beyond which a better one may lie.

At the edge means the first or last integer, or within 2 % of the range's length from an end (in
logarithms on a log axis), unless the model takes no value beyond that end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.space import Axis
from core.tuning.ranges import setting_value_text, shortest_number
from core.tuning.runs.state import RunState

NEAR = 0.02  # of the range
WIDER = 1 / 3  # of the range's length is added
MIN_TRIALS = 5  # trials with a score: of fewer the best says nothing


@dataclass(frozen=True)
class RangeEdge:
    """A setting whose best value lies at the edge of its range."""

    name: str
    label: str
    value: float
    low: float  # the searched range
    high: float
    wider: tuple[float, float]  # a range that goes on beyond that edge

    @property
    def sentence(self) -> str:
        """A sentence for the result, the report and the terminal."""
        low, high = (shortest_number(end) for end in self.wider)
        return (
            f"The best {self.name} ({setting_value_text(self.value)}) lies at the edge of its "
            f"range, {shortest_number(self.low)} to {shortest_number(self.high)}: a wider one, "
            f"such as {low} to {high}, may hold a better one."
        )


def edges_of(run: RunState) -> list[RangeEdge]:
    """The edges at which the best of a run of trials lies; none where several models are tuned.

    An edge does not count where a trial inside the range is as good.
    """
    axes, best = run.started.space, run.best_trial
    has_edges = not run.learns_penalties and not run.tunes_several_models
    if not has_edges or best is None or run.finished < MIN_TRIALS:
        return []
    edges = edges_at(axes, best.setting)
    for trial in run.trials:
        if not edges:
            break
        if trial.score == best.score and trial.number not in run.excluded:
            as_good = {edge.name for edge in edges_at(axes, trial.setting)}
            edges = [edge for edge in edges if edge.name in as_good]
    return edges


def edges_at(axes: Sequence[Axis], setting: Mapping[str, Any]) -> list[RangeEdge]:
    """The edges of searched axes at which a setting lies."""
    edges = []
    for axis in axes:
        if axis.kind != "choice" and axis.is_free and axis.name in setting:
            value = setting[axis.name]
            if (wider := _wider_range(axis, value)) is not None:
                edges.append(RangeEdge(axis.name, axis.label, value, axis.low, axis.high, wider))
    return edges


def _wider_range(axis: Axis, value: float) -> tuple[float, float] | None:
    """The range that goes on beyond the edge; None where the value lies at none."""
    scale, inverse = (math.log, math.exp) if axis.log else (float, float)
    low, high, position = scale(axis.low), scale(axis.high), scale(value)
    near = 0.0 if axis.kind == "int" else NEAR * (high - low)
    least, most = axis.bounds
    step = WIDER * (high - low)
    # A gap in the last digits is none: values are rounded on their way through the unit cube.
    slack = near + 1e-9 * (high - low)
    if position >= high - slack and axis.high < most:
        end = min(most, _rounded(axis, inverse(high + step), math.ceil))
        return (axis.low, end) if end > axis.high else None
    if position <= low + slack and axis.low > least:
        end = max(least, _rounded(axis, inverse(low - step), math.floor))
        if axis.log and end <= 0:
            return None
        return (end, axis.high) if end < axis.low else None
    return None


def _rounded(axis: Axis, number: float, round_digit: Any) -> float:
    """One digit, rounded outwards; integers stay integers."""
    if number == 0:
        return 0
    size = 10.0 ** math.floor(math.log10(abs(number)))
    if axis.kind == "int":
        return int(round_digit(number / max(1.0, size)) * max(1.0, size))
    slack = 1e-9 if round_digit is math.ceil else 0.0
    return float(f"{round_digit(number / size - slack) * size:.1g}")
