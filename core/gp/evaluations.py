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
    """A surrogate along one axis: lists of one length.

    Attributes:
        log: whether the axis is logarithmic.
        labels: of the positions of a choice; None for numbers.
        band, wide_band: lows and highs, one and two standard deviations around the mean.
        trials: of this run.
        next_x: the position of the next trial, if there is one.
        at: the setting through which the slice goes.
    """

    axis: str
    log: bool
    x: Numbers
    labels: list[str] | None
    mean: Numbers
    sd: Numbers
    band: list[Numbers]
    wide_band: list[Numbers]
    trials: list[PlottedTrial]
    next_x: float | None
    at: Setting


@dataclass(frozen=True)
class ScoreSlice(SurrogateSlice):
    """The slice of scores; `best_x` is the position of the best trial."""

    acquisition: Numbers
    best_x: float


@dataclass(frozen=True)
class JointSlice(SurrogateSlice):
    """The slice of responses.

    Attributes:
        score_mean, score_sd: mean and sd in units of the score, where `settled`.
        earlier: trials of earlier datasets, nearest dataset first.
    """

    settled: bool
    score_mean: Numbers
    score_sd: Numbers
    earlier: list[EarlierTrial]


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
    """The image of responses, with `score_mean` in units of the score, where `settled`."""

    settled: bool
    score_mean: list[Numbers]
    earlier: list[EarlierTrial]


Evaluation = SurrogateSlice | SurrogateImage
