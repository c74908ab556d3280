"""The learned penalty of a linear model as one of its first settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.errors import UnusableError
from core.space import Setting
from core.tuning.events import Progress
from core.tuning.learning.learning_run import PenaltyFit, run_learner
from core.tuning.problem import Problem
from core.tuning.strategies.registry import STRATEGIES

MAX_VALUES = 3e6  # training rows × columns × scores a row: about a second
MAX_STEPS = 30
_LEARNER: Mapping[str, str] = {"logistic": "loo", "linear": "evidence"}


def learned_start(problem: Problem) -> Setting | None:
    """The setting with the learned penalty; None where it is not learned, or would take long."""
    strategy = STRATEGIES.get(_LEARNER.get(problem.plan.model, ""))
    rows, columns = problem.dataset.features.shape
    outputs = len(problem.dataset.classes) if len(problem.dataset.classes) > 2 else 1
    if strategy is None or rows * columns * outputs > MAX_VALUES:
        return None
    options = strategy.option_values({})
    # A model that is tuned by trials has one penalty, whatever groups were asked for.
    plan = problem.plan.changed(groups="single")
    learner_problem = replace(problem, plan=plan, strategy=strategy, options=options)
    learning = run_learner(learner_problem, lambda steps: steps >= MAX_STEPS, Progress)
    try:
        while True:
            next(learning)
    except StopIteration as ended:
        return _setting(problem, ended.value)
    except (UnusableError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None  # the model starts without it


def _setting(problem: Problem, learned: PenaltyFit) -> Setting | None:
    """The penalty as the model's own parameter: C = 1/penalty, or α = σ² × penalty of Ridge."""
    (penalty,) = learned.penalties.values()
    (axis,) = [axis for axis in problem.space if axis.name in ("C", "alpha")]
    variance = learned.noise_variance
    value = 1.0 / penalty if axis.name == "C" else penalty * (variance or 1.0)
    if not np.isfinite(value):
        return None
    return {**problem.default, axis.name: float(np.clip(value, axis.low, axis.high))}
