"""Evaluates a joint response surface: its slice along one axis and its image over two.

It is the posterior that the trial was chosen by, before running and failed trials are added; under
sqe with more than 300 earlier trials that of the twenty nearest datasets.

Heights are responses: how many of its dataset's standard deviations a score is better than its
dataset's mean; beside them those of the present dataset in units of its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.gp.evaluations import EarlierTrial, JointImage, JointSlice, PlotPosition, PlottedTrial
from core.gp.evaluator import (
    MAX_POINTS,
    AxisGrid,
    axis_grid,
    contours,
    points_on_axis,
    points_on_grid,
)
from core.gp.kernels import Array, Hyperparameters
from core.gp.transfer.earlier_trials import Coordinates, earlier_trials
from core.gp.transfer.joint_fitting import JointFitter, JointHistory, JointPosterior, JointSurface
from core.gp.warping import UNLIMITED, Limits, PredictedScores, ScoreWarp, predicted_scores
from core.space import Axis, Setting, setting_at, unit_vector

Space = Sequence[Axis]


class _Restored:
    """The joint surface, and the earlier and the present trials that made it."""

    def __init__(self, surface: JointSurface, history: JointHistory, space: Space) -> None:
        self.surface, self.space = surface, space
        width = sum(axis.width for axis in space)
        self.earlier = earlier_trials(
            history.datasets, history.statistics, space, order=surface.neighbours
        )
        self.points: Array = np.array(surface.points, dtype=float).reshape(-1, width)
        self.earlier_responses = [z for responses in surface.past_responses for z in responses]
        if len(self.points) + len(self.earlier.points) == 0:
            raise ValueError("a surface without any trial")
        self.regression = self._regression(Coordinates(space, history.simplex))

    def _regression(self, coordinates: Coordinates) -> JointPosterior:
        surface = self.surface
        fitter = JointFitter(surface.kernel, coordinates, self.earlier)
        z = np.array([*self.earlier_responses, *surface.responses], dtype=float)
        hyper = Hyperparameters(np.array(surface.lengths), 1.0, surface.noise)
        return fitter.restored(hyper, surface.constant, self.points, z)

    def predicted_values(
        self, cells: Array, limits: Limits
    ) -> tuple[PredictedScores, PredictedScores]:
        """Of points: responses, and the scores of the present dataset."""
        surface, (mean, sd) = self.surface, self.regression.posterior(cells)
        warp, sd = surface.score_warp, surface.observed_deviation(sd)
        # Before two scores differ nobody knows which response the limits of a score have.
        low, high = sorted(warp.to_responses(limits)) if surface.settled else UNLIMITED
        scores = predicted_scores(warp, mean, sd, limits)
        return predicted_scores(ScoreWarp(), mean, sd, (low, high)), scores

    def base_setting(self, fixed_values: Mapping[str, Any] | None) -> Setting:
        """The setting that is held: the best trial, else the next, else the best earlier one."""
        point: Sequence[float] | Array = self.surface.incumbent or self.surface.next
        if not point:
            all_points = np.vstack([self.earlier.points, self.points])
            point = all_points[int(np.argmax(self.regression.posterior(all_points)[0]))]
        return setting_at(self.space, np.array(point)) | dict(fixed_values or {})

    def setting_of(self, point: Sequence[float]) -> Setting | None:
        return setting_at(self.space, np.array(point)) if point else None

    def trials(self, across: AxisGrid, up: AxisGrid | None = None) -> list[PlottedTrial]:
        responses = np.array(self.surface.responses, dtype=float)
        columns = (
            self.surface.numbers,
            self.surface.score_warp.to_scores(responses).tolist(),
            self._positions(self.points, across),
            self._positions(self.points, up),
            responses.tolist(),
        )
        return list(map(PlottedTrial, *columns))

    def earlier_trials(self, across: AxisGrid, up: AxisGrid | None = None) -> list[EarlierTrial]:
        columns = (
            [self.earlier.datasets[k - 1] for k in self.earlier.d],
            self.earlier_responses,
            self._positions(self.earlier.points, across),
            self._positions(self.earlier.points, up),
        )
        return list(map(EarlierTrial, *columns))

    def _positions(self, points: Array, grid: AxisGrid | None) -> list[float]:
        if grid is None:
            return [0.0] * len(points)
        settings = (setting_at(self.space, point) for point in points)
        return [grid.position(setting[grid.axis.name]) for setting in settings]


def restored(surface: JointSurface, history: JointHistory, space: Space) -> JointPosterior:
    """The posterior of responses at unit vectors of the present dataset; ValueError: no trial."""
    return _Restored(surface, history, space).regression


def joint_slice(
    surface: JointSurface,
    history: JointHistory,
    space: Space,
    axis: str,
    fixed_values: Mapping[str, Any] | None = None,
    points: int = 201,
    limits: Limits = UNLIMITED,
) -> JointSlice:
    """The joint surface along one axis, every other axis held at a setting.

    `fixed_values` of other axes; where missing, the best trial's (before there is one, the next
    trial's). `points`: how many values, at most; `limits`: of a score. Raises KeyError: no axis
    has that name; ValueError: there is no trial at all.
    """
    view = _Restored(surface, history, space)
    grid = axis_grid(space, axis, min(points, MAX_POINTS))
    base_setting = view.base_setting(fixed_values)
    line = points_on_axis(unit_vector(space, base_setting), grid)
    responses, scores = view.predicted_values(line, limits)
    next_setting = view.setting_of(surface.next)
    return JointSlice(
        axis=axis,
        log=grid.axis.log,
        x=grid.positions,
        labels=grid.tick_labels,
        mean=responses.median.tolist(),
        sd=responses.deviation.tolist(),
        band=[end.tolist() for end in responses.band],
        wide_band=[end.tolist() for end in responses.wide_band],
        trials=view.trials(grid),
        next_x=None if next_setting is None else grid.position(next_setting[axis]),
        at=base_setting,
        settled=surface.settled,
        score_mean=scores.median.tolist(),
        score_sd=scores.deviation.tolist(),
        earlier=view.earlier_trials(grid),
    )


def joint_image(
    surface: JointSurface,
    history: JointHistory,
    space: Space,
    axes: tuple[str, str],
    size: int = 60,
    limits: Limits = UNLIMITED,
) -> JointImage:
    """The joint surface over two axes, the first along x; the rest as for `joint_slice`."""
    view = _Restored(surface, history, space)
    first, second = axes
    across, up = axis_grid(space, first, size), axis_grid(space, second, size)
    base_setting = view.base_setting(None)
    cells = points_on_grid(unit_vector(space, base_setting), across, up)
    shape = (len(up.values), len(across.values))
    responses, _ = view.predicted_values(cells, limits)
    mean = responses.median.reshape(shape)

    def plot_position(point: Sequence[float]) -> PlotPosition | None:
        setting = view.setting_of(point)
        if setting is None:
            return None
        return PlotPosition(across.position(setting[first]), up.position(setting[second]))

    return JointImage(
        first=first,
        second=second,
        x=across.positions,
        y=up.positions,
        x_labels=across.tick_labels,
        y_labels=up.tick_labels,
        mean=mean.tolist(),
        sd=responses.deviation.reshape(shape).tolist(),
        contours=contours(across, up, mean),
        trials=view.trials(across, up),
        next=plot_position(surface.next),
        best=plot_position(surface.incumbent),
        at=base_setting,
        settled=surface.settled,
        earlier=view.earlier_trials(across, up),
    )
