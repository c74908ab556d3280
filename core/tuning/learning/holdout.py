"""What is held out of the training data: for the validation gradient, against the default, for γ.

Learned penalties of sequences and molecules have to beat the default on held-out training data:
both are fitted to the same part and compared by the log loss of the rest. The learned ones lose
where they are worse by more than a standard error of the paired difference.

The weight γ of a base pair beside an unpaired base: every training molecule is folded once by a
model fitted without it. γ is the one of `GAMMAS` with the best F1 of all these pairs, or the
smallest one that reaches the wanted sensitivity.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| U | ``unit_count`` | | sequences, molecules or rows to train on; rows of one group are one |
| k | ``penalties`` | | groups whose penalties are learned |
| C | ``C`` | (k,) | penalties; 1 by default |
| | ``losses`` | (units,) | −log p of every held-out sequence or molecule, in nats |
| γ | ``GAMMAS`` | (16,) | from cautious to generous |
| | ``pairs`` | (16, 3) | pairs rightly called, called and true, of all molecules |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.datasets.splitting import cross_validation_folds
from core.optimize.descent import per_weight, solve_penalized
from core.optimize.loss import Loss
from core.options import StrategyOptions
from core.tuning.learning.training import PenaltyFit, PenaltyTraining
from core.tuning.problem import Problem, take_rows
from core.tuning.scores.metric import safe_ratio
from core.tuning.scores.structured_metrics import GAMMAS, OWN
from core.wording import count_text

HOLDOUT_PARTS = 4  # one holdout split: a quarter of the training rows
_FOLD_COUNT = 5
_MIN_UNITS = 5  # held out; a difference of fewer is meaningless
_CLOSE = 1e-7  # share of the loss within which both fits are at their minimum
_GAMMA_TOLERANCE = 1e-6  # the same of the models that choose γ: only the order of pairs counts
MIN_UNITS_PER_PENALTY = 5  # held-out units; penalties overfit fewer


def resolved_options(problem: Problem, training: PenaltyTraining) -> StrategyOptions:
    """The learner's options, with the automatic ones resolved by the data."""
    options = problem.options
    if options.validation == "automatic":
        has_turns = takes_turns(problem, _penalty_count(training))
        # The default of five folds must not be refused for few units.
        folds = min(options.folds, max(2, unit_count(problem)))
        options = options.changed(validation="folds" if has_turns else "holdout", folds=folds)
    if options.prior == "automatic":
        is_structured = problem.dataset.task.is_structured
        options = options.changed(prior="weak" if is_structured else "none")
    return options


def takes_turns(problem: Problem, penalty_count: int) -> bool:
    """Whether every part is held out in turns: as planned, or as a quarter would be too few."""
    if problem.options.validation != "automatic":
        return problem.options.validation == "folds"
    return unit_count(problem) // HOLDOUT_PARTS < MIN_UNITS_PER_PENALTY * penalty_count


def holdout_pairs(problem: Problem, training: PenaltyTraining) -> list[tuple[Loss, Loss]] | None:
    """(loss to fit, loss to validate on) of every part; None for learners that need none."""
    if not problem.strategy.holds_out:
        return None
    options = resolved_options(problem, training)
    is_single = options.validation == "holdout"
    count = HOLDOUT_PARTS if is_single else options.folds
    splits = cross_validation_folds(problem.dataset, problem.train_rows, count, problem.plan.seed)
    return [training.loss_pair(problem, *split) for split in (splits[:1] if is_single else splits)]


def holdout_remarks(problem: Problem, training: PenaltyTraining) -> tuple[str, ...]:
    """A sentence where more penalties were learned than units were held out."""
    if not problem.strategy.holds_out:
        return ()
    is_single = resolved_options(problem, training).validation == "holdout"
    # With folds every unit is held out once.
    held_out_units = unit_count(problem) // HOLDOUT_PARTS if is_single else unit_count(problem)
    penalty_count = _penalty_count(training)
    if penalty_count <= held_out_units:
        return ()
    held_out = count_text(held_out_units, problem.dataset.task.item)
    return (
        f"{penalty_count:,} penalties were learned from {held_out} held out: such penalties fit "
        "these few, not what comes after. Fewer groups, folds or the strategy mm are safer.",
    )


def unit_count(problem: Problem) -> int:
    """U."""
    return int(unit_of_row(problem, problem.train_rows).max(initial=-1)) + 1


