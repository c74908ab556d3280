"""The run that the window shows: its events, its results and its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.tuning.events import (
    Event,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
)
from core.tuning.plan import Plan, plan_from_dict

SURROGATES_KEPT = 400  # of one run in memory; the run folder keeps all


class ShownRun:
    """What was received of one run.

    Attributes:
        events: oldest first; of very many surrogates every second one is forgotten.
        results: once the run ended.
        folder: where the run keeps everything, once it is known.
    """

    def __init__(self, events: list[Event], folder: Path | None) -> None:
        self.events, self.folder = events, folder
        last = events[-1] if events else None
        ended = isinstance(last, (RunFinished, RunStopped))
        self.results: dict[str, Any] | None = last.results if ended else None

    @property
    def state(self) -> str:
        """How a run stands that is not going on: idle (there is none), interrupted, finished."""
        if self.results is not None:
            return "finished"
        return "interrupted" if self.events else "idle"

    def take(self, event: Event) -> None:
        """One more event."""
        self.events.append(event)
        if isinstance(event, SurrogateFitted):
            self._thin_surrogates()
        if isinstance(event, (RunFinished, RunStopped)):
            self.results = event.results

    def _thin_surrogates(self) -> None:
        fitted = [at for at, e in enumerate(self.events) if isinstance(e, SurrogateFitted)]
        if len(fitted) > SURROGATES_KEPT:
            dropped = set(fitted[1:-1:2])
            self.events[:] = [e for at, e in enumerate(self.events) if at not in dropped]

    @property
    def plan(self) -> Plan:
        """The plan with which it began."""
        started = next(e for e in self.events if isinstance(e, RunStarted))
        return plan_from_dict(started.plan)

    @property
    def kept(self) -> int:
        """Trials with a score."""
        return len({e.number for e in self.events if isinstance(e, TrialFinished)})

    def budget_for(self, more: int) -> int:
        """How many trials beyond its budget the run needs for `more` beyond those done."""
        ended = {e.number for e in self.events if isinstance(e, (TrialFinished, TrialFailed))}
        totals = [e.total for e in self.events if isinstance(e, (RunStarted, RunResumed))]
        return len(ended) + more - totals[-1]
