"""Splits of the rows for the validation gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset, DataSource
from core.datasets.splitting import cross_validation_folds
from core.datasets.task import Task
from core.losses.class_labels import codes_of
from core.losses.registry import TableLoss
from core.penalties.penalty_problem import Pairs
from core.tuning.learning.holdout import HOLDOUT_PARTS, prefers_folds, stored_values

VALIDATIONS = ("automatic", "holdout", "folds")


@dataclass(frozen=True)
class WeightedRows:
    """Rows X (m, p), targets y (m,), and weights (m,) or None."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None


def held_out_pairs(
    loss: TableLoss, rows: WeightedRows, penalties: int, validation: str, count: int, seed: int
) -> Pairs:
    """Pairs of losses to fit and to validate on; `count` folds.

    Equal rows stay on one side, as one row with the sum of their weights. Raises ValueError: an
    unknown validation; UnusableError: too few rows to be divided.
    """
    if validation not in VALIDATIONS:
        raise ValueError(f"there is no validation “{validation}”; give {', '.join(VALIDATIONS)}")
    # Equal rows on both sides would make the held-out loss that of rows that were seen.
    rows = merge_equal_rows(rows)
    X, y, s = rows.X, rows.y, rows.weights
    if validation == "automatic":
        values = stored_values(X, 0 if loss.classes is None else len(loss.classes))
        turns = prefers_folds(len(y), penalties, values)
        validation, count = ("folds", min(count, len(y))) if turns else ("holdout", count)
    single = validation == "holdout"
    splits = _row_splits(loss, rows, HOLDOUT_PARTS if single else count, seed)

    def loss_on(row_indices: np.ndarray) -> TableLoss:
        return loss.for_data(X[row_indices], y[row_indices], None if s is None else s[row_indices])

    return [(loss_on(fit), loss_on(held)) for fit, held in (splits[:1] if single else splits)]


def _row_splits(
    loss: TableLoss, rows: WeightedRows, count: int, seed: int
) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    y, always = rows.y, np.empty(0, dtype=np.intp)
    divided = np.arange(len(y))
    if loss.classes is not None and rows.weights is not None:
        codes = codes_of(y, loss.classes)
        sizes = np.bincount(codes, minlength=len(loss.classes))
        # The only row of its class is never held out: no fit would know the class.
        lonely = sizes[codes] == 1
        always, divided = np.flatnonzero(lonely), np.flatnonzero(~lonely)
        count = max(2, min(count, int(sizes.max())))
    table = Dataset(
        name="rows",
        source=DataSource("", "sample"),
        columns=(),
        table=None,
        matrix=None,
        target=y,
        task=Task.REGRESSION if loss.classes is None else Task.MULTICLASS,
        classes=() if loss.classes is None else tuple(loss.classes),
    )
    splits = cross_validation_folds(table, divided, count, seed)
    if not len(always):
        return splits
    return [(np.concatenate((fit, always)), held) for fit, held in splits]


def merge_equal_rows(rows: WeightedRows) -> WeightedRows:
    """Distinct rows, sorted, with the summed weights of their equals."""
    X, y = rows.X, rows.y
    keys = _row_bytes(X, np.unique(y, return_inverse=True)[1])
    # All are distinct: nothing to add up, and the order stays.
    if rows.weights is None and len(set(keys)) == len(keys):
        return rows
    weights = np.ones(len(y)) if rows.weights is None else rows.weights
    rows_by_key: dict[bytes, list[int]] = {}
    for row, key in enumerate(keys):
        rows_by_key.setdefault(key, []).append(row)
    row_groups = [rows_by_key[key] for key in sorted(rows_by_key)]
    first = np.array([row_group[0] for row_group in row_groups])
    sums = np.array([weights[row_group].sum() for row_group in row_groups])
    return WeightedRows(X[first], y[first], sums)


def _row_bytes(X: Any, codes: np.ndarray) -> list[bytes]:
    targets = codes.astype(np.int64)
    if not sparse.issparse(X):
        # −0.0 becomes 0.0, which has other bytes.
        X = np.ascontiguousarray(X) + 0.0
        return [row.tobytes() + code.tobytes() for row, code in zip(X, targets, strict=True)]
    X = X.tocsr().copy()
    X.eliminate_zeros()
    X.sort_indices()
    bounds = zip(X.indptr[:-1], X.indptr[1:], targets, strict=True)
    return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() + c.tobytes() for a, b, c in bounds]
