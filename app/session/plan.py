"""Which plan a person starts from: the recommendation, or the plan before where it still fits.

Options and budget are those that the person chose the last time.
"""

from __future__ import annotations

from typing import Any

from app.preferences import choices
from core.tuning.plan import DataPlan, Plan


def recommended(offered: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of the recommended model or strategy, or the first one."""
    return min(offered, key=lambda entry: not entry["recommended"])


def plan_for(data: DataPlan, advice: dict[str, Any], before: Plan | None) -> Plan | None:
    """The plan before with the new data where it still fits, else what is recommended."""
    fitting = [entry for entry in advice["models"] if entry["fits_task"]]
    if before is not None and any(entry["name"] == before.model for entry in fitting):
        same = (before.data.target, before.data.task) == (data.target, data.task)
        kept = before if same else before.changed(costs={}, ranges={}, fixed={})
        return kept.changed(data=data)
    if not fitting:
        return None
    model = recommended(fitting)["name"]
    strategy = recommended(advice["strategies"][model])
    plan = Plan(data=data, model=model, strategy=strategy["name"], groups=strategy["groups"])
    return choices.recalled(plan, strategy)


def with_model(plan: Plan, model: str, advice: dict[str, Any]) -> Plan:
    """The plan with another model; the strategy stays if it fits, else the recommended one.

    Ranges are those of a model, and do not go on with another.
    """
    if model != plan.model:
        plan = plan.changed(ranges={}, fixed={})
    offered = advice["strategies"].get(model, [])
    if any(strategy["name"] == plan.strategy for strategy in offered):
        return plan.changed(model=model)
    strategy = recommended(offered)
    groups = strategy["groups"] if plan.groups == "single" else plan.groups
    changed = plan.changed(model=model, strategy=strategy["name"], groups=groups)
    return choices.with_own(changed, strategy)


def with_strategy(plan: Plan, name: str, advice: dict[str, Any]) -> Plan:
    """The plan with another strategy of those that fit its model."""
    strategy = next(entry for entry in advice["strategies"][plan.model] if entry["name"] == name)
    return choices.with_own(plan.changed(strategy=name), strategy)
