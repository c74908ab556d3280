"""Differences of a plan from the defaults."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any

from core.datasets.task import Task
from core.estimators.registry import MODELS
from core.options import Option
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES

_ALWAYS = ("data", "model", "strategy", "groups", "options")  # written in any case


def non_default_fields(plan: Plan | DataPlan) -> dict[str, Any]:
    """{field: value} of the fields with another value than the default."""
    return {
        field.name: getattr(plan, field.name)
        for field in fields(plan)
        if field.name not in _ALWAYS and getattr(plan, field.name) != _default(field)
    }


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def options_of(plan: Plan) -> dict[str, Any]:
    """The strategy's options that differ from its defaults."""
    described = own_options(plan)
    values = {
        name: described[name].parse_value(value) if name in described else value
        for name, value in plan.options.items()
    }
    defaults = {name: option.default for name, option in described.items()}
    return {k: value for k, value in values.items() if k not in defaults or value != defaults[k]}


def own_options(plan: Plan) -> dict[str, Option]:
    """The options of the plan's strategy."""
    strategy = STRATEGIES.get(plan.strategy)
    return {} if strategy is None else {option.name: option for option in strategy.options}


def names_groups(plan: Plan) -> bool:
    """Whether the groups have to be written: the default depends on the task."""
    model = MODELS.get(plan.model)
    is_structured = model is not None and any(Task(task).is_structured for task in model.tasks)
    return plan.groups != "single" or is_structured


def has_words(plan: Plan) -> bool:
    """Whether the plan's model counts words of texts."""
    model = MODELS.get(plan.model)
    return model is None or Task.TOPICS in model.tasks


def says_topics(plan: Plan) -> bool:
    """Whether the task follows from the model alone."""
    model = MODELS.get(plan.model)
    return not plan.data.task and model is not None and model.tasks == (Task.TOPICS,)
