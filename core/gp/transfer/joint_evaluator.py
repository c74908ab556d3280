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

from core.gp.evaluations import EarlierTrial, JointImage, JointSlice
from core.gp.evaluator import AxisGrid, SurfaceView
from core.gp.kernels import Array, Hyperparameters
from core.gp.transfer.earlier_trials import Coordinates, EarlierTrials, earlier_trials
from core.gp.transfer.joint_fitting import JointFitter, JointHistory, JointPosterior, JointSurface
from core.gp.warping import UNLIMITED, Limits, PredictedScores, ScoreWarp, predicted_scores
from core.space import Axis, Setting, setting_at

Space = Sequence[Axis]


def restored(
    surface: JointSurface, history: JointHistory, space: Space
) -> tuple[EarlierTrials, JointPosterior]:
    """The earlier trials that made a surface, and its posterior of responses; ValueError: none."""
    earlier = earlier_trials(history.datasets, history.statistics, space, order=surface.neighbours)
    points = np.array(surface.points, dtype=float).reshape(-1, sum(axis.width for axis in space))
    if len(points) + len(earlier.points) == 0:
        raise ValueError("a surface without any trial")
    fitter = JointFitter(surface.kernel, Coordinates(space, history.simplex), earlier)
    z = np.concatenate([*surface.past_responses, surface.responses])
    hyper = Hyperparameters(np.array(surface.lengths), 1.0, surface.noise)
    return earlier, fitter.restored(hyper, surface.constant, points, z)


class _JointView(SurfaceView):
    """The joint surface, and the earlier and the present trials that made it."""

    def __init__(
        self,
        surface: JointSurface,
        history: JointHistory,
        space: Space,
        fixed_values: Mapping[str, Any] | None,
    ) -> None:
        self.earlier, self.regression = restored(surface, history, space)
        self.joint_surface, responses = surface, np.array(surface.responses, dtype=float)
        scores = surface.score_warp.to_scores(responses).tolist()
        at = self._best_setting(space) | dict(fixed_values or {})
        super().__init__(space, surface, scores, responses.tolist(), at)

    def _best_setting(self, space: Space) -> Setting:
        """The best trial's, else the next one's, else the best earlier one's."""
        point: Sequence[float] | Array = self.joint_surface.incumbent or self.joint_surface.next
        if not point:
            points = np.array([*self.earlier.points, *self.joint_surface.points])
            point = points[int(np.argmax(self.regression.posterior(points)[0]))]
        return setting_at(space, np.array(point))

    def predicted_values(
        self, cells: Array, limits: Limits
    ) -> tuple[PredictedScores, PredictedScores]:
        """Of points: responses, and the scores of the present dataset."""
        surface, (mean, sd) = self.joint_surface, self.regression.posterior(cells)
        warp, sd = surface.score_warp, surface.observed_deviation(sd)
        # Before two scores differ nobody knows which response the limits of a score have.
        low, high = sorted(warp.to_responses(limits)) if surface.settled else UNLIMITED
        scores = predicted_scores(warp, mean, sd, limits)
        return predicted_scores(ScoreWarp(), mean, sd, (low, high)), scores

    def earlier_trials(self, across: AxisGrid, up: AxisGrid | None = None) -> list[EarlierTrial]:
        columns = (
            [self.earlier.datasets[k - 1] for k in self.earlier.d],
            self.regression.z[: len(self.earlier.points)].tolist(),
            *(self.positions(self.earlier.points, grid) for grid in (across, up)),
        )
        return list(map(EarlierTrial, *columns))


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
    view = _JointView(surface, history, space, fixed_values)
    grid, line = view.line(axis, points)
    responses, scores = view.predicted_values(line, limits)
    return JointSlice(
        **vars(view.slice_of(grid, responses)),
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
    view = _JointView(surface, history, space, None)
    across, up, cells = view.cells(*axes, size)
    image = view.image_of(across, up, view.predicted_values(cells, limits)[0])
    earlier = view.earlier_trials(across, up)
    return JointImage(**vars(image), settled=surface.settled, earlier=earlier)
