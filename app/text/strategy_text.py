"""How each strategy works, and what scores its settings."""

from __future__ import annotations

from typing import Any

from app.text.unit_names import size_of_test_set
from core.datasets.task import Task
from core.tuning.events import RunStarted
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import RunContext


def how_it_works(
    strategy: str, options: dict[str, Any], trial_count: int, task: str = "", groups: int = 0
) -> str:
    """How a strategy works; "" for one that is not installed."""
    entry = STRATEGIES.get(strategy)
    context = RunContext(options, trial_count, task, groups, Task(task).items)
    return entry.works(context) if entry is not None else ""


def why_proposed(strategy: str) -> str:
    """Why a setting is tried, with a placeholder for it."""
    entry = STRATEGIES.get(strategy)
    if entry is None or not entry.why:
        return "Now: {setting} is tried."
    return "Now: {setting} is tried; it " + entry.why + "."


def proposed_by(strategy: str) -> str:
    """Who proposed a setting, in short."""
    if strategy == "hand":
        return "entered by you"
    entry = STRATEGIES.get(strategy)
    return entry.why_short or strategy if entry is not None else strategy


def learns_held_out(started: RunStarted) -> bool:
    """Whether a run's penalties are learned from held-out rows."""
    return started.kind == "penalties" and holds_out(started.run_plan.strategy)


def holds_out(strategy: str) -> bool:
    """Whether a strategy learns penalties from held-out rows."""
    entry = STRATEGIES.get(strategy)
    return entry is not None and entry.holds_out


def lists_values(strategy: str) -> bool:
    """Whether a strategy lists its values in advance."""
    entry = STRATEGIES.get(strategy)
    return entry is not None and entry.values is not None


def surrogate_of(started: RunStarted) -> str:
    """The surrogate of a run of trials, or ""."""
    strategy = STRATEGIES.get(started.run_plan.strategy)
    return strategy.surrogate if strategy is not None and started.kind == "trials" else ""


def what_is_held_out(started: RunStarted) -> str:
    """Which rows score the settings, or ""."""
    if not started.run_plan.strategy:
        return ""
    task, aside = started.dataset.task, size_of_test_set(started.dataset)
    if folds := started.dataset.outer_folds:
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = f"{aside} are the test set; tuning never sees them."
    units = task.items
    if started.kind == "penalties" and not learns_held_out(started):
        words = f"The penalty comes from the training {units} themselves: no validation is needed."
    elif started.kind == "penalties":
        return aside
    elif started.judged == "training" and not task.has_target:
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = (
            f"Each score says how well the model explains the training {units} themselves: "
            "no validation is needed."
        )
    elif started.judged == "validation":
        words = f"Each score comes from one part of the training {units} that is held out."
    else:
        folds = started.run_plan.folds
        often = f", which are divided {_times_text(started.repeats)}" if started.repeats > 1 else ""
        words = f"Each score is the mean over {folds} parts of the training {units}{often}."
    return f"{words} {aside}".strip()


def _times_text(count: int) -> str:
    return {2: "twice", 3: "three times"}.get(count, f"{count} times")
