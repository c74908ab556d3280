"""The problem of a resumed run, as it first started."""

from __future__ import annotations

from dataclasses import replace

from core.estimators.registry import model_named
from core.tuning.events import RunStarted
from core.tuning.problem import Problem
from core.tuning.scores.metrics import METRICS


def as_first_started(problem: Problem, started: RunStarted | None) -> Problem:
    """The problem with the metric and the space of its first event; None for a new run."""
    if started is None:
        return problem
    if started.repeats != problem.fold_repeats:
        problem = replace(problem, options=problem.options.changed(repeats=started.repeats))
    metric, model, plan = problem.metric, problem.model, problem.plan
    first_metric, task = METRICS.get(started.metric), problem.dataset.task
    if not plan.metric and first_metric is not None and task in first_metric.tasks:
        metric = first_metric
        is_needed = problem.averages or bool(plan.costs) or metric.needs == "probabilities"
        model = model_named(plan.model, probabilities=is_needed)
    first_axes = tuple(started.space)
    first_names = {axis.name for axis in first_axes}
    is_same_space = not first_axes or first_names == {axis.name for axis in problem.space}
    if is_same_space and metric == problem.metric:
        return problem
    reason = problem.metric_reason if metric == problem.metric else ""
    axes = () if is_same_space else first_axes
    return replace(problem, metric=metric, model=model, axes=axes, metric_reason=reason)
