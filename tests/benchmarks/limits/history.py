"""The ask of the strategy that learns from earlier datasets, beside one decomposition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import optuna
from scipy.linalg import cho_factor, solve_triangular

from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from limits.work import Work, seconds

DATASETS, TRIALS, NEAR = 40, 11, 20
CANDIDATES = 1000


def asking(settings: int) -> Callable[[], float]:
    """Seconds of an ask among so many settings, 40 earlier datasets of eleven trials each."""

    def measured() -> float:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rng = np.random.default_rng(0)
        names = [f"x{k}" for k in range(settings)]
        axes = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
        earlier = tuple(
            EarlierDataset(
                str(k),
                (float(rng.normal(6, 1)), float(rng.normal(3, 1)), 2.0),
                tuple({name: float(rng.random()) for name in names} for _ in range(TRIALS)),
                tuple(float(score) for score in rng.random(TRIALS)),
            )
            for k in range(DATASETS)
        )
        sampler = TransferSampler(seed=0, history=TuningHistory(earlier, (6.0, 3.0, 2.0)))
        study = optuna.create_study(sampler=sampler, direction="maximize")

        def ask() -> None:
            study.tell(study.ask(axes), float(rng.random()))

        for _ in range(3):
            ask()
        return seconds(ask, 7)

    return measured


def scoring() -> float:
    """Seconds of one factor of the nearest datasets' trials, and its candidates' variances."""
    n = NEAR * TRIALS
    A, B = np.eye(n) + 0.5 / n, np.ones((n, CANDIDATES))

    def once() -> None:
        L = cho_factor(A, lower=True)[0]
        np.square(solve_triangular(L, B, lower=True)).sum(axis=0)

    return seconds(once, 9)


WORK = (
    Work("ask with the history, 4 settings, 40 datasets", 0.02, asking(4), scoring,
         "a factor and 1,000 candidates"),
    Work("ask with the history, 30 settings, 40 datasets", 0.05, asking(30), scoring,
         "a factor and 1,000 candidates"),
)  # fmt: skip
