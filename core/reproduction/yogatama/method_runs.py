"""Runs of the methods, each over the datasets in a random order."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from core.estimators.registry import MODELS
from core.json_reading import read_as
from core.records import to_plain
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.pool import WorkerPool
from core.reproduction.yogatama.dataset_step import (
    METHODS,
    DatasetStep,
    FirstTrial,
    Known,
    StepResult,
    as_earlier_dataset,
    fit_default,
    run_step,
    space_of,
)
from core.reproduction.yogatama.paper_datasets import AvailableDatasets
from core.reproduction.yogatama.streamed_datasets import SEED, SHARES, StreamedDataset
from core.samplers.transfer.history import EarlierDataset
from core.tuning.guidance.forecast import duration_text

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
        return f"{duration_text(seconds / PROCESSES)} left"

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
