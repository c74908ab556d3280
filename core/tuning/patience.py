"""When a run of trials ends because nothing improves any more.

The defaults are chosen by tests/benchmarks/bench_patience.py, which says what they lose and save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.tuning.plan import Plan
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

if TYPE_CHECKING:
    from core.tuning.runs.state import RunState

DEFAULT_PATIENCE = Strategy.patience


def usual_patience(strategy: str) -> int:
    """The default patience of a strategy; 0 for any number of trials."""
    entry = STRATEGIES.get(strategy)
    return DEFAULT_PATIENCE if entry is None else entry.patience


def patience_of(plan: Plan) -> int:
    """How many trials in a row may improve nothing; 0 for any number."""
    return usual_patience(plan.strategy) if plan.patience is None else plan.patience


def trials_before_stop(run: RunState) -> int:
    """After how many more trials without a better one a run ends; 0 for never."""
    plan = run.started.run_plan
    patience = patience_of(plan)
    # Trials that run beside the best were chosen before it was known: they do not count.
    return max(0, patience + max(1, plan.workers) - 1 - run.without_better) if patience else 0


def is_spent(plan: Plan, run: RunState, workers: int = 1) -> bool:
    """Whether so many trials in a row improved nothing, since the run was last extended."""
    patience = patience_of(plan)
    # With several workers, all running trials but one were chosen before the best was known, and do
    # not count.
    return patience > 0 and run.without_better >= patience + max(0, workers - 1)


def stop_rule_text(plan: Plan) -> str:
    """The sentence before the start: "It stops when 30 trials in a row improve nothing."."""
    patience = patience_of(plan)
    if not patience:
        return "It continues however many trials in a row improve nothing."
    trials = "a trial improves" if patience == 1 else f"{patience} trials in a row improve"
    return f"It stops when {trials} nothing."


def stop_reason(run: RunState) -> str:
    """Why the run ended, a clause."""
    count = run.without_better
    trials = "a trial" if count == 1 else f"{count} trials in a row"
    return f"{trials} improved nothing"
