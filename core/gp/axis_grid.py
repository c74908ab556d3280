"""Grids along the axes of a space on which a surface is evaluated, and its contour lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import contourpy
import numpy as np

from core.gp.evaluations import ContourLine
from core.gp.kernels import Array
from core.space import Axis

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


def contours(across: AxisGrid, up: AxisGrid, scores: Array) -> list[ContourLine]:
    """Lines of equal score, interpolated between positions, so that they plot straight."""
    low, high = float(scores.min()), float(scores.max())
    if min(scores.shape) < 2 or high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        return []
    generator = contourpy.contour_generator(z=scores)
    lines = []
    for level in np.linspace(low, high, LEVELS + 2)[1:-1]:
        for line in generator.lines(float(level)):
            x, y = np.asarray(line).T
            lines.append(ContourLine(float(level), _between(across, x), _between(up, y)))
    return lines


def _between(grid: AxisGrid, index: Array) -> list[float]:
    """Positions at fractional indices, logarithmic where the axis is."""
    positions = np.array(grid.positions)
    if grid.axis.log:
        return np.exp(np.interp(index, np.arange(len(positions)), np.log(positions))).tolist()
    return np.interp(index, np.arange(len(positions)), positions).tolist()
