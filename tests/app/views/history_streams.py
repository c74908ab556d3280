"""Streams of runs that are told of earlier datasets."""

from __future__ import annotations

import math

import numpy as np

from core.datasets.task import Task
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    HistoryDataset,
    HistoryRead,
    JointSurfaceFitted,
    Progress,
    RunStarted,
    TrialFinished,
    TrialStarted,
)

SPACE = (
    Axis("C", "Penalty weight", "float", 1e-3, 1e3, log=True, default=1.0),
    Axis("tol", "Tolerance", "float", 1e-6, 1e-1, log=True, default=1e-4),
    Axis("max_iter", "Most iterations", "int", 10, 500, default=100),
)
SCORES = (0.81, 0.84, 0.79, 0.86, 0.85)
EXPECTED = (None, 0.835, 0.83, 0.845, 0.86)
TRIED = 11  # trials of every earlier dataset


def begun(strategy="transfer", maximize=True, space=SPACE, total=20):
    return RunStarted(
        run="past",
        plan={"strategy": strategy, "model": "logistic", "options": {}},
        kind="trials",
        dataset=DatasetFacts(task=Task.BINARY, rows=500, test_rows=150),
        space=list(space),
        metric="accuracy" if maximize else "log_loss",
        maximize=maximize,
        total=total,
    )


def setting_of(number):
    return {"C": 10.0 ** (number % 5 - 2), "tol": 1e-4, "max_iter": 50 + 10 * number}


def earlier(at, trials=TRIED, **fields):
    """The earlier dataset of a number: the larger, the further away."""
    random = np.random.default_rng(at)
    settings = [
        [float(10 ** random.uniform(-3, 3)), float(10 ** random.uniform(-6, -1)),
         int(random.integers(10, 501))]
        for _ in range(trials)
    ]  # fmt: skip
    made = {
        "id": f"dataset {at}",
        "statistics": [math.log(300 * 2**at), math.log(8 + 3 * at), 2 + at % 3],
        "values": settings,
        "scores": [0.9 - 0.02 * abs(math.log10(C) - 0.5) + 0.001 * at for C, _, _ in settings],
        "maximize": True,
        "starter": at % 4 == 3,
        "distance": 0.3 * at,
    }
    return HistoryDataset(**{**made, **fields})


def read(count=6):
    datasets = [earlier(at) for at in reversed(range(count))]  # the nearest came in last
    return HistoryRead(
        statistics=[math.log(350), math.log(8), 2.0],
        axes=[axis.name for axis in SPACE],
        datasets=datasets,
    )


def responses_of(dataset):
    scores = np.array(dataset.scores)
    return ((scores - scores.mean()) / scores.std()).tolist()


def common(seen, history, space=SPACE, used=4):
    """The common surface after so many trials of `run`, over the nearest of the history."""
    scores = np.array(SCORES[:seen])
    own = len(scores) >= 2
    mean = float(scores.mean()) if len(scores) else 0.0
    scale = float(scores.std()) if own else 0.031
    nearest = sorted(range(len(history.datasets)), key=lambda at: history.datasets[at].distance)
    nearest = nearest[:used]
    units = [[u for a in space for u in a.to_unit(setting_of(n)[a.name])] for n in range(seen)]
    return JointSurfaceFitted(
        trials=seen,
        neighbours=nearest,
        past_responses=[responses_of(history.datasets[at]) for at in nearest],
        points=units,
        responses=((scores - mean) / scale if own else 0.0 * scores).tolist(),
        numbers=list(range(seen)),
        lengths=[0.3] * len(space),
        noise=0.05,
        mean=mean,
        scale=scale,
        settled=own,
        incumbent=units[int(np.argmax(scores))] if len(scores) else [],
        next=[0.6, 0.4, 0.5],
        expected=1.0,
        deviation=0.5,
    )


def run(trials=5, count=6, **given):
    """A run whose first trial comes from the history."""
    started = begun(**given)
    history = read(count)
    yield started
    yield history
    for number in range(trials):
        yield common(number, history)
        setting, expected = setting_of(number), EXPECTED[number]
        reason = "past" if number == 0 else "improve"
        sd = None if expected is None else 0.02
        yield TrialStarted(
            number=number, setting=setting, reason=reason, expected=expected, uncertainty=sd
        )
        yield TrialFinished(number=number, setting=setting, score=SCORES[number], took=0.4, fits=5)
        yield Progress(done=number + 1, total=20)
    if trials:
        yield common(trials, history)
