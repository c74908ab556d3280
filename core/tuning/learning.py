"""Runs of penalty learners: the loss of the training rows, its groups, and the steps as events."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.groups import penalty_groups
from core.datasets.preparation import output_names, output_sources
from core.datasets.splits import folds
from core.losses.fitted import as_estimator
from core.losses.linear import LinearLoss
from core.losses.registry import TableLoss, build, parameter_groups
from core.penalties.descent import solve
from core.penalties.recommendation import recommend_update
from core.penalties.registry import LEARNERS
from core.penalties.step import Step
from core.tuning.clock import Clock
from core.tuning.events import Event, HyperGradientStep, PenaltyStep
from core.tuning.problem import Problem, take
from core.tuning.standing import Standing

HOLDOUT_PARTS = 4  # one holdout split: a quarter of the training rows
TIGHT = 1e-12  # how near its minimum the model that is kept must be
# A numeric target is brought to this standard deviation beside standardized columns: the learners'
# start at C = 1 and β = 1 mean something in one unit only, and the papers' targets have this one.
TARGET_SPREAD = 10.0


@dataclass(frozen=True)
class TrainingLoss:
    """The loss on all training rows, and which group each of its parameters belongs to.

    Attributes:
        prepare: the fitted preparation.
        group_of_output: the group of every prepared column.
        groups: the group of every parameter, −1 for intercepts.
        unit: what a numeric target was divided by; penalties and norms are those of the quotient,
            ridge penalties σ² C do not depend on it.
    """

    prepare: Any
    loss: TableLoss
    group_names: list[str]
    group_of_output: np.ndarray
    groups: np.ndarray
    unit: float = 1.0

    @property
    def sizes(self) -> dict[str, int]:
        """{group: number of penalized parameters}."""
        counts = np.bincount(self.groups[self.groups >= 0], minlength=len(self.group_names))
        return {name: int(count) for name, count in zip(self.group_names, counts, strict=True)}


@dataclass(frozen=True)
class Learned:
    """What a penalty learner leaves: the model at its penalties, fitted on all training rows."""

    training: TrainingLoss
    w: np.ndarray
    penalties: dict[str, float]
    classes: tuple[Any, ...]
    switched_off: list[str] = field(default_factory=list)
    holdout_loss: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def group_of_output(self) -> tuple[int, ...]:
        """The group of every prepared column."""
        return tuple(int(group) for group in self.training.group_of_output)

    @property
    def noise_variance(self) -> float | None:
        """σ² of a linear model in the unit of its loss: its ridge penalties are σ² C_j."""
        loss = self.training.loss
        return float(loss.noise_variance(self.w)) if isinstance(loss, LinearLoss) else None

    def pipeline(self) -> Pipeline:
        """The fitted pipeline: it takes raw rows; scikit-learn's objects only."""
        one = next(iter(self.penalties.values())) if len(self.penalties) == 1 else None
        classes = np.asarray(self.classes) if self.classes else None
        model = as_estimator(self.training.loss, self.w, C=one, classes=classes)
        if self.training.unit != 1.0:
            model.coef_, model.intercept_ = (
                self.training.unit * model.coef_,
                self.training.unit * model.intercept_,
            )
        return Pipeline([("prepare", self.training.prepare), ("model", model)])


def training_loss(problem: Problem, rows: np.ndarray | None = None) -> TrainingLoss:
    """The loss on the training rows, or on some of them, with a preparation fitted there."""
    rows = problem.train_rows if rows is None else rows
    dataset = problem.dataset
    prepare = clone(problem.preparation())
    X = prepare.fit_transform(take(dataset.features, rows), dataset.target[rows])
    unit = _unit(problem, dataset.target[rows])
    loss = build(problem.model.loss[dataset.task], X, _in_unit(dataset.target[rows], unit))
    names, of_output = penalty_groups(
        problem.plan.groups, output_names(prepare), output_sources(prepare)
    )
    groups = parameter_groups(loss, of_output)
    return TrainingLoss(prepare, loss, names, of_output, groups, unit)


