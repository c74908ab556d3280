"""What EB-Hyp costs beside a trial: an ask, a draw of the performance model, the average.

An ask beside our GpSampler's, on the same finished trials (d = 4), in one process, on one BLAS
thread, turn by turn. "learning": the kernel's hyperparameters at every ask, as EB-Hyp does by
default; otherwise when trials have grown by four percent, as GpSampler does by default. A draw on
4,096 points by pathwise conditioning beside the joint draw by a Cholesky factor of the points'
covariance. All times are of the processor, so that a busy machine counts for little.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import statistics
import time
from collections.abc import Callable

import numpy as np
import optuna
from optuna.distributions import FloatDistribution

from core.gp.kernels import Hyperparameters, Stationary
from core.gp.pathwise import PosteriorDraws
from core.gp.regression import ExactPosterior
from core.optimize.cholesky import cholesky, solve_lower
from core.samplers.averaging import greedy_weights, log_predictive
from core.samplers.bayes import GpOptions, GpSampler
from core.samplers.eb_hyp import CANDIDATES, EbHypOptions, EbHypSampler
from core.samplers.top_models import TopModels

SIZES = (20, 100, 300)
ASKS = 7
D = 4
SPACE = {f"x{k}": FloatDistribution(0.0, 1.0) for k in range(D)}
KINDS: dict[str, Callable[[], GpSampler]] = {
    "gp": lambda: GpSampler(options=GpOptions(kernel="matern32"), seed=0),
    "gp, learning": lambda: GpSampler(
        options=GpOptions(kernel="matern32", always_learn=True), seed=0
    ),
    "eb-hyp, learning": lambda: EbHypSampler(seed=0),
    "thompson, learning": lambda: EbHypSampler(options=EbHypOptions(rule="thompson"), seed=0),
    "eb-hyp": lambda: EbHypSampler(options=EbHypOptions(always_learn=False), seed=0),
}


def score(x: np.ndarray) -> float:
    """A smooth function of four numbers in which all of them matter."""
    bowl = np.sum((x - 0.3) ** 2 * np.array([1.0, 2.0, 0.5, 1.5]))
    return float(bowl + np.sin(5 * x[0]) * np.cos(3 * x[1]) + 0.3 * x[2] * x[3])


def study_of(size: int, sampler: GpSampler) -> optuna.Study:
    """A study with `size` finished trials at random places."""
    study = optuna.create_study(sampler=sampler)
    for x in np.random.default_rng(7).random((size, D)):
        params = dict(zip(SPACE, x.tolist(), strict=True))
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=SPACE, value=score(x))
        )
    return study


def ask_milliseconds(study: optuna.Study) -> float:
    """How long one ask takes; its trial is evaluated and told."""
    start = time.process_time()
    trial = study.ask(SPACE)
    took = time.process_time() - start
    study.tell(trial, score(np.array([trial.params[name] for name in SPACE])))
    return 1e3 * took


def milliseconds(work: Callable[[], object], times: int) -> float:
    """The median time of some work."""
    took = []
    for _ in range(times):
        start = time.process_time()
        work()
        took.append(1e3 * (time.process_time() - start))
    return statistics.median(took)


def asks() -> None:
    """Milliseconds of later asks, turn by turn."""
    print(f"{'ms an ask, n =':>18}" + "".join(f"{size:>9}" for size in SIZES))
    table: dict[str, list[float]] = {name: [] for name in KINDS}
    for size in SIZES:
        studies = {name: study_of(size, make()) for name, make in KINDS.items()}
        rows = [
            {name: ask_milliseconds(study) for name, study in studies.items()}
            for _ in range(ASKS + 1)
        ]
        for name in KINDS:
            table[name].append(statistics.median(row[name] for row in rows[1:]))
    for name, cells in table.items():
        print(f"{name:>18}" + "".join(f"{cell:>9.1f}" for cell in cells))


def joint_draw(
    regression: ExactPosterior[Stationary], points: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """A draw at given points by a Cholesky factor of their covariance; m³/3 flops."""
    kernel = regression.kernel
    half = solve_lower(regression.L, kernel.cross_covariance(regression.X, points))
    L = cholesky(
        kernel.cross_covariance(points, points) - half.T @ half + 1e-9 * np.eye(len(points))
    )
    return kernel.cross_covariance(
        points, regression.X
    ) @ regression.alpha + L @ random.standard_normal(len(points))


def draws() -> None:
    """Milliseconds of a draw on 4,096 points, both ways."""
    print(f"\n{'ms a draw, n =':>18}" + "".join(f"{size:>9}" for size in SIZES))
    random = np.random.default_rng(1)
    points = random.random((CANDIDATES, D))
    hyper = Hyperparameters(np.full(D, 0.5), 1.0, 1e-4)
    cells = []
    for size in SIZES:
        X = random.random((size, D))
        regression = ExactPosterior(Stationary("matern32", hyper), X, np.sin(5 * X[:, 0]))
        ours = milliseconds(lambda r=regression: PosteriorDraws(r, random)(points), 9)
        joint = milliseconds(lambda r=regression: joint_draw(r, points, random), 2)
        cells.append((ours, joint, joint / ours))
    for name, column in zip(("pathwise", "joint", "ratio"), zip(*cells, strict=True), strict=True):
        print(f"{name:>18}" + "".join(f"{cell:>9.1f}" for cell in column))


def averages() -> None:
    """Milliseconds of the weights and of the average, and of keeping a model."""
    print(f"\n{'rows × members':>18}{'greedy':>9}{'average':>9}")
    for rows, T in ((1_131, 6), (1_131, 12), (10_000, 12)):
        log_p = np.random.default_rng(0).normal(-100.0, 5.0, (rows, T))
        greedy = milliseconds(lambda p=log_p: greedy_weights(p), 3)
        w = np.full(T, 1 / T)
        average = milliseconds(lambda p=log_p, w=w: log_predictive(p, w), 9)
        print(f"{rows:>13} × {T:<2}{greedy:>9.1f}{average:>9.2f}")
    kept: TopModels[int] = TopModels(maximize=True, planned=1000)
    for number, value in enumerate(np.random.default_rng(0).random(1000).tolist()):
        kept.add_model(number, value, number)
    print(
        f"adding the 1,001st model: {milliseconds(lambda: kept.add_model(1000, 0.5, 0), 9):.2f} ms"
    )


def main() -> None:
    """Prints the three tables."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    asks()
    draws()
    averages()


if __name__ == "__main__":
    main()
