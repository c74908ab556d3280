"""Runs of the methods of Yogatama & Mann 2014 (Algorithm 2) over datasets in random orders."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
import zlib
from collections.abc import Generator, Mapping
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
from core.json_reading import read_as
from core.records import Record, to_plain
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis, Setting, default_setting
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy
from core.wording import rough_duration_text
from tests.reproduction.kept_work import Checkpoint, WorkerPool
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
        """The sampler's entry in the registry."""
        return STRATEGIES[self.sampler]

    @property
    def uses_earlier_datasets(self) -> bool:
        """Whether it learns from earlier datasets."""
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

Known = Mapping[str, tuple[float, float]]  # development and test accuracy by `mark_of`


@dataclass(frozen=True)
class DatasetStep:
    """What one method does on one dataset."""

    arrival: StreamedDataset
    model: str
    method: str
    past: tuple[EarlierDataset, ...]  # this method's, in this run
    trials: int  # the first one included
    seed: int  # of the sampler
    known_scores: Known = field(default_factory=dict)  # of settings fitted before


@dataclass(frozen=True)
class StepResult(Record):
    """What a step gave."""

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
    """Take a step."""
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
    """The first trial without a history."""
    setting = default_setting(space_of(model))
    return setting | (model.defaults(data.task, data.train.X) if model.defaults else {})


def mark_of(setting: Setting) -> str:
    """A setting as a key."""
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
        if score is None:
            self._study.tell(self._trial, state=TrialState.FAIL)
        else:
            self._study.tell(self._trial, score)


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
        """None where the fit fails."""
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
        """Of a setting with a known development accuracy."""
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
    """The share of correct classes."""
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
    """One half of a table."""

    name: str
    model: str
    arrivals: tuple[StreamedDataset, ...]  # in no order
    trials: int  # for every dataset, the first one included
    orders: int  # runs
    mark: str  # of the data

    def checkpoint(self) -> Checkpoint:
        """Earlier results with the same data and space."""
        space = [axis.as_dict() for axis in space_of(MODELS[self.model])]
        names = [arrival.name for arrival in self.arrivals]
        content = json.dumps([self.mark, names, space, self.trials, SEED, SHARES])
        mark = hashlib.sha256(content.encode()).hexdigest()[:12]
        return Checkpoint(f"yogatama-{self.name}-{self.model}-{mark}")

    def arrival_order(self, run: int) -> tuple[StreamedDataset, ...]:
        """The order of a run."""
        shuffled = np.random.default_rng([SEED, run]).permutation(len(self.arrivals))
        return tuple(self.arrivals[int(index)] for index in shuffled)


def mark_of_data(datasets: AvailableDatasets) -> str:
    """A hash of the files."""
    return hashlib.sha256(repr(datasets.fingerprints).encode()).hexdigest()[:12]


Parts = dict[tuple[int, str, str], StepResult]  # by run, method and dataset


def run_experiment(
    experiment: Experiment, processes: int = PROCESSES
) -> Generator[str, None, Parts]:
    """Take the missing steps, yielding progress; returns all."""
    checkpoint = experiment.checkpoint()
    forecast = ExperimentProgress(experiment, checkpoint)
    with WorkerPool(processes) as pool:
        for arrival in experiment.arrivals:
            if _first_trial_key(arrival) not in checkpoint:
                pool.submit(fit_default, (arrival, experiment.model), _first_trial_key(arrival))
        for key, result in pool.as_completed():
            checkpoint.record_result(key, to_plain(result))
            done = sum(_first_trial_key(arrival) in checkpoint for arrival in experiment.arrivals)
            yield forecast.first_trial_text(done)
        yield forecast.forecast_text()
        chains = [
            MethodChain(experiment, checkpoint, run, method)
            for run in range(experiment.orders)
            for method in METHODS
        ]
        while any(chain.unfinished for chain in chains):
            for chain in chains:
                is_ready = pool.has_free_process and chain.unfinished
                if is_ready and not pool.is_running(chain.next_key):
                    pool.submit(run_step, (chain.next_step(),), chain.next_key)
            for key, result in pool.as_completed(at_least=1):
                checkpoint.record_result(key, to_plain(result))
                yield forecast.step_text()
    return {
        (run, method, arrival.name): _recorded_step(checkpoint, _step_key(run, method, arrival))
        for run in range(experiment.orders)
        for method in METHODS
        for arrival in experiment.arrivals
    }


