"""Evaluates a surrogate: its slice along one axis and its image over two, on grids of the axes.

They need numpy, scipy and contourpy only. Scores, means and standard deviations are in the units of
the score. Where the worse half of the scores is compressed (core.gp.warping), the mean is that of
the responses as a score, which is the score's median; the bands are its quantiles, and the standard
deviation is half the width of the inner band. They are of a score that would be observed, its noise
included, and within its limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import contourpy
import numpy as np

from core.gp.acquisition import expected_improvement, probability_of_improvement
from core.gp.evaluations import (
    ContourLine,
    PlotPosition,
    PlottedTrial,
    ScoreSlice,
    SurrogateImage,
    SurrogateSlice,
)
from core.gp.kernels import Array
from core.gp.regression import FittedSurface, GpPosterior, Surrogate, response_to_beat
from core.gp.warping import UNLIMITED, Limits, PredictedScores
from core.space import Axis, Setting, setting_at, unit_vector

LEVELS = 8  # contour lines of a surface, about


@dataclass(frozen=True)
class AxisGrid:
    """The values of one axis at which the surrogate is evaluated."""

    axis: Axis
    values: list[Any]  # ascending, or the choices
    positions: list[float]  # what is plotted: the values, or indices for a choice
    first: int  # the axis's first entry in the unit vector

    def position(self, value: Any) -> float:
        """Where a value is plotted."""
        return float(self.axis.choices.index(value)) if self.axis.kind == "choice" else float(value)

    @property
    def tick_labels(self) -> list[str] | None:
        """The labels at the positions of a choice; None for numbers."""
        return [str(value) for value in self.values] if self.axis.kind == "choice" else None


def axis_grid(space: Sequence[Axis], name: str, points: int) -> AxisGrid:
    """An even grid along an axis, every whole number where few; KeyError: no such axis."""
    names = [axis.name for axis in space]
    if name not in names:
        raise KeyError(name)
    k = names.index(name)
    axis = space[k]
    first = sum(earlier_axis.width for earlier_axis in space[:k])
    if axis.kind == "choice":
        positions = [float(index) for index in range(len(axis.choices))]
        return AxisGrid(axis, list(axis.choices), positions, first)
    if axis.kind == "int" and axis.high - axis.low < points:
        values: list[Any] = list(range(round(axis.low), round(axis.high) + 1))
    else:
        # Of whole numbers on a log axis, neighbouring positions round to the same one.
        numbers = [axis.from_unit([u]) for u in np.linspace(0.0, 1.0, points)]
        values = list(dict.fromkeys(numbers))
    return AxisGrid(axis, values, [float(value) for value in values], first)


def points_on_axis(base: Array, grid: AxisGrid) -> Array:
    """A point moved to every value of a grid, shape (values, width)."""
    points = np.tile(base, (len(grid.values), 1))
    entries = [grid.axis.to_unit(value) for value in grid.values]
    points[:, grid.first : grid.first + grid.axis.width] = entries
    return points


def contours(
    across: AxisGrid, up: AxisGrid, scores: Array, *, maximize: bool = True
) -> list[ContourLine]:
    """Lines of equal score in the better half, interpolated so that they plot straight."""
    low, high = float(scores.min()), float(scores.max())
    # contourpy wants two rows and columns; on a plateau it would draw the rounding.
    if min(scores.shape) < 2 or high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        return []
    generator = contourpy.contour_generator(z=scores)
    lines = []
    # One bad corner would take all lines for itself.
    ends = float(np.median(scores)), high if maximize else low
    for level in np.linspace(min(ends), max(ends), LEVELS + 2)[1:-1]:
        for line in generator.lines(float(level)):
            x, y = np.asarray(line).T
            lines.append(ContourLine(float(level), _between(across, x), _between(up, y)))
    return lines


def _between(grid: AxisGrid, index: Array) -> list[float]:
    # Logarithmic where the axis is: the screen draws straight lines between these positions.
    positions = np.array(grid.positions)
    if grid.axis.log:
        return np.exp(np.interp(index, np.arange(len(positions)), np.log(positions))).tolist()
    return np.interp(index, np.arange(len(positions)), positions).tolist()


MAX_POINTS = 500  # of a slice: drawing more costs frames and shows nothing more


class SurfaceView:
    """What is drawn of a surface beside its heights, through the setting `at`.

    `scores` and responses of its trials, shape (n,).
    """

    def __init__(
        self,
        space: Sequence[Axis],
        surface: FittedSurface,
        scores: Sequence[float],
        responses: Sequence[float],
        at: Setting,
    ) -> None:
        self.space, self.surface, self.at = space, surface, at
        self._scores, self._responses = scores, responses

    def line(self, axis: str, points: int) -> tuple[AxisGrid, Array]:
        """The values of an axis, and the points through the setting there."""
        grid = axis_grid(self.space, axis, min(points, MAX_POINTS))
        return grid, points_on_axis(unit_vector(self.space, self.at), grid)

    def cells(self, first: str, second: str, size: int) -> tuple[AxisGrid, AxisGrid, Array]:
        """The values of two axes, and the points there, the first axis running faster."""
        across, up = (axis_grid(self.space, name, size) for name in (first, second))
        column = points_on_axis(unit_vector(self.space, self.at), up)
        return across, up, np.vstack([points_on_axis(point, across) for point in column])

    def positions(self, points: Sequence[Any] | Array, grid: AxisGrid | None) -> list[float]:
        """Where unit vectors (m, width) are plotted along an axis; zeros without one."""
        if grid is None:
            return [0.0] * len(points)
        settings = (setting_at(self.space, np.array(point)) for point in points)
        return [grid.position(setting[grid.axis.name]) for setting in settings]

    def _trials(self, across: AxisGrid, up: AxisGrid | None = None) -> list[PlottedTrial]:
        x, y = (self.positions(self.surface.points, grid) for grid in (across, up))
        columns = (self.surface.numbers, self._scores, x, y, self._responses)
        return list(map(PlottedTrial, *columns))

    def slice_of(self, grid: AxisGrid, heights: PredictedScores) -> SurrogateSlice:
        """The slice of heights along an axis."""
        next_points = [self.surface.next] if self.surface.next else []
        return SurrogateSlice(
            axis=grid.axis.name,
            log=grid.axis.log,
            x=grid.positions,
            labels=grid.tick_labels,
            mean=heights.median.tolist(),
            sd=heights.deviation.tolist(),
            band=[end.tolist() for end in heights.band],
            wide_band=[end.tolist() for end in heights.wide_band],
            trials=self._trials(grid),
            next_x=next(iter(self.positions(next_points, grid)), None),
            at=self.at,
        )

    def image_of(
        self, across: AxisGrid, up: AxisGrid, heights: PredictedScores, *, maximize: bool = True
    ) -> SurrogateImage:
        """The image of heights over two axes."""
        shape = (len(up.values), len(across.values))
        mean = heights.median.reshape(shape)

        def plotted(point: Sequence[float]) -> PlotPosition | None:
            positions = (self.positions([point], grid)[0] for grid in (across, up))
            return PlotPosition(*positions) if point else None

        return SurrogateImage(
            first=across.axis.name,
            second=up.axis.name,
            x=across.positions,
            y=up.positions,
            x_labels=across.tick_labels,
            y_labels=up.tick_labels,
            mean=mean.tolist(),
            sd=heights.deviation.reshape(shape).tolist(),
            contours=contours(across, up, mean, maximize=maximize),
            trials=self._trials(across, up),
            next=plotted(self.surface.next),
            best=plotted(self.surface.incumbent),
            at=self.at,
        )


def _score_view(
    surrogate: Surrogate, space: Sequence[Axis], fixed_values: Mapping[str, Any] | None
) -> tuple[SurfaceView, GpPosterior]:
    regression = surrogate.regression()
    if not surrogate.incumbent:
        best = response_to_beat(regression)[1]
        surrogate = replace(surrogate, incumbent=surrogate.points[best])
    at = setting_at(space, np.array(surrogate.incumbent)) | dict(fixed_values or {})
    scores = surrogate.responses
    return SurfaceView(space, surrogate, scores, [0.0] * len(scores), at), regression


def _acquisition(surrogate: Surrogate, best: float, mean: Array, sd: Array) -> Array:
    """EI in units of the score, PI as a probability, or the posterior mean as a score."""
    if surrogate.acquisition == "pi":
        return probability_of_improvement(mean, sd, best)
    if surrogate.acquisition == "mean":
        return surrogate.score_warp.to_scores(mean)
    # The improvement is above the best score, where nothing is compressed.
    return surrogate.scale * expected_improvement(mean, sd, best)


def slice_through(
    surrogate: Surrogate,
    space: Sequence[Axis],
    axis: str,
    fixed_values: Mapping[str, Any] | None = None,
    points: int = 201,
    limits: Limits = UNLIMITED,
) -> ScoreSlice:
    """The surrogate along one axis, the others at `fixed_values`, the incumbent's where missing.

    `points`: how many values, at most; `limits`: of a score. KeyError: no axis has that name.
    """
    view, regression = _score_view(surrogate, space, fixed_values)
    grid, line = view.line(axis, points)
    mean, sd = regression.posterior(line)
    heights = view.slice_of(grid, surrogate.score_predictions(mean, sd, limits))
    acquisition = _acquisition(surrogate, response_to_beat(regression)[0], mean, sd)
    return ScoreSlice(**vars(heights), acquisition=acquisition.tolist())


def surface(
    surrogate: Surrogate,
    space: Sequence[Axis],
    first: str,
    second: str,
    fixed_values: Mapping[str, Any] | None = None,
    size: int = 60,
    limits: Limits = UNLIMITED,
) -> SurrogateImage:
    """The surrogate over two axes, `first` along x, the others as for `slice_through`.

    `size`: values along each axis, at most. Raises KeyError: no axis has one of the names.
    """
    view, regression = _score_view(surrogate, space, fixed_values)
    across, up, cells = view.cells(first, second, size)
    heights = surrogate.score_predictions(*regression.posterior(cells), limits)
    return view.image_of(across, up, heights, maximize=surrogate.maximize)
