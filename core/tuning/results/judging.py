"""The judging of a run: what its contestants say about rows that they were not fitted to.

One test set: tuned model, default setting and baseline are fitted on the training rows and asked
about the test rows. Nested cross-validation: in every outer fold all three are made anew from the
other folds, the tuned one by the whole tuning, and are asked about the fold.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.estimators.baseline import baseline_pipeline
from core.estimators.fitting import fit
from core.tuning.averaging.averaged_said import joined
from core.tuning.events import (
    EvaluationShortened,
    Event,
    FoldTested,
    HistoryRead,
    RunStarted,
    TrialExcluded,
)
from core.tuning.history.run_history import RunHistory
from core.tuning.learning.run import Learned, learn, relearned
from core.tuning.prepared import fit_prepared
from core.tuning.problem import Problem
from core.tuning.results.winner import Winner, winner_of
from core.tuning.runs.clock import Clock
from core.tuning.runs.state import RunState
from core.tuning.scores.predictions import Predictions, predictions_by
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

SOON = 5.0  # seconds of learning that are repeated in every fold also where a run was stopped


@dataclass(frozen=True)
class Course:
    """How a run went, as far as its judging needs it.

    Attributes:
        state: how it stands.
        clock: the run's own time.
        history: what the run read of earlier datasets, of several models one each.
        requests: what a person asks for meanwhile.
        stopped: whether it was stopped before its own end.
    """

    state: RunState
    clock: Clock
    history: tuple[HistoryRead, ...] = ()
    requests: deque[Event] = field(default_factory=deque)
    stopped: bool = False

    @property
    def shortened(self) -> bool:
        """Whether a person waits no longer for the tuning to be repeated in every fold."""
        asked = any(isinstance(event, EvaluationShortened) for event in tuple(self.requests or ()))
        return asked or self.state.shortened


def predictions_of_test(problem: Problem, tuned: Any) -> Predictions:
    """What the contestants say about the test rows.

    Args:
        problem: with the rows to fit on and to test on.
        tuned: the tuned pipeline, fitted on the training rows.
    """
    dataset, rows = problem.dataset, problem.train_rows
    default = problem.pipeline(problem.default)
    baseline = baseline_pipeline(dataset.task, default[0])
    prepared = fit_prepared(default[0], dataset, rows)  # for both
    for other in (default, baseline):
        fit(other[-1], prepared, dataset.target[rows])
    models = (tuned, default, baseline)
    return predictions_by(
        models, *problem.test, dataset.task, dataset.classes, _test_groups(problem)
    )


def _test_groups(problem: Problem) -> np.ndarray | None:
    dataset = problem.dataset
    if dataset.test is not None:
        # The groups of another file are only known where they are part of the task.
        return dataset.test.row_groups if dataset.task == "sequence" else None
    # Relatives among molecules, sentences and texts are no independent tests; single rows of a
    # table that happen to be equal hardly change an interval.
    of_table = dataset.task not in (*STRUCTURED_TASKS, "topics")
    groups = dataset.row_groups if of_table else dataset.kept_together
    return None if groups is None else groups[problem.test_rows]


def repeats(problem: Problem, course: Course) -> bool:
    """Whether the whole tuning is repeated in every outer fold, as nested cross-validation asks.

    Not where a person has stopped a run that took its time: whoever stops does not wait five times
    as long. The setting found is fitted in every fold instead, and that is said.
    """
    if course.shortened:
        return False
    learner = problem.strategy.kind == "penalties"
    return not course.stopped or (learner and course.clock.seconds <= SOON)


def predictions_of_folds(
    problem: Problem, course: Course, learned: Learned | None
) -> Generator[Event, None, Predictions]:
    """What the contestants say about all rows, each row by models made without it.

    Args:
        problem: with outer folds.
        course: how the run went.
        learned: what a penalty learner found on all rows.

    Yields:
        FoldTested at the start and after every fold; a beat of Progress in between, so that a stop
        is heard.
    """
    count, found = len(problem.outer), []
    yield FoldTested(fold=0, folds=count)
    for at, rows in enumerate(problem.outer):
        own = problem.on(*rows)
        if repeats(problem, course):
            tuned = yield from _tuned_again(own, course, count - at)
        else:
            tuned = _set_again(own, course, learned)
        found.append(predictions_of_test(own, tuned.pipeline))
        yield from _heard(course)
        yield FoldTested(fold=at + 1, folds=count)
    return pooled(found, problem.dataset.rows)


def _set_again(problem: Problem, course: Course, learned: Learned | None) -> Winner:
    """The setting or the penalties found on all rows, fitted on those of an outer fold."""
    again = None if learned is None else relearned(problem, learned)
    return winner_of(problem, course.state, again, {})


def _tuned_again(problem: Problem, course: Course, left: int) -> Generator[Event, None, Winner]:
    """The whole tuning on the rows of an outer fold.

    Args:
        problem: that of the fold.
        course: how the run went.
        left: how many folds are left, this one among them; they share what time there is.
    """
    clock, minutes, until = course.clock, problem.plan.minutes, math.inf
    if minutes is not None:
        until = clock.seconds + max(0.0, 60 * minutes - clock.seconds) / left
    if problem.strategy.kind == "trials":
        return (yield from _tried_again(problem, course, until))
    most = course.state.done if course.stopped else math.inf
    learned = yield from learn(
        problem,
        lambda steps: steps >= most or clock.seconds >= until or course.shortened,
        lambda: course.state.progress(None),
    )
    return winner_of(problem, course.state, learned, {})


def _tried_again(problem: Problem, course: Course, until: float) -> Generator[Event, None, Winner]:
    """All trials on the rows of an outer fold; nothing of them is kept."""
    from core.tuning.race.run import trial_run  # Optuna is slow to import

    minutes = None if until == math.inf else until / 60
    problem, state = replace(problem, plan=problem.plan.changed(minutes=minutes)), RunState()
    maximize, total = problem.scored_by.maximize, course.state.total
    state.consume(RunStarted(maximize=maximize, total=total))
    run = trial_run(problem, state, course.clock, deque(), RunHistory(problem, None))
    with contextlib.closing(run.events(course.history)) as events:
        for _ in events:
            yield course.state.progress(None)
            yield from _heard(course)
            if course.shortened and state.best is not None:
                break
    if state.best is None:  # nothing could be fitted here: what was found on all rows stands in
        return winner_of(problem, course.state, None, {})
    kept = run.ensemble.models.models() if run.ensemble else {}
    return winner_of(problem, state, None, kept)


def _heard(course: Course) -> Generator[Event, None, None]:
    """A trial that a person takes out while the folds are tested does not win."""
    while course.requests:
        event = course.requests.popleft()
        if isinstance(event, (TrialExcluded, EvaluationShortened)):
            course.state.consume(event)
            yield event


def pooled(parts: Sequence[Predictions], rows: int) -> Predictions:
    """What was said about every fold, as of all rows together.

    Args:
        parts: one a fold.
        rows: of the dataset.
    """
    sizes = [len(part.y) for part in parts]
    groups = [part.row_groups for part in parts if part.row_groups is not None]
    return Predictions(
        y=np.concatenate([part.y for part in parts]),
        tuned=joined([part.tuned for part in parts]),
        default=joined([part.default for part in parts]),
        baseline=joined([part.baseline for part in parts]),
        row_groups=np.concatenate(groups) if len(groups) == len(parts) else None,
        folds=np.repeat(np.arange(len(parts)), sizes),
        train_share=1.0 - float(np.mean(sizes)) / rows,
    )
