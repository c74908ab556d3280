"""Runs of trials: ask the sampler, evaluate in other processes, tell, report."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import optuna
from optuna.study import StudyDirection
from optuna.trial import TrialState

from core.errors import UnusableError
from core.samplers.bayes import EFFECTIVE
from core.samplers.search_space import distributions
from core.samplers.transfer.history import TuningHistory
from core.space import Setting
from core.tuning.averaging.ensemble import SettingEnsemble
from core.tuning.events import (
    Event,
    JointSurfaceFitted,
    RemarkMade,
    SettingRequested,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.history.run_history import (
    RunHistory,
    history_of,
    read_before,
    settings_in,
    warm_start_history,
)
from core.tuning.patience import is_spent, stop_reason
from core.tuning.problem import Problem
from core.tuning.ranges import setting_of
from core.tuning.runs.run_clock import ABANDONED, RunClock, time_is_up
from core.tuning.runs.state import RunState
from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.asked_settings import AskedSettings
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor

optuna.logging.set_verbosity(optuna.logging.WARNING)


class AskTellStudy:
    """A strategy's sampler in a study in memory, resumed by repeating its asks and tells.

    The first trial is the default setting; a strategy with a history starts from that instead, and
    tries the default second, unless `default_first`. Then come the `starts`, of which `starts_are`
    is the reason: "start", or "past" for the best of earlier datasets.
    """

    def __init__(
        self,
        problem: Problem,
        history: TuningHistory,
        starts: Sequence[Setting] = (),
        *,
        starts_are: str = "start",
        default_first: bool = False,
    ) -> None:
        self._problem, self._history, self._starts = problem, history, starts
        self._default_first, self._starts_are = default_first, starts_are
        self._space = distributions(problem.space)
        self._open: dict[int, optuna.Trial | int] = {}
        self._requests: deque[Setting] = deque()
        self._compared = False
        self._start_study()

    def _start_study(self, *, anew: bool = True) -> None:
        problem = self._problem
        seed = problem.plan.seed
        self.sampler = problem.strategy.make(problem.space, problem.options, seed, self._history)
        self.sampler.limits = problem.scored_by.score_limits
        minimize, maximize = StudyDirection.MINIMIZE, StudyDirection.MAXIMIZE
        direction = maximize if problem.scored_by.maximize else minimize
        self._study = optuna.create_study(sampler=self.sampler, direction=direction)
        self._asked = AskedSettings(problem.space, problem.model.simplex)
        if anew and self._from_default:
            for setting in (problem.default, *self._starts):
                self._study.enqueue_trial(setting, skip_if_exists=True)

    @property
    def _from_default(self) -> bool:
        learns = self._problem.strategy.uses_history and bool(self._history.datasets)
        return self._default_first or not learns

    @property
    def _compares(self) -> bool:
        if self._from_default or self._compared:
            return False
        self._compared = len(self._study.get_trials(deepcopy=False)) > 0
        return self._compared and self._problem.default not in self._asked

    def request_setting(self, setting: Setting) -> None:
        """Queue a setting that a person wants, which follows the starts; UnusableError if tried."""
        if setting in self._asked:
            raise UnusableError("this setting was tried already", cure="change a value")
        self._requests.append(setting)

    @property
    def has_requests(self) -> bool:
        return bool(self._requests)

    def _enqueue_request(self) -> bool:
        # The default and the starts, which are enqueued too, come first.
        waiting = self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,))
        # Asked for twice before its turn, it is tried once.
        while self._requests and self._requests[0] in self._asked:
            self._requests.popleft()
        if not self._requests or waiting:
            return False
        self._study.enqueue_trial(self._requests.popleft())
        return True

    def ask(self) -> TrialStarted:
        # After a first trial from the history, which has to show that it beats the default.
        is_comparison = self._compares
        if is_comparison:
            self._study.enqueue_trial(self._problem.default)
        is_requested = not is_comparison and self._enqueue_request()
        trial = self._study.ask(self._space)
        self._open[trial.number] = trial
        setting = self._new_setting(trial)
        default = is_comparison or (trial.number == 0 and self._from_default)
        # The sampler notes its reason in the trial; default, starts and wishes are ours.
        why: dict[str, Any] = trial.user_attrs
        if default:
            why = {"reason": "default"}
        elif is_requested:
            why = {"reason": "hand"}
        elif setting in self._starts:
            why = {"reason": self._starts_are}
        elif setting != trial.params:  # what the sampler expects is not of this setting
            why = {"reason": why.get("reason", self._problem.strategy.name)}
        return TrialStarted(
            number=trial.number,
            setting=setting,
            reason=why.get("reason", self._problem.strategy.name),
            expected=why.get("expected"),
            uncertainty=why.get("uncertainty"),
            candidates=why.get(EFFECTIVE),
        )

    def _new_setting(self, trial: optuna.Trial) -> Setting:
        setting = dict(trial.params)
        if setting in self._asked and not self._asked.is_spent:
            random = np.random.default_rng([self._problem.plan.seed, trial.number])
            setting = self._asked.nearest_new(setting, random)
            for name, kind in self._space.items():
                value = kind.to_internal_repr(setting[name])
                self._study._storage.set_trial_param(trial._trial_id, name, value, kind)
        self._asked.add_setting(setting)
        return setting

    def tell(self, outcome: TrialResult) -> None:
        trial = self._open.pop(outcome.number)
        if outcome.failure:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, outcome.score)

    @property
    def exhausted_reason(self) -> str:
        """Why the sampler proposes nothing more; "" while it does."""
        if self._asked.is_spent:
            return "every setting has been tried"
        return str(getattr(self.sampler, "finished_reason", "") or "")

    def surrogate(self) -> SurrogateFitted | JointSurfaceFitted | None:
        if (common := getattr(self.sampler, "state", None)) is not None:
            return JointSurfaceFitted(**asdict(common))
        surrogate = getattr(self.sampler, "surrogate", None)
        return None if surrogate is None else SurrogateFitted(**asdict(surrogate))

    def replay_trials(self, past: Sequence[Event]) -> None:
        for event in past:
            match event:
                case TrialStarted():
                    if event.number in self._open:
                        continue  # restarted by an earlier resume
                    if self.ask().setting != event.setting:
                        # Another version of a library proposes otherwise: the sampler is given the
                        # recorded trials.
                        self._adopt_recorded(past)
                        return
                case TrialFinished():
                    self.tell(TrialResult(event.number, event.setting, (event.score,)))
                case TrialFailed():
                    self.tell(TrialResult(event.number, event.setting, failure=event.reason))
                case SettingRequested():
                    with contextlib.suppress(UnusableError):  # an earlier version took it twice
                        self.request_setting(event.setting)

    def _adopt_recorded(self, past: Sequence[Event]) -> None:
        self._open, self._requests, self._compared = {}, deque(), True
        self._start_study(anew=False)  # the default setting is among the recorded ones
        end_events = {e.number: e for e in past if isinstance(e, (TrialFinished, TrialFailed))}
        start_events = {e.number: e for e in past if isinstance(e, TrialStarted)}
        for index, number in enumerate(sorted(start_events)):
            score = getattr(end_events.get(number), "score", None)
            state = TrialState.FAIL if score is None else TrialState.COMPLETE
            if number not in end_events:  # it is restarted
                state, self._open[number] = TrialState.RUNNING, index
            setting = start_events[number].setting
            trial = optuna.trial.create_trial(
                params=setting, distributions=self._space, value=score, state=state
            )
            self._study.add_trial(trial)
            self._asked.add_setting(setting)
        settings = [event.setting for event in past if isinstance(event, SettingRequested)]
        used_count = sum(event.reason == "hand" for event in start_events.values())
        self._requests.extend(settings[used_count:])


BEAT_SECONDS = 0.4  # between events at most while trials run, so that a stop takes effect
MAX_TRIALS = 100_000  # where only time bounds the run
FIRST_SECONDS = 60.0  # beyond its time, that a run waits for its first score
LIMIT_SHARE = 0.25  # of the run's minutes that a trial may take by default


class TrialRun:
    """A run of trials of one model."""

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
        """None: no penalties are learned here."""

    def _make_ensemble(self, planned: int) -> Any:
        return SettingEnsemble(self._problem, planned)

    def _make_study(self, history: Any) -> Any:
        return AskTellStudy(self._problem, history, self._warm_starts, starts_are="past")

    def events(self, past: Sequence[Event]) -> Generator[Event, None, None]:
        """Every trial until the budget is spent or the sampler proposes nothing more."""
        self._restore_history(past)
        history = yield from self._read_history(past)
        self._warm_starts = yield from self._read_warm_starts(past)
        yield from self._run_history.notices()
        self._study = self._make_study(history)
        self._study.replay_trials(past)
        missing_settings = self.ensemble.replay_events(past) if self.ensemble is not None else {}
        job = self._problem.scoring_job()
        new_executor = self._make_executor(job, self._problem.workers, self.time_limit)
        # The executor has its own copy of the folds.
        del job
        with contextlib.closing(new_executor) as executor:
            yield from self._repeat_predictions(executor, missing_settings)
            yield from self._before_trials(executor)
            # What ran when an earlier part was interrupted is started again.
            for trial in list(self._state.pending.values()):
                executor.submit(trial.number, trial.setting)
            yield from self._run_trials(executor)
        yield from self._after_trials()

    def _run_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        while True:
            yield from self._handle_requests()
            while executor.free_slots > 0 and self._may_ask(executor):
                yield from self._start_trial(executor)
            if not executor.running:
                return
            yield from self._collect_results(executor)
            if self._time_is_up and not self._waits_for_first:
                yield from self._abandon_trials()
                return

    @property
    def time_limit(self) -> float | None:
        """Seconds that a trial may take: as planned, or a share of the run's minutes."""
        planned_limit, minutes = self._problem.plan.time_limit, self._problem.minutes
        if planned_limit is not None or minutes is None or not self._state.finished:
            return planned_limit
        # The first trial may take all the time; later ones three times the mean so far, or a share.
        return max(LIMIT_SHARE * 60 * minutes, 3.0 * self._state.took / self._state.finished)

    def _before_trials(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        yield from ()

    def _after_trials(self) -> Generator[Event, None, None]:
        yield from ()

    def _repeat_predictions(
        self, executor: TrialExecutor, missing_settings: Mapping[int, Setting]
    ) -> Generator[Event, None, None]:
        # Held-out predictions are not in the run folder: those of the best are made again.
        trials = deque(missing_settings.items())
        while self.ensemble is not None and (trials or executor.running):
            if self._time_is_up:
                trials.clear()
            while trials and executor.free_slots > 0:
                executor.submit(*trials.popleft())
            for outcome in executor.wait_for_results(BEAT_SECONDS):
                self.ensemble.add_recorded(outcome)
            yield self._state.progress(None)

    def _read_history(self, past: Sequence[Event]) -> Generator[Event, None, Any]:
        if not self._problem.strategy.uses_history:
            return TuningHistory()
        read = next(iter(read_before(past)), None)
        if read is None:
            read = self._run_history.read()
            yield read
        return history_of(read, self._problem.model.simplex)

    def _read_warm_starts(self, past: Sequence[Event]) -> Generator[Event, None, list[Setting]]:
        if not self._problem.warm_start_datasets or self._problem.strategy.uses_history:
            return []
        read = next(iter(read_before(past)), None)
        if read is None:
            # A run that began without them goes on without.
            if any(isinstance(event, TrialStarted) for event in past):
                return []
            count = self._problem.warm_start_datasets
            read = warm_start_history(self._run_history.read(), self._problem, count)
            yield read
        return settings_in(read)

    @property
    def _problem_by_model(self) -> Mapping[str, Problem]:
        return {self._problem.model.name: self._problem}

    def _model_trial(self, event: TrialFinished) -> tuple[str, TrialFinished]:
        return self._problem.model.name, event

    def _restore_history(self, past: Sequence[Event]) -> None:
        # A kill may have come between a row and the event, a power failure after the event.
        model_trials = [self._model_trial(e) for e in past if isinstance(e, TrialFinished)]
        for name, problem in self._problem_by_model.items() if past else ():
            trials = [trial for model, trial in model_trials if model == name]
            self._run_history.restore_trials(problem, trials)

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

    def _start_trial(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        started = self._study.ask()
        # The surface behind a proposal is shown before its trial.
        if started.reason != "default" and (surrogate := self._study.surrogate()) is not None:
            yield surrogate
        executor.submit_request(TrialRequest(started.number, started.setting))
        self._state.consume(started)
        yield started

    def _may_ask(self, executor: TrialExecutor) -> bool:
        state = self._state
        started_count = state.done_count + executor.running
        # A setting that a person wants comes beyond every budget.
        if self._study.has_requests:
            self.because = ""
        elif started_count >= (state.total or MAX_TRIALS):
            self.because = f"the budget of {state.total} trials was spent"
        elif self._time_is_up and started_count > 0:
            self.because = self._time_reason
        elif self._patience_is_spent(executor):
            self.because = stop_reason(state)
        elif started_count > 0:  # the first trial runs in any case
            self.because = self._study.exhausted_reason
        return not self.because

    def _patience_is_spent(self, executor: TrialExecutor) -> bool:
        return is_spent(self._problem.plan, self._state, executor.workers)

    @property
    def _time_is_up(self) -> bool:
        return self._remaining_seconds <= 0

    @property
    def _time_reason(self) -> str:
        return time_is_up(self._problem.plan.minutes or 0.0)

    @property
    def _remaining_seconds(self) -> float:
        """Until the last trial must have ended; infinite without a limit."""
        minutes = self._problem.minutes
        return math.inf if minutes is None else max(0.0, 60 * minutes - self._clock.seconds)

    @property
    def _kept_seconds(self) -> float | None:
        return None

    @property
    def _waits_for_first(self) -> bool:
        """Whether a run that is shorter than its first trial may go on until that has ended."""
        minutes = self._problem.minutes or 0.0
        return not self._state.finished and self._clock.seconds < 60 * minutes + FIRST_SECONDS

    def _collect_results(self, executor: TrialExecutor) -> Generator[Event, None, None]:
        for outcome in executor.wait_for_results(BEAT_SECONDS):
            self._study.tell(outcome)
            event = trial_event(outcome, len(self._problem.splits))
            self._state.consume(event)
            # The limit follows the mean time of the trials so far.
            executor.limit = self.time_limit
            if isinstance(event, TrialFinished):
                name, trial = self._model_trial(event)
                if name in self._problem_by_model:
                    self._run_history.record_trial(self._problem_by_model[name], trial)
            yield event
            yield from self._report_result(outcome)
            yield from self._run_history.notices()
        yield from executor.worker_updates()
        seconds = self._seconds_left(executor)
        yield self._state.progress(seconds, self._kept_seconds, executor.memory)

    def _report_result(self, outcome: TrialResult) -> Generator[Event, None, None]:
        if outcome.failure:
            return
        best = self._state.best_trial
        if outcome.display_event is not None and best is not None and best.number == outcome.number:
            yield outcome.display_event
        if self.ensemble is not None:
            self.ensemble.add(outcome)
            yield from self._update_ensemble(self.ensemble)

    def _abandon_trials(self) -> Generator[Event, None, None]:
        self.because = self._time_reason
        for trial in list(self._state.pending.values()):
            failed = TrialFailed(number=trial.number, setting=trial.setting, reason=ABANDONED)
            self._state.consume(failed)
            yield failed

    def _seconds_left(self, executor: TrialExecutor) -> float | None:
        # Time may end the run, or the budget of trials: what comes first.
        state, seconds_left = self._state, [self._remaining_seconds]
        if state.total and state.finished:
            mean = state.took / state.finished
            seconds_left.append(mean * max(0, state.total - state.done_count) / executor.workers)
        return min(seconds_left) if min(seconds_left) < math.inf else None


def trial_event(outcome: TrialResult, folds: int) -> TrialFinished | TrialFailed:
    """The result of a trial as an event."""
    number, setting, took = outcome.number, outcome.setting, round(outcome.took, 4)
    if outcome.failure:
        return TrialFailed(number=number, setting=setting, reason=outcome.failure, took=took)
    return TrialFinished(
        number=number,
        setting=setting,
        score=outcome.score,
        fold_scores=list(outcome.fold_scores),
        took=took,
        fits=folds if outcome.estimate is None else len(outcome.fold_scores),
        behind=outcome.estimate is not None,
    )