def _unit(problem: Problem, target: np.ndarray) -> float:
    if problem.dataset.task != "regression" or not problem.plan.standardize:
        return 1.0
    return float(target.std()) / TARGET_SPREAD or 1.0


def _in_unit(target: np.ndarray, unit: float) -> np.ndarray:
    return target if unit == 1.0 else target / unit


class LearningRun:
    """The generator's state for a penalty learner."""

    def __init__(
        self, problem: Problem, standing: Standing, clock: Clock, requests: deque[Event]
    ) -> None:
        self._problem, self._standing, self._clock = problem, standing, clock
        self._requests = requests
        self.because = ""
        self.learned: Learned | None = None

    @cached_property
    def _training(self) -> TrainingLoss:
        return training_loss(self._problem)

    @property
    def groups(self) -> dict[str, int]:
        """{group: number of penalized parameters}."""
        return self._training.sizes

    def events(self, past: Sequence[Event]) -> Generator[Event, None, None]:
        """Every step; those that an interrupted run had recorded are taken again unseen.

        A step takes a moment and depends on nothing but data and options, so that going through
        the recorded ones again is both quicker and surer than keeping the learner's state.
        """
        problem, training = self._problem, self._training
        known = sum(isinstance(event, (PenaltyStep, HyperGradientStep)) for event in past)
        steps = problem.strategy.make(
            training.loss,
            training.groups,
            problem.options,
            problem.plan.seed,
            holdout=self._holdout(),
            group_count=len(training.group_names),
        )
        step: Step | None = None
        for count, step in enumerate(steps):
            if count < known:
                continue
            event = step_event(step, training.group_names, problem.strategy.name)
            self._standing.consume(event)
            yield event
            yield self._standing.progress(None)
            while self._requests:
                yield self._requests.popleft()
            if self._time_is_up:
                self.because = f"the time of {problem.plan.minutes:g} minutes was up"
                break
        assert step is not None  # a learner reports at least its start
        self.because = self.because or _why(step, self._standing)
        self.learned = _learned(problem, training, step)

    @property
    def _time_is_up(self) -> bool:
        minutes = self._problem.plan.minutes
        return minutes is not None and self._clock.seconds >= 60 * minutes

    def _holdout(self) -> list[tuple[TableLoss, TableLoss]] | None:
        """For the validation gradient: (loss to fit, loss to validate on) of every part."""
        problem = self._problem
        if not LEARNERS[problem.strategy.name].needs_holdout:
            return None
        dataset, options, seed = problem.dataset, problem.options, problem.plan.seed
        single = options["validation"] == "holdout"
        count = HOLDOUT_PARTS if single else int(options["folds"])
        parts = folds(dataset, problem.train_rows, count, seed)
        return [_pair(problem, self._training, *part) for part in (parts[:1] if single else parts)]


def _pair(
    problem: Problem, training: TrainingLoss, fit_rows: np.ndarray, held_rows: np.ndarray
) -> tuple[TableLoss, TableLoss]:
    """The losses of one part, with the parameters of the training loss.

    The preparation is fitted on the rows to fit alone; a category that these rows lack leaves a
    column of zeros, so that every part has the same parameters.
    """
    dataset = problem.dataset
    prepare = clone(problem.preparation())
    matrices = [
        prepare.fit_transform(take(dataset.features, fit_rows), dataset.target[fit_rows]),
        prepare.transform(take(dataset.features, held_rows)),
    ]
    chosen = _selection(output_names(prepare), output_names(training.prepare))
    fit_X, held_X = ((X if chosen is None else _times(X, chosen)) for X in matrices)
    return (
        training.loss.on(fit_X, _in_unit(dataset.target[fit_rows], training.unit)),
        training.loss.on(held_X, _in_unit(dataset.target[held_rows], training.unit)),
    )


