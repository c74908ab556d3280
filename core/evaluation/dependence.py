"""Partial dependence: what a model says as one column takes other values, all else as it is.

The curve of a row is the model's answer for that row with the column set to each value of a grid
(individual conditional expectation; Goldstein et al. 2015). Their mean is the partial dependence
(Friedman 2001, equation 53).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

POINTS = 24  # of a grid of numbers
MOST_CATEGORIES = 12
_ENDS = (0.05, 0.95)  # quantiles: beyond them hardly a row tells what the model should say


def number_grid(values: np.ndarray, points: int = POINTS) -> np.ndarray:
    """Numbers to ask about: all different ones where they are few, else even steps.

    The steps go from the 5 % to the 95 % quantile, as scikit-learn's do.
    """
    known = values[np.isfinite(values)]
    different = np.unique(known)
    if len(different) <= points:
        return different
    low, high = np.quantile(known, _ENDS)
    if low == high:
        low, high = different[0], different[-1]
    return np.linspace(low, high, points)


def frequent(values: pd.Series, most: int = MOST_CATEGORIES) -> list[Any]:
    """The most frequent values, the most frequent first."""
    return pd.Series(values).dropna().value_counts().index[:most].tolist()


def curves(
    answer: Callable[[Any], np.ndarray], X: Any, column: int, grid: Sequence[Any]
) -> np.ndarray:
    """The answer for every row at every value of the grid, shape (n, len(grid)).

    Args:
        answer: rows to numbers.
        X: a table or CSR matrix of n rows.
        column: its place.
        grid: values as the column has them.
    """
    rows = X.shape[0]
    places = np.tile(np.arange(rows), len(grid))
    set_to = np.repeat(np.asarray(grid, dtype=None if not hasattr(X, "iloc") else object), rows)
    return answer(_with_values(X, places, column, set_to)).reshape(len(grid), rows).T


def _with_values(X: Any, places: np.ndarray, column: int, values: np.ndarray) -> Any:
    if hasattr(X, "iloc"):
        made = X.iloc[places].reset_index(drop=True)
        dtype = X.dtypes.iloc[column]
        if pd.api.types.is_bool_dtype(dtype):
            dtype = np.dtype(object)
        if pd.api.types.is_integer_dtype(dtype):
            dtype = np.dtype(float)
        made.isetitem(column, pd.Series(values).astype(dtype))
        return made
    before = X[places].tocsc()
    old = np.asarray(before[:, [column]].todense()).ravel()
    at = (values.astype(float) - old, (np.arange(len(old)), np.full(len(old), column)))
    return (before + sparse.csc_matrix(at, shape=before.shape)).tocsr()


def mean_with_band(found: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean curve, and a 95 % interval of it at every value for other rows of the same kind."""
    middle = found.mean(axis=0)
    spread = found.std(axis=0, ddof=1) if len(found) > 1 else np.full(len(middle), np.nan)
    half = 1.96 * spread / np.sqrt(len(found))
    return middle, middle - half, middle + half
