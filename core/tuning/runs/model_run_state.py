"""One model of a run of several: its trials, as a run that tunes this model alone.

The space is the model's, settings lack the key that names the model, and trials keep their numbers.
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

    Args:
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
    """The state of one model's trials, brought up to date as the run goes on."""

    def __init__(self, name: str, run_state: RunState) -> None:
        self.name = name
        self._started: RunStarted | None = None  # of the whole run
        self._last_facts: tuple[bool, bool] | None = None
        self._start_over(run_state)
        self._update(run_state)

    def follow_run(self, run_state: RunState) -> bool:
        """Add the trials since the last call; whether the state was rebuilt instead."""
        is_new = (
            run_state is not self._run_state
            or run_state.started is not self._started
            or run_state.changes != self._changes
            or len(run_state.trials) < self._read_count
            or self._plan_facts(run_state) != self._last_facts
        )
        if is_new:
            self._start_over(run_state)
        self._update(run_state)
        return is_new

    def _start_over(self, run_state: RunState) -> None:
        facts = self._plan_facts(run_state)
        if run_state.started is not self._started or facts != self._last_facts:
            rare, modelled = facts
            started = run_state.started
            self._start = single_model_start(started, self.name, rare=rare, modelled=modelled)
        self._run_state, self._started, self._last_facts = run_state, run_state.started, facts
        self._changes, self._read_count = run_state.changes, 0
        self.state = RunState()  # a new object whenever it was rebuilt from the first trial
        self.state.consume(self._start)

    def _plan_facts(self, run_state: RunState) -> tuple[bool, bool]:
        """Whether its settings weigh classes (its screening says so), and scores are modelled."""
        look = run_state.looks.get(self.name)
        rare = look is not None and CLASS_WEIGHT.name in look.setting
        return rare, self.name in run_state.surrogates

    def _update(self, run_state: RunState) -> None:
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
        state.ended, state.results = run_state.ended, run_state.results
        state.resumed = run_state.resumed

    def _is_own(self, setting: Mapping[str, Any]) -> bool:
        return setting.get(MODEL) == self.name


def _as_single_model(begun: TrialStarted) -> TrialStarted:
    return replace(begun, setting=split_model_setting(begun.setting)[1])
