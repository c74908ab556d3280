"""The first plan: the recommended one, or the plan before where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from app.preferences import remembered_choices
from core.tuning.plan import DataPlan, Plan

if TYPE_CHECKING:
    from core.tuning.guidance.guidance_records import Advice, ModelAdvice, StrategyAdvice

T = TypeVar("T", "ModelAdvice", "StrategyAdvice")


def _recommended(offered: Sequence[T]) -> T:
    """The recommended model or strategy, else the first one."""
    return min(offered, key=lambda entry: not entry.recommended)


def plan_for(data: DataPlan, advice: Advice, before: Plan | None) -> Plan | None:
    """The plan before with the new data where it fits, else the recommended one."""
    fitting = advice.fitting_models
    if before is not None and any(entry.name == before.model for entry in fitting):
        has_same_target = (before.data.target, before.data.task) == (data.target, data.task)
        base_plan = before if has_same_target else before.changed(costs={}, ranges={}, fixed={})
        return base_plan.changed(data=data)
    if not fitting:
        return None
    model = _recommended(fitting).name
    strategy = _recommended(advice.strategies[model])
    plan = Plan(data=data, model=model, strategy=strategy.name, groups=strategy.groups)
    return remembered_choices.recalled_plan(plan, strategy)


def with_model(plan: Plan, model: str, advice: Advice) -> Plan:
    """The plan with another model, without ranges; the strategy stays if it fits."""
    if model != plan.model:
        plan = plan.changed(ranges={}, fixed={})
    offered = advice.strategies.get(model, [])
    if any(strategy.name == plan.strategy for strategy in offered):
        return plan.changed(model=model)
    strategy = _recommended(offered)
    groups = strategy.groups if plan.groups == "single" else plan.groups
    changed = plan.changed(model=model, strategy=strategy.name, groups=groups)
    return remembered_choices.with_strategy_choices(changed, strategy)


def with_strategy(plan: Plan, name: str, advice: Advice) -> Plan:
    """The plan with another strategy."""
    strategy = next(entry for entry in advice.strategies[plan.model] if entry.name == name)
    return remembered_choices.with_strategy_choices(plan.changed(strategy=name), strategy)
