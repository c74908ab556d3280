"""Runs of several models: a screening of each, then trials of the most promising ones."""

import math
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from core.estimators.multi_model import split_model_setting
from core.tuning.candidate_models import candidate_models, feature_count
from core.tuning.events import Event, HistoryRead, ModelScreened, TrialFinished
from core.tuning.history.run_history import read_before, warm_start_history
from core.tuning.problem import Problem
from core.tuning.race.ledger import MAX_ENDING_SHARE, MachineLoad, ending_seconds
from core.tuning.race.multi_model_ensemble import MultiModelEnsemble
from core.tuning.race.multi_model_study import MultiModelStudy, ScreeningTask
from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.executors import TrialExecutor
from core.tuning.trials.trial_run import BEAT_SECONDS, FIRST_SECONDS, LIMIT_SHARE, TrialRun

MAX_SCREENING_ROWS = 1000  # that a screening is fitted on, and as many scored
MAX_SCREENING_VALUES, MIN_SCREENING_ROWS = 4e5, 250  # fewer rows of wide tables
MAX_SCREENING_SECONDS, MIN_SCREENING_SECONDS = 5.0, 1.5  # of all screenings of a model
SCREENING_SHARE = 0.03  # of the run's time, within these
SHORT_SCREENING_SHARE = 0.04  # of a run so short that all models would screen most of it
MIN_LIMIT_SECONDS = 10.0  # that a trial may take, however short the run
WHOLE_SHARE = 0.08  # of the time left, in which a model's first trials are not ended early
LIMIT_FACTOR = 3.0  # of the expected seconds, that it may take
PATIENCE_SHARE = 0.3  # of the time, that must pass without a better trial


