"""The tested model of a finished run, fitted as it was: without the rows that test it.

The model that a run keeps may have been fitted again on all rows; it would know the test rows by
heart. So the tested one is fitted once more here, on the training rows, with the setting or the
penalties that the run found. Where every row was tested by nested cross-validation, one is fitted
for each outer fold and asked about that fold alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.tuning.begun import as_begun
from core.tuning.learning.run import recorded, relearned
from core.tuning.problem import Problem, build_problem, take
from core.tuning.results.takeaway import read_takeaway
from core.tuning.results.winner import winner_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, folded
from core.tuning.scores.metric import Said
from core.tuning.scores.metrics import METRICS, say, targets_of

TASKS = ("regression", "binary", "multiclass")


@dataclass(frozen=True)
class Part:
    """A fitted model and the rows that it has never seen.

    Attributes:
        pipeline: takes raw rows.
        problem: with the rows it was fitted on.
        X: raw test rows.
        y: their targets, codes or numbers, shape (n,).
        rows: their places in the dataset, or in the second file, shape (n,).
    """

    pipeline: Any
    problem: Problem
    X: Any
    y: np.ndarray
    rows: np.ndarray

    def some(self, places: np.ndarray) -> Part:
        """The same with some of the test rows."""
        rows = self.rows[places]
        return Part(self.pipeline, self.problem, take(self.X, places), self.y[places], rows)

    def say(self, X: Any) -> Said:
        """What the model says about rows."""
        dataset = self.problem.dataset
        return say(self.pipeline, X, dataset.classes, task=dataset.task)


@dataclass(frozen=True)
class Judged:
    """The tested model of a run: one part, or one an outer fold.

    Attributes:
        problem: the run's.
        state: how the run ended.
        fitted: how a model of the same kind is fitted on the training rows of another problem.
        parts: the fitted models with their test rows.
        seconds: how long one fit took.
    """

    problem: Problem
    state: RunState
    fitted: Callable[[Problem], Any]
    parts: tuple[Part, ...]
    seconds: float

    @property
    def metric(self) -> Any:
        """What the run was tuned for."""
        assert self.state.results is not None
        return METRICS[self.state.results["metric"]]

    @property
    def dataset(self) -> Dataset:
        """The run's data."""
        return self.problem.dataset

    @cached_property
    def y(self) -> np.ndarray:
        """The targets of all test rows, part after part."""
        return np.concatenate([part.y for part in self.parts])

    @cached_property
    def rows(self) -> np.ndarray:
        """Their places in the dataset."""
        return np.concatenate([part.rows for part in self.parts])

    @cached_property
    def said(self) -> Said:
        """What the models say about them."""
        return joined_said([part.say(part.X) for part in self.parts])

    @cached_property
    def groups(self) -> np.ndarray | None:
        """Codes of what belongs together among the test rows; None where rows are independent."""
        dataset = self.dataset
        if dataset.test is not None or dataset.row_groups is None:
            return None
        return np.unique(dataset.row_groups[self.rows].astype(str), return_inverse=True)[1]


def joined_said(parts: list[Said]) -> Said:
    """What was said of several sets of rows, as of one."""
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> np.ndarray | None:
        found = [getattr(part, name) for part in parts]
        return None if any(one is None for one in found) else np.concatenate(found)

    return Said(
        np.concatenate([part.labels for part in parts]), joined("scores"), joined("probabilities")
    )


def judged_model(folder: RunFolder, dataset: Dataset) -> Judged:
    """Fit the tested model of a run again.

    Args:
        folder: a run that has ended.
        dataset: its data.

    Raises:
        UnusableError: the run has no results, is not about single rows of a table, or its data
            have changed.
    """
    state = folded(folder.events())
    if state.results is None:
        raise UnusableError("this run has no results yet", cure="let it finish")
    if dataset.task not in TASKS:
        raise UnusableError("these questions are about rows of a table, and this run has none")
    _check_same(folder, dataset)
    problem = as_begun(build_problem(folder.plan, dataset), state.started)
    learned = recorded(problem, state) if problem.strategy.kind == "penalties" else None

    def fitted(own: Problem) -> Any:
        again = None if learned is None else relearned(own, learned)
        return winner_of(own, state, again, {}).pipeline

    begun = time.monotonic()
    parts = tuple(_part(own, fitted(own)) for own in _problems(problem))
    seconds = (time.monotonic() - begun) / len(parts)
    return Judged(problem, state, fitted, parts, seconds)


def _problems(problem: Problem) -> list[Problem]:
    return [problem.on(*rows) for rows in problem.outer] if problem.nested else [problem]


def _part(own: Problem, pipeline: Any) -> Part:
    X, y = own.test
    test = own.dataset.test
    rows = own.test_rows if test is None else np.arange(test.rows)
    return Part(pipeline, own, X, targets_of(y, own.dataset.task, own.dataset.classes), rows)


def _check_same(folder: RunFolder, dataset: Dataset) -> None:
    try:
        before = read_takeaway(folder.path).source["fingerprint"]
    except (OSError, KeyError):
        return
    if before not in ("", dataset.source.fingerprint):
        raise UnusableError(
            "the data have changed since this run",
            where=dataset.source.path or dataset.name,
            cure="put the old file back",
        )


def seconds_of_fit(state: RunState) -> float:
    """About how long it takes to fit the tested model of a run, before it is done.

    Of an average all its members count; of nested cross-validation all outer folds.
    """
    results = state.results or {}
    folds = max(1, int(results.get("folds") or 1))
    members = (results.get("ensemble") or {}).get("members") or ()
    trials = {trial.number: trial for trial in state.trials}
    of = [trials[number] for number in members if number in trials]
    if not of and state.best is not None:
        of = [state.best]
    if of:
        return folds * sum(trial.took / max(trial.fits, 1) for trial in of)
    return folds * float(results.get("seconds", 0.0)) / max(int(results.get("fits") or 1), 1)
