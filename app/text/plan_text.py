"""Titles of the planned model and strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.tuning.guidance.guidance_records import Advice
    from core.tuning.plan import Plan


def model_title(plan: Plan | None, advice: Advice | None) -> str:
    """The planned model's title, "" without one."""
    if plan is None or advice is None:
        return ""
    titles = {entry.name: entry.title for entry in advice.models}
    return titles.get(plan.model, plan.model)


def strategy_title(plan: Plan | None, advice: Advice | None) -> str:
    """The planned strategy's title, "" without one."""
    if plan is None or advice is None:
        return ""
    titles = {entry.name: entry.title for entry in advice.strategies.get(plan.model, [])}
    return titles.get(plan.strategy, plan.strategy)
