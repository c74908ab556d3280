"""What chooses the model and the setting of the next trial, where several models are tuned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.estimators.several import divided, of_model
from core.samplers.transfer.history import TuningHistory
from core.space import Setting
from core.tuning.events import (
    Event,
    HistoryRead,
    ModelLooked,
    ModelsCompared,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.history.recalled import recalled, settings_in
from core.tuning.history.run_history import history_of
from core.tuning.payloads import ModelStanding
from core.tuning.problem import Problem
from core.tuning.race.allocation import Chance, Choice, Moment, next_model, scale_of_scores
from core.tuning.race.contender import Contender, Tried
from core.tuning.runs.competition import fold_error
from core.tuning.scores.scoring import Outcome, Rival

_ENOUGH = 3  # whole trials of one model, from which the spread of folds is known
_OUT = "None of its trials gave a score"


@dataclass(frozen=True)
class Look:
    """A first look that is to be taken: a setting of a model, and why this one, as in the event."""

    model: str
    setting: Setting
    reason: str


class RaceAsker:
    """Every model with a sampler of its own, and the choice between them.

    Args:
        problem: with several models.
        alone: {model: the problem of this one}.
        known: {model: what is known of earlier datasets}.
    """

    def __init__(
        self,
        problem: Problem,
        alone: Mapping[str, Problem],
        known: Mapping[str, HistoryRead] | None = None,
    ) -> None:
        self._problem = problem
        self._sign = 1.0 if problem.scored_by.maximize else -1.0
        self._fit_rows = len(problem.splits[0][0])
        self._folds = len(problem.splits)
        self.contenders = {
            name: _contender(name, one, self._sign, (known or {}).get(name))
            for name, one in alone.items()
        }
        self._of_trial: dict[int, str] = {}
        self._choice, self._compared = Choice("", ""), ModelsCompared()
        self.finished = ""
        self.wants = False  # settings entered by hand are of one model

    # The first look ------------------------------------------------------------------------------

    def to_look(self) -> list[Look]:
        """The looks that nobody has taken: at every default setting, then at those of the past.

        None where trials have begun.
        """
        if self._of_trial:
            return []
        all_ = self.contenders.values()
        default = [(one, one.problem.default) for one in all_ if not one.look_rows]
        past = [(one, own) for one in all_ for own in one.unseen]
        return [
            Look(one.name, of_model(one.name, own), reason)
            for reason, settings in (("default", default), ("past", past))
            for one, own in settings
        ]

    def looked(self, event: ModelLooked) -> None:
        """What a first look at a model gave."""
        if event.model in self.contenders:
            own = divided(event.setting)[1]
            self.contenders[event.model].looked(replace(event, setting=own))

    def time_to_look(self, look: Look, limit: float) -> float:
        """Seconds that a look may take; 0 where it is not worth beginning.

        All looks at a model share the limit of one; one more is begun if the default's would fit.
        """
        one = self.contenders[look.model]
        left = round(limit - one.looked_for, 2)
        if look.reason == "default":
            return limit
        return left if left > one.look_took else 0.0

    # Trials --------------------------------------------------------------------------------------

    def ask(self, left: float = math.inf, share: float = 1.0) -> TrialStarted:
        """The next setting to try, of the model that promises most.

        Args:
            left: seconds until the run ends.
            share: of the run's time or trials that is left.
        """
        chances = self._chances()
        now = Moment(left, share, len(self._of_trial))
        self._choice = next_model(chances, self._scale, now)
        # Before the proposal is taken: with it under way, the next one would be asked for blindly.
        self._compared = self._standings()
        number = len(self._of_trial)
        self._of_trial[number] = self._choice.model
        one = self.contenders[self._choice.model]
        started = one.take(number)
        return replace(started, setting=of_model(one.name, started.setting))

    def tell(self, outcome: Outcome) -> None:
        """What became of a trial."""
        name, own = divided(outcome.setting)
        self.contenders[name].tell(replace(outcome, setting=own))
        if not self._open:
            self.finished = "no model could be fitted"
        elif all(one.finished for one in self._open):
            self.finished = "no model has a setting left to try"

    @property
    def rival(self) -> Rival | None:
        """The trial that the next one is ended early against; None while little is known."""
        best, spread = self.best, self._spread
        if best is None or spread is None or len(best.folds) < 2:
            return None
        folds = tuple(self._sign * score for score in best.folds)
        return Rival(folds, spread, self._sign)

    @property
    def best(self) -> Tried | None:
        """The best trial of all models; larger scores are better here."""
        found = [one.best for one in self.contenders.values()]
        return max((b for b in found if b is not None), key=lambda b: b.score, default=None)

    def surrogate(self) -> SurrogateFitted | None:
        """The Gaussian process behind the last proposal, of the scores of its model alone."""
        one = self.contenders.get(self._choice.model)
        return None if one is None else one.surrogate()

    @property
    def compared(self) -> ModelsCompared:
        """How the models stood when the last choice was made, the best first, and that choice."""
        return self._compared

    def repeat(self, past: Sequence[Event]) -> None:
        """Ask and tell again what was recorded of this run, every model by itself."""
        own: dict[str, list[Event]] = {name: [] for name in self.contenders}
        for event in past:
            if isinstance(event, ModelLooked):
                self.looked(event)
            if isinstance(event, (TrialStarted, TrialFinished, TrialFailed)):
                name, setting = divided(event.setting)
                if name in own:
                    own[name].append(replace(event, setting=setting))
                self._of_trial[event.number] = name
        for name, events in own.items():
            self.contenders[name].repeat(events)

    # What the choice rests on --------------------------------------------------------------------

    @property
    def _open(self) -> list[Contender]:
        return [one for one in self.contenders.values() if not one.failed]

    def _chances(self) -> list[Chance]:
        open_ = [one for one in self._open if not one.finished]
        best, scale = self.best, self._scale
        return [
            Chance(
                one.name,
                one.begun,
                one.look,
                one.takes(self._next_setting(one), self._fit_rows, self._folds),
                one.seconds,
                one.gain(best.score, scale) if best is not None else scale,
            )
            for one in open_
        ]

    def _next_setting(self, one: Contender) -> Setting:
        return one.proposal.setting if one.begun else one.problem.default

    @property
    def _scale(self) -> float:
        scores = [one.best.score if one.best else one.look for one in self.contenders.values()]
        return scale_of_scores(scores, self._noise)

    @property
    def _noise(self) -> float:
        best = self.best
        if best is None or len(best.folds) < 2:
            return 0.0
        return fold_error(best.folds, self._problem.repeats)

    @property
    def _spread(self) -> float | None:
        """The standard deviation of what a fold adds to the difference of two settings.

        The median over whole trials of models other than the best; None while these are few.
        """
        best = self.best
        if best is None or len(best.folds) < 2:
            return None
        gaps = [
            np.std(np.subtract(one.folds, best.folds), ddof=1)
            for contender in self.contenders.values()
            for one in contender.tried
            if one.number != best.number and len(one.folds) == len(best.folds)
        ]
        return float(np.median(gaps)) if len(gaps) >= _ENOUGH else None

    def _standings(self) -> ModelsCompared:
        standings = [self._standing(one) for one in self.contenders.values()]
        standings.sort(key=lambda s: (s.best is None, -self._sign * (s.best or 0.0), s.model))
        return ModelsCompared(models=standings, next=self._choice.model, why=self._choice.why)

    def _standing(self, one: Contender) -> ModelStanding:
        best, whole = one.best, [trial for trial in one.tried if not trial.behind]
        error = None
        if best is not None and len(best.folds) > 1:
            error = fold_error(best.folds, self._problem.repeats)
        return ModelStanding(
            model=one.name,
            trials=len(whole),
            best=None if best is None else self._sign * best.score,
            error=error,
            look=None if one.look == -math.inf else self._sign * one.look,
            seconds=round(one.seconds, 4),
            gain=self._gain(one),
            takes=round(one.takes(self._next_setting(one), self._fit_rows, self._folds), 4),
            state=self._state(one),
            why=f"{_OUT}: {one.failed}" if one.failed else "",
        )

    def _gain(self, one: Contender) -> float:
        best = self.best
        if best is None or one.failed or one.finished or one.look_rows == 0:
            return 0.0
        return one.gain(best.score, self._scale)

    def _state(self, one: Contender) -> str:
        if one.failed:
            return "failed"
        best, own = self.best, one.best
        if best is None or own is None:
            return "waiting"
        clear = 2.0 * max(self._noise, 1e-12)
        return "behind" if own.score < best.score - clear else "tuned"


def _contender(name: str, problem: Problem, sign: float, read: HistoryRead | None) -> Contender:
    if read is None:
        return Contender(name, problem, sign)
    learns = problem.strategy.uses_history
    history = history_of(read, problem.model.simplex) if learns else TuningHistory()
    return Contender(name, problem, sign, history, settings_in(recalled(read, problem)))
