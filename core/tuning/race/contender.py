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
    ModelLooked,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.problem import Problem
from core.tuning.race.allocation import expected_improvement
from core.tuning.race.learned_start import learned_start
from core.tuning.scores.scoring import Outcome
from core.tuning.trials.asker import Asker

_QUICKEST = 1e-3  # seconds
_NEAR = 0.3  # of the unit cube: trials so near tell most of how long another takes
MOST_FAILURES = 3  # in a row from the start: then a model is given up


@dataclass(frozen=True)
class Tried:
    """A trial that has ended with a score; larger is better."""

    number: int
    unit: np.ndarray
    score: float
    folds: tuple[float, ...]
    took: float
    behind: bool


@dataclass
class Contender:
    """One model: it asks its own sampler, and knows what its trials scored and took.

    Attributes:
        problem: the run's, with this model alone.
        sign: 1 where larger scores are better, otherwise −1.
        history: what its strategy knows of earlier datasets, if it learns from them.
        recalled: settings that were best on earlier datasets, to be looked at.
        default_look: the default setting's score at the first look; −∞ where it failed.
        past_looks: (setting, score) of the looks at those recalled, likewise.
        look_took, look_rows: of the default setting's look; 0 where there was none.
        looked_for: seconds that all its looks took.
        failed: why it cannot be used; "" while it can.
    """

    name: str
    problem: Problem
    sign: float
    history: TuningHistory = field(default_factory=TuningHistory)
    recalled: Sequence[Setting] = ()
    tried: list[Tried] = field(default_factory=list)
    default_look: float = -math.inf
    past_looks: list[tuple[Setting, float]] = field(default_factory=list)
    look_took: float = 0.0
    look_rows: int = 0
    looked_for: float = 0.0
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
    def _asker(self) -> Asker:
        """Made when the first trial is asked for: what the looks gave says how it starts."""
        starts = self._starts
        if (best := self.start) is not None:
            starts = [best, *(other for other in starts if other != best)]
        return Asker(self.problem, self.history, starts, default_first=True)

    # The first looks -----------------------------------------------------------------------------

    def looked(self, event: ModelLooked) -> None:
        """What a look gave; the setting is this model's own."""
        score = -math.inf if event.score is None else self.sign * event.score
        self.looked_for += event.took
        if event.reason == "past":
            self.past_looks.append((event.setting, score))
            return
        self.default_look = score
        self.look_rows, self.look_took = max(event.rows, 1), event.took

    @property
    def unseen(self) -> list[Setting]:
        """Settings that were recalled and not looked at."""
        seen = [setting for setting, _ in self.past_looks]
        return [setting for setting in self.recalled if setting not in seen]

    @property
    def look(self) -> float:
        """The best score of its looks; −∞ without one."""
        return max([self.default_look, *(score for _, score in self.past_looks)])

    @property
    def start(self) -> Setting | None:
        """The setting of an earlier dataset that looked best, no worse than the default."""
        ahead = [look for look in self.past_looks if look[1] >= self.default_look]
        setting, score = max(ahead, key=lambda look: look[1], default=({}, -math.inf))
        return setting if score > -math.inf else None

    # Trials --------------------------------------------------------------------------------------

    @property
    def begun(self) -> int:
        """Trials that were begun."""
        return len(self._numbers)

    @property
    def finished(self) -> str:
        """Why its sampler has nothing more to propose; "" while it has."""
        return self._asker.finished if self.begun else ""

    @property
    def best(self) -> Tried | None:
        """Its best trial on all folds."""
        whole = [one for one in self.tried if not one.behind]
        return max(whole, key=lambda one: one.score, default=None)

    @property
    def proposal(self) -> TrialStarted:
        """What its sampler would try next; asked for once, until it is taken."""
        if self._proposal is None:
            asked = self._asker.ask()
            past = asked.reason == "start" and asked.setting == self.start
            self._proposal = replace(asked, reason="past") if past else asked
        return self._proposal

    def take(self, number: int) -> TrialStarted:
        """The proposal becomes a trial of the run."""
        proposal, self._proposal = self.proposal, None
        self._numbers[number] = proposal.number
        return replace(proposal, number=number)

    def surrogate(self) -> SurrogateFitted | None:
        """The Gaussian process behind its last proposal, trials numbered as in the run."""
        fitted = self._asker.surrogate()
        of_run = {own: number for number, own in self._numbers.items()}
        if not isinstance(fitted, SurrogateFitted) or not set(fitted.numbers) <= set(of_run):
            return None
        numbers = [of_run[own] for own in fitted.numbers]
        return replace(fitted, model=self.name, numbers=numbers)

    def tell(self, outcome: Outcome) -> None:
        """What became of a trial; the setting is this model's own."""
        own = replace(outcome, number=self._numbers[outcome.number])
        self._asker.tell(own)
        self._count(outcome)

    def _count(self, outcome: Outcome) -> None:
        self.seconds += outcome.took
        if outcome.failure:
            self.failures += 1
            if not self.tried and self.failures >= MOST_FAILURES:
                self.failed = outcome.failure
            return
        folds = tuple(self.sign * score for score in outcome.fold_scores)
        unit = unit_vector(self.problem.space, outcome.setting)
        behind = outcome.estimate is not None
        score = self.sign * outcome.score
        self.tried.append(Tried(outcome.number, unit, score, folds, outcome.took, behind))

    def repeat(self, past: Sequence[Event]) -> None:
        """Trials of an interrupted run, their settings this model's own and numbers the run's."""
        own: list[Event] = []
        for event in past:
            if isinstance(event, TrialStarted):
                self._numbers.setdefault(event.number, len(self._numbers))
            if isinstance(event, (TrialStarted, TrialFinished, TrialFailed)):
                own.append(replace(event, number=self._numbers[event.number]))
        if own:  # otherwise looks may still be to come
            self._asker.repeat(own)
        for event in past:
            match event:
                case TrialFinished():
                    estimate = event.score if event.behind else None
                    folds = tuple(event.fold_scores)
                    done = Outcome(
                        event.number, event.setting, folds, event.took, estimate=estimate
                    )
                    self._count(done)
                case TrialFailed():
                    failure = event.reason or "no reason was given"
                    self._count(Outcome(event.number, event.setting, (), event.took, failure))

    def takes(self, setting: Setting, fit_rows: int, folds: int) -> float:
        """Seconds that a trial of a setting is expected to take.

        By those of its trials, the nearer ones more; before the first by the first look.

        Args:
            setting: of this model.
            fit_rows: rows that a fold is fitted on.
            folds: of a trial.
        """
        if not self.tried:
            if not self.look_rows:
                return 0.0
            growth = (fit_rows / self.look_rows) ** self.problem.model.growth
            return max(self.look_took, _QUICKEST) * growth * folds
        unit = unit_vector(self.problem.space, setting)
        gaps = np.array([np.sum((one.unit - unit) ** 2) for one in self.tried])
        weights = np.exp(-0.5 * gaps / _NEAR**2) + 1e-3
        logs = np.log([self._takes_as(one, setting, folds) for one in self.tried])
        return float(np.exp(weights @ logs / weights.sum()))

    def _takes_as(self, one: Tried, setting: Setting, folds: int) -> float:
        """Seconds that a trial of a setting takes, judged by another one alone."""
        seconds = max(one.took, _QUICKEST) * folds / max(1, len(one.folds))
        return seconds * self._dearer(one, setting)

    def _dearer(self, one: Tried, setting: Setting) -> float:
        """How many times the fits of a setting take as long as those of a trial, as is known."""
        own = setting_at(self.problem.space, one.unit)
        names = [name for name in self.problem.model.dearer if own.get(name) and name in setting]
        return math.prod(float(setting[name]) / float(own[name]) for name in names)

    def gain(self, best: float, scale: float) -> float:
        """The improvement on the best score of all that its next trial is expected to bring."""
        expected, deviation = self._expected(best, scale)
        return expected_improvement(expected, deviation, best)

    def _expected(self, best: float, scale: float) -> tuple[float, float]:
        own = self.best or max(self.tried, key=lambda one: one.score, default=None)
        if own is None:
            return (self.look if self.look > -math.inf else best), scale
        proposal = self.proposal
        if proposal.expected is None or proposal.uncertainty is None:
            # Before its sampler has a model of the scores: about its best, more surely so the more
            # was tried.
            return own.score - 0.25 * scale, 2.0 * scale / math.sqrt(1.0 + len(self.tried) / 3.0)
        return self.sign * proposal.expected, proposal.uncertainty


def starts_of(problem: Problem) -> list[Setting]:
    """Whole settings of a model that are tried after its default, within its space."""
    default, axes = problem.default, {axis.name: axis for axis in problem.space}
    found = []
    for start in problem.model.starts(problem.dataset.task, default):
        setting = {**default, **{name: value for name, value in start.items() if name in axes}}
        if setting != default and setting not in found:
            found.append(setting)
    return found
