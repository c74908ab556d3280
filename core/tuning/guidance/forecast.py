"""What a plan will take and show: a forecast of its time, and the gains that its test can show.

The time comes from a few timed fits on growing parts of the data. Of gains only those in accuracy
and R² have a power that is known before models are fitted.
"""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.units import Units
from core.errors import UnusableError
from core.estimators.recipe import CALIBRATION_FOLDS
from core.evaluation.power import DISCORDANCE, POWER, smallest_gain, smallest_r2_gain
from core.evaluation.unit_intervals import MIN_UNITS, TIME_BLOCKS
from core.processes import processor_count
from core.samplers.averaging import member_count
from core.tuning.guidance.guidance_records import RunEstimate
from core.tuning.learning.holdout import takes_turns
from core.tuning.plan import Plan
from core.tuning.problem import Problem, take_rows
from core.tuning.problem_setup import build_problem
from core.wording import count_text, format_number, rough_duration_text

_FIRST_ROWS = 200
# A molecule of L bases takes time as L² + L³ / 700; a fit has some 30 such passes.
_CUBIC_BASES, _FIT_PASSES, _TIMED_BASES, _TIMED_PASSES = 700, 30, 300, 3
_EPOCH_ROWS, _EPOCHS = 1000, 5  # on which epochs are timed, and how many
_ENOUGH_SECONDS = 0.15  # a timing this long is not made longer
_MAX_POWER = 2.5  # a fit's cost grows at most with this power of the rows
_MAX_PREPARED_ROWS = 20_000
_R2 = 0.5  # of the default model, where nothing is known yet
# Correlation of rows of one group, or of moments next to each other, where nothing is known yet.
_ALIKE = 0.5
_TURNS = 7.0  # times the fits of one part: those of five folds, and of each by itself
_COST_FACTOR = 5.0  # than the default model's trials are those of several models, about


def estimate(plan: Plan, dataset: Dataset) -> RunEstimate:
    """How long a plan will take; it works at most about a second itself."""
    return estimate_of(build_problem(plan, dataset))


def estimate_of(problem: Problem) -> RunEstimate:
    """The same of a plan that was checked."""
    if problem.strategy.several:
        estimated = _multi_model_estimate(problem)
    elif problem.strategy.kind == "penalties":
        estimated = _penalty_estimate(problem)
    else:
        estimated = _trials_estimate(problem)
    return replace(
        estimated,
        metric=problem.metric.name,
        metric_reason=problem.metric_reason,
        power=power_of(problem),
    )


def _penalty_estimate(problem: Problem) -> RunEstimate:
    preparing, fitting = _measure_seconds(problem, _fit_rows(problem, problem.plan.folds))
    effort: float = problem.strategy.effort.tables
    if problem.dataset.task.is_structured:
        effort = _structured_effort(problem)
    elif problem.strategy.holds_out and takes_turns(problem, 1):
        effort *= _TURNS
    seconds = (preparing + effort * fitting) * (1 + len(problem.outer))
    return RunEstimate(f"{_estimate_text(seconds)}, no trials needed", seconds)


def _trials_estimate(problem: Problem) -> RunEstimate:
    plan, folds = problem.plan, len(problem.splits)
    preparing, fitting = _measure_seconds(problem, _fit_rows(problem, folds))
    seconds_per_trial = problem.strategy.asking + folds * fitting / problem.workers
    fixed = (folds + 2) * preparing + 2 * fitting
    trials = plan.trials or (0 if plan.minutes else problem.strategy.default_trials)
    if problem.averages and folds > 1:
        fixed += (member_count(trials) - 1) * fitting  # every member, on all training rows
    if plan.minutes is None:
        seconds = fixed + trials * seconds_per_trial
    else:
        affordable_trials = max(1, int(60 * (problem.minutes or plan.minutes) / seconds_per_trial))
        trials = min(trials, affordable_trials) if trials else affordable_trials
        seconds = min(fixed + trials * seconds_per_trial, 60 * (problem.minutes or plan.minutes))
    # The whole tuning is repeated without each outer fold.
    seconds *= 1 + len(problem.outer)
    values = _grid_values(problem)
    return RunEstimate(
        f"{_estimate_text(seconds)}, {count_text(trials, 'trial')}",
        seconds,
        trials,
        seconds_per_trial,
        axes=tuple(problem.own_axes),
        values=values,
        settings=math.prod(map(len, values.values())) if values else 0,
    )


def _multi_model_estimate(problem: Problem) -> RunEstimate:
    plan = problem.plan
    if plan.minutes is not None:
        seconds = 60.0 * plan.minutes
        return RunEstimate(f"{_estimate_text(seconds)}, several models", seconds, plan.trials or 0)
    preparing, fitting = _measure_seconds(problem, len(problem.splits[0][0]))
    seconds_per_trial = problem.strategy.asking + _COST_FACTOR * len(problem.splits) * fitting
    trials = plan.trials or 0
    seconds = (preparing + trials * seconds_per_trial / problem.workers) * (1 + len(problem.outer))
    sentence = f"{_estimate_text(seconds)}, {trials:,} trials of several models"
    return RunEstimate(sentence, seconds, trials)


