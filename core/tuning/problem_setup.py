"""From a plan to its problem: its data, what is checked before a run, and which rows test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.files.file_parts import ALL, RowLimit
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.texts.documents import refuse_too_few
from core.datasets.texts.vocabulary import chosen_rules
from core.errors import UnusableError, nearest_names_cure
from core.estimators.model import Model
from core.estimators.multi_model import SEVERAL
from core.estimators.optional_parts import check_installed
from core.estimators.registry import MODELS, model_named
from core.tuning.candidate_models import usual_minutes
from core.tuning.events import RunStarted
from core.tuning.plan import DECODINGS, GAMMA_CHOICES, OUTER_FOLDS, DataPlan, Plan, evaluation_of
from core.tuning.ranges import check_searched
from core.tuning.scores.imbalance import class_counts, costs_of, rare_class, recommended_metric
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

if TYPE_CHECKING:
    from core.tuning.problem import Problem, Split

LARGEST_SEED = 2**32 - 1  # of numpy's and scikit-learn's generators
MAX_WORKERS = 512
MAX_NUMBER, MIN_TARGET = 1e150, 1e-150  # sums of squares have to be finite and not 0


def read_data(data: DataPlan) -> Dataset:
    """The dataset of a data plan; raises UnusableError as `read_dataset` does."""
    # The plan has each of them, by the same name.
    data_options = DataOptions(**{f.name: getattr(data, f.name) for f in fields(DataOptions)})
    words = chosen_rules(data.vocabulary, data.stop_words)
    rows, test = (RowLimit(max_rows, data.rows_seed) for max_rows in (data.rows, data.test_rows))
    file, test_file = data.file, data.test_file
    return read_dataset(
        file, data_options, test_file=test_file, words=words, row_limit=rows, test_row_limit=test
    )


def with_row_count(data: DataPlan, dataset: Dataset) -> DataPlan:
    """The data plan with as many rows as were read."""
    # Memory differs from start to start: a resumed run reads as many rows as the first time.
    if data.rows is None:
        data = replace(data, rows=dataset.sampled.rows if dataset.sampled else ALL)
    if data.test_rows is None and dataset.test is not None:
        test = dataset.test.sampled
        data = replace(data, test_rows=test.rows if test else ALL)
    return data


def build_problem(plan: Plan, dataset: Dataset) -> Problem:
    """Check a plan against its data and split the rows."""
    # It brings scikit-learn, without which data are read.
    from core.tuning.problem import Problem

    model = registry_entry(MODELS, "model", plan.model)
    strategy = registry_entry(STRATEGIES, "strategy", plan.strategy)
    check_pair(model, strategy, dataset.task)
    check_numbers(dataset)
    # Before anything slow: a missing package is said at once.
    check_installed(model.extra, model.compiled)
    check_budget(plan)
    if strategy.several and plan.minutes is None and plan.trials is None:
        plan = plan.changed(minutes=usual_minutes(dataset))
    check_gamma(plan)
    costs = bool(costs_of(plan.costs, dataset, model))
    if plan.metric:
        metric = registry_entry(METRICS, "metric", plan.metric)
        if dataset.task not in metric.tasks:
            task_metrics = [name for name, m in METRICS.items() if dataset.task in m.tasks]
            fault = f"{plan.metric} does not measure this task ({dataset.task})"
            cure = "choose one of " + ", ".join(task_metrics)
            raise UnusableError(fault, where="option metric", cure=cure)
    train, test, outer = divide_train_test(plan, dataset, strategy.kind)
    options = strategy.option_values(plan.options)
    rare, reason = rare_class(dataset.task, class_counts(dataset, train)), ""
    # Averages are of probabilities, whose changes an accuracy hardly sees.
    if not plan.metric and strategy.averages and not strategy.several:
        metric = METRICS[dataset.task.averaged_metric]
    elif not plan.metric:
        usual, several = dataset.task.default_metric, strategy.several
        is_probabilistic = model.probabilistic is None  # gives probabilities without more fits
        advised = recommended_metric(
            usual, rare, probabilities=is_probabilistic, costs=costs, several=several
        )
        metric, reason = METRICS[advised.metric], advised.reason
    # Some models give probabilities only where they are asked for, at the price of more fits.
    if strategy.averages or costs or metric.needs == "probabilities":
        model = model_named(plan.model, probabilities=True)
    problem = Problem(
        plan, dataset, model, strategy, metric, options, train, test, reason, rare, outer=outer
    )
    if problem.validation_scheme == "training" and model.training_score is None:
        fault = f"{model.name} can only be judged by rows that it has not seen"
        raise UnusableError(fault, where="option judged", cure="choose cv or validation")
    if strategy.kind == "trials":
        _ = problem.splits  # refuses too many folds before anything else is done
    if not dataset.task.has_target:
        min_rows = min(len(fit_rows) for fit_rows, _ in problem.splits)
        refuse_too_few(min_rows, model.minibatch, dataset.name)
    if strategy.kind == "trials":
        check_searched(plan, strategy, model.name, problem.space)
    strategy.check(problem.space, options)
    return problem


def as_first_started(problem: Problem, started: RunStarted | None) -> Problem:
    """The problem with the metric and the space of its first event; None for a new run."""
    if started is None:
        return problem
    # Scores of other divisions could not be compared with those that are recorded.
    if started.repeats != problem.fold_repeats:
        problem = replace(problem, options=problem.options.changed(repeats=started.repeats))
    # Topics were judged by their own texts in earlier versions.
    if problem.averages and not problem.dataset.task.has_target:
        problem = replace(problem, options=problem.options.changed(judged=started.judged))
    metric, model, plan = problem.metric, problem.model, problem.plan
    first_metric, task = METRICS.get(started.metric), problem.dataset.task
    if not plan.metric and first_metric is not None and task in first_metric.tasks:
        metric = first_metric
        is_needed = problem.averages or bool(plan.costs) or metric.needs == "probabilities"
        model = model_named(plan.model, probabilities=is_needed)
    first_axes = tuple(started.space)
    # A later version may search a model over other ranges: trials on both would not compare.
    first_ranges, ranges = (
        {(axis.name, axis.low, axis.high, axis.log) for axis in axes}
        for axes in (first_axes, problem.space)
    )
    is_same_space = not first_axes or first_ranges == ranges
    if is_same_space and metric == problem.metric:
        return problem
    reason = problem.metric_reason if metric == problem.metric else ""
    axes = () if is_same_space else first_axes
    return replace(problem, metric=metric, model=model, axes=axes, metric_reason=reason)


def divide_train_test(
    plan: Plan, dataset: Dataset, kind: str
) -> tuple[np.ndarray, np.ndarray, tuple[Split, ...]]:
    """The training rows, the test rows, and the outer folds of nested cross-validation."""
    from core.datasets.splitting import hold_out

    all_rows = np.arange(dataset.rows)
    if evaluation_of(plan, dataset.task, dataset.rows, kind) == "nested":
        try:
            return all_rows, all_rows, _outer_folds(dataset, all_rows, plan.seed)
        except UnusableError:  # too few rows, or groups, for so many folds
            if plan.evaluation:
                raise
    if dataset.test is not None:
        return all_rows, all_rows[:0], ()
    units = dataset.rows
    if dataset.task.has_sequences:
        assert dataset.row_groups is not None  # the sequences
        # A share of the sequences, however long they are.
        units = len(np.unique(dataset.row_groups))
    train, test = hold_out(dataset, plan.data.share_tested(units), plan.seed)
    return train, test, ()


def _outer_folds(dataset: Dataset, rows: np.ndarray, seed: int) -> tuple[Split, ...]:
    from core.datasets.splitting import cross_validation_folds

    outer_folds = tuple(cross_validation_folds(dataset, rows, OUTER_FOLDS, seed))
    for fit_rows, _ in outer_folds:
        # Inner folds need a row of each class to fit on and another one to score on.
        labels, counts = np.unique(dataset.target[fit_rows], return_counts=True)
        if dataset.classes and (len(labels) < len(dataset.classes) or counts.min() < 2):
            raise UnusableError(
                "a class has too few rows to tune without each of five folds",
                where=f"{dataset.name}, column {dataset.target_name}",
                cure="choose evaluation test, or give more rows of this class",
            )
    return outer_folds


def registry_entry(registry: Mapping[str, Any], kind: str, name: str) -> Any:
    """The entry of a registry; UnusableError with the nearest names."""
    if name not in registry:
        raise UnusableError(f"there is no {kind} “{name}”", cure=nearest_names_cure(registry, name))
    return registry[name]


def check_pair(model: Model, strategy: Strategy, task: str) -> None:
    """Raise UnusableError unless model, strategy and task fit each other."""
    if task not in model.tasks:
        fitting = [name for name, known_model in MODELS.items() if task in known_model.tasks]
        cure = "choose one of " + ", ".join(fitting)
        raise UnusableError(f"{model.name} cannot do {task}", cure=cure)
    if strategy.several and model.name != SEVERAL:
        problem = f"{strategy.name} tunes several models in one run, not {model.name} alone"
        cure = f"choose model {SEVERAL}, or one of the strategies "
        cure += _fitting_strategies("trials", task)
        raise UnusableError(problem, where="option strategy", cure=cure)
    if model.name == SEVERAL and not strategy.several:
        problem = f"{strategy.name} tunes one model, not several in one run"
        cure = "choose strategy race, and how it tunes each model by its option search"
        raise UnusableError(problem, where="option strategy", cure=cure)
    if strategy.tasks and task not in strategy.tasks:
        raise UnusableError(
            f"{strategy.name} cannot do {task}, only {' and '.join(strategy.tasks)}",
            cure=f"choose one of the strategies {_fitting_strategies(strategy.kind, task)}",
        )
    if strategy.kind == "penalties" and task not in model.loss:
        models = " or ".join(name for name, entry in MODELS.items() if task in entry.loss)
        fitting_strategies = _fitting_strategies("trials", task)
        raise UnusableError(
            f"{strategy.name} learns the penalties of a model's weights, not of {model.name}",
            cure=f"choose model {models}, or one of the strategies {fitting_strategies}",
        )


def _fitting_strategies(kind: str, task: str) -> str:
    candidates = [s for s in STRATEGIES.values() if s.kind == kind and not s.several]
    return ", ".join(s.name for s in candidates if not s.tasks or task in s.tasks)


def check_same_data(
    dataset: Dataset, fingerprint: str, problem: str, cure: str = "put the old file back"
) -> None:
    """Raise UnusableError with a problem where a run had data of another fingerprint."""
    # Runs of earlier versions may have recorded none.
    if fingerprint not in ("", dataset.source.fingerprint):
        where = dataset.source.path or dataset.name
        raise UnusableError(problem, where=where, cure=cure)


def check_numbers(dataset: Dataset) -> None:
    """Raise UnusableError unless squares of all numbers are finite, those of the target not 0."""
    tables = [dataset] if dataset.test is None else [dataset, dataset.test]
    for table in tables:
        for name, size in _largest_numbers(table.features):
            if size > MAX_NUMBER:
                raise _unsquarable_error(dataset, name, "numbers", "large", size)
        if not dataset.task.has_numbers:
            continue
        size = float(np.max(np.abs(table.target), initial=0.0))
        spread = float(np.ptp(table.target)) if len(table.target) else 0.0
        if size > MAX_NUMBER or 0 < spread < MIN_TARGET:
            fault = ("large", size) if size > MAX_NUMBER else ("small", spread)
            raise _unsquarable_error(dataset, dataset.target_name, "numbers to predict", *fault)


def _largest_numbers(features: pd.DataFrame | sparse.csr_matrix) -> Iterator[tuple[str, float]]:
    if isinstance(features, pd.DataFrame):
        for name, column in features.select_dtypes("number").items():
            yield str(name), float(column.abs().max())
    elif len(features.data):
        index = int(np.argmax(np.abs(features.data)))
        yield str(features.indices[index] + 1), float(abs(features.data[index]))


def _unsquarable_error(
    dataset: Dataset, column: str, noun: str, size: str, number: float
) -> UnusableError:
    problem = f"the {noun} are too {size} to be squared (about {number:.0e})"
    cure = "correct them, or give them in another unit"
    return UnusableError(problem, where=f"{dataset.name}, column {column}", cure=cure)


def check_budget(plan: Plan) -> None:
    """Raise UnusableError unless every number and choice of a plan is in its range."""
    limits = (
        ("trials", plan.trials, 1, math.inf),
        ("workers", plan.workers, 0, MAX_WORKERS),
        ("folds", plan.folds, 2, math.inf),
        ("seed", plan.seed, 0, LARGEST_SEED),
        ("patience", plan.patience, 0, math.inf),
    )
    for name, value, minimum, maximum in limits:
        if value is not None and not minimum <= value <= maximum:
            range_ = f"at least {minimum}" if maximum == math.inf else f"{minimum} to {maximum:,}"
            raise UnusableError(f"“{value}” is out of range", where=name, cure=f"give {range_}")
    for name, time in (("minutes", plan.minutes), ("time limit", plan.time_limit)):
        if time is not None and not 0 < time < math.inf:
            cure = "give a number above 0"
            raise UnusableError(f"“{time:g}” is out of range", where=name, cure=cure)
    _ = plan.max_bytes  # raises
    if plan.decoding not in DECODINGS:
        problem = f"there is no decoding “{plan.decoding}”"
        cure = "choose one of " + ", ".join(DECODINGS)
        raise UnusableError(problem, where="option decoding", cure=cure)
    if plan.data.test_size is not None and not 0 < plan.data.test_size < 1:
        raise UnusableError(
            f"“{plan.data.test_size}” is out of range", where="test size", cure="give 0.05 to 0.9"
        )


def check_gamma(plan: Plan) -> None:
    """Raise UnusableError unless γ, its choice and the wanted sensitivity are in range."""
    if plan.gamma_by not in GAMMA_CHOICES:
        fault = f"there is no way “{plan.gamma_by}” to choose γ"
        cure = "choose one of " + ", ".join(GAMMA_CHOICES)
        raise UnusableError(fault, where="option gamma", cure=cure)
    if not 0 < plan.gamma < math.inf:
        problem, cure = f"γ = {plan.gamma:g} is out of range", "give a number above 0"
        raise UnusableError(problem, where="option gamma", cure=cure)
    if not 0 < plan.sensitivity <= 1:
        fault = f"a sensitivity of {plan.sensitivity:g} is out of range"
        cure = "give a share of the true pairs, above 0 and up to 1"
        raise UnusableError(fault, where="option sensitivity", cure=cure)