def _selection(have: list[str], want: list[str]) -> sparse.csr_matrix | None:
    """The 0–1 matrix that takes columns `have` to columns `want`; None where they are the same."""
    if have == want:
        return None
    place = {name: at for at, name in enumerate(want)}
    pairs = [(at, place[name]) for at, name in enumerate(have) if name in place]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    ones = np.ones(len(rows))
    return sparse.csr_matrix((ones, (rows, columns)), shape=(len(have), len(want)))


def _times(X: Any, chosen: sparse.csr_matrix) -> Any:
    product = X @ chosen
    return product if sparse.issparse(X) else np.asarray(product)


def step_event(step: Step, names: Sequence[str], strategy: str) -> PenaltyStep | HyperGradientStep:
    """A learner's step as an event, arrays as {group: value}."""
    if strategy == "gradient":
        bound = step.at_bound if step.at_bound is not None else np.zeros(len(names), bool)
        return HyperGradientStep(
            step=step.number,
            holdout_loss=float(step.objective),
            d=_by_name(names, np.log(step.C)),
            gradient_norm=float(step.gradient_norm),
            at_bound=[name for name, at in zip(names, bound, strict=True) if at],
            iterations=step.iterations,
            fits=step.fits,
        )
    return PenaltyStep(
        step=step.number,
        objective=float(step.objective),
        loss=float(step.loss),
        penalties=_by_name(names, step.C),
        norms=_by_name(names, step.norms),
        switched_off=[name for name, off in zip(names, step.switched_off, strict=True) if off],
        iterations=step.iterations,
        fits=step.fits,
    )


def _by_name(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _why(last: Step, standing: Standing) -> str:
    if standing.total and last.number >= standing.total:
        return f"the limit of {standing.total} steps was reached"
    return "the penalties no longer change"


def _learned(problem: Problem, training: TrainingLoss, last: Step) -> Learned:
    gradient = problem.strategy.name == "gradient"
    names = training.group_names
    off = [name for name, is_off in zip(names, last.switched_off, strict=True) if is_off]
    return _at_penalties(
        problem,
        training,
        last.C,
        start=last.w,
        switched_off=off,
        holdout_loss=float(last.objective) if gradient else None,
        remarks=(*last.remarks, *_said_of_effective(problem, training, last)),
    )


def _said_of_effective(problem: Problem, training: TrainingLoss, last: Step) -> tuple[str, ...]:
    if last.parameters is None:
        return ()
    penalized = int((training.groups >= 0).sum())
    effective = float(np.sum(last.parameters))
    classes = len(problem.dataset.classes)
    rows = training.loss.examples
    return (recommend_update(penalized, rows, classes, effective=effective).reason,)


def _at_penalties(
    problem: Problem,
    training: TrainingLoss,
    C: np.ndarray,
    *,
    start: np.ndarray | None,
    switched_off: list[str],
    holdout_loss: float | None,
    remarks: tuple[str, ...] = (),
) -> Learned:
    penalties = np.concatenate(([0.0], C))[training.groups + 1]
    first = training.loss.start() if start is None else start
    w = solve(training.loss, penalties, first, tolerance=TIGHT, most=100).point.w
    return Learned(
        training,
        w,
        _by_name(training.group_names, C),
        problem.dataset.classes,
        switched_off,
        holdout_loss,
        remarks,
    )


def refit(problem: Problem, standing: Standing) -> Learned:
    """The model at the penalties of the last recorded step, for a run that did not end itself."""
    training, last = training_loss(problem), standing.steps[-1]
    if isinstance(last, HyperGradientStep):
        by_name = {name: np.exp(d) for name, d in last.d.items()}
        off, holdout = [], last.holdout_loss
    else:
        by_name, off, holdout = last.penalties, last.switched_off, None
    C = np.array([by_name[name] for name in training.group_names])
    return _at_penalties(
        problem, training, C, start=None, switched_off=list(off), holdout_loss=holdout
    )
