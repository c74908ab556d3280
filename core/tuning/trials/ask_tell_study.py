"""The ask-and-tell interface to a strategy's sampler."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import optuna
from optuna.study import StudyDirection
from optuna.trial import TrialState

from core.samplers.eb_hyp import EFFECTIVE
from core.samplers.search_space import distributions
from core.samplers.transfer.history import TuningHistory
from core.space import Setting
from core.tuning.events import (
    Event,
    JointSurfaceFitted,
    SettingRequested,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.problem import Problem
from core.tuning.scores.scoring import TrialResult

optuna.logging.set_verbosity(optuna.logging.WARNING)


class AskTellStudy:
    """A strategy's sampler in a study in memory, resumed by repeating its asks and tells.

    The first trial is the default setting; a strategy with a history starts from that instead, and
    tries the default second.

    Args:
        problem: of one model.
        history: of earlier datasets.
        starts: settings that are tried after the default, before the sampler is asked.
        starts_are: their reason: "start", or "past" for the best of earlier datasets.
        default_first: whether the default setting comes first whatever the history.
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
        minimize, maximize = StudyDirection.MINIMIZE, StudyDirection.MAXIMIZE
        direction = maximize if problem.scored_by.maximize else minimize
        self._study = optuna.create_study(sampler=self.sampler, direction=direction)
        if anew and self._from_default:
            self._study.enqueue_trial(problem.default)
            for setting in self._starts:
                self._study.enqueue_trial(setting)

    @property
    def _from_default(self) -> bool:
        learns = self._problem.strategy.uses_history and bool(self._history.datasets)
        return self._default_first or not learns

    @property
    def _compares(self) -> bool:
        """Whether the next trial is the default setting, after a first one from the history."""
        if self._from_default or self._compared:
            return False
        trials = self._study.get_trials(deepcopy=False)
        self._compared = len(trials) > 0
        return self._compared and self._problem.default not in [trial.params for trial in trials]

    def request_setting(self, setting: Setting) -> None:
        """Queue a setting that a person wants; it follows the default and the starts."""
        self._requests.append(setting)

    @property
    def has_requests(self) -> bool:
        """Whether a requested setting is waiting."""
        return bool(self._requests)

    def _enqueue_request(self) -> bool:
        """Enqueue the next requested setting."""
        waiting = self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,))
        if not self._requests or waiting:
            return False
        self._study.enqueue_trial(self._requests.popleft())
        return True

    def ask(self) -> TrialStarted:
        """The next setting to try, and why."""
        is_comparison = self._compares
        if is_comparison:
            self._study.enqueue_trial(self._problem.default)
        is_requested = not is_comparison and self._enqueue_request()
        trial = self._study.ask(self._space)
        self._open[trial.number] = trial
        default = is_comparison or (trial.number == 0 and self._from_default)
        why: dict[str, Any] = {"reason": "default"} if default else trial.user_attrs
        if self._is_start(trial):
            why = {"reason": self._starts_are}
        if is_requested:
            why = {"reason": "hand"}
        return TrialStarted(
            number=trial.number,
            setting=dict(trial.params),
            reason=why.get("reason", self._problem.strategy.name),
            expected=why.get("expected"),
            uncertainty=why.get("uncertainty"),
            candidates=why.get(EFFECTIVE),
        )

    def _is_start(self, trial: optuna.Trial) -> bool:
        index = trial.number - 1
        return 0 <= index < len(self._starts) and trial.params == self._starts[index]

    def tell(self, outcome: TrialResult) -> None:
        """Add the result of a trial."""
        trial = self._open.pop(outcome.number)
        if outcome.failure:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, outcome.score)

    @property
    def exhausted_reason(self) -> str:
        """Why the sampler proposes nothing more; "" while it does."""
        return str(getattr(self.sampler, "finished_reason", "") or "")

    def surrogate(self) -> SurrogateFitted | JointSurfaceFitted | None:
        """The Gaussian process behind the last proposal, for strategies that have one."""
        if (common := getattr(self.sampler, "state", None)) is not None:
            return JointSurfaceFitted(**asdict(common))
        surrogate = getattr(self.sampler, "surrogate", None)
        return None if surrogate is None else SurrogateFitted(**asdict(surrogate))

    def replay_trials(self, past: Sequence[Event]) -> None:
        """Ask and tell again what was recorded of this run.

        Where a proposal differs (another version of a library), the sampler gets the recorded
        trials.
        """
        for event in past:
            match event:
                case TrialStarted():
                    if event.number in self._open:
                        continue  # restarted by an earlier resume
                    if self.ask().setting != event.setting:
                        self._adopt_recorded(past)
                        return
                case TrialFinished():
                    self.tell(TrialResult(event.number, event.setting, (event.score,)))
                case TrialFailed():
                    self.tell(TrialResult(event.number, event.setting, failure=event.reason))
                case SettingRequested():
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
        settings = [event.setting for event in past if isinstance(event, SettingRequested)]
        used_count = sum(event.reason == "hand" for event in start_events.values())
        self._requests.extend(settings[used_count:])
