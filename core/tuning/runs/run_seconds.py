"""The seconds of a run: what they were spent on, and what those to come are for."""

from __future__ import annotations

from dataclasses import dataclass

from core.tuning.runs.state import RunState


@dataclass(frozen=True)
class RunSeconds:
    """The parts of a run's time, in their order, in seconds."""

    screening: float  # spent
    trials: float
    ending: float  # since the last trial
    free: float  # left for trials
    kept: float  # left for the end

    @property
    def left(self) -> float:
        """All that is left."""
        return self.free + self.kept


def run_seconds(run: RunState, now: float | None = None) -> RunSeconds:
    """The parts by `now`, in seconds of the run; by the last event without it."""
    now = run.seconds if now is None else max(now, run.seconds)
    tuned_until = now if run.tuning_ended is None else run.tuning_ended.seconds
    screening = run.screening_seconds if run.trials or run.pending else tuned_until
    trials = max(0.0, tuned_until - screening)
    if run.ended is not None:
        return RunSeconds(screening, trials, now - tuned_until, 0.0, 0.0)
    left = max(0.0, 60 * (run.started.run_plan.minutes or 0.0) - now)  # before any forecast
    if run.seconds_left is not None:
        left = max(0.0, run.seconds_left - (now - run.forecast_at))
    kept = min(left, run.ending_seconds) if run.tuning_ended is None else left
    return RunSeconds(screening, trials, now - tuned_until, left - kept, kept)
