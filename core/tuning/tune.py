"""The tune generator: ask the strategy, evaluate, tell, report; one stream of events.

The same generator serves the window's worker, the command line and the tests. Stopping closes it;
pausing stops asking it; `conclude` then gives what was best until there.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.tuning.begun import as_begun
from core.tuning.events import (
    Event,
    HistoryRead,
    Noticed,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    TuningEnded,
    WorkersSeen,
)
from core.tuning.history.run_history import RunHistory, read_before
from core.tuning.history.store import History
from core.tuning.knowing_nothing import baseline_score
from core.tuning.learning.run import LearningRun
from core.tuning.plan import Plan
from core.tuning.problem import Problem, build_problem
from core.tuning.results.conclude import conclusion
from core.tuning.results.judging import Course
from core.tuning.runs.clock import Clock
from core.tuning.runs.run_folder import RunFolder, now
from core.tuning.runs.showing import shows
from core.tuning.runs.state import RunState, folded
from core.tuning.runs.waiting import written
from core.tuning.trials.executors import Executing, Executor

if TYPE_CHECKING:
    from core.tuning.trials.run import TrialRun


@dataclass(frozen=True)
class Past:
    """What was recorded of a run that goes on, for so many trials beyond its budget."""

    events: Sequence[Event]
    more_trials: int = 0


def tune(
    plan: Plan,
    dataset: Dataset,
    *,
    folder: RunFolder | None = None,
    past: Sequence[Event] | Past = (),
    requests: deque[Event] | None = None,
    history: Callable[[], History] | None = None,
    executor: Callable[..., Executing] = Executor,
) -> Generator[Event, None, None]:
    """Run a plan, or go on with an interrupted or finished run of it.

    Args:
        plan: what to do.
        dataset: the data of ``plan.data``.
        folder: where every event is recorded before it is given out, and the fitted best is kept;
            None keeps nothing.
        past: the recorded events of the run to go on with; trials that had begun are begun again.
            As a `Past`, that many trials beyond its budget.
        requests: what a person asks for while it runs (TrialExcluded, RunResumed with a new
            total, EvaluationShortened, SettingWanted); taken from the left and made part of the
            stream.
        history: opens the history of earlier datasets, where trials are kept for later runs
            and which some strategies use; None to neither keep nor read anything.
        executor: makes what runs the trials, from the work, how many at a time, and the time limit.

    Yields:
        RunStarted (or RunResumed), HistoryRead for a strategy that uses it, the strategy's own
        events, TuningEnded, then RunFinished or RunFailed.

    Raises:
        UnusableError: plan and data do not fit, the data has changed since, the folder is another
            program's. Where the disk is full or gone, the run says so and waits.
    """
    before = past if isinstance(past, Past) else Past(past)
    past = before.events
    state = folded(past)
    problem = as_begun(build_problem(plan, dataset), state.started if past else None)
    _check_same_data(state, dataset)
    clock = Clock(state.seconds)
    course = Course(state, clock, read_before(past), deque() if requests is None else requests)
    stream = _stream(problem, course, before, folder, history, executor)
    if folder is None:
        yield from clock.stamped(stream)
        return
    with folder.owned(), contextlib.closing(stream):
        for event in clock.stamped(stream):
            yield from _recorded(folder, event, state)
            yield event


def _recorded(folder: RunFolder, event: Event, state: RunState) -> Generator[Event, None, None]:
    """Record an event, waiting where the disk is full, and what there is to say of the folder."""
    if not isinstance(event, WorkersSeen):  # of the moment, and of no use later
        yield from written(lambda: folder.append(event), lambda: state.progress(None))
    while folder.notices:
        yield Noticed(sentence=folder.notices.pop(0))


def _stream(
    problem: Problem,
    course: Course,
    before: Past,
    folder: RunFolder | None,
    history: Callable[[], History] | None,
    executor: Callable[..., Executing],
) -> Generator[Event, None, None]:
    state, past = course.state, before.events
    name = state.started.remembered_as
    place = folder.path if folder is not None else None
    told = RunHistory(problem, history, name, place, fresh=not past)
    with contextlib.closing(told) as run_history:
        run: TrialRun | LearningRun
        if problem.strategy.kind == "trials":
            from core.tuning.race.run import trial_run  # Optuna is slow to import

            run = trial_run(problem, state, course.clock, course.requests, run_history, executor)
        else:
            run = LearningRun(problem, state, course.clock, course.requests)
        fresh = started(problem, run.groups, folder, run_history.name)
        resumed = RunResumed(done=state.done, total=state.total + before.more_trials)
        first = resumed if past else fresh
        state.consume(first)
        yield first
        with contextlib.closing(run.events(past)) as events:
            for event in events:
                if isinstance(event, HistoryRead):
                    course = replace(course, history=(*course.history, event))
                yield event
    if problem.strategy.kind == "trials" and state.best is None:
        yield RunFailed(sentence=_all_failed(state))
        return
    yield TuningEnded(because=run.because)
    kept = {} if isinstance(run, LearningRun) or not run.ensemble else run.ensemble.models.models()
    results = yield from conclusion(problem, course, run.because, folder, run.taken_learned(), kept)
    yield RunFinished(because=run.because, results=results)


def started(
    problem: Problem, groups: dict[str, int], folder: RunFolder | None, remembered_as: str
) -> RunStarted:
    """The first event of a run: everything a view needs to know about it."""
    dataset, plan, strategy = problem.dataset, problem.plan, problem.strategy
    test_rows = len(problem.test_rows) if dataset.test is None else dataset.test.rows
    return RunStarted(
        run=folder.name if folder else "",
        plan=plan.as_dict(),
        dataset={
            "name": dataset.name,
            "rows": dataset.rows,
            "features": dataset.features.shape[1],
            "task": dataset.task,
            "target": dataset.target_name,
            "classes": [str(label) for label in dataset.classes],
            "fingerprint": dataset.source.fingerprint,
            "train_rows": len(problem.train_rows),
            "test_rows": test_rows,
            "outer_folds": len(problem.outer),
            **_sequences(problem),
            **_pictures(problem),
        },
        kind=strategy.kind,
        space=[axis.as_dict() for axis in problem.space] if strategy.kind == "trials" else [],
        groups=groups,
        metric=problem.scored_by.name,
        maximize=problem.scored_by.maximize,
        total=problem.total,
        started_at=now(),
        judged=problem.judged if strategy.kind == "trials" else "",
        repeats=problem.repeats,
        averages=problem.averages,
        baseline=baseline_score(problem) if strategy.kind == "trials" else None,
        remembered_as=remembered_as,
    )


def _sequences(problem: Problem) -> dict[str, int]:
    """How many sequences the tokens make; nothing for other tasks."""
    dataset = problem.dataset
    if dataset.task != "sequence":
        return {}
    assert dataset.row_groups is not None
    train, test = dataset.row_groups[problem.train_rows], dataset.row_groups[problem.test_rows]
    if dataset.test is not None:
        test = np.asarray(dataset.test.row_groups)
    return {"train_sequences": len(np.unique(train)), "test_sequences": len(np.unique(test))}


def _pictures(problem: Problem) -> dict[str, bool]:
    """Whether the rows are pictures that the model will show; nothing for other models."""
    if problem.model.shows != "pictures":
        return {}
    return {"pictures": shows(problem.model, problem.dataset.feature_names)}


def _all_failed(state: RunState) -> str:
    reasons = [trial.failure for trial in state.trials if trial.failure]
    most = max(set(reasons), key=reasons.count) if reasons else "nothing was tried"
    return (
        f"No trial gave a score. The reason given most often: {most} "
        "Choose another model, or allow each trial more time."
    )


def _check_same_data(state: RunState, dataset: Dataset) -> None:
    before = state.started.dataset.get("fingerprint", "")
    if before and before != dataset.source.fingerprint:
        raise UnusableError(
            "the data has changed since this run began",
            where=dataset.source.path or dataset.name,
            cure="put the old file back, or start a new run",
        )
