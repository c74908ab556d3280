"""Runs of several models: a first look at each, then trials of the most promising ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from core.estimators.several import divided
from core.tuning.contenders import contenders_of, width
from core.tuning.events import Event, HistoryRead, ModelLooked, TrialFinished
from core.tuning.history.recalled import recalled
from core.tuning.history.run_history import read_before
from core.tuning.problem import Problem
from core.tuning.race.asker import Look, RaceAsker
from core.tuning.race.blend import Blend
from core.tuning.scores.scoring import Outcome, Task
from core.tuning.trials.executors import Executing
from core.tuning.trials.run import BEAT, LONGEST, TrialRun

LOOK_ROWS = 1000  # that a first look is fitted on, and scored on, at most
LOOK_VALUES, FEWEST_LOOKED = 4e5, 250  # of wide tables fewer rows, so that every model is seen
LOOK_SECONDS = 5.0  # that all looks at a model may take
LOOK_SHARE = 0.03  # of the run's time, where that is less
SHORTEST_LIMIT = 10.0  # seconds that a trial may take, however short the run
SHORTEST_LOOK = 1.5  # seconds, however short the run


class RaceRun(TrialRun):
    """A run of trials of several models."""

    _asker: RaceAsker

    def _averaging(self, planned: int) -> Any:
        return Blend(self._problem)

    @cached_property
    def _alone(self) -> dict[str, Problem]:
        """{model: the problem of this one}."""
        names = contenders_of(self._problem.dataset)
        return {name: self._problem.alone(name) for name in names}

    def _asking(self, history: dict[str, HistoryRead]) -> Any:
        return RaceAsker(self._problem, self._alone, history)

    def _read(self, past: Sequence[Event]) -> Generator[Event, None, dict[str, HistoryRead]]:
        """What is known of earlier datasets of each model, where anything is known of one.

        A run that looked at a model already had read it by then.
        """
        for event in past:
            if isinstance(event, TrialFinished):
                self._keep(event, past=True)  # a kill may have come between
        found = {event.model: event for event in read_before(past)}
        if any(isinstance(event, (ModelLooked, TrialFinished)) for event in past):
            return found
        reads = {
            name: replace(self._read_of(problem), model=name)
            for name, problem in self._alone.items()
            if name not in found
        }
        if found or any(read.datasets for read in reads.values()):
            for name, read in reads.items():
                found[name] = read
                self._state.consume(read)
                yield read
        return found

    def _read_of(self, problem: Problem) -> HistoryRead:
        """What this run uses of the history of a model: all, or what is looked at."""
        read = self._run_history.read(problem)
        return read if problem.strategy.uses_history else recalled(read, problem)

    def _keep(self, event: TrialFinished, *, past: bool = False) -> None:
        """A whole trial is one of its model; an estimate is no score to learn from."""
        name, own = divided(event.setting)
        if not event.behind and name in self._alone:
            alone = self._alone[name]
            self._run_history.keep_of(alone, replace(event, setting=own), past=past)

    def _before(self, executor: Executing) -> Generator[Event, None, None]:
        """The first looks at every model."""
        waiting = deque(self._asker.to_look())
        look_rows = rows_of_look(width(self._problem.dataset))
        fit_rows = min(look_rows, len(self._problem.splits[0][0]))
        begun: dict[int, Look] = {}
        while waiting or executor.running:
            while waiting and executor.free > 0:
                look = waiting.popleft()
                limit = self._asker.time_to_look(look, self._longest_look)
                if limit > 0:
                    number = -1 - len(begun)
                    begun[number] = look
                    task = Task(number, look.setting, look_rows=look_rows)
                    executor.begin(task, limit)
            for outcome in executor.wait(BEAT) if executor.running else ():
                event = _looked(begun[outcome.number], outcome, fit_rows)
                self._asker.looked(event)
                self._state.consume(event)
                yield event
            yield from executor.news()
            yield self._state.progress(self._left if self._left < math.inf else None)

    @property
    def time_limit(self) -> float | None:
        """Seconds that a trial may take; of several models the first one waits for none."""
        given, minutes = self._problem.plan.time_limit, self._problem.minutes
        if given is not None or minutes is None:
            return given
        return max(SHORTEST_LIMIT, LONGEST * 60 * minutes)

    @property
    def _gives_up(self) -> bool:
        # A run that is shorter than its first trial waits for that one; its limit ends it.
        return self._time_is_up and self._state.finished > 0

    @property
    def _longest_look(self) -> float:
        minutes = self._problem.minutes
        if minutes is None:
            return LOOK_SECONDS
        return max(SHORTEST_LOOK, min(LOOK_SECONDS, LOOK_SHARE * 60 * minutes))

    @property
    def _left(self) -> float:
        minutes = self._problem.minutes
        return math.inf if minutes is None else max(0.0, 60 * minutes - self._clock.seconds)

    @property
    def _share_left(self) -> float:
        """Of the time or the trials."""
        minutes, total = self._problem.minutes, self._state.total
        by_time = 1.0 if minutes is None else self._left / (60 * minutes)
        by_trials = 1.0 - self._state.done / total if total else 1.0
        return max(0.0, min(by_time, by_trials))

    def _begun(self, executor: Executing) -> Generator[Event, None, None]:
        started = self._asker.ask(self._left, self._share_left)
        compared = self._asker.compared
        self._state.consume(compared)
        yield compared
        if (surrogate := self._asker.surrogate()) is not None:
            self._state.consume(surrogate)
            yield surrogate
        executor.begin(Task(started.number, started.setting, self._asker.rival))
        self._state.consume(started)
        yield started

    def _after(self) -> Generator[Event, None, None]:
        # The average of the end, where trials have ended since the last one.
        if self.ensemble is not None:
            for event in self.ensemble.updates(last=True):
                self._state.consume(event)
                yield event


def rows_of_look(columns: int) -> int:
    """How many rows a first look is fitted on, and scored on, at most."""
    return max(FEWEST_LOOKED, min(LOOK_ROWS, int(LOOK_VALUES / max(1, columns))))


def _looked(look: Look, outcome: Outcome, rows: int) -> ModelLooked:
    return ModelLooked(
        model=look.model,
        setting=look.setting,
        score=None if outcome.failure else outcome.score,
        rows=rows,
        took=round(outcome.took, 4),
        failure=outcome.failure,
        reason=look.reason,
    )


def trial_run(problem: Problem, *given: Any) -> TrialRun:
    """The run of trials that a problem asks for; arguments as `TrialRun` takes them."""
    return (RaceRun if problem.strategy.several else TrialRun)(problem, *given)
