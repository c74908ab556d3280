"""Places along the axes of a space where a surface is looked at, and its contour lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import contourpy
import numpy as np

from core.gp.kernels import Array
from core.space import Axis

LEVELS = 8  # contour lines of a surface, about


@dataclass(frozen=True)
class Ruler:
    """The places along one axis where the surrogate is evaluated.

    Attributes:
        axis: the axis.
        values: the values there.
        positions: what is plotted: the values, or indices for a choice.
        first: the axis's first entry in the unit vector.
    """

    axis: Axis
    values: list[Any]
    positions: list[float]
    first: int

    def position(self, value: Any) -> float:
        """Where a value is plotted."""
        return float(self.axis.choices.index(value)) if self.axis.kind == "choice" else float(value)

    @property
    def labels(self) -> list[str] | None:
        """What stands at the positions of a choice; None for numbers."""
        return [str(value) for value in self.values] if self.axis.kind == "choice" else None


def ruler_along(space: Sequence[Axis], name: str, points: int) -> Ruler:
    """Evenly spread places along the axis of a name; every whole number where few.

    Raises:
        KeyError: no axis has that name.
    """
    names = [axis.name for axis in space]
    if name not in names:
        raise KeyError(name)
    k = names.index(name)
    axis = space[k]
    first = sum(other.width for other in space[:k])
    if axis.kind == "choice":
        positions = [float(index) for index in range(len(axis.choices))]
        return Ruler(axis, list(axis.choices), positions, first)
    if axis.kind == "int" and axis.high - axis.low < points:
        values: list[Any] = list(range(round(axis.low), round(axis.high) + 1))
    else:
        spread = [axis.from_unit([u]) for u in np.linspace(0.0, 1.0, points)]
        values = list(dict.fromkeys(spread))
    return Ruler(axis, values, [float(value) for value in values], first)


def placed_along(base: Array, ruler: Ruler) -> Array:
    """A point moved to every place of a ruler, shape (places, width)."""
    moved = np.tile(base, (len(ruler.values), 1))
    entries = [ruler.axis.to_unit(value) for value in ruler.values]
    moved[:, ruler.first : ruler.first + ruler.axis.width] = entries
    return moved


def placed_over(base: Array, across: Ruler, up: Ruler) -> Array:
    """A point moved over two rulers, those of `across` running faster, (up × across, width)."""
    return np.vstack([placed_along(row, across) for row in placed_along(base, up)])


def contours(across: Ruler, up: Ruler, scores: Array) -> list[dict[str, Any]]:
    """Lines of equal score, found between the places, so that they are straight when plotted."""
    low, high = float(scores.min()), float(scores.max())
    if min(scores.shape) < 2 or high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        return []
    generator = contourpy.contour_generator(z=scores)
    lines = []
    for level in np.linspace(low, high, LEVELS + 2)[1:-1]:
        for line in generator.lines(float(level)):
            x, y = np.asarray(line).T
            lines.append({"level": float(level), "x": _between(across, x), "y": _between(up, y)})
    return lines


def _between(ruler: Ruler, index: Array) -> list[float]:
    """Positions at fractional indices, logarithmic where the axis is."""
    positions = np.array(ruler.positions)
    if ruler.axis.log:
        return np.exp(np.interp(index, np.arange(len(positions)), np.log(positions))).tolist()
    return np.interp(index, np.arange(len(positions)), positions).tolist()


def frame(across: Ruler, up: Ruler) -> dict[str, Any]:
    """What a picture over two axes says of them, as plain data."""
    return {
        "first": across.axis.name,
        "second": up.axis.name,
        "x": across.positions,
        "y": up.positions,
        "x_labels": across.labels,
        "y_labels": up.labels,
        "x_log": across.axis.log,
        "y_log": up.axis.log,
    }
