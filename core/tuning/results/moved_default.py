"""The default setting where a person's ranges leave the model's default out."""

from __future__ import annotations

from dataclasses import replace

from core.space import Setting
from core.tuning.problem import Problem
from core.tuning.ranges import setting_value_text


def moved_defaults(problem: Problem) -> Setting:
    """{setting: the model's default} of those that the ranges of the plan leave out."""
    plan = problem.plan
    if not (plan.ranges or plan.fixed) or problem.strategy.several:
        return {}
    model_axes = replace(problem, axes=()).own_axes if problem.axes else problem.own_axes
    setting = problem.default
    return {a.name: a.default for a in model_axes if a.default != setting.get(a.name, a.default)}


def moved_default_remarks(problem: Problem) -> list[str]:
    """A sentence that names each such setting with both values; none where there is none."""
    usual_values, setting = moved_defaults(problem), problem.default
    if not usual_values:
        return []
    changes = ", ".join(
        f"{name} {setting_value_text(setting[name])} instead of {setting_value_text(value)}"
        for name, value in usual_values.items()
    )
    return [
        "The ranges leave the model's default setting out; what is compared as the default setting "
        f"is the nearest one inside: {changes}."
    ]
