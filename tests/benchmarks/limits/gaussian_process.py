"""The ask of the Gaussian process, beside one decomposition and the scoring of its candidates."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import optuna
from scipy.linalg import cho_factor, solve_triangular

from core.datasets.reading import read_dataset
from core.estimators.multi_model import split_model_setting
from core.samplers.bayes import GpSampler, HybridSampler
from core.samplers.proposing_sampler import AnnotatedTpeSampler
from core.space import unit_vector
from core.tuning.events import TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.race.multi_model_study import MultiModelStudy
from core.tuning.scores.scoring import TrialResult
from limits.work import Work, seconds

SPACE = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(4)}
CANDIDATES = 1000
WORKERS = 1000


def study_of(
    trials: int, sampler: optuna.samplers.BaseSampler | None = None, *, constraints: int = 0
) -> optuna.Study:
    """A study with so many random trials of a smooth function with noise."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(0)
    study = optuna.create_study(sampler=sampler or GpSampler(seed=0))
    for _ in range(trials):
        x = rng.random(4)
        value = float(((x - 0.4) ** 2).sum() + 0.01 * rng.standard_normal())
        kept = {"constraints": [float(x[i] + x[i + 1] - 1.2) for i in range(constraints)]}
        trial = optuna.trial.create_trial(
            params={f"x{i}": float(x[i]) for i in range(4)},
            distributions=SPACE,
            value=value,
            system_attrs=kept if constraints else {},
        )
        study.add_trial(trial)
    return study


def asking(trials: int, constraints: int = 0) -> Callable[[], float]:
    """Seconds of a later ask: the one before has learned the hyperparameters."""

    def measured() -> float:
        study = study_of(trials, constraints=constraints)

        def ask() -> None:
            trial = study.ask(SPACE)
            value = sum((trial.params[name] - 0.4) ** 2 for name in SPACE)
            study.tell(trial, value)

        ask()
        return seconds(ask, 7)

    return measured


def several(trials: int, of: Callable[[Sequence[float]], float]) -> Callable[[], float]:
    """Of forty asks one after the other, some of which learn the hyperparameters anew."""

    def measured() -> float:
        study, taken = study_of(trials), []
        study.tell(study.ask(SPACE), 1.0)
        for _ in range(40):
            begin = time.process_time()
            trial = study.ask(SPACE)
            taken.append(time.process_time() - begin)
            study.tell(trial, sum((trial.params[name] - 0.4) ** 2 for name in SPACE))
        return of(taken)

    return measured


def first_ask(trials: int) -> Callable[[], float]:
    """Seconds of the first ask of a run that has so many trials already."""

    def measured() -> float:
        study_of(20).ask(SPACE)  # what is imported at an ask
        study = study_of(trials)
        begin = time.process_time()
        study.ask(SPACE)
        return time.process_time() - begin

    return measured


def crowded(make_sampler: Callable[[], optuna.samplers.BaseSampler]) -> Callable[[], float]:
    """Mean seconds of a trial that ends and the ask that replaces it, a thousand others running."""

    def measured() -> float:
        study = study_of(100, make_sampler())
        running = deque(study.ask(SPACE) for _ in range(WORKERS))
        begin = time.process_time()
        for _ in range(100):
            trial = running.popleft()
            study.tell(trial, sum((value - 0.4) ** 2 for value in trial.params.values()))
            running.append(study.ask(SPACE))
        return (time.process_time() - begin) / 100

    return measured


def crowded_race() -> float:
    """Mean seconds of the same in a race of perceptrons alone."""
    plan = Plan(DataPlan("sample:iris"), "auto", "race", trials=5000, folds=3)
    problem = build_problem(plan, read_dataset("sample:iris"))
    perceptron = problem.single_model("mlp")
    study = MultiModelStudy(problem, {"mlp": perceptron})

    def tell(started: TrialStarted) -> None:
        setting = split_model_setting(started.setting)[1]
        score = 1.0 - ((unit_vector(perceptron.space, setting) - 0.4) ** 2).mean()
        study.tell(TrialResult(started.number, started.setting, (score,) * 3, 0.1))

    for _ in range(100):
        tell(study.ask())
    begin = time.process_time()
    running = deque(study.ask() for _ in range(WORKERS))
    for _ in range(100):
        tell(running.popleft())
        running.append(study.ask())
    return (time.process_time() - begin) / (WORKERS + 100)


def scoring(trials: int) -> Callable[[], float]:
    """Seconds of one Cholesky factor and the variances of so many candidates."""

    def measured() -> float:
        A = np.eye(trials) + 0.5 / trials
        B = np.ones((trials, CANDIDATES))

        def once() -> None:
            L = cho_factor(A, lower=True)[0]
            np.square(solve_triangular(L, B, lower=True)).sum(axis=0)

        return seconds(once, 5)

    return measured


WORK = tuple(
    Work(f"ask of gp, d = 4, n = {trials}{called}", asked, of, scoring(trials),
         f"1 factor, {CANDIDATES} variances")
    for trials, asked in ((50, 0.015), (300, 0.04), (1000, 0.09))
    for called, of in (
        ("", asking(trials)),
        (", mean of forty", several(trials, statistics.mean)),
        (", largest of forty", several(trials, max)),
    )
)  # fmt: skip
WORK += tuple(
    Work(
        f"ask of gp, d = 4, n = 3000, {constraints} constraints",
        1.0,
        asking(3000, constraints),
        scoring(3000),
        f"1 factor, {CANDIDATES} variances",
    )
    for constraints in (0, 1, 2)
)
WORK += (
    Work(
        "first ask of gp, d = 4, n = 1000",
        0.1,
        first_ask(1000),
        scoring(1000),
        f"1 factor, {CANDIDATES} variances",
    ),
)
WORK += tuple(
    Work(f"ask of {name}, d = 4, {WORKERS} running", 0.01, crowded(make), scoring(100),
         f"1 factor of 100, {CANDIDATES} variances")
    for name, make in (
        ("gp", lambda: GpSampler(seed=0)),
        ("hybrid", lambda: HybridSampler(seed=0)),
        ("tpe", lambda: AnnotatedTpeSampler(seed=0)),
    )
)  # fmt: skip
WORK += (
    Work(f"ask of a race of perceptrons, {WORKERS} running", 0.01, crowded_race, scoring(100),
         f"1 factor of 100, {CANDIDATES} variances"),
)  # fmt: skip
