"""The training and test rows of a dataset, and the outer folds of nested cross-validation."""

from __future__ import annotations

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.splits.splitting import cross_validation_folds, hold_out
from core.errors import UnusableError
from core.tuning.evaluation import OUTER_FOLDS, evaluation_of
from core.tuning.plan import Plan

_NEXT_SEED = 7919  # between two divisions


def divide_train_test(
    plan: Plan, dataset: Dataset, kind: str
) -> tuple[np.ndarray, np.ndarray, tuple[tuple[np.ndarray, np.ndarray], ...]]:
    """The training rows, the test rows, and the outer folds of nested cross-validation."""
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
        units = len(np.unique(dataset.row_groups))
    train, test = hold_out(dataset, plan.data.share_tested(units), plan.seed)
    return train, test, ()


def repeated_folds(
    dataset: Dataset, rows: np.ndarray, count: int, times: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds of some rows, division after division; the first one as for this seed alone."""
    divisions = [
        cross_validation_folds(dataset, rows, count, seed + _NEXT_SEED * repeat)
        for repeat in range(times)
    ]
    return [split for division in divisions for split in division]


def _outer_folds(
    dataset: Dataset, rows: np.ndarray, seed: int
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """The outer folds; raises UnusableError unless each leaves two rows of every class."""
    outer_folds = tuple(cross_validation_folds(dataset, rows, OUTER_FOLDS, seed))
    for fit_rows, _ in outer_folds:
        labels, counts = np.unique(dataset.target[fit_rows], return_counts=True)
        if dataset.classes and (len(labels) < len(dataset.classes) or counts.min() < 2):
            raise UnusableError(
                "a class has too few rows to tune without each of five folds",
                where=f"{dataset.name}, column {dataset.target_name}",
                cure="choose evaluation test, or give more rows of this class",
            )
    return outer_folds