class MethodChain:
    """The steps of one method in one run."""

    def __init__(
        self, experiment: Experiment, checkpoint: Checkpoint, run: int, method: str
    ) -> None:
        self._experiment, self._checkpoint = experiment, checkpoint
        self._run, self._method = run, method
        self._order = experiment.arrival_order(run)
        self._position = 0

    @property
    def unfinished(self) -> bool:
        """Whether a step is missing."""
        while self._position < len(self._order) and self.next_key in self._checkpoint:
            self._position += 1
        return self._position < len(self._order)

    @property
    def next_key(self) -> str:
        """The key of the next step."""
        return _step_key(self._run, self._method, self._order[self._position])

    def next_step(self) -> DatasetStep:
        """The next step."""
        arrival = self._order[self._position]
        return DatasetStep(
            arrival,
            self._experiment.model,
            self._method,
            self.earlier_datasets() if METHODS[self._method].uses_earlier_datasets else (),
            self._experiment.trials,
            zlib.crc32(f"{self._run}|{self._method}|{arrival.name}".encode()),
            _known_scores(_recorded_first_trial(self._checkpoint, arrival)),
        )

    def earlier_datasets(self) -> tuple[EarlierDataset, ...]:
        """The method's results on earlier datasets."""
        past = self._order[: self._position]
        keys = [_step_key(self._run, self._method, arrival) for arrival in past]
        steps = [_recorded_step(self._checkpoint, key) for key in keys]
        pairs = zip(past, steps, strict=True)
        return tuple(as_earlier_dataset(arrival.name, step) for arrival, step in pairs)


class ExperimentProgress:
    """Progress, and time left by the trials on the same dataset."""

    def __init__(self, experiment: Experiment, checkpoint: Checkpoint) -> None:
        self._experiment, self._checkpoint = experiment, checkpoint
        self._step_count = experiment.orders * len(METHODS) * len(experiment.arrivals)

    def first_trial_text(self, done: int) -> str:
        """After a first trial."""
        name, dataset_count = self._experiment.model, len(self._experiment.arrivals)
        return f"{name}: the shared first trial on {done} of {dataset_count} datasets"

    def forecast_text(self) -> str:
        """Before the steps."""
        fits = self._step_count * self._experiment.trials
        return (
            f"{self._experiment.model}: {self._experiment.orders} orders of "
            f"{len(self._experiment.arrivals)} datasets, {fits:,} trials, {self._time_left_text()}"
        )

    def step_text(self) -> str:
        """After a step."""
        done = self._step_count - sum(len(missing) for missing in self._missing().values())
        clock = time.strftime("%H:%M:%S")
        count_text = f"{done} of {self._step_count} steps"
        return f"{clock} {self._experiment.model}: {count_text}, {self._time_left_text()}"

    def _missing(self) -> dict[StreamedDataset, list[str]]:
        runs = range(self._experiment.orders)
        return {
            arrival: [
                key
                for run in runs
                for method in METHODS
                if (key := _step_key(run, method, arrival)) not in self._checkpoint
            ]
            for arrival in self._experiment.arrivals
        }

    def _time_left_text(self) -> str:
        missing_keys = self._missing().items()
        seconds = sum(len(keys) * self._seconds(arrival) for arrival, keys in missing_keys)
        return f"about {rough_duration_text(seconds / PROCESSES)} left"

    def _seconds(self, arrival: StreamedDataset) -> float:
        took = [
            _recorded_step(self._checkpoint, key).took
            for run in range(self._experiment.orders)
            for method in METHODS
            if (key := _step_key(run, method, arrival)) in self._checkpoint
        ]
        if took:
            return float(np.mean(took))
        return _recorded_first_trial(self._checkpoint, arrival).took * self._experiment.trials


def _known_scores(first: FirstTrial) -> Known:
    if first.dev is None or first.test is None:
        return {}
    return {first.mark: (first.dev, first.test)}


def _recorded_first_trial(checkpoint: Checkpoint, arrival: StreamedDataset) -> FirstTrial:
    return read_as(FirstTrial, checkpoint[_first_trial_key(arrival)])


def _recorded_step(checkpoint: Checkpoint, key: str) -> StepResult:
    return read_as(StepResult, checkpoint[key])


def _first_trial_key(arrival: StreamedDataset) -> str:
    return f"first trial|{arrival.name}"


def _step_key(run: int, method: str, arrival: StreamedDataset) -> str:
    options = json.dumps(dict(METHODS[method].options))
    if METHODS[method].recalls:
        options += f" recalls {METHODS[method].recalls}"
    return f"{run}|{method} {options}|{arrival.name}"
