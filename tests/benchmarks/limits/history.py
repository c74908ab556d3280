"""The ask of the strategy that learns from earlier datasets, beside one decomposition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import optuna

from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from limits.gaussian_process import scoring
from limits.work import Work, seconds

DATASETS, TRIALS, NEAR = 40, 11, 20


def asking_with(
    datasets: int, names: list[str], kernel: str, trials: int = TRIALS, asks: int = 3
) -> Callable[[], None]:
    """An ask and its answer after some trials, so many earlier datasets of so many each."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(0)
    axes = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
    earlier = tuple(
        EarlierDataset(
            str(k),
            (float(rng.normal(6, 1)), float(rng.normal(3, 1)), 2.0),
            tuple({name: float(rng.random()) for name in names} for _ in range(trials)),
            tuple(float(score) for score in rng.random(trials)),
        )
        for k in range(datasets)
    )
    history = TuningHistory(earlier, (6.0, 3.0, 2.0))
    sampler = TransferSampler(seed=0, history=history, kernel=kernel)
    study = optuna.create_study(sampler=sampler, direction="maximize")

    def ask() -> None:
        study.tell(study.ask(axes), float(rng.random()))

    for _ in range(asks):
        ask()
    return ask


def asking(settings: int) -> Callable[[], float]:
    names = [f"x{k}" for k in range(settings)]
    return lambda: seconds(asking_with(DATASETS, names, "mkl"), 7)


WORK = tuple(
    Work(f"ask with the history, {settings} settings, {DATASETS} datasets", asked,
         asking(settings), scoring(NEAR * TRIALS), "a factor and 1,000 candidates")
    for settings, asked in ((4, 0.02), (30, 0.05))
)  # fmt: skip


def first_of_many(kernel: str) -> Callable[[], float]:
    """The ask that condenses 200 datasets of 200 trials: the second of a study without a space."""

    def measured() -> float:
        asking_with(DATASETS, ["x0"], kernel)()  # what is imported at an ask
        axes = ["x0", "x1", "x2", "x3"]
        return seconds(asking_with(200, axes, kernel, trials=200, asks=1), 1)

    return measured


WORK += tuple(
    Work(f"first ask with 200 datasets of 200 trials, 4 settings, {kernel}", asked,
         first_of_many(kernel), scoring(NEAR * TRIALS), "a factor and 1,000 candidates")
    for kernel, asked in (("mkl", 0.1), ("sqe", 0.1))
)  # fmt: skip
