"""Whether learned penalties of sequences and molecules beat the default, on training data held out.

Both are fitted to the same part of the training data and judged by the log loss of the rest; the
test data have no say. The learned ones lose where they are worse by more than a standard error of
the paired difference.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| C | ``C`` | (k,) | penalties; 1 by default |
| | ``losses`` | (units,) | −log p of every held-out sequence or molecule, in nats |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.datasets.splits.splitting import folds
from core.optimize.descent import solve
from core.optimize.loss import Loss
from core.tuning.learning.holding_out import HOLDOUT_PARTS, counted, settled, unit_of_row, units
from core.tuning.learning.training import Training
from core.tuning.problem import Problem, take
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

_PARTS = 5
_FEWEST = 5  # held-out units, below which a difference says nothing
_CLOSE = 1e-7  # share of the loss within which both fits are at their minimum
_PARTS_OF = {"sequence": "token", "structure": "molecule"}


@dataclass(frozen=True)
class Check:
    """How the learned penalties did beside the default: whether they lose, and a remark or ""."""

    loses: bool = False
    said: str = ""


def against_default(problem: Problem, training: Training, C: np.ndarray, w: np.ndarray) -> Check:
    """Compare learned penalties with C = 1 on training data held out.

    Tables are not checked: their learners are compared with the default on test rows. Nor are
    penalties that were learned from every training unit held out in turns, which leave none.

    Args:
        problem: the run's problem.
        training: the loss and groups of all training data.
        C: the learned penalties, shape (k,).
        w: parameters to start from, shape (n,).
    """
    if problem.dataset.task not in STRUCTURED_TASKS or np.allclose(C, 1.0):
        return Check()
    count, at = _PARTS, 0
    if problem.strategy.holds_out:
        if settled(problem, training)["validation"] == "folds":
            return Check()
        count, at = HOLDOUT_PARTS, 1  # the part before it chose the penalties
    there = units(problem)
    if there // count < _FEWEST:
        return Check(
            said=f"With {counted(there, problem)} to train on, too few could be held out to see "
            "whether the learned penalties do better than the default."
        )
    fit_rows, held_rows = folds(problem.dataset, problem.train_rows, count, problem.plan.seed)[at]
    fit, _ = training.pair(problem, fit_rows, held_rows)
    learned, default = (
        _losses(problem, training, _fitted(fit, training, penalties, w), held_rows)
        for penalties in (C, np.ones_like(C))
    )
    worse = learned - default
    error = float(worse.std(ddof=1)) / np.sqrt(len(worse))
    if not worse.mean() > error:
        return Check()
    each = len(held_rows)
    return Check(
        True,
        f"The learned penalties did worse than the default on {counted(len(worse), problem)} of "
        f"the training data held out (log loss a {_PARTS_OF[problem.dataset.task]} "
        f"{learned.sum() / each:.3g} against {default.sum() / each:.3g}): the default is kept.",
    )


def _fitted(loss: Loss, training: Training, C: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The parameters that minimize a loss at penalties C, shape (n,)."""
    penalties = np.concatenate(([0.0], C))[training.groups + 1]
    return solve(loss, penalties, w, tolerance=_CLOSE).point.w


def _losses(
    problem: Problem, training: Training, w: np.ndarray, held_rows: np.ndarray
) -> np.ndarray:
    """−log p of every held-out unit with parameters w, shape (units,)."""
    dataset = problem.dataset
    model = training.pipeline(w, {}, dataset.classes)[-1]
    losses = model.log_losses(take(dataset.features, held_rows), dataset.target[held_rows])
    return np.bincount(unit_of_row(problem, held_rows), weights=losses)
