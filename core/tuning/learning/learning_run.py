"""Runs of penalty learners: the training loss, its groups, and the steps as events."""

import itertools
import math
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from core.awake_timer import TimeUpError, time_limit
from core.losses.linear.eigenbasis_loss import FixedNoise
from core.losses.linear.linear_loss import LinearLoss
from core.optimize.descent import TIGHT, final_fit, per_weight, solve_penalized
from core.penalties.penalty_problem import LearnerStep, PenaltyProblem
from core.tuning.events import Event, HyperGradientStep, PenaltyStep
from core.tuning.learning import holdout
from core.tuning.learning.training import PenaltyFit, PenaltyTraining, TableTraining, table_training
from core.tuning.problem import Problem
from core.tuning.runs.run_clock import RunClock, time_is_up
from core.tuning.runs.state import RunState
from core.tuning.strategies.strategy import Strategy

_EXTRA_SECONDS = 5.0  # beyond the minutes of a run, for its first step and its last fit


def training_of(problem: Problem, like: PenaltyTraining | None = None) -> PenaltyTraining:
    """The loss and groups on the training rows; penalties mean the same as for those of `like`."""
    if problem.dataset.task.is_structured:
        # numba takes a second to import, which tables have no use for.
        from core.tuning.learning.structured_training import structured_training

        return structured_training(problem, problem.train_rows)
    like_table = like if isinstance(like, TableTraining) else None
    return table_training(problem, problem.train_rows, like_table)


class LearningRun:
    """A run of a penalty learner."""

    def __init__(
        self, problem: Problem, state: RunState, clock: RunClock, requests: deque[Event]
    ) -> None:
        self._problem, self._state, self._clock = problem, state, clock
        self._requests = requests
        self.because = ""
        self._learned: PenaltyFit | None = None

    @cached_property
    def _training(self) -> PenaltyTraining:
        return training_of(self._problem)

    @property
    def groups(self) -> dict[str, int]:
        return self._training.group_sizes

    def events(self, past: Sequence[Event]) -> Generator[Event, None, None]:
        """Every step; those recorded of an interrupted run are repeated without events."""
        problem, training = self._problem, self._training
        recorded_steps = [e for e in past if isinstance(e, (PenaltyStep, HyperGradientStep))]
        recorded_count = len(recorded_steps)
        if recorded_steps and problem.strategy.holds_out:
            # More minutes are no reason to divide the rows in another way: each part has a fit.
            validation = "holdout" if recorded_steps[0].fits == 1 else "folds"
            problem = replace(
                problem,
                options=holdout.resolved_options(problem, training).changed(validation=validation),
            )
        step: LearnerStep | None = None
        # They depend on nothing but data and options: repeating them is quicker than saving a
        # state.
        for count, step in enumerate(self._steps_in_time(problem, training, recorded_count)):
            if count < recorded_count:
                continue
            event = step_event(step, training.group_names, problem.strategy)
            self._state.consume(event)
            yield event
            if (display_event := training.display_event(step.number, step.w)) is not None:
                yield display_event
            yield self._state.progress(None)
            while self._requests:
                yield self._requests.popleft()
        if step is None:
            return  # the time was up before the first step ended
        total = self._state.total
        is_last = total and step.number >= total
        limit = f"the limit of {total} steps was reached"
        self.because = self.because or (limit if is_last else "the penalties no longer change")
        try:
            with time_limit(self._seconds_left + _EXTRA_SECONDS):
                self._learned = _penalty_fit(problem, training, step)
        except TimeUpError:
            self._learned = _fit_of_step(problem, training, step)
        del self._training  # the rows are as much memory as the table

    def taken_learned(self) -> PenaltyFit | None:
        """The fit, once: the caller decides how long its rows are kept."""
        learned, self._learned = self._learned, None
        return learned

    def _steps_in_time(
        self, problem: Problem, training: PenaltyTraining, recorded_count: int
    ) -> Iterator[LearnerStep]:
        """The steps until the time is up; recorded ones and the first may take longer."""
        steps = steps_of(problem, training)
        for count in itertools.count():
            seconds = math.inf if count < recorded_count else self._seconds_left
            if count == 0:
                seconds += _EXTRA_SECONDS
            try:
                with time_limit(seconds):
                    step = next(steps, None) if seconds > 0 else None
            except TimeUpError:
                step = None
            if step is None:
                break
            yield step
        if self._seconds_left <= 0:
            self.because = time_is_up(problem.plan.minutes or 0.0)

    @property
    def _seconds_left(self) -> float:
        minutes = self._problem.minutes
        return math.inf if minutes is None else 60 * minutes - self._clock.seconds


