"""Evaluates a surrogate: its slice along one axis and its image over two, on grids of the axes.

They need numpy, scipy and contourpy only. Scores, means and standard deviations are in the units of
the score. Where the worse half of the scores is compressed (core.gp.warping), the mean is that of
the responses as a score, which is the score's median; the bands are its quantiles, and the standard
deviation is half the width of the inner band. They are of a score that would be observed, its noise
included, and within its limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import contourpy
import numpy as np

from core.gp.acquisition import expected_improvement, probability_of_improvement
from core.gp.evaluations import ContourLine, PlotPosition, PlottedTrial, ScoreSlice, SurrogateImage
from core.gp.kernels import Array
from core.gp.regression import Surrogate, response_to_beat
from core.gp.warping import UNLIMITED, Limits
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


def points_on_grid(base: Array, across: AxisGrid, up: AxisGrid) -> Array:
    """A point moved over two grids, `across` running faster, shape (up × across, width)."""
    return np.vstack([points_on_axis(row, across) for row in points_on_axis(base, up)])


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


class _View:
    """A surrogate over its space, through one setting."""

    def __init__(
        self, surrogate: Surrogate, space: Sequence[Axis], fixed_values: Mapping[str, Any] | None
    ) -> None:
        self.surrogate, self.space = surrogate, space
        self.warp = surrogate.score_warp
        self.regression = surrogate.regression()
        self.best, best_row = response_to_beat(self.regression)
        incumbent = surrogate.incumbent or surrogate.points[best_row]
        self.incumbent = setting_at(space, np.array(incumbent))
        self.base_setting: Setting = self.incumbent | dict(fixed_values or {})
        self.next_setting = setting_at(space, np.array(surrogate.next)) if surrogate.next else None

    def scored_settings(self) -> list[tuple[int, float, Setting]]:
        settings = [setting_at(self.space, np.array(point)) for point in self.surrogate.points]
        return list(zip(self.surrogate.numbers, self.surrogate.responses, settings, strict=True))

    def acquisition(self, mean: Array, sd: Array) -> Array:
        """EI in units of the score, PI as a probability, or the posterior mean as a score."""
        if self.surrogate.acquisition == "pi":
            return probability_of_improvement(mean, sd, self.best)
        if self.surrogate.acquisition == "mean":
            return self.warp.to_scores(mean)
        # The improvement is above the best score, where nothing is compressed.
        return self.surrogate.scale * expected_improvement(mean, sd, self.best)


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
    view = _View(surrogate, space, fixed_values)
    grid = axis_grid(space, axis, min(points, MAX_POINTS))
    base = unit_vector(space, view.base_setting)
    mean, sd = view.regression.posterior(points_on_axis(base, grid))
    predicted = surrogate.score_predictions(mean, sd, limits)
    return ScoreSlice(
        axis=axis,
        log=grid.axis.log,
        x=grid.positions,
        labels=grid.tick_labels,
        mean=predicted.median.tolist(),
        sd=predicted.deviation.tolist(),
        band=[end.tolist() for end in predicted.band],
        wide_band=[end.tolist() for end in predicted.wide_band],
        trials=[
            PlottedTrial(number, score, grid.position(setting[axis]))
            for number, score, setting in view.scored_settings()
        ],
        next_x=None if view.next_setting is None else grid.position(view.next_setting[axis]),
        at=view.base_setting,
        acquisition=view.acquisition(mean, sd).tolist(),
    )


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
    view = _View(surrogate, space, fixed_values)
    across, up = (axis_grid(space, name, size) for name in (first, second))
    cells = points_on_grid(unit_vector(space, view.base_setting), across, up)
    shape = (len(up.values), len(across.values))
    predicted = surrogate.score_predictions(*view.regression.posterior(cells), limits)
    scores = predicted.median.reshape(shape)

    def plotted(setting: Setting) -> tuple[float, float]:
        return across.position(setting[first]), up.position(setting[second])

    return SurrogateImage(
        first=first,
        second=second,
        x=across.positions,
        y=up.positions,
        x_labels=across.tick_labels,
        y_labels=up.tick_labels,
        mean=scores.tolist(),
        sd=predicted.deviation.reshape(shape).tolist(),
        contours=contours(across, up, scores, maximize=surrogate.maximize),
        trials=[
            PlottedTrial(number, score, *plotted(setting))
            for number, score, setting in view.scored_settings()
        ],
        next=None if view.next_setting is None else PlotPosition(*plotted(view.next_setting)),
        best=PlotPosition(*plotted(view.incumbent)),
        at=view.base_setting,
    )
