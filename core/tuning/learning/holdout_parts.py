"""The parts and the prior of the validation gradient.

| symbol | code | meaning |
| --- | --- | --- |
| U | ``unit_count`` | sequences, molecules or rows to train on; rows of one group are one |
| k | ``penalties`` | groups whose penalties are learned |
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.datasets.splits.splitting import cross_validation_folds
from core.optimize.loss import Loss
from core.options import StrategyOptions
from core.tuning.learning.training import PenaltyTraining
from core.tuning.problem import Problem

HOLDOUT_PARTS = 4  # one holdout split: a quarter of the training rows
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
    held_out_units = unit_count(problem) // HOLDOUT_PARTS if is_single else unit_count(problem)
    penalty_count = _penalty_count(training)
    if penalty_count <= held_out_units:
        return ()
    return (
        f"{penalty_count:,} penalties were learned from {count_text(held_out_units, problem)} "
        "held out: such penalties fit these few, not what comes after. Fewer groups, folds or the "
        "strategy mm are safer.",
    )


def unit_count(problem: Problem) -> int:
    """U."""
    return int(unit_of_row(problem, problem.train_rows).max(initial=-1)) + 1


def unit_of_row(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The number of the unit of each row."""
    groups = problem.dataset.row_groups
    return np.arange(len(rows)) if groups is None else pd.factorize(groups[rows])[0]


def count_text(count: int, problem: Problem) -> str:
    """Such as "12 sequences"."""
    word = problem.dataset.task.item
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"


def _penalty_count(training: PenaltyTraining) -> int:
    return sum(size > 0 for size in training.group_sizes.values())
