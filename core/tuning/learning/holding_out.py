"""What the validation gradient learns from: parts held out and a prior; and what is said of them.

| symbol | code | meaning |
| --- | --- | --- |
| U | ``units`` | sequences, molecules or rows to train on; rows of one group are one |
| k | ``penalties`` | groups whose penalties are learned |
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.datasets.splits.splitting import folds
from core.optimize.loss import Loss
from core.tuning.learning.training import Training
from core.tuning.problem import Problem
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

HOLDOUT_PARTS = 4  # one holdout split: a quarter of the training rows
LEAST_A_PENALTY = 5  # held-out units; with fewer a quarter is fitted rather than foreseen
_UNITS = {"sequence": "sequence", "structure": "molecule"}


def settled(problem: Problem, training: Training) -> dict[str, Any]:
    """The learner's options, those that are automatic as the data have them."""
    options = dict(problem.options)
    if options.get("validation") == "automatic":
        turns = takes_turns(problem, _penalties(training))
        options["validation"] = "folds" if turns else "holdout"
        # An unasked five folds must not be refused.
        options["folds"] = min(options["folds"], max(2, units(problem)))
    if options.get("prior") == "automatic":
        options["prior"] = "weak" if problem.dataset.task in STRUCTURED_TASKS else "none"
    return options


def takes_turns(problem: Problem, penalties: int) -> bool:
    """Whether every part is held out in turns: as asked, or because a quarter would be too few."""
    validation = problem.options["validation"]
    if validation != "automatic":
        return bool(validation == "folds")
    return units(problem) // HOLDOUT_PARTS < LEAST_A_PENALTY * penalties


def holdout_pairs(problem: Problem, training: Training) -> list[tuple[Loss, Loss]] | None:
    """(loss to fit, loss to validate on) of every part; None for learners that need none."""
    if not problem.strategy.holds_out:
        return None
    options = settled(problem, training)
    single = options["validation"] == "holdout"
    count = HOLDOUT_PARTS if single else int(options["folds"])
    parts = folds(problem.dataset, problem.train_rows, count, problem.plan.seed)
    return [training.pair(problem, *part) for part in (parts[:1] if single else parts)]


def said_of_holdout(problem: Problem, training: Training) -> tuple[str, ...]:
    """A sentence where more penalties were learned than units were held out for them."""
    if not problem.strategy.holds_out:
        return ()
    single = settled(problem, training)["validation"] == "holdout"
    held = units(problem) // HOLDOUT_PARTS if single else units(problem)
    penalties = _penalties(training)
    if penalties <= held:
        return ()
    return (
        f"{penalties:,} penalties were learned from {counted(held, problem)} held out: such "
        "penalties fit these few, not what comes after. Fewer groups, folds or the strategy mm "
        "are safer.",
    )


def units(problem: Problem) -> int:
    """U."""
    return int(unit_of_row(problem, problem.train_rows).max(initial=-1)) + 1


def unit_of_row(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The number of the unit that each of some rows belongs to."""
    groups = problem.dataset.row_groups
    return np.arange(len(rows)) if groups is None else pd.factorize(groups[rows])[0]


def counted(count: int, problem: Problem) -> str:
    """Such as "12 sequences"."""
    word = _UNITS.get(problem.dataset.task, "row")
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"


def _penalties(training: Training) -> int:
    return sum(size > 0 for size in training.sizes.values())
