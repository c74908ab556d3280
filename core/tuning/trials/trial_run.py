"""Runs of trials: ask the sampler, evaluate in other processes, tell, report."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from core.errors import UnusableError
from core.samplers.transfer.history import TuningHistory
from core.space import Setting
from core.tuning.averaging.ensemble import SettingEnsemble
from core.tuning.events import (
    Event,
    RemarkMade,
    SettingRequested,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.history.run_history import RunHistory, history_of, read_before
from core.tuning.history.warm_start import settings_in, warm_start_history
from core.tuning.patience import is_spent, stop_reason
from core.tuning.problem import Problem
from core.tuning.ranges import setting_of
from core.tuning.runs.run_clock import RunClock, time_is_up
from core.tuning.runs.state import RunState
from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.ask_tell_study import AskTellStudy
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor

BEAT = 0.4  # seconds: how long nothing is said while trials run, so that a stop is heard
MAX_TRIALS = 100_000  # where only time bounds the run
LONGEST = 0.25  # of the minutes: what one trial may take, where nobody set a limit


class TrialRun:
    """The generator's state: what is asked, what runs, and how much budget is left."""

    def __init__(
        self,
        problem: Problem,
        state: RunState,
        clock: RunClock,
        requests: deque[Event],
        run_history: RunHistory,
        executor: Callable[..., TrialExecutor] = ProcessExecutor,
    ) -> None:
        self._problem, self._state, self._clock = problem, state, clock
        self._requests, self._run_history = requests, run_history
        self._make_executor = executor
        self.because = ""
        self.groups: dict[str, int] = {}  # penalties are not learned here
        planned = max(problem.total, state.total)
        self.ensemble: Any = self._make_ensemble(planned) if problem.averages else None

    def taken_learned(self) -> None:
        """Nothing: penalties are not learned here."""

    def _make_ensemble(self, planned: int) -> Any:
        return SettingEnsemble(self._problem, planned)

    def _make_study(self, history: Any) -> Any:
        return AskTellStudy(self._problem, history, self._warm_starts, starts_are="past")

    def events(self, past: Sequence[Event]) -> Generator[Event, None, None]:
        """Every trial until the budget is spent or the sampler has nothing more to propose."""
        history = yield from self._read_history(past)
        self._warm_starts = yield from self._read_warm_starts(past)
        yield from self._run_history.notices()
        self._study = self._make_study(history)
        self._study.replay_trials(past)
        lacking = self.ensemble.replay_events(past) if self.ensemble is not None else {}
        plan = self._problem.plan
        with contextlib.closing(
            self._make_executor(self._problem.scoring_job(), plan.workers, self.time_limit)
        ) as executor:
            yield from self._repeat_predictions(executor, lacking)
            yield from self._before_trials(executor)
            for lost in list(self._state.pending.values()):
                executor.submit(lost.number, lost.setting)
            yield from self._run_trials(executor)
        yield from self._after_trials()

    def _run_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        while True:
            yield from self._handle_requests()
            yield from self._start_trials(executor)
            if not executor.running:
                return
            yield from self._collect_results(executor)
            if self._gives_up:
                yield from self._abandon_trials()
                return

    @property
    def time_limit(self) -> float | None:
        """Seconds that a trial may take: as planned, or a share of the run's minutes.

        Without a plan the first trial may take all the time there is, and later ones three times
        as long as those before.
        """
        planned_limit, minutes, state = (
            self._problem.plan.time_limit,
            self._problem.minutes,
            self._state,
        )
        if planned_limit is not None or minutes is None or not state.finished:
            return planned_limit
        return max(LONGEST * 60 * minutes, 3.0 * state.took / state.finished)

    def _before_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        yield from ()

    def _after_trials(self) -> Generator[Event, None, None]:
        yield from ()

    def _repeat_predictions(
        self, executor: TrialExecutor, lacking: Mapping[int, Setting]
    ) -> Generator[Event, None, None]:
        """The best trials of before are fitted again, for what they say about held-out rows."""
        waiting = deque(lacking.items())
        while self.ensemble is not None and (waiting or executor.running):
            if self._time_is_up:
                waiting.clear()
            while waiting and executor.free_slots > 0:
                executor.submit(*waiting.popleft())
            for outcome in executor.wait_for_results(BEAT):
                self.ensemble.add_recorded(outcome)
            yield self._state.progress(None)

    def _read_history(self, past: Sequence[Event]) -> Generator[Event, None, Any]:
        """What the sampler is told of earlier datasets; a resumed run is told the same again."""
        for event in past:
            if isinstance(event, TrialFinished):
                self._record_trial(event, past=True)  # a kill may have come between
        if not self._problem.strategy.uses_history:
            return TuningHistory()
        read = next(iter(read_before(past)), None)
        if read is None:
            read = self._run_history.read()
            yield read
        return history_of(read, self._problem.model.simplex)

    def _read_warm_starts(self, past: Sequence[Event]) -> Generator[Event, None, list[Setting]]:
        """Settings of earlier datasets that come after the default; a resumed run has its own."""
        if not self._problem.warm_start_datasets or self._problem.strategy.uses_history:
            return []
        read = next(iter(read_before(past)), None)
        if read is None:
            if any(isinstance(event, TrialStarted) for event in past):
                return []  # it began without
            read = warm_start_history(
                self._run_history.read(), self._problem, self._problem.warm_start_datasets
            )
            yield read
        return settings_in(read)

    def _record_trial(self, event: TrialFinished, *, past: bool = False) -> None:
        """Leave a trial in the history; `past`: it ended in an earlier part of the run."""
        self._run_history.record_trial(event)

    def _handle_requests(self) -> Generator[Event, None, None]:
        while self._requests:
            event = self._requests.popleft()
            if isinstance(event, SettingRequested) and (why := self._request_refusal(event)):
                event = RemarkMade(sentence=why)
            self._state.consume(event)
            yield event
            if self.ensemble is not None and isinstance(event, TrialExcluded):
                self.ensemble.exclude(event)
                yield from self._update_ensemble(self.ensemble)

    def _request_refusal(self, event: SettingRequested) -> str:
        """Hand a setting that a person wants to the asker; why that cannot be, or ""."""
        if self._problem.strategy.several:
            return "A run of several models tries no settings that are entered by hand."
        try:
            self._study.request_setting(setting_of(self._problem.space, event.setting))
        except UnusableError as error:
            return error.sentence
        return ""

    def _update_ensemble(self, ensemble: SettingEnsemble) -> Generator[Event, None, None]:
        for event in ensemble.updates():
            self._state.consume(event)
            yield event

    def _start_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        while executor.free_slots > 0 and self._may_ask(executor):
            yield from self._start_trial(executor)

    def _start_trial(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        """One more trial begins."""
        started = self._study.ask()
        if started.reason != "default" and (surrogate := self._study.surrogate()) is not None:
            yield surrogate
        executor.submit_request(TrialRequest(started.number, started.setting))
        self._state.consume(started)
        yield started

    def _may_ask(self, executor: TrialExecutor) -> bool:
        state = self._state
        begun = state.done_count + executor.running
        if self._study.has_requests:
            self.because = ""
        elif begun >= (state.total or MAX_TRIALS):
            self.because = f"the budget of {state.total} trials was spent"
        elif self._time_is_up and begun > 0:
            self.because = time_is_up(self._problem.plan.minutes or 0.0)
        elif is_spent(self._problem.plan, state, executor.workers):
            self.because = stop_reason(state)
        elif begun > 0:
            # The first trial comes, whatever the sampler thinks of the space.
            self.because = self._study.exhausted_reason
        return not self.because

    @property
    def _time_is_up(self) -> bool:
        minutes = self._problem.minutes
        return minutes is not None and self._clock.seconds >= 60 * minutes

    @property
    def _gives_up(self) -> bool:
        """Whether nobody waits for the trials that are under way."""
        return self._time_is_up

    def _collect_results(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        for outcome in executor.wait_for_results(BEAT):
            self._study.tell(outcome)
            event = trial_event(outcome, len(self._problem.splits))
            self._state.consume(event)
            executor.limit = self.time_limit
            if isinstance(event, TrialFinished):
                self._record_trial(event)
            yield event
            yield from self._report_result(outcome)
            yield from self._run_history.notices()
        yield from executor.worker_updates()
        yield self._state.progress(self._seconds_left(executor))

    def _report_result(self, outcome: TrialResult) -> Generator[Event, None, None]:
        """What a finished trial means for the average, and what its model shows if it is best."""
        if outcome.failure:
            return
        best = self._state.best_trial
        if outcome.display_event is not None and best is not None and best.number == outcome.number:
            yield outcome.display_event
        if self.ensemble is not None:
            self.ensemble.add(outcome)
            yield from self._update_ensemble(self.ensemble)

    def _abandon_trials(self) -> Generator[Event, None, None]:
        self.because = time_is_up(self._problem.plan.minutes or 0.0)
        for lost in list(self._state.pending.values()):
            failed = TrialFailed(
                number=lost.number, setting=lost.setting, reason="The time of the run was up."
            )
            self._state.consume(failed)
            yield failed

    def _seconds_left(self, executor: TrialExecutor) -> float | None:
        state, minutes = self._state, self._problem.minutes
        seconds_left = []
        if minutes is not None:
            seconds_left.append(60 * minutes - self._clock.seconds)
        if state.total and state.finished:
            mean = state.took / state.finished
            seconds_left.append(mean * max(0, state.total - state.done_count) / executor.workers)
        return max(0.0, min(seconds_left)) if seconds_left else None


def trial_event(outcome: TrialResult, folds: int) -> TrialFinished | TrialFailed:
    """What became of a trial, as an event."""
    if outcome.failure:
        return TrialFailed(
            number=outcome.number,
            setting=outcome.setting,
            reason=outcome.failure,
            took=round(outcome.took, 4),
        )
    return TrialFinished(
        number=outcome.number,
        setting=outcome.setting,
        score=outcome.score,
        fold_scores=list(outcome.fold_scores),
        took=round(outcome.took, 4),
        fits=folds if outcome.estimate is None else len(outcome.fold_scores),
        behind=outcome.estimate is not None,
    )
