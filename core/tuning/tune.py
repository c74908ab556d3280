"""The tune generator: ask the strategy, evaluate, tell, report; one stream of events.

Closing it stops the run, not asking it pauses; `conclude` then gives the best so far.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.processes import ProcessLostError
from core.tuning import problem_setup
from core.tuning.cluster.shared_executor import SharedExecutor
from core.tuning.events import (
    DatasetFacts,
    Event,
    HistoryRead,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    TuningEnded,
    WorkersSeen,
)
from core.tuning.guidance.forecast import check_fit_time, power_of
from core.tuning.history.run_history import RunHistory, read_before
from core.tuning.history.store import History
from core.tuning.learning.learning_run import LearningRun
from core.tuning.patience import stop_rule_text
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem, baseline_score
from core.tuning.results.conclude import KEPT, evaluate_and_keep
from core.tuning.results.test_evaluation import EvaluationContext
from core.tuning.runs.fit_events import has_display
from core.tuning.runs.run_clock import RunClock
from core.tuning.runs.run_folder import RunFolder, utc_now, write_with_retry
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor

if TYPE_CHECKING:
    from core.tuning.trials.trial_run import TrialRun

_NO_FIT = "the time was up before the first fit ended."


@dataclass(frozen=True)
class NewRun:
    """A plan that fits its data, before anything of the run is written."""

    plan: Plan
    dataset: Dataset
    problem: Problem

    @property
    def sentences(self) -> list[str]:
        """What a person should know before it starts: its metric, its test's power, its end."""
        is_trial_run = self.problem.strategy.kind == "trials"
        stop_rule = stop_rule_text(self.plan) if is_trial_run else ""
        texts = (self.problem.metric_reason, power_of(self.problem), stop_rule)
        return [text for text in texts if text]

    def with_workers(self, count: int) -> NewRun:
        return replace(self, plan=self.plan.changed(workers=min(count, problem_setup.MAX_WORKERS)))

    def events(self, folder: RunFolder, **options: Any) -> Generator[Event, None, None]:
        """Its stream, recorded in a folder; `options` as of `tune`."""
        return tune(self.plan, self.dataset, folder=folder, **{"history": History, **options})


def prepare_run(data: DataPlan, plan_of: Callable[[DataPlan, Dataset], Plan]) -> NewRun:
    """Read the data and check the plan for them, which `plan_of` makes from their row count."""
    dataset = problem_setup.read_data(data)
    plan = plan_of(problem_setup.with_row_count(data, dataset), dataset)
    return NewRun(plan, dataset, problem_setup.build_problem(plan, dataset))


@dataclass(frozen=True)
class RecordedRun:
    """The recorded events of a run that goes on, for so many trials beyond its budget."""

    events: Sequence[Event]
    more_trials: int = 0


def tune(
    plan: Plan,
    dataset: Dataset,
    *,
    folder: RunFolder | None = None,
    past: Sequence[Event] | RecordedRun = (),
    requests: deque[Event] | None = None,
    history: Callable[[], History] | None = None,
    executor: Callable[..., TrialExecutor] = ProcessExecutor,
) -> Generator[Event, None, None]:
    """Run a plan, or go on with an interrupted or finished run of it.

    Args:
        folder: records every event before it is yielded, and keeps the fitted model; None for
            neither.
        past: the recorded events of the run to go on with; started trials are started again.
        requests: of a person during the run (TrialExcluded, RunResumed with a new total,
            EvaluationShortened, SettingRequested); taken from the left and yielded.
        history: opens the history of earlier datasets; None to neither write nor read it.
        executor: makes the executor of the trials, from the job, how many at a time, and the limit.

    Yields:
        RunStarted (or RunResumed), HistoryRead if used, the strategy's own events, TuningEnded,
            then RunFinished or RunFailed.
    """
    recorded_run = past if isinstance(past, RecordedRun) else RecordedRun(past)
    past = recorded_run.events
    if past and not isinstance(past[0], RunStarted):
        raise UnusableError("the beginning of this run is missing", cure="start a new run")
    state = state_from_events(past)
    # A resumed run keeps the metric and the space of its first start, whatever today's version
    # recommends.
    problem = problem_setup.as_first_started(
        problem_setup.build_problem(plan, dataset), state.started if past else None
    )
    began = "the data has changed since this run began"
    cure = "put the old file back, or start a new run"
    problem_setup.check_same_data(dataset, state.started.dataset.fingerprint, began, cure)
    if not past:
        check_fit_time(problem)
    clock = RunClock(state.seconds)
    requests = deque() if requests is None else requests
    context = EvaluationContext(problem, state, clock, folder, read_before(past), requests)
    if folder is not None and executor is ProcessExecutor:
        executor = partial(SharedExecutor, folder.path)  # others may join it
    stream = _run_events(context, recorded_run, history, executor)
    if folder is None:
        yield from clock.stamped(stream)
        return
    # The stream ends before the lock goes: no second program meets trials that still run.
    with folder.hold_lock(), contextlib.closing(stream):
        for event in clock.stamped(stream):
            yield from _record_event(folder, event, state)
            yield event


