"""How a run stands, from its events alone: best, default, what failed, what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from core.tuning.events import (
    EnsembleUpdated,
    Event,
    HyperGradientStep,
    PenaltyStep,
    Progress,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)

Step = PenaltyStep | HyperGradientStep


@dataclass
class Standing:
    """The state that the events so far add up to; the same for a live, resumed or replayed run.

    Attributes:
        started: the first event; None before it.
        trials: the finished trials by number. failed: the failed ones.
        pending: trials that were started and have not ended, by number.
        excluded: numbers that a person took out of the competition.
        steps: the penalty learner's steps in order.
        ensemble: the members of the average and their weights; None where nothing is averaged.
        total: how many trials or steps there will be at most; 0 where only time bounds them.
        seconds: of work so far.
    """

    started: RunStarted | None = None
    trials: dict[int, TrialFinished] = field(default_factory=dict)
    failed: dict[int, TrialFailed] = field(default_factory=dict)
    pending: dict[int, TrialStarted] = field(default_factory=dict)
    excluded: set[int] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    ensemble: EnsembleUpdated | None = None
    ended: RunFinished | RunStopped | None = None
    total: int = 0
    seconds: float = 0.0
    _default: int | None = None
    _best: int | None = None
    _last_improved: int = 0

    def consume(self, event: Event) -> None:
        """Take one more event into account."""
        self.seconds = max(self.seconds, event.seconds)
        match event:
            case RunStarted():
                self.started, self.total = event, event.total
            case RunResumed():
                self.total, self.ended = event.total, None
            case TrialStarted():
                self.pending[event.number] = event
                if event.reason == "default":
                    self._default = event.number
            case TrialFinished():
                self.pending.pop(event.number, None)
                self.trials[event.number] = event
                self._compete(event)
            case TrialFailed():
                self.pending.pop(event.number, None)
                self.failed[event.number] = event
            case TrialExcluded():
                (self.excluded.add if event.excluded else self.excluded.discard)(event.number)
                self._compete_again()
            case PenaltyStep() | HyperGradientStep():
                self.steps.append(event)
            case EnsembleUpdated():
                self.ensemble = event
            case RunFinished() | RunStopped():
                self.ended = event

    def _compete(self, trial: TrialFinished) -> None:
        if trial.number in self.excluded or not math.isfinite(trial.score):
            return
        if self._best is None or self.better(trial.score, self.trials[self._best].score):
            self._best, self._last_improved = trial.number, len(self.trials)

    def _compete_again(self) -> None:
        trials, self._best, self.trials = self.trials, None, {}
        for number, trial in trials.items():
            self.trials[number] = trial
            self._compete(trial)

    def better(self, score: float, other: float) -> bool:
        """Whether a score beats another in this run's metric."""
        maximize = self.started is None or self.started.maximize
        return score > other if maximize else score < other

    @property
    def best(self) -> TrialFinished | None:
        """The best finished trial that is not excluded."""
        return None if self._best is None else self.trials[self._best]

    @property
    def default(self) -> TrialFinished | None:
        """The default setting's trial: the first, unless that came from the past."""
        return None if self._default is None else self.trials.get(self._default)

    @property
    def done(self) -> int:
        """How many trials or steps have ended."""
        return len(self.trials) + len(self.failed) + len(self.steps)

    @property
    def without_improvement(self) -> int:
        """Finished trials since the best one."""
        return len(self.trials) - self._last_improved if self.trials else 0

    @property
    def fits(self) -> int:
        """Models fitted so far."""
        learned = self.steps[-1].fits if self.steps else 0
        return learned + sum(trial.fits for trial in self.trials.values())

    def progress(self, seconds_left: float | None) -> Progress:
        """The Progress event of this moment."""
        return Progress(
            done=self.done,
            total=self.total,
            seconds_left=seconds_left,
            best=self.best.score if self.best else None,
            default=self.default.score if self.default else None,
            without_improvement=self.without_improvement,
            fits=self.fits,
        )
