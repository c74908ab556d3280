"""One of several models in a run: its own sampler, its trials, and what its next one promises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from core.samplers.transfer.history import TuningHistory
from core.space import Setting, setting_at, unit_vector
from core.tuning.events import (
    Event,
    ModelScreened,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.problem import Problem
from core.tuning.race.allocation import expected_improvement
from core.tuning.race.learned_start import learned_start
from core.tuning.scores.scoring import TrialResult
from core.tuning.trials.ask_tell_study import AskTellStudy

_QUICKEST = 1e-3  # seconds
_NEAR = 0.3  # of the unit cube: trials so near tell most of how long another takes
MAX_FAILURES = 3  # in a row from the start: then a model is given up


@dataclass(frozen=True)
class ScoredTrial:
    """A trial that has ended with a score; larger is better."""

    number: int
    unit: np.ndarray
    score: float
    folds: tuple[float, ...]
    seconds: float
    behind: bool


@dataclass
class ModelArm:
    """One model: it asks its own sampler, and knows what its trials scored and took.

    Attributes:
        problem: the run's, with this model alone.
        sign: 1 where larger scores are better, otherwise −1.
        history: what its strategy knows of earlier datasets, if it learns from them.
        warm_start_settings: settings that were best on earlier datasets, to be looked at.
        default_screening_score: the default setting's score at the screening; −∞ where it failed.
        past_screenings: (setting, score) of the looks at those recalled, likewise.
        default_screening_seconds, screening_rows: of the default setting's look; 0 where there was
            none.
        screening_seconds: seconds that all its looks took.
        failed: why it cannot be used; "" while it can.
    """

    name: str
    problem: Problem
    sign: float
    history: TuningHistory = field(default_factory=TuningHistory)
    warm_start_settings: Sequence[Setting] = ()
    scored_trials: list[ScoredTrial] = field(default_factory=list)
    default_screening_score: float = -math.inf
    past_screenings: list[tuple[Setting, float]] = field(default_factory=list)
    default_screening_seconds: float = 0.0
    screening_rows: int = 0
    screening_seconds: float = 0.0
    failed: str = ""
    failures: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._starts = starts_of(self.problem)
        if (learned := learned_start(self.problem)) is not None and learned not in self._starts:
            self._starts = [learned, *self._starts]
        self._numbers: dict[int, int] = {}  # of the run -> of this model's own study
        self._proposal: TrialStarted | None = None

    @cached_property
    def _own_study(self) -> AskTellStudy:
        """Made when the first trial is asked for: what the looks gave says how it starts."""
        starts = self._starts
        if (best := self.warm_start) is not None:
            starts = [best, *(start for start in starts if start != best)]
        return AskTellStudy(self.problem, self.history, starts, default_first=True)

    # The screening -------------------------------------------------------------------------------

    def add_screening(self, event: ModelScreened) -> None:
        """What a look gave; the setting is this model's own."""
        score = -math.inf if event.score is None else self.sign * event.score
        self.screening_seconds += event.took
        if event.reason == "past":
            self.past_screenings.append((event.setting, score))
            return
        self.default_screening_score = score
        self.screening_rows, self.default_screening_seconds = max(event.rows, 1), event.took

    @property
    def unscreened_settings(self) -> list[Setting]:
        """Settings that were recalled and not looked at."""
        seen = [setting for setting, _ in self.past_screenings]
        return [setting for setting in self.warm_start_settings if setting not in seen]

    @property
    def screening_score(self) -> float:
        """The best score of its looks; −∞ without one."""
        return max([self.default_screening_score, *(score for _, score in self.past_screenings)])

    @property
    def warm_start(self) -> Setting | None:
        """The setting of an earlier dataset that looked best, no worse than the default."""
        ahead = [look for look in self.past_screenings if look[1] >= self.default_screening_score]
        setting, score = max(ahead, key=lambda look: look[1], default=({}, -math.inf))
        return setting if score > -math.inf else None

    # Trials --------------------------------------------------------------------------------------

    @property
    def started_count(self) -> int:
        """Trials that were begun."""
        return len(self._numbers)

    @property
    def exhausted_reason(self) -> str:
        """Why its sampler has nothing more to propose; "" while it has."""
        return self._own_study.exhausted_reason if self.started_count else ""

    @property
    def best_trial(self) -> ScoredTrial | None:
        """Its best trial on all folds."""
        full_trials = [trial for trial in self.scored_trials if not trial.behind]
        return max(full_trials, key=lambda trial: trial.score, default=None)

    @property
    def proposal(self) -> TrialStarted:
        """What its sampler would try next; asked for once, until it is taken."""
        if self._proposal is None:
            trial_start = self._own_study.ask()
            past = trial_start.reason == "start" and trial_start.setting == self.warm_start
            self._proposal = replace(trial_start, reason="past") if past else trial_start
        return self._proposal

    def take_proposal(self, number: int) -> TrialStarted:
        """The proposal becomes a trial of the run."""
        proposal, self._proposal = self.proposal, None
        self._numbers[number] = proposal.number
        return replace(proposal, number=number)

    def surrogate(self) -> SurrogateFitted | None:
        """The Gaussian process behind its last proposal, trials numbered as in the run."""
        fitted = self._own_study.surrogate()
        of_run = {study_number: number for number, study_number in self._numbers.items()}
        if not isinstance(fitted, SurrogateFitted) or not set(fitted.numbers) <= set(of_run):
            return None
        numbers = [of_run[study_number] for study_number in fitted.numbers]
        return replace(fitted, model=self.name, numbers=numbers)

    def tell(self, outcome: TrialResult) -> None:
        """What became of a trial; the setting is this model's own."""
        study_result = replace(outcome, number=self._numbers[outcome.number])
        self._own_study.tell(study_result)
        self._count_result(outcome)

    def _count_result(self, outcome: TrialResult) -> None:
        self.seconds += outcome.took
        if outcome.failure:
            self.failures += 1
            if not self.scored_trials and self.failures >= MAX_FAILURES:
                self.failed = outcome.failure
            return
        folds = tuple(self.sign * score for score in outcome.fold_scores)
        unit = unit_vector(self.problem.space, outcome.setting)
        behind = outcome.estimate is not None
        score = self.sign * outcome.score
        self.scored_trials.append(
            ScoredTrial(outcome.number, unit, score, folds, outcome.took, behind)
        )

    def replay_trials(self, past: Sequence[Event]) -> None:
        """Trials of an interrupted run, their settings this model's own and numbers the run's."""
        study_events: list[Event] = []
        for event in past:
            if isinstance(event, TrialStarted):
                self._numbers.setdefault(event.number, len(self._numbers))
            if isinstance(event, (TrialStarted, TrialFinished, TrialFailed)):
                study_events.append(replace(event, number=self._numbers[event.number]))
        if study_events:  # otherwise looks may still be to come
            self._own_study.replay_trials(study_events)
        for event in past:
            match event:
                case TrialFinished():
                    estimate = event.score if event.behind else None
                    folds = tuple(event.fold_scores)
                    done = TrialResult(
                        event.number, event.setting, folds, event.took, estimate=estimate
                    )
                    self._count_result(done)
                case TrialFailed():
                    failure = event.reason or "no reason was given"
                    self._count_result(
                        TrialResult(event.number, event.setting, (), event.took, failure)
                    )

    def expected_seconds(self, setting: Setting, fit_rows: int, folds: int) -> float:
        """Seconds that a trial of a setting is expected to take.

        By those of its trials, the nearer ones more; before the first by the screening.

        Args:
            setting: of this model.
            fit_rows: rows that a fold is fitted on.
            folds: of a trial.
        """
        if not self.scored_trials:
            if not self.screening_rows:
                return 0.0
            growth = (fit_rows / self.screening_rows) ** self.problem.model.growth
            return max(self.default_screening_seconds, _QUICKEST) * growth * folds
        unit = unit_vector(self.problem.space, setting)
        gaps = np.array([np.sum((trial.unit - unit) ** 2) for trial in self.scored_trials])
        weights = np.exp(-0.5 * gaps / _NEAR**2) + 1e-3
        logs = np.log([self._seconds_from(trial, setting, folds) for trial in self.scored_trials])
        return float(np.exp(weights @ logs / weights.sum()))

    def _seconds_from(self, trial: ScoredTrial, setting: Setting, folds: int) -> float:
        """Seconds that a trial of a setting takes, judged by another one alone."""
        seconds = max(trial.seconds, _QUICKEST) * folds / max(1, len(trial.folds))
        return seconds * self._relative_cost(trial, setting)

    def _relative_cost(self, trial: ScoredTrial, setting: Setting) -> float:
        """How many times the fits of a setting take as long as those of a trial, as is known."""
        trial_setting = setting_at(self.problem.space, trial.unit)
        names = [
            name
            for name in self.problem.model.dearer
            if trial_setting.get(name) and name in setting
        ]
        return math.prod(float(setting[name]) / float(trial_setting[name]) for name in names)

    def expected_gain(self, best: float, scale: float) -> float:
        """The improvement on the best score of all that its next trial is expected to bring."""
        expected, deviation = self._expected(best, scale)
        return expected_improvement(expected, deviation, best)

    def _expected(self, best: float, scale: float) -> tuple[float, float]:
        top_trial = self.best_trial or max(
            self.scored_trials, key=lambda trial: trial.score, default=None
        )
        if top_trial is None:
            return (self.screening_score if self.screening_score > -math.inf else best), scale
        proposal = self.proposal
        if proposal.expected is None or proposal.uncertainty is None:
            # Before its sampler has a model of the scores: about its best, more surely so the more
            # was tried.
            return top_trial.score - 0.25 * scale, 2.0 * scale / math.sqrt(
                1.0 + len(self.scored_trials) / 3.0
            )
        return self.sign * proposal.expected, proposal.uncertainty


def starts_of(problem: Problem) -> list[Setting]:
    """Whole settings of a model that are tried after its default, within its space."""
    default, axes = problem.default, {axis.name: axis for axis in problem.space}
    starts = []
    for start in problem.model.starts(problem.dataset.task, default):
        setting = {**default, **{name: value for name, value in start.items() if name in axes}}
        if setting != default and setting not in starts:
            starts.append(setting)
    return starts
