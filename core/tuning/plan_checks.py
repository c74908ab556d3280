"""Checks of a plan before a run: names, pairs that fit, numbers in range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.errors import UnusableError, nearest_names_cure
from core.estimators.model import Model
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.tuning.plan import DECODINGS, Plan
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

LARGEST_SEED = 2**32 - 1  # of numpy's and scikit-learn's generators
MAX_WORKERS = 512
MAX_TARGET, MIN_TARGET = 1e150, 1e-150  # sums of squares have to be finite and not 0


def registry_entry(registry: Mapping[str, Any], kind: str, name: str) -> Any:
    """The entry of a registry; UnusableError with the nearest names."""
    if name not in registry:
        raise UnusableError(f"there is no {kind} “{name}”", cure=nearest_names_cure(registry, name))
    return registry[name]


def check_pair(model: Model, strategy: Strategy, task: str) -> None:
    """Raise UnusableError unless model, strategy and task fit each other."""
    if task not in model.tasks:
        fitting = [name for name, known_model in MODELS.items() if task in known_model.tasks]
        cure = "choose one of " + ", ".join(fitting)
        raise UnusableError(f"{model.name} cannot do {task}", cure=cure)
    if strategy.several and model.name != SEVERAL:
        raise UnusableError(
            f"{strategy.name} tunes several models in one run, not {model.name} alone",
            where="option strategy",
            cure=f"choose model {SEVERAL}, or one of the strategies "
            f"{_fitting_strategies('trials', task)}",
        )
    if model.name == SEVERAL and not strategy.several:
        raise UnusableError(
            f"{strategy.name} tunes one model, not several in one run",
            where="option strategy",
            cure="choose strategy race, and how it tunes each model by its option search",
        )
    if strategy.tasks and task not in strategy.tasks:
        raise UnusableError(
            f"{strategy.name} cannot do {task}, only {' and '.join(strategy.tasks)}",
            cure=f"choose one of the strategies {_fitting_strategies(strategy.kind, task)}",
        )
    if strategy.kind == "penalties" and task not in model.loss:
        raise UnusableError(
            f"{strategy.name} learns the penalties of a model's weights, not of {model.name}",
            cure=f"choose {_with_losses(task)}, or one of the strategies "
            f"{_fitting_strategies('trials', task)}",
        )


def check_numbers(dataset: Dataset) -> None:
    """Raise UnusableError unless squares of the target are finite and not 0."""
    if not dataset.task.has_numbers:
        return
    for rows in (dataset.target, dataset.test.target if dataset.test is not None else ()):
        size = float(np.max(np.abs(rows), initial=0.0))
        spread = float(np.ptp(rows)) if len(rows) else 0.0
        if size > MAX_TARGET or 0 < spread < MIN_TARGET:
            problem = "too large" if size > MAX_TARGET else "too small"
            number = size if size > MAX_TARGET else spread
            raise UnusableError(
                f"the numbers to predict are {problem} to be squared (about {number:.0e})",
                where=f"{dataset.name}, column {dataset.target_name}",
                cure="give them in another unit",
            )


def _fitting_strategies(kind: str, task: str) -> str:
    candidates = [s for s in STRATEGIES.values() if s.kind == kind and not s.several]
    return ", ".join(s.name for s in candidates if not s.tasks or task in s.tasks)


def _with_losses(task: str) -> str:
    return "model " + " or ".join(name for name, model in MODELS.items() if task in model.loss)


def check_budget(plan: Plan) -> None:
    """Raise UnusableError unless every number and choice of a plan is in its range."""
    limits = (
        ("trials", plan.trials, 1, math.inf),
        ("workers", plan.workers, 0, MAX_WORKERS),
        ("folds", plan.folds, 2, math.inf),
        ("seed", plan.seed, 0, LARGEST_SEED),
        ("patience", plan.patience, 0, math.inf),
    )
    for name, value, minimum, maximum in limits:
        if value is not None and not minimum <= value <= maximum:
            range_ = f"at least {minimum}" if maximum == math.inf else f"{minimum} to {maximum:,}"
            raise UnusableError(f"“{value}” is out of range", where=name, cure=f"give {range_}")
    for name, time in (("minutes", plan.minutes), ("time limit", plan.time_limit)):
        if time is not None and not 0 < time < math.inf:
            cure = "give a number above 0"
            raise UnusableError(f"“{time:g}” is out of range", where=name, cure=cure)
    _ = plan.max_bytes  # raises
    if plan.decoding not in DECODINGS:
        raise UnusableError(
            f"there is no decoding “{plan.decoding}”",
            where="option decoding",
            cure="choose one of " + ", ".join(DECODINGS),
        )
    if plan.data.test_size is not None and not 0 < plan.data.test_size < 1:
        raise UnusableError(
            f"“{plan.data.test_size}” is out of range", where="test size", cure="give 0.05 to 0.9"
        )
