"""Two workers of a cluster against one: how many times the trials of a second, in one run.

    bench_cluster.py [--trials 24] [--real]

The trials only wait for a second, so that the figure is of the cluster and not of how many cores
this machine has free; `--real` fits a multilayer perceptron instead. Needs the extra `cluster`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import core.tuning.cluster.executor as room
from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult
from core.tuning.tune import tune

REAL = Plan(DataPlan("sample:digits"), "mlp", "random", seed=1, folds=3)
WAITING = Plan(DataPlan("sample:iris"), "svm", "random", seed=1, folds=3)


def waits(work: ScoringJob, run: str, task: TrialRequest, limit: float | None) -> TrialResult:
    """In place of a trial: a second, and a score that is the setting's own."""
    import hashlib

    time.sleep(1.0)
    digits = hashlib.sha256(repr(sorted(task.setting.items())).encode()).digest()
    return TrialResult(task.number, task.setting, (digits[0] / 255,) * 3, 1.0)


@contextmanager
def trials_that_wait() -> Iterator[None]:
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    usual, room.run_trial = room.run_trial, waits
    try:
        yield
    finally:
        room.run_trial = usual


def seconds_of(plan: Plan, workers: int) -> tuple[float, float]:
    """Seconds of the trials, without connecting and without the end of the run; mean of a trial."""
    dataset = read_data(plan.data)
    with ClusterConnection(parse_cluster_address("local"), workers) as connection:
        list(tune(plan.changed(trials=workers), dataset, executor=connection.executor))  # warm
        begun, took, ended = time.perf_counter(), [], 0.0
        for event in tune(plan, dataset, executor=connection.executor):
            if type(event).__name__ == "TrialFinished":
                took.append(event.took)
                ended = time.perf_counter() - begun
    return ended, sum(took) / len(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    plan = (REAL if given.real else WAITING).changed(trials=given.trials)
    if given.real:
        one, two = seconds_of(plan, 1), seconds_of(plan, 2)
    else:
        with trials_that_wait():
            one, two = seconds_of(plan, 1), seconds_of(plan, 2)
    print(
        f"{given.trials} trials of {one[1]:.2f} s: 1 worker {one[0]:.1f} s, 2 workers {two[0]:.1f}"
    )
    print(f"two workers are {one[0] / two[0]:.2f} times one")


if __name__ == "__main__":
    main()
