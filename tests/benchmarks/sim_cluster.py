"""How many trials a second each strategy can ask for, with a thousand workers that wait for them.

    sim_cluster.py [--workers 1000] [--seconds 20] [STRATEGY …]

The strategies are the real ones; time stands still while a trial "runs": an executor of the same
interface gives a trial a length by a clock of its own, and hands back the one that ends next. What
is left is what the person's computer does for each trial: ask, tell and report. Where that is
slower than the workers end trials, workers wait for it; the last column says from which length of a
trial on a thousand workers are kept busy.
"""

from __future__ import annotations

import argparse
import heapq
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

from core.tuning.events import TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult
from core.tuning.trials.executors import TrialExecutor
from core.tuning.tune import tune

STRATEGIES = ("random", "grid", "cma-es", "tpe", "gp", "hybrid", "eb-hyp", "transfer", "race")
DATA = "sample:breast-cancer"


class Simulated(TrialExecutor):
    """Workers whose trials take no time of the wall's."""

    def __init__(self, workers: int) -> None:
        self._workers, self.limit, self._now = workers, None, 0.0
        self._ends: list[tuple[float, int, TrialRequest]] = []
        self._random = np.random.default_rng(0)

    def __call__(self, work: ScoringJob, _workers: int, limit: float | None) -> Simulated:
        """As `core.tuning.tune` asks for what runs its trials."""
        self.folds = len(work.folds)
        return self

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def running(self) -> int:
        return len(self._ends)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        ends = self._now + float(self._random.lognormal(0.0, 0.5))
        heapq.heappush(self._ends, (ends, len(self._ends) + int(1e6 * ends), task))

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        self._now, _, task = heapq.heappop(self._ends)
        score = 0.5 + 0.4 * float(self._random.random())
        scores = tuple(score + 0.01 * self._random.standard_normal(self.folds))
        return [TrialResult(task.number, task.setting, scores, 1.0)]

    def close(self) -> None:
        self._ends = []


def measured(strategy: str, workers: int, seconds: float) -> tuple[int, float, float]:
    """Asks until all workers are busy, seconds of each, and seconds of each ask after that."""
    model = "auto" if strategy == "race" else "svm"
    plan = Plan(
        DataPlan(DATA), model, strategy, trials=100 * workers, workers=min(workers, 512), folds=5
    )
    dataset = read_data(plan.data)
    events = tune(plan, dataset, executor=Simulated(workers))
    begun: float | None = None
    times: list[float] = []
    try:
        for event in events:
            if isinstance(event, TrialStarted):
                begun = time.perf_counter() if begun is None else begun
                times.append(time.perf_counter() - begun)
                if times[-1] > seconds:
                    break
    finally:
        events.close()
    full = min(workers, len(times))
    first = times[full - 1] / max(1, full - 1)
    rest = times[full - 1 :]
    later = (rest[-1] - rest[0]) / (len(rest) - 1) if len(rest) > 1 else float("nan")
    return len(times), first, later


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategies", nargs="*", metavar="STRATEGY", default=STRATEGIES)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the wall, a strategy")
    given = parser.parse_args()
    print(f"{given.workers} workers      asked  trials/s, filling   then   busy with trials of")
    for strategy in given.strategies:
        asked, first, later = measured(strategy, given.workers, given.seconds)
        slowest = np.nanmax([first, later])
        print(
            f"{strategy:15} {asked:9}  {1 / first:17.0f} {1 / later:6.0f}"
            f"   {given.workers * slowest:8.2f} s and more"
        )


if __name__ == "__main__":
    main()
