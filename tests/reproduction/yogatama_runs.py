"""Runs of the methods of Yogatama & Mann 2014 (Algorithm 2) over datasets in random orders."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
import zlib
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
from sklearn.exceptions import ConvergenceWarning

from core.datasets.task import Task
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.json_reading import read_as
from core.records import Record, to_plain
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis, Setting, default_setting
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy
from tests.reproduction.kept_work import Checkpoint, Part, finished_parts, time_left
from tests.reproduction.yogatama_datasets import (
    SEED,
    SHARES,
    AvailableDatasets,
    Examples,
    SplitDataset,
    StreamedDataset,
    split_dataset,
)

optuna.logging.set_verbosity(optuna.logging.WARNING)

MODEL_SEED = 0  # of the models: a setting gives the same accuracy whoever tries it


@dataclass(frozen=True)
class TransferMethod:
    """A sampler, its options, and how many earlier datasets it recalls."""

    sampler: str
    options: Mapping[str, Any] = field(default_factory=dict)
    recalls: int = 0

    @property
    def strategy(self) -> Strategy:
        return STRATEGIES[self.sampler]

    @property
    def uses_earlier_datasets(self) -> bool:
        return self.strategy.uses_history or self.recalls > 0


COMPARED = ("random", "gp", "scot-sqe", "scot-mkl", "transfer-sqe", "transfer-mkl")  # the six
OWN_GP, OWN_GP_EARLIER = "our gp", "our gp from earlier"
METHODS: dict[str, TransferMethod] = {
    "random": TransferMethod("random"),
    # The squared exponential of the paper; the shared first trial is its only start.
    "gp": TransferMethod("gp", {"kernel": "se", "start_trials": 0, "as_published": True}),
    "scot-sqe": TransferMethod("scot", {"kernel": "sqe", "features": "linear"}),
    "scot-mkl": TransferMethod("scot", {"kernel": "mkl", "features": "linear"}),
    "transfer-sqe": TransferMethod("transfer", {"kernel": "sqe", "as_published": True}),
    "transfer-mkl": TransferMethod("transfer", {"kernel": "mkl", "as_published": True}),
    # Not of the paper: the Gaussian process as it is recommended here, and with its beginning.
    OWN_GP: TransferMethod("gp", {"start_trials": 0}),
    OWN_GP_EARLIER: TransferMethod("gp", {"start_trials": 0}, recalls=2),
}

Known = Mapping[str, tuple[float, float]]  # development and test accuracy by `mark_of`


@dataclass(frozen=True)
class DatasetStep:
    arrival: StreamedDataset
    model: str
    method: str
    past: tuple[EarlierDataset, ...]  # this method's, in this run
    trials: int  # the first one included
    seed: int  # of the sampler
    known_scores: Known = field(default_factory=dict)  # of settings fitted before


@dataclass(frozen=True)
class StepResult(Record):
    statistics: list[float]  # of the dataset
    settings: list[Setting]
    scores: list[float | None]  # None for a failed trial
    dev: float  # accuracy of the best setting
    test: float
    asking: list[float]  # CPU seconds of every proposal
    took: float  # seconds in all


@dataclass(frozen=True)
class FirstTrial(Record):
    """The shared first trial on a dataset; no accuracy if the fit failed."""

    mark: str
    dev: float | None
    test: float | None
    took: float


def run_step(step: DatasetStep) -> StepResult:
    start = time.perf_counter()
    model, method, data = MODELS[step.model], METHODS[step.method], split_dataset(step.arrival)
    _warm_up(step.model, step.method)  # or the first proposal's time would include compiling
    study = TimedStudy(model, method, data, step)
    fits = DatasetFitCache(model, data, step.known_scores)
    settings, scores, seconds = [], [], []
    for _ in range(step.trials):
        setting = study.ask()
        score = fits.development_accuracy(setting)
        study.tell(score)
        settings.append(setting)
        scores.append(score)
        seconds.append(study.seconds)
    best = int(np.argmax([-1.0 if score is None else score for score in scores]))
    return StepResult(
        statistics=list(data.statistics),
        settings=settings,
        scores=scores,
        dev=scores[best] or 0.0,
        test=0.0 if scores[best] is None else fits.test_accuracy(settings[best]),
        asking=seconds,
        took=time.perf_counter() - start,
    )


def fit_default(arrival: StreamedDataset, name: str) -> FirstTrial:
    """The first trial on a dataset, shared by all methods."""
    start = time.perf_counter()
    model, data = MODELS[name], split_dataset(arrival)
    fits, setting = DatasetFitCache(model, data, {}), default_of(model, data)
    dev = fits.development_accuracy(setting)
    return FirstTrial(
        mark=mark_of(setting),
        dev=dev,
        test=None if dev is None else fits.test_accuracy(setting),
        took=time.perf_counter() - start,
    )


def as_earlier_dataset(name: str, result: StepResult) -> EarlierDataset:
    """A step as history: its finished trials and the statistics."""
    trials = zip(result.settings, result.scores, strict=True)
    scored_trials = [(setting, score) for setting, score in trials if score is not None]
    settings, scores = zip(*scored_trials, strict=True) if scored_trials else ((), ())
    rows, features, classes = result.statistics
    return EarlierDataset(name, (rows, features, classes), tuple(settings), tuple(scores))


def space_of(model: Model) -> tuple[Axis, ...]:
    """One space for any number of classes, as the datasets share it."""
    return model.space(Task.MULTICLASS)


def default_of(model: Model, data: SplitDataset) -> Setting:
    setting = default_setting(space_of(model))
    return setting | (model.defaults(data.task, data.train.X) if model.defaults else {})


def mark_of(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


class TimedStudy:
    """A study that starts from the default without a history (§4.4)."""

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
        """The next setting; the first includes making the sampler."""
        before = time.process_time()
        self._trial = self._study.ask(self._described)
        self.seconds = time.process_time() - before + self._making
        self._making = 0.0
        return dict(self._trial.params)

    def tell(self, score: float | None) -> None:
        """The development accuracy of the last proposal, or None."""
        state = TrialState.FAIL if score is None else None
        self._study.tell(self._trial, score, state=state)


def best_of_nearest(history: TuningHistory, max_datasets: int) -> list[Setting]:
    """Best settings of the nearest datasets, the nearest first."""
    pairs = zip(history.distances(), history.datasets, strict=True)
    scored_pairs = [(distance, dataset) for distance, dataset in pairs if dataset.scores]
    nearest_pairs = sorted(scored_pairs, key=lambda pair: pair[0])[:max_datasets]
    return [dict(dataset.settings[int(np.argmax(dataset.scores))]) for _, dataset in nearest_pairs]


class DatasetFitCache:
    """Fits of one dataset, no setting twice; stores the best model."""

    def __init__(self, model: Model, data: SplitDataset, known_scores: Known) -> None:
        self._model, self._data = model, data
        self._known_scores = dict(known_scores)
        self._scores: dict[str, float | None] = {}
        self._best: tuple[float, str, Any] = (-1.0, "", None)

    def development_accuracy(self, setting: Setting) -> float | None:
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
        mark = mark_of(setting)
        if mark in self._known_scores:
            return self._known_scores[mark][1]
        _, best, fitted = self._best
        return accuracy(fitted if best == mark else self._fit_model(setting), self._data.test)

    def _fit_model(self, setting: Setting) -> Any:
        estimator = self._model.build(self._data.task, setting, MODEL_SEED)
        with warnings.catch_warnings():
            # Too few iterations are a setting like any other here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                return estimator.fit(self._data.train.X, self._data.train.y)
            except (ValueError, ArithmeticError):
                return None


def accuracy(fitted: Any, examples: Examples) -> float:
    return float(np.mean(fitted.predict(examples.X) == examples.y))


@cache
def _warm_up(model_name: str, method_name: str) -> None:
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


PROCESSES = 2


@dataclass(frozen=True)
class Experiment:
    name: str
    model: str
    arrivals: tuple[StreamedDataset, ...]  # in no order
    trials: int  # for every dataset, the first one included
    orders: int  # runs
    mark: str  # of the data

    def checkpoint(self) -> Checkpoint:
        space = [axis.as_dict() for axis in space_of(MODELS[self.model])]
        names = [arrival.name for arrival in self.arrivals]
        content = json.dumps([self.mark, names, space, self.trials, SEED, SHARES])
        mark = hashlib.sha256(content.encode()).hexdigest()[:12]
        return Checkpoint(f"yogatama-{self.name}-{self.model}-{mark}")

    def arrival_order(self, run: int) -> tuple[StreamedDataset, ...]:
        shuffled = np.random.default_rng([SEED, run]).permutation(len(self.arrivals))
        return tuple(self.arrivals[int(index)] for index in shuffled)

    def steps(self) -> Iterator[tuple[int, str, StreamedDataset]]:
        """Run, method and dataset of every step, in no order."""
        return product(range(self.orders), METHODS, self.arrivals)


def mark_of_data(datasets: AvailableDatasets) -> str:
    return hashlib.sha256(repr(datasets.fingerprints).encode()).hexdigest()[:12]


Parts = dict[tuple[int, str, str], StepResult]  # by run, method and dataset


def run_experiment(
    experiment: Experiment, processes: int = PROCESSES
) -> Generator[str, None, Parts]:
    """Take the missing steps, yielding progress; returns all."""
    checkpoint, arrivals = experiment.checkpoint(), experiment.arrivals
    first_trials = {_first_trial_key(arrival): arrival for arrival in arrivals}
    missing = [key for key in first_trials if key not in checkpoint]
    parts = iter([(key, fit_default, (first_trials[key], experiment.model)) for key in missing])
    n_known = len(first_trials) - len(missing)
    for done, (key, result) in enumerate(finished_parts(lambda: parts, processes), start=1):
        checkpoint.record_result(key, to_plain(result))
        count_text = f"{n_known + done} of {len(arrivals)} datasets"
        yield f"{experiment.model}: the shared first trial on {count_text}"
    keys = [_step_key(*step) for step in experiment.steps()]
    yield (
        f"{experiment.model}: {experiment.orders} orders of {len(arrivals)} datasets, "
        f"{len(keys) * experiment.trials:,} trials"
    )
    n_missing = sum(key not in checkpoint for key in keys)
    start, ready = time.perf_counter(), partial(_next_steps, experiment, checkpoint)
    for done, (key, result) in enumerate(finished_parts(ready, processes), start=1):
        checkpoint.record_result(key, to_plain(result))
        count_text = f"{len(keys) - n_missing + done} of {len(keys)} steps"
        yield f"{experiment.model}: {count_text}, {time_left(start, done, n_missing - done)}"
    return {
        (run, method, arrival.name): read_as(
            StepResult, checkpoint[_step_key(run, method, arrival)]
        )
        for run, method, arrival in experiment.steps()
    }


def _next_steps(experiment: Experiment, checkpoint: Checkpoint) -> Iterator[Part]:
    """The next step of every method in every run: what it learns from is finished."""
    for run, method in product(range(experiment.orders), METHODS):
        order = experiment.arrival_order(run)
        keys = [_step_key(run, method, arrival) for arrival in order]
        at = next((k for k, key in enumerate(keys) if key not in checkpoint), None)
        if at is None:
            continue
        past = zip(order[:at], keys, strict=False) if METHODS[method].uses_earlier_datasets else ()
        step = DatasetStep(
            order[at],
            experiment.model,
            method,
            tuple(
                as_earlier_dataset(arrival.name, read_as(StepResult, checkpoint[key]))
                for arrival, key in past
            ),
            experiment.trials,
            zlib.crc32(f"{run}|{method}|{order[at].name}".encode()),
            _known_scores(read_as(FirstTrial, checkpoint[_first_trial_key(order[at])])),
        )
        yield keys[at], run_step, (step,)


def _known_scores(first: FirstTrial) -> Known:
    if first.dev is None or first.test is None:
        return {}
    return {first.mark: (first.dev, first.test)}


def _first_trial_key(arrival: StreamedDataset) -> str:
    return f"first trial|{arrival.name}"


def _step_key(run: int, method: str, arrival: StreamedDataset) -> str:
    options = json.dumps(dict(METHODS[method].options))
    if METHODS[method].recalls:
        options += f" recalls {METHODS[method].recalls}"
    return f"{run}|{method} {options}|{arrival.name}"
