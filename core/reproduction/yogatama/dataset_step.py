"""One method on one dataset: Algorithm 2 of Yogatama & Mann 2014 for the methods compared.

A trial fits a model on the training rows; its accuracy on the development rows is all that the
method is told. The test rows are looked at once, with the setting that the method ends with.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
from sklearn.exceptions import ConvergenceWarning

from core.datasets.task import Task
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.records import Record
from core.reproduction.yogatama.streamed_datasets import (
    Examples,
    SplitDataset,
    StreamedDataset,
    split_dataset,
)
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis, Setting, default_setting
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

optuna.logging.set_verbosity(optuna.logging.WARNING)

SEED = 0  # of the models: a setting gives the same accuracy whoever tries it


@dataclass(frozen=True)
class TransferMethod:
    """A sampler, its options, and on how many earlier datasets it tries again what did best."""

    sampler: str
    options: Mapping[str, Any] = field(default_factory=dict)
    recalls: int = 0

    @property
    def strategy(self) -> Strategy:
        """The sampler's entry in the registry."""
        return STRATEGIES[self.sampler]

    @property
    def uses_earlier_datasets(self) -> bool:
        """Whether it is told of earlier datasets."""
        return self.strategy.uses_history or self.recalls > 0


COMPARED = ("random", "gp", "scot-sqe", "scot-mkl", "transfer-sqe", "transfer-mkl")  # the six
OWN_GP, OWN_GP_EARLIER = "our gp", "our gp from earlier"
METHODS: dict[str, TransferMethod] = {
    "random": TransferMethod("random"),
    # The squared exponential of the paper; the shared first trial is its only start.
    "gp": TransferMethod("gp", {"kernel": "se", "start_trials": 0, "as_published": True}),
    "scot-sqe": TransferMethod("scot", {"kernel": "sqe", "features": "linear"}),
    "scot-mkl": TransferMethod("scot", {"kernel": "mkl", "features": "linear"}),
    "transfer-sqe": TransferMethod("transfer", {"kernel": "sqe"}),
    "transfer-mkl": TransferMethod("transfer", {"kernel": "mkl"}),
    # Not of the paper: the Gaussian process as it is recommended here, and with its beginning.
    OWN_GP: TransferMethod("gp", {"start_trials": 0}),
    OWN_GP_EARLIER: TransferMethod("gp", {"start_trials": 0}, recalls=2),
}

Known = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class DatasetStep:
    """What one method does on one dataset.

    Attributes:
        arrival: the dataset.
        model: whose settings are tuned, by its name in the registry.
        method: one of METHODS.
        past: what this method found on the earlier datasets of this run, and nothing else.
        trials: the first one included.
        seed: of the sampler.
        known_scores: development and test accuracy of settings that were fitted before on this
            dataset, by `mark_of`.
    """

    arrival: StreamedDataset
    model: str
    method: str
    past: tuple[EarlierDataset, ...]
    trials: int
    seed: int
    known_scores: Known = field(default_factory=dict)


@dataclass(frozen=True)
class StepResult(Record):
    """What a step gave.

    Attributes:
        statistics: of the dataset.
        settings, scores: of the trials; None for one that failed.
        dev, test: accuracy of the best of them.
        asking: CPU seconds that the method took to propose each trial.
        took: seconds in all.
    """

    statistics: list[float]
    settings: list[Setting]
    scores: list[float | None]
    dev: float
    test: float
    asking: list[float]
    took: float


@dataclass(frozen=True)
class FirstTrial(Record):
    """The shared first trial on a dataset: its setting, and its accuracy unless the fit failed."""

    mark: str
    dev: float | None
    test: float | None
    took: float


def run_step(step: DatasetStep) -> StepResult:
    """Take a step."""
    begun = time.perf_counter()
    model, method, data = MODELS[step.model], METHODS[step.method], split_dataset(step.arrival)
    _warm_up(step.model, step.method)
    asking = TimedStudy(model, method, data, step)
    fits = DatasetFitCache(model, data, step.known_scores)
    settings, scores, seconds = [], [], []
    for _ in range(step.trials):
        setting = asking.ask()
        score = fits.development_accuracy(setting)
        asking.tell(score)
        settings.append(setting)
        scores.append(score)
        seconds.append(asking.seconds)
    best = int(np.argmax([-1.0 if score is None else score for score in scores]))
    return StepResult(
        statistics=list(data.statistics),
        settings=settings,
        scores=scores,
        dev=scores[best] or 0.0,
        test=0.0 if scores[best] is None else fits.test_accuracy(settings[best]),
        asking=seconds,
        took=time.perf_counter() - begun,
    )


def fit_default(arrival: StreamedDataset, name: str) -> FirstTrial:
    """The shared first trial on a dataset, which all methods may take as fitted."""
    begun = time.perf_counter()
    model, data = MODELS[name], split_dataset(arrival)
    fits, setting = DatasetFitCache(model, data, {}), default_of(model, data)
    dev = fits.development_accuracy(setting)
    return FirstTrial(
        mark=mark_of(setting),
        dev=dev,
        test=None if dev is None else fits.test_accuracy(setting),
        took=time.perf_counter() - begun,
    )


