"""Milliseconds of a trial's proposal against the number of past datasets, beside no transfer.

Every sampler tunes the same function with 1 + 10 trials, the past having 11 trials a dataset; the
figure is the median over the ten trials after the first (which learns what the past says, and is
printed apart). All in one process, on one BLAS thread, in processor time, so that other work on the
machine counts less. The last columns say how the time grows from 40 datasets to 1,000, and whether
a trial stays under 50 ms at 40.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import optuna
from optuna.samplers import BaseSampler

from core.samplers.bayes import GpOptions, GpSampler
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.sampler import TransferSampler
from core.samplers.transfer.scot import ScotSampler
from core.space import Axis

DATASETS = (5, 10, 20, 40, 100, 300, 1000)
TRIALS = 11
AXES = (4, 30)

Space = tuple[Axis, ...]
Make = Callable[[Space, TuningHistory], BaseSampler]
SAMPLERS: dict[str, Make] = {
    "independent gp": lambda space, history: GpSampler(space, GpOptions(start_trials=1)),
    "transfer mkl": lambda space, history: TransferSampler(space, history=history),
    "transfer sqe": lambda space, history: TransferSampler(space, history=history, kernel="sqe"),
    "scot mkl": lambda space, history: ScotSampler(
        space, history=history, kernel="mkl", features="linear"
    ),
    "scot sqe": lambda space, history: ScotSampler(
        space, history=history, kernel="sqe", features="linear"
    ),
}


def space_of(axes: int) -> Space:
    """So many numbers between 0 and 1."""
    return tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(axes))


def score(x: np.ndarray, centre: float) -> float:
    """A bowl with a ripple."""
    return float(-np.mean((x - centre) ** 2) + 0.05 * np.sin(9.0 * x[0]))


def history_of(datasets: int, space: Space) -> TuningHistory:
    """Bowls with centres near 0.6, each on its own scale."""
    random = np.random.default_rng(0)
    past = []
    for k in range(datasets):
        centre, height, scale = 0.6 + 0.05 * random.standard_normal(), *(10 * random.random(2))
        points = random.random((TRIALS, len(space)))
        settings = tuple(
            {axis.name: float(u) for axis, u in zip(space, row, strict=True)} for row in points
        )
        scores = tuple(height + scale * score(row, centre) for row in points)
        rows, columns, classes = random.random(3)
        past.append(EarlierDataset(str(k), (rows, columns, classes), settings, scores))
    return TuningHistory(tuple(past), (0.5, 0.5, 0.5))


def milliseconds(make: Make, space: Space, history: TuningHistory) -> tuple[float, float]:
    """Of the first trial, and the median of the others."""
    study = optuna.create_study(sampler=make(space, history), direction="maximize")
    took = []
    for _ in range(TRIALS):
        start = time.process_time()
        trial = study.ask(distributions(space))
        took.append(1e3 * (time.process_time() - start))
        study.tell(trial, score(np.array(list(trial.params.values())), 0.6))
    return took[0], statistics.median(took[1:])


def main(most: int) -> None:
    """Prints a table for every number of axes."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sizes = [size for size in DATASETS if size <= most]
    for make in SAMPLERS.values():  # compiles and imports outside of the clock
        milliseconds(make, space_of(2), history_of(2, space_of(2)))
    for axes in AXES:
        space = space_of(axes)
        memories = {size: history_of(size, space) for size in sizes}
        print(f"\np = {axes}: ms of a trial (of the first)")
        print(f"{'':<15}" + "".join(f"{size:>14}" for size in sizes) + f"{'growth':>9}")
        for name, make in SAMPLERS.items():
            found = {size: milliseconds(make, space, memories[size]) for size in sizes}
            cells = "".join(f"{later:7.0f} ({first:4.0f})" for first, later in found.values())
            growth = found[sizes[-1]][1] / found[40][1] if 40 in found else float("nan")
            verdict = "ok" if 40 in found and found[40][1] <= 50 else "-"
            print(f"{name:<15}{cells}{growth:8.1f}x {verdict}", flush=True)
    print(f"\ngrowth: from 40 to {sizes[-1]} datasets; linear would be {sizes[-1] / 40:.0f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DATASETS[-1])
