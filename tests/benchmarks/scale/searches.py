"""The curves of searches: trials, reports, and datasets of the history."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
from limits.gaussian_process import SPACE, study_of
from limits.history import asking_with

from app.session.shown_run import collection_paused
from core.estimators.registry import MODELS
from core.samplers.bayes import GpSampler, HybridSampler
from core.tuning.events import (
    DatasetFacts,
    RunFinished,
    RunStarted,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from scale.curve import Curve, Line

Call = Callable[[], object]
MAX_GP = 10_000


def ask_after(make_sampler: Callable[[], optuna.samplers.BaseSampler]) -> Callable[[int], Call]:
    """The ask after so many trials; the one before is not counted."""

    def make(trials: int) -> Call:
        study = study_of(trials, make_sampler())
        study.tell(study.ask(SPACE), 1.0)
        return lambda: study.ask(SPACE)

    return make


def ask_among(make_sampler: Callable[[], optuna.samplers.BaseSampler]) -> Callable[[int], Call]:
    """A trial that ends and the ask that replaces it, with so many running after a hundred."""

    def make(workers: int) -> Call:
        study = study_of(100, make_sampler())
        running = deque(study.ask(SPACE) for _ in range(workers))

        def replace_earliest() -> None:
            trial = running.popleft()
            study.tell(trial, sum((value - 0.4) ** 2 for value in trial.params.values()))
            running.append(study.ask(SPACE))

        return replace_earliest

    return make


def open_run(trials: int) -> Call:
    """Opening a run folder of so many trials, and folding its events."""
    folder = RunFolder.create(
        Plan(DataPlan("sample:iris"), "svm", "random", trials=trials), root=Path(tempfile.mkdtemp())
    )
    rng = np.random.default_rng(0)
    folder.append(
        RunStarted(plan=folder.plan.as_dict(), total=trials, dataset=DatasetFacts(name="iris"))
    )
    for number in range(trials):
        setting = {"C": float(rng.random()), "gamma": float(rng.random())}
        folder.append(TrialStarted(number=number, setting=setting))
        folder.append(TrialFinished(number=number, setting=setting, score=float(rng.random())))
    folder.append(TuningEnded(because="done"))
    folder.append(RunFinished(because="done", results={}))

    def read_state() -> RunState:
        with collection_paused():  # as the window opens it
            return state_from_events(RunFolder.open(folder.path).all_events())

    return read_state


def ask_with_history(kernel: str) -> Callable[[int], Call]:
    """The ask after three trials, with so many earlier datasets of eleven trials each."""
    names = [axis.name for axis in MODELS["elastic-net"].space("binary")]
    return lambda datasets: asking_with(datasets, names, kernel)


CURVES = (
    Curve(
        "trials",
        "Choosing the next setting after so many trials: four settings",
        "trials",
        (10, 100, 1_000, 10_000, 100_000),
        (
            Line("gp", ask_after(lambda: GpSampler(seed=0)), 2.0, MAX_GP),
            Line("Optuna's TPE", ask_after(lambda: optuna.samplers.TPESampler(seed=0))),
            Line("random", ask_after(lambda: optuna.samplers.RandomSampler(seed=0)), 0.0),
        ),
        "The Gaussian process adds a row to its factor; hyperparameters are learned anew rarely.",
    ),
    Curve(
        "workers",
        "Choosing the next setting while so many trials run: four settings",
        "workers",
        (1, 10, 100, 1_000),
        (
            Line("gp", ask_among(lambda: GpSampler(seed=0))),
            Line("hybrid", ask_among(lambda: HybridSampler(seed=0))),
            Line("Optuna's TPE", ask_among(lambda: optuna.samplers.TPESampler(seed=0))),
        ),
        "From 200 running trials on, asks share the candidates of one search.",
    ),
    Curve(
        "opening",
        "Opening a run of so many trials",
        "trials",
        (10, 100, 1_000, 10_000, 100_000),
        (Line("Tunescope", open_run, 1.0),),
    ),
    Curve(
        "history",
        "Choosing the next setting with so many earlier datasets of eleven trials",
        "datasets",
        (1, 10, 100, 1_000, 10_000),
        (
            Line("transfer (mkl)", ask_with_history("mkl"), 0.0),
            Line("transfer (sqe)", ask_with_history("sqe"), 0.0),
        ),
        "mkl stands on the twenty nearest datasets, sqe on the nearest with 8,000 trials.",
    ),
)
