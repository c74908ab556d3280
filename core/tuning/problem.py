"""The problem of a run: its rows, folds, model and metric, and the pipeline of any setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Categories
from core.datasets.preparation import OwnColumns, output_names, own_columns, preparation
from core.datasets.splitting import cross_validation_folds
from core.datasets.units import Units, dataset_units, file_units
from core.estimators.baseline import baseline_pipeline
from core.estimators.model import Model
from core.estimators.multi_model import MODEL, combined_setting, with_own_columns
from core.estimators.registry import model_named
from core.options import StrategyOptions
from core.processes import processor_count
from core.space import Axis, Setting, default_setting
from core.tuning import candidate_models as candidates
from core.tuning.plan import Plan
from core.tuning.ranges import searched_axes
from core.tuning.scores.imbalance import RareClass
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import EXPLAINED, fold_metric, predict_for_metric, targets_of
from core.tuning.scores.scoring import FoldData, ScoringJob
from core.tuning.scores.structured_metrics import COMPLETED
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

VALIDATION_FOLDS = 5  # one of them is held out
MAX_USUAL_WORKERS = 8  # of a run of several models, where nobody says how many
MAX_PARALLEL_VALUES = 2.5e7  # of a table, to which several members are fitted at a time
# Between two divisions of the same rows into folds: a prime, so that the divisions of two runs
# whose seeds are neighbours are not the same.
_NEXT_SEED = 7919
Split = tuple[np.ndarray, np.ndarray]  # rows to fit on, rows to score on
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
    outer: tuple[Split, ...] = ()
    is_one_of_several: bool = False  # whether its rows are prepared as those of other models too

    @cached_property
    def units(self) -> Units:
        return dataset_units(self.dataset)

    @cached_property
    def test_units(self) -> Units:
        if self.dataset.test is not None:
            return file_units(self.dataset.test)
        return self.units.take_rows(self.test_rows)

    @property
    def is_nested(self) -> bool:
        return bool(self.outer)

    @property
    def warm_start_datasets(self) -> int:
        return self.strategy.recalls(self.options)

    def with_rows(self, train_rows: np.ndarray, test_rows: np.ndarray) -> Problem:
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
            start_options["start_trials"] = 1 + len(known_starts) + candidates.SPREAD_TRIALS
        options = search.option_values(start_options)
        plan = self.plan.changed(model=name, strategy=search.name, options={})
        # Without the axes of the whole run, whose only one is which model is tried.
        problem = replace(self, plan=plan, model=model, strategy=search, options=options, axes=())
        return replace(problem, is_one_of_several=True)

    @property
    def fitted_rows(self) -> np.ndarray:
        return np.arange(self.dataset.rows) if self.plan.refit else self.train_rows

    @cached_property
    def space(self) -> tuple[Axis, ...]:
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
            names = candidates.candidate_models(self.dataset)
            default_model_name = candidates.default_model(self.dataset, len(self.train_rows))
            return (Axis(MODEL, "Model", "choice", choices=names, default=default_model_name),)
        has_class_weights = self.strategy.kind == "trials" and not self.strategy.numbers_only
        space = self.model.space_of(task, rare=has_class_weights and self.rare is not None)
        # Such as neighbours, of which there are no more than rows: the smallest fold decides.
        if self.model.most is not None:
            max_values = self.model.most(min(len(fit_rows) for fit_rows, _ in self.splits))
            space = tuple(
                replace(
                    axis.up_to(max_values[axis.name]),
                    # A limit of the model itself stays: only what is searched is narrowed.
                    most=max_values[axis.name] if axis.most is None else axis.most,
                )
                if axis.name in max_values
                else axis
                for axis in space
            )
        # Some defaults depend on the rows, as gamma "scale" of a support vector machine does.
        if self.model.defaults is None:
            return space
        X = self.preparation().fit_transform(*self.training_data)
        defaults = self.model.defaults(task, X)
        return tuple(replace(a, default=defaults.get(a.name, a.default)) for a in space)

    @property
    def averages(self) -> bool:
        return self.strategy.averages and self.options.average

    @property
    def keeps_models(self) -> bool:
        """Whether the models that the trials fitted are kept for the average."""
        return self.averages and self.validation_scheme != "cv" and not self.strategy.several

    @property
    def has_holdout(self) -> bool:
        """Whether the kept members of an average were fitted without the validation rows."""
        return self.keeps_models and self.validation_scheme == "validation"

    @property
    def validation_scheme(self) -> str:
        """How settings are scored: cv, validation or training (`averaging_options.JUDGED`)."""
        scheme = self.options.judged
        if scheme != "automatic":
            return scheme
        count = len(self.train_rows)
        # Texts that topics were fitted to prefer more topics than new ones do.
        is_held_out = self.strategy.several or not self.dataset.task.has_target
        if is_held_out and count - count // 5 > self.model.minibatch:
            return "cv" if count <= MAX_CROSS_VALIDATED_ROWS else "validation"
        return "cv" if self.model.training_score is None else "training"

    @property
    def fold_repeats(self) -> int:
        # One division is what a single model's scores are compared on; only a race repeats it.
        if not self.strategy.several or self.validation_scheme != "cv":
            return 1
        if repeats := self.options.repeats:
            return repeats
        rows, classes = len(self.train_rows), len(self.dataset.classes)
        return candidates.usual_repeats(rows, candidates.feature_count(self.dataset), classes)

    @property
    def scored_by(self) -> Metric:
        """The metric of trials: `metric`, or that of the training rows."""
        if self.validation_scheme != "training":
            return self.metric
        return EXPLAINED if self.dataset.task.has_target else COMPLETED

    @cached_property
    def _fold_variance(self) -> float | None:
        if self.validation_scheme != "cv" or not self.dataset.task.has_numbers:
            return None
        return float(np.var(self.dataset.target[self.train_rows]))

    @property
    def fold_metric(self) -> Metric:
        return fold_metric(self.metric, self._fold_variance)

    @property
    def minutes(self) -> float | None:
        """How long one tuning may take; with outer folds all have equal parts."""
        minutes = self.plan.minutes
        return None if minutes is None else minutes / (1 + len(self.outer))

    @property
    def workers(self) -> int:
        """How many trials run at the same time; planned, or by the processors."""
        plan = self.plan
        # A number of trials is to give the same ones again, which several at a time do not.
        is_timed = self.strategy.several and plan.minutes is not None and plan.trials is None
        return plan.workers or (min(MAX_USUAL_WORKERS, processor_count()) if is_timed else 1)

    @property
    def refits_at_once(self) -> int:
        """How many members of an average are fitted at the same time: fewer of large tables."""
        # Each fit copies its rows: of a large table that memory costs more than the time saves.
        values = len(self.train_rows) * candidates.feature_count(self.dataset)
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
        if self.strategy.several:
            default_model_name = candidates.default_model(self.dataset, len(self.train_rows))
            setting = self.single_model(default_model_name).default
            return combined_setting(default_model_name, setting)
        return default_setting(self.space)

    @property
    def training_data(self) -> tuple[Any, np.ndarray]:
        rows = self.train_rows
        return take_rows(self.dataset.features, rows), self.dataset.target[rows]

    @property
    def test_data(self) -> tuple[Any, np.ndarray]:
        """Raw rows that tuning never sees, and their targets."""
        if self.dataset.test is not None:
            return self.dataset.test.features, self.dataset.test.target
        return take_rows(self.dataset.features, self.test_rows), self.dataset.target[self.test_rows]

    def preparation(self) -> Any:
        scale = self.model.scaled and self.plan.standardize
        sparse_ok = self.model.takes_sparse
        if self.strategy.several or self.is_one_of_several:
            # One preparation serves all models, so that the most demanding of them decides.
            sparse_ok = candidates.stays_sparse(self.dataset)
        return preparation(
            self.dataset, scale=scale, sparse_ok=sparse_ok, categories=self.categories
        )

    @property
    def categories(self) -> Categories:
        """How categories become numbers: as the model wants, or as suits several models."""
        if not self.strategy.several and not self.is_one_of_several:
            return self.model.categories
        if not candidates.shares_levels(self.dataset):
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
        return {name: getattr(self.plan, name) for name in self.dataset.task.parameters}

    def estimator(self, setting: Setting) -> Any:
        estimator = self.model.build(self.dataset.task, setting, self.plan.seed)
        estimator = estimator.set_params(**self.fixed_parameters)
        if self.own_columns is None:
            return estimator
        return with_own_columns(estimator, candidates.columns_of_setting(self.own_columns, setting))

    def pipeline(self, setting: Setting) -> Pipeline:
        """The unfitted pipeline of a setting; it takes raw rows."""
        return Pipeline([("prepare", self.preparation()), ("model", self.estimator(setting))])

    @cached_property
    def splits(self) -> list[Split]:
        """Every fold of the training rows."""
        # validation: the first of five folds; training: all rows for both.
        if self.validation_scheme == "training":
            return [(self.train_rows, self.train_rows)]
        dataset, rows, seed = self.dataset, self.train_rows, self.plan.seed
        if self.validation_scheme != "cv":
            return cross_validation_folds(dataset, rows, VALIDATION_FOLDS, seed)[:1]
        return repeated_folds(dataset, rows, self.plan.folds, self.fold_repeats, seed)

    @property
    def validated_rows(self) -> int:
        return sum(len(rows) for _, rows in self.splits) // self.fold_repeats

    def fold_data(self) -> list[FoldData]:
        """Every fold prepared, the preparation fitted inside it."""
        prepare, features, target = self.preparation(), self.dataset.features, self.dataset.target
        prepared_folds = []
        for fit_rows, score_rows in self.splits:
            # Fitted inside every fold: its held-out rows must not tell it their means or
            # categories.
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


def repeated_folds(
    dataset: Dataset, rows: np.ndarray, count: int, times: int, seed: int
) -> list[Split]:
    """Folds of some rows, division after division; the first one as for this seed alone."""
    divisions = [
        cross_validation_folds(dataset, rows, count, seed + _NEXT_SEED * repeat)
        for repeat in range(times)
    ]
    return [split for division in divisions for split in division]


def take_rows(features: Any, rows: np.ndarray) -> Any:
    """Some rows of a table or a CSR matrix; all rows in order are not copied."""
    # All rows in order: a copy would take the memory of the table once more.
    if len(rows) == features.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return features.copy(deep=False) if hasattr(features, "iloc") else features
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


def fit_prepared(prepare: Pipeline, dataset: Dataset, rows: np.ndarray) -> Any:
    """The prepared rows; `prepare` is fitted in place, and keeps no input of its steps."""
    y, prepared = dataset.target[rows], None
    for index, (_, step) in enumerate(prepare.steps):
        X = take_rows(dataset.features, rows) if index == 0 else prepared
        prepared = step.fit_transform(X, y)
        del X  # before the next step makes its own
    return prepared


def baseline_score(problem: Problem) -> float | None:
    """The baseline's mean score over the folds; None where it is undefined or there is no table."""
    if not problem.dataset.task.is_table:
        return None
    task, classes, metric = problem.dataset.task, problem.dataset.classes, problem.fold_metric
    target, scores = problem.dataset.target, []
    for fit_rows, score_rows in problem.splits:
        # The baseline looks at targets alone: a column of zeros stands for the table.
        blank_fit_X, blank_score_X = (np.zeros((len(rows), 1)) for rows in (fit_rows, score_rows))
        baseline = baseline_pipeline(task, "passthrough").fit(blank_fit_X, target[fit_rows])
        y = target[score_rows]
        predictions = predict_for_metric(metric, baseline, blank_score_X, y, classes, task)
        scores.append(metric.score(targets_of(y, task, classes), predictions))
    score = float(np.mean(scores))
    # R² of knowing nothing is 0: the mean of other rows is only a little off.
    score = max(score, 0.0) if metric.name == "r2" else score
    return score if math.isfinite(score) else None
