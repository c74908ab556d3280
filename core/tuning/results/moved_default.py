"""Where a person's ranges leave the model's default setting out: what is compared instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.tuning.problem import Problem
from core.tuning.ranges import told


def default_moved(problem: Problem) -> dict[str, Any]:
    """{setting: the model's usual value} of those that the ranges of the plan leave out."""
    plan = problem.plan
    if not (plan.ranges or plan.fixed) or problem.strategy.several:
        return {}
    own = replace(problem, axes=()).own_axes if problem.axes else problem.own_axes
    taken = problem.default
    return {a.name: a.default for a in own if a.default != taken.get(a.name, a.default)}


def said_of_moved(problem: Problem) -> list[str]:
    """A sentence that names each such setting with both values; none where there is none."""
    moved, taken = default_moved(problem), problem.default
    if not moved:
        return []
    each = ", ".join(
        f"{name} {told(taken[name])} instead of {told(value)}" for name, value in moved.items()
    )
    return [
        "The ranges leave the model's default setting out; what is compared as the default setting "
        f"is the nearest one inside: {each}."
    ]
