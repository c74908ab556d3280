"""Evaluates a common response surface: its slice along one axis and its image over two.

The posterior is restored from the two events that carry it as plain data: the history of earlier
datasets (core.tuning.events.HistoryRead), and the surface (CommonSurfaceFitted). It is the
posterior that the trial was chosen by, before running and failed trials are added to it. Under the
kernel sqe with more than 300 earlier trials it is the exact one of the twenty nearest datasets,
where the choice was made by an approximation to that of all of them.

Heights are responses: how many of its dataset's standard deviations a score is better than its
dataset's mean; beside them those of the present dataset in units of its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.gp.evaluator import MOST_POINTS
from core.gp.kernels import Array, Hyperparameters
from core.gp.ruler import Ruler, contours, frame, placed_along, placed_over, ruler_along
from core.gp.transfer.earlier_trials import DatasetTrials, EarlierTrials, earlier_trials
from core.gp.transfer.fitting import CommonFitter
from core.gp.transfer.points import Coordinates, usable
from core.gp.transfer.posterior import CommonRegression
from core.space import Axis, Setting, axis_from_dict, setting_at, unit_vector

Plain = Mapping[str, Any]
Axes = Sequence[Axis | Plain]


class _Restored:
    """The common surface, and the trials of the earlier and the present trials that made it."""

    def __init__(self, surface: Plain, history: Plain, space: Axes) -> None:
        self.surface = surface
        self.space = [a if isinstance(a, Axis) else axis_from_dict(a) for a in space]
        self.earlier = self._trials(history)
        points = np.array(surface["points"], dtype=float).reshape(-1, self.earlier.points.shape[1])
        self.points: Array = points
        self.responses = [z for given in surface["past_responses"] for z in given]
        if len(points) + len(self.earlier.points) == 0:
            raise ValueError("a surface without any trial")
        self.regression = self._regression(Coordinates(self.space, history.get("simplex", ())))

    def _trials(self, history: Plain) -> EarlierTrials:
        axes = history["axes"]
        given = [
            DatasetTrials(
                one["statistics"],
                [dict(zip(axes, values, strict=True)) for values in one["values"]],
                one["scores"],
            )
            for one in history["datasets"]
        ]

        def to_point(setting: Plain) -> Array | None:
            found = usable(self.space, setting)
            return None if found is None else unit_vector(self.space, found)

        width = sum(axis.width for axis in self.space)
        order = self.surface["neighbours"]
        return earlier_trials(given, history["statistics"], to_point, width, order=order)

    def _regression(self, coordinates: Coordinates) -> CommonRegression:
        surface = self.surface
        lengths, noise = np.array(surface["lengths"]), surface["noise"]
        fitter = CommonFitter(surface["kernel"], coordinates, self.earlier, most_exact=None)
        z = np.array([*self.responses, *surface["responses"]], dtype=float)
        hyper = Hyperparameters(lengths, 1.0, noise)
        return fitter.restored(hyper, surface["constant"], self.points, z)

    def scores(self, responses: Array) -> Array:
        """Responses in units of the present dataset's score."""
        sign = 1.0 if self.surface["maximize"] else -1.0
        return np.asarray(self.surface["mean"] + sign * self.surface["scale"] * responses)

    def at(self, given: Plain | None) -> Setting:
        """The setting to look through: the best trial, else the next, else the best earlier one."""
        found = self.surface["incumbent"] or self.surface["next"]
        if not found:
            everything = np.vstack([self.earlier.points, self.points])
            found = everything[int(np.argmax(self.regression.posterior(everything)[0]))]
        return setting_at(self.space, np.array(found)) | dict(given or {})

    def settings(self, points: Array) -> list[Setting]:
        """The settings of unit vectors."""
        return [setting_at(self.space, point) for point in points]

    @property
    def next(self) -> Setting | None:
        """The setting of the next trial."""
        ahead = self.surface["next"]
        return setting_at(self.space, np.array(ahead)) if ahead else None

    def earlier_trials(self) -> list[tuple[Setting, dict[str, Any]]]:
        """Earlier settings, each with {"dataset", "response"}; nearest dataset first."""
        datasets = [self.earlier.datasets[k - 1] for k in self.earlier.d]
        about = [
            {"dataset": dataset, "response": response}
            for dataset, response in zip(datasets, self.responses, strict=True)
        ]
        return list(zip(self.settings(self.earlier.points), about, strict=True))

    def present_trials(self) -> list[tuple[Setting, dict[str, Any]]]:
        """Settings of this run, each with {"number", "response", "score"}."""
        responses = np.array(self.surface["responses"], dtype=float)
        scores = self.scores(responses).tolist()
        about = [
            {"number": number, "response": response, "score": score}
            for number, response, score in zip(
                self.surface["numbers"], responses.tolist(), scores, strict=True
            )
        ]
        return list(zip(self.settings(self.points), about, strict=True))


