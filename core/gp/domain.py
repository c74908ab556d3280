"""The allowed points: the unit cube with whole numbers on their lattice, choices one-hot.

A *point* is a unit vector (core.space); an *allowed* point is one that some setting maps to.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.gp.kernels import Array, Indices
from core.space import Axis

# Of a real number's unit value: where arrays lie in memory changes the last bits of a result, and
# a resumed run has to arrive at exactly the same setting.
DECIMALS = 7
ALL_NEIGHBOURS = 16  # a whole number with at most so many values tries them all


@dataclass(frozen=True)
class Condition:
    """An axis that does not count where its parent, a choice or whole number, has some values."""

    axis: str
    parent: str = ""  # unknown: the axis may be missing anywhere
    hiding_values: frozenset[float] = frozenset()  # numbers, or indices of choices


def axis_ends(axis: Axis) -> tuple[float, float, float, float]:
    """Where the first and last number lie on the axis, and in the unit interval."""
    low, high = axis.to_unit(axis.low)[0], axis.to_unit(axis.high)[0]
    if axis.log:
        return math.log(axis.low), math.log(axis.high), low, high
    return axis.low, axis.high, low, high


def unit_values(axis: Axis, values: Array) -> Array:
    """The entries of the unit vector for numbers of any shape, clipped; NaN stays NaN."""
    start, end, low, high = axis_ends(axis)
    numbers = np.clip(values, axis.low, axis.high)
    position = np.log(numbers) if axis.log else numbers
    return np.asarray(low + (position - start) * ((high - low) / ((end - start) or 1.0)))


class SearchDomain:
    """The allowed points of a space of one axis or more.

    Of every entry of a point `axis_of` is its axis, and `free` whether it is a real number, shapes
    (width,); `size`: how many allowed points there are, infinite with a real number of positive
    range or with conditions. What a condition hides has one value, the middle of a number and none
    of the choices, so that settings that differ in it alone are one point (Lévesque et al. 2017,
    Bayesian optimization for conditional hyperparameter spaces).
    """

    def __init__(self, space: Sequence[Axis], conditions: Sequence[Condition] = ()) -> None:
        self.space, self.conditions = tuple(space), conditions
        widths = [axis.width for axis in self.space]
        self.axis_of: Indices = np.repeat(np.arange(len(widths)), widths)
        self.first = np.concatenate([[0], np.cumsum(widths)]).astype(int)
        ranged = [axis.kind == "float" and axis.high > axis.low for axis in self.space]
        self.free = np.array([ranged[axis] for axis in self.axis_of])
        counts = [self.value_count(axis) for axis in self.space]
        self.size = math.inf if conditions else math.prod(counts)

    @staticmethod
    def value_count(axis: Axis) -> float:
        """How many values an axis has; infinite for a real number of positive range."""
        if axis.kind == "choice":
            return len(axis.choices)
        if axis.kind == "float":
            return math.inf if axis.high > axis.low else 1
        return round(axis.high) - round(axis.low) + 1

    @property
    def width(self) -> int:
        """The number of entries of a point."""
        return len(self.axis_of)

    def snap_points(self, points: Array) -> Array:
        """The nearest allowed points, shape (m, width): numbers rounded, choices by their largest.

        As `unit_vector(space, setting_at(space, point))`, up to the rounding of real numbers.
        """
        snapped = np.asarray(np.clip(points, 0.0, 1.0).round(DECIMALS), dtype=np.float64)
        for start, axis in zip(self.first, self.space, strict=False):
            if axis.kind == "choice":
                block = snapped[:, start : start + axis.width]
                snapped[:, start : start + axis.width] = np.eye(axis.width)[block.argmax(axis=1)]
            elif self.value_count(axis) == 1:
                snapped[:, start] = axis.to_unit(axis.low)[0]
            elif axis.kind == "int":
                snapped[:, start] = unit_values(axis, self._from_unit(axis, snapped[:, start]))
        if self.conditions:
            is_hidden = ~self.visible_entries(snapped)
            snapped[is_hidden] = np.broadcast_to(self.hidden_point, snapped.shape)[is_hidden]
        return snapped

    @cached_property
    def hidden_point(self) -> Array:
        """The entries of what is hidden, shape (width,)."""
        return np.array([0.5 * (self.space[axis].kind != "choice") for axis in self.axis_of])

    def visible_entries(self, points: Array) -> NDArray[np.bool_]:
        """Which entries of points (m, width) no condition hides, the same shape."""
        numbers = {axis.name: number for number, axis in enumerate(self.space)}
        is_visible = np.ones(points.shape, dtype=bool)
        for condition in (condition for condition in self.conditions if condition.parent):
            parent, child = numbers[condition.parent], numbers[condition.axis]
            axis, start = self.space[parent], self.first[parent]
            is_choice = axis.kind == "choice"
            block = points[:, start : start + axis.width]
            values = block.argmax(axis=1) if is_choice else self._from_unit(axis, block[:, 0])
            hides = np.isin(values, list(condition.hiding_values))
            is_visible[np.ix_(hides, self.axis_of == child)] = False
        return is_visible

    @staticmethod
    def _from_unit(axis: Axis, units: Array) -> Array:
        start, end, low, high = axis_ends(axis)
        position = start + (units - low) / (high - low) * (end - start)
        return np.clip(np.rint(np.exp(position) if axis.log else position), axis.low, axis.high)

    def points_from_uniforms(self, columns: Array) -> Array:
        """Allowed points from uniform draws, one column an axis: shape (m, axes) -> (m, width)."""
        points = np.empty((len(columns), self.width))
        for k, (start, axis) in enumerate(zip(self.first, self.space, strict=False)):
            if axis.kind == "choice":
                # A draw of exactly 1 would be one choice too far.
                codes = np.minimum(columns[:, k] * axis.width, axis.width - 1).astype(int)
                points[:, start : start + axis.width] = np.eye(axis.width)[codes]
            else:
                points[:, start] = columns[:, k]
        return self.snap_points(points)

    def all_points(self) -> Array:
        """All allowed points of a finite domain, shape (size, width)."""
        blocks = [self._axis_points(axis) for axis in self.space]
        rows = [np.concatenate(axis_points) for axis_points in itertools.product(*blocks)]
        return np.array(rows)

    def _axis_points(self, axis: Axis) -> Array:
        if axis.kind == "choice":
            return np.eye(axis.width)
        if self.value_count(axis) == 1:
            return np.array([axis.to_unit(axis.low)])
        return unit_values(axis, np.arange(round(axis.low), round(axis.high) + 1.0))[:, None]

    def neighbours(self, point: Array) -> Array:
        """Allowed points that differ from an allowed one in a single whole number or choice."""
        neighbours = []
        for start, axis in zip(self.first, self.space, strict=False):
            if self.value_count(axis) == 1 or axis.kind == "float":
                continue
            block = slice(start, start + axis.width)
            for entries in self._values_near(axis, point[block]):
                if not np.array_equal(entries, point[block]):
                    near = point.copy()
                    near[block] = entries
                    neighbours.append(near)
        points = np.array(neighbours).reshape(-1, self.width)
        if self.conditions:
            points = self.snap_points(points)
            points = points[(points != point).any(axis=1)]
        return points

    def _values_near(self, axis: Axis, entries: Array) -> Array:
        if self.value_count(axis) <= ALL_NEIGHBOURS or axis.kind == "choice":
            return self._axis_points(axis)
        # Steps of 1, 2, 4 … up and down: every number is reached in logarithmically many of them.
        steps = 2.0 ** np.arange(int(math.log2(self.value_count(axis))) + 1)
        values = self._from_unit(axis, entries)[0] + np.concatenate([-steps[::-1], steps])
        inside = (values >= axis.low) & (values <= axis.high)
        return unit_values(axis, values[inside])[:, None]
