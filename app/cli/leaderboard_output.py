"""The final ranking of models, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.records import Record
from core.tuning.events import Event


@dataclass(frozen=True)
class ModelResult(Record):
    """One of several models of a run."""

    model: str
    validation: dict[str, float]  # {metric: best score}, empty without a complete trial
    standard_error: float | None
    estimate: dict[str, float]  # {metric: estimated score of the best trial that ended early}
    trials: int
    ended_early: int
    seconds: float
    state: str
    why: str  # a sentence for a failed model


def leaderboard_of(events: Iterable[Event]) -> list[ModelResult]:
    """The models of a run, best first; empty for one model."""
    from core.tuning.runs.model_leaderboard import model_leaderboard  # brings numpy
    from core.tuning.runs.state import state_from_events

    run = state_from_events(events)
    if not run.tunes_several_models:
        return []
    return [
        ModelResult(
            model=row.model,
            validation={} if row.best is None else {run.started.metric: row.best},
            standard_error=row.error,
            estimate={} if row.estimate is None else {run.started.metric: row.estimate},
            trials=row.trials,
            ended_early=row.early,
            seconds=row.seconds,
            state=row.state,
            why=row.why,
        )
        for row in model_leaderboard(run)
    ]