def as_earlier_dataset(name: str, result: StepResult) -> EarlierDataset:
    """What a step leaves in a method's history: its trials that finished, and the statistics."""
    scored_trials = [
        (setting, score)
        for setting, score in zip(result.settings, result.scores, strict=True)
        if score is not None
    ]
    settings, scores = zip(*scored_trials, strict=True) if scored_trials else ((), ())
    rows, features, classes = result.statistics
    return EarlierDataset(name, (rows, features, classes), tuple(settings), tuple(scores))


def space_of(model: Model) -> tuple[Axis, ...]:
    """One space for two and more classes, as the datasets must share it."""
    return model.space(Task.MULTICLASS)


def default_of(model: Model, data: SplitDataset) -> Setting:
    """The first trial of all who know nothing."""
    setting = default_setting(space_of(model))
    return setting | (model.defaults(data.task, data.train.X) if model.defaults else {})


def mark_of(setting: Setting) -> str:
    """Tells settings apart."""
    return json.dumps(setting, sort_keys=True)


class TimedStudy:
    """A sampler in a study, and the CPU seconds that its last proposal took.

    The first trial is the default where there is no history: for methods without one, and for the
    others on the first dataset of a run (§4.4).
    """

    def __init__(
        self, model: Model, method: TransferMethod, data: SplitDataset, step: DatasetStep
    ) -> None:
        space = space_of(model)
        history = TuningHistory(step.past, data.statistics, model.simplex)
        self.seconds = 0.0
        self._described = distributions(space)
        before = time.process_time()
        sampler = method.strategy.sampler(space, method.options, step.seed, history)
        self._making = time.process_time() - before
        self._study = optuna.create_study(sampler=sampler, direction="maximize")
        if not (method.strategy.uses_history and any(dataset.scores for dataset in step.past)):
            self._study.enqueue_trial(default_of(model, data))
        if method.recalls:
            for setting in best_of_nearest(history, method.recalls):
                self._study.enqueue_trial(setting, skip_if_exists=True)

    def ask(self) -> Setting:
        """The next setting; what making the sampler took counts with the first one."""
        before = time.process_time()
        self._trial = self._study.ask(self._described)
        self.seconds = time.process_time() - before + self._making
        self._making = 0.0
        return dict(self._trial.params)

    def tell(self, score: float | None) -> None:
        """The development accuracy of the last proposal; None where the fit failed."""
        if score is None:
            self._study.tell(self._trial, state=TrialState.FAIL)
        else:
            self._study.tell(self._trial, score)


def best_of_nearest(history: TuningHistory, max_datasets: int) -> list[Setting]:
    """The best setting of each of the datasets most like the present one, the nearest first."""
    scored_datasets = [
        (distance, dataset)
        for distance, dataset in zip(history.distances(), history.datasets, strict=True)
        if dataset.scores
    ]
    near = sorted(scored_datasets, key=lambda pair: pair[0])[:max_datasets]
    return [dict(dataset.settings[int(np.argmax(dataset.scores))]) for _, dataset in near]


class DatasetFitCache:
    """Fitted settings of one dataset: no setting is fitted twice, the best fitted model is kept."""

    def __init__(self, model: Model, data: SplitDataset, known_scores: Known) -> None:
        self._model, self._data = model, data
        self._known_scores = dict(known_scores)
        self._scores: dict[str, float | None] = {}
        self._best: tuple[float, str, Any] = (-1.0, "", None)

    def development_accuracy(self, setting: Setting) -> float | None:
        """Accuracy on the development rows; None where the fit fails."""
        mark = mark_of(setting)
        if mark in self._known_scores:
            return self._known_scores[mark][0]
        if mark not in self._scores:
            fitted = self._fit_model(setting)
            score = None if fitted is None else accuracy(fitted, self._data.development)
            self._scores[mark] = score
            if score is not None and score > self._best[0]:
                self._best = (score, mark, fitted)
        return self._scores[mark]

    def test_accuracy(self, setting: Setting) -> float:
        """Accuracy on the test rows of a setting whose development accuracy is known."""
        mark = mark_of(setting)
        if mark in self._known_scores:
            return self._known_scores[mark][1]
        _, best, fitted = self._best
        return accuracy(fitted if best == mark else self._fit_model(setting), self._data.test)

    def _fit_model(self, setting: Setting) -> Any:
        estimator = self._model.build(self._data.task, setting, SEED)
        with warnings.catch_warnings():
            # Too few iterations are a setting like any other here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                return estimator.fit(self._data.train.X, self._data.train.y)
            except (ValueError, ArithmeticError):
                return None


def accuracy(fitted: Any, examples: Examples) -> float:
    """The share of rows whose class is told right."""
    return float(np.mean(fitted.predict(examples.X) == examples.y))


@cache
def _warm_up(model_name: str, method_name: str) -> None:
    """Three proposals that do not count: they load and compile what the first one needs."""
    model, method = MODELS[model_name], METHODS[method_name]
    space = space_of(model)
    start = default_setting(space)
    past = tuple(
        EarlierDataset(str(k), (4.0 + k, 2.0, 2.0), (start, start), (0.5, 0.6)) for k in range(2)
    )
    history = TuningHistory(past, (5.0, 2.0, 2.0), model.simplex)
    study = optuna.create_study(sampler=method.strategy.sampler(space, method.options, 0, history))
    for score in (0.5, 0.6, 0.55):
        study.tell(study.ask(distributions(space)), score)
