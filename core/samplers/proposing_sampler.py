"""The base of our samplers, and those without a model: observations, random numbers, notes.

Every random number derives from the seed and the trial's number, never from a state that runs on:
a run that is resumed by asking again for the same trials gets the same trials.
"""

from __future__ import annotations

import math
import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, CmaEsSampler, TPESampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from core.gp.domain import SearchDomain
from core.gp.kernels import Array
from core.gp.proposal import EQUAL
from core.gp.regression import ResponseSurface
from core.gp.warping import UNLIMITED, Limits, PredictedScores
from core.samplers.search_space import SearchSpace, SeenParameters, distributions
from core.space import Axis, Setting

S = TypeVar("S", bound=ResponseSurface)


@dataclass(frozen=True)
class Observations:
    """The trials of a study in the unit cube, finished ones in the order in which they did."""

    points: Array  # of finished trials with a finite score, shape (n, width)
    scores: Array  # of the same, shape (n,)
    numbers: list[int]
    pending: Array  # trials that are running, shape (any, width)
    failed: Array  # trials without a finite score, or pruned, shape (any, width)
    maximize: bool
    constraints: list[dict[str, float]]  # of those with a score, each kept where it is at most 0
    violations: Array  # the sum of what exceeds 0 in each of these, shape (n,)

    @property
    def tried_points(self) -> Array:
        """All points of finished and running trials, shape (any, width)."""
        return np.vstack([self.points, self.pending, self.failed])

    @cached_property
    def best(self) -> int:
        """Which trial has the best score among the feasible; the least violation without them."""
        losses = -self.scores if self.maximize else self.scores
        return int(np.lexsort((losses, self.violations))[0])

    def has_tried(self, point: Array) -> bool:
        points = self.tried_points
        return len(points) > 0 and bool(np.abs(points - point).max(axis=1).min() <= EQUAL)


class ObservationReader:
    """Reads a study's observations; every trial is read once when it has finished."""

    def __init__(self, space: SearchSpace, *, models_constraints: bool = False) -> None:
        self.space = space
        self.models_constraints = models_constraints  # otherwise an infeasible trial has failed
        self._start_over("")

    def _start_over(self, study_name: str) -> None:
        self._study_name, self._count = study_name, 0  # of trials, all that the study had
        self._unread = list[int]()  # trials without parameters yet
        self._running: dict[int, Array] = {}
        self._points: dict[int, Array] = {}  # with a score, in the order in which they finished
        self._scores, self._failed = list[float](), list[Array]()
        self._constraints, self._violations = list[dict[str, float]](), list[float]()

    def read(self, study: Study, new_trial: FrozenTrial) -> Observations:
        """The observations of a study, without the trial that is being asked."""
        # A sampler may be given to another study, whose trials have the same numbers.
        if study.study_name != self._study_name:
            self._start_over(study.study_name)
        trials, running = study.get_trials(deepcopy=False), TrialState.RUNNING
        # Of a thousand running trials only those that ended are looked at.
        for number in [n for n in self._running if trials[n].state is not running]:
            del self._running[number]
            # Anew: parameters of a branch may have been asked for since.
            self._add_ended(trials[number])
        numbers, self._unread = (*self._unread, *range(self._count, len(trials))), []
        self._count = len(trials)
        for trial in (trials[number] for number in numbers):
            if trial.number == new_trial.number or not self.space.contains(trial.params):
                # A finished trial of another branch of the space says nothing about these axes.
                self._unread += [] if trial.state.is_finished() else [trial.number]
            elif trial.state is running:
                self._running[trial.number] = self.space.to_unit_vector(trial.params)
            else:
                self._add_ended(trial)
        return Observations(
            points=self._stacked(self._points.values()),
            scores=np.array(self._scores),
            numbers=list(self._points),
            pending=self._stacked(self._running.values()),
            failed=self._stacked(self._failed),
            maximize=study.direction == StudyDirection.MAXIMIZE,
            constraints=list(self._constraints),
            violations=np.array(self._violations),
        )

    def _add_ended(self, trial: FrozenTrial) -> None:
        point, score = self.space.to_unit_vector(trial.params), _finite_score(trial)
        constraints = trial_constraints(trial)
        if score is None or not (self.models_constraints or is_feasible(constraints)):
            self._failed.append(point)
            return
        self._points[trial.number] = point
        self._scores.append(score)
        self._constraints.append(constraints)
        self._violations.append(sum(max(v, 0.0) for v in constraints.values()))

    def _stacked(self, points: Iterable[Array]) -> Array:
        width = sum(axis.width for axis in self.space.axes)
        return np.array(list(points)).reshape(-1, width)