def _record_event(folder: RunFolder, event: Event, state: RunState) -> Generator[Event, None, None]:
    if not isinstance(event, WorkersSeen):  # of no use later
        yield from write_with_retry(lambda: folder.append(event), lambda: state.progress(None))
    while folder.notices:
        yield RemarkMade(sentence=folder.notices.pop(0))


def _run_events(
    context: EvaluationContext,
    recorded_run: RecordedRun,
    history: Callable[[], History] | None,
    executor: Callable[..., TrialExecutor],
) -> Generator[Event, None, None]:
    problem, state, folder = context.problem, context.state, context.folder
    past, name = recorded_run.events, state.started.remembered_as
    folder_path = folder.path if folder is not None else None
    open_history = RunHistory(problem, history, name, folder_path, fresh=not past)
    with contextlib.closing(open_history) as run_history:
        run: TrialRun | LearningRun
        if problem.strategy.kind == "trials":
            from core.tuning.race.race_run import trial_run  # Optuna is slow to import

            run = trial_run(problem, state, context.clock, context.requests, run_history, executor)
        else:
            run = LearningRun(problem, state, context.clock, context.requests)
        fresh = start_event(problem, run.groups, folder, run_history.name)
        resumed = RunResumed(done=state.done_count, total=state.total + recorded_run.more_trials)
        first = resumed if past else fresh
        state.consume(first)
        yield first
        with contextlib.closing(run.events(past)) as events:
            for event in events:
                # What was read is needed again where the tuning is repeated in outer folds.
                if isinstance(event, HistoryRead):
                    context = replace(context, history=(*context.history, event))
                yield event
    if state.best_trial is None and state.last_step is None:
        # Nothing can be fitted or tested, so that no TuningEnded comes before it.
        yield RunFailed(sentence=_all_failed_text(state))
        return
    yield TuningEnded(because=run.because)
    ensemble = None if isinstance(run, LearningRun) else run.ensemble
    # Members that their trials have fitted need no second fit.
    fitted_models = ensemble.models.member_models() if ensemble else {}
    because, learned = run.because, run.taken_learned()
    try:
        results = yield from evaluate_and_keep(context, because, learned, fitted_models)
    # The end is computed in a process of its own; where that is lost, all trials are kept.
    except ProcessLostError as error:
        yield RunFailed(sentence=f"{error} {KEPT}")
        return
    yield RunFinished(because=because, results=results)


def start_event(
    problem: Problem, groups: dict[str, int], folder: RunFolder | None, remembered_as: str
) -> RunStarted:
    """The first event of a run."""
    dataset, plan, strategy = problem.dataset, problem.plan, problem.strategy
    test_rows = len(problem.test_rows) if dataset.test is None else dataset.test.rows
    train_sequences, test_sequences = _sequence_counts(problem)
    has_pictures = problem.model.shows == "pictures"
    is_trial_run = strategy.kind == "trials"
    return RunStarted(
        run=folder.name if folder else "",
        plan=plan.as_dict(),
        dataset=DatasetFacts(
            name=dataset.name,
            rows=dataset.rows,
            features=dataset.features.shape[1],
            task=dataset.task,
            target=dataset.target_name,
            target_unit=dataset.units_of_columns.get(dataset.target_name),
            classes=[str(label) for label in dataset.classes],
            fingerprint=dataset.source.fingerprint,
            train_rows=len(problem.train_rows),
            test_rows=test_rows,
            outer_folds=len(problem.outer),
            train_sequences=train_sequences,
            test_sequences=test_sequences,
            telling=list(dataset.telling) or None,
            pictures=has_display(problem.model, dataset.feature_names) if has_pictures else None,
        ),
        kind=strategy.kind,
        space=list(problem.space) if is_trial_run else [],
        groups=groups,
        metric=problem.scored_by.name,
        maximize=problem.scored_by.maximize,
        total=problem.total,
        started_at=utc_now(),
        judged=problem.validation_scheme if is_trial_run else "",
        repeats=problem.fold_repeats,
        averages=problem.averages,
        baseline=baseline_score(problem) if is_trial_run else None,
        remembered_as=remembered_as,
    )


def _sequence_counts(problem: Problem) -> tuple[int, int] | tuple[None, None]:
    dataset = problem.dataset
    if not dataset.task.has_sequences:
        return None, None
    assert dataset.row_groups is not None
    train, test = dataset.row_groups[problem.train_rows], dataset.row_groups[problem.test_rows]
    if dataset.test is not None:
        test = np.asarray(dataset.test.row_groups)
    return len(np.unique(train)), len(np.unique(test))


def _all_failed_text(state: RunState) -> str:
    reasons = [trial.failure for trial in state.trials if trial.failure]
    common_reason = max(set(reasons), key=reasons.count) if reasons else _NO_FIT
    return (
        f"No setting could be scored: {common_reason[:1].lower()}{common_reason[1:]} "
        "Choose another model, give fewer rows, or allow more time."
    )