def _fit_rows(problem: Problem, folds: int) -> int:
    if folds == 1:
        return len(problem.splits[0][0])
    return int(len(problem.train_rows) * (problem.plan.folds - 1) / problem.plan.folds)


def _structured_effort(problem: Problem) -> float:
    effort = problem.strategy.effort
    if not problem.strategy.holds_out:
        return float(effort.structured)
    from core.losses.rna.parameters import MOTIFS

    groups = problem.plan.groups
    kinds = problem.dataset.features.shape[1] + 1  # all columns but the sequence's, and two more
    if problem.dataset.task.has_pairs:
        kinds = len(MOTIFS)
    count = {"single": 1}.get(groups, kinds) if isinstance(groups, str) else len(groups) + 1
    return float(effort.in_turns if takes_turns(problem, count) else effort.structured)


def _grid_values(problem: Problem) -> dict[str, list[Any]]:
    if problem.strategy.values is None:
        return {}
    values = problem.strategy.values(problem.space, problem.options)
    return {axis.label: values[axis.name] for axis in problem.space}


def _measure_seconds(problem: Problem, fit_rows: int) -> tuple[float, float]:
    if problem.dataset.task.has_pairs:
        return 0.0, molecules_seconds(problem) * fit_rows / len(problem.train_rows)
    sample = _sample_rows(problem, min(fit_rows, _MAX_PREPARED_ROWS))
    X, y = take_rows(problem.dataset.features, sample), problem.dataset.target[sample]
    start_time = time.perf_counter()
    prepared = problem.preparation().fit_transform(X, y)
    preparing = (time.perf_counter() - start_time) * fit_rows / len(sample)

    # A network says by its epochs how its time grows; a compiler would spoil the timings.
    if epochs := int(problem.estimator(problem.default).get_params().get("epochs", 0)):
        rows = min(len(sample), _EPOCH_ROWS)
        fitting = _by_epochs(problem, prepared[:rows], y[:rows], epochs)
        return preparing, fitting * fit_rows / rows

    least = CALIBRATION_FOLDS * len(problem.dataset.classes)

    def fit_some(rows: int) -> None:
        rows = max(rows, least)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a part of the rows may have too few of a class
            problem.estimator(problem.default).fit(prepared[:rows], y[:rows])

    return preparing, extrapolate_seconds(fit_some, len(sample), fit_rows)


def molecules_seconds(problem: Problem) -> float:
    """Seconds of a fit to the training molecules, by the time that a short one takes."""
    from core.losses.rna.rna_loss import build_rna

    molecules = take_rows(problem.dataset.features, problem.train_rows).iloc[:, 0].str
    bases = molecules.len().to_numpy(dtype=float)
    letters = str(molecules[:_TIMED_BASES].iloc[bases.argmax()])
    loss = build_rna([letters], ["." * len(letters)], threads=1)
    loss.point_at(loss.initial_weights())  # compiles, or reads what is compiled
    # By the processor: a busy computer is no reason to refuse a run.
    start_time = time.thread_time()
    for step in range(1, _TIMED_PASSES + 1):
        loss.point_at(loss.initial_weights() + 0.001 * step)
    seconds = (time.thread_time() - start_time) / _TIMED_PASSES
    costs = bases**2 * (1 + bases / _CUBIC_BASES)
    timed_cost = len(letters) ** 2 * (1 + len(letters) / _CUBIC_BASES)
    passes = _FIT_PASSES * seconds / min(processor_count(), len(bases))
    return float(passes * costs.sum() / timed_cost)


def check_fit_time(problem: Problem) -> None:
    """UnusableError where one fit of molecules alone takes longer than the minutes of the run."""
    if problem.minutes is None or not problem.dataset.task.has_pairs:
        return
    if (seconds := molecules_seconds(problem)) <= 60 * problem.minutes:
        return
    molecules = take_rows(problem.dataset.features, problem.train_rows).iloc[:, 0]
    counted = count_text(len(molecules), problem.dataset.task.item)
    bases = molecules.str.len().max()
    unlimited = replace(problem, plan=problem.plan.changed(minutes=None))
    minutes = math.ceil(estimate_of(unlimited).seconds / 60)
    fault = f"one fit of {counted} of up to {bases:,} bases takes {_estimate_text(seconds)}"
    cure = f"give at least {count_text(minutes, 'minute')}, or leave the longest molecules out"
    raise UnusableError(fault, where=f"{problem.plan.minutes:g} minutes", cure=cure)


def _by_epochs(problem: Problem, X: Any, y: np.ndarray, epochs: int) -> float:
    def seconds_of_fit(epoch_count: int) -> float:
        start_time = time.perf_counter()
        problem.estimator(problem.default).set_params(epochs=epoch_count).fit(X, y)
        return time.perf_counter() - start_time

    # Such models are compiled once per shape of rows; growing parts would time the compiler.
    seconds_of_fit(1)
    first, several = seconds_of_fit(1), seconds_of_fit(_EPOCHS)
    return first + (epochs - 1) * max(0.0, several - first) / (_EPOCHS - 1)