def steps_of(problem: Problem, training: PenaltyTraining) -> Iterator[LearnerStep]:
    """The strategy's steps on the training rows of a problem."""
    units = problem.units.take_rows(problem.train_rows)
    has_units = isinstance(training, TableTraining) and units.has_groups and units.count > 1
    penalty_problem = PenaltyProblem(
        training.loss,
        training.groups,
        group_count=len(training.group_names),
        counted=training.counted,
        occurrences=training.occurrences,
        holdout=holdout.holdout_pairs(problem, training),
        seed=problem.plan.seed,
        units=units.index if has_units else None,
    )
    return problem.strategy.make(penalty_problem, holdout.resolved_options(problem, training))


def run_learner(
    problem: Problem, is_enough: Callable[[int], bool], progress_event: Callable[[], Event]
) -> Generator[Event, None, PenaltyFit]:
    """Learn without events of the steps, as in an outer fold, until so many steps are enough."""
    training = training_of(problem)
    last: LearnerStep | None = None
    for count, step in enumerate(steps_of(problem, training), start=1):
        yield progress_event()
        last = step
        if is_enough(count):
            break
    assert last is not None  # a learner reports at least its start
    return _penalty_fit(problem, training, last)


def step_event(
    step: LearnerStep, names: Sequence[str], strategy: Strategy
) -> PenaltyStep | HyperGradientStep:
    """A learner's step as an event, arrays as {group: value}."""
    # The gradient moves log penalties and watches the held-out loss; the others report the terms
    # of their objective.
    if strategy.holds_out:
        at_bound = step.at_bound if step.at_bound is not None else np.zeros(len(names), bool)
        return HyperGradientStep(
            step=step.number,
            holdout_loss=float(step.objective),
            d=_by_name(names, np.log(step.C)),
            gradient_norm=float(step.gradient_norm),
            at_bound=[name for name, is_at in zip(names, at_bound, strict=True) if is_at],
            iterations=step.iterations,
            fits=step.fits,
            switched_off=_switched_off(names, step) or None,
            ranges=_ranges_by_name(names, step),
        )
    return PenaltyStep(
        step=step.number,
        objective=float(step.objective),
        loss=float(step.loss),
        penalties=_by_name(names, step.C),
        norms=_by_name(names, step.norms),
        switched_off=_switched_off(names, step),
        iterations=step.iterations,
        fits=step.fits,
    )


