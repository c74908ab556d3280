"""Evaluates a surrogate: its slice along one axis and its surface over two, as plain lists.

The window draws with these two functions; they need numpy, scipy and contourpy only.
Scores, means and standard deviations are in the units of the score; positions along an axis are its
own values, or for a choice the index of its value. Where the worse half of the scores is compressed
(core.gp.warping), the mean is that of the responses as a score, which is the score's median; the
bands are its quantiles, and the standard deviation is half the width of the inner band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.gp.acquisition import expected_improvement, probability_of_improvement
from core.gp.kernels import Array
from core.gp.ruler import contours, frame, placed_along, placed_over, ruler_along
from core.gp.surrogate import Surrogate, response_to_beat, surrogate_from_dict
from core.space import Axis, Setting, axis_from_dict, setting_at, unit_vector

MOST_POINTS = 500  # of a slice: drawing more costs frames and shows nothing more


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
        self.warp = self.surrogate.warp
        self.regression = self.surrogate.regression()
        self.best, where = response_to_beat(self.regression)
        incumbent = self.surrogate.incumbent or self.surrogate.points[where]
        self.incumbent = setting_at(self.space, np.array(incumbent))
        self.at: Setting = self.incumbent | dict(at or {})
        self.next = (
            setting_at(self.space, np.array(self.surrogate.next)) if self.surrogate.next else None
        )
        self.tried = [setting_at(self.space, np.array(p)) for p in self.surrogate.points]

    def acquisition(self, mean: Array, sd: Array) -> Array:
        """EI in units of the score, PI as a probability, or the posterior mean as a score."""
        if self.surrogate.acquisition == "pi":
            return probability_of_improvement(mean, sd, self.best)
        if self.surrogate.acquisition == "mean":
            return self.warp.scores(mean)
        # No score above the best is compressed.
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
        band, wide_band: [lows, highs], one and two standard deviations around the mean;
        labels: of a choice's indices, else None;
        trials: [{number, x, score}]; next_x, best_x: places of the next and the best trial;
        at: the setting through which the slice goes; log: whether x is logarithmic.

    Raises:
        KeyError: no axis has that name.
    """
    view = _View(surrogate, space, at)
    ruler = ruler_along(view.space, axis, min(points, MOST_POINTS))
    base = unit_vector(view.space, view.at)
    line = placed_along(base, ruler)
    mean, sd = view.regression.posterior(line)
    return {
        "axis": axis,
        "log": ruler.axis.log,
        "x": ruler.positions,
        "labels": ruler.labels,
        "mean": view.warp.scores(mean).tolist(),
        "sd": view.warp.deviation(mean, sd).tolist(),
        "band": [end.tolist() for end in view.warp.interval(mean, sd)],
        "wide_band": [end.tolist() for end in view.warp.interval(mean, sd, 2.0)],
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
    across, up = (ruler_along(view.space, name, size) for name in (first, second))
    base = unit_vector(view.space, view.at)
    cells = placed_over(base, across, up)
    shape = (len(up.values), len(across.values))
    mean, sd = view.regression.posterior(cells)
    scores = view.warp.scores(mean).reshape(shape)

    def spot(setting: Setting | None) -> dict[str, float] | None:
        if setting is None:
            return None
        return {"x": across.position(setting[first]), "y": up.position(setting[second])}

    return {
        **frame(across, up),
        "mean": scores.tolist(),
        "sd": view.warp.deviation(mean, sd).reshape(shape).tolist(),
        "contours": contours(across, up, scores),
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