def _sample_rows(problem: Problem, rows: int) -> np.ndarray:
    """Some training rows in random order, those that a calibration needs of each class first."""
    # Tokens keep their order: sequences must stay complete.
    if problem.dataset.task.has_sequences:
        return problem.train_rows[:rows]
    shuffled_rows = np.random.default_rng(problem.plan.seed).permutation(problem.train_rows)
    if not problem.dataset.classes:
        return shuffled_rows[:rows]
    labels = pd.Series(problem.dataset.target[shuffled_rows].astype(str))
    is_front = (labels.groupby(labels).cumcount() < CALIBRATION_FOLDS).to_numpy()
    ordered_rows = np.concatenate([shuffled_rows[is_front], shuffled_rows[~is_front]])
    return ordered_rows[: max(rows, int(is_front.sum()))]


def extrapolate_seconds(
    run: Callable[[int], None],
    max_size: int,
    target: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds that ``run(target)`` would take.

    Timed on sizes from 200 to `max_size`, or until a timing is long enough. The last two are
    extrapolated by a power (at most 2.5), or by a straight line where a fixed cost dominates.
    """
    size = min(_FIRST_ROWS, max_size)
    run(max(1, size // 4))  # imports and caches are paid here, not in the timing
    timings: list[tuple[int, float]] = []
    while True:
        start_time = clock()
        run(size)
        timings.append((size, max(clock() - start_time, 1e-6)))
        if size >= max_size or timings[-1][1] > _ENOUGH_SECONDS:
            break
        # Far below what can be trusted, the next part may be four times as large.
        size = min(max_size, size * (4 if timings[-1][1] < _ENOUGH_SECONDS / 8 else 2))
    last_size, last = timings[-1]
    if len(timings) < 2:
        return last * target / last_size
    earlier_size, earlier = timings[-2]
    power = math.log(last / earlier) / math.log(last_size / earlier_size)
    if power > 1:
        return last * (target / last_size) ** min(_MAX_POWER, power)
    return last + max(0.0, last - earlier) * (target - last_size) / (last_size - earlier_size)


def _estimate_text(seconds: float) -> str:
    return "under a second" if seconds < 1 else f"about {rough_duration_text(seconds)}"


def power_of(problem: Problem) -> str:
    """The sentence for a problem."""
    units, dataset = problem.test_units, problem.dataset
    alike = _ALIKE if dataset.row_groups is not None or units.is_time else 1.0
    return power_text(problem.metric.name, units, folds=len(problem.outer), alike=alike)


def power_text(metric: str, units: Units, folds: int = 0, alike: float = _ALIKE) -> str:
    """Such as "With 60 test rows, only gains above some 13 points can be shown …"; or "".

    `alike` is the correlation of rows of one unit, or of moments next to each other.
    """
    if metric not in ("accuracy", "r2"):
        return ""
    rows, count = float(len(units.codes)), 0
    if units.is_time:
        rows, count = rows * (1.0 - alike) / (1.0 + alike), min(units.count, TIME_BLOCKS)
    elif units.has_groups:
        mean_size = rows * float(units.row_shares @ units.row_shares)
        rows, count = rows / (1.0 + (mean_size - 1.0) * alike), units.count
    has_enough = units.count >= MIN_UNITS
    if metric == "accuracy":
        gain, max_gain = smallest_gain(rows, folds=folds, units=count) if has_enough else 1.0, 1.0
        share = f"one row in {1 / DISCORDANCE:.0f}"
        assumption = f"if the default and the tuned model disagree on {share}"
        if gain > DISCORDANCE:
            assumption = "if the tuned model loses no row that the default has right"
        unit = "point" if _points_text(gain) == "1" else "points"
    else:
        max_gain = 1.0 - _R2
        gain = smallest_r2_gain(rows, _R2, folds=folds, units=count) if has_enough else max_gain
        assumption = "if the default model explains half of the variance"
        unit = "points of R²"
    tested = _tested_text(units, folds)
    if gain >= max_gain:
        return f"{tested}, hardly any gain can be shown; more {units.plural_noun} would help."
    if units.is_time:
        assumption += f", and errors of moments in a row correlate by {format_number(alike)}"
    elif units.has_groups and alike < 1.0:
        assumption += f", and errors of one {units.noun} correlate by {format_number(alike)}"
    return (
        f"{tested}, only gains above some {_points_text(gain)} {unit} can be shown "
        f"({100 * POWER:.0f} % power, {assumption})."
    )


def _tested_text(units: Units, folds: int) -> str:
    # Folds of nested cross-validation test all rows; 0 stands for one test set.
    if folds:
        return f"With {units.count_text} tested by {folds}-fold cross-validation"
    noun = f"test {units.noun if units.count == 1 else units.plural_noun}"
    different = "different " if units.has_groups else ""
    return f"With {units.count:,} {noun.replace('test different ', f'{different}test ')}"


def _points_text(gain: float) -> str:
    points = 100 * gain
    return f"{points:.0f}" if points >= 1.5 else f"{points:.1g}"
