"""One search on one table, and what its trials predict of test rows: averages and the single best.

A trial is judged by its cross-validated log likelihood. What predicts is fitted again to all
training rows. The test rows are looked at once, at the end.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from core.datasets.preparation import preparation
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.reproduction.yogatama.data import Source, read
from core.samplers.averaging import (
    greedy_weights,
    log_predictive,
    members,
    ranking,
    tempered_weights,
    uniform_weights,
)
from core.samplers.search_space import distributions
from core.space import Setting
from core.tuning.problem import take
from core.tuning.strategies.registry import STRATEGIES

optuna.logging.set_verbosity(optuna.logging.WARNING)

FOLDS = 3
TEST = 0.3
SEED = 0  # of the models: a setting gives the same score whoever tries it
LEAST = float(np.finfo(np.float64).eps)  # of a probability, as in scikit-learn's log_loss

SINGLE, UNIFORM, TEMPERED = "single", "uniform", "tempered"
GREEDY, GREEDY_OF_ALL = "greedy", "greedy of all"


@dataclass(frozen=True)
class Method:
    """A search.

    Attributes:
        sampler: its name in the registry.
        ways: how its trials predict.
        options: of the sampler; the others are the program's own.
    """

    sampler: str
    ways: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


_EVERY_WAY = (UNIFORM, SINGLE, TEMPERED, GREEDY, GREEDY_OF_ALL)
METHODS: dict[str, Method] = {
    "eb-hyp": Method("eb-hyp", _EVERY_WAY),
    "gp": Method("gp", (SINGLE, UNIFORM)),
    "random": Method("random", (SINGLE, UNIFORM)),
    "tpe": Method("tpe", (SINGLE,)),
    "eb-hyp T=0.1": Method("eb-hyp", _EVERY_WAY, {"temperature": 0.1}),
    "eb-hyp thompson": Method("eb-hyp", _EVERY_WAY, {"rule": "thompson"}),
}


@dataclass(frozen=True)
class Step:
    """Searches of one model on one table with one seed, of the split and of the searches."""

    source: Source
    model: str
    seed: int
    methods: tuple[str, ...]
    trials: int


@dataclass(frozen=True)
class Rows:
    """Prepared rows, shape (n, p), and the codes of their classes, shape (n,)."""

    X: Any
    y: np.ndarray


@dataclass(frozen=True)
class Split:
    """A table for one seed: every fold's training and held-out rows, then all and the test rows."""

    task: str
    folds: tuple[tuple[Rows, Rows], ...]
    whole: Rows
    test: Rows


def taken(step: Step) -> dict[str, dict[str, float]]:
    """Make the searches.

    Returns:
        {method: {way: test log loss in nats a row}}, with ``took`` seconds.
    """
    fits = Fits(step.model, split_of(step.source, step.model, step.seed))
    found = {}
    for name in step.methods:
        begun = time.perf_counter()
        losses = test_losses(METHODS[name], fits, searched(METHODS[name], fits, step))
        found[name] = {**losses, "took": time.perf_counter() - begun}
    return found


@cache
def split_of(source: Source, model: str, seed: int) -> Split:
    """The table divided by a seed, classes in equal shares; columns prepared by what trains."""
    dataset = read(source)
    y = np.unique(dataset.target, return_inverse=True)[1]
    everything = np.arange(len(y))
    train, test = train_test_split(everything, test_size=TEST, stratify=y, random_state=seed)

    def prepared(inside: np.ndarray, outside: np.ndarray) -> tuple[Rows, Rows]:
        prepare = preparation(dataset, scale=MODELS[model].scaled, sparse_ok=False)
        prepare.fit(take(dataset.features, inside))
        one, other = (
            Rows(np.asarray(prepare.transform(take(dataset.features, part))), y[part])
            for part in (inside, outside)
        )
        return one, other

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(train, y[train])
    return Split(
        dataset.task,
        tuple(prepared(train[inside], train[outside]) for inside, outside in folds),
        *prepared(train, test),
    )


