"""One model of a run of several: its trials, as a run that tunes this model alone.

Views of trials show it as they show any run: the space is the model's own, a setting lacks the key
that says which model it is of, and trials keep the numbers that they have in the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.estimators.class_weights import CLASS_WEIGHT
from core.estimators.registry import MODELS
from core.estimators.several import MODEL, divided
from core.tuning.events import RunStarted, TrialStarted
from core.tuning.runs.state import RunState
from core.tuning.strategies.race import SEARCH
from core.tuning.strategies.registry import STRATEGIES


def models_of(started: RunStarted) -> tuple[str, ...]:
    """The models that a run of several tunes, in the order of its axis; none before it began."""
    return tuple(str(name) for axis in started.space[:1] for name in axis.get("choices", ()))


def begun_alone(
    started: RunStarted, name: str, *, rare: bool = False, modelled: bool = False
) -> RunStarted:
    """The first event of a run of several models, as if one of them were tuned alone.

    Nothing is averaged in it, and only time bounds it: the whole run's trials are of all models.

    Args:
        started: of the whole run.
        name: of the model.
        rare: whether a class is rare, so that the weights of classes are tuned.
        modelled: whether the strategy that tunes it models its scores.
    """
    plan = {**started.plan, "model": name}
    search = dict(plan.get("options") or {}).get(SEARCH.name, SEARCH.default)
    if modelled and search in STRATEGIES and STRATEGIES[search].surrogate == "scores":
        plan["strategy"] = search
    task, there = str(started.dataset.get("task", "")), MODELS.get(name)
    fits = there is not None and task in there.tasks
    space = there.space_of(task, rare=rare) if there is not None and fits else ()
    return replace(
        started,
        plan=plan,
        space=[axis.as_dict() for axis in space],
        total=0,
        averages=False,
    )


class OneModel:
    """The state of one model's part of a run, brought up to date as the run goes on.

    Attributes:
        name: of the model.
        state: its part; another object whenever it began anew, with another first event only where
            that says something else.
    """

    def __init__(self, name: str, whole: RunState) -> None:
        self.name = name
        self._started: RunStarted | None = None  # of the whole run
        self._known: tuple[bool, bool] | None = None
        self._begin(whole)
        self._go_on(whole)

    def follow(self, whole: RunState) -> bool:
        """Take in what the whole run has told since the last time, or another moment of it.

        Returns:
            Whether it began anew.
        """
        anew = (
            whole is not self._whole
            or whole.started is not self._started
            or whole.changes != self._changes
            or len(whole.trials) < self._taken
            or self._facts(whole) != self._known
        )
        if anew:
            self._begin(whole)
        self._go_on(whole)
        return anew

    def _begin(self, whole: RunState) -> None:
        facts = self._facts(whole)
        if whole.started is not self._started or facts != self._known:
            self._alone = begun_alone(whole.started, self.name, rare=facts[0], modelled=facts[1])
        self._whole, self._started, self._known = whole, whole.started, facts
        self._changes, self._taken = whole.changes, 0
        self.state = RunState()
        self.state.consume(self._alone)

    def _facts(self, whole: RunState) -> tuple[bool, bool]:
        """Whether its settings weigh classes (its first look says so), and scores are modelled."""
        look = whole.looks.get(self.name)
        rare = look is not None and CLASS_WEIGHT.name in look.setting
        return rare, self.name in whole.surrogates

    def _go_on(self, whole: RunState) -> None:
        state = self.state
        state.excluded = set(whole.excluded)
        for trial in whole.trials[self._taken :]:
            if self._is_own(trial.setting):
                state.adopt(replace(trial, setting=divided(trial.setting)[1]))
        self._taken = len(whole.trials)
        state.pending = {
            number: _alone(begun)
            for number, begun in whole.pending.items()
            if self._is_own(begun.setting)
        }
        state.surrogate = whole.surrogates.get(self.name)
        state.seconds, state.seconds_left = whole.seconds, whole.seconds_left
        state.ended, state.results, state.resumed = whole.ended, whole.results, whole.resumed

    def _is_own(self, setting: Mapping[str, Any]) -> bool:
        return setting.get(MODEL) == self.name


def _alone(begun: TrialStarted) -> TrialStarted:
    return replace(begun, setting=divided(begun.setting)[1])
