"""Parts of the rows to fit and to validate, as a run of the validation gradient divides them."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.datasets.dataset import Dataset, Source
from core.datasets.splits.splitting import folds
from core.losses.registry import TableLoss
from core.penalties.problem import Pairs
from core.tuning.learning.holding_out import HOLDOUT_PARTS, LEAST_A_PENALTY

VALIDATIONS = ("automatic", "holdout", "folds")


def held_out_pairs(
    loss: TableLoss, X: Any, y: np.ndarray, penalties: int, validation: str, count: int, seed: int
) -> Pairs:
    """Pairs of losses, to fit and to validate on.

    Args:
        loss: of all rows.
        X, y: the rows, shapes (m, p) and (m,).
        penalties: how many groups have columns.
        validation: one of `VALIDATIONS`.
        count: parts that take turns, where they do.
        seed: of the division.

    Raises:
        ValueError: an unknown validation.
        UnusableError: too few rows to be divided.
    """
    if validation not in VALIDATIONS:
        raise ValueError(f"there is no validation “{validation}”; give {', '.join(VALIDATIONS)}")
    if validation == "automatic":
        turns = len(y) // HOLDOUT_PARTS < LEAST_A_PENALTY * penalties
        validation, count = ("folds", min(count, len(y))) if turns else ("holdout", count)
    single = validation == "holdout"
    rows = Dataset(
        name="rows",
        source=Source("", "sample"),
        columns=(),
        table=None,
        matrix=None,
        target=y,
        task="regression" if loss.classes is None else "multiclass",
        classes=() if loss.classes is None else tuple(loss.classes),
    )
    parts = folds(rows, np.arange(len(y)), HOLDOUT_PARTS if single else count, seed)
    return [
        (loss.on(X[fit], y[fit]), loss.on(X[held], y[held]))
        for fit, held in (parts[:1] if single else parts)
    ]
