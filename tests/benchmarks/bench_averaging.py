"""What averaging costs in a run besides its fits, and how many fitted models it holds.

The share is that of the time spent on members, weights, the average's held-out score and the rows
where members disagree, plus putting the fitted members together at the end, in the time of the
whole run. Alive are the fitted estimators of trials that nothing has let go of when the next trial
begins; an average of T needs T + 1 at most.
"""

from __future__ import annotations

import argparse
import os
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import core.tuning.averaging.averaged_model as averaged_model
from core.samplers.averaging import member_count
from core.tuning.averaging.ensemble import SettingEnsemble
from core.tuning.events import TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.tune import tune

RUNS = (
    ("sample:breast-cancer", "", "svm", "automatic", "uniform"),
    ("sample:breast-cancer", "", "svm", "automatic", "greedy"),
    ("sample:breast-cancer", "", "boosting", "automatic", "uniform"),
    ("sample:digits", "", "dlgm", "validation", "uniform"),
    ("sample:digits", "", "dlgm", "training", "uniform"),
)
TRIALS = 40


class Watch:
    """Seconds spent on averaging, and the fitted estimators that are alive."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.models: list[weakref.ref[Any]] = []

    def timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, its time added."""

        def run(*given: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                self.seconds += time.perf_counter() - begun

        return run

    def timed_steps(self, steps: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
        """The same generator, its steps' time added."""

        def run(*given: Any) -> Iterator[Any]:
            return iter(self.timed(lambda: list(steps(*given)))())

        return run

    def watched(self, add: Callable[..., Any]) -> Callable[..., Any]:
        """`Ensemble.add`, the trial's estimator noted."""

        def run(ensemble: SettingEnsemble, outcome: Any) -> None:
            if outcome.fitted is not None:
                self.models.append(weakref.ref(outcome.fitted))
            add(ensemble, outcome)

        return self.timed(run)

    @property
    def alive(self) -> int:
        """How many estimators of trials there are."""
        return sum(model() is not None for model in self.models)


def measure(file: str, task: str, model: str, judged: str, weights: str, trials: int) -> str:
    """Run a plan to its end: a line of the table."""
    watch, before = (
        Watch(),
        (SettingEnsemble.add, SettingEnsemble.updates, averaged_model.average_models),
    )
    SettingEnsemble.add = watch.watched(SettingEnsemble.add)  # type: ignore[method-assign]
    SettingEnsemble.updates = watch.timed_steps(SettingEnsemble.updates)  # type: ignore[method-assign]
    averaged_model.average_models = watch.timed(averaged_model.average_models)
    options = {"judged": judged, "weights": weights}
    plan = Plan(DataPlan(file, task=task), model, "eb-hyp", options, trials=trials)
    most, finished, begun = 0, 0, time.perf_counter()
    try:
        for event in tune(plan, read_data(plan.data)):
            finished += isinstance(event, TrialFinished)
            if isinstance(event, TrialStarted):
                most = max(most, watch.alive)
    finally:
        SettingEnsemble.add, SettingEnsemble.updates, averaged_model.average_models = before  # type: ignore[method-assign]
    whole, T = time.perf_counter() - begun, member_count(trials)
    held = f"{most} of {T + 1}" if watch.models else "none"
    return (
        f"{model:>10}{judged:>12}{weights:>10}{finished:>8}{whole:>9.1f}"
        f"{1e3 * watch.seconds:>12.0f}{100 * watch.seconds / whole:>9.2f} %{held:>10}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--counts", help="a LIBSVM file of word counts, for topics")
    chosen = parser.parse_args()
    runs = list(RUNS)
    if chosen.counts:
        runs += [
            (chosen.counts, "topics", "lda", judged, "uniform")
            for judged in ("validation", "training")
        ]
    print(
        f"{'model':>10}{'judged':>12}{'weights':>10}{'trials':>8}{'run, s':>9}{'average, ms':>12}"
        f"{'share':>11}{'alive':>10}"
    )
    for run in runs:
        print(measure(*run, chosen.trials), flush=True)


if __name__ == "__main__":
    main()
