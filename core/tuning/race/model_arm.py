"""One of several models in a run: its own sampler, its trials, and the estimate of its next one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from core.samplers.transfer.history import TuningHistory
from core.space import Setting, unit_vector
from core.tuning import events
from core.tuning.problem import Problem
from core.tuning.race.allocation import expected_improvement
from core.tuning.scores.scoring import TrialResult
from core.tuning.trials.trial_run import AskTellStudy

_MIN_SECONDS = 1e-3
_WIDTH = 0.3  # in the unit cube, of the kernel that weights the times of trials
MAX_FAILURES = 3  # in a row from the start, after which a model is abandoned


@dataclass(frozen=True)
class ScoredTrial:
    """A trial that ended with a score; larger is better."""

    number: int
    setting: Setting
    unit: np.ndarray
    score: float
    folds: tuple[float, ...]
    seconds: float
    behind: bool


@dataclass
class ModelArm:
    """One model's sampler, and the scores and times of its trials."""

    name: str
    problem: Problem  # the run's, with this model alone
    sign: float  # 1 where larger scores are better, else −1
    # of earlier datasets, if its strategy learns from them
    history: TuningHistory = field(default_factory=TuningHistory)
    warm_start_settings: Sequence[Setting] = ()  # best on earlier datasets, to be screened
    scored_trials: list[ScoredTrial] = field(default_factory=list)
    default_scores: dict[int, float] = field(default_factory=dict)  # {rows: score} of screenings
    # (setting, score) of warm starts
    past_screenings: list[tuple[Setting, float]] = field(default_factory=list)
    screening_times: dict[int, float] = field(default_factory=dict)  # {rows: seconds}, default's
    past_rows: int = 0  # of these screenings
    screening_seconds: float = 0.0  # of all its screenings
    overdue_seconds: float = 0.0  # that its longest failed trial took
    failed: str = ""  # why it cannot be used; "" while it can
    failures: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._starts = starts_of(self.problem)
        self._numbers: dict[int, int] = {}  # {number in the run: number in this model's study}
        self._proposal: events.TrialStarted | None = None

    @cached_property
    def _own_study(self) -> AskTellStudy:
        """Made with the first trial: the screening decides how it starts."""
        starts = self._starts
        if (best := self.warm_start) is not None:
            starts = [best, *(start for start in starts if start != best)]
        return AskTellStudy(self.problem, self.history, starts, default_first=True)

    # The screening -------------------------------------------------------------------------------

    def add_screening(self, event: events.ModelScreened) -> None:
        """The setting is this model's own."""
        score = -math.inf if event.score is None else self.sign * event.score
        self.screening_seconds += event.took
        if event.reason == "past":
            self.past_screenings.append((event.setting, score))
            self.past_rows = event.rows
            return
        if score > -math.inf:
            self.default_scores[event.rows] = score
        self.screening_times[max(event.rows, 1)] = max(event.took, _MIN_SECONDS)

    @property
    def default_screening_score(self) -> float:
        """The default's score on the most rows; −∞ where it failed."""
        return self.default_scores[max(self.default_scores)] if self.default_scores else -math.inf

    @property
    def screening_rows(self) -> int:
        """The rows of its largest screening; 0 without one."""
        return max(self.screening_times, default=0)

    @property
    def unscreened_settings(self) -> list[Setting]:
        seen = [setting for setting, _ in self.past_screenings]
        return [setting for setting in self.warm_start_settings if setting not in seen]

    @property
    def screening_score(self) -> float:
        """The best score of its screenings; −∞ without one."""
        return max([self.default_screening_score, *(score for _, score in self.past_screenings)])

    @property
    def warm_start(self) -> Setting | None:
        """Of an earlier dataset, no worse than the default."""
        # Scores on more rows are higher: both have to be of as many.
        default_score = self.default_scores.get(self.past_rows, self.default_screening_score)
        good_pairs = [pair for pair in self.past_screenings if pair[1] >= default_score]
        setting, score = max(good_pairs, key=lambda pair: pair[1], default=({}, -math.inf))
        return setting if score > -math.inf else None

    # Trials --------------------------------------------------------------------------------------

    @property
    def started_count(self) -> int:
        return len(self._numbers)

    @property
    def exhausted_reason(self) -> str:
        """Why its sampler proposes nothing more; "" while it does."""
        # The last setting is asked for before its turn.
        is_waiting = self._proposal is not None or not self.started_count
        return "" if is_waiting else self._own_study.exhausted_reason

    @property
    def best_trial(self) -> ScoredTrial | None:
        full_trials = [trial for trial in self.scored_trials if not trial.behind]
        return max(full_trials, key=lambda trial: trial.score, default=None)

    @property
    def proposal(self) -> events.TrialStarted:
        """Its sampler's next trial, asked for once until it is taken."""
        # Models wait for their turn with it: asking twice would start a second trial.
        if self._proposal is None:
            trial_start = self._own_study.ask()
            past = trial_start.reason == "start" and trial_start.setting == self.warm_start
            self._proposal = trial_start.with_fields(reason="past") if past else trial_start
        return self._proposal

    def take_proposal(self, number: int) -> events.TrialStarted:
        proposal, self._proposal = self.proposal, None
        self._numbers[number] = proposal.number
        return proposal.with_fields(number=number)

    def surrogate(self) -> events.SurrogateFitted | None:
        fitted = self._own_study.surrogate()
        run_numbers = {study_number: number for number, study_number in self._numbers.items()}
        if not isinstance(fitted, events.SurrogateFitted) or not set(fitted.numbers) <= set(
            run_numbers
        ):
            return None
        numbers = [run_numbers[study_number] for study_number in fitted.numbers]
        return replace(fitted, model=self.name, numbers=numbers)

    def tell(self, outcome: TrialResult) -> None:
        """The setting is this model's own."""
        self._own_study.tell(replace(outcome, number=self._numbers[outcome.number]))
        self._count_result(outcome)

    def _count_result(self, outcome: TrialResult) -> None:
        self.seconds += outcome.took
        if outcome.failure:
            self.failures += 1
            self.overdue_seconds = max(self.overdue_seconds, outcome.took)
            # A model that had a score once may fail at some of its settings.
            if not self.scored_trials and self.failures >= MAX_FAILURES:
                self.failed = outcome.failure
            return
        folds = tuple(self.sign * score for score in outcome.fold_scores)
        unit = unit_vector(self.problem.space, outcome.setting)
        behind = outcome.estimate is not None
        score = self.sign * outcome.score
        setting = outcome.setting
        trial = ScoredTrial(outcome.number, setting, unit, score, folds, outcome.took, behind)
        self.scored_trials.append(trial)

    def replay_trials(self, past: Sequence[events.Event]) -> None:
        """Replay an interrupted run, with this model's settings and the run's numbers."""
        study_events: list[events.Event] = []
        for event in past:
            if isinstance(event, events.TrialStarted):
                self._numbers.setdefault(event.number, len(self._numbers))
            if isinstance(event, (events.TrialStarted, events.TrialFinished, events.TrialFailed)):
                study_events.append(event.with_fields(number=self._numbers[event.number]))
        # Otherwise screenings may still follow, which decide how the study starts.
        if study_events:
            self._own_study.replay_trials(study_events)
        for event in past:
            if isinstance(event, (events.TrialFinished, events.TrialFailed)):
                self._count_result(_recorded_result(event))

    def expected_seconds(self, setting: Setting, fit_rows: int, folds: int) -> float:
        """Of a trial of a setting with `folds` of `fit_rows`."""
        if not self.scored_trials:
            if not self.screening_rows:
                return 0.0
            # One that was ended at its limit would have taken longer: twice as long is a guess.
            return max(self.fold_seconds(fit_rows) * folds, 2.0 * self.overdue_seconds)
        unit = unit_vector(self.problem.space, setting)
        units = np.array([trial.unit for trial in self.scored_trials])
        gaps = ((units - unit) ** 2).sum(axis=1)
        # Nearer trials count more; far from all of them, all count the same.
        weights = np.exp(-0.5 * gaps / _WIDTH**2) + 1e-3
        logs = np.log([self._seconds_from(trial, setting, folds) for trial in self.scored_trials])
        return float(np.exp(weights @ logs / weights.sum()))

    def fold_seconds(self, rows: int) -> float:
        """A constant and a slope in rows^growth, through the two largest screenings."""
        growth = self.problem.model.growth
        sizes = [(size**growth, seconds) for size, seconds in sorted(self.screening_times.items())]
        (size, seconds), slope = sizes[-1], sizes[-1][1] / sizes[-1][0]
        # A part of the time is paid once, whatever the rows: one size alone overestimates many.
        if len(sizes) > 1:
            small, small_seconds = sizes[-2]
            slope = min(slope, max(0.0, (seconds - small_seconds) / (size - small)))
        return seconds + slope * (rows**growth - size)

    def _seconds_from(self, trial: ScoredTrial, setting: Setting, folds: int) -> float:
        seconds = max(trial.seconds, _MIN_SECONDS) * folds / max(1, len(trial.folds))
        # Known are axes such as the number of trees, to which the time is proportional.
        names = [n for n in self.problem.model.dearer if trial.setting.get(n) and n in setting]
        ratios = (float(setting[name]) / float(trial.setting[name]) for name in names)
        return seconds * math.prod(ratios)

    def expected_gain(self, best: float, scale: float, leader_screening: float) -> float:
        """Of the `best` score of all; `leader_screening`: that of its model at the screening."""
        expected, deviation = self._expected(best, scale, leader_screening)
        return expected_improvement(expected, deviation, best)

    def _expected(self, best: float, scale: float, leader_screening: float) -> tuple[float, float]:
        trials = self.scored_trials
        top_trial = self.best_trial or max(trials, key=lambda trial: trial.score, default=None)
        if top_trial is None:
            # As far behind the leader as at the screening, where that gave a score.
            behind = self.screening_score - leader_screening
            return best + (behind if math.isfinite(behind) else 0.0), scale
        proposal = self.proposal
        if proposal.expected is None or proposal.uncertainty is None:
            # Its sampler has no model of the scores yet: about its best, surer with more trials.
            deviation = 2.0 * scale / math.sqrt(1.0 + len(trials) / 3.0)
            return top_trial.score - 0.25 * scale, deviation
        # What is told has the noise of a score in it, which no setting improves.
        own_deviation = getattr(self._own_study.sampler, "function_deviation", None)
        return self.sign * proposal.expected, own_deviation or proposal.uncertainty


def _recorded_result(event: events.TrialFinished | events.TrialFailed) -> TrialResult:
    number, setting, took = event.number, event.setting, event.took
    if isinstance(event, events.TrialFailed):
        return TrialResult(number, setting, (), took, event.reason or "no reason was given")
    estimate = event.score if event.behind else None
    return TrialResult(number, setting, tuple(event.fold_scores), took, estimate=estimate)


def starts_of(problem: Problem) -> list[Setting]:
    """What is tried after a model's default, within its space."""
    default, axes = problem.default, {axis.name: axis for axis in problem.space}
    starts = []
    for start in problem.model.starts(problem.dataset.task, default):
        setting = {**default, **{name: value for name, value in start.items() if name in axes}}
        if setting != default and setting not in starts:
            starts.append(setting)
    return starts
