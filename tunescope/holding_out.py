"""Parts of the rows to fit and to validate, as a run of the validation gradient divides them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset, Source
from core.datasets.splits.splitting import folds
from core.losses.labels import codes_of
from core.losses.registry import TableLoss
from core.penalties.problem import Pairs
from core.tuning.learning.holding_out import HOLDOUT_PARTS, LEAST_A_PENALTY

VALIDATIONS = ("automatic", "holdout", "folds")


@dataclass(frozen=True)
class Rows:
    """Rows X (m, p) with targets y (m,), and how many times each counts (m,); None for once."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None


def held_out_pairs(
    loss: TableLoss, rows: Rows, penalties: int, validation: str, count: int, seed: int
) -> Pairs:
    """Pairs of losses, to fit and to validate on.

    Args:
        loss: of all rows.
        rows: of which equal ones stay on one side, as one row that counts as often.
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
    rows = one_of_each(rows)
    X, y, s = rows.X, rows.y, rows.weights
    if validation == "automatic":
        turns = len(y) // HOLDOUT_PARTS < LEAST_A_PENALTY * penalties
        validation, count = ("folds", min(count, len(y))) if turns else ("holdout", count)
    single = validation == "holdout"
    parts = _parts(loss, rows, HOLDOUT_PARTS if single else count, seed)

    def part_of(at: np.ndarray) -> TableLoss:
        return loss.on(X[at], y[at], None if s is None else s[at])

    return [(part_of(fit), part_of(held)) for fit, held in (parts[:1] if single else parts)]


def _parts(
    loss: TableLoss, rows: Rows, count: int, seed: int
) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    """The rows to fit and to hold out, in turns.

    Of rows with weights, the only one of its class is never held out.
    """
    y, always = rows.y, np.empty(0, dtype=np.intp)
    divided = np.arange(len(y))
    if loss.classes is not None and rows.weights is not None:
        codes = codes_of(y, loss.classes)
        sizes = np.bincount(codes, minlength=len(loss.classes))
        lonely = sizes[codes] == 1
        always, divided = np.flatnonzero(lonely), np.flatnonzero(~lonely)
        count = max(2, min(count, int(sizes.max())))
    table = Dataset(
        name="rows",
        source=Source("", "sample"),
        columns=(),
        table=None,
        matrix=None,
        target=y,
        task="regression" if loss.classes is None else "multiclass",
        classes=() if loss.classes is None else tuple(loss.classes),
    )
    parts = folds(table, divided, count, seed)
    return [(np.concatenate((fit, always)), held) for fit, held in parts] if len(always) else parts


def one_of_each(rows: Rows) -> Rows:
    """Different rows with the weights of all that are equal to them, in an order of their own.

    Rows without weights of which no two are equal stay as they are.
    """
    X, y = rows.X, rows.y
    keys = _bytes(X, np.unique(y, return_inverse=True)[1])
    if rows.weights is None and len(set(keys)) == len(keys):
        return rows
    weights = np.ones(len(y)) if rows.weights is None else rows.weights
    found: dict[bytes, list[int]] = {}
    for at, key in enumerate(keys):
        found.setdefault(key, []).append(at)
    each = [found[key] for key in sorted(found)]
    first = np.array([places[0] for places in each])
    return Rows(X[first], y[first], np.array([weights[places].sum() for places in each]))


def _bytes(X: Any, codes: np.ndarray) -> list[bytes]:
    """Every row and its target as bytes, the same for equal rows."""
    targets = codes.astype(np.int64)
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X) + 0.0  # there are two zeros
        return [row.tobytes() + code.tobytes() for row, code in zip(X, targets, strict=True)]
    X = X.tocsr().copy()
    X.eliminate_zeros()
    X.sort_indices()
    bounds = zip(X.indptr[:-1], X.indptr[1:], targets, strict=True)
    return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() + c.tobytes() for a, b, c in bounds]
