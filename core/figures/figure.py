"""A figure as plain data: marks, axes, words and a table; whoever paints it chooses the pixels.

Positions are those of the axes' scales (`core.figures.scales`): a logarithm on a log axis, an index
on an axis of choices. Colours are roles of `resources.theme.Theme`: ``model`` is what is believed,
``observed`` what was measured, ``series0`` to ``series7`` tell groups apart. A NaN leaves a gap.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from core.figures.scales import Scale, score_scale
from core.tuning.scores.score import metric_in_short

Table = tuple[list[str], list[list[Any]]]  # headers and rows of plain values
Symbol = Literal["circle", "cross", "star", "diamond", "triangle", "square"]
Positions = Sequence[float] | np.ndarray
LINEAR = Scale()
AVERAGE = "series2"  # the colour of an average of models and of its members
MARKED = 60  # points of a line up to which each has a dot
OWN = "own"  # an outline in the colour of the mark, or in ink where that is too light
APART = "apart"  # one in the colour of the paper, or in ink where the mark is too light


@dataclass(frozen=True)
class Dots:
    """A symbol at every (x, y); sizes and widths are in pixels."""

    name: str
    x: Positions
    y: Positions
    fill: str | None = "model"
    outline: str | None = "paper"
    size: float = 8.0
    width: float = 1.0
    symbol: Symbol = "circle"
    opacity: float = 1.0
    label: str = ""  # for the pointer
    at_floor: bool = False  # just above the lower edge, wherever that is; y is not used
    notes: Sequence[str] = ()  # of each dot, where a page can show one


@dataclass(frozen=True)
class Lines:
    """A line through (x, y)."""

    name: str
    x: Positions
    y: Positions
    colour: str = "model"
    width: float = 2.0
    dashed: bool = False
    halo: str = ""  # the colour of a wider line below it
    halo_width: float = 0.0
    opacity: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Band:
    """The area between two lines."""

    name: str
    x: Positions
    low: Positions
    high: Positions
    colour: str = "model"
    opacity: float = 0.25


@dataclass(frozen=True)
class Bars:
    """A horizontal bar a row, from `start` to its end; hatching repeats what a colour means."""

    name: str
    rows: Positions
    start: float
    ends: Positions
    colours: Sequence[str]
    hatched: Sequence[bool]
    edge: str = "muted"


@dataclass(frozen=True)
class Labels:
    """A text right of (x, y), as at the end of a bar, or above it, as over a dot."""

    name: str
    x: Positions
    y: Positions
    texts: Sequence[str]
    place: Literal["right", "above"] = "right"
    reserved: str = ""  # a text that room is kept for, lest the range jumps when it comes


@dataclass(frozen=True)
class EndNames:
    """The names of lines at their right ends."""

    name: str
    x: Positions
    y: Positions
    texts: Sequence[str]


@dataclass(frozen=True)
class EdgeMarks:
    """A mark at the edge for each point beyond it, with its text where that has room."""

    name: str
    x: Positions
    y: Positions
    texts: Sequence[str] = ()
    colour: str = "observed"


@dataclass(frozen=True)
class Level:
    """A dashed line across the plot; its words, if any, avoid marks."""

    name: str
    value: float | None
    words: str
    number: str = ""  # follows the words at the edge where the line lies beyond it


@dataclass(frozen=True)
class Border:
    """A dashed upright line, from which on something holds; its words stand at its upper end."""

    name: str
    value: float | None
    words: str = ""


Mark = Dots | Lines | Band | Bars | Labels | EndNames | EdgeMarks | Level | Border
MarkKind = TypeVar("MarkKind", Dots, Lines, Band, Bars, Labels, EndNames, EdgeMarks, Level, Border)


@dataclass(frozen=True)
class FigureAxis:
    """An axis with the range that is to be seen."""

    title: str = ""
    scale: Scale = LINEAR
    maximize: bool | None = None  # of a score, whether more of it is better
    low: float = math.nan
    high: float = math.nan
    # whether the range is that and no more; else it may be rounded up, and kept
    exact: bool = False
    air: float = 0.0  # a share of the range that is added below it
    # of all, where from `low` to `high` some are missing
    full_range: tuple[float, float] | None = None
    is_cut_at_end: bool = False  # whether long choices lose their ends; else their middles


def score_axis(
    metric: str,
    maximize: bool,
    low: float,
    high: float,
    title: str = "{}",
    full_range: tuple[float, float] | None = None,
) -> FigureAxis:
    """The axis of a score, in the unit shown; `title` has a place for its name."""
    words = title.format(metric_in_short(metric))
    return FigureAxis(words, score_scale(metric), maximize, low, high, full_range=full_range)


@dataclass(frozen=True)
class Figure:
    """One plot."""

    title: str
    x: FigureAxis
    y: FigureAxis
    marks: tuple[Mark, ...]  # the lowest first; names are unique
    description: str  # the picture in a sentence
    table: Callable[[], Table]  # makes its twin, headers and rows; asked only where it is shown
    # (name of a mark or "", words); dots of the same label lie on the sample of a line
    legend: tuple[tuple[str, str], ...] = field(default=())

    def mark(self, kind: type[MarkKind], name: str) -> MarkKind:
        """The mark of a name and kind."""
        mark = next(mark for mark in self.marks if mark.name == name)
        assert isinstance(mark, kind)
        return mark


def range_of(*values: Iterable[float | None] | np.ndarray) -> tuple[float, float]:
    """The ends of what is finite; NaN where nothing is."""
    # numbers of events may be None, which becomes NaN
    numbers = np.concatenate([np.asarray(list(array), dtype=float).ravel() for array in values])
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (math.nan, math.nan)


def spaced_apart(positions: Sequence[float], widths: Sequence[float], limit: int) -> list[int]:
    """The indices of up to `limit` texts that overlap no earlier one."""
    chosen: list[int] = []
    for index, (position, width) in enumerate(zip(positions, widths, strict=True)):
        gaps = (abs(position - positions[i]) - (width + widths[i]) / 2 for i in chosen)
        if len(chosen) < limit and min(gaps, default=0.0) >= 0.0:
            chosen.append(index)
    return chosen


def whiskers(positions: Any, lows: Any, highs: Any) -> tuple[np.ndarray, np.ndarray]:
    """(positions, ends) of lines from low to high, with a gap after each."""
    repeated = np.repeat(np.asarray(positions, dtype=float), 3)
    ends = [np.asarray(ends, dtype=float) for ends in (lows, highs)]
    return repeated, np.column_stack([*ends, np.full(len(ends[0]), np.nan)]).ravel()


def joined(curves: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curves (curves, points) over the same x as one line with gaps."""
    gap = np.full((len(curves), 1), np.nan)
    return np.tile(np.append(x, np.nan), len(curves)), np.hstack([curves, gap]).ravel()


def columns_table(columns: Mapping[str, Iterable[Any]]) -> Table:
    """A table of named columns."""
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def spread_apart(wanted: Sequence[float], height: float, low: float, high: float) -> np.ndarray:
    """Positions near the wanted ones, `height` apart, in [low, high] where they fit."""
    # Least squares under the order: blocks that touch move as one (pool adjacent violators).
    order = np.argsort(wanted, kind="stable")
    blocks: list[tuple[float, int]] = []  # mean of (wanted − rank·height), members
    for rank, index in enumerate(order):
        mean, count = float(wanted[index]) - rank * height, 1
        while blocks and blocks[-1][0] > mean:
            before, members = blocks.pop()
            mean, count = (before * members + mean * count) / (members + count), members + count
        blocks.append((mean, count))
    starts = np.concatenate([[mean] * count for mean, count in blocks]) if blocks else np.empty(0)
    top = max(low, high - height * max(0, len(order) - 1))
    placed = np.empty(len(order))
    placed[order] = np.clip(starts, low, top) + height * np.arange(len(order))
    return placed
