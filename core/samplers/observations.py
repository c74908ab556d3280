"""A study's trials as a Gaussian process needs them: points, scores, and running trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from core.gp.kernels import Array
from core.gp.proposal import SAME
from core.gp.regression import ResponseSurface
from core.samplers.search_space import SearchSpace

S = TypeVar("S", bound=ResponseSurface)


@dataclass(frozen=True)
class Observations:
    """The trials of a study in the unit cube, in the order of their numbers."""

    points: Array  # of finished trials with a finite score, shape (n, width)
    scores: Array  # of the same, shape (n,)
    numbers: list[int]
    pending: Array  # trials that are running, shape (any, width)
    failed: Array  # trials without a finite score, or pruned, shape (any, width)
    maximize: bool

    @property
    def tried_points(self) -> Array:
        """All points of finished and running trials, shape (any, width)."""
        return np.vstack([self.points, self.pending, self.failed])

    def has_tried(self, point: Array) -> bool:
        """Whether a point is that of a finished or a running trial."""
        points = self.tried_points
        return len(points) > 0 and bool(np.abs(points - point).max(axis=1).min() <= SAME)


class ObservationReader:
    """Reads a study's observations; the points of finished trials are computed once."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self._points: dict[int, Array] = {}

    def read(self, study: Study, new_trial: FrozenTrial) -> Observations:
        """The observations of a study, without the trial that is being asked."""
        finished_trials: list[tuple[int, Array, float]] = []
        pending, failed = list[Array](), list[Array]()
        for trial in study.get_trials(deepcopy=False):
            if trial.number == new_trial.number or not self.space.contains(trial.params):
                continue
            point = self._trial_point(trial)
            if trial.state == TrialState.RUNNING:
                pending.append(point)
            elif trial.state == TrialState.COMPLETE and _finite_score(trial) is not None:
                finished_trials.append((trial.number, point, float(trial.values[0])))
            elif trial.state.is_finished():
                failed.append(point)
        return Observations(
            points=self._stacked([point for _, point, _ in finished_trials]),
            scores=np.array([score for _, _, score in finished_trials]),
            numbers=[number for number, _, _ in finished_trials],
            pending=self._stacked(pending),
            failed=self._stacked(failed),
            maximize=study.direction == StudyDirection.MAXIMIZE,
        )

    def _trial_point(self, trial: FrozenTrial) -> Array:
        if trial.number not in self._points:
            self._points[trial.number] = self.space.to_unit_vector(trial.params)
        return self._points[trial.number]

    def _stacked(self, points: list[Array]) -> Array:
        width = sum(axis.width for axis in self.space.axes)
        return np.array(points).reshape(-1, width)


def _finite_score(trial: FrozenTrial) -> float | None:
    value = trial.values[0] if trial.values else math.nan
    return value if math.isfinite(value) else None


def condition_on_pending(surface: S, observed: Observations, worst: float | None = None) -> S:
    """The posterior with running and failed trials, a kriging believer (Ginsbourger et al. 2010).

    Running trials give their posterior mean, failed ones `worst`, None for the smallest so far.
    """
    worst = float(surface.z.min()) if worst is None else worst
    for points, lie in ((observed.pending, None), (observed.failed, worst)):
        if len(points):
            believed = surface.posterior(points)[0] if lie is None else np.full(len(points), lie)
            surface = surface.extended(points, np.concatenate([surface.z, believed]))  # type: ignore[assignment]
    return surface
