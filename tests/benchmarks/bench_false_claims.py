"""How often a gain is called likely real: of targets that are noise, and of true gains.

The first part tunes on random targets, through the same `tune` as the program. The tuned model
cannot be better than the baseline, so that every gain that is called real is a false claim; at most
5 % are allowed. The second part draws the answers of two models whose probabilities of being right
differ by five points, and compares how often the gain is shown with the power that was computed.

    python tests/benchmarks/bench_false_claims.py [--runs 200] [--trials 10] [--only TEXT]

Every line is written as soon as its runs have ended, and the counts so far every 20 runs.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.evaluation.power import mcnemar_power
from core.tuning.events import RunFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import ComparedPredictions
from core.tuning.tune import tune

SHAPES = {"small": (200, 10), "wide": (100, 200)}
LEARNERS, SEARCHES = ("mm", "evidence", "loo"), ("gp", "eb-hyp")
MODELS = {"classes": ("logistic", "logistic"), "numbers": ("linear", "elastic-net")}
ALLOWED = 0.05
GAIN = 0.05
FOLDS = 3  # of the cross-validation that scores a trial
SIMULATED = 2000


@dataclass(frozen=True)
class Case:
    kind: str
    shape: str
    strategy: str

    @property
    def model(self) -> str:
        return MODELS[self.kind][self.strategy in SEARCHES]


def noise(case: Case, seed: int, folder: Path) -> str:
    """A file of columns and a target that have nothing to do with each other."""
    rows, columns = SHAPES[case.shape]
    generator = np.random.default_rng([seed, rows])
    table = pd.DataFrame(
        generator.normal(size=(rows, columns)), columns=[f"x{at}" for at in range(columns)]
    )
    table["y"] = generator.normal(size=rows)
    if case.kind == "classes":
        table["y"] = np.where(generator.random(rows) < 0.4, "yes", "no")
    path = folder / f"{case.shape}.csv"
    table.to_csv(path, index=False)
    return str(path)


def result(case: Case, seed: int, trials: int | None, folder: Path) -> dict[str, Any]:
    data = DataPlan(noise(case, seed, folder), target="y")
    searched = case.strategy in SEARCHES
    trials = trials if searched else None
    plan = Plan(data, case.model, case.strategy, trials=trials, seed=seed, folds=FOLDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        last = list(tune(plan, read_dataset(data.file, DataOptions(target="y"))))[-1]
    if not isinstance(last, RunFinished):
        raise RuntimeError(str(last))
    return last.results


def false_claims(case: Case, runs: int, trials: int) -> float:
    """Tune on noise again and again; the share of runs with a false claim."""
    gains = losses = unguarded = 0
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(runs):
            gain = result(case, seed, trials, Path(folder))["gain"]
            gains += gain["real"] and gain["difference"] > 0
            losses += gain["real"] and gain["difference"] < 0
            unguarded += (gain["low"] or 0.0) > 0
            if (seed + 1) % 20 == 0 and seed + 1 < runs:
                print(f"  {seed + 1} runs: {gains} false claims", file=sys.stderr, flush=True)
    share = gains / runs
    print(
        f"{case.kind:8} {case.shape:6} {case.strategy:9} {case.model:12} {runs:5} "
        f"{100 * share:8.1f} % {100 * unguarded / runs:14.1f} % {100 * losses / runs:7.1f} % "
        f"{time.perf_counter() - begun:7.0f} s {'' if share <= ALLOWED else 'TOO MANY'}",
        flush=True,
    )
    return share


def shown(rows: int, discordance: float, generator: np.random.Generator) -> float:
    """How often a gain of five points is called likely real, over simulated answers."""
    shares = [(discordance + GAIN) / 2, (discordance - GAIN) / 2, 1 - discordance]
    asked = ComparisonContext("binary", ("no", "yes"), METRICS["accuracy"], {"C": 2.0}, {"C": 1.0})
    y, claims = np.ones(rows, dtype=int), 0
    never = np.zeros(rows, dtype=int)
    for _ in range(SIMULATED):
        kind = generator.choice(3, size=rows, p=shares)
        agree = (generator.random(rows) < 0.8).astype(int)
        tuned = np.where(kind == 0, 1, np.where(kind == 1, 0, agree))
        default = np.where(kind == 0, 0, np.where(kind == 1, 1, agree))
        told = ComparedPredictions(y, *(Predictions(labels) for labels in (tuned, default, never)))
        claims += results_of(told, asked)["gain"]["real"]
    return claims / SIMULATED


def true_gains() -> float:
    """Print how often true gains are shown; the largest distance from the computed power."""
    print(f"\nTrue gains of {100 * GAIN:.0f} points: how often shown, and the computed power")
    print(f"{'rows':>6} {'disagree':>9} {'shown':>9} {'computed':>9}")
    generator, worst = np.random.default_rng(0), 0.0
    for rows in (60, 150, 400, 1000):
        for discordance in (0.06, 0.1, 0.3):
            found, computed = (
                shown(rows, discordance, generator),
                mcnemar_power(rows, GAIN, discordance),
            )
            worst = max(worst, abs(found - computed))
            print(
                f"{rows:6} {100 * discordance:7.0f} % {100 * found:7.1f} % {100 * computed:7.1f} %",
                flush=True,
            )
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--only", default="", help="such as numbers, wide or eb-hyp")
    given = parser.parse_args()
    cases = [
        Case(kind, shape, strategy)
        for strategy in (*LEARNERS, *SEARCHES)
        for kind in MODELS
        for shape in SHAPES
        if (kind, strategy) != ("numbers", "loo")
    ]
    worst = true_gains()
    print("\nNoise: how often a gain is called likely real (beside: over the default alone)")
    print(f"{'targets':8} {'table':6} {'strategy':9} {'model':12} {'runs':>5} {'false claims':>10} "
          f"{'over default':>14} {'losses':>9} {'time':>9}")  # fmt: skip
    wanted = [c for c in cases if given.only in f"{c.kind} {c.shape} {c.strategy}"]
    shares = [false_claims(case, given.runs, given.trials) for case in wanted]
    return int(worst > 0.05 or max(shares, default=0.0) > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
