"""The forecast: how long a run will take, from a few timed fits on growing parts of the data."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.tuning.plan import Plan

_FIRST_ROWS = 200
_FIRST_MOLECULES = 4
_EPOCH_ROWS, _EPOCHS = 1000, 5  # on which epochs are timed, and how many
_ENOUGH_SECONDS = 0.15  # a timing this long is not made longer
_STEEPEST = 2.5  # a fit's cost grows at most with this power of the rows
_PREPARED_AT_MOST = 20_000
_DEARER = 5.0  # than the default model's trials are those of several models, about


def estimate(plan: Plan, dataset: Dataset) -> dict[str, Any]:
    """How long a plan will take; at most about a second of work itself.

    Args:
        plan: what would be run.
        dataset: its data.

    Returns:
        ``seconds``; ``trials`` (0 for a penalty learner); ``seconds_per_trial``; ``sentence``,
        like "about 3 minutes, 50 trials"; ``axes``, the model's own (Axis.as_dict), where trials
        search them; for a grid also ``values``, {axis label: the values
        that it tries, ascending}, and ``settings``, how many those make in all combinations;
        ``metric``, what the run would be scored by, and ``metric_reason``, why that is not the
        task's usual one ("" if it is); ``power``, a sentence on the gains that the test can show,
        or "".

    Raises:
        UnusableError: plan and data do not fit.
    """
    # Heavy and needed by a worker only; the advice beside it must stay light.
    from core.samplers.averaging import member_count
    from core.tuning.problem import build_problem
    from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

    problem = build_problem(plan, dataset)
    plan = problem.plan
    if problem.strategy.several:
        return _of_several(problem)
    rows = len(problem.train_rows)
    folds = len(problem.splits) if problem.strategy.kind == "trials" else plan.folds
    share = (plan.folds - 1) / plan.folds
    fit_rows = rows * share if folds > 1 else len(problem.splits[0][0])
    preparing, fitting = _timed(problem, int(fit_rows))
    if problem.strategy.kind == "penalties":
        effort = problem.strategy.effort.tables
        if problem.dataset.task in STRUCTURED_TASKS:
            effort = _structured_effort(problem)
        seconds = (preparing + effort * fitting) * (1 + len(problem.outer))
        told = _told(seconds, 0, 0.0, f"{in_time(seconds)}, no trials needed")
        return told | _scored(problem)
    each = problem.strategy.asking + folds * fitting / plan.workers
    around = (folds + 2) * preparing + 2 * fitting
    trials = plan.trials or (0 if plan.minutes else problem.strategy.default_trials)
    if problem.averages and folds > 1:
        around += (member_count(trials) - 1) * fitting  # every member, on all training rows
    if plan.minutes is None:
        seconds = around + trials * each
    else:
        room = max(1, int(60 * (problem.minutes or plan.minutes) / each))
        trials = min(trials, room) if trials else room
        seconds = min(around + trials * each, 60 * (problem.minutes or plan.minutes))
    seconds *= 1 + len(problem.outer)
    some = "1 trial" if trials == 1 else f"{trials:,} trials"
    told = _told(seconds, trials, each, f"{in_time(seconds)}, {some}") | _scored(problem)
    axes = {"axes": [axis.as_dict() for axis in problem.own_axes]}
    return told | axes | _values(problem)


def _of_several(problem: Any) -> dict[str, Any]:
    """Several models take the time that they are given, or so many trials of the quickest."""
    plan = problem.plan
    if plan.minutes is not None:
        seconds = 60.0 * plan.minutes
        several = f"{in_time(seconds)}, several models"
    else:
        preparing, fitting = _timed(problem, len(problem.splits[0][0]))
        each = problem.strategy.asking + _DEARER * len(problem.splits) * fitting
        seconds = (preparing + plan.trials * each / plan.workers) * (1 + len(problem.outer))
        several = f"{in_time(seconds)}, {plan.trials:,} trials of several models"
    return _told(seconds, plan.trials or 0, 0.0, several) | _scored(problem)


def _structured_effort(problem: Any) -> float:
    """What a learner takes on sequences or molecules, in default fits."""
    effort = problem.strategy.effort
    if not problem.strategy.holds_out:
        return float(effort.structured)
    from core.losses.rna.parameters import MOTIFS
    from core.tuning.learning.holding_out import takes_turns

    groups = problem.plan.groups
    kinds = problem.dataset.features.shape[1] + 1  # all columns but the sequence's, and two more
    if problem.dataset.task == "structure":
        kinds = len(MOTIFS)
    count = {"single": 1}.get(groups, kinds) if isinstance(groups, str) else len(groups) + 1
    return float(effort.in_turns if takes_turns(problem, count) else effort.structured)


def _told(seconds: float, trials: int, each: float, sentence: str) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "trials": trials,
        "seconds_per_trial": each,
        "sentence": sentence,
    }


def _scored(problem: Any) -> dict[str, str]:
    from core.tuning.guidance.power_words import power_of

    scored = {"metric": problem.metric.name, "metric_reason": problem.metric_reason}
    return scored | {"power": power_of(problem)}


def _values(problem: Any) -> dict[str, Any]:
    """The values that are tried; nothing for strategies that cannot list them."""
    if problem.strategy.values is None:
        return {}
    values = problem.strategy.values(problem.space, problem.options)
    settings = math.prod(len(each) for each in values.values())
    labelled = {axis.label: values[axis.name] for axis in problem.space}
    return {"values": labelled, "settings": settings}


def _timed(problem: Any, fit_rows: int) -> tuple[float, float]:
    """Seconds to prepare and to fit so many rows at the default setting."""
    from core.tuning.problem import take

    sample = _sample(problem, min(fit_rows, _PREPARED_AT_MOST))
    X, y = take(problem.dataset.features, sample), problem.dataset.target[sample]
    begun = time.perf_counter()
    prepared = problem.preparation().fit_transform(X, y)
    preparing = (time.perf_counter() - begun) * fit_rows / len(sample)

    if epochs := int(problem.estimator(problem.default).get_params().get("epochs", 0)):
        rows = min(len(sample), _EPOCH_ROWS)
        fitting = _by_epochs(problem, prepared[:rows], y[:rows], epochs)
        return preparing, fitting * fit_rows / rows

    def fit_some(rows: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a part of the rows may have too few of a class
            problem.estimator(problem.default).fit(prepared[:rows], y[:rows])

    first = _FIRST_MOLECULES if problem.dataset.task == "structure" else _FIRST_ROWS
    return preparing, extrapolated(fit_some, len(sample), fit_rows, first=first)


def _by_epochs(problem: Any, X: Any, y: np.ndarray, epochs: int) -> float:
    """Seconds of a fit that goes through its rows so often, from fits of one epoch and of a few.

    Such models are compiled for rows of a shape before their first epoch, for all fits of a
    process; growing parts of the rows would be timed compiling.
    """

    def fit(few: int) -> float:
        begun = time.perf_counter()
        problem.estimator(problem.default).set_params(epochs=few).fit(X, y)
        return time.perf_counter() - begun

    fit(1)
    once, longer = fit(1), fit(_EPOCHS)
    return once + (epochs - 1) * max(0.0, longer - once) / (_EPOCHS - 1)


def _sample(problem: Any, rows: int) -> np.ndarray:
    """Some training rows in random order; at the front one of each class, so that parts can fit.

    Tokens stay in their order: sequences must stay whole.
    """
    if problem.dataset.task == "sequence":
        return problem.train_rows[:rows]
    mixed = np.random.default_rng(problem.plan.seed).permutation(problem.train_rows)
    if not problem.dataset.classes:
        return mixed[:rows]
    _, first = np.unique(problem.dataset.target[mixed].astype(str), return_index=True)
    front = np.zeros(len(mixed), dtype=bool)
    front[first] = True
    return np.concatenate([mixed[front], mixed[~front]])[: max(rows, len(first))]


def extrapolated(
    run: Callable[[int], None],
    most: int,
    target: int,
    clock: Callable[[], float] = time.perf_counter,
    first: int = _FIRST_ROWS,
) -> float:
    """Seconds that ``run(target)`` would take.

    It is timed on growing sizes up to `most`, or until a timing is long enough to trust. The last
    two timings are continued by a power (of at most 2.5) where the cost grows faster than the
    size, and by a straight line where a fixed cost is in the way.

    Args:
        run: does the work for a size.
        most: the largest size that can be timed.
        target: the size asked for.
        clock: tells the time in seconds.
        first: the first size that is timed.
    """
    size = min(first, most)
    run(max(1, size // 4))  # imports and caches are paid here, not in the timing
    timings: list[tuple[int, float]] = []
    while True:
        begun = clock()
        run(size)
        timings.append((size, max(clock() - begun, 1e-6)))
        if size >= most or timings[-1][1] > _ENOUGH_SECONDS:
            break
        size = min(most, size * (4 if timings[-1][1] < _ENOUGH_SECONDS / 8 else 2))
    last, took = timings[-1]
    if len(timings) < 2:
        return took * target / last
    before, took_before = timings[-2]
    power = math.log(took / took_before) / math.log(last / before)
    if power > 1:
        return took * (target / last) ** min(_STEEPEST, power)
    return took + max(0.0, took - took_before) * (target - last) / (last - before)


def in_time(seconds: float) -> str:
    """A duration in a lay person's words: "about 3 minutes"."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return _about(seconds, "second")
    if seconds < 90 * 60:
        return _about(seconds / 60, "minute")
    return _about(seconds / 3600, "hour")


def _about(amount: float, unit: str) -> str:
    whole = round(amount)
    if whole > 20:  # no more figures than such a guess has
        whole = round(whole / 5) * 5
    return f"about {whole} {unit}{'' if whole == 1 else 's'}"