def _by_name(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _switched_off(names: Sequence[str], step: LearnerStep) -> list[str]:
    return [name for name, off in zip(names, step.switched_off, strict=True) if off]


def _ranges_by_name(names: Sequence[str], step: LearnerStep) -> dict[str, list[float]] | None:
    return None if step.ranges is None else dict(zip(names, step.ranges.tolist(), strict=True))


def _penalty_fit(problem: Problem, training: PenaltyTraining, last: LearnerStep) -> PenaltyFit:
    names, remarks = training.group_names, [*last.remarks]
    remarks += holdout.holdout_remarks(problem, training)
    if last.parameters is not None:
        counts = f"{float(np.sum(last.parameters)):.0f} of {int((training.groups >= 0).sum()):,}"
        remarks.append(f"The data determine {counts} weights (their effective number).")
    return _fit_or_default(
        problem,
        training,
        last.C,
        last.w,
        switched_off=_switched_off(names, last),
        ranges=_ranges_by_name(names, last),
        holdout_loss=float(last.objective) if problem.strategy.holds_out else None,
        remarks=tuple(remarks),
    )


def _fit_of_step(problem: Problem, training: PenaltyTraining, last: LearnerStep) -> PenaltyFit:
    return PenaltyFit(
        training,
        last.w,
        _by_name(training.group_names, last.C),
        problem.dataset.classes,
        switched_off=_switched_off(training.group_names, last),
        remarks=("The time was up before the last fit ended: its weights are those of a step.",),
        noise_variance=training.noise_variance(last.w),
    )


def _fit_or_default(
    problem: Problem,
    training: PenaltyTraining,
    C: np.ndarray,
    start: np.ndarray | None,
    *,
    variance: float | None = None,
    **facts: Any,
) -> PenaltyFit:
    """The model at penalties C with some fields of `PenaltyFit`, or the default where C loses."""
    first = training.loss.initial_weights() if start is None else start
    # Learned penalties of few data may do worse than none at all: the default is kept then.
    comparison = holdout.compare_with_default(problem, training, C, first)
    remarks = (comparison.remark,) if comparison.remark else ()
    if comparison.loses:
        C = np.ones(len(training.group_names))
        return replace(_fit_at_penalties(problem, training, C), remarks=remarks)
    facts["remarks"] = (*facts.get("remarks", ()), *remarks)
    return replace(_fit_at_penalties(problem, training, C, start, variance=variance), **facts)


def _fit_at_penalties(
    problem: Problem,
    training: PenaltyTraining,
    C: np.ndarray,
    start: np.ndarray | None = None,
    *,
    variance: float | None = None,
) -> PenaltyFit:
    first = training.loss.initial_weights() if start is None else start
    loss = training.loss
    if start is None and variance is not None and isinstance(loss, LinearLoss):
        # Beside (m/2) log R the same C has several stationary points where columns outnumber the
        # rows: the ridge penalties σ² C say which was meant. C is what leads to them here.
        penalties = variance * per_weight(C, training.groups)
        w = solve_penalized(FixedNoise(loss, 1.0), penalties, first, tolerance=TIGHT).point.w
        C = variance / loss.noise_variance(w) * C
    else:
        w = final_fit(loss, training.groups, C, first)
    return PenaltyFit(
        training,
        w,
        _by_name(training.group_names, C),
        problem.dataset.classes,
        noise_variance=training.noise_variance(w),
    )


def recorded_fit(problem: Problem, state: RunState) -> PenaltyFit:
    """The model at the penalties of the last recorded step."""
    training, last = training_of(problem), state.last_step
    assert last is not None  # callers have checked that a step was recorded
    variance, facts = None, dict[str, Any]()
    if isinstance(last, HyperGradientStep):
        facts = {"ranges": last.ranges, "holdout_loss": last.holdout_loss}
    elif isinstance(training.loss, LinearLoss):
        variance = training.loss.noise_variance_of(last.loss)
    # In the order of the groups, whose long names earlier versions recorded whole.
    C = np.array(list(last.penalties.values()))
    return _fit_or_default(
        problem,
        training,
        C,
        None,
        variance=variance,
        switched_off=list(last.switched_off or ()),
        **facts,
    )


def refit_penalties(problem: Problem, learned: PenaltyFit) -> PenaltyFit:
    """The weights fitted to the training rows of a problem, at penalties learned on other rows."""
    # The penalties keep their value whatever the number of rows (Foo, Do and Ng 2008: the final fit
    # on training and holdout data has C unscaled); for regression the ridge penalties σ² C do.
    training = training_of(problem, like=learned.training)
    # A group that only these rows have, such as a new category, is held back like most.
    median_penalty = float(np.median(list(learned.penalties.values())))
    C = np.array([learned.penalties.get(name, median_penalty) for name in training.group_names])
    return replace(
        _fit_at_penalties(problem, training, C, variance=learned.noise_variance),
        switched_off=learned.switched_off,
        ranges=learned.ranges,
        holdout_loss=learned.holdout_loss,
        remarks=learned.remarks,
    )