class Fits:
    """Fitted settings of one split; none is fitted twice."""

    def __init__(self, model: str, split: Split) -> None:
        kind = MODELS[model]
        self.model: Model = kind.probabilistic or kind
        self.split = split
        self._held_out: dict[str, np.ndarray | None] = {}
        self._test: dict[str, np.ndarray] = {}

    def held_out(self, setting: Setting) -> np.ndarray | None:
        """Log probabilities of held-out rows, fold after fold; None where a fit failed."""
        return _remembered(self._held_out, setting, self._cross_validated)

    def test(self, setting: Setting) -> np.ndarray:
        """Log probabilities of the test rows, fitted to all training rows."""
        return _remembered(
            self._test, setting, lambda it: self._logs(it, self.split.whole, self.split.test)
        )

    def _cross_validated(self, setting: Setting) -> np.ndarray | None:
        try:
            return np.concatenate([self._logs(setting, *fold) for fold in self.split.folds])
        except (ValueError, ArithmeticError):
            return None

    def _logs(self, setting: Setting, train: Rows, asked: Rows) -> np.ndarray:
        estimator = self.model.build(self.split.task, setting, SEED)
        with warnings.catch_warnings():
            # Too few iterations are a setting like any other here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            probabilities = estimator.fit(train.X, train.y).predict_proba(asked.X)
        own = probabilities[np.arange(len(asked.y)), asked.y]  # every class is in every part
        return np.log(np.clip(own, LEAST, 1.0))


def _remembered(known: dict[str, Any], setting: Setting, found: Callable[[Setting], Any]) -> Any:
    key = json.dumps(setting, sort_keys=True)
    if key not in known:
        known[key] = found(setting)
    return known[key]


def searched(method: Method, fits: Fits, step: Step) -> list[tuple[Setting, float]]:
    """The settings that a search tried, each with its f, nan where it failed."""
    space = fits.model.space(fits.split.task)
    sampler = STRATEGIES[method.sampler].sampler(space, method.options, step.seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    tried = []
    for _ in range(step.trials):
        trial = study.ask(distributions(space))
        logs = fits.held_out(dict(trial.params))
        f = math.nan if logs is None else float(logs.mean())
        if math.isfinite(f):
            study.tell(trial, f)
        else:
            study.tell(trial, state=TrialState.FAIL)
        tried.append((dict(trial.params), f))
    return tried


def test_losses(method: Method, fits: Fits, tried: list[tuple[Setting, float]]) -> dict[str, float]:
    """{way: log loss of the test rows in nats a row} of a finished search."""
    f = {k: value for k, (_, value) in enumerate(tried)}
    found = {}
    for way in method.ways:
        chosen, weights = weighted(way, f, lambda k: fits.held_out(tried[k][0]))
        densities = np.array([fits.test(tried[k][0]) for k in chosen]).T
        found[way] = -log_predictive(densities, weights) / len(densities)
    return found


def weighted(
    way: str, f: Mapping[int, float], held_out: Callable[[int], Any]
) -> tuple[list[int], np.ndarray]:
    """Which trials predict, and with what weights.

    Args:
        way: single, uniform, tempered, greedy (all but single over the best tenth), greedy of all.
        f: of every trial.
        held_out: (trial) -> its log probabilities of held-out rows.
    """
    top = members(f, maximize=True)
    if way == SINGLE:
        return top[:1], uniform_weights(1)
    if way == UNIFORM:
        return top, uniform_weights(len(top))
    if way == TEMPERED:
        return top, tempered_weights(f, top, maximize=True)
    chosen = top if way == GREEDY else ranking(f, maximize=True)
    weights = greedy_weights(np.array([held_out(k) for k in chosen]).T)
    used = [k for k, weight in zip(chosen, weights, strict=True) if weight > 0.0]
    return used, weights[weights > 0.0]
