"""How each strategy works, in two sentences for people, and what data it judges by."""

from __future__ import annotations

from typing import Any

from app.text.units import size_of_test_set, units
from core.tuning.events import RunStarted
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Moment


def how_it_works(
    strategy: str, options: dict[str, Any], tried: int, task: str = "", groups: int = 0
) -> str:
    """How a strategy works; "" for one that is not installed.

    Args:
        strategy, options: of the plan.
        tried: trials so far; strategies that model the score say from how many.
        task: of the data.
        groups: how many groups have a penalty of their own; 0 where nobody knows yet.
    """
    there = STRATEGIES.get(strategy)
    moment = Moment(options, tried, task, groups, _whole_units(task))
    return there.works(moment) if there is not None else ""


def why_proposed(strategy: str) -> str:
    """Why a strategy tries a setting, with a place for the setting."""
    there = STRATEGIES.get(strategy)
    if there is None or not there.why:
        return "Now: {setting} is tried."
    return "Now: {setting} is tried; it " + there.why + "."


def proposed_by(strategy: str) -> str:
    """The same in a cell of a table."""
    if strategy == "hand":
        return "entered by you"
    there = STRATEGIES.get(strategy)
    return there.why_short or strategy if there is not None else strategy


def learns_held_out(started: RunStarted) -> bool:
    """Whether a run's penalties are learned from held-out rows."""
    return started.kind == "penalties" and holds_out(started.plan.get("strategy", ""))


def holds_out(strategy: str) -> bool:
    """Whether a strategy learns penalties from held-out rows."""
    there = STRATEGIES.get(strategy)
    return there is not None and there.holds_out


def lists_values(strategy: str) -> bool:
    """Whether a strategy can list the values that it tries, as a grid does."""
    there = STRATEGIES.get(strategy)
    return there is not None and there.values is not None


def surrogate_of(started: RunStarted) -> str:
    """What a run of trials models of the scores (`Strategy.surrogate`); "" for nothing."""
    strategy = STRATEGIES.get(started.plan.get("strategy", ""))
    return strategy.surrogate if strategy is not None and started.kind == "trials" else ""


def _whole_units(task: str) -> str:
    """What is held out as a whole."""
    return "sequences" if task == "sequence" else units(task)


def what_is_held_out(started: RunStarted) -> str:
    """Which rows judge the settings of this run, "" where nothing is known yet."""
    if not started.plan.get("strategy"):
        return ""
    task, aside = started.dataset.get("task", ""), size_of_test_set(started.dataset)
    if folds := started.dataset.get("outer_folds"):
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = f"{aside} are the test set; tuning never sees them."
    whole = _whole_units(task)
    if started.kind == "penalties" and not learns_held_out(started):
        words = f"The penalty comes from the training {whole} themselves: no validation is needed."
    elif started.kind == "penalties":
        return aside
    elif started.judged == "training" and task == "topics":
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = (
            f"Each score says how well the model explains the training {whole} themselves: "
            "no validation is needed."
        )
    elif started.judged == "validation":
        words = "Each score comes from one part of the training {units} that is held out."
        words = words.format(units=whole)
    else:
        folds = started.plan.get("folds", 5)
        words = "Each score is the mean over {folds} parts of the training {units}{often}."
        often = f", which are divided {_times(started.repeats)}" if started.repeats > 1 else ""
        words = words.format(folds=folds, units=whole, often=often)
    return f"{words} {aside}".strip()


def _times(count: int) -> str:
    return {2: "twice", 3: "three times"}.get(count, f"{count} times")
