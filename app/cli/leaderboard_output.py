"""How the models of a run of several stood at its end, for the terminal and for `--json`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.records import Record
from core.tuning.events import Event


@dataclass(frozen=True)
class ModelResult(Record):
    """How one of several models stood.

    Attributes:
        validation: {metric: best score}, empty without a whole trial.
        standard_error: of that score.
        estimate: {metric: the best that trials which were ended early would have scored}.
        why: a sentence for models that failed.
    """

    model: str
    validation: dict[str, float]
    standard_error: float | None
    estimate: dict[str, float]
    trials: int
    ended_early: int
    seconds: float
    state: str
    why: str


def leaderboard_of(events: Iterable[Event]) -> list[ModelResult]:
    """The models of a run, the best first; empty where one was tuned."""
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