def unit_of_row(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The number of the unit of each row."""
    # Rows that are kept together are held out together: they count as one.
    groups = problem.dataset.row_groups
    return np.arange(len(rows)) if groups is None else pd.factorize(groups[rows])[0]


def _penalty_count(training: PenaltyTraining) -> int:
    return sum(size > 0 for size in training.group_sizes.values())


@dataclass(frozen=True)
class DefaultComparison:
    """Whether the learned penalties lose against the default, and a remark or ""."""

    loses: bool = False
    remark: str = ""


def compare_with_default(
    problem: Problem, training: PenaltyTraining, C: np.ndarray, w: np.ndarray
) -> DefaultComparison:
    """Compare learned penalties C, (k,), with C = 1 on held-out training data, starting from w."""
    # Tables are compared on test rows; penalties learned from every unit in turns leave none.
    if not problem.dataset.task.is_structured or np.allclose(C, 1.0):
        return DefaultComparison()
    fold_count, fold = _FOLD_COUNT, 0
    if problem.strategy.holds_out:
        if resolved_options(problem, training).validation == "folds":
            return DefaultComparison()
        fold_count, fold = HOLDOUT_PARTS, 1  # fold 0 chose the penalties
    available_units, item = unit_count(problem), problem.dataset.task.item
    if available_units // fold_count < _MIN_UNITS:
        return DefaultComparison(
            remark=f"With {count_text(available_units, item)} to train on, too few could be held "
            "out to see whether the learned penalties do better than the default."
        )
    fit_rows, held_rows = cross_validation_folds(
        problem.dataset, problem.train_rows, fold_count, problem.plan.seed
    )[fold]
    fit, _ = training.loss_pair(problem, fit_rows, held_rows)
    # The same part is fitted with both penalties, so that nothing else tells them apart.
    learned, default = (
        _unit_losses(problem, training, weights, held_rows)
        for weights in (
            _minimizing_weights(fit, training, penalties, w, _CLOSE)
            for penalties in (C, np.ones_like(C))
        )
    )
    gaps = learned - default
    # Written so that a NaN, of a single unit, keeps what was learned.
    if not gaps.mean() > float(gaps.std(ddof=1)) / np.sqrt(len(gaps)):
        return DefaultComparison()
    row_count = len(held_rows)
    return DefaultComparison(
        True,
        f"The learned penalties did worse than the default on {count_text(len(gaps), item)} of the "
        f"training data held out (log loss a {problem.dataset.task.unit} "
        f"{learned.sum() / row_count:.3g} against {default.sum() / row_count:.3g}): the default "
        "is kept.",
    )


def _minimizing_weights(
    loss: Loss, training: PenaltyTraining, C: np.ndarray, w: np.ndarray, tolerance: float
) -> np.ndarray:
    penalties = per_weight(C, training.groups)
    return solve_penalized(loss, penalties, w, tolerance=tolerance).point.w


def _unit_losses(
    problem: Problem, training: PenaltyTraining, w: np.ndarray, held_rows: np.ndarray
) -> np.ndarray:
    """−log p of every held-out unit with parameters w, shape (units,)."""
    dataset = problem.dataset
    model = training.pipeline(w, {}, dataset.classes)[-1]
    losses = model.log_losses(take_rows(dataset.features, held_rows), dataset.target[held_rows])
    return np.bincount(unit_of_row(problem, held_rows), weights=losses)


@dataclass(frozen=True)
class GammaChoice:
    """A chosen γ, and a remark or ""."""

    gamma: float
    remark: str = ""


def choose_gamma(
    problem: Problem, pipeline: Pipeline, learned: PenaltyFit | None
) -> GammaChoice | None:
    """The γ for a fitted folding model; None where it is planned, or nothing is folded."""
    if not problem.dataset.task.has_pairs or problem.plan.gamma_by == "hand":
        return None
    # Every molecule is folded by a model that has not seen it: of its own training molecules a
    # model is too sure.
    dataset, total = problem.dataset, np.zeros((len(GAMMAS), 3))
    count = min(_FOLD_COUNT, len(problem.train_rows))
    folds = cross_validation_folds(dataset, problem.train_rows, count, problem.plan.seed)
    for fit_rows, held_rows in folds:
        model = _fit_fold_model(problem, pipeline, learned, fit_rows, held_rows)
        X, y = take_rows(dataset.features, held_rows), dataset.target[held_rows]
        # Beside those of `GAMMAS`, a row of the counts is of the model's own γ.
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
    # Begun at the weights on all rows, which are close.
    w = _minimizing_weights(fit, training, C, learned.w, _GAMMA_TOLERANCE)
    return training.pipeline(w, learned.penalties, ())[-1]


def with_gamma(pipeline: Pipeline, gamma: float) -> Pipeline:
    """The same fitted model, folding with another γ."""
    pipeline[-1].set_gamma(gamma)
    return pipeline
