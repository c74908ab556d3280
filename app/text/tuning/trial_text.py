"""Text about a trial that ended early."""

from __future__ import annotations

from core.tuning.events import RunStarted
from core.tuning.runs.trial_table import Trial


def ended_early(trial: Trial, started: RunStarted) -> str:
    """Such as "ended early: clearly behind after 2 of 5 folds"."""
    folds = started.run_plan.folds * started.repeats
    return f"ended early: clearly behind after {trial.fits} of {folds} folds"