class RaceRun(TrialRun):
    """A run of trials of several models."""

    _study: MultiModelStudy

    def _make_ensemble(self, planned: int) -> Any:
        return MultiModelEnsemble(self._problem)

    @cached_property
    def _problem_by_model(self) -> dict[str, Problem]:
        names = candidate_models(self._problem.dataset)
        return {name: self._problem.single_model(name) for name in names}

    def _make_study(self, history: dict[str, HistoryRead]) -> Any:
        return MultiModelStudy(self._problem, self._problem_by_model, history)

    def _read_history(
        self, past: Sequence[Event]
    ) -> Generator[Event, None, dict[str, HistoryRead]]:
        events_by_model = {event.model: event for event in read_before(past)}
        # A run that has screened a model goes on with what it read, or without.
        if any(isinstance(event, (ModelScreened, TrialFinished)) for event in past):
            return events_by_model
        reads = {
            name: replace(self._read_model_history(problem), model=name)
            for name, problem in self._problem_by_model.items()
            if name not in events_by_model
        }
        if events_by_model or any(read.datasets for read in reads.values()):
            for name, read in reads.items():
                events_by_model[name] = read
                self._state.consume(read)
                yield read
        return events_by_model

    def _read_model_history(self, problem: Problem) -> HistoryRead:
        # Of a history that is not learned from, only the warm starts are read and recorded.
        read = self._run_history.read(problem)
        return read if problem.strategy.uses_history else warm_start_history(read, problem)

    def _model_trial(self, event: TrialFinished) -> tuple[str, TrialFinished]:
        # The estimate of a trial that was ended early is no score to learn from.
        name, model_setting = split_model_setting(event.setting)
        return "" if event.behind else name, event.with_fields(setting=model_setting)

    def _before_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        max_rows = screening_row_count(feature_count(self._problem.dataset))
        tasks = deque(self._study.pending_screenings(max_rows))
        fit_rows = len(self._problem.splits[0][0])
        task_by_number: dict[int, ScreeningTask] = {}
        while tasks or executor.running:
            while tasks and executor.free_slots > 0:
                task = tasks.popleft()
                limit = self._study.screening_limit(task, self._screening_seconds)
                if limit > 0:
                    number = -1 - len(task_by_number)  # below 0, as screenings are no trials
                    task_by_number[number] = task
                    request = TrialRequest(number, task.setting, screening_rows=task.rows)
                    executor.submit_request(request, limit)
            for outcome in executor.wait_for_results(BEAT_SECONDS) if executor.running else ():
                self._load.add(outcome)
                event = _screening_event(task_by_number[outcome.number], outcome, fit_rows)
                self._study.add_screening(event)
                self._state.consume(event)
                yield event
            yield from executor.worker_updates()
            seconds = self._remaining_seconds
            seconds_left = seconds if seconds < math.inf else None
            yield self._state.progress(seconds_left, self._kept_seconds, executor.memory)

    @property
    def time_limit(self) -> float | None:
        planned_limit, minutes = self._problem.plan.time_limit, self._problem.minutes
        if planned_limit is not None or minutes is None:
            return planned_limit
        # A share of the minutes, or a multiple of what this very trial should take; longer where
        # other programs take the processor.
        limit = max(LIMIT_SHARE * 60 * minutes, LIMIT_FACTOR * self._study.expected_seconds)
        least = MIN_LIMIT_SECONDS if self._state.finished else FIRST_SECONDS / 2
        return max(least, limit) * self._load.stretch

    @property
    def _time_is_up(self) -> bool:
        # Without a score yet the quickest models are tried on.
        return super()._time_is_up and not self._waits_for_first

    @property
    def _screening_seconds(self) -> float:
        minutes = self._problem.minutes
        if minutes is None:
            return MAX_SCREENING_SECONDS
        seconds = SCREENING_SHARE * 60 * minutes
        least = min(MIN_SCREENING_SECONDS, SHORT_SCREENING_SHARE * 60 * minutes)
        seconds = max(least, min(MAX_SCREENING_SECONDS, seconds))
        return seconds * self._load.stretch

    @cached_property
    def _load(self) -> MachineLoad:
        return MachineLoad()

    @cached_property
    def _seconds_before(self) -> float:
        # Of earlier parts of a resumed run: read once, before this part has taken any.
        return self._clock.seconds

    @property
    def _budget_seconds(self) -> float:
        """The run's seconds by the clock, of which a busy machine stretches those to come."""
        minutes = self._problem.minutes
        if minutes is None:
            return math.inf
        seconds_to_come = max(0.0, 60 * minutes - self._seconds_before)
        return self._seconds_before + seconds_to_come * self._load.stretch

    @property
    def _remaining_seconds(self) -> float:
        budget = self._budget_seconds
        if budget == math.inf:
            return budget
        return max(0.0, budget - (self._kept_seconds or 0.0) - self._clock.seconds)

    @property
    def _kept_seconds(self) -> float | None:
        budget = self._budget_seconds
        if budget == math.inf:
            return None
        # The end has seconds of its own, or the last refits would run over the minutes.
        return min(ending_seconds(self._problem, self._state), MAX_ENDING_SHARE * budget)

    @property
    def _time_reason(self) -> str:
        stretch = self._load.stretch
        if stretch == 1.0:
            return super()._time_reason
        return f"{super()._time_reason}, {stretch:.1f} times as long on this busy machine"

    def _patience_is_spent(self, executor: TrialExecutor) -> bool:
        # A hundred quick trials are soon spent, while dear models have not had their turn.
        if not super()._patience_is_spent(executor):
            return False
        best, minutes = self._state.best_trial, self._problem.minutes
        if minutes is None or self._problem.plan.patience is not None or best is None:
            return True
        waited = self._clock.seconds - best.ended
        return waited >= PATIENCE_SHARE * 60 * minutes and not self._study.has_untried_models

    def _start_trial(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        minutes, total = self._problem.minutes, self._state.total
        time_share = 1.0 if minutes is None else self._remaining_seconds / self._budget_seconds
        trial_share = 1.0 - self._state.done_count / total if total else 1.0
        started = self._study.ask(self._remaining_seconds, max(0.0, min(time_share, trial_share)))
        compared = self._study.compared
        self._state.consume(compared)
        yield compared
        if (surrogate := self._study.surrogate()) is not None:
            self._state.consume(surrogate)
            yield surrogate
        incumbent = self._study.incumbent_of(started, WHOLE_SHARE * self._remaining_seconds)
        request = TrialRequest(started.number, started.setting, incumbent)
        executor.submit_request(request, self.time_limit)  # by what this very trial should take
        self._state.consume(started)
        yield started

    def _report_result(self, outcome: TrialResult) -> Generator[Event, None, None]:
        self._load.add(outcome)
        yield from super()._report_result(outcome)

    def _after_trials(self) -> Generator[Event, None, None]:
        # The average of the end, where trials have ended since the last one.
        if self.ensemble is not None:
            for event in self.ensemble.updates(last=True):
                self._state.consume(event)
                yield event


def screening_row_count(columns: int) -> int:
    """Rows to fit a screening on, and to score it on, at most."""
    rows = int(MAX_SCREENING_VALUES / max(1, columns))
    return max(MIN_SCREENING_ROWS, min(MAX_SCREENING_ROWS, rows))


def _screening_event(task: ScreeningTask, outcome: TrialResult, fit_rows: int) -> ModelScreened:
    # A fold may have fewer rows than the screening asked for.
    return ModelScreened(
        model=task.model,
        setting=task.setting,
        score=None if outcome.failure else outcome.score,
        rows=min(task.rows, fit_rows),
        took=round(outcome.took, 4),
        failure=outcome.failure,
        reason=task.reason,
    )


def trial_run(problem: Problem, *arguments: Any) -> TrialRun:
    """The run of trials of a problem; arguments as `TrialRun` takes them."""
    return (RaceRun if problem.strategy.several else TrialRun)(problem, *arguments)
