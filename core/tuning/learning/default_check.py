"""Whether learned penalties of sequences and molecules beat the default on held-out training data.

Both are fitted to the same part of the training data and compared by the log loss of the rest. The
learned ones lose where they are worse by more than a standard error of the paired difference.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties; 1 by default |
| | ``losses`` | (units,) | −log p of every held-out sequence or molecule, in nats |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.datasets.splits.splitting import cross_validation_folds
from core.optimize.descent import solve_penalized
from core.optimize.loss import Loss
from core.tuning.learning.holdout_parts import (
    HOLDOUT_PARTS,
    count_text,
    resolved_options,
    unit_count,
    unit_of_row,
)
from core.tuning.learning.training import PenaltyTraining
from core.tuning.problem import Problem, take_rows

_FOLD_COUNT = 5
_MIN_UNITS = 5  # held out; a difference of fewer is meaningless
_CLOSE = 1e-7  # share of the loss within which both fits are at their minimum


@dataclass(frozen=True)
class DefaultComparison:
    """Whether the learned penalties lose against the default, and a remark or ""."""

    loses: bool = False
    remark: str = ""


def compare_with_default(
    problem: Problem, training: PenaltyTraining, C: np.ndarray, w: np.ndarray
) -> DefaultComparison:
    """Compare learned penalties C, (k,), with C = 1 on held-out training data, starting from w.

    Tables, which are compared on test rows, and penalties learned from every unit in turns are not.
    """
    if not problem.dataset.task.is_structured or np.allclose(C, 1.0):
        return DefaultComparison()
    fold_count, fold = _FOLD_COUNT, 0
    if problem.strategy.holds_out:
        if resolved_options(problem, training).validation == "folds":
            return DefaultComparison()
        fold_count, fold = HOLDOUT_PARTS, 1  # fold 0 chose the penalties
    available_units = unit_count(problem)
    if available_units // fold_count < _MIN_UNITS:
        return DefaultComparison(
            remark=f"With {count_text(available_units, problem)} to train on, too few could be "
            "held out to see whether the learned penalties do better than the default."
        )
    fit_rows, held_rows = cross_validation_folds(
        problem.dataset, problem.train_rows, fold_count, problem.plan.seed
    )[fold]
    fit, _ = training.loss_pair(problem, fit_rows, held_rows)
    learned, default = (
        _unit_losses(problem, training, _minimizing_weights(fit, training, penalties, w), held_rows)
        for penalties in (C, np.ones_like(C))
    )
    gaps = learned - default
    if not gaps.mean() > float(gaps.std(ddof=1)) / np.sqrt(len(gaps)):
        return DefaultComparison()
    row_count = len(held_rows)
    return DefaultComparison(
        True,
        f"The learned penalties did worse than the default on {count_text(len(gaps), problem)} of "
        f"the training data held out (log loss a {problem.dataset.task.unit} "
        f"{learned.sum() / row_count:.3g} against {default.sum() / row_count:.3g}): the default "
        "is kept.",
    )


def _minimizing_weights(
    loss: Loss, training: PenaltyTraining, C: np.ndarray, w: np.ndarray
) -> np.ndarray:
    penalties = np.concatenate(([0.0], C))[training.groups + 1]
    return solve_penalized(loss, penalties, w, tolerance=_CLOSE).point.w


def _unit_losses(
    problem: Problem, training: PenaltyTraining, w: np.ndarray, held_rows: np.ndarray
) -> np.ndarray:
    """−log p of every held-out unit with parameters w, shape (units,)."""
    dataset = problem.dataset
    model = training.pipeline(w, {}, dataset.classes)[-1]
    losses = model.log_losses(take_rows(dataset.features, held_rows), dataset.target[held_rows])
    return np.bincount(unit_of_row(problem, held_rows), weights=losses)
