"""Looking at a surrogate: its slice along one axis and its surface over two, as plain lists.

The window redraws with these two functions; they need numpy, scipy and contourpy only.
Scores, means and standard deviations are in the units of the score; positions along an axis are its
own values, or for a choice the index of its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import contourpy
import numpy as np

from core.gp.acquisition import expected_improvement, probability_of_improvement
from core.gp.kernels import Array
from core.gp.regression import Regression
from core.gp.surrogate import Surrogate, response_to_beat, surrogate_from_dict
from core.space import Axis, Setting, axis_from_dict, setting_at, unit_vector

MOST_POINTS = 500  # of a slice: drawing more costs frames and shows nothing more
LEVELS = 8  # contour lines of a surface, about


@dataclass(frozen=True)
class _Ruler:
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


class _View:
    """A surrogate over its space, through one setting."""

    def __init__(
        self,
        surrogate: Surrogate | Mapping[str, Any],
        space: Sequence[Axis | Mapping[str, Any]],
        at: Mapping[str, Any] | None,
    ) -> None:
        self.surrogate: Surrogate = (
            surrogate if isinstance(surrogate, Surrogate) else surrogate_from_dict(surrogate)
        )
        self.space = [a if isinstance(a, Axis) else axis_from_dict(a) for a in space]
        self.regression: Regression = self.surrogate.regression()
        self.best, where = response_to_beat(self.regression)
        incumbent = self.surrogate.incumbent or self.surrogate.points[where]
        self.incumbent = setting_at(self.space, np.array(incumbent))
        self.at: Setting = self.incumbent | dict(at or {})
        self.next = (
            setting_at(self.space, np.array(self.surrogate.next)) if self.surrogate.next else None
        )
        self.tried = [setting_at(self.space, np.array(p)) for p in self.surrogate.points]

    def ruler(self, name: str, points: int) -> _Ruler:
        """Evenly spread places along the axis of a name; every whole number where few.

        Raises:
            KeyError: no axis has that name.
        """
        names = [axis.name for axis in self.space]
        if name not in names:
            raise KeyError(name)
        k = names.index(name)
        axis = self.space[k]
        first = sum(other.width for other in self.space[:k])
        if axis.kind == "choice":
            positions = [float(index) for index in range(len(axis.choices))]
            return _Ruler(axis, list(axis.choices), positions, first)
        if axis.kind == "int" and axis.high - axis.low < points:
            values: list[Any] = list(range(round(axis.low), round(axis.high) + 1))
        else:
            spread = [axis.from_unit([u]) for u in np.linspace(0.0, 1.0, points)]
            values = list(dict.fromkeys(spread))
        return _Ruler(axis, values, [float(value) for value in values], first)

    def place(self, base: Array, ruler: _Ruler, column: int) -> Array:
        """The base point moved to one place of a ruler."""
        moved = base.copy()
        moved[ruler.first : ruler.first + ruler.axis.width] = ruler.axis.to_unit(
            ruler.values[column]
        )
        return moved

    def scores(self, standardized: Array) -> Array:
        """Standardized responses in units of the score."""
        return self.surrogate.mean + self.surrogate.sign * self.surrogate.scale * standardized

    def acquisition(self, mean: Array, sd: Array) -> Array:
        """EI in units of the score, PI as a probability, or the posterior mean as a score."""
        if self.surrogate.acquisition == "pi":
            return probability_of_improvement(mean, sd, self.best)
        if self.surrogate.acquisition == "mean":
            return self.scores(mean)
        return self.surrogate.scale * expected_improvement(mean, sd, self.best)


def slice_through(
    surrogate: Surrogate | Mapping[str, Any],
    space: Sequence[Axis | Mapping[str, Any]],
    axis: str,
    at: Mapping[str, Any] | None = None,
    points: int = 201,
) -> dict[str, Any]:
    """The surrogate along one axis, every other axis held at a setting.

    Args:
        surrogate: the surrogate, or a dict with its fields.
        space: its axes, or their dicts, in the order of its unit vectors.
        axis: the name of the axis to go along.
        at: values of other axes; those not given are the incumbent's.
        points: how many places, 500 at most; a whole number or a choice may have fewer.

    Returns:
        x, mean, sd, acquisition: lists of one length (x: values, or indices of a choice);
        labels: of a choice's indices, else None;
        trials: [{number, x, score}]; next_x, best_x: places of the next and the best trial;
        at: the setting through which the slice goes; log: whether x is logarithmic.

    Raises:
        KeyError: no axis has that name.
    """
    view = _View(surrogate, space, at)
    ruler = view.ruler(axis, min(points, MOST_POINTS))
    base = unit_vector(view.space, view.at)
    line = np.array([view.place(base, ruler, k) for k in range(len(ruler.values))])
    mean, sd = view.regression.posterior(line)
    return {
        "axis": axis,
        "log": ruler.axis.log,
        "x": ruler.positions,
        "labels": ruler.labels,
        "mean": view.scores(mean).tolist(),
        "sd": (view.surrogate.scale * sd).tolist(),
        "acquisition": view.acquisition(mean, sd).tolist(),
        "trials": [
            {"number": number, "x": ruler.position(setting[axis]), "score": score}
            for number, setting, score in zip(
                view.surrogate.numbers, view.tried, view.surrogate.responses, strict=True
            )
        ],
        "next_x": None if view.next is None else ruler.position(view.next[axis]),
        "best_x": ruler.position(view.incumbent[axis]),
        "at": view.at,
    }


def surface(
    surrogate: Surrogate | Mapping[str, Any],
    space: Sequence[Axis | Mapping[str, Any]],
    first: str,
    second: str,
    at: Mapping[str, Any] | None = None,
    size: int = 60,
) -> dict[str, Any]:
    """The surrogate over two axes, every other axis held at a setting.

    Args:
        surrogate, space, at: as for `slice_through`.
        first, second: names of the axes along x and y.
        size: places along each axis; a whole number or a choice may have fewer.

    Returns:
        x, y: places (values, or indices of a choice); x_labels, y_labels; x_log, y_log;
        mean, sd: rows by y, columns by x;
        contours: [{level, x, y}], each a polyline;
        trials: [{number, x, y, score}]; next, best: {x, y} (next may be None); at: the setting.

    Raises:
        KeyError: no axis has one of the names.
    """
    view = _View(surrogate, space, at)
    across, up = view.ruler(first, size), view.ruler(second, size)
    base = unit_vector(view.space, view.at)
    columns = [view.place(base, across, k) for k in range(len(across.values))]
    cells = np.array([view.place(c, up, k) for k in range(len(up.values)) for c in columns])
    shape = (len(up.values), len(across.values))
    mean, sd = view.regression.posterior(cells)
    scores = view.scores(mean).reshape(shape)

    def spot(setting: Setting | None) -> dict[str, float] | None:
        if setting is None:
            return None
        return {"x": across.position(setting[first]), "y": up.position(setting[second])}

    return {
        "first": first,
        "second": second,
        "x": across.positions,
        "y": up.positions,
        "x_labels": across.labels,
        "y_labels": up.labels,
        "x_log": across.axis.log,
        "y_log": up.axis.log,
        "mean": scores.tolist(),
        "sd": (view.surrogate.scale * sd).reshape(shape).tolist(),
        "contours": _contours(across, up, scores),
        "trials": [
            {"number": number, "score": score, **(spot(setting) or {})}
            for number, setting, score in zip(
                view.surrogate.numbers, view.tried, view.surrogate.responses, strict=True
            )
        ],
        "next": spot(view.next),
        "best": spot(view.incumbent),
        "at": view.at,
    }


def _contours(across: _Ruler, up: _Ruler, scores: Array) -> list[dict[str, Any]]:
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


def _between(ruler: _Ruler, index: Array) -> list[float]:
    """Positions at fractional indices, logarithmic where the axis is."""
    positions = np.array(ruler.positions)
    if ruler.axis.log:
        return np.exp(np.interp(index, np.arange(len(positions)), np.log(positions))).tolist()
    return np.interp(index, np.arange(len(positions)), positions).tolist()
