"""The test of a run: predictions for rows that the contestants were not fitted to.

One test set: tuned model, default setting and baseline are fitted on the training rows. Nested
cross-validation: all three are made anew for every outer fold, the tuned one by the whole tuning.
"""

import contextlib
import math
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.estimators.baseline import baseline_pipeline
from core.estimators.fitting import fit_with_remarks
from core.tuning import events as run_events
from core.tuning.averaging.averaged_predictions import concatenate_predictions
from core.tuning.history.run_history import RunHistory
from core.tuning.learning.learning_run import refit_penalties, run_learner
from core.tuning.learning.training import PenaltyFit
from core.tuning.problem import Problem, fit_prepared
from core.tuning.results.tuned_model import TunedModel, fit_tuned_model
from core.tuning.runs.run_clock import RunClock
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.scores.predictions import ComparedPredictions, predictions_by

SOON = 5.0  # seconds of learning that are repeated in every fold also where a run was stopped


@dataclass(frozen=True)
class EvaluationContext:
    """What the test of a run needs of it, and how it went."""

    problem: Problem
    state: RunState
    clock: RunClock
    folder: RunFolder | None = None  # which keeps the model
    history: tuple[run_events.HistoryRead, ...] = ()  # of several models one each
    requests: deque[run_events.Event] = field(
        default_factory=deque
    )  # events that a person asks for meanwhile
    stopped: bool = False  # whether it was stopped before its own end

    @property
    def is_shortened(self) -> bool:
        """A person does not want tuning repeated in every fold."""
        requests = tuple(self.requests or ())
        is_requested = any(isinstance(event, run_events.EvaluationShortened) for event in requests)
        return is_requested or self.state.shortened


def predictions_of_test(problem: Problem, tuned: Any) -> ComparedPredictions:
    """The contestants' predictions of the test rows; `tuned` is fitted on the training rows."""
    dataset, rows = problem.dataset, problem.train_rows
    default = problem.pipeline(problem.default)
    baseline = baseline_pipeline(dataset.task, default[0])
    prepared = fit_prepared(default[0], dataset, rows)  # for both
    for pipeline in (default, baseline):
        fit_with_remarks(pipeline[-1], prepared, dataset.target[rows])
    models, units = (tuned, default, baseline), problem.test_units
    return predictions_by(models, *problem.test_data, dataset.task, dataset.classes, units)


def repeats_tuning(context: EvaluationContext) -> bool:
    """Whether the whole tuning is repeated in every outer fold, as nested cross-validation asks.

    Not after a person stops a long run, as it takes five times as long: the final setting is then
    fitted in every fold, as the results say.
    """
    if context.is_shortened:
        return False
    is_learner = context.problem.strategy.kind == "penalties"
    return not context.stopped or (is_learner and context.clock.seconds <= SOON)


def predictions_of_folds(
    context: EvaluationContext, learned: PenaltyFit | None
) -> Generator[run_events.Event, None, ComparedPredictions]:
    """The contestants' predictions of all rows, each by models made without it.

    `learned` is a penalty learner's state after all rows. FoldTested comes at the start and after
    every fold; Progress in between, so that a stop is heard.
    """
    folds, fold_predictions = context.problem.outer, []
    yield run_events.FoldTested(fold=0, folds=len(folds))
    for index, rows in enumerate(folds):
        fold_problem = context.problem.with_rows(*rows)
        if repeats_tuning(context):
            tuned = yield from _repeat_tuning(fold_problem, context, len(folds) - index)
        else:
            penalty_fit = None if learned is None else refit_penalties(fold_problem, learned)
            tuned = fit_tuned_model(fold_problem, context.state, penalty_fit, {})
        fold_predictions.append(predictions_of_test(fold_problem, tuned.pipeline))
        yield from _apply_requests(context)
        yield run_events.FoldTested(fold=index + 1, folds=len(folds))
    return pool_folds(fold_predictions)


def _repeat_tuning(
    problem: Problem, context: EvaluationContext, folds_left: int
) -> Generator[run_events.Event, None, TunedModel]:
    clock, minutes, end_seconds = context.clock, problem.plan.minutes, math.inf
    if minutes is not None:
        # What a fold leaves of its share is for those after it.
        end_seconds = clock.seconds + max(0.0, 60 * minutes - clock.seconds) / folds_left
    if problem.strategy.kind == "trials":
        return (yield from _repeat_trials(problem, context, end_seconds))
    max_steps = context.state.done_count if context.stopped else math.inf
    learned = yield from run_learner(
        problem,
        lambda steps: steps >= max_steps or clock.seconds >= end_seconds or context.is_shortened,
        lambda: context.state.progress(None),
    )
    return fit_tuned_model(problem, context.state, learned, {})


def _repeat_trials(
    problem: Problem, context: EvaluationContext, end_seconds: float
) -> Generator[run_events.Event, None, TunedModel]:
    from core.tuning.race.race_run import trial_run  # Optuna is slow to import

    minutes = None if end_seconds == math.inf else end_seconds / 60
    problem, state = replace(problem, plan=problem.plan.changed(minutes=minutes)), RunState()
    maximize, total = problem.scored_by.maximize, context.state.total
    state.consume(run_events.RunStarted(maximize=maximize, total=total))
    run = trial_run(problem, state, context.clock, deque(), RunHistory(problem, None))
    with contextlib.closing(run.events(context.history)) as events:
        for _ in events:
            yield context.state.progress(None)
            yield from _apply_requests(context)
            if context.is_shortened and state.best_trial is not None:
                break
    if state.best_trial is None:  # nothing could be fitted: the setting of all rows replaces it
        return fit_tuned_model(problem, context.state, None, {})
    fitted_models = run.ensemble.models.models() if run.ensemble else {}
    return fit_tuned_model(problem, state, None, fitted_models)


def _apply_requests(context: EvaluationContext) -> Generator[run_events.Event, None, None]:
    while context.requests:
        event = context.requests.popleft()
        if isinstance(event, (run_events.TrialExcluded, run_events.EvaluationShortened)):
            context.state.consume(event)
            yield event


def pool_folds(folds: Sequence[ComparedPredictions]) -> ComparedPredictions:
    """The predictions of all folds as of one test."""
    units = folds[0].units
    return ComparedPredictions(
        y=np.concatenate([fold.y for fold in folds]),
        tuned=concatenate_predictions([fold.tuned for fold in folds]),
        default=concatenate_predictions([fold.default for fold in folds]),
        baseline=concatenate_predictions([fold.baseline for fold in folds]),
        row_units=replace(units, codes=np.concatenate([fold.units.codes for fold in folds])),
        folds=np.repeat(np.arange(len(folds)), [len(fold.y) for fold in folds]),
        # Other work delays some folds: the quickest says what the model takes.
        tuned_seconds=min((f.tuned_seconds for f in folds if f.tuned_seconds), default=None),
        default_seconds=min((f.default_seconds for f in folds if f.default_seconds), default=None),
    )
