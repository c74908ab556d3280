"""The curve of machines: what one trial costs the program that hands it out to so many workers."""

from __future__ import annotations

import heapq
import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address
from core.tuning.events import Event, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.executors import TrialExecutor
from core.tuning.tune import tune
from scale.curve import Curve, Line

Call = Callable[[], object]
MAX_TRIALS = 1_000_000
MAX_CLUSTER = 8  # workers of dask that one computer runs
PLAN = Plan(DataPlan("sample:iris"), "svm", "random", trials=MAX_TRIALS, folds=2, patience=0)


class SimulatedWorkers(TrialExecutor):
    """So many workers that end a trial after a while, which passes at once.

    A trial takes between one and two units of time, by its number, so that trials end in another
    order than they began.
    """

    memory = None

    def __init__(self, workers: int) -> None:
        self.limit: float | None = None
        self._workers, self._now = workers, 0.0
        self._trials: list[tuple[float, int, TrialRequest]] = []

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def running(self) -> int:
        return len(self._trials)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        end = self._now + 1.0 + (task.number * 0.618) % 1.0
        heapq.heappush(self._trials, (end, task.number, task))

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        self._now, number, task = heapq.heappop(self._trials)
        values = [float(value) for value in task.setting.values() if not isinstance(value, str)]
        score = 1.0 / (1.0 + sum((value - 0.4) ** 2 for value in values))
        return [TrialResult(number, task.setting, (score, score), took=1.0)]


def until_a_trial_ends(events: Iterator[Event]) -> None:
    """One trial that ends, with all that the run does until then."""
    for event in events:
        if isinstance(event, TrialFinished):
            return


def simulated(strategy: str) -> Callable[[int], Call]:
    """A trial of a whole run, whose workers cost nothing: its ask, its events, its run folder."""

    def make(workers: int) -> Call:
        plan = replace(PLAN, strategy=strategy)
        folder = RunFolder.create(plan, root=Path(tempfile.mkdtemp()))
        events = tune(
            plan, read_data(plan.data), folder=folder, executor=lambda *_: SimulatedWorkers(workers)
        )
        for _ in range(max(20, workers // 10)):
            until_a_trial_ends(events)
        return lambda: until_a_trial_ends(events)

    return make


def on_cluster(workers: int) -> Call:
    """A trial on workers of dask, whose scheduler is in this process: messages and all the rest."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, processes=True
    )
    client = Client(cluster)
    client.wait_for_workers(workers)
    folder = RunFolder.create(PLAN, root=Path(tempfile.mkdtemp()))
    connection = ClusterConnection(parse_cluster_address(cluster.scheduler_address), workers)
    connection.__enter__()
    events = tune(PLAN, read_data(PLAN.data), folder=folder, executor=connection.executor)
    for _ in range(5 * workers):
        until_a_trial_ends(events)

    def several_trials() -> None:
        for _ in itertools.repeat(None, 50):
            until_a_trial_ends(events)

    return several_trials


CURVES = (
    Curve(
        "machines",
        "One trial of a run on so many workers, without what the workers do",
        "workers",
        (1, 2, 4, 8, 100, 1_000),
        (
            Line("random", simulated("random"), 0.0),
            Line("gp", simulated("gp"), 0.0),
            Line("fifty trials, dask", on_cluster, 0.0, MAX_CLUSTER, warms_up=False),
        ),
        "Measured on 1 to 8 workers of dask, whose scheduler is counted in, and with simulated "
        "workers, whose trials end at once. Each line of random and gp is the whole run: the ask, "
        "its events, what is written into the run folder. A trial's events and the folder cost "
        "some 0.3 ms, an ask of gp with 1,000 running trials some 4 ms, the messages of dask some "
        "8 ms: these saturate first, at some 120 trials a second. So 1,000 workers stay at work "
        "where a trial takes eight seconds by dask, and four where gp asks and the workers join "
        "by the run's folder (`tunescope work`).",
    ),
)
