"""What a plan says that the defaults do not: what a command and a snippet have to say."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any

from core.datasets.task import Task
from core.estimators.registry import MODELS
from core.options import Option
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES

_ALWAYS = ("data", "model", "strategy", "groups", "options")


def non_default_fields(plan: Plan | DataPlan) -> dict[str, Any]:
    """{field: value} of the fields that are not at their default, those said anyway left out."""
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
    """The strategy's options that differ from its defaults, each in its own type."""
    described = own_options(plan)
    values = {
        name: described[name].parse_value(value) if name in described else value
        for name, value in plan.options.items()
    }
    defaults = {name: option.default for name, option in described.items()}
    return {k: value for k, value in values.items() if k not in defaults or value != defaults[k]}


def own_options(plan: Plan) -> dict[str, Option]:
    """What can be set of the plan's strategy; nothing is known of one that is not installed."""
    strategy = STRATEGIES.get(plan.strategy)
    return {} if strategy is None else {option.name: option for option in strategy.options}


def names_groups(plan: Plan) -> bool:
    """Whether the groups have to be said.

    Without a word a table's columns share one penalty; for sequences and molecules the usual
    groups depend on the data.
    """
    model = MODELS.get(plan.model)
    is_structured = model is not None and any(Task(task).is_structured for task in model.tasks)
    return plan.groups != "single" or is_structured


def has_words(plan: Plan) -> bool:
    """Whether the plan's model counts the words of texts, so that options about them matter."""
    model = MODELS.get(plan.model)
    return model is None or Task.TOPICS in model.tasks


def says_topics(plan: Plan) -> bool:
    """Whether the model alone says the task, where the plan leaves it to the file."""
    model = MODELS.get(plan.model)
    return not plan.data.task and model is not None and model.tasks == (Task.TOPICS,)
