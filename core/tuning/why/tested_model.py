"""The tested model of a finished run, fitted again on its training rows alone.

The run's final model may know the test rows. With nested cross-validation one model is fitted for
each outer fold, and predicts that fold alone.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.units import Units
from core.errors import UnusableError
from core.tuning.averaging.averaged_predictions import concatenate_predictions
from core.tuning.learning.learning_run import recorded_fit, refit_penalties
from core.tuning.problem import Problem, take_rows
from core.tuning.problem_setup import as_first_started, build_problem, check_same_data
from core.tuning.results.model_metadata import read_metadata
from core.tuning.results.tuned_model import fit_tuned_model
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import METRICS, predict_all, targets_of


@dataclass(frozen=True)
class TestedFold:
    """A fitted model and rows that it has never seen."""

    pipeline: Any  # takes raw rows
    problem: Problem  # with the rows it was fitted on
    X: Any  # raw test rows
    y: np.ndarray  # their targets, codes or numbers, shape (n,)
    rows: np.ndarray  # their indices in the dataset, or in the second file, shape (n,)

    def subset(self, positions: np.ndarray) -> Self:
        X = take_rows(self.X, positions)
        return replace(self, X=X, y=self.y[positions], rows=self.rows[positions])

    def sample_rows(self, max_rows: int, generator: np.random.Generator) -> Self:
        """With at most `max_rows` test rows, drawn at random."""
        if len(self.y) <= max_rows:
            return self
        return self.subset(np.sort(generator.choice(len(self.y), max_rows, replace=False)))

    def predict(self, X: Any) -> Predictions:
        dataset = self.problem.dataset
        return predict_all(self.pipeline, X, dataset.classes, task=dataset.task)


def units_of_rows(problem: Problem, rows: np.ndarray) -> Units:
    """The units of rows by their indices in the dataset, or in the second file."""
    units = problem.units if problem.dataset.test is None else problem.test_units
    return units.take_rows(rows)


@dataclass(frozen=True)
class TestedModel:
    """The tested model of a run, with one fold for one test set."""

    problem: Problem  # the run's
    state: RunState  # how the run ended
    refit: Callable[[Problem], Any]  # fits such a model on another problem's training rows
    folds: tuple[TestedFold, ...]  # the fitted models with their test rows
    seconds: float  # how long one fit took

    @property
    def results(self) -> Results:
        assert self.state.results is not None
        return self.state.results

    @property
    def metric(self) -> Metric:
        return METRICS[self.results.metric]

    @property
    def dataset(self) -> Dataset:
        return self.problem.dataset

    @cached_property
    def y(self) -> np.ndarray:
        return np.concatenate([fold.y for fold in self.folds])

    @cached_property
    def row_indices(self) -> np.ndarray:
        return np.concatenate([fold.rows for fold in self.folds])

    @cached_property
    def predictions(self) -> Predictions:
        return concatenate_predictions([fold.predict(fold.X) for fold in self.folds])

    def column_values(self, column: int) -> pd.Series:
        if self.dataset.is_sparse:
            fold_values = [fold.X[:, [column]].toarray().ravel() for fold in self.folds]
            return pd.Series(np.concatenate(fold_values).astype(float))
        return pd.concat([fold.X.iloc[:, column] for fold in self.folds], ignore_index=True)

    @cached_property
    def units(self) -> Units:
        return units_of_rows(self.problem, self.row_indices)


def fit_tested_model(folder: RunFolder, dataset: Dataset) -> TestedModel:
    """Fit the tested model of an ended run again."""
    state = state_from_events(folder.all_events())
    if state.results is None:
        raise UnusableError("this run has no results yet", cure="let it finish")
    if not dataset.task.is_table:
        raise UnusableError("these questions are about rows of a table, and this run has none")
    _check_same(folder, dataset)
    problem = as_first_started(build_problem(folder.plan, dataset), state.started)
    learned = recorded_fit(problem, state) if problem.strategy.kind == "penalties" else None

    def refit_on(fold_problem: Problem) -> Any:
        penalty_fit = None if learned is None else refit_penalties(fold_problem, learned)
        return fit_tuned_model(fold_problem, state, penalty_fit, {}).pipeline

    problems = [problem]
    if problem.is_nested:
        problems = [problem.with_rows(*rows) for rows in problem.outer]
    start_time = time.monotonic()
    folds = tuple(_tested_fold(divided, refit_on(divided)) for divided in problems)
    seconds = (time.monotonic() - start_time) / len(folds)
    return TestedModel(problem, state, refit_on, folds, seconds)


def _tested_fold(problem: Problem, pipeline: Any) -> TestedFold:
    X, y = problem.test_data
    dataset, test = problem.dataset, problem.dataset.test
    rows = problem.test_rows if test is None else np.arange(test.rows)
    return TestedFold(pipeline, problem, X, targets_of(y, dataset.task, dataset.classes), rows)


def _check_same(folder: RunFolder, dataset: Dataset) -> None:
    try:
        fingerprint = read_metadata(folder.path).source.fingerprint
    except (OSError, KeyError):
        # No description of the model is there to compare with.
        return
    check_same_data(dataset, fingerprint, "the data have changed since this run")
