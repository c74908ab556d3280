"""The weight γ of a base pair beside an unpaired base, chosen on held-out training molecules.

Every training molecule is folded once by a model fitted without it. γ is the one of `GAMMAS` with
the best F1 of all these pairs, or the smallest one that reaches the wanted sensitivity.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| γ | ``GAMMAS`` | (16,) | from cautious to generous |
| | ``pairs`` | (16, 3) | pairs rightly called, called and true, of all molecules |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.splits.splitting import cross_validation_folds
from core.optimize.descent import solve_penalized
from core.tuning.problem import Problem, take_rows
from core.tuning.scores.metric import safe_ratio
from core.tuning.scores.structured_metrics import GAMMAS, OWN

if TYPE_CHECKING:
    from core.tuning.learning.learning_run import PenaltyFit

_FOLD_COUNT = 5
_TOLERANCE = 1e-6  # of the minimum, as a share of the loss


@dataclass(frozen=True)
class GammaChoice:
    """A chosen γ, and a remark or ""."""

    gamma: float
    remark: str = ""


def choose_gamma(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None
) -> GammaChoice | None:
    """The γ for a fitted folding model; None where it is planned, or nothing is folded.

    Args:
        problem: the run's problem.
        pipeline: the tuned model, fitted on the training molecules.
        learned: the penalty learner's fit, where one made the model.
    """
    if not problem.dataset.task.has_pairs or problem.plan.gamma_by == "hand":
        return None
    dataset, total = problem.dataset, np.zeros((len(GAMMAS), 3))
    count = min(_FOLD_COUNT, len(problem.train_rows))
    folds = cross_validation_folds(dataset, problem.train_rows, count, problem.plan.seed)
    for fit_rows, held_rows in folds:
        model = _fit_fold_model(problem, pipeline, learned, fit_rows, held_rows)
        X, y = take_rows(dataset.features, held_rows), dataset.target[held_rows]
        total += model.pair_counts(X, y).sum(axis=0)[:OWN]
    if problem.plan.gamma_by == "f1":
        return GammaChoice(best_f1(total))
    return at_sensitivity(total, problem.plan.sensitivity)


def best_f1(pairs: np.ndarray) -> float:
    """The γ with the best F1; the smallest of equally good ones."""
    right, called, true = pairs.T
    return float(GAMMAS[np.argmax(np.nan_to_num(safe_ratio(2.0 * right, called + true)))])


def at_sensitivity(pairs: np.ndarray, min_sensitivity: float) -> GammaChoice:
    """The smallest γ that reaches the sensitivity, or the largest."""
    right, _, true = pairs.T
    sensitivities = np.nan_to_num(safe_ratio(right, true))
    sufficient_indices = np.flatnonzero(sensitivities >= min_sensitivity)
    if len(sufficient_indices):
        return GammaChoice(float(GAMMAS[sufficient_indices[0]]))
    return GammaChoice(
        float(GAMMAS[-1]),
        f"No γ finds {100 * min_sensitivity:.0f} % of the true pairs of training molecules held "
        f"out; the largest one, which was taken, finds {100 * sensitivities[-1]:.0f} %.",
    )


def _fit_fold_model(
    problem: Problem,
    pipeline: Pipeline,
    learned: PenaltyFit | None,
    fit_rows: np.ndarray,
    held_rows: np.ndarray,
) -> Any:
    if learned is None:
        X, y = take_rows(problem.dataset.features, fit_rows), problem.dataset.target[fit_rows]
        return clone(pipeline).fit(X, y)[-1]
    training = learned.training
    fit, _ = training.loss_pair(problem, fit_rows, held_rows)
    C = np.array([learned.penalties[name] for name in training.group_names])
    weight_penalties = np.concatenate(([0.0], C))[training.groups + 1]  # 0 for intercepts
    w = solve_penalized(fit, weight_penalties, learned.w, tolerance=_TOLERANCE).point.w
    return training.pipeline(w, learned.penalties, ())[-1]


def with_gamma(pipeline: Pipeline, gamma: float) -> Pipeline:
    """The same fitted model, folding with another γ."""
    pipeline[-1].set_gamma(gamma)
    return pipeline
