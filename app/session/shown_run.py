"""The run that the window shows: its events, its state after any of them, and its folder."""

from __future__ import annotations

import contextlib
import gc
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.space import Setting
from core.tuning.events import (
    Event,
    HyperGradientStep,
    PenaltyStep,
    RunFinished,
    RunStopped,
    SettingRequested,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import Plan

if TYPE_CHECKING:
    from core.tuning.runs.state import RunSnapshot, RunState

MAX_UNFROZEN_EVENTS = 5_000  # a full collection takes some milliseconds
GOING_ON = ("running", "paused", "stopping")
SURROGATES_KEPT = 400  # in memory; the run folder has all
ENDS_A_STEP = frozenset({TrialFinished, TrialFailed, PenaltyStep, HyperGradientStep})
KEPT_EVERY = 500  # events between two snapshots, replayed in some milliseconds


class FrozenEvents:
    """Freezes the shown run's events, and all other objects, now and then."""

    def __init__(self) -> None:
        self._count = 0  # of events that are not frozen
        self._spares = False

    def add_events(self, count: int) -> None:
        self._count += count
        if self._count >= MAX_UNFROZEN_EVENTS:
            # Frozen objects are not searched again, and a full search of a long run stops the
            # window.
            self._count, self._spares = 0, True
            gc.freeze()

    def begin_again(self, count: int) -> None:
        if self._spares:
            gc.unfreeze()
        self._count, self._spares = 0, False
        self.add_events(count)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while hundreds of thousands of objects are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # And back: what was made meanwhile is then in the oldest generation at once, which is
        # searched rarely.
        gc.freeze()
        gc.unfreeze()
        if was_enabled:
            gc.enable()


class ShownRun:
    """The events of one run, and its state."""

    def __init__(
        self, events: Iterable[Event], folder: Path | None, has_other_writer: bool = False
    ) -> None:
        self.folder = folder  # of the run, once it is known
        self._has_other_writer = has_other_writer  # a process that is not the session's worker
        self.events: list[Event] = []  # oldest first; many surrogates are thinned out
        self.stops: list[int] = []  # the number of events at the end of each trial or step
        self.ends: list[Event] = []  # with results, the last one counts
        self.wanted: list[Setting] = []  # entered by a person and not tried yet
        self._surrogates: list[int] = []  # indices of events
        self._counts: list[int] = []  # of events before each snapshot
        self._snapshots: list[RunSnapshot] = []
        self._next_snapshot = 0  # the number of events before it
        if events:  # else the first paint would import numpy
            self.add_events(events)

    @cached_property
    def state(self) -> RunState:
        # It brings numpy, and is not needed for the first paint.
        from core.tuning.runs.state import RunState

        return RunState()

    @property
    def phase(self) -> str:
        """Of a run at rest here: idle (there is none), running elsewhere, interrupted, finished."""
        if not self.events:
            return "idle"
        if self._has_other_writer:
            return "running elsewhere"
        is_finished = self.state.results is not None and self.state.exclusion is None
        return "finished" if is_finished else "interrupted"

    def add_events(self, events: Iterable[Event]) -> None:
        # Names of this function alone: a long run has hundreds of thousands of events.
        consume, all_events = self.state.consume, self.events
        for event in events:
            if len(all_events) >= self._next_snapshot:
                self._keep_snapshot()
            consume(event)
            all_events.append(event)
            kind = type(event)
            if kind is TrialStarted:
                continue
            if kind in ENDS_A_STEP:
                self.stops.append(len(all_events))
            else:
                self._add_between_trials(event)

    def _add_between_trials(self, event: Event) -> None:
        count = len(self.events)
        # A stop has all that was learned before the next trial starts.
        if self.stops and self.stops[-1] == count - 1:
            self.stops[-1] = count
        match event:
            case SettingRequested() if event.setting in self.wanted:
                self.wanted.remove(event.setting)
            case RunFinished() | RunStopped():
                self.ends.append(event)
                if isinstance(event, RunFinished):
                    self.wanted.clear()
            case SurrogateFitted():
                self._surrogates.append(count - 1)
                if len(self._surrogates) > SURROGATES_KEPT:
                    self._thin_surrogates()

    def _keep_snapshot(self) -> None:
        count = len(self.events)
        self._counts.append(count)
        self._snapshots.append(self.state.snapshot())
        self._next_snapshot = count + KEPT_EVERY

    def state_after(self, count: int) -> RunState:
        if count >= len(self.events):
            return self.state
        snapshot_index = bisect_right(self._counts, count) - 1
        state = self._snapshots[snapshot_index].restored_state()
        for event in self.events[self._counts[snapshot_index] : count]:
            state.consume(event)
        return state

    def _thin_surrogates(self) -> None:
        # The first and the latest stay: the replay begins with the one, and views show the other.
        dropped = self._surrogates[1:-1:2]
        dropped_set = set(dropped)
        self.events[:] = [e for index, e in enumerate(self.events) if index not in dropped_set]
        indices = [index for index in self._surrogates if index not in dropped_set]
        self._surrogates = [index - bisect_left(dropped, index) for index in indices]
        self.stops = [count - bisect_left(dropped, count) for count in self.stops]
        self._counts = [count - bisect_left(dropped, count) for count in self._counts]
        self._next_snapshot = self._counts[-1] + KEPT_EVERY

    @property
    def plan(self) -> Plan:
        return self.state.started.run_plan

    def budget_for(self, more: int) -> int:
        """Trials beyond its budget that the run needs for `more` beyond those done."""
        return len(self.state.trials) + more - self.state.total
