"""Regret of the samplers beside Optuna's, SMAC and random: mean ranks after so many trials.

Real tasks are models on small tables of scikit-learn and of --data; two of them are reported only.
The functions of BBOB come with coco-experiment. Seeds are paired: every sampler gets the same. Runs
are kept in --cache, a line each, and not repeated; so are the scores of real settings.

    python tests/benchmarks/bench_regret.py [--tasks real|bbob] [--only WORD …] [--samplers NAME …]
        [--seeds N] [--first-seed N] [--trials N] [--after N …] [--dimensions D …]
        [--functions N …] [--workers N] [--data DIR] [--cache DIR] [--page FILE] [--minutes N]

With --workers so many trials run at any time, and a score comes in only when all later ones were
asked. --page writes a page of all kept runs on BBOB (docs/samplers.md), where --minutes ends what
is run before it. Needs optuna, and for their rows torch (gp-optuna), cmaes, smac, botorch with
optuna-integration, coco-experiment.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import itertools
import json
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import numpy as np
import optuna
from regret_page import Run, mean_ranks, samplers_page
from regret_tasks import Task, bbob_tasks, real_tasks

from core.samplers.bayes import GpSampler, HybridSampler, VariableSampler
from core.samplers.proposing_sampler import RandomSampler

MakeSampler = Callable[[int], optuna.samplers.BaseSampler]
SAMPLERS: dict[str, MakeSampler] = {
    "gp": lambda seed: GpSampler(seed=seed),
    "hybrid": lambda seed: HybridSampler(seed=seed),
    "variable": lambda seed: VariableSampler(seed=seed),
    "gp-optuna": lambda seed: optuna.samplers.GPSampler(seed=seed),
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed, constant_liar=True),
    "cma-es": lambda seed: optuna.samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False),
    "random": lambda seed: RandomSampler(seed=seed),
    "botorch": lambda seed: botorch_sampler(seed),
}


def botorch_sampler(seed: int) -> optuna.samplers.BaseSampler:
    from optuna_integration import BoTorchSampler

    return BoTorchSampler(seed=seed)


def losses_of(task: Task, make: MakeSampler, seed: int, trials: int, workers: int) -> list[float]:
    """The losses in the order in which they came in."""
    study = optuna.create_study(sampler=make(seed))
    losses, running = [], deque[optuna.Trial]()
    for number in range(trials + workers - 1):
        if number < trials:
            running.append(study.ask())
            # Parameters are chosen when a trial starts, whenever its score comes in.
            running[-1].set_user_attr("loss", task.loss(running[-1]))
        if number >= workers - 1:
            trial = running.popleft()
            losses.append(trial.user_attrs["loss"])
            study.tell(trial, losses[-1])
    return losses


def smac_losses(task: Task, seed: int, trials: int) -> list[float]:
    """SMAC's losses, over the axes of a task without conditions."""
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario

    axes = optuna.create_study().ask()
    task.loss(axes)
    space = ConfigSpace.ConfigurationSpace(seed=seed)
    for name, kind in axes.distributions.items():
        if isinstance(kind, optuna.distributions.CategoricalDistribution):
            space.add(ConfigSpace.Categorical(name, list(kind.choices)))
        else:
            number = ConfigSpace.Float if "Float" in type(kind).__name__ else ConfigSpace.Integer
            space.add(number(name, (kind.low, kind.high), log=kind.log))
    losses: list[float] = []

    def target(config: ConfigSpace.Configuration, seed: int = 0) -> float:
        losses.append(task.loss(optuna.trial.FixedTrial(dict(config))))
        return losses[-1]

    with tempfile.TemporaryDirectory() as folder:
        options = {"deterministic": True, "output_directory": Path(folder)}
        scenario = Scenario(space, n_trials=trials, seed=seed, **options)
        HyperparameterOptimizationFacade(scenario, target, logging_level=50).optimize()
    return losses


class KeptRuns:
    """Runs, each measured once and kept in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.runs = {run.key: run for run in (Run(**json.loads(line)) for line in lines)}

    def losses(
        self, task: Task, sampler: str, seed: int, trials: int, workers: int = 1
    ) -> list[float]:
        """The losses of a run, kept where it was long enough."""
        run = self.runs.get((sampler, task.name, seed, workers))
        if run is None or len(run.losses) < trials:
            run = measured_run(task, sampler, seed, trials, workers)
            self.runs[run.key] = run
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(run)) + "\n")
        return run.losses[:trials]


def measured_run(task: Task, sampler: str, seed: int, trials: int, workers: int) -> Run:
    """A run now. Its processor seconds are the sampler's: a function of BBOB takes microseconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sampler == "smac":
            losses = smac_losses(task, seed, trials)
        else:
            losses = losses_of(task, SAMPLERS[sampler], seed, trials, workers)
    seconds = time.process_time() - start
    print(f"{task.name}, {sampler}, seed {seed}: {min(losses):.6g}, {seconds:.1f} s", flush=True)
    return Run(sampler, task.name, seed, workers, losses, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", choices=("real", "bbob"), default="real")
    parser.add_argument("--only", nargs="*", default=[""], metavar="WORD")
    usual = [name for name in SAMPLERS if name != "botorch"]  # seconds a trial
    parser.add_argument("--samplers", nargs="*", default=usual, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--after", type=int, nargs="*", default=[15, 30, 50])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[2, 5, 10])
    parser.add_argument("--functions", type=int, nargs="*", default=list(range(1, 25)))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "tunescope-regret")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    asked = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    asked.cache.mkdir(parents=True, exist_ok=True)
    if asked.tasks == "real":
        tasks = real_tasks(asked.data, asked.cache / "scores")
    else:
        tasks = [t for d in asked.dimensions for t in bbob_tasks(d, asked.functions)]
    tasks = [task for task in tasks if any(word in task.name for word in asked.only)]
    kept = KeptRuns(asked.cache / "runs.jsonl")
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    if asked.page:
        end = time.monotonic() + 60.0 * asked.minutes
        for sampler, seed, task in itertools.product(asked.samplers, seeds, tasks):
            if time.monotonic() < end:
                kept.losses(task, sampler, seed, asked.trials, asked.workers)
        asked.page.write_text(samplers_page(list(kept.runs.values()), asked.after))
        return
    of_run = [
        [
            [kept.losses(task, sampler, seed, asked.trials, asked.workers) for seed in seeds]
            for sampler in asked.samplers
        ]
        for task in tasks
    ]
    best = np.minimum.accumulate(np.array(of_run), axis=3)
    for count in asked.after:
        of_tasks = mean_ranks(best[..., min(count, asked.trials) - 1])
        print(f"\nranks after {count} trials" + "".join(f"{name:>11}" for name in asked.samplers))
        for task, of_samplers in zip(tasks, of_tasks, strict=True):
            mark = " (kept out)" if task.kept_out else ""
            print(f"{task.name + mark:<34}" + "".join(f"{rank:>11.2f}" for rank in of_samplers))
        counted = of_tasks[[not task.kept_out for task in tasks]]
        print(f"{'mean':<34}" + "".join(f"{rank:>11.2f}" for rank in counted.mean(axis=0)))


if __name__ == "__main__":
    main()
