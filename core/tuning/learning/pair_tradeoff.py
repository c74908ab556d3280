"""How much a base pair counts beside an unpaired base (γ): given, or chosen on held-out molecules.

Every training molecule is folded once by a model that was fitted without it, at the tuned setting
or the learned penalties; the test molecules have no say. γ is one of the 16 of the curve: the one
with the best F1 of all these pairs together, or the most cautious one that finds the wanted share.

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
_CLOSE = 1e-6  # how near its minimum a part's model must be, as a share of the loss


@dataclass(frozen=True)
class GammaChoice:
    """A chosen γ, and a remark or ""."""

    gamma: float
    remark: str = ""


def choose_gamma(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None
) -> GammaChoice | None:
    """The γ for a fitted folding model; None where it was given, or nothing is folded.

    Args:
        problem: the run's problem.
        pipeline: the tuned model, fitted on the training molecules.
        learned: what a penalty learner left, where one made the model.
    """
    if not problem.dataset.task.has_pairs or problem.plan.gamma_by == "hand":
        return None
    dataset, total = problem.dataset, np.zeros((len(GAMMAS), 3))
    count = min(_FOLD_COUNT, len(problem.train_rows))
    for fit_rows, held_rows in cross_validation_folds(
        dataset, problem.train_rows, count, problem.plan.seed
    ):
        model = _fit_fold_model(problem, pipeline, learned, fit_rows, held_rows)
        X, y = take_rows(dataset.features, held_rows), dataset.target[held_rows]
        total += model.pair_counts(X, y).sum(axis=0)[:OWN]
    if problem.plan.gamma_by == "f1":
        return GammaChoice(best_f1(total))
    return at_sensitivity(total, problem.plan.sensitivity)


def best_f1(pairs: np.ndarray) -> float:
    """The γ with the best F1; the most cautious of equally good ones."""
    right, called, true = pairs.T
    return float(GAMMAS[np.argmax(np.nan_to_num(safe_ratio(2.0 * right, called + true)))])


def at_sensitivity(pairs: np.ndarray, min_sensitivity: float) -> GammaChoice:
    """The most cautious γ that finds the wanted share of the true pairs, or the most generous."""
    right, _, true = pairs.T
    sensitivities = np.nan_to_num(safe_ratio(right, true))
    sufficient_indices = np.flatnonzero(sensitivities >= min_sensitivity)
    if len(sufficient_indices):
        return GammaChoice(float(GAMMAS[sufficient_indices[0]]))
    return GammaChoice(
        float(GAMMAS[-1]),
        f"No γ finds {100 * min_sensitivity:.0f} % of the true pairs of training molecules held "
        "out; the "
        f"largest one, which was taken, finds {100 * sensitivities[-1]:.0f} %.",
    )


def _fit_fold_model(
    problem: Problem,
    pipeline: Pipeline,
    learned: PenaltyFit | None,
    fit_rows: np.ndarray,
    held_rows: np.ndarray,
) -> Any:
    """The model fitted to some of the training molecules."""
    if learned is None:
        X, y = take_rows(problem.dataset.features, fit_rows), problem.dataset.target[fit_rows]
        return clone(pipeline).fit(X, y)[-1]
    training = learned.training
    fit, _ = training.loss_pair(problem, fit_rows, held_rows)
    C = np.array([learned.penalties[name] for name in training.group_names])
    w = solve_penalized(
        fit, np.concatenate(([0.0], C))[training.groups + 1], learned.w, tolerance=_CLOSE
    )
    return training.pipeline(w.point.w, learned.penalties, ())[-1]


def with_gamma(pipeline: Pipeline, gamma: float) -> Pipeline:
    """The same fitted model, folding with another γ."""
    pipeline[-1].set_gamma(gamma)
    return pipeline
