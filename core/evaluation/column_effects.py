"""What a column does: predictions as it takes other values, or with its rows permuted.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p | | | rows and columns |
| R | ``orders`` | (R, n) | orders of the rows |
| ρ | | (p, p) | correlation of ranks; of two categories Cramér's V |

Partial dependence: the curve of a row is its prediction with the column set to each value of a grid
(individual conditional expectation; Goldstein et al. 2015). The curves' mean is the partial
dependence (Friedman 2001, equation 53).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

POINTS = 24  # of a grid of numbers
MAX_CATEGORIES = 12
_ENDS = (0.05, 0.95)  # quantiles: beyond them hardly a row supports the curve


def number_grid(values: np.ndarray) -> np.ndarray:
    """All different numbers where they are few, else even steps between the 5 and 95 % quantile."""
    finite_values = values[np.isfinite(values)]
    different = np.unique(finite_values)
    if len(different) <= POINTS:
        return different
    low, high = np.quantile(finite_values, _ENDS)
    # One number may fill all between the quantiles.
    if low == high:
        low, high = different[0], different[-1]
    return np.linspace(low, high, POINTS)


def frequent_values(values: pd.Series) -> list[Any]:
    """The most frequent values, the most frequent first."""
    return pd.Series(values).dropna().value_counts().index[:MAX_CATEGORIES].tolist()


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
        # A grid may hold what the column does not: a fraction, or a third value.
        if pd.api.types.is_bool_dtype(dtype):
            dtype = np.dtype(object)
        if pd.api.types.is_integer_dtype(dtype):
            dtype = np.dtype(float)
        copy.isetitem(column, pd.Series(values).astype(dtype))
        return copy
    selected_rows = X[row_indices].tocsc()
    old = np.asarray(selected_rows[:, [column]].todense()).ravel()
    # Added as a difference: to set entries of a sparse matrix one by one takes far longer.
    entries = (values.astype(float) - old, (np.arange(len(old)), np.full(len(old), column)))
    return (selected_rows + sparse.csc_matrix(entries, shape=selected_rows.shape)).tocsr()


def mean_with_band(row_curves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean curve, and a 95 % interval of it at every value for other rows of the same kind."""
    middle = row_curves.mean(axis=0)
    sd = row_curves.std(axis=0, ddof=1) if len(row_curves) > 1 else np.full(len(middle), np.nan)
    half_width = 1.96 * sd / np.sqrt(len(row_curves))
    return middle, middle - half_width, middle + half_width


ALIKE = 0.9  # correlation from which on two columns say nearly the same


def permuted(X: sparse.csr_matrix, columns: np.ndarray, orders: np.ndarray) -> sparse.csr_matrix:
    """R copies of X below each other, (R n, p), some columns with rows in orders (R, n)."""
    X = sparse.csr_matrix(X)
    inside = np.zeros(X.shape[1], dtype=bool)
    inside[columns] = True
    is_permuted = inside[X.indices]
    copies = sparse.vstack([_masked_entries(X, ~is_permuted)] * len(orders))
    return sparse.csr_matrix(copies + _masked_entries(X, is_permuted)[np.asarray(orders).ravel()])


def _masked_entries(X: sparse.csr_matrix, mask: np.ndarray) -> sparse.csr_matrix:
    ends = np.concatenate([[0], np.cumsum(mask)])[X.indptr]
    return sparse.csr_matrix((X.data[mask], X.indices[mask], ends), shape=X.shape)


def alike_groups(
    columns: Sequence[np.ndarray], is_category: Sequence[bool]
) -> list[tuple[list[int], float]]:
    """Columns that are nearly the same: groups of which all pairs are correlated so much.

    Columns are numbers (NaN where missing) or codes of categories. The groups are their indices and
    the least correlation of two of them, in order of the first.
    """
    count = len(columns)
    if count < 2 or len(columns[0]) < 3:
        return []
    close = np.eye(count)
    numbers = [k for k in range(count) if not is_category[k]]
    if len(numbers) > 1:
        close[np.ix_(numbers, numbers)] = _rank_correlations([columns[k] for k in numbers])
    categories = [k for k in range(count) if is_category[k]]
    for index, first in enumerate(categories):
        for second in categories[index + 1 :]:
            close[first, second] = close[second, first] = cramers_v(columns[first], columns[second])
    distances = np.clip(1.0 - close, 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    # Complete linkage: every pair of a group is as close as the threshold asks.
    tree = linkage(squareform(distances, checks=False), "complete")
    labels = fcluster(tree, 1.0 - ALIKE + 1e-12, "distance")
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    pairs = [(g.tolist(), float(close[np.ix_(g, g)].min())) for g in groups if len(g) > 1]
    return sorted(pairs, key=lambda pair: pair[0][0])


def _rank_correlations(columns: Sequence[np.ndarray]) -> np.ndarray:
    ranks = []
    for values in columns:
        is_finite = np.isfinite(values)
        rank = np.zeros(len(values))  # a missing value has the middle rank
        if is_finite.any():
            rank[is_finite] = rankdata(values[is_finite])
            rank[is_finite] -= rank[is_finite].mean()
        ranks.append(rank)
    Z = np.array(ranks)
    size = np.sqrt((Z * Z).sum(axis=1))
    Z = np.divide(Z, size[:, None], out=np.zeros_like(Z), where=size[:, None] > 0)
    return np.abs(Z @ Z.T)


def cramers_v(first: np.ndarray, second: np.ndarray) -> float:
    """√(χ² / (n · (min(r, c) − 1))) of two columns of codes; 0 where either is constant."""
    table = pd.crosstab(first, second).to_numpy(float)
    min_degrees = min(table.shape) - 1
    if min_degrees < 1 or max(table.shape) > len(first) / 3:  # nearly a name for every row
        return 0.0
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / min_degrees))
