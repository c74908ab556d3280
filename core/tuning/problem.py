"""The problem of a run: its rows, folds, model and metric, and the pipeline of any setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names, preparation
from core.datasets.raw_table import Choices
from core.datasets.reading import read_dataset
from core.datasets.sampling.taking import Wanted
from core.datasets.splits.splitting import folds
from core.datasets.texts.documents import refuse_too_few
from core.datasets.texts.vocabulary import chosen_rules
from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.optional_parts import check_installed
from core.estimators.registry import MODELS, model_named
from core.estimators.several import MODEL, of_model
from core.options import complete
from core.space import Axis, Setting, default_setting
from core.tuning.checks import check_budget, check_numbers, check_pair, chosen
from core.tuning.contenders import (
    SPREAD,
    contenders_of,
    stays_sparse,
    usual_minutes,
    usual_model,
    usual_repeats,
    width,
)
from core.tuning.division import divided, divisions
from core.tuning.plan import DataPlan, Plan, check_gamma
from core.tuning.ranges import check_searched, searched
from core.tuning.scores.costs import costs_of
from core.tuning.scores.document_metrics import COMPLETED
from core.tuning.scores.imbalance import Rare, class_counts, rare_class, recommended_metric
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import (
    EXPLAINED,
    METRICS,
    averaged_metric,
    default_metric,
)
from core.tuning.scores.scoring import FoldData, Work
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Strategy

VALIDATION_FOLDS = 5  # one of them is held out
MOST_CROSS_VALIDATED = 8000  # rows, with several models: of more, a fifth tells enough


@dataclass(frozen=True)
class Problem:
    """Everything fixed before the first trial or step.

    Attributes:
        train_rows, test_rows: rows of `dataset`; no test rows where a second file is the test, all
            rows for both where every row is tested (`outer`).
        options: the strategy's options, checked and completed.
        metric: what test rows are scored by, and trials too unless `scored_by` says otherwise.
        metric_reason: why that is not the task's usual one; "" if it is, or if it was asked for.
        rare: the rarest class of the training rows, where it is rare.
        axes: the space that a resumed run began with, where it is not the present one.
        outer: (rows to tune and fit on, rows to test on) of every outer fold of nested
            cross-validation; empty where one test set judges.
    """

    plan: Plan
    dataset: Dataset
    model: Model
    strategy: Strategy
    metric: Metric
    options: dict[str, Any]
    train_rows: np.ndarray
    test_rows: np.ndarray
    metric_reason: str = ""
    rare: Rare | None = None
    axes: tuple[Axis, ...] = ()
    outer: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    @property
    def nested(self) -> bool:
        """Whether every row is tested, by nested cross-validation."""
        return bool(self.outer)

    @property
    def recalls(self) -> int:
        """From how many earlier datasets the best setting is tried at the beginning."""
        return self.strategy.recalls(self.options)

    def on(self, train_rows: np.ndarray, test_rows: np.ndarray) -> Problem:
        """The same problem with other rows of the dataset to tune and fit on, and to test on."""
        return replace(self, train_rows=train_rows, test_rows=test_rows, outer=())

    def alone(self, name: str) -> Problem:
        """Of several models the problem of one: its own space and strategy, all else the same."""
        search = STRATEGIES[str(self.options["search"])]
        model = model_named(name, probabilities=self.model.probabilistic is None)
        given: dict[str, int] = {}
        if any(option.name == "start_trials" for option in search.options):
            # The default and the known starts come first: few more are spread before scores decide.
            task = self.dataset.task
            known = model.starts(task, default_setting(model.space(task)))
            given["start_trials"] = 1 + len(known) + SPREAD
        options = complete(search.options, given)
        plan = self.plan.changed(model=name, strategy=search.name, options={})
        return replace(self, plan=plan, model=model, strategy=search, options=options, axes=())

    @property
    def fitted_rows(self) -> np.ndarray:
        """The rows that the exported model is fitted on."""
        return np.arange(self.dataset.rows) if self.plan.refit else self.train_rows

    @cached_property
    def space(self) -> tuple[Axis, ...]:
        """What is searched: the model's own axes, in the ranges that a person gave.

        Raises:
            UnusableError: a range that cannot be (core.tuning.ranges).
        """
        if self.axes or self.strategy.several or self.strategy.kind != "trials":
            return self.own_axes
        return searched(self.own_axes, self.plan.ranges, self.plan.fixed)

    @cached_property
    def own_axes(self) -> tuple[Axis, ...]:
        """The axes of the model for this task, their ranges and defaults as these data have them.

        A resumed run has those that it began with.
        """
        if self.axes:
            return self.axes
        task = self.dataset.task
        if self.strategy.several:
            names = contenders_of(self.dataset)
            usual = usual_model(self.dataset, len(self.train_rows))
            return (Axis(MODEL, "Model", "choice", choices=names, default=usual),)
        weighs = self.strategy.kind == "trials" and not self.strategy.numbers_only
        space = self.model.space_of(task, rare=weighs and self.rare is not None)
        if self.model.most is not None:
            most = self.model.most(min(len(fit_rows) for fit_rows, _ in self.splits))
            space = tuple(
                replace(axis.up_to(most[axis.name]), most=most[axis.name])
                if axis.name in most
                else axis
                for axis in space
            )
        if self.model.defaults is None:
            return space
        X = self.preparation().fit_transform(*self.train)
        settled = self.model.defaults(task, X)
        return tuple(replace(a, default=settled.get(a.name, a.default)) for a in space)

    @property
    def averages(self) -> bool:
        """Whether the best models are averaged at the end, or may be."""
        return self.strategy.averages and bool(self.options.get("average", True))

    @property
    def keeps(self) -> bool:
        """Whether the models that the trials fitted are kept, for an average of them."""
        return self.averages and self.judged != "cv" and not self.strategy.several

    @property
    def judged(self) -> str:
        """What settings are judged by: cv, validation or training (`averaging_options.JUDGED`)."""
        chosen = str(self.options.get("judged", "cv"))
        if chosen != "automatic":
            return chosen
        if self.strategy.several:
            return "cv" if len(self.train_rows) <= MOST_CROSS_VALIDATED else "validation"
        return "cv" if self.model.training_score is None else "training"

    @property
    def repeats(self) -> int:
        """How often the training rows are divided into folds."""
        if not self.strategy.several or self.judged != "cv":
            return 1
        if chosen := int(self.options.get("repeats", 1)):
            return chosen
        rows, classes = len(self.train_rows), len(self.dataset.classes)
        return usual_repeats(rows, width(self.dataset), classes)

    @property
    def scored_by(self) -> Metric:
        """What trials' scores are: the metric, or what the training rows say of the model."""
        if self.judged != "training":
            return self.metric
        return COMPLETED if self.dataset.task == "topics" else EXPLAINED

    @property
    def minutes(self) -> float | None:
        """How long one tuning may take: every outer fold repeats it, and all have equal parts."""
        minutes = self.plan.minutes
        return None if minutes is None else minutes / (1 + len(self.outer))

    @property
    def total(self) -> int:
        """How many trials or steps there will be at most; 0 where only time bounds them."""
        plan, strategy = self.plan, self.strategy
        if strategy.kind == "penalties":
            return int(self.options.get("max_steps", self.options.get("steps", 0)))
        if plan.trials is not None:
            return plan.trials
        return strategy.default_trials if plan.minutes is None else 0

    @property
    def default(self) -> Setting:
        """The setting that a person would get without tuning."""
        if self.strategy.several:
            usual = usual_model(self.dataset, len(self.train_rows))
            return of_model(usual, self.alone(usual).default)
        return default_setting(self.space)

    @property
    def train(self) -> tuple[Any, np.ndarray]:
        """Raw training rows and their targets."""
        return take(self.dataset.features, self.train_rows), self.dataset.target[self.train_rows]

    @property
    def test(self) -> tuple[Any, np.ndarray]:
        """Raw rows that tuning never sees, and their targets."""
        if self.dataset.test is not None:
            return self.dataset.test.features, self.dataset.test.target
        return take(self.dataset.features, self.test_rows), self.dataset.target[self.test_rows]

    def preparation(self) -> Any:
        """An unfitted transformer from raw rows to what the model takes."""
        scale = self.model.scaled and self.plan.standardize
        sparse_ok = self.model.takes_sparse
        if self.strategy.several:
            sparse_ok = stays_sparse(self.dataset)
        return preparation(self.dataset, scale=scale, sparse_ok=sparse_ok)

    @property
    def fixed(self) -> dict[str, Any]:
        """What a person settled beside the setting, as parameters of the estimator."""
        if self.dataset.task == "structure":
            return {"gamma": self.plan.gamma}
        return {"decoding": self.plan.decoding} if self.dataset.task == "sequence" else {}

    def estimator(self, setting: Setting) -> Any:
        """The unfitted estimator of a setting."""
        estimator = self.model.build(self.dataset.task, setting, self.plan.seed)
        return estimator.set_params(**self.fixed)

    def pipeline(self, setting: Setting) -> Pipeline:
        """The unfitted pipeline of a setting: it takes raw rows."""
        return Pipeline([("prepare", self.preparation()), ("model", self.estimator(setting))])

    @cached_property
    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(rows to fit on, rows to score on) of every fold of the training part.

        Held out once: the first of five folds. Judged by the training rows: these, for both.
        Divided several times (`repeats`): the folds of one division after those of another.
        """
        if self.judged == "training":
            return [(self.train_rows, self.train_rows)]
        count = self.plan.folds if self.judged == "cv" else VALIDATION_FOLDS
        if self.judged != "cv":
            return folds(self.dataset, self.train_rows, count, self.plan.seed)[:1]
        return divisions(self.dataset, self.train_rows, count, self.repeats, self.plan.seed)

    @property
    def validated_rows(self) -> int:
        """How many rows a trial is scored on."""
        return sum(len(rows) for _, rows in self.splits) // self.repeats

    def fold_data(self) -> list[FoldData]:
        """Every fold prepared: the preparation is fitted inside it, and only once a run.

        The names of the columns are with it where the model shows what it has learned of them.
        """
        prepare, features, target = self.preparation(), self.dataset.features, self.dataset.target
        found = []
        for fit_rows, score_rows in self.splits:
            fitted = clone(prepare)
            fit_X = fitted.fit_transform(take(features, fit_rows), target[fit_rows])
            same = score_rows is fit_rows
            fold = FoldData(
                fit_X=fit_X,
                fit_y=target[fit_rows],
                score_X=fit_X if same else fitted.transform(take(features, score_rows)),
                score_y=target[score_rows],
            )
            if self.model.shows:
                fold = replace(fold, names=tuple(output_names(fitted)))
            found.append(fold)
        return found

    def work(self, folds: Sequence[FoldData] | None = None) -> Work:
        """What a trial process needs to score any setting, on the usual folds or those given."""
        return Work(
            self.plan.model,
            self.dataset.task,
            self.metric.name,
            self.plan.seed,
            self.dataset.classes,
            self.fold_data() if folds is None else folds,
            self.fixed,
            probabilities=self.averages
            or bool(self.plan.costs)
            or self.metric.needs == "probabilities",
            tells=self.averages and self.judged != "training",
            keeps=self.keeps,
            fitted_rows=self.judged == "training",
        )


def take(features: Any, rows: np.ndarray) -> Any:
    """Some rows of a table or a CSR matrix; all of them in their order are not copied."""
    if len(rows) == features.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return features.copy(deep=False) if hasattr(features, "iloc") else features
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


def read_data(data: DataPlan) -> Dataset:
    """The dataset of a data plan. Raises UnusableError as `read_dataset` does."""
    given = Choices(
        target=data.target,
        task=data.task,
        roles=data.roles,
        kinds=data.kinds,
        together=data.together,
        latest=data.latest,
        leaks=data.leaks,
        other_letters=data.other_letters,
    )
    words = chosen_rules(data.vocabulary, data.stop_words)
    rows, test = (Wanted(most, data.rows_seed) for most in (data.rows, data.test_rows))
    file, other = data.file, data.test_file
    return read_dataset(file, given, test_file=other, words=words, wanted=rows, wanted_test=test)


def build_problem(plan: Plan, dataset: Dataset) -> Problem:
    """Check a plan against its data and split the rows.

    Raises:
        UnusableError: the model, strategy, metric or an option does not fit, the model needs
            packages that are not installed, or the rows are too few for the folds, with the cure.
    """
    model, strategy = (
        chosen(MODELS, "model", plan.model),
        chosen(STRATEGIES, "strategy", plan.strategy),
    )
    check_pair(model, strategy, dataset.task)
    check_numbers(dataset)
    check_installed(model.extra)
    check_budget(plan)
    if strategy.several and plan.minutes is None and plan.trials is None:
        plan = plan.changed(minutes=usual_minutes(dataset))
    check_gamma(plan)
    costs = bool(costs_of(plan.costs, dataset, model))
    if plan.metric:
        metric = chosen(METRICS, "metric", plan.metric)
        if dataset.task not in metric.tasks:
            fitting = [name for name, other in METRICS.items() if dataset.task in other.tasks]
            raise UnusableError(
                f"{plan.metric} does not measure this task ({dataset.task})",
                where="option metric",
                cure="choose one of " + ", ".join(fitting),
            )
    train, test, outer = divided(plan, dataset, strategy.kind)
    options = complete(strategy.options, plan.options)
    rare, reason = rare_class(dataset.task, class_counts(dataset, train)), ""
    if not plan.metric and strategy.averages and not strategy.several:
        metric = METRICS[averaged_metric(dataset.task)]
    elif not plan.metric:
        usual, probable = default_metric(dataset.task), model.probabilistic is None
        advised = recommended_metric(
            usual, rare, probabilities=probable, costs=costs, several=strategy.several
        )
        metric, reason = METRICS[advised.metric], advised.reason
    if strategy.averages or costs or metric.needs == "probabilities":
        model = model_named(plan.model, probabilities=True)
    problem = Problem(
        plan, dataset, model, strategy, metric, options, train, test, reason, rare, outer=outer
    )
    _check_judged(problem)
    if strategy.kind == "trials":
        _ = problem.splits  # refuses too many folds before anything else is done
    if dataset.task == "topics":
        _check_minibatch(problem)
    if strategy.kind == "trials":
        check_searched(plan, strategy, model.name, problem.space)
    strategy.check(problem.space, options)
    return problem


def _check_minibatch(problem: Problem) -> None:
    least = min(len(fit_rows) for fit_rows, _ in problem.splits)
    refuse_too_few(least, problem.model.minibatch, problem.dataset.name)


def _check_judged(problem: Problem) -> None:
    if problem.judged == "training" and problem.model.training_score is None:
        raise UnusableError(
            f"{problem.model.name} can only be judged by rows that it has not seen",
            where="option judged",
            cure="choose cv or validation",
        )
