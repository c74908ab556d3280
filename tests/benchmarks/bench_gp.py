"""Seconds of one ask at d = 4, hyperparameters learned at every ask, beside GPSampler.

Both samplers see the same finished trials, in the same process, on one BLAS thread, turn by turn.
The first ask starts from nothing; the later ones start from the hyperparameters of the one before.
"As in a run" is our sampler as it is used: it learns when the trials have grown by four percent and
extends its Cholesky factor otherwise.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import statistics
import time
import warnings

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
from optuna.samplers import BaseSampler, GPSampler

from core.samplers.bayes import GpOptions, GpSampler

LEARNING = GpOptions(always_learn=True)
SIZES = (50, 200, 1000)
FRESH = 5  # studies whose first ask is timed
LATER = 5
SPACE = {f"x{k}": FloatDistribution(0.0, 1.0) for k in range(4)}


def score(x: np.ndarray) -> float:
    """A smooth function of four numbers in which all of them matter."""
    bowl = np.sum((x - 0.3) ** 2 * np.array([1.0, 2.0, 0.5, 1.5]))
    return float(bowl + np.sin(5 * x[0]) * np.cos(3 * x[1]) + 0.3 * x[2] * x[3])


def study_of(size: int, sampler: BaseSampler) -> optuna.Study:
    """A study with `size` finished trials at random places."""
    study = optuna.create_study(sampler=sampler)
    for x in np.random.default_rng(7).random((size, 4)):
        params = dict(zip(SPACE, x.tolist(), strict=True))
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=SPACE, value=score(x))
        )
    return study


def ask_seconds(study: optuna.Study) -> float:
    """How long one ask takes; its trial is evaluated and told."""
    start = time.perf_counter()
    trial = study.ask(SPACE)
    took = time.perf_counter() - start
    study.tell(trial, score(np.array([trial.params[name] for name in SPACE])))
    return took


def main() -> None:
    """Prints first and later asks of both, and their ratios."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    ask_seconds(study_of(20, GPSampler(seed=0)))  # imports torch outside of the clock
    ask_seconds(study_of(20, GpSampler(seed=0)))
    print(f"{'n':>5} {'ask':>12} {'GPSampler':>11} {'ours':>9} {'ratio':>6}")
    for size in SIZES:
        firsts = [
            (
                ask_seconds(study_of(size, GPSampler(seed=seed))),
                ask_seconds(
                    study_of(size, GpSampler(options=GpOptions(always_learn=True), seed=seed))
                ),
            )
            for seed in range(FRESH)
        ]
        their_first, our_first = (statistics.median(column) for column in zip(*firsts, strict=True))
        studies = [
            study_of(size, sampler)
            for sampler in (GPSampler(seed=0), GpSampler(None, LEARNING), GpSampler(seed=0))
        ]
        rows = [[ask_seconds(study) for study in studies] for _ in range(LATER + 1)]
        their_later, our_later, usual_later = (
            statistics.median(column) for column in zip(*rows[1:], strict=True)
        )
        for label, one, other in (
            ("first", their_first, our_first),
            ("later", their_later, our_later),
            ("as in a run", their_later, usual_later),
        ):
            print(
                f"{size:>5} {label:>12} {1e3 * one:>8.1f} ms {1e3 * other:>6.1f} ms"
                f" {one / other:>6.1f}"
            )


if __name__ == "__main__":
    main()
