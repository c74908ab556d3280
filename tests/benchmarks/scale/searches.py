"""The curves of searches: trials, reports, and datasets of the history."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna

from app.session.shown_run import collection_paused
from core.estimators.registry import MODELS
from core.samplers.bayes import GpSampler
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
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
AXES = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(4)}
LARGEST_GP = 10_000


def asking(make_sampler: Callable[[], optuna.samplers.BaseSampler]) -> Callable[[int], Call]:
    """The ask after so many trials; the one before is not counted."""

    def make(trials: int) -> Call:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rng = np.random.default_rng(0)
        study = optuna.create_study(sampler=make_sampler())
        for _ in range(trials):
            x = rng.random(4)
            params = {f"x{k}": float(x[k]) for k in range(4)}
            value = float(((x - 0.4) ** 2).sum() + 0.01 * rng.standard_normal())
            study.add_trial(
                optuna.trial.create_trial(params=params, distributions=AXES, value=value)
            )
        study.tell(study.ask(AXES), 1.0)
        return lambda: study.ask(AXES)

    return make


def opening(trials: int) -> Call:
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

    def opened() -> RunState:
        with collection_paused():  # as the window opens it
            return state_from_events(RunFolder.open(folder.path).all_events())

    return opened


def transferring(kernel: str) -> Callable[[int], Call]:
    """The ask after three trials, with so many earlier datasets of eleven trials each."""
    model = MODELS["elastic-net"]

    def make(datasets: int) -> Call:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rng, space = np.random.default_rng(0), model.space("binary")
        axes = {axis.name: optuna.distributions.FloatDistribution(0.0, 1.0) for axis in space}
        earlier = tuple(
            EarlierDataset(
                str(k),
                (float(rng.normal(6, 1)), float(rng.normal(3, 1)), 2.0),
                tuple({name: float(rng.random()) for name in axes} for _ in range(11)),
                tuple(float(score) for score in rng.random(11)),
            )
            for k in range(datasets)
        )
        sampler = TransferSampler(
            seed=0, history=TuningHistory(earlier, (6.0, 3.0, 2.0)), kernel=kernel
        )
        study = optuna.create_study(sampler=sampler, direction="maximize")
        for score in (0.5, 0.6, 0.55):
            study.tell(study.ask(axes), score)
        return lambda: study.ask(axes)

    return make


CURVES = (
    Curve(
        "trials",
        "Choosing the next setting after so many trials: four settings",
        "trials",
        (10, 100, 1_000, 10_000, 100_000),
        (
            Line("gp", asking(lambda: GpSampler(seed=0)), 2.0, LARGEST_GP),
            Line("Optuna's TPE", asking(lambda: optuna.samplers.TPESampler(seed=0))),
            Line("random", asking(lambda: optuna.samplers.RandomSampler(seed=0)), 0.0),
        ),
        "The Gaussian process adds a row to its factor; hyperparameters are learned anew rarely.",
    ),
    Curve(
        "opening",
        "Opening a run of so many trials",
        "trials",
        (10, 100, 1_000, 10_000, 100_000),
        (Line("Tunescope", opening, 1.0),),
    ),
    Curve(
        "history",
        "Choosing the next setting with so many earlier datasets of eleven trials",
        "datasets",
        (1, 10, 100, 1_000, 10_000),
        (
            Line("transfer (mkl)", transferring("mkl"), 0.0),
            Line("transfer (sqe)", transferring("sqe"), 1.0),
        ),
        "mkl stands on the twenty nearest datasets, sqe on all, approximately.",
    ),
)
