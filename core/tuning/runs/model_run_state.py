"""One model of a run of several: its trials, as a run that tunes this model alone.

Views of trials show it as they show any run: the space is the model's own, a setting lacks the key
that says which model it is of, and trials keep the numbers that they have in the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.estimators.class_weights import CLASS_WEIGHT
from core.estimators.multi_model import MODEL, split_model_setting
from core.estimators.registry import MODELS
from core.tuning.events import RunStarted, TrialStarted
from core.tuning.runs.state import RunState
from core.tuning.strategies.race_strategy import RaceOptions
from core.tuning.strategies.registry import STRATEGIES


def models_of(started: RunStarted) -> tuple[str, ...]:
    """The models that a run of several tunes, in the order of its axis; none before it began."""
    return tuple(str(name) for axis in started.space[:1] for name in axis.choices)


def single_model_start(
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
    search = RaceOptions.from_values(started.run_plan.options).search
    if modelled and search in STRATEGIES and STRATEGIES[search].surrogate == "scores":
        plan["strategy"] = search
    task, model = started.dataset.task, MODELS.get(name)
    fits = model is not None and task in model.tasks
    space = model.space_of(task, rare=rare) if model is not None and fits else ()
    return replace(started, plan=plan, space=list(space), total=0, averages=False)


class ModelRunState:
    """The state of one model's part of a run, brought up to date as the run goes on.

    Attributes:
        name: of the model.
        state: its part; another object whenever it began anew, with another first event only where
            that says something else.
    """

    def __init__(self, name: str, run_state: RunState) -> None:
        self.name = name
        self._started: RunStarted | None = None  # of the whole run
        self._last_facts: tuple[bool, bool] | None = None
        self._start_over(run_state)
        self._go_on(run_state)

    def follow_run(self, run_state: RunState) -> bool:
        """Take in what the whole run has told since the last time, or another moment of it.

        Returns:
            Whether it began anew.
        """
        anew = (
            run_state is not self._run_state
            or run_state.started is not self._started
            or run_state.changes != self._changes
            or len(run_state.trials) < self._read_count
            or self._plan_facts(run_state) != self._last_facts
        )
        if anew:
            self._start_over(run_state)
        self._go_on(run_state)
        return anew

    def _start_over(self, run_state: RunState) -> None:
        facts = self._plan_facts(run_state)
        if run_state.started is not self._started or facts != self._last_facts:
            self._alone = single_model_start(
                run_state.started, self.name, rare=facts[0], modelled=facts[1]
            )
        self._run_state, self._started, self._last_facts = run_state, run_state.started, facts
        self._changes, self._read_count = run_state.changes, 0
        self.state = RunState()
        self.state.consume(self._alone)

    def _plan_facts(self, run_state: RunState) -> tuple[bool, bool]:
        """Whether its settings weigh classes (its screening says so), and scores are modelled."""
        look = run_state.looks.get(self.name)
        rare = look is not None and CLASS_WEIGHT.name in look.setting
        return rare, self.name in run_state.surrogates

    def _go_on(self, run_state: RunState) -> None:
        state = self.state
        state.excluded = set(run_state.excluded)
        for trial in run_state.trials[self._read_count :]:
            if self._is_own(trial.setting):
                state.adopt_trial(replace(trial, setting=split_model_setting(trial.setting)[1]))
        self._read_count = len(run_state.trials)
        state.pending = {
            number: _as_single_model(begun)
            for number, begun in run_state.pending.items()
            if self._is_own(begun.setting)
        }
        state.surrogate = run_state.surrogates.get(self.name)
        state.seconds, state.seconds_left = run_state.seconds, run_state.seconds_left
        state.ended, state.results, state.resumed = (
            run_state.ended,
            run_state.results,
            run_state.resumed,
        )

    def _is_own(self, setting: Mapping[str, Any]) -> bool:
        return setting.get(MODEL) == self.name


def _as_single_model(begun: TrialStarted) -> TrialStarted:
    return replace(begun, setting=split_model_setting(begun.setting)[1])
