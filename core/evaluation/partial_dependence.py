"""Partial dependence: a model's predictions as one column takes other values.

The curve of a row is its prediction with the column set to each value of a grid (individual
conditional expectation; Goldstein et al. 2015). Their mean is the partial dependence (Friedman
2001, equation 53).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

POINTS = 24  # of a grid of numbers
MAX_CATEGORIES = 12
_ENDS = (0.05, 0.95)  # quantiles: beyond them hardly a row supports the curve


def number_grid(values: np.ndarray, points: int = POINTS) -> np.ndarray:
    """All different numbers where they are few, else even steps between the 5 and 95 % quantile."""
    finite_values = values[np.isfinite(values)]
    different = np.unique(finite_values)
    if len(different) <= points:
        return different
    low, high = np.quantile(finite_values, _ENDS)
    if low == high:
        low, high = different[0], different[-1]
    return np.linspace(low, high, points)


def frequent_values(values: pd.Series, max_values: int = MAX_CATEGORIES) -> list[Any]:
    """The most frequent values, the most frequent first."""
    return pd.Series(values).dropna().value_counts().index[:max_values].tolist()


def individual_curves(
    answer: Callable[[Any], np.ndarray], X: Any, column: int, grid: Sequence[Any]
) -> np.ndarray:
    """The answer for every row of X with the column at every value, shape (n, len(grid))."""
    rows = X.shape[0]
    row_indices = np.tile(np.arange(rows), len(grid))
    dtype = object if hasattr(X, "iloc") else None
    column_values = np.repeat(np.asarray(grid, dtype), rows)
    return answer(_with_values(X, row_indices, column, column_values)).reshape(len(grid), rows).T


def _with_values(X: Any, row_indices: np.ndarray, column: int, values: np.ndarray) -> Any:
    if hasattr(X, "iloc"):
        copy = X.iloc[row_indices].reset_index(drop=True)
        dtype = X.dtypes.iloc[column]
        if pd.api.types.is_bool_dtype(dtype):
            dtype = np.dtype(object)
        if pd.api.types.is_integer_dtype(dtype):
            dtype = np.dtype(float)
        copy.isetitem(column, pd.Series(values).astype(dtype))
        return copy
    selected_rows = X[row_indices].tocsc()
    old = np.asarray(selected_rows[:, [column]].todense()).ravel()
    entries = (values.astype(float) - old, (np.arange(len(old)), np.full(len(old), column)))
    return (selected_rows + sparse.csc_matrix(entries, shape=selected_rows.shape)).tocsr()


def mean_with_band(row_curves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean curve, and a 95 % interval of it at every value for other rows of the same kind."""
    middle = row_curves.mean(axis=0)
    sd = row_curves.std(axis=0, ddof=1) if len(row_curves) > 1 else np.full(len(middle), np.nan)
    half_width = 1.96 * sd / np.sqrt(len(row_curves))
    return middle, middle - half_width, middle + half_width
