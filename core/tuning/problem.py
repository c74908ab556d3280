"""The problem of a run: its rows, folds, model and metric, and the pipeline of any setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.categories import Categories
from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.prepared_columns import OwnColumns, output_names, own_columns
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.sampling.file_parts import RowLimit
from core.datasets.splits.splitting import cross_validation_folds
from core.datasets.texts.documents import refuse_too_few
from core.datasets.texts.vocabulary import chosen_rules
from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.multi_model import MODEL, combined_setting
from core.estimators.optional_parts import check_installed
from core.estimators.own_columns import with_own_columns
from core.estimators.registry import MODELS, model_named
from core.options import StrategyOptions
from core.processors import processor_count
from core.space import Axis, Setting, default_setting
from core.tuning.candidate_models import (
    SPREAD_TRIALS,
    candidate_models,
    columns_of_setting,
    default_model,
    feature_count,
    shares_levels,
    stays_sparse,
    usual_minutes,
    usual_repeats,
)
from core.tuning.plan import DataPlan, Plan, check_gamma
from core.tuning.plan_checks import check_budget, check_numbers, check_pair, registry_entry
from core.tuning.ranges import check_searched, searched_axes
from core.tuning.scores.costs import costs_of
from core.tuning.scores.document_metrics import COMPLETED
from core.tuning.scores.imbalance import RareClass, class_counts, rare_class, recommended_metric
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import EXPLAINED, METRICS, fold_metric
from core.tuning.scores.scoring import FoldData, ScoringJob
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy
from core.tuning.train_test_rows import divide_train_test, repeated_folds

VALIDATION_FOLDS = 5  # one of them is held out
MAX_USUAL_WORKERS = 8  # of a run of several models, where nobody says how many
MAX_PARALLEL_VALUES = 2.5e7  # of a table, to which several members are fitted at a time
MAX_CROSS_VALIDATED_ROWS = 8000  # of several models; of more, one fifth is precise enough


@dataclass(frozen=True)
class Problem:
    """Everything fixed before the first trial or step."""

    plan: Plan
    dataset: Dataset
    model: Model
    strategy: Strategy
    metric: Metric  # of test rows, and of trials unless `scored_by` is another
    options: StrategyOptions  # checked and completed
    # of `dataset`, as `test_rows`; all rows for both where `outer` tests them
    train_rows: np.ndarray
    test_rows: np.ndarray  # none where a second file is the test
    metric_reason: str = ""  # why it is not the task's usual one; "" if it is or was chosen
    rare: RareClass | None = None  # the rarest class of the training rows, where it is rare
    axes: tuple[Axis, ...] = ()  # the first space of a resumed run, where it is another
    # (rows to tune and fit on, rows to test on) of every outer fold of nested cross-validation
    outer: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    is_one_of_several: bool = False  # whether its rows are prepared as those of other models too

    @property
    def is_nested(self) -> bool:
        """Whether every row is tested, by nested cross-validation."""
        return bool(self.outer)

    @property
    def warm_start_datasets(self) -> int:
        """From how many earlier datasets the best setting is tried at the beginning."""
        return self.strategy.recalls(self.options)

    def with_rows(self, train_rows: np.ndarray, test_rows: np.ndarray) -> Problem:
        """The same problem with other rows to tune and fit on, and to test on."""
        return replace(self, train_rows=train_rows, test_rows=test_rows, outer=())

    def single_model(self, name: str) -> Problem:
        """The problem of one of several models: its own space and strategy, all else the same."""
        search = STRATEGIES[self.options.search]
        model = model_named(name, probabilities=self.model.probabilistic is None)
        start_options: dict[str, int] = {}
        if any(option.name == "start_trials" for option in search.options):
            # The default and the known starts come first; few more are spread evenly.
            task = self.dataset.task
            known_starts = model.starts(task, default_setting(model.space(task)))
            start_options["start_trials"] = 1 + len(known_starts) + SPREAD_TRIALS
        options = search.option_values(start_options)
        plan = self.plan.changed(model=name, strategy=search.name, options={})
        problem = replace(self, plan=plan, model=model, strategy=search, options=options, axes=())
        return replace(problem, is_one_of_several=True)

    @property
    def fitted_rows(self) -> np.ndarray:
        """The rows that the exported model is fitted on."""
        return np.arange(self.dataset.rows) if self.plan.refit else self.train_rows

    @cached_property
    def space(self) -> tuple[Axis, ...]:
        """The axes searched: the model's own, in the planned ranges.

        Raises:
            UnusableError: a range is unusable (core.tuning.ranges).
        """
        if self.axes or self.strategy.several or self.strategy.kind != "trials":
            return self.own_axes
        return searched_axes(self.own_axes, self.plan.ranges, self.plan.fixed)

    @cached_property
    def own_axes(self) -> tuple[Axis, ...]:
        """The model's axes for this task and data; those of its first start for a resumed run."""
        if self.axes:
            return self.axes
        task = self.dataset.task
        if self.strategy.several:
            names = candidate_models(self.dataset)
            default_model_name = default_model(self.dataset, len(self.train_rows))
            return (Axis(MODEL, "Model", "choice", choices=names, default=default_model_name),)
        has_class_weights = self.strategy.kind == "trials" and not self.strategy.numbers_only
        space = self.model.space_of(task, rare=has_class_weights and self.rare is not None)
        if self.model.most is not None:
            max_values = self.model.most(min(len(fit_rows) for fit_rows, _ in self.splits))
            space = tuple(
                replace(axis.up_to(max_values[axis.name]), most=max_values[axis.name])
                if axis.name in max_values
                else axis
                for axis in space
            )
        if self.model.defaults is None:
            return space
        X = self.preparation().fit_transform(*self.training_data)
        defaults = self.model.defaults(task, X)
        return tuple(replace(a, default=defaults.get(a.name, a.default)) for a in space)

    @property
    def averages(self) -> bool:
        """Whether the best models are averaged at the end, or may be."""
        return self.strategy.averages and self.options.average

    @property
    def keeps_models(self) -> bool:
        """Whether the models that the trials fitted are kept for the average."""
        return self.averages and self.validation_scheme != "cv" and not self.strategy.several

    @property
    def validation_scheme(self) -> str:
        """How settings are scored: cv, validation or training (`averaging_options.JUDGED`)."""
        scheme = self.options.judged
        if scheme != "automatic":
            return scheme
        if self.strategy.several:
            return "cv" if len(self.train_rows) <= MAX_CROSS_VALIDATED_ROWS else "validation"
        return "cv" if self.model.training_score is None else "training"

    @property
    def fold_repeats(self) -> int:
        """How often the training rows are divided into folds."""
        if not self.strategy.several or self.validation_scheme != "cv":
            return 1
        if repeats := self.options.repeats:
            return repeats
        rows, classes = len(self.train_rows), len(self.dataset.classes)
        return usual_repeats(rows, feature_count(self.dataset), classes)

    @property
    def scored_by(self) -> Metric:
        """The metric of trials: `metric`, or that of the training rows."""
        if self.validation_scheme != "training":
            return self.metric
        return EXPLAINED if self.dataset.task.has_target else COMPLETED

    @cached_property
    def _fold_variance(self) -> float | None:
        """The variance of the training targets, where numbers are predicted in folds."""
        if self.validation_scheme != "cv" or not self.dataset.task.has_numbers:
            return None
        return float(np.var(self.dataset.target[self.train_rows]))

    @property
    def fold_metric(self) -> Metric:
        """The metric of one fold's rows."""
        return fold_metric(self.metric, self._fold_variance)

    @property
    def minutes(self) -> float | None:
        """How long one tuning may take; with outer folds all have equal parts."""
        minutes = self.plan.minutes
        return None if minutes is None else minutes / (1 + len(self.outer))

    @property
    def workers(self) -> int:
        """How many trials run at the same time; planned, or by the processors.

        More than one only where minutes bound a run of several models: a number of trials is to
        give the same ones again.
        """
        plan = self.plan
        is_timed = self.strategy.several and plan.minutes is not None and plan.trials is None
        return plan.workers or (min(MAX_USUAL_WORKERS, processor_count()) if is_timed else 1)

    @property
    def refits_at_once(self) -> int:
        """How many members of an average are fitted at the same time: fewer of large tables."""
        values = len(self.train_rows) * feature_count(self.dataset)
        return self.workers if values <= MAX_PARALLEL_VALUES else 1

    @property
    def total(self) -> int:
        """The maximum of trials or steps; 0 where only time bounds them."""
        plan, strategy = self.plan, self.strategy
        if strategy.kind == "penalties":
            return self.options.max_steps or self.options.steps
        if plan.trials is not None:
            return plan.trials
        return strategy.default_trials if plan.minutes is None else 0

    @property
    def default(self) -> Setting:
        """The setting without tuning."""
        if self.strategy.several:
            default_model_name = default_model(self.dataset, len(self.train_rows))
            setting = self.single_model(default_model_name).default
            return combined_setting(default_model_name, setting)
        return default_setting(self.space)

    @property
    def training_data(self) -> tuple[Any, np.ndarray]:
        """Raw training rows and their targets."""
        rows = self.train_rows
        return take_rows(self.dataset.features, rows), self.dataset.target[rows]

    @property
    def test_data(self) -> tuple[Any, np.ndarray]:
        """Raw rows that tuning never sees, and their targets."""
        if self.dataset.test is not None:
            return self.dataset.test.features, self.dataset.test.target
        return take_rows(self.dataset.features, self.test_rows), self.dataset.target[self.test_rows]

    def preparation(self) -> Any:
        """An unfitted transformer from raw rows to the model's input."""
        scale = self.model.scaled and self.plan.standardize
        sparse_ok = self.model.takes_sparse
        if self.strategy.several or self.is_one_of_several:
            sparse_ok = stays_sparse(self.dataset)
        return preparation(
            self.dataset, scale=scale, sparse_ok=sparse_ok, categories=self.categories
        )

    @property
    def categories(self) -> Categories:
        """How categories become numbers: as the model wants, or as suits several models."""
        if not self.strategy.several and not self.is_one_of_several:
            return self.model.categories
        if not shares_levels(self.dataset):
            return "means"
        return "both" if self.strategy.several else self.model.categories

    @cached_property
    def own_columns(self) -> OwnColumns | None:
        """Which prepared columns are for which of several models; None where all take all."""
        if self.categories != "both":
            return None
        X, y = self.training_data
        return own_columns(self.preparation().fit(X, y))

    @property
    def fixed_parameters(self) -> Setting:
        """Parameters of the estimator that the plan fixes."""
        return {name: getattr(self.plan, name) for name in self.dataset.task.parameters}

    def estimator(self, setting: Setting) -> Any:
        """The unfitted estimator of a setting."""
        estimator = self.model.build(self.dataset.task, setting, self.plan.seed)
        estimator = estimator.set_params(**self.fixed_parameters)
        if self.own_columns is None:
            return estimator
        return with_own_columns(estimator, columns_of_setting(self.own_columns, setting))

    def pipeline(self, setting: Setting) -> Pipeline:
        """The unfitted pipeline of a setting; it takes raw rows."""
        return Pipeline([("prepare", self.preparation()), ("model", self.estimator(setting))])

    @cached_property
    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(rows to fit on, rows to score on) of every fold of the training rows.

        validation: the first of five folds; training: all rows for both; `fold_repeats`: division
        after division.
        """
        if self.validation_scheme == "training":
            return [(self.train_rows, self.train_rows)]
        dataset, rows, seed = self.dataset, self.train_rows, self.plan.seed
        if self.validation_scheme != "cv":
            return cross_validation_folds(dataset, rows, VALIDATION_FOLDS, seed)[:1]
        return repeated_folds(dataset, rows, self.plan.folds, self.fold_repeats, seed)

    @property
    def validated_rows(self) -> int:
        """How many rows a trial is scored on."""
        return sum(len(rows) for _, rows in self.splits) // self.fold_repeats

    def fold_data(self) -> list[FoldData]:
        """Every fold prepared, the preparation fitted inside it."""
        prepare, features, target = self.preparation(), self.dataset.features, self.dataset.target
        prepared_folds = []
        for fit_rows, score_rows in self.splits:
            fold_preparation = clone(prepare)
            fit_X = fold_preparation.fit_transform(take_rows(features, fit_rows), target[fit_rows])
            score_X = fit_X
            if score_rows is not fit_rows:
                score_X = fold_preparation.transform(take_rows(features, score_rows))
            fold = FoldData(fit_X, target[fit_rows], score_X, target[score_rows])
            if self.model.shows:
                fold = replace(fold, names=tuple(output_names(fold_preparation)))
            prepared_folds.append(fold)
        return prepared_folds

    def scoring_job(self, folds: Sequence[FoldData] | None = None) -> ScoringJob:
        """The job of a trial process, on the usual folds or those given."""
        needs_probabilities = self.metric.needs == "probabilities"
        return ScoringJob(
            self.plan.model,
            self.dataset.task,
            self.metric.name,
            self.plan.seed,
            self.dataset.classes,
            self.fold_data() if folds is None else folds,
            self.fixed_parameters,
            probabilities=self.averages or bool(self.plan.costs) or needs_probabilities,
            returns_predictions=self.averages and self.validation_scheme != "training",
            returns_model=self.keeps_models,
            own_columns=self.own_columns,
            variance=self._fold_variance,
            fitted_rows=self.validation_scheme == "training",
            memory=self.plan.max_bytes,
        )


def take_rows(features: Any, rows: np.ndarray) -> Any:
    """Some rows of a table or a CSR matrix; all rows in order are not copied."""
    if len(rows) == features.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return features.copy(deep=False) if hasattr(features, "iloc") else features
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


def read_data(data: DataPlan) -> Dataset:
    """The dataset of a data plan; raises UnusableError as `read_dataset` does."""
    data_options = DataOptions(
        target=data.target,
        task=data.task,
        roles=data.roles,
        kinds=data.kinds,
        readings=data.readings,
        together=data.together,
        latest=data.latest,
        leaks=data.leaks,
        other_letters=data.other_letters,
    )
    words = chosen_rules(data.vocabulary, data.stop_words)
    rows, test = (RowLimit(max_rows, data.rows_seed) for max_rows in (data.rows, data.test_rows))
    file, test_file = data.file, data.test_file
    return read_dataset(
        file, data_options, test_file=test_file, words=words, row_limit=rows, test_row_limit=test
    )


def build_problem(plan: Plan, dataset: Dataset) -> Problem:
    """Check a plan against its data and split the rows.

    Raises:
        UnusableError: the model, strategy, metric or an option does not fit, packages are not
            installed, or the rows are too few for the folds.
    """
    model = registry_entry(MODELS, "model", plan.model)
    strategy = registry_entry(STRATEGIES, "strategy", plan.strategy)
    check_pair(model, strategy, dataset.task)
    check_numbers(dataset)
    check_installed(model.extra)
    check_budget(plan)
    if strategy.several and plan.minutes is None and plan.trials is None:
        plan = plan.changed(minutes=usual_minutes(dataset))
    check_gamma(plan)
    costs = bool(costs_of(plan.costs, dataset, model))
    if plan.metric:
        metric = registry_entry(METRICS, "metric", plan.metric)
        if dataset.task not in metric.tasks:
            task_metrics = [name for name, m in METRICS.items() if dataset.task in m.tasks]
            raise UnusableError(
                f"{plan.metric} does not measure this task ({dataset.task})",
                where="option metric",
                cure="choose one of " + ", ".join(task_metrics),
            )
    train, test, outer = divide_train_test(plan, dataset, strategy.kind)
    options = strategy.option_values(plan.options)
    rare, reason = rare_class(dataset.task, class_counts(dataset, train)), ""
    if not plan.metric and strategy.averages and not strategy.several:
        metric = METRICS[dataset.task.averaged_metric]
    elif not plan.metric:
        usual, several = dataset.task.default_metric, strategy.several
        is_probabilistic = model.probabilistic is None  # gives probabilities without more fits
        advised = recommended_metric(
            usual, rare, probabilities=is_probabilistic, costs=costs, several=several
        )
        metric, reason = METRICS[advised.metric], advised.reason
    if strategy.averages or costs or metric.needs == "probabilities":
        model = model_named(plan.model, probabilities=True)
    problem = Problem(
        plan, dataset, model, strategy, metric, options, train, test, reason, rare, outer=outer
    )
    _check_validation(problem)
    if strategy.kind == "trials":
        _ = problem.splits  # refuses too many folds before anything else is done
    if not dataset.task.has_target:
        min_rows = min(len(fit_rows) for fit_rows, _ in problem.splits)
        refuse_too_few(min_rows, model.minibatch, dataset.name)
    if strategy.kind == "trials":
        check_searched(plan, strategy, model.name, problem.space)
    strategy.check(problem.space, options)
    return problem


def _check_validation(problem: Problem) -> None:
    if problem.validation_scheme == "training" and problem.model.training_score is None:
        raise UnusableError(
            f"{problem.model.name} can only be judged by rows that it has not seen",
            where="option judged",
            cure="choose cv or validation",
        )
