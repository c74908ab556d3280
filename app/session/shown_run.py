"""The run that the window shows: its events, its state at every moment, and its folder."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.tuning.events import (
    Event,
    HyperGradientStep,
    MoleculesFolded,
    PenaltyStep,
    RunFinished,
    SequencesLabelled,
    SettingRequested,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
)
from core.tuning.plan import Plan

if TYPE_CHECKING:
    from core.space import Setting
    from core.tuning.runs.state import RunSnapshot, RunState

GOING_ON = ("running", "paused", "stopping")
SURROGATES_KEPT = 400  # of one run in memory; the run folder keeps all
ENDS_A_STEP = frozenset({TrialFinished, TrialFailed, PenaltyStep, HyperGradientStep})
BELONGS_TO_IT = frozenset({SequencesLabelled, MoleculesFolded})  # what a step says of the examples
KEPT_EVERY = 500  # events between two moments that are kept, folded anew in some milliseconds


class ShownRun:
    """What was received of one run.

    Attributes:
        events: oldest first; of very many surrogates every second one is forgotten.
        stops: how many events belong to the run until the end of each trial or step.
        folder: where the run keeps everything, once it is known.
        wanted: settings that a person entered and that the run has not taken up yet.
    """

    def __init__(self, events: Iterable[Event], folder: Path | None) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.stops: list[int] = []
        self.wanted: list[Setting] = []
        self._surrogates: list[int] = []  # their places among the events
        self._counts: list[int] = []  # after how many events a moment is kept
        self._snapshots: list[RunSnapshot] = []
        self._next_snapshot = 0  # after how many events one is kept next
        for event in events:
            self.add_event(event)

    @cached_property
    def state(self) -> RunState:
        """What the events add up to."""
        from core.tuning.runs.state import RunState  # brings numpy: not for the first paint

        return RunState()

    @property
    def phase(self) -> str:
        """How a run stands that is not going on: idle (there is none), interrupted, finished."""
        if not self.events:
            return "idle"
        concluded = self.state.results is not None and self.state.exclusion is None
        return "finished" if concluded else "interrupted"

    def add_event(self, event: Event) -> None:
        """One more event."""
        count = len(self.events)
        if count >= self._next_snapshot:
            self._keep_snapshot()
        if isinstance(event, TrialFinished):
            self._share_setting(event)
        self.state.consume(event)
        self.events.append(event)
        kind = type(event)
        if isinstance(event, SettingRequested) and event.setting in self.wanted:
            self.wanted.remove(event.setting)
        elif kind is RunFinished:
            self.wanted.clear()
        if kind in ENDS_A_STEP:
            self.stops.append(count + 1)
        elif kind in BELONGS_TO_IT and self.stops and self.stops[-1] == count:
            self.stops[-1] = count + 1
        elif kind is SurrogateFitted:
            self._surrogates.append(count)
            if len(self._surrogates) > SURROGATES_KEPT:
                self._thin_surrogates()

    def _keep_snapshot(self) -> None:
        count = len(self.events)
        self._counts.append(count)
        self._snapshots.append(self.state.snapshot())
        self._next_snapshot = count + KEPT_EVERY

    def _share_setting(self, event: TrialFinished) -> None:
        """Keep a setting once that the start and the end of a trial both tell."""
        started_trial = self.state.pending.get(event.number)
        if started_trial is not None and started_trial.setting == event.setting:
            object.__setattr__(event, "setting", started_trial.setting)

    def state_after(self, count: int) -> RunState:
        """What the first so many events add up to."""
        if count >= len(self.events):
            return self.state
        snapshot_index = bisect_right(self._counts, count) - 1
        state = self._snapshots[snapshot_index].restored_state()
        for event in self.events[self._counts[snapshot_index] : count]:
            state.consume(event)
        return state

    def _thin_surrogates(self) -> None:
        dropped = self._surrogates[1:-1:2]
        dropped_set = set(dropped)
        self.events[:] = [e for index, e in enumerate(self.events) if index not in dropped_set]
        self._surrogates = [
            index - bisect_left(dropped, index)
            for index in self._surrogates
            if index not in dropped_set
        ]
        self.stops = [count - bisect_left(dropped, count) for count in self.stops]
        self._counts = [count - bisect_left(dropped, count) for count in self._counts]
        self._next_snapshot = self._counts[-1] + KEPT_EVERY

    @property
    def plan(self) -> Plan:
        """The plan with which it began."""
        return self.state.started.run_plan

    def budget_for(self, more: int) -> int:
        """How many trials beyond its budget the run needs for `more` beyond those done."""
        return len(self.state.trials) + more - self.state.total