def _finite_score(trial: FrozenTrial) -> float | None:
    value = trial.values[0] if trial.state == TrialState.COMPLETE and trial.values else math.nan
    return float(value) if math.isfinite(value) else None


def trial_constraints(trial: FrozenTrial) -> dict[str, float]:
    """The constraints of a trial by name."""
    # The list of another sampler's `constraints_func`, and what Optuna 5's `set_constraint` keeps.
    notes = trial.system_attrs
    values = {str(k): value for k, value in enumerate(notes.get("constraints") or ())}
    return values | {name: v for name, v in notes.items() if name.startswith("constraints:")}


def is_feasible(constraints: dict[str, float]) -> bool:
    """Whether every constraint is at most 0; one that is not a number is not."""
    return all(value <= 0.0 for value in constraints.values())


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


# A study may ask from several threads (n_jobs), and an ask changes the sampler's state. One lock
# for all samplers of a process, so that a sampler can be pickled.
_ASK_LOCK = threading.RLock()


class ProposingSampler(BaseSampler):
    """An Optuna sampler that proposes whole settings and says why.

    The search space is that of `space`, or, where it is None, what finished trials had: all with
    `takes_conditions`, otherwise what every one had; other parameters are drawn uniformly.
    `exhausted`: whether asking again gains nothing, its caller may then end the study;
    `finished_reason`: why, a clause, empty until then;
    `ends_study`: whether the study is to end then; `limits`: of a score, none beyond is predicted.
    """

    limits: Limits = UNLIMITED
    takes_conditions: ClassVar[bool] = False

    def __init__(self, space: Sequence[Axis] | None = None, *, seed: int = 0) -> None:
        self.seed, self.exhausted, self.finished_reason = seed, False, ""
        self.ends_study = False
        self._fixed = SearchSpace(distributions(space)) if space is not None else None
        self._seen: SeenParameters | None = None
        self._inferred: SearchSpace | None = None
        self._space: SearchSpace | None = None

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        refuse_several_objectives(study)
        if self._fixed is not None:
            return dict(self._fixed.described)  # callers narrow it
        with _ASK_LOCK:
            if self._seen is None or self._seen.study_name != study.study_name:
                self._seen = SeenParameters(study.study_name)
            self._seen.read(study)
            self._inferred = self._seen.space(with_conditions=self.takes_conditions)
            return dict(self._inferred.described) if self._inferred else {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        refuse_several_objectives(study)
        if not search_space:
            note_reason(study, trial, "random")
            return {}
        with _ASK_LOCK:
            space = self._fixed or self._inferred
            if space is None or space.described != search_space:  # of a caller that narrows it
                space = SearchSpace(search_space)
            if self._space is None or not self._space.is_same(space):
                self._space = space
                self.exhausted, self.finished_reason = False, ""  # of another space
                self.prepare_space(space)
            return self.propose(study, trial, space)

    def prepare_space(self, space: SearchSpace) -> None:
        """Compute what depends on the space alone: before the first proposal, or in another one."""

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """The setting to try, noted on the trial with its reason."""
        raise NotImplementedError

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        # Parameters that not all trials have, and all of them while the space is unknown.
        refuse_several_objectives(study)
        axis_space = SearchSpace({param_name: param_distribution})
        random = self.random_generator(trial, zlib.crc32(param_name.encode()))
        return uniform_setting(axis_space, random)[param_name]

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        if self.ends_study:
            try:
                study.stop()
            except RuntimeError:
                # Not inside `optimize`: a caller that asks and tells polls `exhausted`.
                return

    def random_generator(self, trial: FrozenTrial, purpose: int) -> np.random.Generator:
        """The random numbers of one trial for one purpose."""
        return np.random.default_rng([self.seed, trial.number, purpose])

    def finish_where_last(self, domain: SearchDomain, observed: Observations) -> None:
        """Marks a finite space that this trial exhausts."""
        # Two points of one setting may differ by a rounding.
        if np.isfinite(domain.size):
            distinct_points = np.unique(np.round(observed.tried_points, 9), axis=0)
            if len(distinct_points) + 1 >= domain.size:
                self.mark_exhausted("every setting has been tried")

    def mark_exhausted(self, reason: str, *, ends_study: bool = False) -> None:
        """Notes that asking again gains nothing, why, and whether the study is to end."""
        self.exhausted, self.finished_reason, self.ends_study = True, reason, ends_study


def refuse_several_objectives(study: Study) -> None:
    """Raise ValueError where a study has several objectives."""
    if len(study.directions) > 1:
        raise ValueError(
            f"this sampler improves one objective, and the study has {len(study.directions)}; give "
            "it to a study with one direction, or take a sampler of several, such as NSGAIISampler"
        )


def note_reason(
    study: Study, trial: FrozenTrial, reason: str, predicted: PredictedScores | None = None
) -> None:
    """Writes on a trial why its setting was chosen, and what is expected of it, one score."""
    note_more(study, trial, "reason", reason)
    if predicted is not None:
        note_more(study, trial, "expected", float(predicted.median[0]))
        note_more(study, trial, "uncertainty", float(predicted.deviation[0]))


def note_more(study: Study, trial: FrozenTrial, name: str, value: Any) -> None:
    """Writes a further note on a trial, a value that JSON takes."""
    study._storage.set_trial_user_attr(trial._trial_id, name, value)
    trial.user_attrs[name] = value  # of the asked trial itself, a copy of the stored one


def uniform_setting(space: SearchSpace, random: np.random.Generator) -> Setting:
    """A setting drawn uniformly: numbers over their (logarithmic) range, choices evenly."""
    unit = []
    for axis in space.axes:
        # One draw for every axis, whatever its kind: the others then do not shift.
        draw = random.random()
        if axis.kind == "choice":
            unit += np.eye(axis.width)[int(draw * axis.width)].tolist()
        else:
            unit.append(draw)
    return space.setting(np.array(unit))


class RandomSampler(ProposingSampler):
    """Draws uniformly, logarithmic ranges by their logarithm (Bergstra & Bengio 2012)."""

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        note_reason(study, trial, "random")
        return uniform_setting(space, self.random_generator(trial, 0))


class AnnotatedTpeSampler(TPESampler):
    """The tree-structured Parzen estimator (Bergstra et al. 2011), as Optuna has it."""

    def __init__(self, *, seed: int = 0, start_trials: int = 10) -> None:
        super().__init__(seed=seed, n_startup_trials=start_trials)
        self.start_trials = start_trials

    def _get_params(self, trial: FrozenTrial, *arguments: Any) -> dict[str, Any]:
        # Of every running trial Optuna reads the proposal from JSON, at every ask: half its time
        # with a thousand of them, and in vain where the trial has taken it.
        return trial.params or dict(super()._get_params(trial, *arguments))

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        # As the sampler itself counts: it draws at random until so many trials have finished.
        super().before_trial(study, trial)
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        note_reason(study, trial, "random" if len(finished) < self.start_trials else "tpe")


class AnnotatedCmaEsSampler(CmaEsSampler):
    """CMA-ES (Hansen 2016), as Optuna has it: two numbers or more; the others at random."""

    def __init__(self, *, seed: int = 0) -> None:
        # It would warn of every choice, which CMA-ES leaves to chance.
        super().__init__(seed=seed, warn_independent_sampling=False)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        # Nothing is proposed for the first trials, nor where a single axis is a number.
        proposed = super().sample_relative(study, trial, search_space)
        note_reason(study, trial, "cma-es" if proposed else "random")
        return proposed
