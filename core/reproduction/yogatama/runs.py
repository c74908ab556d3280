"""Whole runs of the methods: a run is one random order in which the datasets arrive.

Every method goes through every run by itself, dataset by dataset, with what it found before in that
run. Each finished step is kept, so that a stop costs a step at most.
"""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.registry import MODELS
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.pool import Pool
from core.reproduction.yogatama.data import Found
from core.reproduction.yogatama.division import SEED, SHARES, Arrival
from core.reproduction.yogatama.step import (
    METHODS,
    Known,
    Step,
    as_past,
    default_fitted,
    space_of,
    taken,
)
from core.samplers.transfer.history import EarlierDataset
from core.tuning.guidance.forecast import in_time

PROCESSES = 2


@dataclass(frozen=True)
class Experiment:
    """One half of a table.

    Attributes:
        name: in the checkpoint's.
        model: whose settings are tuned.
        arrivals: the datasets, in no order.
        trials: for every dataset, the first one included.
        orders: how many runs.
        mark: of the data.
    """

    name: str
    model: str
    arrivals: tuple[Arrival, ...]
    trials: int
    orders: int
    mark: str

    def checkpoint(self) -> Checkpoint:
        """What was measured of it before, with the same data and space."""
        space = [axis.as_dict() for axis in space_of(MODELS[self.model])]
        names = [arrival.name for arrival in self.arrivals]
        what = json.dumps([self.mark, names, space, self.trials, SEED, SHARES])
        mark = hashlib.sha256(what.encode()).hexdigest()[:12]
        return Checkpoint(f"yogatama-{self.name}-{self.model}-{mark}")

    def order(self, run: int) -> tuple[Arrival, ...]:
        """The order of a run."""
        shuffled = np.random.default_rng([SEED, run]).permutation(len(self.arrivals))
        return tuple(self.arrivals[int(at)] for at in shuffled)


def mark_of_data(found: Found) -> str:
    """Tells one collection of files from another."""
    return hashlib.sha256(repr(found.fingerprints).encode()).hexdigest()[:12]


Parts = dict[tuple[int, str, str], Any]
"""What a step gave, by its run, its method and the name of its dataset."""


def measured(experiment: Experiment, processes: int = PROCESSES) -> Generator[str, None, Parts]:
    """Take the steps that are missing, saying how far it is; in the end all of them.

    Args:
        experiment: what is to be measured.
        processes: that work at once; 0 to work in this one.

    Yields:
        Sentences that say how far it is.
    """
    kept = experiment.checkpoint()
    work = Progress(experiment, kept)
    with Pool(processes) as pool:
        for arrival in experiment.arrivals:
            if _first(arrival) not in kept:
                pool.submit(default_fitted, (arrival, experiment.model), _first(arrival))
        for key, part in pool.ended():
            kept.keep(key, part)
            yield work.first(sum(_first(one) in kept for one in experiment.arrivals))
        yield work.forecast()
        chains = [
            Chain(experiment, kept, run, method)
            for run in range(experiment.orders)
            for method in METHODS
        ]
        while any(chain.unfinished for chain in chains):
            for chain in chains:
                if pool.free and chain.unfinished and not pool.runs(chain.key):
                    pool.submit(taken, (chain.step(),), chain.key)
            for key, part in pool.ended(at_least=1):
                kept.keep(key, part)
                yield work.steps(part["took"])
    return {
        (run, method, arrival.name): kept[_key(run, method, arrival)]
        for run in range(experiment.orders)
        for method in METHODS
        for arrival in experiment.arrivals
    }


class Chain:
    """One method in one run: its steps follow each other, each with the past of those before."""

    def __init__(self, experiment: Experiment, kept: Checkpoint, run: int, method: str) -> None:
        self._experiment, self._kept = experiment, kept
        self._run, self._method = run, method
        self._order = experiment.order(run)
        self._at = 0

    @property
    def unfinished(self) -> bool:
        """Whether a step is missing."""
        while self._at < len(self._order) and self.key in self._kept:
            self._at += 1
        return self._at < len(self._order)

    @property
    def key(self) -> str:
        """Of the step that comes next."""
        return _key(self._run, self._method, self._order[self._at])

    def step(self) -> Step:
        """The step that comes next."""
        arrival = self._order[self._at]
        return Step(
            arrival,
            self._experiment.model,
            self._method,
            self.past() if METHODS[self._method].learns else (),
            self._experiment.trials,
            zlib.crc32(f"{self._run}|{self._method}|{arrival.name}".encode()),
            _known(self._kept[_first(arrival)]),
        )

    def past(self) -> tuple[EarlierDataset, ...]:
        """What the method found on the datasets before."""
        return tuple(
            as_past(arrival.name, self._kept[_key(self._run, self._method, arrival)])
            for arrival in self._order[: self._at]
        )


class Progress:
    """How far an experiment is, and how long it will still take.

    A trial is forecast to take as long as the trials on the same dataset have taken so far.
    """

    def __init__(self, experiment: Experiment, kept: Checkpoint) -> None:
        self._experiment, self._kept = experiment, kept
        self._whole = experiment.orders * len(METHODS) * len(experiment.arrivals)

    def first(self, done: int) -> str:
        """After the first trial on a dataset."""
        name, all_of_them = self._experiment.model, len(self._experiment.arrivals)
        return f"{name}: the shared first trial on {done} of {all_of_them} datasets"

    def forecast(self) -> str:
        """Before the steps."""
        fits = self._whole * self._experiment.trials
        return (
            f"{self._experiment.model}: {self._experiment.orders} orders of "
            f"{len(self._experiment.arrivals)} datasets, {fits:,} trials, {self._left()}"
        )

    def steps(self, took: float) -> str:
        """After a step."""
        done = self._whole - sum(len(missing) for missing in self._missing().values())
        clock = time.strftime("%H:%M:%S")
        return f"{clock} {self._experiment.model}: {done} of {self._whole} steps, {self._left()}"

    def _missing(self) -> dict[Arrival, list[str]]:
        runs = range(self._experiment.orders)
        return {
            arrival: [
                key
                for run in runs
                for method in METHODS
                if (key := _key(run, method, arrival)) not in self._kept
            ]
            for arrival in self._experiment.arrivals
        }

    def _left(self) -> str:
        seconds = 0.0
        for arrival, missing in self._missing().items():
            seconds += len(missing) * self._seconds(arrival)
        return f"{in_time(seconds / PROCESSES)} left"

    def _seconds(self, arrival: Arrival) -> float:
        """Of a step on this dataset."""
        took = [
            self._kept[key]["took"]
            for run in range(self._experiment.orders)
            for method in METHODS
            if (key := _key(run, method, arrival)) in self._kept
        ]
        if took:
            return float(np.mean(took))
        return float(self._kept[_first(arrival)]["took"] * self._experiment.trials)


def _known(first: dict[str, Any]) -> Known:
    if first["dev"] is None:
        return {}
    return {first["mark"]: (first["dev"], first["test"])}


def _first(arrival: Arrival) -> str:
    return f"first trial|{arrival.name}"


def _key(run: int, method: str, arrival: Arrival) -> str:
    options = json.dumps(dict(METHODS[method].options))
    if METHODS[method].recalls:
        options += f" recalls {METHODS[method].recalls}"
    return f"{run}|{method} {options}|{arrival.name}"