def restored(surface: Plain, history: Plain, space: Axes) -> CommonRegression:
    """The posterior of responses, to be asked at unit vectors of the present dataset.

    Args:
        surface: the fields of CommonSurfaceFitted.
        history: the fields of HistoryRead; an entry "simplex", where there is one, names axes whose
            values count only as shares of their sum.
        space: the axes, or their dicts, in the order of the unit vectors.

    Raises:
        ValueError: there is no trial at all.
    """
    return _Restored(surface, history, space).regression


def common_slice(
    surface: Plain,
    history: Plain,
    space: Axes,
    axis: str,
    at: Plain | None = None,
    points: int = 201,
) -> dict[str, Any]:
    """The common surface along one axis, every other axis held at a setting.

    Args:
        surface, history, space: as for `restored`.
        axis: the name of the axis to go along.
        at: values of other axes; those not given are the best trial's (before there is one, the
            next trial's).
        points: how many places, 500 at most; a whole number or a choice may have fewer.

    Returns:
        x, mean, sd: lists of one length (x: values, or indices of a choice; mean and sd of the
        response); band, wide_band: [lows, highs], one and two standard deviations around the mean;
        score_mean, score_sd: mean and sd in units of the score, where `settled`;
        labels: of a choice's indices, else None;
        earlier: [{dataset, x, response}], dataset an index into the history's datasets;
        trials: [{number, x, response, score}]; next_x: the place of the next trial, or None;
        at: the setting through which the slice goes; log: whether x is logarithmic.

    Raises:
        KeyError: no axis has that name.
        ValueError: there is no trial at all.
    """
    view = _Restored(surface, history, space)
    ruler = ruler_along(view.space, axis, min(points, MOST_POINTS))
    through = view.at(at)
    mean, sd = view.regression.posterior(placed_along(unit_vector(view.space, through), ruler))
    ahead = view.next
    return {
        "axis": axis,
        "log": ruler.axis.log,
        "x": ruler.positions,
        "labels": ruler.labels,
        "mean": mean.tolist(),
        "sd": sd.tolist(),
        "band": [(mean - sd).tolist(), (mean + sd).tolist()],
        "wide_band": [(mean - 2 * sd).tolist(), (mean + 2 * sd).tolist()],
        "settled": surface["settled"],
        "score_mean": view.scores(mean).tolist(),
        "score_sd": (surface["scale"] * sd).tolist(),
        "earlier": [{"x": ruler.position(s[axis]), **about} for s, about in view.earlier_trials()],
        "trials": [{"x": ruler.position(s[axis]), **about} for s, about in view.present_trials()],
        "next_x": None if ahead is None else ruler.position(ahead[axis]),
        "at": through,
    }


def common_image(
    surface: Plain,
    history: Plain,
    space: Axes,
    first: str,
    second: str,
    at: Plain | None = None,
    size: int = 60,
) -> dict[str, Any]:
    """The common surface over two axes, every other axis held at a setting.

    Args:
        surface, history, space, at: as for `common_slice`.
        first, second: names of the axes along x and y.
        size: places along each axis; a whole number or a choice may have fewer.

    Returns:
        x, y: places (values, or indices of a choice); x_labels, y_labels; x_log, y_log;
        mean, sd: of the response, rows by y, columns by x; score_mean: in units of the score;
        contours: [{level, x, y}] of the mean, each a polyline;
        earlier: [{dataset, x, y, response}]; trials: [{number, x, y, response, score}];
        next, best: {x, y} or None; at: the setting.

    Raises:
        KeyError: no axis has one of the names.
        ValueError: there is no trial at all.
    """
    view = _Restored(surface, history, space)
    across, up = (ruler_along(view.space, name, size) for name in (first, second))
    through = view.at(at)
    cells = placed_over(unit_vector(view.space, through), across, up)
    shape = (len(up.values), len(across.values))
    mean, sd = (found.reshape(shape) for found in view.regression.posterior(cells))

    def spot(setting: Setting) -> dict[str, float]:
        return _spot(across, up, setting)

    best = surface["incumbent"]
    return {
        **frame(across, up),
        "mean": mean.tolist(),
        "sd": sd.tolist(),
        "settled": surface["settled"],
        "score_mean": view.scores(mean).tolist(),
        "contours": contours(across, up, mean),
        "earlier": [{**spot(setting), **about} for setting, about in view.earlier_trials()],
        "trials": [{**spot(setting), **about} for setting, about in view.present_trials()],
        "next": None if view.next is None else spot(view.next),
        "best": spot(setting_at(view.space, np.array(best))) if best else None,
        "at": through,
    }


def _spot(across: Ruler, up: Ruler, setting: Setting) -> dict[str, float]:
    return {
        "x": across.position(setting[across.axis.name]),
        "y": up.position(setting[up.axis.name]),
    }
