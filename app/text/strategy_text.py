"""How each strategy works, in two sentences for people, and what data it judges by."""

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
    """How a strategy works; "" for one that is not installed.

    Args:
        strategy, options: of the plan.
        trial_count: trials so far; strategies that model the score say from how many.
        task: of the data.
        groups: how many groups have a penalty of their own; 0 where nobody knows yet.
    """
    strategy_entry = STRATEGIES.get(strategy)
    moment = RunContext(options, trial_count, task, groups, Task(task).items)
    return strategy_entry.works(moment) if strategy_entry is not None else ""


def why_proposed(strategy: str) -> str:
    """Why a strategy tries a setting, with a place for the setting."""
    strategy_entry = STRATEGIES.get(strategy)
    if strategy_entry is None or not strategy_entry.why:
        return "Now: {setting} is tried."
    return "Now: {setting} is tried; it " + strategy_entry.why + "."


def proposed_by(strategy: str) -> str:
    """The same in a cell of a table."""
    if strategy == "hand":
        return "entered by you"
    strategy_entry = STRATEGIES.get(strategy)
    return strategy_entry.why_short or strategy if strategy_entry is not None else strategy


def learns_held_out(started: RunStarted) -> bool:
    """Whether a run's penalties are learned from held-out rows."""
    return started.kind == "penalties" and holds_out(started.run_plan.strategy)


def holds_out(strategy: str) -> bool:
    """Whether a strategy learns penalties from held-out rows."""
    strategy_entry = STRATEGIES.get(strategy)
    return strategy_entry is not None and strategy_entry.holds_out


def lists_values(strategy: str) -> bool:
    """Whether a strategy can list the values that it tries, as a grid does."""
    strategy_entry = STRATEGIES.get(strategy)
    return strategy_entry is not None and strategy_entry.values is not None


def surrogate_of(started: RunStarted) -> str:
    """What a run of trials models of the scores (`Strategy.surrogate`); "" for nothing."""
    strategy = STRATEGIES.get(started.run_plan.strategy)
    return strategy.surrogate if strategy is not None and started.kind == "trials" else ""


def what_is_held_out(started: RunStarted) -> str:
    """Which rows judge the settings of this run, "" where nothing is known yet."""
    if not started.run_plan.strategy:
        return ""
    task, aside = started.dataset.task, size_of_test_set(started.dataset)
    if folds := started.dataset.outer_folds:
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = f"{aside} are the test set; tuning never sees them."
    unit_words = task.items
    if started.kind == "penalties" and not learns_held_out(started):
        words = (
            f"The penalty comes from the training {unit_words} themselves: no validation is needed."
        )
    elif started.kind == "penalties":
        return aside
    elif started.judged == "training" and not task.has_target:
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = (
            f"Each score says how well the model explains the training {unit_words} themselves: "
            "no validation is needed."
        )
    elif started.judged == "validation":
        words = "Each score comes from one part of the training {units} that is held out."
        words = words.format(units=unit_words)
    else:
        folds = started.run_plan.folds
        words = "Each score is the mean over {folds} parts of the training {units}{often}."
        often = f", which are divided {_times_text(started.repeats)}" if started.repeats > 1 else ""
        words = words.format(folds=folds, units=unit_words, often=often)
    return f"{words} {aside}".strip()


def _times_text(count: int) -> str:
    return {2: "twice", 3: "three times"}.get(count, f"{count} times")
