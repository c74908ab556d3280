"""The problem of a run that began earlier, as it was then."""

from __future__ import annotations

from dataclasses import replace

from core.estimators.registry import model_named
from core.space import axis_from_dict
from core.tuning.events import RunStarted
from core.tuning.problem import Problem
from core.tuning.scores.metrics import METRICS


def as_begun(problem: Problem, started: RunStarted | None) -> Problem:
    """The problem of a run that began earlier: with the metric and the space that it had then.

    Args:
        problem: as its plan gives it today.
        started: the run's first event; None for a new run.
    """
    if started is None:
        return problem
    if started.repeats != problem.repeats:
        problem = replace(problem, options={**problem.options, "repeats": started.repeats})
    metric, model = problem.metric, problem.model
    before, task = METRICS.get(started.metric), problem.dataset.task
    if not problem.plan.metric and before is not None and task in before.tasks:
        metric = before
        asked = problem.averages or problem.plan.costs or metric.needs == "probabilities"
        model = model_named(problem.plan.model, probabilities=bool(asked))
    then = tuple(axis_from_dict(plain) for plain in started.space)
    same = not then or {axis.name for axis in then} == {axis.name for axis in problem.space}
    if same and metric == problem.metric:
        return problem
    reason = problem.metric_reason if metric == problem.metric else ""
    axes = () if same else then
    return replace(problem, metric=metric, model=model, axes=axes, metric_reason=reason)
