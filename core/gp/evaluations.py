"""Evaluations of a surrogate: slices along one axis, images over two.

Positions along an axis are its own values, or for a choice the index of its value. A setting that
is not among the evaluated axes is that of `at`.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.records import Record
from core.space import Setting

Numbers = list[float]


@dataclass(frozen=True)
class PlotPosition(Record):
    """Where a setting lies on an image."""

    x: float
    y: float


@dataclass(frozen=True)
class ContourLine(Record):
    """A polyline of equal height."""

    level: float
    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class PlottedTrial(Record):
    """A trial of this run; `y` counts on an image only, `response` on joint surfaces."""

    number: int
    score: float
    x: float
    y: float = 0.0
    response: float = 0.0


@dataclass(frozen=True)
class EarlierTrial(Record):
    """A trial of an earlier dataset, an index into the history's; `y` counts on an image only."""

    dataset: int
    response: float
    x: float
    y: float = 0.0


@dataclass(frozen=True)
class SurrogateSlice(Record):
    """A surrogate along one axis: lists of one length."""

    axis: str
    log: bool  # whether the axis is logarithmic
    x: Numbers
    labels: list[str] | None  # of the positions of a choice; None for numbers
    mean: Numbers
    sd: Numbers
    band: list[Numbers]  # lows and highs, one standard deviation around the mean
    wide_band: list[Numbers]  # two
    trials: list[PlottedTrial]
    next_x: float | None  # the position of the next trial, if there is one
    at: Setting  # the setting through which the slice goes


@dataclass(frozen=True)
class ScoreSlice(SurrogateSlice):
    """The slice of scores."""

    acquisition: Numbers


@dataclass(frozen=True)
class JointSlice(SurrogateSlice):
    """The slice of responses; means and deviations in units of the score where `settled`."""

    settled: bool
    score_mean: Numbers
    score_sd: Numbers
    earlier: list[EarlierTrial]  # trials of earlier datasets, nearest dataset first


@dataclass(frozen=True)
class SurrogateImage(Record):
    """A surrogate over two axes, `first` along x: rows by y, columns by x."""

    first: str
    second: str
    x: Numbers
    y: Numbers
    x_labels: list[str] | None
    y_labels: list[str] | None
    mean: list[Numbers]
    sd: list[Numbers]
    contours: list[ContourLine]
    trials: list[PlottedTrial]
    next: PlotPosition | None
    best: PlotPosition | None
    at: Setting


@dataclass(frozen=True)
class JointImage(SurrogateImage):
    """The image of responses."""

    settled: bool
    earlier: list[EarlierTrial]


Evaluation = SurrogateSlice | SurrogateImage
